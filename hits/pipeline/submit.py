"""Submit: drafts while a person works, and the answers when they are done."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from hits.models import Account, Assignment, Slot
from hits.pipeline import limits, places, training
from hits.pipeline.errors import Closed, Incomplete, Stale
from hits.pipeline.statements import row, rows, run
from hits.protocol import FieldErrors, protocol
from hits.records import Fields, Json, Receipt, Saved

T = TypeVar("T")

_FIELD = re.compile(r"q(\d{1,4})-(.+)", re.DOTALL)

LONGEST_PROBLEM = 2000
LARGEST_DRAFT = 200_000
LAST_REVISION = 2**31 - 2
WITHDREW = (
    "You withdrew from this study, so this page cannot be submitted. Its answers stay saved: "
    "agree to its information again to submit them."
)
NEWER = (
    "Newer answers were saved from another window, so this is not submitted. "
    "Load them to go on from there."
)
DEVICES = frozenset({"keyboard", "pointer", "touch", "mixed"})


_SAVE = """
    UPDATE hits_assignment
    SET draft = %(draft)s, draft_revision = %(revision)s + 1, saved_at = %(now)s
    WHERE key = %(key)s AND account_id = %(account)s
      AND state IN ('open', 'expired') AND draft_revision <= %(revision)s
"""
# The person is locked first, as by whatever else changes pages of theirs and their counts.
_LOCK = """
    SELECT a.id, a.state, a.submitted_at, a.drawn_at, a.draft_revision, a.is_training, v.settings,
           s.protocol
    FROM hits_assignment a
    JOIN hits_person p ON p.id = a.person_id
    JOIN hits_studyversion v ON v.id = a.version_id
    JOIN hits_study s ON s.id = a.study_id
    WHERE a.key = %(key)s AND a.account_id = %(account)s
    FOR NO KEY UPDATE OF p, a
"""
_CONSENT = """
    SELECT c.id
    FROM hits_assignment a
    JOIN hits_participation p ON p.study_id = a.study_id AND p.person_id = a.person_id
    JOIN hits_consent c ON c.participation_id = p.id AND c.withdrawn_at IS NULL
    WHERE a.id = %(assignment)s
"""
_SLOTS = """
    SELECT s.id, s.position, s.shown, u.payload, u.gold IS NULL
    FROM hits_slot s JOIN hits_unit u ON u.id = s.unit_id
    WHERE s.assignment_id = %(assignment)s ORDER BY s.position
"""
_STORE = """
    INSERT INTO hits_judgment (slot_id, answer, problem, seconds)
    SELECT * FROM unnest(
        %(slots)s::bigint[], %(answers)s::text[]::jsonb[], %(problems)s::text[],
        %(seconds)s::float8[])
"""
_FINISH = """
    WITH page AS (
        UPDATE hits_assignment
        SET state = 'submitted', submitted_at = %(now)s, is_late = %(late)s, device = %(device)s
        WHERE id = %(assignment)s
        RETURNING study_id, person_id)
    UPDATE hits_participation p
    SET pages_done = pages_done + %(pages)s,
        judgments_done = judgments_done + %(judgments)s,
        judgments_that_day = %(judgments)s
            + CASE WHEN day = %(today)s THEN judgments_that_day ELSE 0 END,
        units_done = units_done + %(units)s,
        units_that_day = %(units)s + CASE WHEN day = %(today)s THEN units_that_day ELSE 0 END,
        day = %(today)s
    FROM page WHERE p.study_id = page.study_id AND p.person_id = page.person_id
