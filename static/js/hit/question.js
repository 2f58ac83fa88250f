// One question of a page: what is answered, what is missing, and which keys answer it.
// Parts are marked in the template: data-field names a part, data-required wants an answer,
// data-when is the choice that opens it (and it lies within the part it is opened from), data-ask
// says what is missing when nothing was entered, data-keys are keys that it wants for itself: they
// come to it as "press" (detail.key). Of inputs, data-fewest-words says when a text is long enough,
// and what is chosen with data-final stays, and so does all that was said before it. A question
// whose answers were put back by undo tells so: "restored".

import { isTyping } from "../keys.js";

export class Question {
  constructor(element) {
    this.element = element;
    this.position = Number(element.dataset.position);
    this.images = [...element.querySelectorAll(".stage img")];
    this.time = element.querySelector(`[name="q${this.position}-ms"]`);
    this.broken = element.querySelector(`[name="q${this.position}-broken"]`);
    this.problem = element.querySelector(".problem");
    this.inputs = [...element.querySelectorAll("input, textarea, select")].filter(
      (input) => input !== this.time,
    );
    this.parts = [...element.querySelectorAll("[data-required]")];
    this.known = this.values();
  }

  values() {
    return this.inputs.map((input) => ("checked" in input && isOption(input) ? input.checked : input.value));
  }

  restore(values) {
    this.inputs.forEach((input, index) => {
      if (isOption(input)) input.checked = values[index];
      else input.value = values[index];
    });
    this.known = values;
    if (this.broken.checked) this.problem.open = true;
    this.element.dispatchEvent(new Event("restored"));
  }

  isOpen(part) {
    for (let each = part; each && each !== this.element; each = each.parentElement) {
      const opener = each.dataset.when;
      if (opener && !this.element.querySelector(`${opener}:checked`)) return false;
    }
    return true;
  }

  // The parts that still want an answer, in order.
  missing() {
    if (this.broken.checked) return [];
    return this.parts.filter((part) => this.isOpen(part) && !isAnswered(part));
  }

  get isComplete() {
    return this.missing().length === 0;
  }

  get isBegun() {
    return this.parts.some((part) => this.isOpen(part) && ownInputs(part).some(isEntered));
  }

  // The text that it begins with, as long as it can be written.
  get opening() {
    const [first] = this.parts[0]?.querySelectorAll("input, textarea") ?? [];
    return isTyping(first) && !first.readOnly ? first : null;
  }

  // What it is without the answers that were given; texts are left as they are.
  emptied() {
    return this.inputs.map((input) => {
      if (isOption(input)) return input.checked && input.matches("[data-final]");
      return input.type === "hidden" ? "" : input.value;
    });
  }

  get isAnsweredBefore() {
    return this.emptied().some((value, index) => value !== this.known[index]);
  }

  get opensNothing() {
    return this.parts.filter((part) => this.isOpen(part)).length === 1;
  }

  // Where several parts share a key, it goes to one that wants an answer: the one with the
  // focus, else the first. An answer is changed by its key only where the focus is.
  optionFor(key) {
    const partOf = (input) => input.closest("[data-field]");
    const found = this.inputs.filter(
      (input) => input.dataset.key === key && this.isOpen(partOf(input)),
    );
    const wanting = found.filter((input) => !isAnswered(partOf(input)));
    const focused = (input) => partOf(input).contains(document.activeElement);
    const alone = new Set(found.map(partOf)).size === 1 ? found[0] : undefined;
    return wanting.find(focused) ?? wanting[0] ?? found.find(focused) ?? alone;
  }

  partFor(key) {
    return [...this.element.querySelectorAll("[data-keys]")].find(
      (part) => part.dataset.keys.split(" ").includes(key) && this.isOpen(part),
    );
  }

  setErrors(errors) {
    this.clearErrors();
    for (const [field, text] of Object.entries(errors)) {
      const part = this.element.querySelector(`[data-field="${field}"]`) ?? this.parts[0];
      const line = document.createElement("p");
      line.className = "error";
      line.textContent = text;
      part.querySelector("legend, label").after(line);
    }
  }

  clearErrors() {
    for (const line of this.element.querySelectorAll(".error")) line.remove();
  }
}

const isOption = (input) => input.type === "radio" || input.type === "checkbox";

// A part's own inputs are those not in a part inside it.
function ownInputs(part) {
  return [...part.querySelectorAll("input, textarea")].filter(
    (input) => input.closest("[data-field]") === part,
  );
}

// A range has a value before anybody has touched it, so its part needs another input that says so.
function isEntered(input) {
  if (isOption(input)) return input.checked;
  return input.type !== "range" && input.value.trim() !== "";
}

export function isLongEnough({ value, dataset }) {
  return value.split(/\s+/).filter(Boolean).length >= Number(dataset.fewestWords ?? 1);
}

function isAnswered(part) {
  return ownInputs(part).some((input) => isEntered(input) && (isOption(input) || isLongEnough(input)));
}
