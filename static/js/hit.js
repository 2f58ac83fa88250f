// The page of a HIT. It is a plain form that works without this; here it learns to show one
// question at a time, to be answered by keys, to undo, to save itself and to count time.

import { Autosave } from "./hit/autosave.js";
import { Clock } from "./hit/clock.js";
import { announce, clockTime, showSaving, watchLease } from "./hit/notices.js";
import { closeLarge, enlarge, enlargeNext, fetchAhead, watchForBroken } from "./hit/pictures.js";
import { showProgress } from "./hit/progress.js";
import { Question } from "./hit/question.js";
import { isSettling, settle, settled } from "./hit/settling.js";
import { closeSheet, openSheet, toggleSheet, watchSheets } from "./hit/sheets.js";
import { Steps } from "./hit/steps.js";
import { submitAnswers } from "./hit/submit.js";
import { bindKeys, isTyping } from "./keys.js";

const LOOK_AT_IT = 110;
const SETTLING = 400;

const find = (id) => document.getElementById(id);
const form = find("answers");
const underThumb = matchMedia("(hover: none) and (pointer: coarse)");
const questions = [...form.querySelectorAll(".question")].map((each) => new Question(each));
const steps = new Steps(questions, { onChange: (isEmpty) => (find("undo").disabled = isEmpty) });
const clock = new Clock();
const autosave = new Autosave(form, { beforeSave: () => clock.tick(), onState: showSaving });

let current = 0;
let advancing = null;
let advancedAt = -Infinity;
let scrolledByUs = 0;
let pressing = false;
let asked = false;

// Moving about

const isOneAtATime = () => form.dataset.view === "one";

function goTo(index, { focus = true, scroll = true } = {}) {
  stopAdvancing();
  closeLarge();
  steps.end();
  current = Math.max(0, Math.min(index, questions.length - 1));
  const question = questions[current];
  clock.moveTo(question.time);
  fetchAhead(questions, current);
  showCurrent();
  if (focus) enter(question);
  if (scroll) bringUp(question.element);
}

function stopAdvancing() {
  clearTimeout(advancing);
  advancing = null;
  settled();
}

// Where a question begins with a text, what is typed is that text. Under a thumb the text waits to
// be touched: the keyboard would come up over the picture.
function enter({ element, opening }) {
  const target = (!underThumb.matches && opening) || element;
  target.focus({ preventScroll: true });
}

function bringUp(element) {
  scrolledByUs = performance.now();
  if (isOneAtATime()) window.scrollTo(0, 0);
  else element.scrollIntoView({ block: "start" });
}

function showCurrent() {
  questions.forEach(({ element }, index) => {
    element.hidden = isOneAtATime() && index !== current;
    element.classList.toggle("is-current", index === current);
  });
  find("dots").classList.remove("is-open");
  find("where").setAttribute("aria-expanded", "false");
  showProgress(questions, current, { asked });
}

function next() {
  stopAdvancing();
  const question = questions[current];
  const [part] = question.missing();
  if (part && question.isBegun) {
    askFor(question, part);
  } else if (current + 1 < questions.length) {
    goTo(current + 1);
    settle(questions[current]);
  } else {
    finish();
  }
}

function finish() {
  const first = questions.findIndex((question) => !question.isComplete);
  if (first === -1) {
    announce(`All ${questions.length} questions are answered. Submit them.`);
    find("submit").focus({ preventScroll: true });
    return;
  }
  asked = true;
  announce(find("missing")?.textContent ?? "");
  goTo(first);
  settle(questions[current]);
}

function askFor(question, part) {
  const text = part.dataset.ask ?? "Choose at least one, then go on.";
  question.setErrors({ [part.dataset.field]: text });
  const target = part.querySelector("input, textarea");
  target.focus({ preventScroll: true });
  part.scrollIntoView({ block: "nearest" });
  announce(text);
}

function toggleView() {
  form.dataset.view = isOneAtATime() ? "all" : "one";
  form.elements.view.value = form.dataset.view;
  showViewButton();
  goTo(current);
  autosave.changed();
}

