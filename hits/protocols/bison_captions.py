"""BISON's stage 2: a caption that tells two images apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple, TypeVar

from pydantic import Field

from hits.protocol import (
    EXPLANATION,
    GOLD,
    UNIT,
    CaptionRef,
    FieldErrors,
    Fits,
    Frozen,
    PagedProtocol,
    PageSettings,
    Report,
    Source,
    explained,
    only,
    register,
)
from hits.protocols.bison import (
    CAPTION,
    COFFEE,
    NEGATIVE,
    NONE,
    POSITIVE,
    TOWER,
    Example,
    PairRow,
    images_key,
)
from hits.records import (
    Aggregate,
    Candidate,
    Fields,
    Items,
    Json,
    Option,
    Query,
    Tallied,
    UnitDraft,
    UnitSource,
)

PAIRS_AT_ONCE = 1000
MOST_CAPTIONS = 9
T = TypeVar("T")


class CaptionsSettings(PageSettings):
    judged_depth: int = Field(
        1,
        ge=1,
        le=100,
        title="Neighbours of each image",
        description="How many of a machine’s list are paired with it; 1 takes the nearest.",
    )
    captions_shown: int = Field(
        5,
        ge=1,
        le=MOST_CAPTIONS,
        title="Captions of the left image",
        description="At most so many of them, the first of the corpus; 5 in the paper.",
    )


class CaptionsRow(PairRow):
    """Captions are the positive’s own unless named. A gold names those that are right; an empty
    list means that none is."""

    captions: list[CaptionRef] | None = Field(None, min_length=1, max_length=MOST_CAPTIONS)
    gold: list[CaptionRef] | None = None


class CaptionsWording(Frozen):
    intro: str = Field(
        "You see two images that are alike in some way, and captions that were written for the "
        "left one. Choose the caption that fits the left image best and does not fit the right "
        "one. Somebody else will later see your caption with both images in any order, and should "
        "be sure which one is meant. If the images are nearly the same, or every caption fits "
        "both, say that none is suitable. The size of an image, or of a thing in it, does not "
        "matter. If an image does not load, report it: do not answer.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    left: str = Field("Fits this image …", title="Above the left image")
    right: str = Field("… but not this one", title="Above the right image")
    question: str = Field(
        "Which caption describes the left image, but not the right one?", title="Question"
    )
    none: str = Field("None of above captions are suitable", title="Answer when no caption is")
    examples: list[Example] = Field(
        [
            Example(
                image_url=COFFEE,
                second_image_url=TOWER,
                caption="A small spoon lies on a red saucer.",
                answer="Good",
                explanation="It describes the left image, and nothing of it is in the right one.",
            ),
            Example(
                image_url=COFFEE,
                second_image_url=TOWER,
                caption="Something red stands in the middle of the picture.",
                answer="Bad",
                explanation="The cup on the left is red, but so is the tower on the right: the "
                "caption fits both.",
            ),
            Example(
                image_url=COFFEE,
                second_image_url=TOWER,
                caption="Two cups of tea on a tray.",
                answer="Bad",
                explanation="It does not fit the right image, but neither does it fit the left "
                "one, which shows one cup of coffee.",
            ),
            Example(
                image_url=COFFEE,
                second_image_url=COFFEE,
                caption="A cup of coffee on a wooden table.",
                answer="None of above captions are suitable",
                explanation="Both images are the same: no caption can tell them apart.",
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


class Pair(NamedTuple):
    positive: int
    negative: int
    captions: Sequence[int] | None = None
    gold: Sequence[int] | None = None
    sources: tuple[Candidate, ...] = ()
    explanation: str = ""


@register
class BisonCaptions(PagedProtocol[CaptionsSettings, CaptionsWording]):
    slug = "bison_captions"
    dataset = "BISON"
    name = "BISON: caption choice"
    description = (
        "Which of an image’s captions tells it from a similar image: stage 2 of BISON, which feeds "
        "stage 3."
    )
    template = "protocols/bison_captions.html"
    styles = ("css/protocols/bison.css",)
    settings_model = CaptionsSettings
    wording_model = CaptionsWording
    sources = frozenset({Source.PROPOSALS, Source.ROWS})
    directions = ("i2i",)
    row_model = CaptionsRow
    specimens = (
        {
            "positive": 5,
            "negative": 3,
            "captions": [5, 3],
            "texts": [
                "A cup of espresso on a red saucer with a small spoon.",
                "A close-up of a tabby cat with green eyes.",
            ],
        },
    )
    columns = ("choice", "caption", "text")
    caption_columns = frozenset({"caption"})
    captions_in_order = "captions"
    reports = frozenset({Report.CONVERSION, Report.LONGEST})

    def units(
        self, source: UnitSource, settings: CaptionsSettings, random: Random
    ) -> Iterator[UnitDraft]:
        given = map(_given, source.rows())
        proposed = (_neighbours(query, settings.judged_depth) for query in source.queries())
        pairs = chain(given, chain.from_iterable(proposed))
        for some in _some(pairs):
            captions_of = source.captions_of({pair.positive for pair in some})
            for pair in some:
                try:
                    yield _captions_unit(pair, captions_of.get(pair.positive, {}), settings)
                except NoUnit as reason:
                    source.leave_out(str(reason))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["positive"], payload["negative"]], payload["captions"]

    def arrange(self, payload: Json, turn: int, random: Random) -> Json | None:
        captions = payload["captions"]
        return {"captions": random.sample(captions, len(captions))}

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "left": items.images[payload["positive"]],
            "right": items.images[payload["negative"]],
            "captions": [items.captions[caption] for caption in _in_order(payload, shown)],
        }

    def form(
        self, settings: CaptionsSettings, wording: CaptionsWording
    ) -> Mapping[str, list[Option]]:
        return {"none": [Option(NONE, wording.none, "0")]}

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: CaptionsSettings
    ) -> Json:
        chosen = only(fields, "choice")
        if chosen == NONE:
            return {"choice": NONE}
        places = {str(n): caption for n, caption in enumerate(_in_order(payload, shown), 1)}
        if chosen not in places:
            raise FieldErrors({"choice": "Choose a caption, or that none is suitable."})
        caption = places[chosen]
        text = payload["texts"][payload["captions"].index(caption)]
        return {"choice": CAPTION, "caption": caption, "text": text}

    def ways(
        self, payload: Json, shown: Json | None, settings: CaptionsSettings, random: Random
    ) -> Sequence[Fields]:
        """Its captions as the corpus has them, and none."""
        places = {caption: str(n) for n, caption in enumerate(_in_order(payload, shown), 1)}
        return [{"choice": [places[each]]} for each in payload["captions"]] + [{"choice": [NONE]}]

    def truth(self, payload: Json, fits: Fits) -> float | None:
        """The caption that fits the positive image best beyond the negative one, else none."""
        leads = [_lead(payload, caption, fits) for caption in payload["captions"]]
        best = max(range(len(leads)), key=lambda place: leads[place] or 0)
        if leads[best] is None:
            return None
        return best / len(leads) if (leads[best] or 0) > 0 else 1.0

    def check(self, answer: Json, gold: Json) -> bool:
        return answer.get("caption") in gold["captions"] or (
            answer["choice"] == NONE and not gold["captions"]
        )

    def describe(self, answer: Json, wording: CaptionsWording) -> str:
        if "texts" in answer:
            return " / ".join(answer["texts"]) or wording.none
        return wording.none if answer["choice"] == NONE else str(answer["text"])

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        label = NONE if chosen_caption(answers) is None else CAPTION
        counts = Counter(answer["choice"] for answer in answers)
        return Aggregate(label, label == CAPTION, {each: counts[each] for each in (CAPTION, NONE)})

    def tallies(self, settings: CaptionsSettings, wording: CaptionsWording) -> Sequence[Tallied]:
        options = [Option(CAPTION, "A caption is suitable", ""), Option(NONE, wording.none, "")]
        return [Tallied("choice", wording.question, options)]

    def later_key(self, payload: Json, answer: Json) -> str | None:
        if answer["choice"] == NONE:
            return None
        return images_key(answer["caption"], payload["positive"], payload["negative"])

    def row(self, answer: Json) -> Sequence[Any]:
        return answer["choice"], answer.get("caption", ""), answer.get("text", "")


def chosen_caption(answers: Sequence[Json]) -> int | None:
    """The caption that most people chose: none, if as many or more said none; of equally
    frequent ones the first of the corpus."""
    counts = Counter(answer.get("caption") for answer in answers)
    return max(counts, key=lambda caption: (counts[caption], caption is None, -(caption or 0)))


def _given(row: Json) -> Pair:
    return Pair(
        row["positive"],
        row["negative"],
        row.get("captions"),
        row.get("gold"),
        explanation=row.get(EXPLANATION, ""),
    )


def _neighbours(query: Query, depth: int) -> Iterator[Pair]:
    found: dict[int, list[Candidate]] = {}
    for candidate in query.candidates:
        if candidate.rank <= depth and candidate.target_id != query.id:
            found.setdefault(candidate.target_id, []).append(candidate)
    for target, candidates in found.items():
        yield Pair(query.id, target, sources=tuple(candidates))


def _some(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, PAIRS_AT_ONCE)):
        yield batch


class NoUnit(Exception):
    """Why a pair cannot be asked about."""


def _captions_unit(pair: Pair, own: Mapping[int, str], settings: CaptionsSettings) -> UnitDraft:
    captions = _choosable(pair, own, settings.captions_shown)
    if not captions:
        raise NoUnit("the left image has no captions of its own to choose from")
    if not set(captions).issuperset(pair.gold or ()):
        raise NoUnit("the gold is none of the captions to choose from")
    payload = {
        "positive": pair.positive,
        "negative": pair.negative,
        "captions": captions,
        "texts": [own[caption] for caption in captions],
    }
    key = f"{pair.positive}:{pair.negative}"
    if pair.gold is None:
        return UnitDraft(key, UNIT, payload, None, pair.sources)
    gold = {"captions": list(pair.gold), "texts": [own[caption] for caption in pair.gold]}
    return UnitDraft(key, GOLD, payload, explained(gold, {EXPLANATION: pair.explanation}))


def _choosable(pair: Pair, own: Mapping[int, str], most: int) -> list[int]:
    """The captions that are named, or the image's first, with those of the gold among them."""
    if pair.captions:
        return [each for each in pair.captions if each in own]
    known = [each for each in pair.gold or () if each in own]
    others = [each for each in own if each not in known]
    chosen = {*known, *others[: max(0, most - len(known))]}
    return [each for each in own if each in chosen]


def _lead(payload: Json, caption: int, fits: Fits) -> float | None:
    """How much better a caption fits the positive image than the negative one."""
    positive, negative = fits(payload[POSITIVE], caption), fits(payload[NEGATIVE], caption)
    return None if positive is None or negative is None else positive - negative


def _in_order(payload: Json, shown: Json | None) -> list[int]:
    """Without what was shown nobody knows: a KeyError."""
    return list((shown or {})["captions"])
