// Time on a question: it runs while the page is visible and has the focus, and stops a minute
// after the last sign of a person. What is counted is written into the question's hidden field.

const IDLE_AFTER = 60_000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "scroll", "input"];

export class Clock {
  constructor() {
    this.field = null;
    this.mark = this.lastSign = performance.now();
    this.running = isWatched();
    for (const sign of SIGNS) {
      addEventListener(sign, () => this.sign(), { capture: true, passive: true });
    }
    for (const change of ["visibilitychange", "focus", "blur", "pagehide", "pageshow"]) {
      addEventListener(change, () => this.watch(), { capture: true });
    }
  }

  moveTo(field) {
    this.tick();
    this.field = field;
  }

  tick() {
    const now = performance.now();
    const until = Math.min(now, this.lastSign + IDLE_AFTER);
    if (this.running && this.field && until > this.mark) {
      this.field.value = Math.round(Number(this.field.value) + until - this.mark);
    }
    this.mark = now;
  }

  sign() {
    this.tick();
    this.lastSign = this.mark;
  }

  watch() {
    this.tick();
    this.running = isWatched();
    if (this.running) this.lastSign = this.mark;
  }
}

const isWatched = () => document.visibilityState === "visible" && document.hasFocus();
