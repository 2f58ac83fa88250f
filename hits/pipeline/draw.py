"""Draw: bind open units to a person, as one page, in one transaction.

Every pool is a ring of units ordered by a seeded key, and each person has a cursor on it: the
next page is read from an index behind the cursor, past units that others hold at this moment,
and costs the same on the first day and the last. A page takes the rows of its units in the
order of their keys, as every other change of their counts does.
"""

import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.db import transaction
from django.utils import timezone

from hits.models import Account, Assignment, Person, Study
from hits.pipeline import limits, training
from hits.pipeline.errors import Closed, NotAllowed, NothingLeft
from hits.pipeline.rules import rules_of
from hits.pipeline.statements import row, rows
from hits.protocol import protocol

RING = 2**63
AGREE_FIRST = "Read the information of this study and agree to it first."
JOINED = "Two of your accounts have just been joined. Please try again."

# Asked once the person is locked, so that nothing of it changes before the page is drawn.
_STANDING = """
    SELECT
        (SELECT min(a.id) FROM hits_assignment a
         WHERE a.study_id = %(study)s AND a.person_id = %(person)s
           AND a.account_id = %(account)s AND a.state = 'open' AND a.lease_until > now()),
        EXISTS (SELECT 1 FROM hits_consent c
                JOIN hits_participation p ON p.id = c.participation_id
                JOIN hits_studyversion v ON v.id = c.version_id
                WHERE p.study_id = %(study)s AND p.person_id = %(person)s
                  AND c.withdrawn_at IS NULL AND v.number >= %(consent_number)s),
        EXISTS (SELECT 1 FROM hits_exclusion e
                JOIN hits_participation p ON p.person_id = %(person)s AND p.started_at IS NOT NULL
                WHERE (e.study_id = %(study)s AND e.other_id = p.study_id)
                   OR (e.other_id = %(study)s AND e.study_id = p.study_id))
"""
_UNSEEN = """
    FROM hits_unit u
    WHERE u.study_id = %(study)s AND u.pool = %(pool)s AND u.is_open
      AND u.order_key > %(after)s AND u.order_key <= %(until)s
      AND NOT EXISTS (
          SELECT 1 FROM hits_slot s WHERE s.unit_id = u.id AND s.person_id = %(person)s)
      AND u.id <> ALL (%(taken)s::bigint[])
"""
_NEXT = "ORDER BY u.order_key LIMIT %(count)s"
# A gold that was promoted from a unit asks the same: who had the one is not asked the other.
_LOOK = f"""
    SELECT u.id, u.order_key, u.payload, floor(random() * 2)::int
    {_UNSEEN.replace("s.unit_id = u.id", "s.unit_id IN (u.id, u.promoted_from_id)")}
      AND coalesce(u.promoted_from_id, 0) <> ALL (%(taken)s::bigint[])
    {_NEXT}
"""
_HOLD_ANY = f"""
    WITH picked AS (
        SELECT u.id {_UNSEEN}
          AND NOT EXISTS (
              SELECT 1 FROM hits_unit g
              LEFT JOIN hits_slot s ON s.unit_id = g.id AND s.person_id = %(person)s
              WHERE g.promoted_from_id = u.id
                AND (s.id IS NOT NULL OR g.id = ANY (%(taken)s::bigint[])))
        {_NEXT} FOR NO KEY UPDATE OF u)
    UPDATE hits_unit u SET held = held + 1 FROM picked WHERE u.id = picked.id
    RETURNING u.id, u.order_key, u.payload, u.held + u.counted
"""
_HOLD_FREE = _HOLD_ANY.replace("UPDATE OF u", "UPDATE OF u SKIP LOCKED")


@dataclass(frozen=True, slots=True)
class Drawn:
    unit_id: int
    order_key: int
    payload: str
    asked_before: int

    @property
    def turn(self) -> int:
        """Grows by one with everybody who is asked, and begins anywhere."""
        return (self.order_key + self.asked_before) % 2**31


_LOCK = """
    SELECT a.cursors, a.excluded_reason, a.started_at IS NOT NULL, a.qualified_at IS NOT NULL,
           p.same_as_id
    FROM hits_participation a JOIN hits_person p ON p.id = a.person_id
    WHERE a.study_id = %(study)s AND a.person_id = %(person)s
    FOR NO KEY UPDATE OF p, a
"""
_PLACE = """
    WITH page AS (
        INSERT INTO hits_assignment (
            key, study_id, version_id, account_id, person_id, state, seed, drawn_at, lease_until,
            is_training)
        VALUES (%(key)s, %(study)s, %(version)s, %(account)s, %(person)s, 'open', %(seed)s,
                %(now)s, %(lease_until)s, %(is_training)s)
        RETURNING id),
    slots AS (
        INSERT INTO hits_slot (assignment_id, person_id, state, unit_id, position, shown)
        SELECT page.id, %(person)s, 'held', s.unit_id, s.position, s.shown
        FROM page, unnest(%(units)s::bigint[], %(shown)s::text[]::jsonb[])
            WITH ORDINALITY AS s (unit_id, shown, position)),
    moved AS (
        UPDATE hits_participation
        SET cursors = %(cursors)s, started_at = coalesce(started_at, %(started_at)s)
        WHERE study_id = %(study)s AND person_id = %(person)s)
    SELECT id FROM page
"""


