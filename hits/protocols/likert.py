"""Captions on a scale: how correct beside their image, how detailed without it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from random import Random
from statistics import median_low
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import Field, StringConstraints, model_validator

from hits.exporters.formats import Kind
from hits.exporters.streams import as_csv
from hits.protocol import (
    GOLD,
    UNIT,
    CaptionRef,
    FieldErrors,
    Fits,
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
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Option,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

SCORES = ("1", "2", "3", "4", "5")
LONGEST_TEXT = 2000
EXAMPLE_IMAGE = "examples/coffee.jpg"


class Example(Frozen):
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )
    caption: str = Field(title="Caption", examples=["A cup of coffee on a red saucer."])
    answer: str = Field(title="Right answer", examples=["Correct"])
    explanation: str = Field(title="Why", examples=["Cup, coffee and saucer are all there."])


class ScaleSettings(PageSettings):
    own_pairs: bool = Field(
        False,
        title="Ask about the corpus’s own captions",
        description="Every caption of every image, besides uploaded rows.",
    )
    gold_tolerance: int = Field(
        1,
        ge=0,
        le=4,
        title="Steps that an answer to a gold may be off",
        description="0 asks for the very answer.",
    )


class ScaleRow(Row):
    """A caption of the corpus, or a text that is not in it, such as a system’s."""

    caption: CaptionRef | None = None
    text: Annotated[str, StringConstraints(strip_whitespace=True)] | None = Field(
        None, min_length=1, max_length=LONGEST_TEXT
    )
    gold: int | None = Field(None, ge=1, le=5)

    @model_validator(mode="after")
    def _says_what_is_judged(self) -> Self:
        if (self.caption is None) == (self.text is None):
            raise ValueError("Name a caption or give a text, and not both.")
        return self


class ImageScaleRow(ScaleRow):
    image: ImageRef


class ScaleWording(Frozen):
    intro: str = Field(
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field(title="Question under each caption")
    note: str = Field(title="Note under the question")
    choices: dict[str, str] = Field(
        title="Answer", description="As the rater reads it; what is stored is the number."
    )
    choice_help: dict[str, str] = Field(
        title="What the answer means", description="In the instructions."
    )
    examples: list[Example] = Field(
        title="Example", description="They stand in the instructions, in this order."
    )


Words = TypeVar("Words", bound=ScaleWording)


class Scale(PagedProtocol[ScaleSettings, Words]):
    """One of five answers from low to high; what people said together is their mean."""

    dataset = "BISON"
    styles = ("css/protocols/scale.css",)
    settings_model = ScaleSettings
    sources = frozenset({Source.CORPUS, Source.ROWS})
    columns = ("score",)
    column_kinds = {"score": Kind.WHOLE}
    with_image: ClassVar[bool]

    def asks_corpus(self, settings: ScaleSettings) -> bool:
        return settings.own_pairs

    def units(
        self, source: UnitSource, settings: ScaleSettings, random: Random
    ) -> Iterator[UnitDraft]:
        for row in source.rows():
            payload = {name: row[name] for name in ("image", "caption", "text") if row.get(name)}
            yield _scale_unit(payload, _known(row, settings.gold_tolerance))
        if settings.own_pairs:
            for image in source.images():
                shown = {"image": image.id} if self.with_image else {}
                for caption in image.captions:
                    yield _scale_unit({**shown, "caption": caption})

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return (
            [payload["image"]] if "image" in payload else [],
            [payload["caption"]] if "caption" in payload else [],
        )

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        text = payload.get("text") or items.captions[payload["caption"]]
        image = {"image": items.images[payload["image"]]} if self.with_image else {}
        return {**image, "caption": text}

    def form(self, settings: ScaleSettings, wording: Words) -> Mapping[str, list[Option]]:
        return {
            "choices": [
                Option(score, wording.choices[score], score, wording.choice_help.get(score, ""))
                for score in SCORES
            ]
        }

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: ScaleSettings
    ) -> Json:
        score = only(fields, "score")
        if score not in SCORES:
            raise FieldErrors({"score": "Choose one of the five answers."})
        return {"score": int(score)}

    def ways(
        self, payload: Json, shown: Json | None, settings: ScaleSettings, random: Random
    ) -> Sequence[Fields]:
        return [{"score": [score]} for score in SCORES]

    def truth(self, payload: Json, fits: Fits) -> float | None:
        """How correct a text is; how detailed it is nobody knows."""
        is_known = "image" in payload and "caption" in payload
        return fits(payload["image"], payload["caption"]) if is_known else None

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(gold["low"] <= answer["score"] <= gold["high"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        middle = median_low(answer["score"] for answer in answers)
        return GOLD, {"low": max(1, middle - 1), "high": min(5, middle + 1)}

    def describe(self, answer: Json, wording: Words) -> str:
        if "low" in answer:
            ends = dict.fromkeys((answer["low"], answer["high"]))
            return " to ".join(wording.choices[str(end)] for end in ends)
        return wording.choices[str(answer["score"])]

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        counts = Counter(str(answer["score"]) for answer in answers)
        mean = sum(answer["score"] for answer in answers) / len(answers)
        distribution = {score: counts[score] for score in SCORES}
        return Aggregate(f"{round(mean, 2):g}", False, distribution, mean)

    def tallies(self, settings: ScaleSettings, wording: Words) -> Sequence[Tallied]:
        choices = self.form(settings, wording)["choices"]
        return [Tallied("score", wording.question, choices, is_ordered=True)]

    def export(self, source: ReleaseSource, settings: ScaleSettings) -> Mapping[str, Iterable[str]]:
        columns = ["image_id", "caption_id", "caption", "mean", "judgments", *SCORES]
        return {f"{self.slug}.csv": as_csv(columns, map(_line, source.units()))}

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["score"],)


def _known(row: Json, tolerance: int) -> Json | None:
    right = row.get("gold")
    if right is None:
        return None
    return explained({"low": max(1, right - tolerance), "high": min(5, right + tolerance)}, row)


def _scale_unit(payload: Json, gold: Json | None = None) -> UnitDraft:
    key = f"{payload.get('image', '')}:{payload.get('caption') or _digest(payload['text'])}"
    return UnitDraft(key, UNIT if gold is None else GOLD, payload, gold)


def _digest(text: str) -> str:
    return "t" + blake2b(text.encode(), digest_size=16).hexdigest()


def _line(unit: JudgedUnit) -> Sequence[Any]:
    image = unit.images[0].id if unit.images else ""
    caption, text = unit.captions[0].id if unit.captions else "", unit.payload.get("text")
    assert unit.aggregate.value is not None
    return (
        image,
        caption,
        unit.captions[0].text if text is None else text,
        f"{unit.aggregate.value:.4f}",
        len(unit.answers),
        *unit.aggregate.distribution.values(),
    )


class CorrectnessWording(ScaleWording):
    intro: str = Field(
        "You see an image and a caption. Say how much of the caption is really in the image. A "
        "caption may leave out as much as it likes: only what it says counts. Small slips of "
        "spelling do not matter.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field(
        "Is everything that is described in the caption present in the image?",
        title="Question under each caption",
    )
    note: str = Field(
        "What the caption leaves out does not matter.", title="Note under the question"
    )
    choices: dict[str, str] = Field(
        {
            "1": "Incorrect",
            "2": "Mostly Incorrect",
            "3": "Partially Correct",
            "4": "Mostly Correct",
            "5": "Correct",
        },
        title="Answer",
        description="As the rater reads it; what is stored is the number.",
    )
    choice_help: dict[str, str] = Field(
        {
            "1": "Nothing of it is in the image.",
            "2": "Little of it is; the main thing is wrong.",
            "3": "About half of it is.",
            "4": "All but a detail is.",
            "5": "All of it is.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                image_url=EXAMPLE_IMAGE,
                caption="A cup of coffee on a saucer.",
                answer="Correct",
                explanation="Cup, coffee and saucer are there. The spoon is left out, which does "
                "not matter.",
            ),
            Example(
                image_url=EXAMPLE_IMAGE,
                caption="A cup of coffee on a blue saucer.",
                answer="Mostly Correct",
                explanation="Only the colour of the saucer is wrong: it is red.",
            ),
            Example(
                image_url=EXAMPLE_IMAGE,
                caption="Two horses graze on a green hill.",
                answer="Incorrect",
                explanation="Nothing of this is in the image.",
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class Correctness(Scale[CorrectnessWording]):
    slug = "correctness"
    name = "Caption correctness"
    description = (
        "How much of a caption is in its image, from 1 to 5. Whoever judged the detailedness of "
        "captions of the corpus is kept out."
    )
    template = "protocols/correctness.html"
    wording_model = CorrectnessWording
    row_model = ImageScaleRow
    with_image = True
    specimens = ({"image": 1, "caption": 1}, {"image": 2, "caption": 3})

    def is_denied(self, answers: Sequence[Json]) -> bool:
        return all(answer["score"] == 1 for answer in answers)


class DetailednessWording(ScaleWording):
    intro: str = Field(
        "You see a caption of an image that is not shown. Say how detailed the caption is: how "
        "much a person who only reads it would know of the image. Whether it is true cannot be "
        "seen here and does not matter.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("How detailed is the caption?", title="Question under each caption")
    note: str = Field(
        "Details are what things look like, where they are and what they do, not many words.",
        title="Note under the question",
    )
    choices: dict[str, str] = Field(
        {
            "1": "1, not detailed",
            "2": "2, hardly detailed",
            "3": "3, somewhat detailed",
            "4": "4, detailed",
            "5": "5, very detailed",
        },
        title="Answer",
        description="As the rater reads it; what is stored is the number.",
    )
    choice_help: dict[str, str] = Field(
        {
            "1": "It fits thousands of images.",
            "2": "It names a thing and hardly more.",
            "3": "It says one or two things about what it names.",
            "4": "It says what there is, how it looks and where.",
            "5": "One could draw the image after it.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                caption="Some food on a table.",
                answer="1, not detailed",
                explanation="It could be any food on any table.",
            ),
            Example(
                caption="A white cup of coffee on a red saucer.",
                answer="3, somewhat detailed",
                explanation="It says what there is and two colours, and nothing of the rest.",
            ),
            Example(
                caption="A white cup of black coffee on a red saucer with a small silver spoon, on "
                "a table of dark wood, seen from above.",
                answer="5, very detailed",
                explanation="Things, colours, materials, places and the point of view are all "
                "there.",
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class Detailedness(Scale[DetailednessWording]):
    slug = "detailedness"
    name = "Caption detailedness"
    description = (
        "How detailed a caption is, from 1 to 5, without its image. Whoever judged the correctness "
        "of captions of the corpus, and so saw images, is kept out."
    )
    template = "protocols/detailedness.html"
    wording_model = DetailednessWording
    row_model = ScaleRow
    apart_from = frozenset({"correctness"})
    with_image = False
    specimens = ({"caption": 1}, {"caption": 3})