function showViewButton() {
  find("view").firstElementChild.textContent = isOneAtATime()
    ? `All ${questions.length}`
    : "One at a time";
}

// Answering

form.addEventListener("input", (event) => {
  const question = questionOf(event.target);
  if (!question) return;
  advancedAt = -Infinity;
  steps.add(question, event.target);
  question.clearErrors();
  form.elements.device.value = device();
  autosave.changed();
  showProgress(questions, current, { asked });
  if (event.target.type === "radio") answered(question);
  else if (event.target.matches(":checked")) reveal(question, event.target);
});

// A complete answer moves on, but not when somebody walks through the choices with Tab, Space
// and the arrows, nor under the pointer of somebody who has the whole list in sight.
function answered(question) {
  const [first] = question.parts;
  const isDecided = pressing || lastMeans !== "keyboard";
  if (!question.opensNothing) {
    reveal(question, (isDecided && first.querySelector(":checked")) || first);
  } else if (pressing || (isOneAtATime() && isDecided)) {
    settle(question);
    advancing = setTimeout(advance, LOOK_AT_IT);
  }
}

function advance() {
  next();
  advancedAt = performance.now();
}

// Enter, pressed out of habit after an answer that has moved on by itself, skips nothing.
function nextByKey() {
  if (performance.now() - advancedAt > SETTLING) next();
}

// What a choice opened is brought into sight, as little as will do: all of it for the keys, which
// also see what they answer next, its beginning for the pointer. A line to write in is entered, or
// its letters would choose answers.
function reveal(question, opener) {
  const from = opener.closest("[data-field]");
  const opened = from && [...from.querySelectorAll("[data-when]")].find((part) => question.isOpen(part));
  const byKey = opened ?? question.missing()[0];
  const target = lastMeans === "keyboard" ? byKey : opened?.querySelector("label");
  target?.scrollIntoView({ block: "nearest" });
  const line = opened && opener.matches(opened.dataset.when) && opened.querySelector("input, textarea");
  if (isTyping(line)) {
    closeLarge();
    line.focus({ preventScroll: true });
  }
}

function press(key) {
  if (openSheet()) return false;
  const option = questions[current].optionFor(key);
  if (option && isSettling()) return true;
  if (advancing) advance();
  if (!option) return false;
  pressing = true;
  if (option.type === "radio" && option.checked) answered(questions[current]);
  else option.click();
  pressing = false;
  return true;
}

// A part that wants a key for itself gets it, also when it has not the focus.
function hand(key) {
  if (openSheet()) return false;
  const part = questions[current].partFor(key);
  if (!isSettling()) part?.dispatchEvent(new CustomEvent("press", { detail: { key } }));
  return part !== undefined;
}

function undo() {
  const question = steps.takeBack();
  if (!question) {
    announce("There is nothing to undo.");
    return;
  }
  goTo(questions.indexOf(question));
  focusCurrent();
  autosave.changed();
  announce(`Undone: question ${question.position}.`);
}

function reportProblem() {
  const { problem } = questions[current];
  problem.open = !problem.open;
  if (problem.open) problem.querySelector("textarea").focus();
}

watchForBroken(questions, (question) => {
  if (!question.broken.checked) question.broken.click();
  question.problem.open = true;
  goTo(questions.indexOf(question) + 1);
});

// What the person uses

const used = new Set();
let lastMeans = "pointer";

addEventListener("pointerdown", (event) => {
  lastMeans = event.pointerType === "touch" ? "touch" : "pointer";
}, true);
addEventListener("keydown", () => (lastMeans = "keyboard"), true);

function device() {
  used.add(lastMeans);
  return used.size > 1 ? "mixed" : lastMeans;
}

// Submitting

form.addEventListener("submit", (event) => {
  if (!form.dataset.saveUrl) return;
  event.preventDefault();
  clock.tick();
  submitAnswers({ form, button: find("submit"), autosave, onErrors: showErrors });
});

function showErrors(errors) {
  const byPosition = new Map();
  for (const [name, text] of Object.entries(errors)) {
    const [, position, field] = name.match(/^q(\d+)-(.+)$/) ?? [];
    if (position) byPosition.set(Number(position), { ...byPosition.get(Number(position)), [field]: text });
  }
  for (const question of questions) question.setErrors(byPosition.get(question.position) ?? {});
  const first = questions.findIndex(({ position }) => byPosition.has(position));
  if (first !== -1) goTo(first);
}

