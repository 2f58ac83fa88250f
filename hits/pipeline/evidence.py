"""Evidence: what a reviewer needs to decide on a page. People are numbers here, never names."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum

from hits.boxes import Marked
from hits.models import Assignment, Decision, Slot, Study, Unit
from hits.pipeline.show import items_of
from hits.pipeline.statements import rows
from hits.pipeline.tally import problems_of
from hits.protocol import EXPLANATION, protocol
from hits.records import ImageShown, Json

PAGES_FOR_THE_MEDIAN = 50
SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class Side:
    """One of two things that stand beside each other; with boxes, if it is a copy of an image."""

    name: str
    images: list[ImageShown]
    texts: list[str]
    marks: list[Marked] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The images and texts in what a protocol shows, in its order, and the boxes on the image."""

    images: list[ImageShown]
    texts: list[str]
    sides: list[Side]
    marks: list[Marked]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question as its person saw and answered it, and what a gold expected."""

    position: int
    images: list[ImageShown]
    texts: list[str]
    sides: list[Side]
    answer: str
    problem: str
    seconds: float | None
    expected: str
    passed: bool | None
    explanation: str = ""
    is_retired: bool = False
    marks: list[Marked] = field(default_factory=list)
    # Where what was chosen stood, from 0, of places drawn at random.
    place: int | None = None

    @property
    def headline(self) -> str:
        """An answer in words begins with what was chosen; what explains it follows."""
        return self.answer.partition(SEPARATOR)[0]

    @property
    def details(self) -> str:
        return self.answer.partition(SEPARATOR)[2]

    @property
    def is_gold(self) -> bool:
        return bool(self.expected)

    @property
    def is_failed(self) -> bool:
        return self.passed is False and not self.is_retired


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """What is known about a person's work in this study."""

    number: int
    pages: int
    golds_shown: int
    golds_passed: int
    used: int
    not_used: int
    refused: int
    waiting: int
    median_seconds: float | None


def answers_of(assignment: Assignment, *, to_its_person: bool = False) -> list[Answered]:
    """All questions of a page in their order; the assignment comes with its study and version."""
    kind = protocol(assignment.study.protocol)
    in_words = kind.retell if to_its_person else kind.describe
    wording = kind.wording_model.model_validate(assignment.version.wording)
    slots = list(
        Slot.objects.filter(assignment=assignment)
        .order_by("position")
        .values_list(
            "position",
            "shown",
            "unit__payload",
            "unit__gold",
            "unit__excluded",
            "judgment__answer",
            "judgment__problem",
            "judgment__seconds",
        )
    )
    items = items_of(kind, [slot[2] for slot in slots])

    def told(given: Json | None, payload: Json, shown: Json | None) -> str:
        return "" if given is None else in_words(kind.named(given, payload, shown), wording)

    found = []
    for position, shown, payload, gold, is_retired, answer, problem, seconds in slots:
        seen = parts_of(kind.show(payload, shown, items))
        found.append(
            Answered(
                position=position,
                images=seen.images,
                texts=seen.texts,
                sides=seen.sides,
                answer=told(answer, payload, shown),
                problem=problem or "",
                seconds=seconds,
                expected=told(gold, payload, shown),
                passed=kind.check(answer, gold) if gold and answer else None,
                explanation=(gold or {}).get(EXPLANATION, ""),
                is_retired=gold is not None and is_retired,
                marks=seen.marks,
                place=None if answer is None else kind.place(answer, shown),
            )
        )
    return found


def fails_some_of(assignment: Assignment, golds: Sequence[int]) -> bool:
    """Whether a page failed one of these golds; it comes with its study."""
    check = protocol(assignment.study.protocol).check
    slots = Slot.objects.filter(assignment=assignment, unit__in=golds, unit__excluded=False)
    given = slots.values_list("judgment__answer", "unit__gold")
    return bool(golds) and any(
        answer is None or not check(answer, gold or {}) for answer, gold in given
    )


_OTHERS = """
    SELECT mine.position, mine.shown, u.payload, j.answer, count(*)
    FROM hits_slot mine
    JOIN hits_unit u ON u.id = mine.unit_id AND u.gold IS NULL
    JOIN hits_slot s ON s.unit_id = mine.unit_id AND s.id <> mine.id
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use <> 'not_used'
    JOIN hits_judgment j ON j.slot_id = s.id AND j.answer IS NOT NULL
    WHERE mine.assignment_id = %(assignment)s AND s.state = 'counted'
    GROUP BY mine.id, u.id, j.answer
"""


def said_by_others(assignment: Assignment) -> dict[int, list[tuple[str, int]]]:
    """What other people answered to the questions of a page, and how many of them; in words, the
    most frequent first."""
    kind = protocol(assignment.study.protocol)
    wording = kind.wording_model.model_validate(assignment.version.wording)
    found: dict[int, Counter[str]] = {}
    given = rows(_OTHERS, {"assignment": assignment.pk})
    for position, shown, payload, answer, count in given:
        named = kind.named(json.loads(answer), json.loads(payload), json.loads(shown or "null"))
        words = kind.describe(named, wording).partition(SEPARATOR)[0]
        found.setdefault(position, Counter())[words] += count
    return {position: said.most_common() for position, said in found.items()}


def image_urls(assignment: Assignment) -> list[str]:
    """The images of a page, to be fetched before it is opened."""
    kind = protocol(assignment.study.protocol)
    payloads = Slot.objects.filter(assignment=assignment).values_list("unit__payload", flat=True)
    return [image.url for image in items_of(kind, payloads).images.values()]


