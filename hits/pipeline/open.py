"""Open: a draft study with its proposals becomes units, golds and a first version."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import groupby, islice
from operator import itemgetter
from random import Random
from typing import Any, Self, TypeVar

import orjson
from django.db import IntegrityError, connection, transaction
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
from hits.pipeline.arrange import refuse_reserved
from hits.pipeline.copying import NULL, CopyBehind, analyze, cells, new_ids
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused, Taken
from hits.pipeline.publish import follow_study
from hits.protocol import Protocol, protocol
from hits.records import Candidate, Json, Query, UnitDraft

INFORMATION = (
    "You are asked to judge pairs of an image and a text. Your answers are stored under a number, "
    "not under your name, and may be published as part of a dataset. You can stop at any time and "
    "withdraw your consent; pages that you have not submitted are then given back."
)

VERSIONED = (
    "settings", "wording", "information", "judgments_wanted", "lease_minutes", "pay",
    "expected_minutes",
)  # fmt: skip
MOST_PAY = 100
TOO_MUCH_PAY = f"A page pays at most ${MOST_PAY}. Was it meant in cents?"
Tell = Callable[[int], None]
T = TypeVar("T")
Row = tuple[Any, ...]
BATCH = 2500
ROWS = 5000


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
    refuse_reserved(slug)
    try:
        study = Study.objects.create(
            slug=slug, name=name, corpus=corpus, protocol=protocol_slug, seed=seed
        )
    except IntegrityError:
        raise Taken("There is a study with this short name.") from None
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
    if Decimal(changes.get("pay") or 0) > MOST_PAY:
        raise Refused(TOO_MUCH_PAY)
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
    # What plans depend on; the payloads would take longer than all of it.
    analyze("hits_unit (study_id, key, pool, order_key, is_open)")
    study.refresh_from_db()
    return counts


def units_by_pool(study: Study) -> dict[str, int]:
    """What opening made, as opening told it."""
    counted = Unit.objects.filter(study=study).order_by("pool").values_list("pool")
    return dict(counted.annotate(Count("pk")))


@transaction.atomic
def set_state(*, study: Study, state: str, by: User | None = None) -> None:
    """Pause, reopen or close. Pages that people have open can still be submitted. HITs are not
    offered any more when it is paused or closed; a person opens publications again."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state == Study.State.DRAFT or state not in {"open", "paused", "closed"}:
        raise Refused("Only a study that was opened can be paused, reopened or closed.")
    Study.objects.filter(pk=locked.pk).update(state=state)
    study.state = locked.state = Study.State(state)
    if locked.state != Study.State.OPEN:
        follow_study(locked, by)


def _make_units(study: Study, proposals: list[Proposal], tell: Tell) -> dict[str, int]:
    assert study.version is not None
    if len({(proposal.direction, proposal.split) for proposal in proposals}) > 1:
        raise Refused("Choose proposals of one direction and one split; another is another study.")
    kind = protocol(study.protocol)
    settings = kind.settings_model.model_validate(study.version.settings)
    copies = CopyBehind()
    with _Queries(proposals, copies, tell) as queries, copies:
        drafts = kind.units(queries, _targets(proposals[0]), settings, Random(study.seed))
        if _some_images_have_no_file(study.corpus_id):
            drafts = _showable(kind, drafts, copies)
        if earlier := list(study.continues.values_list("pk", flat=True)):
            drafts = _not_asked_before(earlier, drafts, copies)
        return _Storing(study, queries, copies).store(drafts)


def _targets(proposal: Proposal) -> list[int]:
    if proposal.direction == "i2t":
        items: Any = Caption.objects.filter(image__split=proposal.split)
    else:
        items = Image.objects.filter(split=proposal.split)
    return list(items.filter(corpus=proposal.corpus).order_by("pk").values_list("pk", flat=True))


# A query's original targets come first, without a proposal.
_ORIGINALS = {
    "i2t": "SELECT image_id, NULL::bigint, id, NULL::smallint, NULL::float8 FROM hits_caption"
    " WHERE image_id IN",
    "t2i": "SELECT id, NULL::bigint, image_id, NULL::smallint, NULL::float8 FROM hits_caption"
    " WHERE id IN",
}
_QUERIES = """
    SELECT query_id, proposal_id, target_id, rank, score FROM hits_candidate
    WHERE proposal_id = ANY (%(proposals)s)
    UNION ALL
    {} (SELECT query_id FROM hits_candidate WHERE proposal_id = ANY (%(proposals)s))
    ORDER BY query_id, proposal_id NULLS FIRST, rank, target_id
"""
_query_of = itemgetter(0)


