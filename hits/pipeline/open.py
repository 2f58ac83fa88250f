"""Open: a draft study with its proposals becomes units, golds and a first version."""

from collections.abc import Callable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from random import Random
from typing import Any, TypeVar

from django.db import connection, transaction
from django.utils import timezone
from pydantic import ValidationError

from hits.models import (
    Caption,
    Corpus,
    Image,
    Membership,
    Proposal,
    Role,
    Study,
    StudyVersion,
    Unit,
    User,
)
from hits.pipeline.copying import copy_rows
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused
from hits.protocol import Protocol, protocol
from hits.records import Candidate, Query, UnitDraft

INFORMATION = (
    "You are asked to judge pairs of an image and a text. Your answers are stored under a number, "
    "not under your name, and may be published as part of a dataset. You can stop at any time and "
    "withdraw your consent from your home page; pages that you have not submitted are then given "
    "back."
)

Tell = Callable[[int], None]
T = TypeVar("T")


@transaction.atomic
def create_study(
    *,
    slug: str,
    name: str,
    corpus: Corpus,
    protocol_slug: str,
    by: User,
    settings: dict[str, Any] | None = None,
    wording: dict[str, Any] | None = None,
    information: str = INFORMATION,
    judgments_wanted: int = 1,
    lease_minutes: int = 60,
    pay: str = "0",
    seed: int = 0,
) -> Study:
    study = Study.objects.create(
        slug=slug, name=name, corpus=corpus, protocol=protocol_slug, seed=seed
    )
    Membership.objects.create(study=study, user=by, role=Role.RESEARCHER)
    change_version(
        study=study,
        by=by,
        settings=settings,
        wording=wording,
        information=information,
        judgments_wanted=judgments_wanted,
        lease_minutes=lease_minutes,
        pay=pay,
    )
    return study