"""


@dataclass(frozen=True, slots=True)
class _LockedPage:
    pk: int
    state: str
    submitted_at: datetime | None
    drawn_at: datetime
    draft_revision: int
    is_training: bool
    settings: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Answered:
    slot_id: int
    position: int
    answer: Json | None
    problem: str
    seconds: float | None
    is_unit: bool


def save_draft(*, assignment_key: UUID, account: Account, fields: Fields, revision: int) -> Saved:
    now = timezone.now()
    kept = {name: values for name, values in _storable(fields).items() if name.startswith("q")}
    draft = json.dumps(kept)
    if len(draft) > LARGEST_DRAFT:
        raise Closed("This is more text than a page can keep. Shorten it to save.")
    values = {
        "key": assignment_key,
        "account": account.pk,
        "draft": draft,
        "revision": revision,
        "now": now,
    }
    if 0 <= revision <= LAST_REVISION and run(_SAVE, values):
        return Saved(saved_at=now, revision=revision + 1)
    assignment = Assignment.objects.get(key=assignment_key, account=account)
    if assignment.state in {"open", "expired"}:
        raise Stale("This page was saved from another window. Reload it to go on from there.")
    raise Closed(_why_closed(assignment.state))


def submit(*, assignment_key: UUID, account: Account, fields: Fields, revision: int = 0) -> Receipt:
    """Store the answers, once: a repeated submission gets the same receipt.

    The revision is the newest draft that whoever answers knows of; 0 is none.
    """
    theirs = Assignment.objects.filter(key=assignment_key, account=account)
    while True:
        try:
            return _submit(assignment_key, account, fields, revision)
        except Assignment.DoesNotExist:
            # A page that went over to another person while this waited is found at another look.
            if not theirs.exists():
                raise


@transaction.atomic
def _submit(assignment_key: UUID, account: Account, fields: Fields, revision: int) -> Receipt:
    page = _lock(assignment_key, account)
    if page.state == Assignment.State.SUBMITTED:
        assert page.submitted_at is not None
        return Receipt(str(assignment_key), page.submitted_at)
    if page.state == Assignment.State.RETURNED:
        raise Closed(_why_closed(page.state))
    if page.state == Assignment.State.EXPIRED and not has_consent(page.pk):
        raise Closed(WITHDREW)
    storable = _storable(fields)
    if revision < page.draft_revision and not _says_what_is_saved(page, storable):
        raise Stale(NEWER)
    answered = _parse(page, storable)
    now = timezone.now()
    _store(answered)
    _settle_places(page, answered)
    values = {
        "assignment": page.pk,
        "now": now,
        "late": page.state == Assignment.State.EXPIRED,
        "device": _device(fields),
        "pages": 0 if page.is_training else 1,
        "judgments": 0 if page.is_training else sum(each.answer is not None for each in answered),
        "units": sum(each.is_unit for each in answered),
        "today": timezone.localdate(now),
    }
    run(_FINISH, values)
    if page.is_training:
        training.settle(_with_rules(page.pk))
    return Receipt(str(assignment_key), now)


def has_consent(assignment_id: int) -> bool:
    """Whether the person of a page agrees to take part now. Who withdraws gives open pages back,
    so that only a page past its time is in question."""
    found = row(_CONSENT, {"assignment": assignment_id})
    return found is not None


def _lock(assignment_key: UUID, account: Account) -> _LockedPage:
    found = row(_LOCK, {"key": assignment_key, "account": account.pk})
    if found is None:
        raise Assignment.DoesNotExist
    return _LockedPage(*found)


@transaction.atomic
def give_back(*, assignment_key: UUID, account: Account) -> None:
    assignment = Assignment.objects.select_for_update(no_key=True).get(
        key=assignment_key, account=account
    )
    if assignment.state == Assignment.State.SUBMITTED:
        raise Closed(_why_closed(assignment.state))
    if assignment.state in {Assignment.State.OPEN, Assignment.State.EXPIRED}:
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


def by_question(fields: Mapping[str, T]) -> dict[int, dict[str, T]]:
    """The fields of each question by their short names: q3-choice is the choice of question 3."""
    found: dict[int, dict[str, T]] = {}
    for name, value in fields.items():
        if named := _FIELD.fullmatch(name):
            found.setdefault(int(named[1]), {})[named[2]] = value
    return found


def _storable(fields: Fields) -> Fields:
    return {_clean(name): [_clean(value) for value in values] for name, values in fields.items()}


def _clean(text: str) -> str:
    """Without what PostgreSQL cannot store: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _says_what_is_saved(page: _LockedPage, fields: Fields) -> bool:
    saved: Fields = Assignment.objects.values_list("draft", flat=True).get(pk=page.pk)
    return _said(saved) == _said(fields)


def _said(fields: Fields) -> Fields:
    """What a person said, without the times of the window that it was said in."""
    said = {
        name: sorted(value for value in values if value.strip())
        for name, values in fields.items()
        if name.startswith("q") and not name.endswith("-ms")
    }
    return {name: values for name, values in said.items() if values}


def _why_closed(state: str) -> str:
    if state == Assignment.State.SUBMITTED:
        return "This page has been submitted; your answers are stored."
    return "This page was given back, so nothing more is saved on it."


def _parse(page: _LockedPage, fields: Fields) -> list[Answered]:
    kind = protocol(page.protocol)
    settings = kind.settings_model.model_validate_json(page.settings)
    longest = (timezone.now() - page.drawn_at).total_seconds()
    questions = by_question(fields)
    errors: dict[str, str] = {}
    answered = []
    for slot_id, position, shown, payload, is_unit in rows(_SLOTS, {"assignment": page.pk}):
        own = questions.get(position, {})
        problem = _text(own, "problem")[:LONGEST_PROBLEM]
        answer = None
        if _text(own, "broken"):
            problem = problem or "The image does not load."
        else:
            try:
                arranged = None if shown is None else json.loads(shown)
                answer = kind.parse(own, json.loads(payload), arranged, settings)
            except FieldErrors as wrong:
                errors |= {f"q{position}-{name}": text for name, text in wrong.errors.items()}
        seconds = _seconds(own, longest)
        answered.append(Answered(slot_id, position, answer, problem, seconds, is_unit))
    if errors:
        raise Incomplete(errors)
    return answered


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
    values = {
        "slots": [each.slot_id for each in answered],
        "answers": [None if each.answer is None else json.dumps(each.answer) for each in answered],
        "problems": [each.problem for each in answered],
        "seconds": [each.seconds for each in answered],
    }
    run(_STORE, values)


def _settle_places(page: _LockedPage, answered: Sequence[Answered]) -> None:
    assignment = Assignment(pk=page.pk)
    broken = [each.position for each in answered if each.answer is None]
    if page.state == Assignment.State.EXPIRED:
        Slot.objects.filter(assignment=assignment, position__in=broken).update(state="broken")
        if _is_over_the_limit(page, answered):
            places.keep_as_surplus(assignment)
        else:
            places.retake(assignment, ["freed"])
        return
    # All units are locked in their order by the first of the two.
    places.count(assignment)
    if broken:
        places.mark_broken(assignment, broken)


def _is_over_the_limit(page: _LockedPage, answered: Sequence[Answered]) -> bool:
    """Whoever let a page's time run out may have been given others in its place since."""
    late = _with_rules(page.pk)
    left = limits.units_left(version=late.version, person_id=late.person_id)
    return sum(each.is_unit for each in answered) > left


def _with_rules(assignment_id: int) -> Assignment:
    return Assignment.objects.select_related("study", "version").get(pk=assignment_id)
