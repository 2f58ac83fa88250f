// What the page says over its bar: whether answers are saved, what went wrong, how long it lasts.

import { ownAddress } from "./requests.js";

const WARN_BEFORE_END = 5 * 60_000;

const find = (id) => document.getElementById(id);

// One line for each id; kind null takes it away. A line that says the same stays as it is: a link
// that is replaced while it is held down is never clicked.
export function notice(id, kind, ...content) {
  const shown = find(id);
  const line = kind === null ? null : lineOf(id, kind, content);
  if (line && shown?.isEqualNode(line)) return;
  shown?.remove();
  if (line) find("over-bar").append(line);
}

function lineOf(id, kind, content) {
  const line = document.createElement("p");
  line.id = id;
  line.className = `notice ${kind}`;
  line.append(...content);
  return line;
}

export function announce(text) {
  find("announcer").textContent = text;
}

export function clockTime(date) {
  return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
}

export function linkTo(text, href, target = "_self") {
  const link = document.createElement("a");
  return Object.assign(link, { textContent: text, href, target });
}

// What to say to somebody whom the server no longer knows, and the way back. A worker does not
// log in, and may open no window.
export function unknownHere(what) {
  const { loginUrl } = find("answers").dataset;
  if (loginUrl) {
    return [
      `Not ${what} yet: you are logged out. Your answers are kept here.`,
      linkTo("Log in in a new window", loginUrl, "_blank"),
    ];
  }
  return [`Not ${what} yet, trying again. Your answers are kept here: keep this page open.`];
}

export function showSaving(state, { savedAt, message } = {}) {
  const saved = find("saved");
  const text = state === "saved" ? `Saved ${clockTime(savedAt)}` : "Not saved yet";
  saved.classList.toggle("is-failing", state !== "saved");
  if (saved.textContent !== text) saved.textContent = text;
  if (state === "saved") notice("saving", null);
  else notice("saving", "bad", ...REFUSALS[state](message));
}

const REFUSALS = {
  failing: () => [
    "Not saved yet, trying again. Your answers are kept here: keep this page open.",
  ],
  "logged out": () => unknownHere("saved"),
  newer: (message) => [message, linkTo("Load the newer answers", ownAddress())],
  closed: (message) => [message, linkTo("Go on", find("answers").dataset.leaveUrl)],
};

export function watchLease() {
  if (!find("lease")) return;
  const left = new Date(find("lease").dateTime) - Date.now();
  const over =
    "The time for this page is over. Submit it soon: it counts as long as nobody else has " +
    "its questions.";
  if (left > 0) {
    const warn = () => notice("time", "warn", "This page is yours for 5 more minutes.");
    setTimeout(warn, Math.max(0, left - WARN_BEFORE_END));
  }
  setTimeout(() => notice("time", "warn", over), Math.max(0, left));
}
