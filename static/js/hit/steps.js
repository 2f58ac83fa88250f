// What can be taken back, the last first: what was answered here, and before it what the page came
// with. A text as it is typed and a slider as it moves are one step, until one goes elsewhere.

import { isTyping } from "../keys.js";

export class Steps {
  constructor(questions, { onChange }) {
    this.onChange = () => onChange(this.taken.length === 0);
    this.taken = questions
      .filter((question) => question.isAnsweredBefore)
      .map((question) => ({ question, input: null, before: question.emptied() }));
    this.onChange();
  }

  add(question, input) {
    if (input.matches("[data-final]")) this.#forget(question);
    else if (!this.#goesOn(input)) this.taken.push({ question, input, before: question.known });
    question.known = question.values();
    this.onChange();
  }

  end() {
    const last = this.taken.at(-1);
    if (last) last.input = null;
  }

  takeBack() {
    const step = this.taken.pop();
    step?.question.restore(step.before);
    this.onChange();
    return step?.question;
  }

  #goesOn(input) {
    return (isTyping(input) || input.type === "range") && this.taken.at(-1)?.input === input;
  }

  #forget(question) {
    this.taken = this.taken.filter((step) => step.question !== question);
  }
}
