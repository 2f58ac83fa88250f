// A slider between descriptions. It is empty until somebody moves it, and says its place only in
// the words that stand along it. The range beneath keeps the value, the box beside it that it was
// set, a hidden field how. Of an empty slider, the first arrow begins at the end it points away
// from: to the right or up at the lowest, to the left or down at the highest.

import { keyOf } from "../keys.js";

const HIGHEST = 5;
const STEP = 0.05;
const LEAP = 0.5;
const NEAR = 0.1;
const MOVES = {
  ArrowRight: STEP,
  ArrowUp: STEP,
  PageUp: LEAP,
  ArrowLeft: -STEP,
  ArrowDown: -STEP,
  PageDown: -LEAP,
};

class Slider {
  constructor(part) {
    this.part = part;
    this.box = part.querySelector(".slider");
    this.track = part.querySelector(".track");
    this.range = part.querySelector("input[type=range]");
    this.isSet = part.querySelector("[name$='-set']");
    this.moved = part.querySelector("[name$='-moved']");
    this.anchors = [...part.querySelectorAll(".anchor")];
    this.help = part.querySelector(".anchor-help");
    part.classList.add("is-live");
    part.closest(".question").addEventListener("restored", () => this.show());
    part.addEventListener("press", ({ detail }) => {
      this.range.focus({ preventScroll: true });
      this.press(detail.key);
    });
    this.listenToKeys();
    this.listenToPointer();
    if (this.help) this.listenForHelp();
    new ResizeObserver(() => this.turn()).observe(this.track);
    this.show();
  }

  get value() {
    return Number(this.range.value);
  }

  get nearest() {
    return this.anchors[Math.round(this.value)];
  }

  listenToKeys() {
    this.range.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !this.press(keyOf(event))) return;
      event.preventDefault();
      event.stopPropagation();
    });
    // What a screen reader moves comes without keys.
    this.range.addEventListener("input", (event) => {
      if (event.isTrusted) this.note("key");
      this.show();
    });
    for (const anchor of this.anchors) {
      anchor.addEventListener("click", ({ detail }) => {
        if (detail === 0) this.move(Number(anchor.value), "key");
      });
    }
  }

  press(key) {
    if (/^[0-5]$/.test(key)) this.move(Number(key), "key");
    else if (key === "Home") this.move(0, "key");
    else if (key === "End") this.move(HIGHEST, "key");
    else if (!(key in MOVES)) return false;
    else if (this.isSet.checked) this.move(this.value + MOVES[key], "key");
    else this.move(MOVES[key] > 0 ? 0 : HIGHEST, "key");
    return true;
  }

  listenToPointer() {
    this.box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      this.box.setPointerCapture(event.pointerId);
      this.range.focus({ preventScroll: true });
      this.follow(event);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) this.follow(event);
    });
  }

  follow({ clientX, clientY, pointerType }) {
    const { left, right, top, bottom } = this.track.getBoundingClientRect();
    const share = this.isUpright ? (bottom - clientY) / (bottom - top) : (clientX - left) / (right - left);
    this.move(share * HIGHEST, pointerType === "touch" ? "touch" : "pointer");
  }

  move(value, means) {
    const within = Math.min(HIGHEST, Math.max(0, value));
    this.range.value = within.toFixed(2);
    this.note(means);
    this.range.dispatchEvent(new Event("input", { bubbles: true }));
  }

  note(means) {
    this.isSet.checked = true;
    this.moved.value = [...new Set([...this.moved.value.split(" "), means])].join(" ").trim();
  }

  show() {
    const { checked } = this.isSet;
    this.box.classList.toggle("is-empty", !checked);
    this.box.style.setProperty("--at", checked ? this.value / HIGHEST : 0);
    this.range.setAttribute("aria-valuetext", checked ? this.inWords() : "Not set yet");
    this.showHelp(checked ? this.nearest : null);
  }

  inWords() {
    const words = (anchor) => anchor.querySelector(".words").textContent;
    const { value, nearest } = this;
    const away = value - Math.round(value);
    if (Math.abs(away) < NEAR) return words(nearest);
    const other = this.anchors[Math.round(value) + Math.sign(away)];
    return `Between “${words(nearest)}” and “${words(other)}”, nearer to the first`;
  }

  listenForHelp() {
    const back = () => this.showHelp(this.isSet.checked ? this.nearest : null);
    for (const anchor of this.anchors) {
      for (const sign of ["pointerenter", "focus"]) {
        anchor.addEventListener(sign, () => this.showHelp(anchor));
      }
      for (const sign of ["pointerleave", "blur"]) anchor.addEventListener(sign, back);
    }
  }

  showHelp(anchor) {
    if (this.help) this.help.textContent = anchor?.dataset.help ?? "";
  }

  get isUpright() {
    return this.track.offsetHeight > this.track.offsetWidth;
  }

  turn() {
    this.range.setAttribute("aria-orientation", this.isUpright ? "vertical" : "horizontal");
  }
}

for (const part of document.querySelectorAll(".scale")) new Slider(part);
