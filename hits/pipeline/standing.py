"""Standing: people in a study, by their work; what was said to them and what they said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery

from hits.models import (
    Account,
    Assignment,
    Flag,
    Participation,
    PersonEvent,
    Study,
    User,
)
from hits.pipeline import letters, people, training
from hits.pipeline.errors import Closed, NotAllowed, Refused
from hits.pipeline.own_work import with_payment
from hits.pipeline.review import LONGEST_REASON
from hits.pipeline.rules import quality_of
from hits.pipeline.statements import rows
from hits.protocol import protocol

Kind = PersonEvent.Kind
# Fewer would tell which golds were failed.
FEWEST_TOLD = 5

_PEOPLE = """
    WITH page AS (
        SELECT a.person_id, a.id, a.use, a.waits, a.payment, a.doubt, a.submitted_at, v.pay,
               coalesce(a.golds_shown, 0) AS shown, coalesce(a.golds_failed, 0) AS failed
        FROM hits_assignment a JOIN hits_studyversion v ON v.id = a.version_id
        WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training
          AND (%(people)s::bigint[] IS NULL OR a.person_id = ANY (%(people)s))),
    paid AS (
        SELECT page.person_id, sum(coalesce(p.reward, page.pay)) AS pay
        FROM page
        LEFT JOIN hits_claim c ON c.assignment_id = page.id
        LEFT JOIN hits_hit h ON h.id = c.hit_id
        LEFT JOIN hits_publication p ON p.id = h.publication_id
        WHERE page.payment = 'approved' GROUP BY 1)
    SELECT page.person_id, count(*), sum(shown), sum(failed),
           count(*) FILTER (WHERE use = 'used'), count(*) FILTER (WHERE use = 'not_used'),
           count(*) FILTER (WHERE waits), count(*) FILTER (WHERE payment = 'refused'),
           coalesce(max(paid.pay), 0), max(doubt), max(submitted_at)
    FROM page LEFT JOIN paid ON paid.person_id = page.person_id
    GROUP BY page.person_id
    ORDER BY max(doubt) DESC, page.person_id LIMIT %(limit)s
"""
_TIMES = """
    SELECT a.person_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY j.seconds), sum(j.seconds)
    FROM hits_assignment a
    JOIN hits_slot s ON s.assignment_id = a.id
    JOIN hits_judgment j ON j.slot_id = s.id AND j.seconds IS NOT NULL
    WHERE a.study_id = %(study)s AND a.person_id = ANY (%(people)s) AND a.state = 'submitted'
      AND NOT a.is_training
    GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class PersonRecord:
    """A person's work in one study; the doubt is that of their most doubtful page."""

    number: int
    pages: int
    golds_shown: int
    golds_failed: int
    used: int
    not_used: int
    waiting: int
    refused: int
    paid: Decimal
    doubt: float
    last_at: datetime
    median_seconds: float | None
    seconds: float | None
    signals: list[str]
    excluded: str
    has_appeal: bool

    @property
    def golds_passed(self) -> int:
        return self.golds_shown - self.golds_failed

    @property
    def accuracy(self) -> float | None:
        return self.golds_passed / self.golds_shown if self.golds_shown else None

    @property
    def hourly(self) -> Decimal | None:
        if not self.seconds or not self.paid:
            return None
        return self.paid * 3600 / Decimal(str(self.seconds))


def records_of(
    study: Study, *, people: Sequence[int] | None = None, limit: int = 200
) -> list[PersonRecord]:
    """The people of a study, or some of them, those first whose work is most in doubt."""
    chosen = None if people is None else list(people)
    found = rows(_PEOPLE, {"study": study.pk, "people": chosen, "limit": limit})
    numbers = [row[0] for row in found]
    times = {
        who: (median, total)
        for who, median, total in rows(_TIMES, {"study": study.pk, "people": numbers})
    }
    signals = _signals(study, numbers)
    excluded = dict(
        Participation.objects.filter(study=study, person__in=numbers).values_list(
            "person", "excluded_reason"
        )
    )
    appeals = {each.person.same_as_id or each.person_id for each in open_appeals(study)}
    made = []
    for who, *figures in found:
        median, total = times.get(who, (None, None))
        figures += [median, total, signals.get(who, []), excluded.get(who, ""), who in appeals]
        made.append(PersonRecord(who, *figures))
    return made


def _signals(study: Study, numbers: Sequence[int]) -> dict[int, list[str]]:
    raised = Flag.objects.filter(study=study, person__in=numbers).order_by("-doubt")
    found: dict[int, list[str]] = {}
    for person, signal in raised.values_list("person", "signal"):
        names = found.setdefault(person, [])
        if signal not in names:
            names.append(signal)
    return found


