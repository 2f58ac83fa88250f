"""Queries altered, to see whether a system's choice heeds the change (BISON, App. F).

Words are told apart by the tagger of `hits.analysis.captions`. Synonyms and hypernyms come from a
folder with WordNet's own files (index.noun, data.noun, index.verb, data.verb).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from hits.analysis.captions import tag, words_of
from hits.analysis.errors import DegenerateInput

Kind = Literal["negation", "synonym", "hypernym", "permutation", "reversal"]
KINDS: tuple[Kind, ...] = ("negation", "synonym", "hypernym", "permutation", "reversal")
NEED_WORDNET = ("synonym", "hypernym")
PARTS = ("noun", "verb")
HYPERNYM = "@"
_AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "be", "am", "can", "could", "will", "would", "has", "have")
)
_ENDINGS = {
    "noun": (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"), ("men", "man")),
    "verb": (("s", ""), ("es", ""), ("ies", "y")),
}
# "riding" is of "ride": "rid" would double its last letter.
_PARTICIPLE = re.compile(r"(?P<stem>\w+)(?:ing|ed)")
_LOST_ITS_E = re.compile(r"(?:^|[^aeiou])[aeiou][^aeiouwxy]$")


class NoWordNet(Exception):
    """In words for whoever asked."""


class Synset(NamedTuple):
    lemmas: tuple[str, ...]
    hypernyms: tuple[int, ...]


class WordNet:
    """The first sense of a word, which WordNet lists by frequency."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, int], Synset] = {}
        missing = [name for name in _files() if not (folder / name).is_file()]
        if missing:
            raise NoWordNet(
                f"WordNet's {', '.join(missing)} are not in {folder}: whoever runs this "
                "installation adds Debian's wordnet-base, or names their folder in WORDNET_DIR."
            )

    @cached_property
    def _senses(self) -> dict[str, dict[str, int]]:
        """By part of speech and lemma, where its first synset stands in the data."""
        found: dict[str, dict[str, int]] = {}
        for part in PARTS:
            own = found[part] = {}
            with (self._folder / f"index.{part}").open(encoding="utf-8") as file:
                for line in file:
                    if not line.startswith(" "):
                        fields = line.split()
                        own[fields[0]] = int(fields[-int(fields[2])])
        return found

    def synonym(self, word: str, part: str) -> str | None:
        """The first other lemma of the word's first sense."""
        lemma = self._lemma(word, part)
        if lemma is None:
            return None
        lemmas = self._synset(part, self._senses[part][lemma]).lemmas
        return next((_plain(each) for each in lemmas if each.lower() != lemma), None)

    def hypernym(self, word: str, part: str) -> str | None:
        """The first lemma of the first hypernym of the word's first sense."""
        lemma = self._lemma(word, part)
        above = self._synset(part, self._senses[part][lemma]).hypernyms if lemma else ()
        return _plain(self._synset(part, above[0]).lemmas[0]) if above else None

    def _lemma(self, word: str, part: str) -> str | None:
        return next((form for form in _forms(word, part) if form in self._senses[part]), None)

    def _synset(self, part: str, place: int) -> Synset:
        if (part, place) not in self._read:
            self._read[part, place] = self._read_synset(part, place)
        return self._read[part, place]

    def _read_synset(self, part: str, place: int) -> Synset:
        with (self._folder / f"data.{part}").open("rb") as file:
            file.seek(place)
            fields = file.readline().decode().split(" | ")[0].split()
        words = int(fields[3], 16)
        lemmas = tuple(fields[4 + 2 * number] for number in range(words))
        start = 4 + 2 * words
        pointers = [fields[start + 1 + 4 * n :][:3] for n in range(int(fields[start]))]
        above = tuple(int(to) for sign, to, kind in pointers if (sign, kind) == (HYPERNYM, part[0]))
        return Synset(lemmas, above)


def _files() -> list[str]:
    return [f"{kind}.{part}" for kind in ("index", "data") for part in PARTS]


def _forms(word: str, part: str) -> list[str]:
    """The word, and what it may be an inflection of, the likelier first."""
    forms = [word, *(word[: -len(a)] + b for a, b in _ENDINGS[part] if word.endswith(a))]
    if part == "verb" and (found := _PARTICIPLE.fullmatch(word)):
        stem = found["stem"]
        forms += [f"{stem}e", stem] if _LOST_ITS_E.search(stem) else [stem, f"{stem}e"]
    # "running" is "runn" without its ending.
    return forms + [form[:-1] for form in forms if form[-1:] == form[-2:-1]]


def _plain(lemma: str) -> str:
    return lemma.partition("(")[0].replace("_", " ")


def altered(text: str, kind: Kind, random: Random, wordnet: WordNet | None = None) -> str | None:
    """The query in lower case without its marks, altered; None where nothing can be changed."""
    words = words_of(text)
    if kind == "reversal":
        changed: list[str] | None = words[::-1]
    elif kind == "permutation":
        changed = random.sample(words, len(words))
    elif kind == "negation":
        changed = _negated(words)
    else:
        if wordnet is None:
            raise NoWordNet(f"A {kind} needs WordNet.")
        changed = _replaced(words, kind, random, wordnet)
    return None if changed is None or changed == words else " ".join(changed)


def _negated(words: Sequence[str]) -> list[str] | None:
    """ "not" behind the first auxiliary verb, or before the first other one."""
    parts = tag(words)
    for place, (word, part) in enumerate(zip(words, parts, strict=True)):
        if word in _AUXILIARIES:
            return [*words[: place + 1], "not", *words[place + 1 :]]
        if part == "verb":
            return [*words[:place], "not", *words[place:]]
    return None


def _replaced(
    words: Sequence[str], kind: Kind, random: Random, wordnet: WordNet
) -> list[str] | None:
    """One noun or verb at random gives way to the first lemma that WordNet has for it."""
    look = wordnet.synonym if kind == "synonym" else wordnet.hypernym
    found = [
        (place, other)
        for place, (word, part) in enumerate(zip(words, tag(words), strict=True))
        if part in PARTS and (other := look(word, part)) and other != word
    ]
    if not found:
        return None
    place, other = random.choice(found)
    return [*words[:place], other, *words[place + 1 :]]


def share_changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[float, int]:
    """Of the queries in both, the share whose predicted image is another, and how many they are."""
    both = before.keys() & after.keys()
    if not both:
        raise DegenerateInput("The two sets of predictions have no query in common.")
    return sum(before[query] != after[query] for query in both) / len(both), len(both)
