"""Comparison of detectors (VL detectors, §4.2, survey 3): two automatically annotated copies of an
image; which includes and labels correctly more of what matters?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from hits.boxes import Box, beside_the_image, marked
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
    register,
)
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
from hits.sides import (
    SIDES,
    UNDECIDED,
    SystemName,
    arranged,
    as_shown,
    chosen,
    most_chosen,
    place_of,
    said_of,
    ways_to_choose,
)

Size = Annotated[float, Field(gt=0)]
PART = "Comparison"
# The sides as the released answers call them.
NUMBERS = ("1", "2")


class Settings(PageSettings):
    units_a_page: int = Field(
        10, ge=1, le=200, title="Images on a page", description="Besides the golds."
    )
    predictions: int = Field(
        5,
        ge=1,
        le=5,
        title="Predictions of a detector",
        description="Those with the highest scores are drawn; five in the paper.",
    )
    only_different: bool = Field(
        True,
        title="Only where labels differ",
        description="Images on which both detectors give the same labels are not asked about.",
    )


class Example(Frozen):
    caption: str = Field(title="What is shown", examples=["Left: cup, spoon. Right: cup, clock."])
    answer: str = Field(title="Right answer", examples=["The left one"])
    explanation: str = Field(title="Why", examples=["There is no clock on the table."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=["examples/coffee.jpg"],
    )


class Wording(Frozen):
    intro: str = Field(
        "You see two copies of one image. In each, a program has drawn boxes and written what it "
        "takes to be in them. Choose the copy that includes, and labels correctly, more of the "
        "objects that matter for understanding the scene. An image becomes larger when you click "
        "on it.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field(
        "Which copy includes and labels correctly more of what matters?", title="Question"
    )
    sides: dict[str, str] = Field(
        {"left": "First", "right": "Second"}, title="Heading", description="Over each copy."
    )
    choices: dict[str, str] = Field(
        {"left": "The first", "right": "The second"},
        title="Answer",
        description="As the rater reads it; what is stored is the system.",
    )
    choice_help: dict[str, str] = Field(
        {
            "left": "It finds more of what matters, or names it better.",
            "right": "It finds more of what matters, or names it better.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                caption="First: “cup”, “spoon”, “dining table”. Second: “bowl”, “spoon”, “clock”.",
                answer="The first",
                explanation="The cup is what the image is about. In the second copy it is called "
                "a bowl, and there is no clock.",
                image_url="examples/coffee.jpg",
            )
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


class Prediction(Frozen):
    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    box: tuple[float, float, Size, Size] = Field(
        description="Left, top, width and height, in pixels from the image’s top left corner."
    )
    score: float


class DetectorsRow(Row):
    """What detectors found in an image."""

    image: ImageRef
    systems: dict[SystemName, list[Prediction]]
    gold: SystemName | None = Field(
        None, description="The system that is clearly better than each of the others."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(self.systems) < 2:
            raise ValueError("Give the predictions of at least two systems.")
        if UNDECIDED in self.systems:
            raise ValueError("No system can be called “undecided”.")
        if self.gold is not None and self.gold not in self.systems:
            raise ValueError("The gold is one of the systems.")
        return self


@register
class Detectors(PagedProtocol[Settings, Wording]):
    slug = "detectors"
    dataset = "VL-detector-eval"
    tells_what_was_shown = True
    judgments_wanted = 3
    name = "Comparison of detectors"
    description = (
        "Two automatically annotated copies of an image: which labels more of what matters?"
    )
    template = "protocols/detectors.html"
    styles = ("css/sides.css", "css/boxes.css")
    settings_model = Settings
    wording_model = Wording
    sources = frozenset({Source.ROWS})
    row_model = DetectorsRow
    specimens = (
        {
            "image": 2,
            "outputs": [
                {
                    "system": "one",
                    "objects": [
                        {"label": "person", "box": [0, 64, 345, 448], "score": 0.9},
                        {"label": "camera", "box": [255, 138, 82, 50], "score": 0.8},
                        {"label": "tripod", "box": [230, 180, 175, 332], "score": 0.6},
                    ],
                },
                {
                    "system": "two",
                    "objects": [
                        {"label": "person", "box": [0, 64, 345, 448], "score": 0.9},
                        {"label": "cell phone", "box": [255, 138, 82, 50], "score": 0.5},
                        {"label": "boat", "box": [412, 196, 100, 36], "score": 0.4},
                    ],
                },
            ],
        },
    )
    columns = ("chosen",)
    reports = frozenset({Report.COMPARISONS})
    places = 2

    def units(self, source: UnitSource, settings: Settings, random: Random) -> Iterator[UnitDraft]:
        for row in source.rows():
            made = list(_of_row(row, settings))
            if not made:
                source.leave_out("the detectors found the same labels")
            yield from made

    def unfit(self, row: Json, named: Named) -> str:
        found = [each for own in row["systems"].values() for each in own]
        return beside_the_image(found, named.sizes.get(row["image"]))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], []

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        return arranged(payload["outputs"], turn)

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        image = items.images[payload["image"]]
        sides = zip(SIDES, as_shown(payload["outputs"], shown), strict=True)
        return {
            "image": image,
            "sides": [
                {
                    "side": side,
                    "marks": marked(
                        [each["label"] for each in output["objects"]],
                        [Box(*each["box"]) for each in output["objects"]],
                        image.width,
                        image.height,
                    ),
                }
                for side, output in sides
            ],
        }

    def form(self, settings: Settings, wording: Wording) -> Mapping[str, list[Option]]:
        return {
            "choices": [
                Option(side, wording.choices[side], key, wording.choice_help[side])
                for side, key in zip(SIDES, NUMBERS, strict=True)
            ]
        }

    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Settings) -> Json:
        system = chosen(fields, payload["outputs"], shown)
        if system is None:
            raise FieldErrors({"choice": "Choose one of the two copies."})
        return {"chosen": system}

    def ways(
        self, payload: Json, shown: Json | None, settings: Settings, random: Random
    ) -> Sequence[Fields]:
        return ways_to_choose(payload["outputs"], shown)

    def place(self, answer: Json, shown: Json | None) -> int | None:
        return place_of(answer, shown)

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["chosen"] == gold["chosen"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        label = most_chosen(answers).label
        return None if label == UNDECIDED else (GOLD, {"chosen": label})

    def describe(self, answer: Json, wording: Wording) -> str:
        return f"System {answer['chosen']}"

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        return most_chosen(answers)

    def tallies(self, settings: Settings, wording: Wording) -> Sequence[Tallied]:
        return [Tallied("chosen", wording.question)]

    def export(self, source: ReleaseSource, settings: Settings) -> Mapping[str, Iterable[str]]:
        """The side that each person chose, and which system stood on which side."""
        responses = (
            {"image_id": image, "description": NUMBERS[0 if system == left else 1]}
            for image, left, _, system in _compared(source.units())
        )
        keys = (
            {"image_id": image, **dict(zip(NUMBERS, (left, right), strict=True))}
            for image, left, right, _ in _compared(source.units())
        )
        return {
            "AMT_responses.json": JsonLists({PART: responses}),
            "AMT_keys.json": JsonLists({PART: keys}),
        }

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["chosen"],)


def _compared(units: Iterable[JudgedUnit]) -> Iterator[tuple[str, str, str, str]]:
    for unit in units:
        for left, right, system in said_of(unit):
            yield unit.images[0].id, left, right, system


def _of_row(row: Json, settings: Settings) -> Iterator[UnitDraft]:
    gold = row.get("gold")
    best = {
        name: sorted(found, key=lambda each: -each["score"])[: settings.predictions]
        for name, found in row["systems"].items()
    }
    for one, two in combinations(sorted(best), 2):
        if gold not in (None, one, two):
            continue
        if settings.only_different and _labels(best[one]) == _labels(best[two]):
            continue
        outputs = [{"system": name, "objects": best[name]} for name in (one, two)]
        payload = {"image": row["image"], "outputs": outputs}
        key = f"{row['image']}:{one}:{two}"
        if gold is None:
            yield UnitDraft(key, UNIT, payload)
        else:
            yield UnitDraft(key, GOLD, payload, gold=explained({"chosen": gold}, row))


def _labels(objects: Iterable[Json]) -> Counter[str]:
    return Counter(each["label"] for each in objects)
