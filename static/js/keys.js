// Single keys for a page: bindKeys({ j: next, k: previous, "?": help }).
// Names are those of KeyboardEvent.key, letters in lower case; the row of digits gives digits on
// layouts that want Shift for them too. Typing in a text field, held keys and combinations with
// Ctrl, Alt or Meta are left alone.

const TYPING =
  'textarea, select, [contenteditable], ' +
  'input:not([type="radio"], [type="checkbox"], [type="range"])';

export function isTyping(target) {
  return target instanceof Element && target.matches(TYPING);
}

export function keyOf(event) {
  if (!event.shiftKey && /^Digit\d$/.test(event.code)) return event.code.slice(-1);
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

export function bindKeys(bindings, { enabled = () => true } = {}) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
    if (isTyping(event.target) || !enabled()) return;
    const action = bindings[keyOf(event)];
    if (action && action(event) !== false) event.preventDefault();
  });
}
