"""Doubt: what the signals raise against pages and people of a study. It proposes; people decide."""

import json
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from hits.analysis.errors import AnalysisError
from hits.models import Flag, Job, Reading, Study, User
from hits.pipeline import jobs
from hits.pipeline.aggregate import StudySource, in_batches
from hits.pipeline.gold_failures import in_doubt
from hits.pipeline.rules import gold_check, quality_of, rules_of
from hits.pipeline.statements import run
from hits.protocol import Protocol, Report, protocol

if TYPE_CHECKING:
    from hits.analysis.signals.flags import Flags
    from hits.analysis.signals.reading import Judged, Read

KIND = "signals"
# New work waits so long for more of it, and ten times as long as the last reading took.
REST = timedelta(seconds=20)
BATCH = 1000
_ALONE = "SELECT pg_advisory_xact_lock(hashtext('signals'), %(study)s::int)"

# Judgments that count or may count. Golds of pages that are not used belong to the record of their
# person all the same.
_JUDGED = """
    SELECT u.key, a.person_id, a.id, s.position, j.answer::text, s.shown::text, u.gold::text,
           u.payload::text, j.seconds, a.device
    FROM hits_assignment a
    JOIN hits_slot s ON s.assignment_id = a.id
    JOIN hits_judgment j ON j.slot_id = s.id
    JOIN hits_unit u ON u.id = s.unit_id
    WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training
      AND j.answer IS NOT NULL AND NOT u.excluded
      AND (u.gold IS NOT NULL OR (s.state = 'counted' AND a.use <> 'not_used'))
    ORDER BY a.submitted_at, a.id, s.position
"""
# Pages are locked in the order of their ids, and only those whose doubt is another one.
_DOUBTS = """
    WITH found AS (
        SELECT * FROM unnest(%(pages)s::bigint[], %(doubts)s::float8[]) AS found (id, doubt)),
    changed AS (
        SELECT a.id, found.doubt FROM hits_assignment a JOIN found ON found.id = a.id
        WHERE a.doubt <> found.doubt
        ORDER BY a.id FOR NO KEY UPDATE OF a)
    UPDATE hits_assignment a SET doubt = changed.doubt FROM changed WHERE a.id = changed.id
"""


def note(studies: Iterable[int]) -> None:
    """That work came in; a reading is asked for once more of it has come, or none. What a later
    stage says of the work in the studies that feed it is read as well."""
    now, known = timezone.now(), set(studies)
    known |= set(Study.objects.filter(feeds__in=known).values_list("pk", flat=True))
    for study in sorted(known):
        _, made = Reading.objects.get_or_create(pk=study, defaults={"asked_at": now})
        if not made:
            Reading.objects.filter(pk=study, asked_at__isnull=True).update(asked_at=now)


def ask_what_is_due() -> int:
    """Ask for the readings whose time has come."""
    now = timezone.now()
    waiting = Reading.objects.filter(asked_at__lt=now - REST)
    found = [each.pk for each in waiting if _is_rested(each, now)]
    for study in found:
        jobs.ask_once(kind=KIND, arguments={"study": study}, queue="cpu")
    return len(found)


def _is_rested(reading: Reading, now: datetime) -> bool:
    return reading.at is None or now - reading.at > REST + timedelta(seconds=10 * reading.seconds)


def ask(*, study: Study, by: User) -> Job:
    """Read a study's signals now."""
    note([study.pk])
    return jobs.ask(kind=KIND, arguments={"study": study.pk}, by=by, study=study)


def read_signals(study: Study) -> dict[str, int]:
    """Compute all signals of a study's work and store what they raise; the study comes with its
    version. Two at once wait for each other, and whoever notes new work meanwhile for neither:
    it is read the next time."""
    # scipy takes a second to import, and only who computes should wait for it.
    from hits.analysis.signals.flags import flags

    started, now = time.monotonic(), timezone.now()
    Reading.objects.get_or_create(pk=study.pk)
    Reading.objects.filter(pk=study.pk).update(asked_at=None)
    with transaction.atomic():
        run(_ALONE, {"study": study.pk})
        try:
            read = _read(study)
            found = flags(read.work, quality_of(study).rules)
        except AnalysisError as why:
            Flag.objects.filter(study=study).delete()
            judgments, raised, silent = 0, 0, {"all": str(why)}
        else:
            judgments, raised = len(read.work.values), _store(study, read, found)
            silent = dict(found.silent)
        doubted = [each.gold for each in in_doubt(study)]
        Reading.objects.filter(pk=study.pk).update(
            at=now,
            seconds=time.monotonic() - started,
            judgments=judgments,
            silent=silent,
            golds_in_doubt=doubted,
        )
    return {"judgments": judgments, "raised": raised, "golds_in_doubt": len(doubted)}


def _read(study: Study) -> "Read":
    from hits.analysis.signals.reading import read

    assert study.version is not None
    kind, settings = rules_of(study)
    wording = kind.wording_model.model_validate(study.version.wording)
    return read(
        _judged(study, kind),
        kind.tallies(settings, wording),
        compares=Report.COMPARISONS in kind.reports,
        places=kind.places,
    )


def _judged(study: Study, kind: Protocol) -> Iterator["Judged"]:  # type: ignore[type-arg]
    from hits.analysis.signals.reading import Judged

    outcomes = _confirmed_later(study)
    passed = gold_check(kind)
    for batch in in_batches(_JUDGED, {"study": study.pk}):
        for key, person, page, position, text, shown, gold, payload, seconds, device in batch:
            answer = json.loads(text)
            arranged = None if shown is None else json.loads(shown)
            later = kind.later_key(json.loads(payload), answer) if outcomes else None
            yield Judged(
                unit=key,
                person=person,
                page=page,
                position=position,
                answer=answer,
                shown=arranged,
                seconds=seconds,
                device=device,
                passed=None if gold is None else passed(text, gold),
                confirmed=None if later is None or gold is not None else outcomes.get(later),
                place=kind.place(answer, arranged),
            )


def _confirmed_later(study: Study) -> dict[str, bool]:
    """What finished units of the studies that this one feeds say of what was answered here."""
    found: dict[str, bool] = {}
    for later in study.feeds.select_related("corpus").order_by("pk"):
        source = StudySource([later], protocol(later.protocol), only_complete=True)
        found |= {unit.key: unit.aggregate.positive for unit in source.units()}
    return found


def _store(study: Study, read: "Read", found: "Flags") -> int:
    person_of = {page.page: page.person for page in found.pages}
    raised = [
        Flag(
            study=study,
            person_id=read.people[each.key if each.subject == "person" else person_of[each.key]],
            assignment_id=read.pages[each.key] if each.subject == "page" else None,
            signal=each.name,
            figure=each.figure,
            threshold=each.threshold,
            doubt=each.doubt,
            says=each.says,
            other_id=None if each.other is None else read.people[each.other],
        )
        for each in found.signals
        if each.is_raised
    ]
    Flag.objects.filter(study=study).delete()
    Flag.objects.bulk_create(raised, batch_size=BATCH)
    values = {
        "pages": [read.pages[each.page] for each in found.pages],
        "doubts": [each.doubt for each in found.pages],
    }
    run(_DOUBTS, values)
    return len(raised)


def flags_on(assignment_id: int, study_id: int, person_id: int) -> QuerySet[Flag]:
    """What was raised on a page or on its person, the strongest first."""
    about = Q(assignment=assignment_id) | Q(assignment=None, person=person_id)
    return Flag.objects.filter(about, study=study_id).order_by("-doubt", "signal", "pk")
