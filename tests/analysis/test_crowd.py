import numpy as np
import pytest
from scipy import stats

from hits.analysis.behaviour import MANNERS, Kind
from hits.analysis.crowd import Settings, Simulated, simulate
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.work import NO_GOLD, PASSED

# One in a thousand for each of the figures below, whose seeds are fixed.
LEVEL = 0.999
EVERY_KIND = Settings(people=60, bad_share=0.6)


def rows_of(crowd: Simulated, kind: Kind) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([one == kind for one in crowd.kinds])[crowd.work.people]


def holds(count: int, of: int, share: float) -> bool:
    interval = stats.binomtest(count, of).proportion_ci(LEVEL, method="exact")
    return bool(interval.low <= share <= interval.high)


@pytest.mark.parametrize("kind", ["careful", "hasty"])
def test_golds_are_passed_as_often_as_set(kind: Kind) -> None:
    crowd = simulate(EVERY_KIND, 11)
    golds = rows_of(crowd, kind) & (crowd.work.golds != NO_GOLD)
    passed = int((crowd.work.golds[golds] == PASSED).sum())
    # Who looks passes; who does not is on the right half of four choices half of the time.
    attention = MANNERS[kind].attention
    assert holds(passed, int(golds.sum()), attention + (1 - attention) / 2)


def test_an_adversarial_person_fails_the_golds_that_they_invert() -> None:
    crowd = simulate(EVERY_KIND, 12)
    golds = rows_of(crowd, "adversarial") & (crowd.work.golds != NO_GOLD)
    passed = int((crowd.work.golds[golds] == PASSED).sum())
    manner = MANNERS["adversarial"]
    expected = (1 - manner.inverts) * (manner.attention + (1 - manner.attention) / 2)
    assert holds(passed, int(golds.sum()), expected)


def test_a_biased_person_s_favourite_side_is_taken_as_often_as_set() -> None:
    crowd = simulate(EVERY_KIND, 13)
    manner = MANNERS["biased"]
    work = crowd.work.kept(rows_of(crowd, "biased"))
    expected = 0.5 + (1 - manner.attention) * manner.favours / 2
    taken = [np.bincount(work.sides[work.people == one]).max() for one in np.unique(work.people)]
    assert holds(int(np.sum(taken)), len(work.sides), expected)


def test_colluding_people_give_one_answer_as_often_as_set() -> None:
    one_group = Settings(people=12, bad_share=0.5, group=2)
    crowd = simulate(one_group, 14)
    first, second = (place for place, kind in enumerate(crowd.kinds) if kind == "colluding")
    work = crowd.work
    answers = [
        dict(zip(work.units[own].tolist(), work.values[own].tolist(), strict=True))
        for own in (work.people == first, work.people == second)
    ]
    shared = answers[0].keys() & answers[1].keys()
    same = sum(answers[0][unit] == answers[1][unit] for unit in shared)
    copies = MANNERS["colluding"].copies
    assert same / len(shared) >= copies**2 - 3 * np.sqrt(copies**2 * (1 - copies**2) / len(shared))


@pytest.mark.parametrize("kind", ["careful", "hasty"])
def test_seconds_have_the_median_that_is_set(kind: Kind) -> None:
    at_desks = Settings(people=400, bad_share=0.5, units=3000, phones=0.0)
    crowd = simulate(at_desks, 15)
    own = crowd.work.kept(rows_of(crowd, kind))
    paces = [np.log(np.median(own.seconds[own.people == one])) for one in np.unique(own.people)]
    error = np.std(paces) / np.sqrt(len(paces))
    # Pauses move a median by about 2% of a judgment's spread.
    assert np.mean(paces) == pytest.approx(np.log(MANNERS[kind].seconds), abs=3.3 * error + 0.02)


def test_a_drifting_person_looks_less_page_by_page() -> None:
    crowd = simulate(EVERY_KIND, 16)
    drifting = [place for place, kind in enumerate(crowd.kinds) if kind == "drifting"]
    for person in drifting:
        pages = np.unique(crowd.work.pages[crowd.work.people == person])
        bad = crowd.bad_pages[pages].tolist()
        assert bad == sorted(bad)


def test_units_get_the_judgments_they_want_and_nobody_judges_one_twice() -> None:
    crowd = simulate(EVERY_KIND, 17)
    work = crowd.work.without_golds()
    assert (np.bincount(work.units) == EVERY_KIND.judgments).all()
    assert len(set(zip(work.units.tolist(), work.people.tolist(), strict=True))) == len(work.units)


def test_a_page_has_a_gold_that_is_a_yes_and_one_that_is_a_no() -> None:
    crowd = simulate(EVERY_KIND, 18)
    golds = crowd.work.kept(crowd.work.golds != NO_GOLD)
    for page in np.unique(golds.pages):
        assert sorted(crowd.truth[golds.units[golds.pages == page]]) == [0, 3]


def test_the_share_of_bad_people_is_as_set() -> None:
    crowd = simulate(Settings(bad_share=0.3), 19)
    assert sum(kind != "careful" for kind in crowd.kinds) == 18


def test_the_same_seed_gives_the_same_crowd() -> None:
    one, two = (simulate(Settings(), 20) for _ in range(2))
    assert (one.work.values == two.work.values).all()
    assert (one.work.seconds == two.work.seconds).all()


def test_a_crowd_too_small_for_its_units_is_refused() -> None:
    with pytest.raises(DegenerateInput, match="more people"):
        Settings(people=5, judgments=5)
