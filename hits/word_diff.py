"""How two texts differ, word by word. static/js/protocols/diff.js does the same while one types.

A text is words and marks of punctuation, each a token of its own; the case of letters matters and
the width of spaces does not. What two texts share is a longest common subsequence of their tokens,
found from the left; the rest is changes. The size of a change is in words: as many as were removed
or put in their place, whichever is more. Marks are no words.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["kept", "removed", "added"]

# Spelled out, so that every Python and every browser agree.
_MARKS = r""".,;:!?"'()\[\]{}…“”‘’„«»–—\-"""
_SPACE = re.compile(r"[\s\ufeff]+")
_TOKEN = re.compile(
    rf"[^{_MARKS} ]+(?:(?:['’-]|[.,:](?=[0-9]))[^{_MARKS} ]+)*|[{_MARKS}]",
)
_IS_MARK = re.compile(rf"[{_MARKS}]")


class Token(NamedTuple):
    text: str
    spaced: bool


class Change(NamedTuple):
    """What was removed at a place, counted in tokens of the text before, and what was added."""

    at: int
    removed: list[Token]
    added: list[Token]


class Piece(NamedTuple):
    """Some text in a row that was kept, removed or added, and whether a space stands before."""

    kind: Kind
    text: str
    spaced: bool


def plain(text: str) -> str:
    """On one line, with single spaces."""
    return _SPACE.sub(" ", text).strip(" ")


def tokens(text: str) -> list[Token]:
    line = plain(text)
    return [Token(found[0], line[: found.start()].endswith(" ")) for found in _TOKEN.finditer(line)]


def words(text: str) -> int:
    return _words(tokens(text))


def changes(before: Sequence[Token], after: Sequence[Token]) -> list[Change]:
    shared = _shared(before, after)
    found = []
    i = j = 0
    while i < len(before) or j < len(after):
        at, first = i, j
        removed, added = [], []
        while i < len(before) or j < len(after):
            if i < len(before) and j < len(after) and before[i].text == after[j].text:
                break
            if j == len(after) or (i < len(before) and shared[i + 1][j] >= shared[i][j + 1]):
                removed.append(before[i])
                i += 1
            else:
                added.append(after[j])
                j += 1
        if (i, j) != (at, first):
            found.append(Change(at, removed, added))
        else:
            i, j = i + 1, j + 1
    return found


def edit(before: str, after: str) -> list[dict[str, Any]]:
    """The changes as plain data."""
    return [
        {
            "at": change.at,
            "removed": [token.text for token in change.removed],
            "added": [token.text for token in change.added],
        }
        for change in changes(tokens(before), tokens(after))
    ]


def size(before: str, after: str) -> int:
    return sum(
        max(_words(change.removed), _words(change.added))
        for change in changes(tokens(before), tokens(after))
    )


def pieces(before: str, after: str) -> list[Piece]:
    """Both texts in one: what was kept, and in its place what was removed and added."""
    one, two = tokens(before), tokens(after)
    found: list[Piece] = []
    i = j = 0
    for change in [*changes(one, two), Change(len(one), [], [])]:
        kept = two[j : j + change.at - i]
        found += _piece("kept", kept) + _piece("removed", change.removed)
        found += _piece("added", change.added)
        i = change.at + len(change.removed)
        j += len(kept) + len(change.added)
    return found


def _piece(kind: Kind, own: Sequence[Token]) -> list[Piece]:
    if not own:
        return []
    text = "".join([f" {text}" if spaced else text for text, spaced in own])
    return [Piece(kind, text.lstrip(" "), own[0].spaced)]


def _words(own: Sequence[Token]) -> int:
    return sum(not _IS_MARK.fullmatch(token.text) for token in own)


def _shared(before: Sequence[Token], after: Sequence[Token]) -> list[list[int]]:
    """How many tokens the two have in common from each pair of places to their ends."""
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in range(len(before) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(after) - 1, -1, -1):
            same = before[i].text == after[j].text
            row[j] = below[j + 1] + 1 if same else max(below[j], row[j + 1])
    return table