def record_of(study: Study, person: int) -> PersonRecord | None:
    found = records_of(study, people=[person])
    return found[0] if found else None


def who_submitted(study: Study) -> QuerySet[Participation]:
    """Who submitted a page that is no training, each with the doubt on their most doubtful page."""
    pages = Assignment.objects.filter(
        study=OuterRef("study"), person=OuterRef("person"), state="submitted", is_training=False
    )
    most = pages.order_by().values("person").annotate(most=Max("doubt")).values("most")
    return study.participations.annotate(doubt=Subquery(most)).filter(doubt__isnull=False)


_ROLLING = """
    SELECT j.answer, u.gold
    FROM hits_assignment a
    JOIN hits_slot s ON s.assignment_id = a.id
    JOIN hits_unit u ON u.id = s.unit_id AND u.gold IS NOT NULL AND NOT u.excluded
    LEFT JOIN hits_judgment j ON j.slot_id = s.id
    WHERE a.study_id = %(study)s AND a.person_id = %(person)s AND a.state = 'submitted'
      AND NOT a.is_training
    ORDER BY a.submitted_at DESC, s.position DESC LIMIT %(window)s
"""


def rolling(study: Study, person: int) -> list[bool]:
    """Whether each of a person's last golds was passed, the oldest first; as many as the rules
    look at. The study comes with its version."""
    kind = protocol(study.protocol)
    window = quality_of(study).gold_window
    found = rows(_ROLLING, {"study": study.pk, "person": person, "window": window})
    return [
        answer is not None and kind.check(json.loads(answer), json.loads(gold))
        for answer, gold in reversed(found)
    ]


# What was said


def events_of(study: Study, person: int) -> QuerySet[PersonEvent]:
    said = PersonEvent.objects.filter(_about(person), study=study, answers=None)
    return said.select_related("by", "answer__by", "assignment").order_by("-pk")


def _about(person: int) -> Q:
    """What was said before two people turned out to be one stays with both."""
    return Q(person=person) | Q(person__same_as=person)


def open_appeals(study: Study) -> QuerySet[PersonEvent]:
    appeals = _unanswered().filter(study=study)
    return appeals.select_related("assignment", "person").order_by("pk")


def appeals_by_study(studies: Sequence[Study]) -> dict[int, int]:
    """How many appeals wait in each of these studies, in one statement."""
    waiting = _unanswered().filter(study__in=studies).order_by()
    return dict(waiting.values_list("study").annotate(Count("pk")))


def _unanswered() -> QuerySet[PersonEvent]:
    answered = PersonEvent.objects.filter(answers=OuterRef("pk"))
    return PersonEvent.objects.filter(~Exists(answered), kind=Kind.APPEAL)


def account_in(study: Study, person: int) -> Account:
    """An account of somebody who worked in a study."""
    worked = Assignment.objects.filter(study=study, person=person).order_by("pk")
    found = Account.objects.filter(pk__in=worked.values("account")).first()
    if found is None:
        raise Account.DoesNotExist
    return found


@transaction.atomic
def act(*, study: Study, person: int, kind: str, text: str, by: User) -> PersonEvent:
    """Warn, exclude, readmit or qualify somebody, or write down an appeal that reached one."""
    account = account_in(study, person)
    _refuse_text(text)
    if Account.objects.filter(user=by, person=person).exists():
        raise NotAllowed("This is you: somebody else has to do that.")
    event = _acted(study, account, kind, text, by)
    if event.kind in letters.OPENINGS:
        letters.send(event)
    return event


def _acted(study: Study, account: Account, kind: str, text: str, by: User) -> PersonEvent:
    if kind == Kind.EXCLUDED:
        return people.exclude(study=study, account=account, reason=text, by=by)
    if kind == Kind.READMITTED:
        if not people.excluded_because(study, account):
            raise Closed("This person is not excluded.")
        return people.readmit(study=study, account=account, reason=text, by=by)
    if kind == Kind.QUALIFIED:
        _let_in(study, account.person_id, by)
    elif kind not in {Kind.WARNING, Kind.APPEAL}:
        raise Refused("Warn, exclude, readmit or qualify somebody, or write down their appeal.")
    return _said(study, account.person_id, kind, text, by)


def _let_in(study: Study, person: int, by: User) -> None:
    if study.version is None or not study.version.training_units:
        raise Refused("Nobody is trained in this study, so that nobody has to be let in.")
    training.let_in(study=study, person_id=person, by=by)


