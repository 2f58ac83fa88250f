"""BISON's audit of retrieval: is what counts as an error of a machine really one?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from pydantic import Field

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

YES, NO = "yes", "no"
EXAMPLE_IMAGE = "examples/coffee.jpg"


class Example(Frozen):
    image_url: str = Field(
        "",
        title="Image",
        description="An address that begins with https://, or a file of this site.",
        examples=[EXAMPLE_IMAGE],
    )
    caption: str = Field(title="Text", examples=["A hot drink in a cup."])
    answer: str = Field(title="Right answer", examples=["Yes"])
    explanation: str = Field(title="Why", examples=["What it says is there."])


class AuditSettings(PageSettings):
    judged_depth: int = Field(
        1,
        ge=1,
        le=100,
        title="Ranks that are audited",
        description="Of each machine’s list: what stands there and is no pair of the corpus counts "
        "as an error of retrieval, and people say whether it is one. 1 audits R@1.",
    )
    golds_a_query: int = Field(
        1,
        ge=0,
        le=20,
        title="Golds made for each query",
        description="So many pairs of the corpus, to be answered yes, and as many random ones that "
        "no machine proposed, to be answered no.",
    )


class AuditRow(Row):
    image: ImageRef
    caption: CaptionRef
    gold: bool | None = Field(None, description="Whether the text describes the image.")


class AuditWording(Frozen):
    intro: str = Field(
        "You see an image and a text. Say whether the text describes the image. It need not "
        "describe all of it, but what it says must be there.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    question: str = Field("Does the text describe the image?", title="Question under each image")
    choices: dict[str, str] = Field(
        {"yes": "Yes", "no": "No"},
        title="Answer",
        description="As the rater reads it; what is stored stays the same.",
    )
    choice_help: dict[str, str] = Field(
        {
            "yes": "What the text says is in the image.",
            "no": "Something that the text says is not in the image.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                image_url=EXAMPLE_IMAGE,
                caption="A hot drink in a cup.",
                answer="Yes",
                explanation="It says little, but what it says is there.",
            ),
            Example(
                image_url=EXAMPLE_IMAGE,
                caption="A woman drinks coffee at a table.",
                answer="No",
                explanation="There is coffee, but no woman.",
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class RetrievalAudit(PagedProtocol[AuditSettings, AuditWording]):
    slug = "retrieval_audit"
    finds_positives = True
    name = "Retrieval audit"
    description = "Whether what counts as an error of retrieval is one: yes or no, as in BISON."
    template = "protocols/retrieval_audit.html"
    settings_model = AuditSettings
    wording_model = AuditWording
    sources = frozenset({Source.PROPOSALS, Source.ROWS})
    directions = ("t2i", "i2t")
    row_model = AuditRow
    specimens = ({"image": 1, "caption": 1}, {"image": 2, "caption": 3})
    columns = ("choice",)

    def units(
        self, source: UnitSource, settings: AuditSettings, random: Random
    ) -> Iterator[UnitDraft]:
        for row in source.rows():
            unit = _audit_unit(row["image"], row["caption"], gold=row.get("gold"))
            yield unit._replace(gold=explained(unit.gold, row)) if unit.gold else unit
        targets = source.targets()
        for query in source.queries():
            yield from _errors(query, settings.judged_depth)
            yield from _known(query, targets, settings.golds_a_query, random)

    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        return [payload["image"]], [payload["caption"]]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "image": items.images[payload["image"]],
            "caption": items.captions[payload["caption"]],
        }

    def form(self, settings: AuditSettings, wording: AuditWording) -> Mapping[str, list[Option]]:
        return {
            "choices": [
                Option(value, wording.choices[value], key, wording.choice_help.get(value, ""))
                for value, key in ((YES, "1"), (NO, "2"))
            ]
        }

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: AuditSettings
    ) -> Json:
        choice = only(fields, "choice")
        if choice not in (YES, NO):
            raise FieldErrors({"choice": "Choose yes or no."})
        return {"choice": choice}

    def truth(self, payload: Json, fits: Fits) -> float | None:
        fit = fits(payload["image"], payload["caption"])
        return None if fit is None else float(fit < 0.5)

    def check(self, answer: Json, gold: Json) -> bool:
        return bool(answer["choice"] == gold["choice"])

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        return GOLD, {"choice": self.aggregate(answers).label}

    def is_denied(self, answers: Sequence[Json]) -> bool:
        return all(answer["choice"] == NO for answer in answers)

    def describe(self, answer: Json, wording: AuditWording) -> str:
        return wording.choices[answer["choice"]]

    def aggregate(self, answers: Sequence[Json]) -> Aggregate:
        """What more than half said; no where as many said yes."""
        counts = Counter(answer["choice"] for answer in answers)
        label = YES if counts[YES] > counts[NO] else NO
        return Aggregate(label, label == YES, {YES: counts[YES], NO: counts[NO]})

    def tallies(self, settings: AuditSettings, wording: AuditWording) -> Sequence[Tallied]:
        return [Tallied("choice", wording.question, self.form(settings, wording)["choices"])]

    def row(self, answer: Json) -> Sequence[Any]:
        return (answer["choice"],)


def _audit_unit(
    image: int,
    caption: int,
    *,
    gold: bool | None = None,
    sources: tuple[Candidate, ...] = (),
) -> UnitDraft:
    known = None if gold is None else {"choice": YES if gold else NO}
    pool = UNIT if gold is None else GOLD
    payload = {"image": image, "caption": caption}
    return UnitDraft(f"{image}:{caption}", pool, payload, known, sources)


def _ends(query: Query, target: int) -> tuple[int, int]:
    return (query.id, target) if query.direction == "i2t" else (target, query.id)


def _errors(query: Query, depth: int) -> Iterator[UnitDraft]:
    """What stands in the first ranks and is no pair of the corpus."""
    found: dict[int, list[Candidate]] = {}
    for candidate in query.candidates:
        if candidate.rank <= depth and candidate.target_id not in query.originals:
            found.setdefault(candidate.target_id, []).append(candidate)
    for target, candidates in found.items():
        yield _audit_unit(*_ends(query, target), sources=tuple(candidates))


def _known(query: Query, targets: Sequence[int], count: int, random: Random) -> Iterator[UnitDraft]:
    for target in query.originals[:count]:
        yield _audit_unit(*_ends(query, target), gold=True)
    proposed = {candidate.target_id for candidate in query.candidates}
    drawn = random.sample(targets, min(len(targets), count * 20))
    outside = [each for each in drawn if each not in proposed and each not in query.originals]
    for target in outside[:count]:
        yield _audit_unit(*_ends(query, target), gold=False)
