"""Open: a draft study with its proposals becomes units, golds and a first version."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from random import Random
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Count
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
from hits.pipeline.copying import NULL, cell, copy_lines
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused
from hits.protocol import Protocol, protocol
from hits.records import Candidate, Query, UnitDraft

INFORMATION = (
    "You are asked to judge pairs of an image and a text. Your answers are stored under a number, "
    "not under your name, and may be published as part of a dataset. You can stop at any time and "
    "withdraw your consent; pages that you have not submitted are then given back."
)

VERSIONED = (
    "settings", "wording", "information", "judgments_wanted", "lease_minutes", "pay",
    "expected_minutes",
)  # fmt: skip
Tell = Callable[[int], None]
T = TypeVar("T")
BATCH = 5000


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
    expected_minutes: int = 0,
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
        expected_minutes=expected_minutes,
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
    if before is not None:
        values = {name: getattr(before, name) for name in VERSIONED} | values
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
    asks_the_same = before is not None and all(
        getattr(before, part) == values[part] for part in ("settings", "wording")
    )
    page_seconds = locked.page_seconds if asks_the_same else None
    Study.objects.filter(pk=locked.pk).update(version=version, page_seconds=page_seconds)
    study.version, study.page_seconds = version, page_seconds
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
        # What plans depend on; the payloads would take longer than all of it.
        cursor.execute("ANALYZE hits_unit (study_id, key, pool, order_key, is_open)")
    study.refresh_from_db()
    return counts


def units_by_pool(study: Study) -> dict[str, int]:
    """What opening made, as opening told it."""
    counted = Unit.objects.filter(study=study).order_by("pool").values_list("pool")
    return dict(counted.annotate(Count("pk")))


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
    if _some_images_have_no_file(study.corpus_id):
        drafts = _showable(kind, drafts)
    if earlier := list(study.continues.values_list("pk", flat=True)):
        drafts = _not_asked_before(earlier, drafts)
    return _store(study, study.version.judgments_wanted, drafts)


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
            (query_id, tuple([Candidate(*row[1:]) for row in rows]))
            for query_id, rows in groupby(cursor, key=itemgetter(0))
        )
        done = 0
        for batch in _batches(by_query):
            originals = _originals(direction, [query_id for query_id, _ in batch])
            for query_id, candidates in batch:
                yield Query(query_id, direction, candidates, tuple(originals.get(query_id, ())))
            done += len(batch)
            tell(done)


_ORIGINALS = {
    "i2t": "SELECT image_id, id FROM hits_caption WHERE image_id = ANY (%s) ORDER BY id",
    "t2i": "SELECT id, image_id FROM hits_caption WHERE id = ANY (%s)",
}


def _originals(direction: str, query_ids: list[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ORIGINALS[direction], [query_ids])
        for query_id, target_id in cursor.fetchall():
            found.setdefault(query_id, []).append(target_id)
    return found


def _some_images_have_no_file(corpus_id: int) -> bool:
    return Image.objects.filter(corpus=corpus_id, blob__isnull=True).exists()


def _showable(kind: Protocol[Any, Any], drafts: Iterator[UnitDraft]) -> Iterator[UnitDraft]:
    """Units whose images have files: nobody can judge the others."""
    for batch in _batches(drafts):
        wanted = {pk for draft in batch for pk in kind.items(draft.payload)[0]}
        there = set(
            Image.objects.filter(pk__in=wanted, blob__isnull=False).values_list("pk", flat=True)
        )
        yield from (draft for draft in batch if there.issuperset(kind.items(draft.payload)[0]))


def _not_asked_before(earlier: list[int], drafts: Iterator[UnitDraft]) -> Iterator[UnitDraft]:
    for batch in _batches(drafts):
        keys = [draft.key for draft in batch]
        asked = set(
            Unit.objects.filter(study__in=earlier, key__in=keys, gold__isnull=True).values_list(
                "key", flat=True
            )
        )
        yield from (draft for draft in batch if draft.key not in asked)


def _batches(items: Iterator[T], size: int = BATCH) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch


_as_json = json.JSONEncoder().encode
_UNIT = ["id", "study_id", "key", "pool", "payload", "gold", "order_key", "wanted"]
_SOURCE = ["unit_id", "proposal_id", "rank", "score"]
_IDS = "SELECT nextval('hits_unit_id_seq'::regclass) FROM generate_series(1, %s)"


def _store(study: Study, wanted: int, drafts: Iterator[UnitDraft]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    # Making drafts reads from the same connection, so COPY takes them batch by batch.
    for batch in _batches(drafts):
        units = list(zip(_new_ids(len(batch)), batch, strict=True))
        copy_lines("hits_unit", _UNIT, (_unit_line(study, wanted, *unit) for unit in units))
        copy_lines("hits_unitsource", _SOURCE, (line for unit in units for line in _sources(*unit)))
        counts.update(draft.pool for draft in batch)
    return dict(sorted(counts.items()))


def _new_ids(count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_IDS, [count])
        return [number for (number,) in cursor.fetchall()]


def _unit_line(study: Study, wanted: int, unit_id: int, draft: UnitDraft) -> str:
    gold = NULL if draft.gold is None else cell(_as_json(draft.gold))
    return (
        f"{unit_id}\t{study.pk}\t{cell(draft.key)}\t{cell(draft.pool)}\t"
        f"{cell(_as_json(draft.payload))}\t{gold}\t{ring_position(study.seed, draft.key)}\t"
        f"{wanted}\n"
    )


def _sources(unit_id: int, draft: UnitDraft) -> Iterator[str]:
    for source in draft.sources:
        yield f"{unit_id}\t{source.proposal_id}\t{source.rank}\t{source.score}\n"
