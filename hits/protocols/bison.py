"""BISON's two stages for people: a caption that tells two images apart, and whether it does."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import Field, model_validator

from hits.exporters.streams import as_json_list
from hits.protocol import (
    EXPLANATION,
    GOLD,
    UNIT,
    CaptionRef,
    FieldErrors,
    Fits,
    Frozen,
    ImageRef,
    PagedProtocol,
    PageSettings,
    Report,
    Row,
    Source,
    explained,
    only,
    register,
)
from hits.records import (
    Aggregate,
    Candidate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Named,
    Option,
    Query,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

CAPTION, NONE = "caption", "none"
POSITIVE, NEGATIVE, BOTH, NEITHER = "positive", "negative", "both", "neither"
VERDICTS = (POSITIVE, NEGATIVE, BOTH, NEITHER)
SIDES = ("first", "second")
PAIRS_AT_ONCE = 1000
MOST_CAPTIONS = 9
# As many as every reader of JSON takes for a whole number.
BYTES_OF_AN_ID = 6
COFFEE, TOWER = "examples/coffee.jpg", "examples/tower.jpg"

T = TypeVar("T")


class Example(Frozen):
    image_url: str = Field(
        "",
        title="Left image",
        description="An address that begins with https://, or a file of this site.",
        examples=[COFFEE],
    )
    second_image_url: str = Field("", title="Right image", examples=[TOWER])
    caption: str = Field(title="Caption", examples=["A small spoon lies on a red saucer."])
    answer: str = Field(title="Right answer, or whether this is one", examples=["Good"])
    explanation: str = Field(title="Why", examples=["Only the left image has a spoon."])


# Stage 2


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


class PairRow(Row):
    positive: ImageRef
    negative: ImageRef

    @model_validator(mode="after")
    def _has_two_images(self) -> Self:
        if self.positive == self.negative:
            raise ValueError("Positive and negative are the same image.")
        return self


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
        return _images_key(answer["caption"], payload["positive"], payload["negative"])

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


# Stage 3


class ImagesSettings(PageSettings):
    confirmations: int = Field(
        2,
        ge=1,
        le=100,
        title="People who must pick the right image",
        description="All who judged an example, and at least so many, for it to be accepted. Want "
        "as many judgments a unit.",
    )


class ImagesRow(PairRow):
    caption: CaptionRef
    gold: str | None = Field(
        None, pattern=f"^({'|'.join(VERDICTS)})$", description="What should be answered."
    )


class ImagesWording(Frozen):
    intro: str = Field(
        "You see a caption and two images. Choose the image that the caption describes. If it "
        "describes both equally well, or neither of them, say so: these are answers like the "
        "others. The size of an image, or of a thing in it, does not matter. If an image does not "
        "load, report it: do not answer.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    first: str = Field("Image #1", title="Name of the first image")
    second: str = Field("Image #2", title="Name of the second image")
    question: str = Field("Which image does the caption describe?", title="Question")
    choices: dict[str, str] = Field(
        {
            "first": "Image #1",
            "second": "Image #2",
            "both": "More than one image is suitable for the caption",
            "neither": "None of the images is suitable for the caption",
        },
        title="Answer",
        description="As the rater reads it; what is stored is the image, wherever it stood.",
    )
    choice_help: dict[str, str] = Field(
        {
            "first": "It fits the first image, and the second less or not at all.",
            "second": "It fits the second image, and the first less or not at all.",
            "both": "You cannot tell which of the two is meant.",
            "neither": "Something in the caption is wrong for either image.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                image_url=TOWER,
                second_image_url=COFFEE,
                caption="A small spoon lies on a red saucer.",
                answer="Image #2",
                explanation="Only the second image has a spoon and a saucer.",
            ),
            Example(
                image_url=TOWER,
                second_image_url=COFFEE,
                caption="Something red stands in the middle of the picture.",
                answer="More than one image is suitable for the caption",
                explanation="It may be the tower or the cup.",
            ),
            Example(
                image_url=TOWER,
                second_image_url=COFFEE,
                caption="Two cups of tea on a tray.",
                answer="None of the images is suitable for the caption",
                explanation="There is one cup, of coffee, and no tray.",
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class BisonImages(PagedProtocol[ImagesSettings, ImagesWording]):
    slug = "bison_images"
    dataset = "BISON"
    judgments_wanted = 2
    name = "BISON: image choice"
    description = (
        "Which of two similar images a caption describes: stage 3 of BISON, for people who did no "
        "stage 2."
    )
    template = "protocols/bison_images.html"
    styles = ("css/protocols/bison.css",)
    settings_model = ImagesSettings
    wording_model = ImagesWording
    sources = frozenset({Source.STUDIES, Source.ROWS})
    feeders = frozenset({BisonCaptions.slug})
    apart_from = feeders
    row_model = ImagesRow
    specimens = (
        {"caption": 1, "positive": 1, "negative": 2},
        {"caption": 3, "positive": 3, "negative": 4},
    )
    columns = ("choice",)
    places = 2
    reports = frozenset({Report.CONVERSION})
    finds_positives = True

    def unfit(self, row: Json, named: Named) -> str:
        is_its_own = named.image_of[row["caption"]] == row["positive"]
        if is_its_own or row["gold"] not in (None, POSITIVE):
            return ""
        return "The caption belongs to another image than the positive one."

    def units(
        self, source: UnitSource, settings: ImagesSettings, random: Random
    ) -> Iterator[UnitDraft]:
        for row in source.rows():
            gold = explained({"choice": row["gold"]}, row) if row.get("gold") else None
            yield _images_unit(row["caption"], row["positive"], row["negative"], gold)
        for unit in source.judged():
            caption = chosen_caption(unit.answers)
            if caption is not None:
                yield _images_unit(caption, unit.payload["positive"], unit.payload["negative"])

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["positive"], payload["negative"]], [payload["caption"]]

    def arrange(self, payload: Json, turn: int, random: Random) -> Json | None:
        return {"first": POSITIVE if turn % 2 == 0 else NEGATIVE}

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        first, second = _sides(shown)
        return {
            "caption": items.captions[payload["caption"]],
            "first": items.images[payload[first]],
            "second": items.images[payload[second]],
        }

    def form(self, settings: ImagesSettings, wording: ImagesWording) -> Mapping[str, list[Option]]:
        return {
            "choices": [
                Option(value, wording.choices[value], key, wording.choice_help.get(value, ""))
                for value, key in zip((*SIDES, BOTH, NEITHER), "1234", strict=True)
            ]
        }

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: ImagesSettings
    ) -> Json:
        chosen = only(fields, "choice")
        meant = {**dict(zip(SIDES, _sides(shown), strict=True)), BOTH: BOTH, NEITHER: NEITHER}
        if chosen not in meant:
            raise FieldErrors({"choice": "Choose one of the four answers."})
        return {"choice": meant[chosen]}

    def ways(
        self, payload: Json, shown: Json | None, settings: ImagesSettings, random: Random
    ) -> Sequence[Fields]:
        side = dict(zip(_sides(shown), SIDES, strict=True))
        return [{"choice": [side.get(each, each)]} for each in VERDICTS]

    def truth(self, payload: Json, fits: Fits) -> float | None:
        lead = _lead(payload, payload["caption"], fits)
        if lead is None:
            return None
        verdict = BOTH if lead == 0 else POSITIVE if lead > 0 else NEGATIVE
        return VERDICTS.index(verdict) / (len(VERDICTS) - 1)

    def place(self, answer: Json, shown: Json | None) -> int | None:
        if shown is None or answer["choice"] not in {POSITIVE, NEGATIVE}:
            return None
        return _sides(shown).index(answer["choice"])

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["choice"] == gold["choice"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        said = Counter(answer["choice"] for answer in answers)
        return GOLD, {"choice": said.most_common(1)[0][0]}

    def describe(self, answer: Json, wording: ImagesWording) -> str:
        return _verdicts(wording)[answer["choice"]]

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The positive image only if everybody picked it, else what most others said."""
        counts = Counter(answer["choice"] for answer in answers)
        others = [choice for choice in VERDICTS if choice != POSITIVE and counts[choice]]
        label = max(others, key=lambda choice: counts[choice], default=POSITIVE)
        distribution = {choice: counts[choice] for choice in VERDICTS}
        return Aggregate(label, label == POSITIVE, distribution)

    def tallies(self, settings: ImagesSettings, wording: ImagesWording) -> Sequence[Tallied]:
        options = [Option(value, label, "") for value, label in _verdicts(wording).items()]
        return [Tallied("choice", wording.question, options)]

    def export(
        self, source: ReleaseSource, settings: ImagesSettings
    ) -> Mapping[str, Iterable[str]]:
        """The layout that the public bison_eval reads."""
        accepted = (unit for unit in source.units() if is_accepted(unit, settings.confirmations))
        info = {"source": source.corpus, "split": source.split}
        return {"bison_annotations.json": _document(info, _entries(accepted))}

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["choice"],)


