"""Crisscrossed Captions: two items, and a slider between six descriptions."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from pydantic import Field, model_validator

from hits.exporters.formats import Kind
from hits.exporters.streams import as_csv
from hits.protocol import (
    GOLD,
    UNIT,
    FieldErrors,
    Frozen,
    PagedProtocol,
    PageSettings,
    Report,
    Row,
    explained,
    only,
)
from hits.records import (
    Aggregate,
    Candidate,
    Fields,
    Json,
    JudgedUnit,
    Option,
    OutsideCaption,
    OutsideImage,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

ANCHORS = ("0", "1", "2", "3", "4", "5")
LOWEST, HIGHEST = 0, 5
HALF_POINTS = 10
MOVED = {"pointer": "Pointer", "touch": "Touch", "key": "Keys"}
HUNDREDTH = Decimal("0.01")
EXAMPLE_IMAGE = "examples/coffee.jpg"
_NUMBER = re.compile(r"[0-9](\.[0-9]{1,20})?")
_NOT_IN_A_NAME = re.compile(r"[^\w.+-]")


class Band(Frozen):
    """The scores that are right for a gold."""

    low: float = Field(ge=LOWEST, le=HIGHEST)
    high: float = Field(ge=LOWEST, le=HIGHEST)

    @model_validator(mode="after")
    def _is_a_band(self) -> Self:
        if self.low > self.high:
            raise ValueError("The low end of the band is above its high end.")
        return self


class PairRow(Row):
    sampling_method: str = Field("uploaded", pattern=r"^[A-Za-z0-9_.-]{1,40}$")
    gold: Band | None = None


CAPTION_NAMES: Any = Field(
    "{id}",
    pattern=r"\{id\}",
    max_length=100,
    title="Names of captions in the release",
    description="“{id}” stands for the caption’s outside id.",
    examples=["COCO_val2014:sentid:{id}"],
)
IMAGE_NAMES: Any = Field(
    "{file}",
    pattern=r"\{(file|id)\}",
    max_length=100,
    title="Names of images in the release",
    description="“{file}” stands for the file’s name, or the outside id of an image that has none; "
    "“{id}” for the outside id.",
    examples=["{file}"],
)
NEAREST: Any = Field(
    5,
    ge=1,
    le=100,
    title="Nearest images that are paired",
    description="Of each image’s list by each machine; 5 in the paper.",
)


class Example(Frozen):
    caption: str = Field(title="First", description="A text, or what an image shows.")
    second: str = Field("", title="Second", description="What it is compared with.")
    answer: str = Field(title="Right answer", examples=["A little above “Mostly equivalent”"])
    explanation: str = Field(title="Why")
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )


TIPS = (
    "Judge what is meant, not how alike the two look or sound at first. "
    "Use the whole scale. If you hesitate between two descriptions, stop somewhere between them, "
    "nearer to the one that fits better: there is no need to hit a mark. "
    "Your first good impression is what counts; do not brood over small steps."
)


class Wording(Frozen):
    intro: str
    details: str
    question: str
    anchors: dict[str, str]
    anchor_help: dict[str, str]
    examples: list[Example]

    @model_validator(mode="after")
    def _describes_all(self) -> Self:
        if {*self.anchors} != {*ANCHORS} or {*self.anchor_help} != {*ANCHORS}:
            raise ValueError("There are six descriptions, called 0 to 5.")
        return self


def intro_field(text: str) -> Any:
    description = "Stand above the examples, and open before the first page."
    return Field(text, title="Instructions", description=description)


def details_field(text: str) -> Any:
    description = "Folded, under the others."
    return Field(f"{text} {TIPS}", title="Detailed instructions", description=description)


def question_field(text: str) -> Any:
    return Field(text, title="Question over the scale")


def anchors_field(*texts: str) -> Any:
    labels = dict(zip(ANCHORS, texts, strict=True))
    return Field(labels, title="Description", description="Along the scale.")


def anchor_help_field(*texts: str, where: str = "In the instructions.") -> Any:
    helps = dict(zip(ANCHORS, texts, strict=True))
    return Field(helps, title="Description at length", description=where)


def examples_field(*examples: Example) -> Any:
    description = "They stand in the instructions, in this order."
    return Field(list(examples), title="Example", description=description)


Own = TypeVar("Own", bound=PageSettings)
Said = TypeVar("Said", bound=Wording)


class Similarity(PagedProtocol[Own, Said]):
    """Two items, and a slider between six descriptions."""

    ends: ClassVar[tuple[str, str]]
    is_ordered: ClassVar[bool] = False
    is_across: ClassVar[bool] = False
    positive_from: ClassVar[float]
    dataset = "Crisscrossed Captions"
    scripts = ("js/protocols/slider.js",)
    styles = ("css/protocols/similarity.css",)
    columns: ClassVar[Sequence[str]] = ("score", "moved")
    column_kinds = {"score": Kind.NUMBER}
    reports = frozenset({Report.SCORES})
    scores_by = "sampling_method"

    def units(self, source: UnitSource, settings: Own, random: Random) -> Iterator[UnitDraft]:
        for row in source.rows():
            first, second = (row[end] for end in self.ends)
            method = row.get("sampling_method", "uploaded")
            gold = explained(row["gold"], row) if row.get("gold") else None
            made = list(self.draft(first, second, method, gold=gold))
            if not made:
                source.leave_out("an item is paired with itself")
            yield from made
        yield from self.sampled(source, settings, random)

    @abstractmethod
    def sampled(self, source: UnitSource, settings: Own, random: Random) -> Iterator[UnitDraft]:
        """The pairs that the paper's samplers make of what the study was given."""

    @abstractmethod
    def names(self, unit: JudgedUnit, settings: Own) -> list[str]:
        """What the two items are called in the release."""

    def draft(
        self,
        first: int,
        second: int,
        method: str,
        *,
        gold: Json | None = None,
        sources: Sequence[Candidate] = (),
    ) -> Iterator[UnitDraft]:
        """The pair as a unit; an item with itself is none."""
        if first == second and not self.is_across:
            return
        ids = (first, second) if self.is_ordered or self.is_across else sorted((first, second))
        payload = {**dict(zip(self.ends, (first, second), strict=True)), "sampling_method": method}
        pool = UNIT if gold is None else GOLD
        yield UnitDraft(":".join(map(str, ids)), pool, payload, gold, tuple(sources))

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        images = [payload[end] for end in self.ends if end.startswith("image")]
        captions = [payload[end] for end in self.ends if end.startswith("caption")]
        return images, captions

    def form(self, settings: Own, wording: Said) -> Mapping[str, list[Option]]:
        return {
            "anchors": [
                Option(each, wording.anchors[each], each, wording.anchor_help[each])
                for each in ANCHORS
            ]
        }

    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Own) -> Json:
        """A slider always has some value: it counts only where somebody has set it."""
        if fields.get("set") != ["1"]:
            raise FieldErrors({"score": "Move the slider to where the pair belongs."})
        typed = only(fields, "score")
        if not _NUMBER.fullmatch(typed) or float(typed) > HIGHEST:
            raise FieldErrors({"score": "The slider goes from 0 to 5."})
        moved = " ".join(fields.get("moved", [])).split()
        return {
            "score": round(float(typed), 2),
            "moved": [means for means in MOVED if means in moved],
        }

    def told(self, fields: Fields) -> Fields:
        """A score in a file was set by somebody."""
        return {"set": ["1"], **fields}

    def ways(
        self, payload: Json, shown: Json | None, settings: Own, random: Random
    ) -> Sequence[Fields]:
        """Half points, and the hand is not steady."""
        moved = [random.choice(list(MOVED))]
        scores = [step / 2 + random.uniform(-0.2, 0.2) for step in range(HALF_POINTS + 1)]
        return [
            {"set": ["1"], "score": [f"{min(HIGHEST, max(LOWEST, each)):.2f}"], "moved": moved}
            for each in scores
        ]

    def check(self, answer: Json, gold: Json) -> bool:
        score: float = answer["score"]
        return bool(gold["low"] <= score <= gold["high"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        """A point around the mean."""
        mean = sum(answer["score"] for answer in answers) / len(answers)
        return GOLD, {"low": max(LOWEST, mean - 1), "high": min(HIGHEST, mean + 1)}

    def describe(self, answer: Json, wording: Said) -> str:
        if "score" not in answer:
            return f"From {answer['low']:g} to {answer['high']:g}"
        nearest = wording.anchors[_nearest_anchor(answer["score"])]
        parts = [str(answer["score"]), f"near “{nearest}”", answer.get("comment", "")]
        return " · ".join(filter(None, parts))

    def retell(self, answer: Json, wording: Said) -> str:
        """Without its number, which nobody is shown while moving the slider."""
        if "score" not in answer:
            return f"From {_place(answer['low'], wording)} to {_place(answer['high'], wording)}"
        place = _place(answer["score"], wording)
        return " · ".join(filter(None, [place[0].upper() + place[1:], answer.get("comment", "")]))

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """The mean, of two decimals as it is published; positive by what is published."""
        total = sum((Decimal(str(answer["score"])) for answer in answers), Decimal(0))
        value = float((total / len(answers)).quantize(HUNDREDTH))
        counts = Counter(_nearest_anchor(answer["score"]) for answer in answers)
        return Aggregate(
            str(value),
            value >= self.positive_from,
            {anchor: counts[anchor] for anchor in ANCHORS},
            value,
        )

    def tallies(self, settings: Own, wording: Said) -> Sequence[Tallied]:
        moved = [Option(means, label, "") for means, label in MOVED.items()]
        return [
            Tallied("score", wording.question, low=LOWEST, high=HIGHEST),
            Tallied("moved", "How the slider was moved", moved),
        ]

    def row(self, answer: Json) -> Sequence[Any]:
        return answer["score"], ";".join(answer["moved"])

    def export(self, source: ReleaseSource, settings: Own) -> Mapping[str, Iterable[str]]:
        """The mean of each pair, and each judgment by itself, of each split."""
        files: dict[str, Iterable[str]] = {}
        for own in source.by_split():
            name = "_".join(filter(None, [self.slug, _in_a_name(own.split)]))
            files[f"{name}.csv"] = as_csv(
                (*self.ends, "agg_score", "sampling_method"), self._means(own, settings)
            )
            files[f"{name}_raw.csv"] = as_csv(
                (*self.ends, "score", "sampling_method"), self._judgments(own, settings)
            )
        return files

    def _means(self, source: ReleaseSource, settings: Own) -> Iterator[Sequence[str]]:
        for unit in source.units():
            yield (*self.names(unit, settings), unit.aggregate.label, _method(unit))

    def _judgments(self, source: ReleaseSource, settings: Own) -> Iterator[Sequence[str]]:
        for unit in source.units():
            names = self.names(unit, settings)
            for answer in unit.answers:
                yield (*names, str(answer["score"]), _method(unit))


class Proposed(NamedTuple):
    """What machines proposed: each machine's list for each image, and who proposed each pair."""

    lists: dict[str, dict[int, list[int]]]
    sources: dict[tuple[int, int], list[Candidate]]

    def of(self, first: int, second: int) -> Sequence[Candidate]:
        return self.sources.get((first, second), ())

    def together(self, captions: Mapping[int, Mapping[int, str]]) -> dict[int, list[int]]:
        """Each image with all that any machine proposed, as far as both have captions."""
        found: dict[int, dict[int, None]] = {}
        for first, second in self.sources:
            if captions.get(first) and captions.get(second):
                found.setdefault(first, {})[second] = None
        return {first: list(others) for first, others in found.items()}


def proposed_by_machines(source: UnitSource, nearest: int) -> Proposed:
    proposed = Proposed({}, {})
    for query in source.queries():
        by_machine = groupby(query.candidates, key=lambda candidate: candidate.proposal_id)
        for machine, candidates in by_machine:
            others = [each for each in candidates if each.target_id != query.id][:nearest]
            own = proposed.lists.setdefault(str(machine), {})
            own[query.id] = [each.target_id for each in others]
            for each in others:
                proposed.sources.setdefault((query.id, each.target_id), []).append(each)
    return proposed


def _nearest_anchor(score: float) -> str:
    """Halfway between two descriptions, the upper one."""
    return str(int(score + 0.5))


def _place(score: float, wording: Wording) -> str:
    """Where on the scale a score is, in the words along it."""
    nearest = int(_nearest_anchor(score))
    words = f"“{wording.anchors[str(nearest)]}”"
    if score == nearest:
        return words
    return f"above {words}" if score > nearest else f"below {words}"


def _in_a_name(split: str) -> str:
    """The split as a part of a file's name; no two splits are the same one there."""
    return _NOT_IN_A_NAME.sub(
        lambda found: "".join(f"={byte:02X}" for byte in found[0].encode()), split
    )


def _method(unit: JudgedUnit) -> str:
    method: str = unit.payload["sampling_method"]
    return method


def caption_name(caption: OutsideCaption, pattern: str) -> str:
    return pattern.replace("{id}", caption.id)


def image_name(image: OutsideImage, pattern: str) -> str:
    return pattern.replace("{file}", image.file_name or image.id).replace("{id}", image.id)
