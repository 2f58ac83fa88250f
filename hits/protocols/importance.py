"""What VL-detector-eval's two surveys of an image's objects have in common."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from random import Random
from statistics import mean, median_low
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import Field, StringConstraints, model_validator

from hits.boxes import Box, beside_the_image, marked, overlap
from hits.exporters.streams import JsonLists
from hits.protocol import (
    GOLD,
    UNIT,
    FieldErrors,
    Frozen,
    ImageRef,
    PagedProtocol,
    PageSettings,
    Report,
    Row,
    Source,
    explained,
    only,
)
from hits.records import (
    Aggregate,
    CorpusImage,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Named,
    Option,
    Region,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)
from hits.sampling.objects import known_words, most_important

LETTERS = "ABCDE"
RATINGS = (3, 2, 1)
LONGEST_CAPTION = 500
# What simulated captions are made of.
MAIN_WORDS = ("a", "person", "and", "some", "things", "on", "the", "table")
EXAMPLE_IMAGE = "examples/coffee.jpg"
ObjectId = Annotated[
    str, StringConstraints(min_length=1, max_length=60), Field(coerce_numbers_to_str=True)
]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Rating = Literal[1, 2, 3]


class WordOf(Frozen):
    word: str = Field(title="Word in captions", examples=["puppy"])
    category: str = Field(title="Category of objects", examples=["dog"])


class Settings(PageSettings):
    units_a_page: int = Field(
        5, ge=1, le=200, title="Images on a page", description="Besides the golds."
    )
    images: int = Field(
        0,
        ge=0,
        le=10_000_000,
        title="Images of the corpus",
        description="Drawn where neither rows nor another study say which images are asked about, "
        "from those with at least five objects of which captions name some; 225 in the paper. "
        "The five most important objects are boxed. 0: all of them.",
    )
    most_overlap: float = Field(
        1.0,
        ge=0,
        le=1,
        title="Overlap of boxes",
        description="Images in which one box covers more than this part of another, smaller one "
        "are left out. 1 keeps all: whoever looks them through excludes what confuses.",
    )
    words: list[WordOf] = Field(
        [],
        title="Word for a category",
        description="By which captions name objects, besides the names of the categories and the "
        "words that are known for COCO’s.",
    )


class Example(Frozen):
    caption: str = Field(title="Object", examples=["A: the cup of coffee"])
    answer: str = Field(title="Right answer", examples=["Very prominent"])
    explanation: str = Field(title="Why", examples=["It is the first thing that one sees."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


class Wording(Frozen):
    intro: str = Field(
        "You see an image, and the same image with five objects in boxes, lettered A to E. Say of "
        "each object how prominent it is: how much it stands out when one looks at the image. "
        "Several objects may get the same answer. An image becomes larger when you click on it.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("How prominent is each object?", title="Question under each image")
    object_label: str = Field("Object", title="Name of an object", description="Before its letter.")
    choices: dict[str, str] = Field(
        {"3": "Very prominent", "2": "Somewhat prominent", "1": "Not prominent"},
        title="Answer",
        description="As the rater reads it; what is stored is the number.",
    )
    choice_help: dict[str, str] = Field(
        {
            "3": "One of the first things that one sees.",
            "2": "One sees it, but it is not what the image is about.",
            "1": "One has to look for it.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                caption="A: the cup of coffee",
                answer="Very prominent",
                explanation="It is large, in the middle, and what the image shows.",
                image_url=EXAMPLE_IMAGE,
            ),
            Example(
                caption="B: the spoon beside it",
                answer="Somewhat prominent",
                explanation="It is in plain sight, but one looks at the cup first.",
                image_url=EXAMPLE_IMAGE,
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


class RowObject(Frozen):
    id: ObjectId
    label: Label
    box: tuple[float, float, Annotated[float, Field(gt=0)], Annotated[float, Field(gt=0)]] = Field(
        description="Left, top, width and height, in pixels from the image’s top left corner."
    )


class ObjectsRow(Row):
    """An image with the five objects to be rated."""

    image: ImageRef
    objects: Annotated[list[RowObject], Field(min_length=5, max_length=5)]
    gold: dict[ObjectId, Annotated[list[Rating], Field(min_length=1)]] | None = Field(
        None, description="For some of the objects, the ratings that are right."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        ids = {each.id for each in self.objects}
        if len(ids) < len(self.objects):
            raise ValueError("Two objects have the same id.")
        if self.gold is not None and (not self.gold or not ids.issuperset(self.gold)):
            raise ValueError("The gold names some of the objects.")
        return self


RatingSettings = TypeVar("RatingSettings", bound=Settings)
RatingWording = TypeVar("RatingWording", bound=Wording)


class Rated(PagedProtocol[RatingSettings, RatingWording], Generic[RatingSettings, RatingWording]):
    """Five objects of an image, each rated 3, 2 or 1."""

    part: ClassVar[str]
    dataset = "VL-detector-eval"
    tells_what_was_shown = True

    styles = ("css/boxes.css",)
    sources = frozenset({Source.CORPUS, Source.STUDIES, Source.ROWS})
    row_model = ObjectsRow
    reports = frozenset({Report.IMPORTANCE})
    specimens = (
        {
            "image": 1,
            "objects": [
                {"id": "1", "label": "person", "box": [20, 12, 345, 500]},
                {"id": "2", "label": "flag", "box": [0, 0, 115, 512]},
                {"id": "3", "label": "space shuttle", "box": [352, 0, 118, 290]},
                {"id": "4", "label": "helmet", "box": [278, 342, 234, 170]},
                {"id": "5", "label": "badge", "box": [133, 344, 76, 80]},
            ],
            "overlap": 1.0,
        },
        {
            "image": 2,
            "objects": [
                {"id": "6", "label": "person", "box": [0, 64, 345, 448]},
                {"id": "7", "label": "camera", "box": [255, 138, 82, 50]},
                {"id": "8", "label": "tripod", "box": [230, 180, 175, 332]},
                {"id": "9", "label": "tower", "box": [412, 118, 22, 72]},
                {"id": "10", "label": "dome", "box": [412, 196, 100, 36]},
            ],
            "overlap": 1.0,
        },
    )

    def units(
        self, source: UnitSource, settings: RatingSettings, random: Random
    ) -> Iterator[UnitDraft]:
        is_told = False
        for row in source.rows():
            is_told |= row.get("gold") is None
            made = list(_showable(_of_row(row), settings))
            if not made:
                source.leave_out("the boxes overlap too much")
            yield from made
        for unit in source.judged():
            is_told = True
            yield from _showable(UnitDraft(unit.key, UNIT, unit.payload), settings)
        if not is_told:
            yield from _of_corpus(source.images(), settings, random)

    def unfit(self, row: Json, named: Named) -> str:
        return beside_the_image(row["objects"], named.sizes.get(row["image"]))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], []

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        """Letters by chance, but the same wherever these objects are asked about: ratings in the
        order of letters can then be compared between surveys."""
        objects = sorted(each["id"] for each in payload["objects"])
        by_objects = Random(json.dumps([payload["image"], objects]))
        by_objects.shuffle(objects)
        return dict(zip(LETTERS, objects, strict=True))

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        image = items.images[payload["image"]]
        boxes = {each["id"]: Box(*each["box"]) for each in payload["objects"]}
        ordered = [boxes[each] for each in _lettered(shown).values()]
        return {"image": image, "marks": marked(LETTERS, ordered, image.width, image.height)}

    def form(self, settings: RatingSettings, wording: RatingWording) -> Mapping[str, list[Option]]:
        choices = [
            Option(value, wording.choices[value], value, wording.choice_help[value])
            for value in map(str, RATINGS)
        ]
        letters = [Option(letter, f"{wording.object_label} {letter}", "") for letter in LETTERS]
        return {"choices": choices, "letters": letters}

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: RatingSettings
    ) -> Json:
        ratings, errors = {}, {}
        for letter, object_id in _lettered(shown).items():
            given = only(fields, letter)
            if given in map(str, RATINGS):
                ratings[object_id] = int(given)
            else:
                errors[letter] = f"Rate object {letter}."
        if errors:
            raise FieldErrors(errors)
        return {"ratings": ratings}

    def ways(
        self, payload: Json, shown: Json | None, settings: RatingSettings, random: Random
    ) -> Sequence[Fields]:
        letters = sorted(_lettered(shown), key=lambda letter: _lettered(shown)[letter])
        return [
            {letter: [str(rating)] for letter, rating in zip(letters, ratings, strict=True)}
            for ratings in product(RATINGS, repeat=len(letters))
        ]

    def check(self, answer: Json, gold: Json) -> bool:
        """Each object that the gold names has one of its right ratings."""
        ratings = answer["ratings"]
        return all(ratings[each] in right for each, right in gold["right"].items())

    def named(self, answer: Json, payload: Json, shown: Json | None) -> Json:
        labels = {each["id"]: each["label"] for each in payload["objects"]}
        lettered = _lettered(shown or self.arrange(payload, 0, Random()))
        names = {each: f"{letter} {labels[each]}" for letter, each in lettered.items()}
        part = "right" if "right" in answer else "ratings"
        return {**answer, part: {names[each]: given for each, given in answer[part].items()}}

    def describe(self, answer: Json, wording: RatingWording) -> str:
        given = answer.get("right") or {each: [own] for each, own in answer["ratings"].items()}
        return ", ".join(
            f"{each}: {' or '.join(wording.choices[str(rating)] for rating in ratings)}"
            for each, ratings in sorted(given.items())
        )

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The middle rating of each object, in the order of their ids."""
        objects = sorted(answers[0]["ratings"])
        by_object = [[answer["ratings"][each] for answer in answers] for each in objects]
        given = Counter("".join(map(str, ratings)) for ratings in zip(*by_object, strict=True))
        return Aggregate(
            label="".join(str(median_low(ratings)) for ratings in by_object),
            positive=False,
            distribution=dict(sorted(given.items())),
            value=mean(rating for ratings in by_object for rating in ratings),
        )

    def tallies(self, settings: RatingSettings, wording: RatingWording) -> Sequence[Tallied]:
        choices = self.form(settings, wording)["choices"]
        return [Tallied("ratings", wording.question, choices, is_ordered=True)]

    def export(
        self, source: ReleaseSource, settings: RatingSettings
    ) -> Mapping[str, Iterable[str]]:
        """The ratings in the order of letters, and what the letters stand for."""
        responses = (
            {"image_id": unit.images[0].id, "description": _digits(shown, answer)}
            for unit, shown, answer in _said(source.units())
        )
        keys = (
            {"image_id": unit.images[0].id, **_key(unit.payload, shown)}
            for unit, shown, _ in _said(source.units())
        )
        return {
            "AMT_responses.json": JsonLists({self.part: responses}),
            "AMT_keys.json": JsonLists({self.part: keys}),
        }

    columns: ClassVar[Sequence[str]] = ("ratings",)

    def row(self, answer: Json) -> Sequence[Any]:
        return (";".join(f"{each}={own}" for each, own in sorted(answer["ratings"].items())),)


