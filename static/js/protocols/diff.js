// How two texts differ, word by word: what hits/word_diff.py does, while one types.
// Words and marks of punctuation are tokens of their own; case matters, the width of spaces does
// not. The size of a change is in words, and marks are no words.

const MARKS = ".,;:!?\"'()\\[\\]{}…“”‘’„«»–—\\-";
// What Python takes for space and JavaScript does not is spelled out.
const SPACE = /[\s\x1c-\x1f\x85]+/g;
const TOKEN = new RegExp(
  `[^${MARKS} ]+(?:(?:['’\\-]|[.,:](?=[0-9]))[^${MARKS} ]+)*|[${MARKS}]`,
  "g",
);
const IS_MARK = new RegExp(`^[${MARKS}]$`);

export function plain(text) {
  return text.replace(SPACE, " ").replace(/^ +| +$/g, "");
}

export function tokens(text) {
  const line = plain(text);
  return [...line.matchAll(TOKEN)].map((found) => ({
    text: found[0],
    spaced: line[found.index - 1] === " ",
  }));
}

export function changes(before, after) {
  const shared = sharedFrom(before, after);
  const found = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const at = i;
    const first = j;
    const removed = [];
    const added = [];
    while (i < before.length || j < after.length) {
      if (i < before.length && j < after.length && before[i].text === after[j].text) break;
      if (j === after.length || (i < before.length && shared[i + 1][j] >= shared[i][j + 1])) {
        removed.push(before[i++]);
      } else {
        added.push(after[j++]);
      }
    }
    if (i !== at || j !== first) {
      found.push({ at, removed, added });
    } else {
      i += 1;
      j += 1;
    }
  }
  return found;
}

export function edit(before, after) {
  const texts = (own) => own.map(({ text }) => text);
  return changes(tokens(before), tokens(after)).map(({ at, removed, added }) => ({
    at,
    removed: texts(removed),
    added: texts(added),
  }));
}

export function size(before, after) {
  return changes(tokens(before), tokens(after)).reduce(
    (sum, { removed, added }) => sum + Math.max(words(removed), words(added)),
    0,
  );
}

export function pieces(before, after) {
  const one = tokens(before);
  const two = tokens(after);
  const found = [];
  let i = 0;
  let j = 0;
  for (const { at, removed, added } of [
    ...changes(one, two),
    { at: one.length, removed: [], added: [] },
  ]) {
    const kept = two.slice(j, j + at - i);
    for (const [kind, own] of Object.entries({ kept, removed, added })) {
      if (own.length) found.push(piece(kind, own));
    }
    i = at + removed.length;
    j += kept.length + added.length;
  }
  return found;
}

function piece(kind, own) {
  const text = own.map((token) => (token.spaced ? ` ${token.text}` : token.text)).join("");
  return { kind, text: own[0].spaced ? text.slice(1) : text, spaced: own[0].spaced };
}

function words(own) {
  return own.filter(({ text }) => !IS_MARK.test(text)).length;
}

function sharedFrom(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      table[i][j] =
        before[i].text === after[j].text
          ? table[i + 1][j + 1] + 1
          : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}
