// A caption first, then the ratings: they open when it is said that the caption is finished, and
// from then on it stays as it is, whatever is undone. Without this, both are there.

const form = document.getElementById("answers");
const questions = [...form.querySelectorAll(".question")];

const finished = new Map();

form.classList.add("is-gated");
for (const part of form.querySelectorAll(".written")) part.hidden = false;
holdAll();

function holdAll() {
  for (const question of questions) hold(question);
}

function hold(question) {
  const text = question.querySelector(".own-caption textarea");
  const written = question.querySelector(".opens-ratings");
  const words = text.value.split(/\s+/).filter(Boolean).length;
  written.disabled = words < Number(text.dataset.fewestWords);
  if (written.disabled) written.checked = false;
  if (written.checked) finished.set(question, text.value);
  if (finished.has(question)) {
    written.checked = true;
    written.disabled = false;
    text.value = finished.get(question);
  }
  text.readOnly = written.checked;
}

form.addEventListener("input", (event) => {
  holdAll();
  if (!event.target.matches(".opens-ratings:checked")) return;
  const question = event.target.closest(".question");
  question.focus({ preventScroll: true });
  question.querySelector(".ratings").scrollIntoView({ block: "nearest" });
});

for (const question of questions) question.addEventListener("restored", () => hold(question));

// Enter ends the caption, and the keys rate the objects then.
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (!event.target.matches(".own-caption textarea")) return;
  event.preventDefault();
  const written = event.target.closest(".question").querySelector(".opens-ratings");
  if (!written.checked) written.click();
});
