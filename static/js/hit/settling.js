// A question is looked at before it is answered: what is pressed before its pictures have been
// there for a moment was meant for the one before. Pictures that do not come are not waited for.

import { isLoading } from "./pictures.js";

const A_MOMENT = 250;
const LONGEST = 3000;

const form = document.getElementById("answers");
let looking = null;

export const isSettling = () => form.classList.contains("is-settling");

export function settle(question) {
  settled();
  form.classList.add("is-settling");
  lookAt(question, LONGEST);
}

export function settled() {
  clearTimeout(looking);
  form.classList.remove("is-settling");
}

function lookAt(question, longest) {
  looking = setTimeout(() => {
    if (isLoading(question) && longest > 0) lookAt(question, longest - A_MOMENT);
    else settled();
  }, A_MOMENT);
}