def _refuse_text(text: str) -> None:
    if not text.strip():
        raise Refused("Write down why: it stays on record, and the person reads it.")
    if len(text) > LONGEST_REASON:
        raise Refused(f"Use at most {LONGEST_REASON:,} characters.")


def _said(
    study: Study,
    person: int,
    kind: str,
    text: str,
    by: User | None,
    page: Assignment | None = None,
) -> PersonEvent:
    return PersonEvent.objects.create(
        study=study, person_id=person, kind=kind, text=text.strip(), by=by, assignment=page
    )


@transaction.atomic
def appeal(*, study: Study, account: Account, text: str, page: UUID | None = None) -> PersonEvent:
    """A note to the reviewers by somebody who worked in the study, one at a time; about a page of
    theirs, where they name one."""
    _refuse_text(text)
    own = Assignment.objects.filter(study=study, person=account.person_id, state="submitted")
    about = None if page is None else own.filter(key=page).first()
    if not own.exists() or (page is not None and about is None):
        raise NotAllowed("You have submitted no such page in this study.")
    people.lock_person(account)
    if open_appeals(study).filter(_about(account.person_id)).exists():
        raise Closed("Your last note has not been answered yet. You will read the answer here.")
    return _said(study, account.person_id, Kind.APPEAL, text, account.user, about)


@transaction.atomic
def answer(*, appealed: PersonEvent, text: str, by: User) -> PersonEvent:
    _refuse_text(text)
    if appealed.kind != Kind.APPEAL:
        raise Refused("Only an appeal is answered.")
    PersonEvent.objects.select_for_update(no_key=True).get(pk=appealed.pk)
    if PersonEvent.objects.filter(answers=appealed).exists():
        raise Closed("Somebody has answered this appeal already.")
    made = PersonEvent.objects.create(
        study_id=appealed.study_id,
        person_id=appealed.person_id,
        kind=Kind.ANSWER,
        text=text.strip(),
        answers=appealed,
        by=by,
    )
    letters.send(made)
    return made


# What one is told of oneself


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """What a study tells a rater of themselves: the golds only where its rules allow it."""

    study: Study
    golds_passed: int | None
    golds_shown: int | None
    said: list[PersonEvent]
    refused: list[Assignment]
    may_appeal: bool


_OWN_GOLDS = """
    SELECT study_id, coalesce(sum(golds_shown), 0), coalesce(sum(golds_failed), 0)
    FROM hits_assignment
    WHERE person_id = %(person)s AND state = 'submitted' AND NOT is_training
    GROUP BY 1
"""
TOLD = (Kind.WARNING, Kind.EXCLUDED, Kind.READMITTED, Kind.APPEAL)


def own_records(user: User) -> list[OwnRecord]:
    account = Account.objects.filter(user=user).first()
    if account is None:
        return []
    own = Assignment.objects.filter(person=account.person_id, state="submitted")
    studies = Study.objects.filter(pk__in=own.values("study")).select_related("version")
    return _own_records(account, list(studies))


def own_record(account: Account, study: Study) -> OwnRecord:
    """What a worker of a marketplace is told, whose golds are never told."""
    (found,) = _own_records(account, [study])
    return replace(found, golds_passed=None, golds_shown=None)


def _own_records(account: Account, studies: list[Study]) -> list[OwnRecord]:
    counts = {
        study: (shown, failed)
        for study, shown, failed in rows(_OWN_GOLDS, {"person": account.person_id})
    }
    said: dict[int, list[PersonEvent]] = {}
    events = PersonEvent.objects.filter(_about(account.person_id), kind__in=TOLD)
    for event in events.select_related("answer", "assignment").order_by("pk"):
        said.setdefault(event.study_id, []).append(event)
    refused: dict[int, list[Assignment]] = {}
    unpaid = Assignment.objects.filter(
        person=account.person_id, state="submitted", payment="refused", study__in=studies
    )
    for page in with_payment(unpaid).order_by("-submitted_at", "-pk"):
        refused.setdefault(page.study_id, []).append(page)
    return [
        _own(
            study,
            counts.get(study.pk, (0, 0)),
            said.get(study.pk, []),
            refused.get(study.pk, []),
        )
        for study in studies
    ]


def _own(
    study: Study,
    golds: tuple[int, int],
    said: list[PersonEvent],
    refused: list[Assignment],
) -> OwnRecord:
    shown, failed = golds
    told = quality_of(study).raters_see_accuracy and shown >= FEWEST_TOLD
    waits = any(each.kind == Kind.APPEAL and not hasattr(each, "answer") for each in said)
    return OwnRecord(
        study=study,
        golds_passed=shown - failed if told else None,
        golds_shown=shown if told else None,
        said=said,
        refused=refused,
        may_appeal=not waits,
    )