def _lettered(shown: Json | None) -> dict[str, str]:
    """Without what was shown, nobody knows what a letter stands for: a KeyError."""
    return {letter: (shown or {})[letter] for letter in LETTERS}


def _said(units: Iterable[JudgedUnit]) -> Iterator[tuple[JudgedUnit, Json | None, Json]]:
    for unit in units:
        for shown, answer in zip(unit.shown, unit.answers, strict=True):
            yield unit, shown, answer


def _digits(shown: Json | None, answer: Json) -> str:
    return "".join(str(answer["ratings"][each]) for each in _lettered(shown).values())


def _key(payload: Json, shown: Json | None) -> Json:
    objects = {each["id"]: each for each in payload["objects"]}
    return {letter: objects[each] for letter, each in _lettered(shown).items()}


def _draft(image: int, objects: Sequence[Json], gold: Json | None = None) -> UnitDraft:
    """A unit carries how much its boxes overlap, for whoever looks for those that confuse."""
    share = round(overlap([Box(*each["box"]) for each in objects]), 3)
    payload = {"image": image, "objects": list(objects), "overlap": share}
    return UnitDraft(str(image), UNIT if gold is None else GOLD, payload, gold)


def _showable(draft: UnitDraft, settings: Settings) -> Iterator[UnitDraft]:
    if draft.payload["overlap"] <= settings.most_overlap:
        yield draft


def _of_row(row: Json) -> UnitDraft:
    objects = [
        {"id": each["id"], "label": each["label"], "box": list(each["box"])}
        for each in row["objects"]
    ]
    gold = explained({"right": row["gold"]}, row) if row.get("gold") else None
    return _draft(row["image"], objects, gold)


def _of_corpus(
    images: Iterable[CorpusImage], settings: Settings, random: Random
) -> Iterator[UnitDraft]:
    words = known_words() | {each.word.lower(): each.category for each in settings.words}
    found = [
        draft
        for image in images
        if (regions := most_important(image, words, len(LETTERS)))
        for draft in _showable(_draft(image.id, list(map(_as_object, regions))), settings)
    ]
    if settings.images and settings.images < len(found):
        found = random.sample(found, settings.images)
    yield from found


def _as_object(region: Region) -> Json:
    return {
        "id": region.external_id or str(region.id),
        "label": region.category,
        "box": [region.x, region.y, region.width, region.height],
    }