class _Queries:
    """The queries one by one, each with its candidates by all machines.

    Their rows are read in batches, and ahead of their use where that is asked for: the connection
    that they are read from stores units meanwhile.
    """

    def __init__(self, proposals: list[Proposal], copies: CopyBehind, tell: Tell) -> None:
        self._direction = proposals[0].direction
        self._copies = copies
        self._tell = tell
        self._rows: list[Row] = []
        self._started: list[Row] = []
        self._done = 0
        self._cursor = connection.chunked_cursor()
        statement = _QUERIES.format(_ORIGINALS[self._direction])
        self._cursor.execute(statement, {"proposals": [proposal.pk for proposal in proposals]})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cursor.close()

    def __iter__(self) -> Iterator[Query]:
        while rows := self._take():
            for query_id, group in groupby(rows, key=_query_of):
                yield _query(query_id, self._direction, group)
                self._done += 1
            self._tell(self._done)

    def _take(self) -> list[Row]:
        if not self._rows:
            self._copies.wait()
            self.read_ahead()
        rows, self._rows = self._rows, []
        return rows

    def read_ahead(self) -> None:
        """The rows of some whole queries: of the last one, more may be to come."""
        while not self._rows and (more := self._cursor.fetchmany(ROWS)):
            rows = self._started + more
            last = rows[-1][0]
            end = len(rows)
            while end and rows[end - 1][0] == last:
                end -= 1
            self._rows, self._started = rows[:end], rows[end:]
        if not self._rows:
            self._rows, self._started = self._started, []


def _query(query_id: int, direction: str, rows: Iterable[Row]) -> Query:
    originals, candidates = [], []
    for _, proposal_id, target_id, rank, score in rows:
        if proposal_id is None:
            originals.append(target_id)
        else:
            candidates.append(Candidate(proposal_id, target_id, rank, score))
    return Query(query_id, direction, tuple(candidates), tuple(originals))


def _some_images_have_no_file(corpus_id: int) -> bool:
    return Image.objects.filter(corpus=corpus_id, blob__isnull=True).exists()


def _showable(
    kind: Protocol[Any, Any], drafts: Iterator[UnitDraft], copies: CopyBehind
) -> Iterator[UnitDraft]:
    """Units whose images have files: nobody can judge the others."""
    for batch in _batches(drafts):
        copies.wait()
        wanted = {pk for draft in batch for pk in kind.items(draft.payload)[0]}
        there = set(
            Image.objects.filter(pk__in=wanted, blob__isnull=False).values_list("pk", flat=True)
        )
        yield from (draft for draft in batch if there.issuperset(kind.items(draft.payload)[0]))


def _not_asked_before(
    earlier: list[int], drafts: Iterator[UnitDraft], copies: CopyBehind
) -> Iterator[UnitDraft]:
    for batch in _batches(drafts):
        copies.wait()
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


_UNIT = ["id", "study_id", "key", "pool", "payload", "gold", "order_key", "wanted"]
_SOURCE = ["unit_id", "proposal_id", "rank", "score"]


class _Storing:
    """Units by COPY, each batch while the next is made."""

    def __init__(self, study: Study, queries: _Queries, copies: CopyBehind) -> None:
        assert study.version is not None
        self._study = study
        self._wanted = study.version.judgments_wanted
        self._queries = queries
        self._copies = copies

    def store(self, drafts: Iterator[UnitDraft]) -> dict[str, int]:
        counts: Counter[str] = Counter()
        ids = new_ids("hits_unit", BATCH)
        while True:
            lines, sources, pools = [], [], []
            # Drafts are dropped one by one: kept, they would be looked through for garbage.
            for draft in islice(drafts, BATCH):
                unit_id = ids.pop()
                lines.append(self._line(unit_id, draft))
                sources += _sources(unit_id, draft)
                pools.append(draft.pool)
            if not lines:
                break
            counts.update(pools)
            self._copies.wait()
            self._queries.read_ahead()
            ids = new_ids("hits_unit", len(lines)) + ids
            self._copies.start("hits_unit", _UNIT, lines)
            self._copies.start("hits_unitsource", _SOURCE, sources)
        return dict(sorted(counts.items()))

    def _line(self, unit_id: int, draft: UnitDraft) -> str:
        key, pool, payload, gold, _ = draft
        known = NULL if gold is None else cells(_as_json(gold))
        return (
            f"{unit_id}\t{self._study.pk}\t{cells(key, pool, _as_json(payload))}\t{known}\t"
            f"{ring_position(self._study.seed, key)}\t{self._wanted}\n"
        )


def _as_json(value: Json) -> str:
    return orjson.dumps(value).decode()


def _sources(unit_id: int, draft: UnitDraft) -> list[str]:
    return [
        f"{unit_id}\t{proposal_id}\t{rank}\t{score}\n"
        for proposal_id, _, rank, score in draft.sources
    ]
