"""Agreement of judgments that come unit by unit and are too many to hold: from how often each
answer was given to each unit."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Agreement:
    """Krippendorff's alpha for nominal data, 1 − D_o / D_e, where
    D_o = Σ_u Σ_c n_uc (m_u − n_uc) / (m_u − 1) over units u with m_u ≥ 2 answers, and
    D_e = Σ_c n_c (n − n_c) / (n − 1) over those answers together (Krippendorff, Content Analysis,
    2019, ch. 12)."""

    units: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    observed: float = 0.0

    def add(self, distribution: Mapping[str, int]) -> None:
        given = sum(distribution.values())
        if given < 2:
            return
        self.units += 1
        for answer, count in distribution.items():
            if count:
                self.answers[answer] += count
                self.observed += count * (given - count) / (given - 1)

    @property
    def alpha(self) -> float | None:
        """None where no unit has two answers, or everybody gave the same one."""
        given = self.answers.total()
        expected = sum(count * (given - count) for count in self.answers.values())
        return 1 - self.observed * (given - 1) / expected if expected else None

    @property
    def alike(self) -> float | None:
        """The share of pairs of answers to one unit that are alike, each unit by its answers."""
        given = self.answers.total()
        return 1 - self.observed / given if given else None

    def as_json(self) -> dict[str, Any]:
        return {
            "units_with_two_answers": self.units,
            "krippendorff_alpha_nominal": _rounded(self.alpha),
            "answers_alike": _rounded(self.alike),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
