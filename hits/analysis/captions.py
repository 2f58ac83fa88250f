"""Statistics of texts before and after a renovation (MSCOCO-FG §4.2.2, Table 3).

The paper counts nouns and adjectives by a parser. What is used here is a small tagger of its own,
made for captions: lists of the closed classes (articles, prepositions, pronouns, conjunctions,
numbers, auxiliaries, adverbs), a list of the adjectives and of the verbs that captions use most,
endings for the rest, and two rules of context. A word that nothing else claims is a noun. Counts are
therefore estimates: compare those of one tagger with each other, not with a parser's. A better
tagger can be passed in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

Part = Literal["noun", "adjective", "verb", "other"]
Tagger = Callable[[Sequence[str]], list[Part]]

_WORD = re.compile(r"[a-z0-9]+(?:['’-][a-z0-9]+)*")

_CLOSED = frozenset(
    """a an the this that these those some any each every both either neither no another other all
    several many few much more most such own same of in on at by for with without from into onto to
    off over under above below beneath between among behind beside besides near through across along
    around against about up down out inside outside toward towards past during before after while
    upon within next amid amidst atop underneath and or but nor so yet as if than when where who whom
    whose which what that why how because though although i you he she it we they me him her us them
    my your his its our their mine yours hers ours theirs himself herself itself themselves someone
    something somebody everyone everything nobody nothing there here is are was were be been being am
    has have had having do does did doing can could will would shall should may might must one two
    three four five six seven eight nine ten eleven twelve dozen hundred thousand not very too also
    just only even still together away back forward apart ahead almost already again then now ready
    quite really well alone together's""".split()
)
_ADJECTIVES = frozenset(
    """white black red blue green yellow brown orange pink purple gray grey golden silver beige tan
    large small big little tiny huge giant tall short long wide narrow thick thin high low deep
    young old older elderly adult new modern vintage antique ancient empty full open closed dirty
    clean wet dry hot cold warm cool fresh bright dark light colorful colourful plain fancy beautiful
    pretty cute nice good bad great happy sad busy quiet crowded wooden metal plastic concrete brick
    leather stuffed electric electronic grassy snowy sandy rocky muddy sunny cloudy rainy foggy hazy
    clear blurry female male bare naked dead alive single double several various different similar
    multiple many front left right top middle main ripe raw sliced cooked baked fried grilled frozen
    public private outdoor indoor urban rural commercial military professional steep flat round square
    curly fluffy furry hairy bald bearded shaggy striped spotted checkered patterned floral decorative
    ornate parked broken messy cluttered neat tidy half whole entire huge heavy strange odd funny
    asian chinese american english african delicious tasty healthy sweet soft hard rough smooth shiny
    transparent stainless nearby distant lone upright upside sleepy tired hungry angry""".split()
)
_VERBS = frozenset(
    """sit sits sat stand stands stood hold holds held ride rides rode walk walks ran run runs play
    plays eat eats ate look looks wear wears wore lay lays lie lies fly flies flew jump jumps hang
    hangs hung make makes made take takes took get gets got go goes went come comes came drive drives
    drove swing swings swung hit hits throw throws threw catch catches caught watch watches pose poses
    cut cuts put puts show shows shown lean leans carry carries talk talks use uses pull pulls push
    pushes graze grazes wait waits travel travels sleep sleeps drink drinks cross crosses contain
    contains include includes feature features appear appears seem seems try tries see sees seen be
    surround surrounds prepare prepares cook cooks enjoy enjoys perform performs smile smiles""".split()
)
_ADJECTIVE_ENDINGS = ("ful", "ous", "ish", "ive", "able", "ible", "less", "ic", "ical")
_OTHER_ENDINGS = ("ly",)
_BEFORE_A_NOUN = frozenset(
    "a an the some his her its their this that these those two three".split()
)


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
