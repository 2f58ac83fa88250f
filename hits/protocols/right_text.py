"""Which of two texts describes an image: what a machine said, or what people made of it?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from pydantic import Field

from hits.exporters.streams import as_json_list
from hits.protocol import (
    GOLD,
    UNIT,
    FieldErrors,
    Frozen,
    ImageRef,
    PagedProtocol,
    PageSettings,
    Row,
    Source,
    explained,
    only,
    register,
)
from hits.protocols.renovation import (
    CORRECT,
    EXAMPLE_IMAGE,
    RENOVATION,
    Text,
    agreed_text,
    digest,
    most_said,
    stem_of,
)
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    Option,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

CORRECTED, PROPOSED = "corrected", "proposed"
SIDES = ("1", "2")


class RightTextRow(Row):
    """Two texts about an image. As a gold, whoever does not choose the right one fails."""

    image: ImageRef
    wrong: Text
    right: Text
    gold: bool = False


class RightTextExample(Frozen):
    caption: str = Field(title="Both texts", examples=["1: A red saucer. 2: A blue saucer."])
    answer: str = Field(title="Right answer", examples=["Text 1"])
    explanation: str = Field(title="Why", examples=["The saucer is red."])
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


RIGHT_TEXT_EXAMPLES = [
    RightTextExample(
        caption="1: A cup of coffee on a blue saucer. 2: A cup of coffee on a red saucer.",
        answer="Text 2",
        explanation="The texts differ in one word, and the saucer is red.",
        image_url=EXAMPLE_IMAGE,
    ),
    RightTextExample(
        caption="1: A spoon lies beside the coffee. 2: A fork lies beside the coffee.",
        answer="Text 1",
        explanation="It is a spoon.",
        image_url=EXAMPLE_IMAGE,
    ),
]


class RightTextWording(Frozen):
    intro: str = Field(
        "You see an image and two texts that differ in a few words. Choose the one that describes "
        "the image. If both seem to fit, choose the one that fits better.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("Which text describes the image?", title="Question under each image")
    side_labels: dict[str, str] = Field(
        {"1": "Text 1", "2": "Text 2"},
        title="Label of a text",
        description="Over the texts, which stand in turn on either side.",
    )
    choices: dict[str, str] = Field(
        {"corrected": "The corrected text", "proposed": "The proposed text"},
        title="Answer",
        description="As reviewers and results name it; raters see the texts alone.",
    )
    examples: list[RightTextExample] = Field(
        RIGHT_TEXT_EXAMPLES,
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class RightText(PagedProtocol[PageSettings, RightTextWording]):
    slug = "right_text"
    dataset = "MSCOCO-FG"
    name = "Wrong or right text"
    description = (
        "Which of two texts describes an image: what a machine said, or what people made of it?"
    )
    template = "protocols/right_text.html"
    styles = ("css/protocols/refinement.css",)
    settings_model = PageSettings
    wording_model = RightTextWording
    sources = frozenset({Source.STUDIES, Source.ROWS})
    feeders = frozenset({RENOVATION})
    apart_from = feeders
    row_model = RightTextRow
    specimens = (
        {
            "image": 3,
            "proposed": "A close-up of a tabby cat with green eyes and a blue nose.",
            "corrected": "A close-up of a tabby cat with green eyes and a pink nose.",
        },
        {
            "image": 6,
            "proposed": "A purple dahlia in full bloom against dark leaves.",
            "corrected": "An orange dahlia in full bloom against dark leaves.",
        },
    )
    columns = ("choice",)

    def units(
        self, source: UnitSource, settings: PageSettings, random: Random
    ) -> Iterator[UnitDraft]:
        for row in source.rows():
            payload = {"image": row["image"], PROPOSED: row["wrong"], CORRECTED: row["right"]}
            gold = explained({"choice": CORRECTED}, row) if row.get("gold") else None
            key = f"{row['image']}:{digest(row['wrong'], row['right'])}"
            yield UnitDraft(key, GOLD if gold else UNIT, payload, gold)
        for unit in source.judged():
            if unit.protocol == RENOVATION and unit.aggregate.label == CORRECT:
                given = {name: unit.payload[name] for name in ("image", "caption", PROPOSED)}
                payload = {**given, CORRECTED: agreed_text(unit.answers)}
                key = f"{unit.payload['image']}:{digest(payload[PROPOSED], payload[CORRECTED])}"
                yield UnitDraft(key, UNIT, payload)

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], [payload["caption"]] if "caption" in payload else []

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        return {"order": [CORRECTED, PROPOSED] if turn % 2 else [PROPOSED, CORRECTED]}

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        assert shown is not None
        texts = [payload[each] for each in shown["order"]]
        return {"image": items.images[payload["image"]], "texts": texts}

    def form(self, settings: PageSettings, wording: RightTextWording) -> Mapping[str, list[Option]]:
        return {"sides": [Option(side, wording.side_labels[side], side) for side in SIDES]}

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: PageSettings
    ) -> Json:
        side = only(fields, "choice")
        if side not in SIDES:
            raise FieldErrors({"choice": "Choose one of the two texts."})
        return {"choice": (shown or {})["order"][SIDES.index(side)]}

    def ways(
        self, payload: Json, shown: Json | None, settings: PageSettings, random: Random
    ) -> Sequence[Fields]:
        sides = dict(zip((shown or {})["order"], SIDES, strict=True))
        return [{"choice": [sides[each]]} for each in (CORRECTED, PROPOSED)]

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["choice"] == gold["choice"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        return GOLD, {"choice": most_said(answers, (CORRECTED, PROPOSED))}

    def describe(self, answer: Json, wording: RightTextWording) -> str:
        return wording.choices[answer["choice"]]

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The text that most people chose; the proposed one where as many chose either."""
        counts = Counter(answer["choice"] for answer in answers)
        label = most_said(answers, (CORRECTED, PROPOSED))
        return Aggregate(
            label,
            label == CORRECTED,
            {choice: counts[choice] for choice in (CORRECTED, PROPOSED)},
            counts[CORRECTED] / len(answers),
        )

    def tallies(self, settings: PageSettings, wording: RightTextWording) -> Sequence[Tallied]:
        options = [Option(choice, wording.choices[choice], "") for choice in (CORRECTED, PROPOSED)]
        return [Tallied("choice", wording.question, options)]

    def export(self, source: ReleaseSource, settings: PageSettings) -> Mapping[str, Iterable[str]]:
        """The pairs whose corrected text people chose, as a forced choice for models."""
        pairs = (
            {
                "image": stem_of(unit.images[0]),
                "wrong": unit.payload[PROPOSED],
                "right": unit.payload[CORRECTED],
            }
            for unit in source.units()
            if unit.aggregate.positive
        )
        return {"wrong_right.json": as_json_list(pairs)}

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["choice"],)
