"""BISON's stage 3: whether people find the image that a caption was chosen for."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Any

from pydantic import Field

from hits.exporters.streams import as_json_list
from hits.protocol import (
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
    BOTH,
    COFFEE,
    NEGATIVE,
    NEITHER,
    POSITIVE,
    TOWER,
    VERDICTS,
    Example,
    PairRow,
    images_key,
)
from hits.protocols.bison_captions import BisonCaptions, _lead, chosen_caption
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Named,
    Option,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

SIDES = ("first", "second")
# As many as every reader of JSON takes for a whole number.
BYTES_OF_AN_ID = 6


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
    key = images_key(caption, positive, negative)
    return UnitDraft(key, UNIT if gold is None else GOLD, payload, gold)


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