@dataclass(frozen=True, slots=True)
class _Participation:
    cursors: dict[str, int]
    excluded_reason: str
    has_started: bool
    has_qualified: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a person stands in a study."""

    open_page_id: int | None
    has_agreed: bool
    is_kept_out: bool


@transaction.atomic
def draw(*, study: Study, account: Account) -> Assignment:
    """The page this account has open, or else a new one."""
    participation = _lock_participation(study, account)
    standing = _standing(study, account)
    if standing.open_page_id is not None:
        return Assignment.objects.get(pk=standing.open_page_id)
    _may_work(study, participation, standing)
    deal = _deal(study, account, participation)
    assert study.version is not None
    lease = timedelta(minutes=study.version.lease_minutes)
    return _place(study, account, deal, lease_until=timezone.now() + lease)


@transaction.atomic
def draw_for_ticket(
    *, study: Study, account: Account, lease_until: datetime, may_hold: bool
) -> Assignment:
    """A new page for somebody who accepted a HIT, and whom it owes one: what they would be given
    in the house if it may hold units, else golds that this person has not seen, else no slots."""
    participation = _lock_participation(study, account)
    standing = _standing(study, account)
    if not standing.has_agreed:
        raise NotAllowed(AGREE_FIRST)
    deal = None
    if may_hold:
        with suppress(Closed, NotAllowed, NothingLeft):
            _may_work(study, participation, standing)
            deal = _deal(study, account, participation)
    if deal is None:
        hand = _Hand(study, account, participation)
        deal = _Deal(hand, _only_golds(hand, _size_of_a_page(study)), judges=False)
    return _place(study, account, deal, lease_until=lease_until)


def _lock_participation(study: Study, account: Account) -> _Participation:
    """The person is locked, and first: two requests of one person never pass the same check."""
    found = row(_LOCK, {"study": study.pk, "person": account.person_id})
    if found is None:
        if Person.objects.filter(pk=account.person_id, same_as__isnull=False).exists():
            raise Closed(JOINED)
        raise NotAllowed(AGREE_FIRST)
    cursors, *standing, same_as = found
    if same_as is not None:
        raise Closed(JOINED)
    return _Participation(json.loads(cursors), *standing)


def _standing(study: Study, account: Account) -> Standing:
    assert study.version is not None
    values = {
        "study": study.pk,
        "person": account.person_id,
        "account": account.pk,
        "consent_number": study.version.consent_number,
    }
    found = row(_STANDING, values)
    assert found is not None
    return Standing(*found)


def _may_work(study: Study, participation: _Participation, standing: Standing) -> None:
    if study.state != Study.State.OPEN:
        raise Closed("This study is not open at the moment.")
    if participation.excluded_reason:
        raise NotAllowed("You cannot take part in this study any more.")
    if not standing.has_agreed:
        raise NotAllowed(AGREE_FIRST)
    if standing.is_kept_out:
        raise NotAllowed("You have worked in a study that rules this one out.")


class _Hand:
    """Takes units out of a study's pools for one person, and moves the person's cursors."""

    def __init__(self, study: Study, account: Account, participation: _Participation) -> None:
        self.study = study
        self.person_id = account.person_id
        self.cursors = dict(participation.cursors)
        self.taken: set[int] = set()

    def hold(self, pool: str, count: int) -> list[Drawn]:
        """Open units, held for this person, in one order for everybody, so that units get
        complete early. It waits for units that others are taking only when it found none, and
        only from the first on while it holds nothing, so that nobody waits for it meanwhile."""
        found = self._around(_HOLD_FREE, pool, count, self.cursors.get(pool, -1))
        if found or self.taken:
            return found
        return self._around(_HOLD_ANY, pool, count, -1)

    def golds(self, pool: str, count: int) -> list[Drawn]:
        """Golds start elsewhere for everybody, so that all of them are asked."""
        anywhere = ring_position(self.study.seed, f"{pool}/{self.person_id}")
        return self._around(_LOOK, pool, count, self.cursors.get(pool, anywhere))

    def _around(self, statement: str, pool: str, count: int, start: int) -> list[Drawn]:
        found = self._between(statement, pool, count, start, RING - 1)
        if len(found) < count:
            found += self._between(statement, pool, count - len(found), -1, start)
        if found:
            self.cursors[pool] = found[-1].order_key
            self.taken.update(drawn.unit_id for drawn in found)
        return found

    def _between(
        self, statement: str, pool: str, count: int, after: int, until: int
    ) -> list[Drawn]:
        values = {
            "study": self.study.pk,
            "pool": pool,
            "person": self.person_id,
            "taken": list(self.taken),
            "after": after,
            "until": until,
            "count": count,
        }
        found = [Drawn(*each) for each in rows(statement, values)]
        return sorted(found, key=lambda drawn: drawn.order_key)


def ring_position(seed: int, name: str) -> int:
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


@dataclass(frozen=True, slots=True)
class _Deal:
    """What goes on a page. Only who judges units has started in the study, which rules out
    others."""

    hand: _Hand
    drawn: list[Drawn]
    judges: bool = True
    is_training: bool = False


def _deal(study: Study, account: Account, participation: _Participation) -> _Deal:
    """A training page for whoever has to qualify, else units to judge."""
    version = study.version
    assert version is not None
    hand = _Hand(study, account, participation)
    if training.is_due(
        version, has_qualified=participation.has_qualified, has_started=participation.has_started
    ):
        training.refuse_without_tries(version=version, person_id=hand.person_id)
        drawn = _only_golds(hand, version.training_units)
        if len(drawn) < version.training_units:
            message = training.NO_GOLDS_LEFT.format(person=hand.person_id)
            raise training.NotQualified(message)
        return _Deal(hand, drawn, judges=False, is_training=True)
    drawn = _compose(hand, limits.refuse_over(version=version, person_id=hand.person_id))
    if not drawn:
        raise NothingLeft("There is nothing left for you in this study at the moment.")
    return _Deal(hand, drawn)


def _compose(hand: _Hand, most: int) -> list[Drawn]:
    """Units to judge, golds, and whatever fills the page up to its size, which is smaller for a
    person who may have fewer units than a page has."""
    kind, settings = rules_of(hand.study)
    (judged_pool, judged_count), *golds = kind.composition(settings).items()
    judged_count = min(judged_count, most)
    size = judged_count + sum(count for _, count in golds)
    drawn = hand.hold(judged_pool, judged_count)
    if not drawn:
        return []
    units = len(drawn)
    for pool, count in golds:
        if count:
            drawn += hand.golds(pool, count)
    gold_pools = [pool for pool, _ in golds]
    for pool in kind.fill(settings):
        short = size - len(drawn)
        if short > 0 and pool in gold_pools:
            drawn += hand.golds(pool, short)
        elif short > 0 and units < most:
            more = hand.hold(pool, min(short, most - units))
            units += len(more)
            drawn += more
    return drawn


def _size_of_a_page(study: Study) -> int:
    kind, settings = rules_of(study)
    return sum(kind.composition(settings).values())


def _only_golds(hand: _Hand, size: int) -> list[Drawn]:
    """So many golds, from each of their pools alike where they last."""
    kind, settings = rules_of(hand.study)
    pools = list(kind.composition(settings))[1:]
    drawn: list[Drawn] = []
    for left, pool in zip(range(len(pools), 0, -1), pools, strict=True):
        drawn += hand.golds(pool, -(-(size - len(drawn)) // left))
    for pool in pools:
        if len(drawn) < size:
            drawn += hand.golds(pool, size - len(drawn))
    return drawn


def _place(study: Study, account: Account, deal: _Deal, *, lease_until: datetime) -> Assignment:
    """The page with its slots in an order by chance, and the person's cursors behind it."""
    assert study.version is not None
    drawn = deal.drawn
    seed = secrets.randbits(62)
    random = Random(seed)
    random.shuffle(drawn)
    kind = protocol(study.protocol)
    arranged = [kind.arrange(json.loads(unit.payload), unit.turn, random) for unit in drawn]
    now = timezone.now()
    page = Assignment(
        study=study,
        version=study.version,
        account=account,
        person_id=account.person_id,
        seed=seed,
        drawn_at=now,
        lease_until=lease_until,
        is_training=deal.is_training,
    )
    values = {
        "key": page.key,
        "study": study.pk,
        "version": study.version.pk,
        "account": account.pk,
        "person": account.person_id,
        "seed": seed,
        "now": now,
        "started_at": now if deal.judges else None,
        "lease_until": page.lease_until,
        "is_training": deal.is_training,
        "cursors": json.dumps(deal.hand.cursors),
        "units": [unit.unit_id for unit in drawn],
        "shown": [None if shown is None else json.dumps(shown) for shown in arranged],
    }
    placed = row(_PLACE, values)
    assert placed is not None
    page.pk = placed[0]
    page._state.adding = False
    return page