@transaction.atomic
def change_version(*, study: Study, by: User, **changes: Any) -> StudyVersion:
    """A new version with these changes; pages drawn before keep the one they were done under."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    before = locked.version
    kind = protocol(locked.protocol)
    values = {name: value for name, value in changes.items() if value is not None}
    fields = ["settings", "wording", "information", "judgments_wanted", "lease_minutes", "pay"]
    if before is not None:
        values = {name: getattr(before, name) for name in fields} | values
    try:
        values["settings"] = kind.settings_model.model_validate(
            values.get("settings", {})
        ).model_dump()
        values["wording"] = kind.wording_model.model_validate(
            values.get("wording", {})
        ).model_dump()
    except ValidationError as wrong:
        raise Refused(f"These settings cannot be used: {wrong}") from None
    number = 1 if before is None else before.number + 1
    same = before is not None and before.information == values["information"]
    version = StudyVersion.objects.create(
        study=locked,
        number=number,
        consent_number=before.consent_number if before is not None and same else number,
        created_by=by,
        **values,
    )
    Study.objects.filter(pk=locked.pk).update(version=version)
    study.version = version
    return version


@transaction.atomic
def open_study(*, study: Study, tell: Tell = lambda done: None) -> dict[str, int]:
    """Make the units; everything or nothing. A study that is open already stays as it is."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    if locked.state != Study.State.DRAFT:
        raise Closed("This study has been opened already.")
    assert locked.version is not None
    proposals = list(locked.proposals.filter(finished_at__isnull=False).order_by("pk"))
    if not proposals:
        raise Refused("Choose at least one finished proposal of a machine first.")
    counts = _make_units(locked, proposals, tell)
    if not counts.get("candidate"):
        raise Refused("The proposals gave no unit to judge: do the images have files?")
    Study.objects.filter(pk=locked.pk).update(state=Study.State.OPEN, opened_at=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE hits_unit")
    study.refresh_from_db()
    return counts


@transaction.atomic
def set_state(*, study: Study, state: str) -> None:
    """Pause, reopen or close. Pages that people have open can still be submitted."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state == Study.State.DRAFT or state not in {"open", "paused", "closed"}:
        raise Refused("Only a study that was opened can be paused, reopened or closed.")
    Study.objects.filter(pk=locked.pk).update(state=state)
    study.state = Study.State(state)


def _make_units(study: Study, proposals: list[Proposal], tell: Tell) -> dict[str, int]:
    assert study.version is not None
    if len({(proposal.direction, proposal.split) for proposal in proposals}) > 1:
        raise Refused("Choose proposals of one direction and one split; another is another study.")
    kind = protocol(study.protocol)
    settings = kind.settings_model.model_validate(study.version.settings)
    drafts = kind.units(
        _queries(proposals, tell), _targets(proposals[0]), settings, Random(study.seed)
    )
    units = _not_asked_before(study, _showable(kind, drafts))
    return _store(study, study.version.judgments_wanted, units)


def _targets(proposal: Proposal) -> list[int]:
    if proposal.direction == "i2t":
        items: Any = Caption.objects.filter(image__split=proposal.split)
    else:
        items = Image.objects.filter(split=proposal.split)
    return list(items.filter(corpus=proposal.corpus).order_by("pk").values_list("pk", flat=True))


def _queries(proposals: list[Proposal], tell: Tell) -> Iterator[Query]:
    """The queries one by one, each with its candidates by all machines."""
    direction = proposals[0].direction
    with connection.chunked_cursor() as cursor:
        cursor.execute(
            """
            SELECT query_id, proposal_id, target_id, rank, score FROM hits_candidate
            WHERE proposal_id = ANY (%s) ORDER BY query_id, proposal_id, rank
            """,
            [[proposal.pk for proposal in proposals]],
        )
        by_query = (
            (query_id, tuple(Candidate(*row[1:]) for row in rows))
            for query_id, rows in groupby(cursor, key=itemgetter(0))
        )
        done = 0
        for batch in _batches(by_query):
            originals = _originals(direction, [query_id for query_id, _ in batch])
            for query_id, candidates in batch:
                yield Query(query_id, direction, candidates, tuple(originals.get(query_id, ())))
            done += len(batch)
            tell(done)


def _originals(direction: str, query_ids: list[int]) -> dict[int, list[int]]:
    captions = Caption.objects.order_by("pk")
    if direction == "i2t":
        pairs = captions.filter(image_id__in=query_ids).values_list("image_id", "pk")
    else:
        pairs = captions.filter(pk__in=query_ids).values_list("pk", "image_id")
    found: dict[int, list[int]] = {}
    for query_id, target_id in pairs:
        found.setdefault(query_id, []).append(target_id)
    return found


def _showable(kind: Protocol[Any, Any], drafts: Iterator[UnitDraft]) -> Iterator[UnitDraft]:
    """Units whose images have files: nobody can judge the others."""
    for batch in _batches(drafts):
        wanted = {pk for draft in batch for pk in kind.items(draft.payload)[0]}
        there = set(
            Image.objects.filter(pk__in=wanted, blob__isnull=False).values_list("pk", flat=True)
        )
        yield from (draft for draft in batch if there.issuperset(kind.items(draft.payload)[0]))


def _not_asked_before(study: Study, drafts: Iterator[UnitDraft]) -> Iterator[UnitDraft]:
    earlier = list(study.continues.values_list("pk", flat=True))
    for batch in _batches(drafts):
        keys = [draft.key for draft in batch] if earlier else []
        asked = set(
            Unit.objects.filter(study__in=earlier, key__in=keys, gold__isnull=True).values_list(
                "key", flat=True
            )
        )
        yield from (draft for draft in batch if draft.key not in asked)


def _batches(items: Iterator[T], size: int = 1000) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch


def _store(study: Study, wanted: int, drafts: Iterator[UnitDraft]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS unit_draft")
        cursor.execute(
            "CREATE TEMPORARY TABLE unit_draft (key text, pool text, payload jsonb, gold jsonb,"
            " order_key bigint, sources jsonb) ON COMMIT DROP"
        )
        # Making drafts reads from the same connection, so COPY takes them batch by batch.
        columns = ["key", "pool", "payload", "gold", "order_key", "sources"]
        for batch in _batches(drafts, size=5000):
            copy_rows("unit_draft", columns, (_row(study, draft) for draft in batch))
        cursor.execute(
            """
            INSERT INTO hits_unit (study_id, key, pool, payload, gold, order_key, wanted)
            SELECT %s, key, pool, payload, gold, order_key, %s FROM unit_draft
            """,
            [study.pk, wanted],
        )
        cursor.execute(
            """
            INSERT INTO hits_unitsource (unit_id, proposal_id, rank, score)
            SELECT u.id, (s ->> 0)::bigint, (s ->> 1)::smallint, (s ->> 2)::float8
            FROM unit_draft d
            JOIN hits_unit u ON u.study_id = %s AND u.key = d.key
            CROSS JOIN jsonb_array_elements(d.sources) AS s
            """,
            [study.pk],
        )
        cursor.execute("SELECT pool, count(*) FROM unit_draft GROUP BY pool ORDER BY pool")
        counts = dict(cursor.fetchall())
        cursor.execute("DROP TABLE unit_draft")
        return counts


def _row(study: Study, draft: UnitDraft) -> tuple[Any, ...]:
    sources = [[source.proposal_id, source.rank, source.score] for source in draft.sources]
    position = ring_position(study.seed, draft.key)
    return draft.key, draft.pool, draft.payload, draft.gold, position, sources
