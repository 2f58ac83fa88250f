// Where one is, what is answered, and what is still missing before the page can be submitted.

import { linkTo, notice } from "./notices.js";

const FEW = 5;

const find = (id) => document.getElementById(id);
const dots = [...document.querySelectorAll("#dots a")];

export function showProgress(questions, current, { asked }) {
  const missing = questions.filter((question) => !question.isComplete);
  questions.forEach((question, index) => {
    showDot(dots[index], question, !missing.includes(question), index === current);
  });
  find("where").textContent = `${current + 1} of ${questions.length}`;
  find("back").disabled = current === 0;
  find("submit").disabled = missing.length > 0;

  const atEnd = current === questions.length - 1;
  const skipped = missing.some(({ position }) => position <= current);
  const elsewhere = missing.some((question) => question !== questions[current]);
  const wanted = asked || (elsewhere && (atEnd || (skipped && missing.length <= FEW)));
  if (wanted && missing.length > 0) notice("missing", "", listOf(missing));
  else notice("missing", null);
}

function showDot(dot, question, isDone, isCurrent) {
  dot.classList.toggle("is-done", isDone);
  dot.classList.toggle("is-wrong", question.element.querySelector(".error") !== null);
  if (isCurrent) dot.setAttribute("aria-current", "step");
  else dot.removeAttribute("aria-current");
  const state = isDone ? "answered" : "not answered";
  dot.setAttribute("aria-label", `Question ${question.position}, ${state}`);
}

function listOf(missing) {
  const links = missing.flatMap(({ position }, index) => [
    index ? ", " : "",
    linkTo(position, `#q${position}`),
  ]);
  const list = document.createElement("span");
  list.append(missing.length === 1 ? "1 answer" : `${missing.length} answers`, " missing: ");
  list.append(...links);
  return list;
}
