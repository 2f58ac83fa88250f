"""Statistics of texts before and after a renovation (MSCOCO-FG §4.2.2, Table 3).

The paper counts nouns and adjectives by a parser. What is used here is a small tagger of its own,
made for captions: lists of the closed classes (articles, prepositions, pronouns, conjunctions,
numbers, auxiliaries, adverbs), a list of the adjectives and of the verbs that captions use most,
endings for the rest, and two rules of context (caption_words.json has the lists). A word that
nothing else claims is a noun. Counts are therefore estimates: compare those of one tagger with each
other, not with a parser's. A better tagger can be passed in.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from hits import word_diff
from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

Part = Literal["noun", "adjective", "verb", "other"]
Tagger = Callable[[Sequence[str]], list[Part]]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

_LISTS = json.loads(Path(__file__).with_name("caption_words.json").read_text(encoding="utf-8"))
_CLOSED = frozenset(_LISTS["closed classes"])
_ADJECTIVES = frozenset(_LISTS["adjectives"])
_VERBS = frozenset(_LISTS["verbs"])
_BEFORE_A_NOUN = frozenset(_LISTS["before a noun"]) | _ADJECTIVES
_ADJECTIVE_ENDINGS = ("ful", "ous", "ish", "ive", "able", "ible", "less", "ic", "ical")
_OTHER_ENDINGS = ("ly",)


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def tag(words: Sequence[str]) -> list[Part]:
    """The part of speech of each word, by lists, endings and the words beside it."""
    return [_part(words, place) for place in range(len(words))]


def _part(words: Sequence[str], place: int) -> Part:
    word = words[place]
    following = words[place + 1] if place + 1 < len(words) else ""
    content_follows = bool(following) and following not in _CLOSED
    if word in _CLOSED or word[0].isdigit() or word.endswith(_OTHER_ENDINGS):
        return "other"
    if word in _ADJECTIVES:
        # "the orange": with no word after it to describe, it is a thing.
        return "adjective" if content_follows or not _opens_a_noun(words, place) else "noun"
    if word in _VERBS:
        return "noun" if _opens_a_noun(words, place) else "verb"
    if len(word) > 4 and word.endswith(("ing", "ed")):
        return _participle(words, place, content_follows)
    return "adjective" if len(word) > 4 and word.endswith(_ADJECTIVE_ENDINGS) else "noun"


def _opens_a_noun(words: Sequence[str], place: int) -> bool:
    return place > 0 and words[place - 1] in _BEFORE_A_NOUN


def _participle(words: Sequence[str], place: int, content_follows: bool) -> Part:
    """ "A building" is a noun, "a standing man" and "a parked car" have adjectives, else verbs."""
    if not _opens_a_noun(words, place):
        return "verb"
    return "adjective" if content_follows else "noun"


@dataclass(frozen=True)
class TextStatistics:
    """Table 3's line, with values a text, so that intervals can resample texts or images."""

    nouns: Floats
    adjectives: Floats
    lengths: Floats

    def line(self) -> dict[str, float]:
        return {
            "texts": len(self.lengths),
            "nouns": float(self.nouns.sum()),
            "adjectives": float(self.adjectives.sum()),
            "nouns a text": float(self.nouns.mean()),
            "adjectives a text": float(self.adjectives.mean()),
            "words a text": float(self.lengths.mean()),
        }


def text_statistics(texts: Sequence[str], tagger: Tagger = tag) -> TextStatistics:
    if not texts:
        raise DegenerateInput("There are no texts.")
    parts = [tagger(words_of(text)) for text in texts]
    return TextStatistics(
        np.array([own.count("noun") for own in parts], np.float64),
        np.array([own.count("adjective") for own in parts], np.float64),
        np.array([len(own) for own in parts], np.float64),
    )


def word_edits(before: str, after: str) -> int:
    """Words inserted, deleted or replaced to get from one text to the other (Levenshtein)."""
    one, two = words_of(before), words_of(after)
    row = list(range(len(two) + 1))
    for place, word in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, other in enumerate(two, 1):
            cost = min(row[column] + 1, row[column - 1] + 1, above + (word != other))
            above, row[column] = row[column], cost
    return row[-1]


def share_confirmed(proposed: Sequence[str], final: Sequence[str]) -> float:
    """The share of proposed texts that people left as they were."""
    if not proposed or len(proposed) != len(final):
        raise DegenerateInput("Each proposed text needs the text that became of it.")
    return sum(map(str.__eq__, proposed, final)) / len(proposed)


@dataclass(frozen=True)
class RenovationReport:
    """What people made of proposed texts: shares of all of them, the mean size of a correction in
    words, and Table 3's lines of the texts that were renovated, before and after."""

    texts: int
    confirmed: float
    corrected: float
    hopeless: float
    words_a_correction: float | None
    before: dict[str, float] | None
    after: dict[str, float] | None


def renovation_report(
    texts: Sequence[tuple[str, str, str | None]], tagger: Tagger = tag
) -> RenovationReport:
    """Of (original, proposed, final) texts; a proposal that was given up has no final one."""
    proposed, final = [text for _, text, _ in texts], [text or "" for *_, text in texts]
    confirmed = share_confirmed(proposed, final)
    hopeless = final.count("") / len(final)
    sizes = [
        word_diff.size(before, after)
        for before, after in zip(proposed, final, strict=True)
        if after not in ("", before)
    ]
    renovated = [(before, after) for before, _, after in texts if after]
    before, after = [
        text_statistics(side, tagger).line() if renovated else None
        for side in ([one for one, _ in renovated], [two for _, two in renovated])
    ]
    return RenovationReport(
        texts=len(texts),
        confirmed=confirmed,
        corrected=len(sizes) / len(texts),
        hopeless=hopeless,
        words_a_correction=sum(sizes) / len(sizes) if sizes else None,
        before=before,
        after=after,
    )


def forced_choice(scores: Mapping[str, tuple[float, float]]) -> Floats:
    """1 where a model scores the right text above the wrong one, 0.5 where both are equal, 0 else
    (MSCOCO-FG, Fig. 10). Scores are (right, wrong) an example."""
    if not scores:
        raise DegenerateInput("There are no scores.")
    both = np.array(list(scores.values()), np.float64)
    if not np.isfinite(both).all():
        raise DegenerateInput("Some scores are not finite numbers.")
    values: Floats = (1 + np.sign(both[:, 0] - both[:, 1])) / 2
    return values
