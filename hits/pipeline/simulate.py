"""Simulate: fill an open study with the answers of a simulated crowd, by a file of judgments."""

import json
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from django.conf import settings as configured
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from hits.models import Account, Person, Slot, Study, Unit
from hits.models.imported import IMPORTED
from hits.pipeline import simulated
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.judgments import import_judgments
from hits.pipeline.people import account_at
from hits.pipeline.rules import rules_of
from hits.pipeline.simulated import Answering, Worker
from hits.pipeline.uploaded import Tell, silent

PAGES_AT_ONCE = 200
WEEK = timedelta(days=7)
BETWEEN_PAGES = timedelta(minutes=1)


class Page(NamedTuple):
    """The units of one go of one person, golds among them, in the order shown."""

    worker: int
    number: int
    units: Sequence[int]


def may_simulate(study: Study, *, among_people: bool = False) -> None:
    """Made-up answers must not get among those of people by mistake."""
    if study.state != Study.State.OPEN:
        raise Closed("Open the study first: a simulated crowd works in it like any other.")
    worked = study.participations.filter(pages_done__gt=0, person__is_simulated=False)
    if worked.exists() and not among_people:
        raise Refused(
            "People have worked in this study, and simulated answers do not belong among theirs: "
            "rehearse with a copy of it."
        )


def simulate_by_import(
    *,
    study: Study,
    people: int,
    seed: int = 0,
    bad_share: float = 0.1,
    wrong_golds: float = 0.0,
    among_people: bool = False,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Every open unit is judged as often as it wants, as far as there are people enough."""
    may_simulate(study, among_people=among_people)
    workers = simulated.crowd(people=people, seed=seed, bad_share=bad_share)
    answering = Answering(*rules_of(study), seed, wrong_golds=wrong_golds)
    seen = _known_here(study, workers)
    pages = list(_dealt(study, workers, seen, seed))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", dir=configured.DATA_DIR) as file:
        for number, line in enumerate(_lines(answering, workers, pages, seed), 1):
            file.write(line)
            if number % 1000 == 0:
                tell(number, message="Making up answers.")
        file.flush()
        called = f"simulated-{seed}.jsonl"
        return import_judgments(study=study, source=file.name, called=called, tell=tell)


@transaction.atomic
def _known_here(study: Study, workers: Sequence[Worker]) -> list[set[int]]:
    """The accounts of the crowd, marked for what they are; and which units each has had, as such or
    as a gold."""
    names = [f"{study.corpus_id}/{worker.name}" for worker in workers]
    for name in names:
        account_at(channel=IMPORTED, external_id=name)
    accounts = Account.objects.filter(channel=IMPORTED, external_id__in=names)
    people = dict(accounts.values_list("person_id", "external_id"))
    Person.objects.filter(pk__in=people).update(is_simulated=True)
    had: dict[str, set[int]] = {name: set() for name in names}
    slots = Slot.objects.filter(person__in=people, unit__study=study)
    for person, *units in slots.values_list("person_id", "unit_id", "unit__promoted_from"):
        had[people[person]].update(unit for unit in units if unit is not None)
    return [had[name] for name in names]


def _dealt(
    study: Study, workers: Sequence[Worker], seen: Sequence[set[int]], seed: int
) -> Iterator[Page]:
    """Open units in the order in which they are drawn, and golds, none twice to a person."""
    kind, settings = rules_of(study)
    (pool, size), *golds = kind.composition(settings).items()
    pending, by_pool = _open(study, pool), {each: _golds(study, each) for each, _ in golds}
    random = Random(seed)
    starts = [random.random() for _ in workers]
    able = list(range(len(workers)))
    done = [0] * len(workers)
    while pending and able:
        (who,) = random.choices(able, [workers[each].activity for each in able])
        units = _unseen(pending, seen[who], size)
        if not units:
            able.remove(who)
            continue
        seen[who].update(units)
        for each, count in golds:
            units += _next_golds(by_pool[each], starts[who], seen[who], count)
        random.shuffle(units)
        yield Page(who, done[who], units)
        done[who] += 1


def _open(study: Study, pool: str) -> deque[int]:
    """Each unit as often as it wants judgments, one round after the other."""
    units = Unit.objects.filter(study=study, pool=pool, is_open=True).order_by("order_key")
    left = list(units.values_list("pk", F("wanted") - F("held") - F("counted")))
    rounds = max((wanted for _, wanted in left), default=0)
    return deque(pk for turn in range(rounds) for pk, wanted in left if wanted > turn)


def _golds(study: Study, pool: str) -> list[tuple[int, int | None]]:
    """Each with the unit that it was promoted from."""
    golds = Unit.objects.filter(study=study, pool=pool, is_open=True, gold__isnull=False)
    return list(golds.order_by("order_key").values_list("pk", "promoted_from"))


def _unseen(pending: deque[int], seen: set[int], size: int) -> list[int]:
    taken: list[int] = []
    kept: list[int] = []
    while pending and len(taken) < size:
        unit = pending.popleft()
        (kept if unit in seen or unit in taken else taken).append(unit)
    pending.extendleft(reversed(kept))
    return taken


def _next_golds(
    golds: Sequence[tuple[int, int | None]], start: float, seen: set[int], count: int
) -> list[int]:
    """They are seen from then on, and so is what they were promoted from, which asks the same."""
    first = int(start * len(golds))
    around = (golds[(first + step) % len(golds)] for step in range(len(golds)))
    chosen = list(islice((each for each in around if seen.isdisjoint(each)), count))
    seen.update(number for each in chosen for number in each if number is not None)
    return [gold for gold, _ in chosen]


def _lines(
    answering: Answering, workers: Sequence[Worker], pages: Sequence[Page], seed: int
) -> Iterator[str]:
    last = [0] * len(workers)
    for page in pages:
        last[page.worker] = page.number
    clocks = _first_moments(workers, seed)
    for first in range(0, len(pages), PAGES_AT_ONCE):
        some = pages[first : first + PAGES_AT_ONCE]
        asked = {unit for page in some for unit in page.units}
        units = Unit.objects.select_related("promoted_from").in_bulk(asked)
        for page in some:
            worker = workers[page.worker]
            shown = [_asked(answering.kind, units[pk], page, seed) for pk in page.units]
            progress = page.number / max(1, last[page.worker])
            answers = answering.page(worker, shown, progress)
            clocks[page.worker] += timedelta(seconds=sum(each.seconds for each in answers))
            submitted = min(clocks[page.worker], timezone.now())
            clocks[page.worker] += BETWEEN_PAGES
            for unit, answer in zip(shown, answers, strict=True):
                yield _line(worker, page, unit, answer, submitted)


def _first_moments(workers: Sequence[Worker], seed: int) -> list[datetime]:
    """People come within a week."""
    random, since = Random(f"{seed}/moments"), timezone.now() - WEEK
    return [since + random.random() * WEEK for _ in workers]


def _asked(kind: Any, unit: Unit, page: Page, seed: int) -> simulated.Unit:
    turn = (unit.order_key + page.worker) % 2**31
    arranged = kind.arrange(unit.payload, turn, Random(f"{seed}/{page.worker}/{unit.key}"))
    return simulated.unit_of(unit, arranged)


def _line(
    worker: Worker, page: Page, unit: simulated.Unit, answer: simulated.Answer, at: datetime
) -> str:
    said = {
        **answer.fields,
        "worker": worker.name,
        "unit": unit.key,
        "page": str(page.number),
        "seconds": answer.seconds,
        "submitted_at": at.isoformat(),
    }
    return json.dumps(said | ({} if unit.shown is None else {"shown": unit.shown})) + "\n"