// Keys, buttons, sheets

function focusCurrent() {
  questions[current].element.focus({ preventScroll: true });
}

function closeAll() {
  const closed = [closeSheet(), closeLarge()];
  if (closed.includes(true)) enter(questions[current]);
}

function enlargeAnother() {
  if (!enlargeNext(questions[current])) enter(questions[current]);
}

const onControl = (event) => event.target.closest?.("a, button, summary") !== null;

const commands = {
  ArrowRight: nextByKey,
  ArrowLeft: () => goTo(current - 1),
  b: () => goTo(current - 1),
  Enter: (event) => {
    if (onControl(event)) return false;
    if (openSheet()) closeAll();
    else nextByKey();
  },
  u: undo,
  z: enlargeAnother,
  i: () => toggleSheet("instructions"),
  p: reportProblem,
  a: toggleView,
  "?": () => toggleSheet("keys"),
};

const everyKey = new Proxy(commands, {
  get: (target, key) => (event) =>
    press(key) || hand(key) || (target[key] ? target[key](event) : false),
});
bindKeys(everyKey, { enabled: () => find("keys-on").checked });

addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    closeAll();
    if (isTyping(event.target)) focusCurrent();
  }
  if (event.key === "Enter" && (event.repeat || event.target.matches?.("input"))) {
    event.preventDefault();
    if (!event.repeat && isTyping(event.target)) next();
  }
});

form.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#q"]');
  if (link) {
    event.preventDefault();
    goTo(Number(link.hash.slice(2)) - 1);
  }
  if (event.target.closest(".problem > summary")) {
    event.preventDefault();
    noteQuestionOf(event.target);
    reportProblem();
  }
  if (event.target.closest(".stage img, [data-action=enlarge]")) {
    noteQuestionOf(event.target);
    if (event.target.matches("img")) enlarge(questions[current], event.target);
    else enlargeAnother();
  }
});

// A part that is asked for by what belongs to it says what it lacks.
form.addEventListener("ask", ({ target }) => askFor(questionOf(target), target));

for (const button of document.querySelectorAll("[data-action=close]")) {
  button.addEventListener("click", closeAll);
}
find("large").addEventListener("click", (event) => {
  if (event.target.closest("[data-action=another]")) enlargeAnother();
  else closeAll();
});
find("back").addEventListener("click", () => goTo(current - 1));
find("next").addEventListener("click", next);
find("undo").addEventListener("click", undo);
find("view").addEventListener("click", toggleView);
find("where").addEventListener("click", () => {
  const isOpen = find("dots").classList.toggle("is-open");
  find("where").setAttribute("aria-expanded", String(isOpen));
});

// With all questions in sight, the current one is the one that is read or touched.

function questionOf(target) {
  const element = target.closest?.(".question");
  return questions.find((question) => question.element === element);
}

function noteQuestionOf(target) {
  const index = questions.indexOf(questionOf(target));
  if (index !== -1 && index !== current) goTo(index, { focus: false, scroll: false });
}

form.addEventListener("focusin", (event) => noteQuestionOf(event.target));
form.addEventListener("pointerdown", (event) => noteQuestionOf(event.target));
addEventListener("scroll", () => {
  if (isOneAtATime() || performance.now() - scrolledByUs < 300) return;
  const line = innerHeight * 0.4;
  const read = questions.find(({ element }) => element.getBoundingClientRect().bottom > line);
  if (read) noteQuestionOf(read.element);
}, { passive: true });

// Start where the person left off.

for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = clockTime(new Date(time.dateTime));
}
for (const control of document.querySelectorAll("#back, #next, #undo, #view, #where, [data-action]")) {
  control.hidden = false;
}
showViewButton();
watchLease();
const firstOpen = questions.findIndex((question) => !question.isComplete);
goTo(firstOpen === -1 ? questions.length - 1 : firstOpen, { scroll: firstOpen > 0 });
watchSheets();