def is_accepted(unit: JudgedUnit, confirmations: int) -> bool:
    return unit.aggregate.positive and len(unit.answers) >= confirmations


def _images_unit(caption: int, positive: int, negative: int, gold: Json | None = None) -> UnitDraft:
    payload = {"caption": caption, "positive": positive, "negative": negative}
    key = _images_key(caption, positive, negative)
    return UnitDraft(key, UNIT if gold is None else GOLD, payload, gold)


def _images_key(caption: int, positive: int, negative: int) -> str:
    return f"{caption}:{positive}:{negative}"


def _sides(shown: Json | None) -> tuple[str, str]:
    """Without what was shown nobody knows: a KeyError."""
    if (shown or {})["first"] == POSITIVE:
        return POSITIVE, NEGATIVE
    return NEGATIVE, POSITIVE


def _verdicts(wording: ImagesWording) -> dict[str, str]:
    return {
        POSITIVE: "The image that the caption was chosen for",
        NEGATIVE: "The other image",
        BOTH: wording.choices[BOTH],
        NEITHER: wording.choices[NEITHER],
    }


def _document(info: Json, data: Iterable[Json]) -> Iterator[str]:
    yield f'{{"info": {json.dumps(info)},\n"data": '
    yield from as_json_list(data)
    yield "}\n"


def _entries(units: Iterable[JudgedUnit]) -> Iterator[Json]:
    """What several studies asked is there once."""
    seen: set[int] = set()
    for entry in map(_entry, units):
        if entry["bison_id"] not in seen:
            seen.add(entry["bison_id"])
            yield entry


def _entry(unit: JudgedUnit) -> Json:
    """The candidates stand in the order of their ids, which says nothing about which is true. An
    example keeps its id in every version of a release, so that predictions stay those of it."""
    positive, negative = unit.images
    (caption,) = unit.captions
    names = json.dumps([caption.id, positive.id, negative.id])
    candidates = [
        {"image_id": _as_number(image.id), "image_filename": image.file_name}
        for image in unit.images
    ]
    return {
        "bison_id": int.from_bytes(sha256(names.encode()).digest()[:BYTES_OF_AN_ID], "big"),
        "caption_id": _as_number(caption.id),
        "caption": caption.text,
        "true_image_id": _as_number(positive.id),
        "image_candidates": sorted(candidates, key=lambda each: str(each["image_id"]).zfill(20)),
    }


def _as_number(external_id: str) -> int | str:
    """COCO's ids are numbers, and so they are in the public file; other ids stay as they are."""
    return int(external_id) if external_id.isdecimal() else external_id
