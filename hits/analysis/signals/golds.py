"""Golds that good people fail: the gold may be wrong, not they."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, lgamma, log

# Of other golds, before anybody is called good.
FEWEST_OTHERS = 3
# People, before a gold is doubted.
FEWEST_PEOPLE = 3

Given = Mapping[int, list[tuple[int, bool]]]


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """How a gold fared: with everybody, and with those who are good on all the other golds.
    `usual` is the share that everybody fails of the others, and at least what is tolerated."""

    gold: int
    answered: int
    failed: int
    good_answered: int
    good_failed: int
    usual: float

    @property
    def share(self) -> float:
        return self.good_failed / self.good_answered if self.good_answered else 0.0

    def is_doubtful(self, from_share: float, level: float) -> bool:
        """Good people fail it; or most people do, and chance hardly explains it."""
        if self.good_answered >= FEWEST_PEOPLE and self.share >= from_share:
            return True
        by_chance = _chance(self.failed, self.answered, self.usual)
        return _most(self.failed, self.answered) and by_chance <= level

    def is_failed_often(self, from_share: float) -> bool:
        return self.answered > 1 and self.failed >= from_share * self.answered

    def why_not_doubted(self) -> str:
        """Of one that is failed often and not in doubt."""
        if self.good_answered < FEWEST_PEOPLE:
            return (
                f"It takes {FEWEST_PEOPLE} people who do well on {FEWEST_OTHERS} other golds or "
                f"more, and {self.good_answered or 'none'} of those who answered it "
                f"{'does' if self.good_answered < 2 else 'do'}."
            )
        return (
            f"Of those who do well on other golds only {self.good_failed} of "
            f"{self.good_answered} failed it."
        )


def gold_records(answers: Iterable[tuple[int, int, bool]], *, tolerated: float) -> list[GoldRecord]:
    """From (gold, person, passed), the most doubtful first. A person is good, in view of a gold,
    who was asked three others or more and failed at most the tolerated share of those: the gold in
    question says nothing about whoever answered it. Nor does failing what most people fail: where
    several golds are wrong, nobody would be good otherwise."""
    given: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for gold, person, passed in answers:
        given[gold].append((person, passed))
    failures = {gold: sum(not passed for _, passed in said) for gold, said in given.items()}
    answered, failed = sum(map(len, given.values())), sum(failures.values())
    people = _People(given, failures, tolerated)
    records = []
    for gold, said in given.items():
        good = [passed for person, passed in said if people.is_good(person, gold, passed)]
        others = answered - len(said)
        usual = (failed - failures[gold]) / others if others else 0.0
        records.append(
            GoldRecord(
                gold,
                len(said),
                failures[gold],
                len(good),
                good.count(False),
                max(tolerated, usual),
            )
        )
    return sorted(records, key=lambda each: (-each.share, -each.good_answered, each.gold))


class _People:
    """Who is good on all golds but one."""

    def __init__(self, given: Given, failures: Mapping[int, int], tolerated: float) -> None:
        self._tolerated = tolerated
        self._forgiven = {gold for gold, said in given.items() if _most(failures[gold], len(said))}
        self._asked: Counter[int] = Counter()
        self._failed: Counter[int] = Counter()
        for gold, said in given.items():
            for person, passed in said:
                if self._counts(gold, passed):
                    self._asked[person] += 1
                    self._failed[person] += not passed

    def is_good(self, person: int, but: int, passed: bool) -> bool:
        own = self._counts(but, passed)
        others = self._asked[person] - own
        failed = self._failed[person] - (own and not passed)
        return others >= FEWEST_OTHERS and failed <= self._tolerated * others

    def _counts(self, gold: int, passed: bool) -> bool:
        return passed or gold not in self._forgiven


def _most(failed: int, answered: int) -> bool:
    return answered >= FEWEST_PEOPLE and 2 * failed > answered


def _chance(failed: int, answered: int, rate: float) -> float:
    """The exact binomial probability of so many failures or more; without scipy, whose import
    would keep a reader of a page waiting."""
    if rate >= 1:
        return 1.0
    return sum(
        exp(
            lgamma(answered + 1)
            - lgamma(count + 1)
            - lgamma(answered - count + 1)
            + count * log(rate)
            + (answered - count) * log(1 - rate)
        )
        for count in range(failed, answered + 1)
    )
