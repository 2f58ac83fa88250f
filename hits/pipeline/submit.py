"""Submit: drafts while a person works, and the answers when they are done."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from hits.models import Account, Assignment, Participation, Slot
from hits.pipeline import places
from hits.pipeline.errors import Closed, Incomplete, Stale
from hits.protocol import FieldErrors, protocol
from hits.records import Fields, Json, Receipt, Saved

LONGEST_PROBLEM = 2000
LARGEST_DRAFT = 200_000
DEVICES = frozenset({"keyboard", "pointer", "touch", "mixed"})


@dataclass(frozen=True, slots=True)
class Answered:
    slot_id: int
    position: int
    answer: Json | None
    problem: str
    seconds: float | None


def save_draft(*, assignment_key: UUID, account: Account, fields: Fields, revision: int) -> Saved:
    now = timezone.now()
    kept = {name: values for name, values in _storable(fields).items() if name.startswith("q")}
    if len(json.dumps(kept)) > LARGEST_DRAFT:
        raise Closed("This is more text than a page can keep. Shorten it to save.")
    saved = (
        Assignment.objects.filter(key=assignment_key, account=account)
        .filter(state__in=["open", "expired"], draft_revision__lte=revision)
        .update(draft=kept, draft_revision=revision + 1, saved_at=now)
    )
    if saved:
        return Saved(saved_at=now, revision=revision + 1)
    assignment = Assignment.objects.get(key=assignment_key, account=account)
    if assignment.state in {"open", "expired"}:
        raise Stale("This page was saved from another window. Reload it to go on from there.")
    raise Closed(_why_closed(assignment))


def submit(*, assignment_key: UUID, account: Account, fields: Fields) -> Receipt:
    """Store the answers, once: a repeated submission gets the same receipt."""
    try:
        return _submit(assignment_key, account, fields)
    except Assignment.DoesNotExist:
        # A page that went over to another person while this waited is found at the second look.
        return _submit(assignment_key, account, fields)


@transaction.atomic
def _submit(assignment_key: UUID, account: Account, fields: Fields) -> Receipt:
    # The person is locked first, as by whatever else changes pages of theirs and their counts.
    assignment = (
        Assignment.objects.select_related("version__study", "person")
        .defer("draft", "version__wording", "version__information")
        .select_for_update(no_key=True, of=("person", "self"))
        .get(key=assignment_key, account=account)
    )
    if assignment.state == Assignment.State.SUBMITTED:
        assert assignment.submitted_at is not None
        return Receipt(str(assignment.key), assignment.submitted_at)
    if assignment.state == Assignment.State.RETURNED:
        raise Closed(_why_closed(assignment))
    answered = _parse(assignment, _storable(fields))
    now = timezone.now()
    _store(answered)
    _settle_places(assignment, answered)
    Assignment.objects.filter(pk=assignment.pk).update(
        state=Assignment.State.SUBMITTED,
        submitted_at=now,
        is_late=assignment.state == Assignment.State.EXPIRED,
        device=_device(fields),
    )
    _count_for_the_person(assignment, len(answered))
    return Receipt(str(assignment.key), now)


@transaction.atomic
def give_back(*, assignment_key: UUID, account: Account) -> None:
    assignment = Assignment.objects.select_for_update(no_key=True).get(
        key=assignment_key, account=account
    )
    if assignment.state == Assignment.State.SUBMITTED:
        raise Closed(_why_closed(assignment))
    if assignment.state == Assignment.State.OPEN:
        close(assignment, Assignment.State.RETURNED)


def close(assignment: Assignment, state: Assignment.State) -> None:
    """End a page without answers that count; its draft stays on record."""
    places.free(assignment)
    Assignment.objects.filter(pk=assignment.pk).update(state=state)


def free_expired(limit: int = 500) -> int:
    """End the pages whose lease ran out, each in a transaction of its own."""
    due = Assignment.objects.filter(state="open", lease_until__lte=timezone.now())
    freed = 0
    for pk in list(due.order_by("lease_until").values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            still_due = due.select_for_update(no_key=True, skip_locked=True).filter(pk=pk).first()
            if still_due is not None:
                close(still_due, Assignment.State.EXPIRED)
                freed += 1
    return freed


def fields_of(fields: Fields, position: int) -> Fields:
    """The fields of one question, by their short names."""
    prefix = f"q{position}-"
    return {
        name.removeprefix(prefix): values
        for name, values in fields.items()
        if name.startswith(prefix)
    }


def _storable(fields: Fields) -> Fields:
    return {_clean(name): [_clean(value) for value in values] for name, values in fields.items()}


def _clean(text: str) -> str:
    """Without what PostgreSQL cannot store: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _why_closed(assignment: Assignment) -> str:
    if assignment.state == Assignment.State.SUBMITTED:
        return "This page has been submitted; your answers are stored."
    return "You gave this page back. Start another one from your home page."


