"""Open: a draft study with its proposals becomes units, golds and a first version."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

import orjson
from django.db import IntegrityError, connection, transaction
from django.db.models import Count
from django.utils import timezone
from psycopg2.errors import UniqueViolation

from hits.models import (
    Corpus,
    Membership,
    Role,
    Study,
    Unit,
    User,
)
from hits.pipeline.arrange import refuse_reserved
from hits.pipeline.chain import keep_apart
from hits.pipeline.copying import NULL, CopyBehind, analyze, cells, new_ids
from hits.pipeline.cycles import seldom_looking_for_cycles
from hits.pipeline.drafts import chosen_proposals, drafts_of, of_first_pages
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused, Taken
from hits.pipeline.publish import follow_study
from hits.pipeline.rules import judged_pool, rules_of
from hits.pipeline.sources import GivenSource
from hits.pipeline.training import refuse_too_few_golds
from hits.pipeline.versions import change_version
from hits.protocol import Source, protocol
from hits.records import Json, UnitDraft

INFORMATION = (
    "You are asked to answer questions about images and texts. Your answers are stored under a "
    "number, not under your name, and may be published as part of a dataset. You can stop at any "
    "time and withdraw your consent; pages that you have not submitted are then given back."
)

Tell = Callable[[int], None]
T = TypeVar("T")
BATCH = 5_000
REPEATED = "the same was given before, as a unit or as a gold"


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
    judgments_wanted: int | None = None,
    lease_minutes: int = 60,
    pay: str = "0",
    expected_minutes: int = 0,
    seed: int = 0,
    split: str = "",
    **rules: Any,
) -> Study:
    """A draft with its first version, which wants as many judgments a unit as the protocol's paper
    unless told otherwise; `rules` are its limits and its training."""
    refuse_reserved(slug)
    try:
        study = Study.objects.create(
            slug=slug, name=name, corpus=corpus, protocol=protocol_slug, seed=seed, split=split
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
        judgments_wanted=judgments_wanted or protocol(protocol_slug).judgments_wanted,
        lease_minutes=lease_minutes,
        pay=pay,
        expected_minutes=expected_minutes,
        **rules,
    )
    return study


@transaction.atomic
def open_study(
    *, study: Study, tell: Tell = lambda done: None, left_out: Counter[str] | None = None
) -> dict[str, int]:
    """Make the units; everything or nothing. A study that is open already stays as it is. What
    was given and made no unit is counted in `left_out`, by why."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    if locked.state != Study.State.DRAFT:
        raise Closed("This study has been opened already.")
    assert locked.version is not None
    refuse_without_source(locked)
    keep_apart(locked)
    left_out = Counter() if left_out is None else left_out
    counts = _make_units(locked, tell, left_out)
    if not counts.get(judged_pool(locked)):
        raise Refused(
            f"What the study was given made no unit to judge{in_words(left_out)}. Do the images "
            "have files, and is something finished in the studies that feed it?"
        )
    refuse_too_few_golds(locked.version)
    Study.objects.filter(pk=locked.pk).update(state=Study.State.OPEN, opened_at=timezone.now())
    _analyze_units()
    study.refresh_from_db()
    return counts


