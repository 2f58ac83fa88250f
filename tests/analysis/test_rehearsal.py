import numpy as np
import pytest
from scipy import stats

from hits.analysis.errors import DegenerateInput
from hits.analysis.power import POWER, design_effect, judgments_to_tell
from hits.analysis.rehearsal import Design, rehearse

SMALL = Design(units=300, judgments=3, page_units=10, page_golds=2, people=20, bad_share=0.0)


def test_more_judgments_make_positives_better_and_bad_people_worse() -> None:
    one, three = (
        rehearse(Design(300, judgments, 10, 2, 20, bad_share=0.3), 1, runs=3)
        for judgments in (1, 3)
    )
    good = rehearse(SMALL, 1, runs=3)
    assert one.positives["precision"].mean < three.positives["precision"].mean
    assert three.positives["precision"].mean < good.positives["precision"].mean
    assert three.checked["precision"].mean > three.positives["precision"].mean
    assert good.rules["recall"].mean == 1


def test_the_same_seed_rehearses_alike_and_a_slower_crowd_takes_longer() -> None:
    first = rehearse(SMALL, 5, runs=2)
    assert first == rehearse(SMALL, 5, runs=2)
    slow = rehearse(Design(300, 3, 10, 2, 20, bad_share=0.0, seconds=16.0), 5, runs=2)
    assert slow.page_seconds.mean == pytest.approx(2 * first.page_seconds.mean)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"people": 2}, "2 people cannot give 3 judgments"),
        ({"units": 0}, "needs units"),
        ({"positives": 1.0}, "Shares lie between"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused(wrong: dict[str, float], why: str) -> None:
    given = {"units": 300, "judgments": 3, "page_units": 10, "page_golds": 2, "people": 20}
    with pytest.raises(DegenerateInput, match=why):
        Design(**given | wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("preference", "normal"), [(0.55, 783), (0.6, 194), (0.7, 47)])
def test_judgments_that_tell_two_apart_are_those_of_the_normal_formula_and_a_few_more(
    preference: float, normal: int
) -> None:
    """((1.96 / 2 + 0.8416 √(p (1 - p))) / (p - 1/2))², which the exact test needs somewhat more
    than, as it never rejects too often."""
    needed = judgments_to_tell(preference)
    assert normal <= needed <= 1.15 * normal + 5


def test_so_many_judgments_find_a_preference_as_often_as_wanted() -> None:
    n = judgments_to_tell(0.65)
    won = np.random.default_rng(1).binomial(n, 0.65, size=4000)
    p = 2 * np.minimum(stats.binom.cdf(won, n, 0.5), stats.binom.sf(won - 1, n, 0.5))
    assert stats.binomtest(int((p <= 0.05).sum()), 4000, POWER).proportion_ci(0.999).high > POWER


def test_judgments_of_one_unit_are_worth_less_than_of_many() -> None:
    assert design_effect(0.6, 1) == 1
    assert 1 < design_effect(0.6, 2) < design_effect(0.6, 8) < 8
    with pytest.raises(DegenerateInput, match="lies between a half and one"):
        judgments_to_tell(0.5)
