// Saves the whole form a moment after each change, one request at a time, and tries again until
// it is told that the answers are stored. Nothing is kept in the browser but the page itself.

import { post, renewCredentials } from "./requests.js";

const PAUSE = 700;
const LONGEST_WAIT = 30_000;
const LONGEST_HOLD = 5000;

export class Autosave {
  constructor(form, { beforeSave, onState }) {
    this.form = form;
    this.beforeSave = beforeSave;
    this.onState = onState;
    this.revision = Number(form.elements.revision.value);
    this.dirty = this.busy = this.failing = this.held = this.stopped = false;
    this.failures = 0;
    this.sending = Promise.resolve();
    addEventListener("online", () => this.failing && this.schedule(0));
    addEventListener("focus", () => this.failing && this.schedule(0));
    addEventListener("pagehide", () => this.flushNow());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") this.flushNow();
    });
    addEventListener("beforeunload", (event) => {
      if (this.dirty && (this.failing || !navigator.onLine)) event.preventDefault();
      else this.flushNow();
    });
  }

  // A form to try out has nowhere to save to.
  changed() {
    if (!this.form.dataset.saveUrl) return;
    this.dirty = true;
    if (!this.stopped && !this.failing && !this.held) this.schedule(PAUSE);
  }

  // While the answers are being submitted, saving has nothing to add. What is on its way is waited
  // for, though not for ever: its answer tells whether another window has saved something newer.
  async hold() {
    this.held = true;
    clearTimeout(this.timer);
    await Promise.race([
      this.sending,
      new Promise((resolve) => setTimeout(resolve, LONGEST_HOLD)),
    ]);
  }

  release() {
    this.held = false;
    this.changed();
  }

  stop() {
    this.stopped = true;
    this.dirty = false;
    clearTimeout(this.timer);
  }

  schedule(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), wait);
  }

  // A page that goes away cannot wait for an answer; the request outlives it.
  flushNow() {
    if (this.dirty && !this.stopped) this.save({ keepalive: true });
  }

  async save({ keepalive = false } = {}) {
    if (this.stopped || this.held || (this.busy && !keepalive)) return;
    clearTimeout(this.timer);
    this.beforeSave();
    const sent = this.revision;
    this.form.elements.revision.value = sent;
    // What became of a request without an answer is not known, so the next has a higher number.
    this.revision += 1;
    this.dirty = false;
    this.busy = true;
    const sending = post(this.form.dataset.saveUrl, this.form, { keepalive });
    this.sending = sending.then((answer) => this.answered(answer, sent));
    await this.sending;
  }

  async answered(answer, sent) {
    this.busy = false;
    if (this.stopped) return;
    if (answer.ok) this.stored(answer.json);
    else await this.refused(answer, sent);
  }

  stored(json) {
    this.failures = 0;
    this.failing = false;
    this.revision = Math.max(this.revision, json.revision);
    this.onState("saved", { savedAt: new Date(json.saved_at) });
    if (this.dirty && !this.held) this.schedule(PAUSE);
  }

  // Another window has saved since: this one knows of nothing after the revision it began with.
  outdated(message, known = this.revision) {
    this.revision = known;
    this.stopped = true;
    this.onState("newer", { message });
  }

  async refused(answer, sent) {
    const overtaken = answer.status === 409 && sent + 1 < this.revision;
    if (overtaken) return;
    this.dirty = true;
    if (answer.json?.error === "newer") {
      this.outdated(answer.json.message, sent);
      return;
    }
    if (this.held) return;
    if (answer.status === 409) {
      this.stopped = true;
      this.onState("closed", { message: answer.json?.message });
      return;
    }
    const loggedOut =
      [401, 403].includes(answer.status) && !(await renewCredentials(this.form));
    this.failing = true;
    this.failures += 1;
    this.onState(loggedOut ? "logged out" : "failing", {});
    this.schedule(Math.min(1000 * 2 ** (this.failures - 1), LONGEST_WAIT));
  }
}
