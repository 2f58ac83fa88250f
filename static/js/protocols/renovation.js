// The text that is corrected: what was changed so far, and in how many words, while one types.

import { pieces, size } from "./diff.js";

const ELEMENTS = { kept: "span", removed: "del", added: "ins" };

for (const box of document.querySelectorAll("textarea[data-against]")) {
  const show = () => showChanges(box);
  box.addEventListener("input", show);
  box.addEventListener("keydown", goOn);
  box.closest(".question").addEventListener("restored", show);
  box.parentElement.querySelector(".diff").hidden = false;
  show();
}

function showChanges(box) {
  const part = box.parentElement;
  const found = pieces(box.dataset.against, box.value);
  part.querySelector(".diff-text").replaceChildren(...found.flatMap(inPlace));
  part.querySelector(".diff-none").hidden = found.some(({ kind }) => kind !== "kept");
  const words = String(size(box.dataset.against, box.value));
  const output = part.querySelector(".diff-size");
  if (output.value !== words) output.value = words;
}

function inPlace({ kind, text, spaced }) {
  const element = document.createElement(ELEMENTS[kind]);
  element.textContent = text;
  return spaced ? [" ", element] : [element];
}

// A text of one line: Enter goes on, as it does from every other answer.
function goOn(event) {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  if (!event.repeat) document.getElementById("next").click();
}
