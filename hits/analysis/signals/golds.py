"""Golds that good people fail: the gold may be wrong, not they."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

# Of other golds, before anybody is called good.
FEWEST_OTHERS = 3
# Good people, before a gold is doubted.
FEWEST_GOOD = 3


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """How a gold fared: with everybody, and with those who are good on all the other golds."""

    gold: int
    answered: int
    failed: int
    good_answered: int
    good_failed: int

    @property
    def share(self) -> float:
        return self.good_failed / self.good_answered if self.good_answered else 0.0

    def is_doubtful(self, from_share: float) -> bool:
        return self.good_answered >= FEWEST_GOOD and self.share >= from_share


def gold_records(answers: Iterable[tuple[int, int, bool]], *, tolerated: float) -> list[GoldRecord]:
    """From (gold, person, passed), the most doubtful first. A person is good, in view of a gold,
    who was asked three others or more and failed at most the tolerated share of those: the gold in
    question says nothing about whoever answered it."""
    by_gold: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    asked: dict[int, int] = defaultdict(int)
    failed: dict[int, int] = defaultdict(int)
    for gold, person, passed in answers:
        by_gold[gold].append((person, passed))
        asked[person] += 1
        failed[person] += not passed
    records = []
    for gold, given in by_gold.items():
        good = [
            passed
            for person, passed in given
            if asked[person] - 1 >= FEWEST_OTHERS
            and failed[person] - (not passed) <= tolerated * (asked[person] - 1)
        ]
        records.append(
            GoldRecord(
                gold,
                len(given),
                sum(not passed for _, passed in given),
                len(good),
                sum(not passed for passed in good),
            )
        )
    return sorted(records, key=lambda each: (-each.share, -each.good_answered, each.gold))
