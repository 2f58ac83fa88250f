"""Open: a draft study with its proposals becomes units, golds and a first version."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any, TypeVar

import orjson
from django.db import IntegrityError, connection, transaction
from django.db.models import Count
from django.utils import timezone
from psycopg2.errors import UniqueViolation
from pydantic import ValidationError

from hits.analysis.signals.settings import QualitySettings
from hits.models import (
    Corpus,
    Membership,
    Role,
    Study,
    StudyVersion,
    Unit,
    User,
)
from hits.pipeline.arrange import refuse_reserved
from hits.pipeline.chain import keep_apart
from hits.pipeline.copying import NULL, CopyBehind, analyze, cells, new_ids
from hits.pipeline.drafts import chosen_proposals, drafts_of, of_first_pages
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused, Stale, Taken
from hits.pipeline.plainly import plainly
from hits.pipeline.publish import follow_study
from hits.pipeline.rules import judged_pool, rules_of
from hits.pipeline.sources import GivenSource
from hits.pipeline.training import refuse_too_few_golds
from hits.protocol import Protocol, Source, protocol
from hits.records import Json, UnitDraft

INFORMATION = (
    "You are asked to answer questions about images and texts. Your answers are stored under a "
    "number, not under your name, and may be published as part of a dataset. You can stop at any "
    "time and withdraw your consent; pages that you have not submitted are then given back."
)

VERSIONED = (
    "settings", "wording", "information", "judgments_wanted", "lease_minutes", "pay",
    "expected_minutes", "most_units_a_person", "most_units_a_day", "training_units",
    "training_accuracy", "training_attempts", "quality",
)  # fmt: skip
PARTS = ("settings", "wording")
MOST_WORDS = 10_000
_IMAGE = re.compile(r"https://[^\s/]+/\S+|[\w-]+(/[\w.-]+)*/?[\w-]+\.(?:jpe?g|png|webp|gif)")
MOST_PAY = 100
TOO_MUCH_PAY = f"A page pays at most ${MOST_PAY}. Was it meant in cents?"
Tell = Callable[[int], None]
T = TypeVar("T")
BATCH = 2500
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
def change_version(
    *, study: Study, by: User, seen: int | None = None, **changes: Any
) -> StudyVersion:
    """A new version with these changes; pages drawn before keep the one they were done under.
    Settings and wording that are not named stay as they are.

    With `seen`, the version that somebody had before their eyes, a newer one stops them."""
    locked = (
        Study.objects.select_for_update(of=("self",)).select_related("version").get(pk=study.pk)
    )
    if Decimal(changes.get("pay") or 0) > MOST_PAY:
        raise Refused(TOO_MUCH_PAY)
    before = locked.version
    kind = protocol(locked.protocol)
    values = {name: value for name, value in changes.items() if value is not None}
    if before is not None:
        if seen is not None and seen != before.number:
            raise Stale(f"Version {before.number} was made meanwhile. Nothing is changed yet.")
        values = _changed(locked, before, values)
    try:
        values["settings"] = kind.settings_model.model_validate(
            values.get("settings", {})
        ).model_dump()
        values["wording"] = kind.wording_model.model_validate(
            values.get("wording", {})
        ).model_dump()
        values["quality"] = QualitySettings.model_validate(values.get("quality", {})).model_dump()
    except ValidationError as wrong:
        raise Refused(f"These settings cannot be used: {plainly(wrong)}") from None
    _refuse_unstorable(values)
    _refuse_other_options(kind, values["wording"])
    _refuse_bad_words(kind, values["wording"])
    number = 1 if before is None else before.number + 1
    same = before is not None and before.information == values["information"]
    version = StudyVersion.objects.create(
        study=locked,
        number=number,
        consent_number=before.consent_number if before is not None and same else number,
        created_by=by,
        **values,
    )
    if locked.state != Study.State.DRAFT:
        refuse_too_few_golds(version)
    asks_the_same = before is not None and all(
        getattr(before, part) == values[part] for part in PARTS
    )
    page_seconds = locked.page_seconds if asks_the_same else None
    Study.objects.filter(pk=locked.pk).update(version=version, page_seconds=page_seconds)
    study.version, study.page_seconds = version, page_seconds
    return version


def _changed(study: Study, before: StudyVersion, values: Json) -> Json:
    kept = {name: getattr(before, name) for name in VERSIONED}
    named = {part: {**kept[part], **values[part]} for part in PARTS if part in values}
    changed = kept | values | named
    is_made = study.state != Study.State.DRAFT
    if is_made and changed["judgments_wanted"] != before.judgments_wanted:
        raise Refused("How many judgments a unit gets was set when the units were made.")
    return changed


def _refuse_unstorable(values: Json) -> None:
    try:
        text = orjson.dumps([values[part] for part in PARTS])
    except TypeError:
        raise Refused("Settings and wording must be text that can be written down.") from None
    if b"\\u0000" in text:
        raise Refused("Settings and wording cannot hold a NUL.")


def _refuse_bad_words(kind: Protocol[Any, Any], wording: Json) -> None:
    """Nothing that people read is left blank or endless, and images come from where pages may
    load them."""
    for name, text in kind.wording_model().model_dump().items():
        if isinstance(text, str) and text and not wording[name].strip():
            raise Refused(f"The wording has no text for {name}.")
    for name, text in _texts_in(wording):
        if len(text) > MOST_WORDS:
            raise Refused(f"The wording of {name} has more than {MOST_WORDS:,} characters.")
        if name.endswith("image_url") and text and not _IMAGE.fullmatch(text):
            raise Refused(
                "The image of an example is an address that begins with https://, or a file of "
                "this site."
            )


def _texts_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for own, each in value.items():
            yield from _texts_in(each, str(own))
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each, name)


def _refuse_other_options(kind: Protocol[Any, Any], wording: Json) -> None:
    """Options can be worded anew, but none can be left out, added or left blank."""
    for name, options in kind.wording_model().model_dump().items():
        if not isinstance(options, dict):
            continue
        given = wording[name]
        for option in options.keys() - given.keys():
            raise Refused(f"The wording of {name} lacks the option {option!r}.")
        for option in given.keys() - options.keys():
            raise Refused(f"The wording of {name} has an option {option!r} that is not asked for.")
        for option, text in options.items():
            if isinstance(text, str) and text.strip() and not str(given[option]).strip():
                raise Refused(f"The wording of {name} has no text for the option {option!r}.")


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
    with GivenSource(study, chosen_proposals(study), copies, tell, left_out) as source, copies:
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
