// The reviewer's keys: whatever carries data-key is clicked by that key. Without this file the
// page is plain links and forms.

import { bindKeys, isTyping } from "../keys.js";
import { isLeaving } from "./once.js";

const find = (selector) => document.querySelector(selector);
const keys = find("#keys");
const second = find("#second");

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
if (second) {
  bindings.o = () => {
    second.open = true;
    type(find("#why"));
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

const ticks = find("[data-ticks]");
if (ticks) {
  ticks.closest("label").hidden = false;
  ticks.addEventListener("change", () => {
    const boxes = document.getElementsByName(ticks.dataset.ticks);
    for (const box of boxes) box.checked = ticks.checked;
  });
}

// What was before the reviewer's eyes for a moment is told to the server, which asks for all of a
// page before payment is refused.
const LONG_ENOUGH = 400;
const desk = find("[data-seen-url]");

function tellWhatIsSeen() {
  const timers = new Map();
  let seen = [];
  let waiting;
  const tell = () => {
    const body = new URLSearchParams(seen.map((position) => ["position", position]));
    body.set("csrfmiddlewaretoken", find("[name=csrfmiddlewaretoken]").value);
    seen = [];
    fetch(desk.dataset.seenUrl, { method: "POST", body, keepalive: true });
  };
  const note = (article) => {
    observer.unobserve(article);
    seen.push(article.dataset.position);
    clearTimeout(waiting);
    waiting = setTimeout(tell, LONG_ENOUGH);
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        clearTimeout(timers.get(target));
        if (isIntersecting) timers.set(target, setTimeout(() => note(target), LONG_ENOUGH));
      }
    },
    { threshold: 0.6 },
  );
  for (const article of document.querySelectorAll("[data-position]")) observer.observe(article);
}
if (desk) tellWhatIsSeen();

find(".desk [aria-current]")?.scrollIntoView({ block: "nearest" });

const images = find("script[data-next-images]")?.dataset.nextImages ?? "";
window.addEventListener("load", () => {
  for (const address of images.split(" ").filter(Boolean)) new Image().src = address;
});
