"""Details for coarse texts (MSCOCO-FG §3.2.2, §3.2.3): what a captioner is asked about a text, and
how its answer becomes part of the text's one sentence.

The paper merges with a GPT-2 that it trained on split texts. Here rules do, by the tagger of
`hits.analysis.captions`: what describes a thing goes before it or behind it, a place goes to the
end, and the rest is joined by "with" or "and". Texts that were merged elsewhere need no rules.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hits.analysis.captions import tag, words_of

_PEOPLE = frozenset(["man", "woman", "boy", "girl", "lady", "guy", "person", "child"])
_PLURALS = frozenset(["men", "women", "people", "children"])
_PLACES = frozenset(
    [
        "in",
        "on",
        "at",
        "near",
        "by",
        "under",
        "over",
        "beside",
        "behind",
        "with",
        "next",
        "inside",
        "outside",
        "during",
        "through",
        "along",
        "between",
        "among",
        "against",
        "around",
        "above",
        "below",
        "across",
        "atop",
        "from",
    ]
)
_SAID = (
    ("color", re.compile(r"the colou?r of (?:the )?(?P<about>[\w-]+) (?:is|are) (?P<rest>.+)")),
    ("place", re.compile(r"it is (?P<rest>.+)")),
    ("thing", re.compile(r"there (?:is|are) (?P<rest>.+)")),
    (
        "wears",
        re.compile(r"the (?P<about>[\w-]+) (?:(?:(?:is|are) )?wear(?:s|ing)?|in) (?P<rest>.+)"),
    ),
    ("is", re.compile(r"the (?P<about>[\w-]+) (?:is|are) (?P<rest>.+)")),
)
_MOST_WORDS_BEFORE = 4


class Detail(NamedTuple):
    """One sentence about the image, taken apart: what it says of what."""

    kind: str
    about: str
    rest: str
    sentence: str


def openings(text: str) -> list[str]:
    """Table 1's prompts for a text: where sentences begin that a captioner completes."""
    found = ["it is", "there is", "there are"]
    for noun in _things(words_of(text)):
        found += [f"the {noun} {_are(noun)}", f"the color of the {noun}"]
        if noun in _PEOPLE:
            found += [f"the {noun} wears", f"the {noun} in"]
    return found


def prompt(text: str, opening: str) -> str:
    """What a captioner completes: the text, and the beginning of a second sentence."""
    return f"{_without_end(text)}. {opening}"


def two_sentences(text: str, detail: str) -> str:
    return f"{_without_end(text)}. {_without_end(detail)}."


def completed(opening: str, answer: str) -> str | None:
    """The sentence that an answer makes of an opening; nothing where it says nothing."""
    said = re.split(r"[.!?\n]", answer, maxsplit=1)[0]
    words = " ".join(said.split())
    return f"{opening} {words}".lower() if words_of(words) else None


def merged(text: str, sentence: str) -> str | None:
    """One sentence of the text and a detail; nothing where the detail tells nothing new."""
    detail = _taken_apart(sentence)
    if not _content(detail.rest) - _content(text):
        return None
    words = _without_end(text).split()
    end = "." if text.rstrip().endswith(".") else ""
    return " ".join(_joined(words, detail)) + end


def _joined(words: list[str], detail: Detail) -> list[str]:
    rest = detail.rest.split()
    plain = [(words_of(word) or [""])[0] for word in words]
    place = plain.index(detail.about) if detail.about in plain else None
    if place is not None and detail.kind == "wears":
        return [*words[: place + 1], "in", *rest, *words[place + 1 :]]
    if place is not None and _goes_before(detail):
        return _before(words, _phrase_start(plain, place), rest)
    if place is not None and detail.kind == "is" and _goes_behind(rest):
        return [*words[: place + 1], *rest, *words[place + 1 :]]
    if rest[0] in _PLACES:
        return [*words, *rest]
    if detail.kind == "thing":
        return [*words, "with", *rest]
    return [*words, "and", *detail.sentence.split()]


def _goes_before(detail: Detail) -> bool:
    said = words_of(detail.rest)
    if detail.kind == "color":
        return len(said) <= _MOST_WORDS_BEFORE
    parts = [part for word, part in zip(said, tag(said), strict=True) if word != "and"]
    return detail.kind == "is" and bool(parts) and set(parts) == {"adjective"}


def _goes_behind(rest: Sequence[str]) -> bool:
    """ "covered in snow", "on a table"; not "a dog"."""
    return rest[0] in _PLACES or tag(rest)[0] == "verb"


def _before(words: list[str], place: int, added: Sequence[str]) -> list[str]:
    head, tail = words[:place], words[place:]
    if head and head[-1].lower() in {"a", "an"}:
        article = "an" if added[0][0] in "aeiou" else "a"
        head[-1] = article.capitalize() if head[-1][0].isupper() else article
    elif not head and tail[0][:1].isupper():
        added = [added[0].capitalize(), *added[1:]]
        tail = [tail[0].lower(), *tail[1:]]
    return [*head, *added, *tail]


def _phrase_start(words: Sequence[str], place: int) -> int:
    """Where the nouns and adjectives begin that belong to a noun: "double" of "double decker"."""
    parts = tag([word or "," for word in words])
    while place and parts[place - 1] in {"noun", "adjective"} and words[place - 1]:
        place -= 1
    return place


def _taken_apart(sentence: str) -> Detail:
    plain = _without_end(" ".join(sentence.lower().split()))
    for kind, form in _SAID:
        if found := form.fullmatch(plain):
            named = found.groupdict()
            return Detail(kind, named.get("about", ""), named["rest"], plain)
    return Detail("other", "", plain, plain)


def _content(text: str) -> set[str]:
    words = words_of(text)
    return {word for word, part in zip(words, tag(words), strict=True) if part != "other"}


def _things(words: Sequence[str]) -> list[str]:
    """The nouns, of those that stand together the last: "bus" of "double decker bus"."""
    parts = [*tag(words), "other"]
    found = [
        word
        for place, word in enumerate(words)
        if parts[place] == "noun" and parts[place + 1] != "noun"
    ]
    return list(dict.fromkeys(found))


def _are(noun: str) -> str:
    is_plural = noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))
    return "are" if is_plural else "is"


def _without_end(text: str) -> str:
    return text.strip().rstrip(".!? ")
