// A caption first, then the ratings: they open when it is said that the caption is finished, and
// from then on it stays as it is. Without this, both are there.

import { isLongEnough } from "../hit/question.js";

const form = document.getElementById("answers");
const questions = [...form.querySelectorAll(".question")];

const partsOf = (question) => ({
  text: question.querySelector(".own-caption textarea"),
  written: question.querySelector(".opens-ratings"),
});

form.classList.add("is-gated");
for (const part of form.querySelectorAll(".written")) part.hidden = false;
for (const question of questions) hold(question);

function hold(question) {
  const { text, written } = partsOf(question);
  text.readOnly = written.checked;
}

// A caption that is too short says so; one that is finished does not become unfinished.
form.addEventListener("click", (event) => {
  if (!event.target.matches(".opens-ratings")) return;
  const { text } = partsOf(event.target.closest(".question"));
  if (!text.readOnly && isLongEnough(text)) return;
  event.preventDefault();
  if (!text.readOnly) text.closest("[data-field]").dispatchEvent(new Event("ask", { bubbles: true }));
});

form.addEventListener("change", (event) => {
  if (!event.target.matches(".opens-ratings")) return;
  const question = event.target.closest(".question");
  hold(question);
  question.focus({ preventScroll: true });
  question.querySelector(".ratings").scrollIntoView({ block: "nearest" });
  question.querySelector(".rating").scrollIntoView({ block: "nearest" });
});

for (const question of questions) question.addEventListener("restored", () => hold(question));

// Enter ends the caption, and the keys rate the objects then.
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (!event.target.matches(".own-caption textarea")) return;
  event.preventDefault();
  const { text, written } = partsOf(event.target.closest(".question"));
  if (!text.readOnly && !event.repeat) written.click();
});