def track_record(assignment: Assignment) -> TrackRecord:
    theirs = Assignment.objects.filter(
        study=assignment.study_id,
        person=assignment.person_id,
        state="submitted",
        is_training=False,
    )
    sums = theirs.aggregate(
        pages=Count("pk"),
        shown=Sum("golds_shown", default=0),
        failed=Sum("golds_failed", default=0),
        used=Count("pk", filter=Q(use="used")),
        not_used=Count("pk", filter=Q(use="not_used")),
        waiting=Count("pk", filter=Q(waits=True)),
        refused=Count("pk", filter=Q(payment="refused")),
    )
    return TrackRecord(
        number=assignment.person_id,
        pages=sums["pages"],
        golds_shown=sums["shown"],
        golds_passed=sums["shown"] - sums["failed"],
        used=sums["used"],
        not_used=sums["not_used"],
        refused=sums["refused"],
        waiting=sums["waiting"],
        median_seconds=_median_seconds(theirs),
    )


def decisions_on(assignment: Assignment) -> QuerySet[Decision]:
    return assignment.decisions.select_related("by").order_by("-pk")


def earlier_decisions(assignment: Assignment, limit: int = 3) -> QuerySet[Decision]:
    """What people, not rules, decided on other pages of the same person in this study."""
    return (
        Decision.objects.filter(
            assignment__study=assignment.study_id, assignment__person=assignment.person_id
        )
        .exclude(assignment=assignment)
        .exclude(by=None)
        .select_related("by", "assignment")
        .order_by("-pk")[:limit]
    )


def decisions_in(study: Study, *, use: str = "", by_rule: bool = False) -> QuerySet[Decision]:
    """The events of a study, the newest first: those of people, or of the rule as well."""
    events = Decision.objects.filter(assignment__study=study)
    if not by_rule:
        events = events.exclude(by=None)
    if use:
        events = events.filter(assignment__use=use)
    return events.select_related("by", "assignment__account").order_by("-pk")


def units_out_again(assignment: Assignment) -> int:
    """How many units this page gave back because its judgments are not used."""
    return Slot.objects.filter(
        assignment=assignment, state=Slot.State.NOT_USED, unit__gold__isnull=True
    ).count()


@dataclass(frozen=True, slots=True)
class Report:
    """A problem that somebody reported on a question, and what the question showed."""

    text: str
    person: int
    page_key: str
    position: int
    at: datetime
    could_answer: bool
    images: list[ImageShown]
    texts: list[str]
    sides: list[Side]


def reported(study: Study, limit: int) -> list[Report]:
    kind = protocol(study.protocol)
    problems = list(problems_of(study)[:limit])
    items = items_of(kind, [row.slot.unit.payload for row in problems])
    found = []
    for row in problems:
        slot = row.slot
        seen = parts_of(kind.show(slot.unit.payload, slot.shown, items))
        found.append(
            Report(
                text=row.problem,
                person=slot.assignment.person_id,
                page_key=str(slot.assignment.key),
                position=slot.position,
                at=row.created_at,
                could_answer=row.answer is not None,
                images=seen.images,
                texts=seen.texts,
                sides=seen.sides,
            )
        )
    return found


def what_they_show(study: Study, units: Sequence[Unit]) -> list[Shown]:
    """What each unit shows, in the order in which nothing is swapped."""
    kind = protocol(study.protocol)
    items = items_of(kind, [unit.payload for unit in units])
    return [parts_of(kind.show(unit.payload, None, items)) for unit in units]


def parts_of(shown: Json) -> Shown:
    images, texts = _images_and_texts(shown, but="sides")
    beside = shown.get("sides", [])
    sides = [_side(side, images) for side in beside]
    are_copies = any("marks" in side for side in beside)
    return Shown([] if are_copies else images, texts, sides, list(shown.get("marks", [])))


def _side(shown: Json, copied: list[ImageShown]) -> Side:
    """A side with boxes is a copy of the one image."""
    images, texts = _images_and_texts(shown, but="side")
    if "marks" not in shown:
        return Side(shown["side"], images, texts)
    labels = ", ".join(mark.label for mark in shown["marks"])
    return Side(shown["side"], copied, [*texts, labels] if labels else texts, shown["marks"])


def _images_and_texts(shown: Json, *, but: str) -> tuple[list[ImageShown], list[str]]:
    # The pieces of a text are the text once more, with what was added marked.
    once = {name: value for name, value in shown.items() if name not in (but, "pieces")}
    parts = list(_leaves(once))
    images = [part for part in parts if isinstance(part, ImageShown)]
    return images, [part for part in parts if isinstance(part, str)]


def _leaves(shown: Any) -> Iterator[ImageShown | str]:
    if isinstance(shown, ImageShown | str):
        yield shown
    elif isinstance(shown, dict):
        for value in shown.values():
            yield from _leaves(value)
    elif isinstance(shown, list | tuple):
        for value in shown:
            yield from _leaves(value)


def _median_seconds(theirs: QuerySet[Assignment]) -> float | None:
    recent = list(theirs.order_by("-pk").values_list("pk", flat=True)[:PAGES_FOR_THE_MEDIAN])
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY j.seconds)
            FROM hits_slot s JOIN hits_judgment j ON j.slot_id = s.id
            WHERE s.assignment_id = ANY (%s) AND j.seconds IS NOT NULL
            """,
            [recent],
        )
        row = cursor.fetchone()
    return row[0] if row else None