def _parse(assignment: Assignment, fields: Fields) -> list[Answered]:
    kind = protocol(assignment.version.study.protocol)
    settings = kind.settings_model.model_validate(assignment.version.settings)
    longest = (timezone.now() - assignment.drawn_at).total_seconds()
    errors: dict[str, str] = {}
    answered = []
    for slot_id, position, shown in _slots(assignment):
        own = fields_of(fields, position)
        problem = _text(own, "problem")[:LONGEST_PROBLEM]
        answer = None
        if _text(own, "broken"):
            problem = problem or "The image does not load."
        else:
            try:
                answer = kind.parse(own, shown, settings)
            except FieldErrors as wrong:
                errors |= {f"q{position}-{name}": text for name, text in wrong.errors.items()}
        answered.append(Answered(slot_id, position, answer, problem, _seconds(own, longest)))
    if errors:
        raise Incomplete(errors)
    return answered


def _slots(assignment: Assignment) -> Sequence[tuple[int, int, Any]]:
    return list(
        Slot.objects.filter(assignment=assignment)
        .order_by("position")
        .values_list("pk", "position", "shown")
    )


def _text(fields: Fields, name: str) -> str:
    return (fields.get(name) or [""])[0].strip()


def _seconds(fields: Fields, longest: float) -> float | None:
    """The time on a question as the page measured it; never more than the page was out."""
    try:
        milliseconds = float(_text(fields, "ms"))
    except ValueError:
        return None
    if not math.isfinite(milliseconds) or milliseconds < 0:
        return None
    return round(min(milliseconds / 1000, longest), 3)


def _device(fields: Fields) -> str:
    device = _text(fields, "device")
    return device if device in DEVICES else ""


def _store(answered: Sequence[Answered]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO hits_judgment (slot_id, answer, problem, seconds)
            SELECT * FROM unnest(%s::bigint[], %s::jsonb[], %s::text[], %s::float8[])
            """,
            [
                [each.slot_id for each in answered],
                [None if each.answer is None else json.dumps(each.answer) for each in answered],
                [each.problem for each in answered],
                [each.seconds for each in answered],
            ],
        )


def _settle_places(assignment: Assignment, answered: Sequence[Answered]) -> None:
    broken = [each.position for each in answered if each.answer is None]
    if assignment.state == Assignment.State.EXPIRED:
        Slot.objects.filter(assignment=assignment, position__in=broken).update(state="broken")
        places.retake(assignment, ["freed"])
        return
    # All units are locked in their order by the first of the two.
    places.count(assignment)
    if broken:
        places.mark_broken(assignment, broken)


def _count_for_the_person(assignment: Assignment, judgments: int) -> None:
    today = timezone.localdate()
    theirs = Participation.objects.filter(study=assignment.study_id, person=assignment.person_id)
    theirs.update(
        pages_done=F("pages_done") + 1,
        judgments_done=F("judgments_done") + judgments,
        judgments_that_day=judgments
        + Case(When(day=today, then=F("judgments_that_day")), default=Value(0)),
        day=today,
    )