@transaction.atomic
def add_units(
    *, study: Study, tell: Tell = lambda done: None, left_out: Counter[str] | None = None
) -> dict[str, int]:
    """More units for an open study: of what its feeding studies have finished and of what was
    uploaded since. What it has already stays as it is."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    if locked.state == Study.State.DRAFT:
        raise Refused("Open the study first: that makes its first units.")
    if locked.state == Study.State.CLOSED:
        raise Closed("This study is closed.")
    counts = _make_units(locked, tell, Counter() if left_out is None else left_out)
    _analyze_units()
    return counts


def in_words(left_out: Counter[str]) -> str:
    """Behind what was made: how much was left out, and why."""
    if not left_out:
        return ""
    return " (left out: " + "; ".join(f"{n:,}, {why}" for why, n in left_out.most_common()) + ")"


def _analyze_units() -> None:
    # What plans depend on; the payloads would take longer than all of it.
    analyze("hits_unit (study_id, key, pool, order_key, is_open)")


def refuse_without_source(study: Study) -> None:
    """Whoever opens a study learns at once that there is nothing to make units of."""
    kind, settings = rules_of(study)
    given = (
        study.proposals.filter(finished_at__isnull=False).exists()
        or study.fed_by.exists()
        or study.rows.exists()
        or kind.asks_corpus(settings)
    )
    if not given:
        ways = ", or ".join(_WAYS[source] for source in Source if source in kind.sources)
        raise Refused(f"There is nothing to make units of yet: {ways}.")


_WAYS = {
    Source.PROPOSALS: "choose at least one finished proposal of a machine",
    Source.CORPUS: "say in the settings that the corpus’s own items are asked about",
    Source.STUDIES: "choose the studies that feed it",
    Source.ROWS: "upload rows",
    Source.DETAILS: "let a machine make coarse texts finer",
}


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


def _make_units(study: Study, tell: Tell, left_out: Counter[str]) -> dict[str, int]:
    """Stored as they come. Only where two have one key, which no machine's proposals do, all are
    compared with each other."""
    if study.state == Study.State.DRAFT:
        try:
            with transaction.atomic():
                return _store_units(study, tell, left_out, compare=False)
        except IntegrityError as refusal:
            if not isinstance(refusal.__cause__, UniqueViolation):
                raise
        except UniqueViolation:
            pass
    left_out.clear()
    return _store_units(study, tell, left_out, compare=True)


def _store_units(
    study: Study, tell: Tell, left_out: Counter[str], *, compare: bool
) -> dict[str, int]:
    copies = CopyBehind()
    given = GivenSource(study, chosen_proposals(study), copies, tell, left_out)
    with seldom_looking_for_cycles(), given as source, copies:
        drafts = drafts_of(study, source, copies)
        if study.pilot_pages:
            drafts = of_first_pages(study, drafts, study.pilot_pages)
        return _Storing(study, source, copies, compare=compare).store(drafts)


_UNIT = ["id", "study_id", "key", "pool", "payload", "gold", "order_key", "wanted"]
_SOURCE = ["unit_id", "proposal_id", "rank", "score"]
_NEW_UNIT = """
    CREATE TEMPORARY TABLE new_unit (LIKE hits_unit INCLUDING DEFAULTS) ON COMMIT DROP;
    CREATE TEMPORARY TABLE new_unitsource (LIKE hits_unitsource) ON COMMIT DROP
"""
# What the study has already is no news; what came twice is.
_REPEATED = "SELECT count(*) - count(DISTINCT key) FROM new_unit"
_KEEP_NEW = f"""
    WITH kept AS (
        INSERT INTO hits_unit ({", ".join(_UNIT)})
        SELECT {", ".join(_UNIT)} FROM new_unit ORDER BY id
        ON CONFLICT (study_id, key) DO NOTHING RETURNING id, pool),
    sources AS (
        INSERT INTO hits_unitsource ({", ".join(_SOURCE)})
        SELECT {", ".join(_SOURCE)} FROM new_unitsource WHERE unit_id IN (SELECT id FROM kept))
    SELECT pool, count(*) FROM kept GROUP BY pool ORDER BY pool
"""


class _Storing:
    """Units by COPY, each batch while the next is made; where they are compared, all of them
    beside the table first, so that those with new keys go into it."""

    def __init__(
        self, study: Study, source: GivenSource, copies: CopyBehind, *, compare: bool
    ) -> None:
        assert study.version is not None
        self._study = study
        self._wanted = study.version.judgments_wanted
        self._source = source
        self._copies = copies
        self._compare = compare
        self._prefix = "new" if compare else "hits"

    def store(self, drafts: Iterator[UnitDraft]) -> dict[str, int]:
        if not self._compare:
            return self._copy(drafts)
        with connection.cursor() as cursor:
            cursor.execute(_NEW_UNIT)
            self._copy(drafts)
            self._copies.wait()
            cursor.execute(_REPEATED)
            if repeated := cursor.fetchone()[0]:
                self._source.leave_out(REPEATED, repeated)
            cursor.execute(_KEEP_NEW)
            counts = dict(cursor.fetchall())
            cursor.execute("DROP TABLE new_unit, new_unitsource")
        return counts

    def _copy(self, drafts: Iterator[UnitDraft]) -> dict[str, int]:
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
            self._source.read_ahead()
            ids = new_ids("hits_unit", len(lines)) + ids
            self._copies.start(f"{self._prefix}_unit", _UNIT, lines)
            if sources:
                self._copies.start(f"{self._prefix}_unitsource", _SOURCE, sources)
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
