// The reviewer's keys: whatever carries data-key is clicked by that key. Without this file the
// page is plain links and forms.

import { bindKeys, isTyping } from "../keys.js";
import { isLeaving } from "./once.js";

const find = (selector) => document.querySelector(selector);
const keys = find("#keys");
const refuse = find("#refuse");

function press(element) {
  if (isLeaving()) return;
  element.click();
}

function type(field) {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

const bindings = {};
for (const element of document.querySelectorAll("[data-key]")) {
  for (const key of element.dataset.key.split(" ")) bindings[key] = () => press(element);
}
if (find("#reason")) bindings.r = () => type(find("#reason"));
if (refuse) {
  bindings["3"] = () => {
    refuse.open = true;
    type(find("#refusal"));
  };
}
bindKeys(bindings, { enabled: () => !keys?.open });

document.addEventListener("keydown", (event) => {
  if (!isTyping(event.target)) return;
  if (event.key === "Escape") event.target.blur();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    const form = event.target.form;
    form?.requestSubmit(form.querySelector("button.primary, button.danger"));
  }
});

const button = find("[data-keys-button]");
if (button) {
  button.hidden = false;
  button.addEventListener("click", () => keys.showModal());
}

find(".desk [aria-current]")?.scrollIntoView({ block: "nearest" });

const images = find("script[data-next-images]")?.dataset.nextImages ?? "";
window.addEventListener("load", () => {
  for (const address of images.split(" ").filter(Boolean)) new Image().src = address;
});
