import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.alone import gold_record, page_golds, patterns, sides, times, variation
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.usual import Tail, usual
from hits.analysis.signals.work import NO_GOLD, Work
from tests.analysis.signals.making import of_people, the

RULES = Rules()


def golds_of_one(outcomes: list[int], page: int = 2) -> Work:
    return of_people([[0] * len(outcomes)], golds=[outcomes], page=page)


def test_a_page_is_raised_by_its_first_failed_gold() -> None:
    found = list(page_golds(golds_of_one([1, 1, 0, 1]), RULES))
    assert [(one.figure, one.is_raised) for one in found] == [(0, False), (1, True)]
    assert found[1].says == ("1 of 2 golds on this page failed; a page is raised from 1 on.")


def test_a_gold_record_is_the_exact_tail_at_the_tolerated_share() -> None:
    found = list(gold_record(golds_of_one([0, 0, 0, 1]), RULES))
    # P(X ≥ 3) of four at 0.1 = 4 · 0.001 · 0.9 + 0.0001 = 0.0037
    now = the(found, "person", 0)
    assert now.figure == 0.75
    assert now.doubt == pytest.approx(np.log(0.0037) / np.log(0.001))
    assert "3 failed" in now.says
    assert "once in 270" in now.says


def test_the_record_of_a_page_knows_nothing_of_later_pages() -> None:
    found = list(gold_record(golds_of_one([1, 1, 0, 0, 0, 0]), RULES))
    assert [the(found, "page", page).figure for page in range(3)] == [0, 0.5, 4 / 6]


def test_the_record_forgets_what_lies_before_its_window() -> None:
    rolling = Rules(gold_window=4)
    found = list(gold_record(golds_of_one([0] * 6 + [1] * 4), rolling))
    assert the(found, "person", 0).doubt == 0
    assert the(found, "page", 2).is_raised


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40), st.data())
def test_one_more_failure_never_lowers_the_doubt(outcomes: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(outcomes) - 1))
    worse = [*outcomes[:place], 0, *outcomes[place + 1 :]]
    longer = [*outcomes, 0]
    before, changed, added = (
        the(list(gold_record(golds_of_one(each), RULES)), "person", 0).doubt
        for each in (outcomes, worse, longer)
    )
    assert changed >= before - 1e-12
    assert added >= before - 1e-12


def test_a_study_without_golds_says_so() -> None:
    with pytest.raises(DegenerateInput, match="no golds"):
        list(gold_record(of_people([[0, 1]]), RULES))


def test_what_is_usual_stays_where_most_people_are() -> None:
    rng = np.random.default_rng(0)
    found = usual(
        np.concatenate([rng.normal(5, 1, 140), rng.normal(-5, 1, 60)]), fewest=8, least=0.02
    )
    assert found.centre == pytest.approx(5, abs=0.3)
    assert found.spread == pytest.approx(1, abs=0.2)


def test_what_is_usual_is_not_told_from_few_people() -> None:
    with pytest.raises(DegenerateInput, match="from 7 people"):
        usual(np.arange(7.0), fewest=8, least=0.02)


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.integers(1, 5), st.data())
def test_a_count_is_raised_exactly_from_the_share_needed_on(
    of: int, rate: float, tries: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, of))
    tail = Tail(count, of, rate, tries)
    assert (tail.doubt(0.001) >= 1) == (count / of >= tail.share_needed(0.001) - 1e-12)


def paced(medians: list[float], devices: list[int] | None = None) -> Work:
    spread = np.exp(np.linspace(-0.5, 0.5, 21))
    return of_people(
        [[0] * 21 for _ in medians],
        page=21,
        seconds=[list(median * spread) for median in medians],
        devices=devices,
    )


USUAL_PACES = [7.0, 7.5, 8.0, 8.0, 8.5, 9.0, 9.5, 10.0, 10.5, 11.0]


def test_a_person_far_faster_than_the_others_is_raised_and_told_the_seconds() -> None:
    found = list(times(paced([*USUAL_PACES, 1.0]), RULES))
    fast = the(found, "person", 10)
    assert fast.is_raised
    assert fast.figure < fast.threshold == -3
    assert fast.says.startswith("A judgment took 1.0 s in the middle, where people on the same")
    assert not any(one.is_raised for one in found if one.key != 10)


def test_times_are_held_to_the_same_device() -> None:
    phones = [4 * pace for pace in USUAL_PACES]
    devices = [0] * 10 + [1] * 10
    together = [*USUAL_PACES, *phones]
    found = list(times(paced([*together, 4.0], [*devices, 1]), RULES))
    assert the(found, "person", 20).is_raised
    found = list(times(paced([*together, 8.0], [*devices, 0]), RULES))
    assert not the(found, "person", 20).is_raised


def test_a_device_that_few_use_is_held_to_everybody() -> None:
    found = list(times(paced([*USUAL_PACES, 1.0], [0] * 10 + [1]), RULES))
    assert the(found, "person", 10).is_raised


@given(st.floats(0.5, 20))
def test_the_unit_of_time_changes_nothing(factor: float) -> None:
    paces = [*USUAL_PACES, 2.0]
    plain = list(times(paced(paces), RULES))
    scaled = list(times(paced([pace * factor for pace in paces]), RULES))
    assert [one.figure for one in scaled] == pytest.approx([one.figure for one in plain], abs=1e-6)


def test_no_time_at_all_is_too_fast() -> None:
    found = list(times(paced([*USUAL_PACES, 0.0]), RULES))
    assert the(found, "person", 10).is_raised


def test_a_study_without_times_says_so() -> None:
    with pytest.raises(DegenerateInput, match="No times"):
        list(times(of_people([[0, 1]]), RULES))


def test_always_the_same_answer_is_too_little_variation() -> None:
    varied = [[0, 1] * 15 for _ in range(9)]
    found = list(variation(of_people([*varied, [1] * 30]), RULES))
    alike = the(found, "person", 9)
    # Two answers, each given half of the time by the others: 2 · 0.5³⁰.
    assert alike.doubt == pytest.approx(np.log(2 * 0.5**30) / np.log(0.001))
    assert alike.figure == 1
    assert not any(one.is_raised for one in found if one.key != 9)


def test_a_common_answer_given_as_often_as_by_others_is_not_raised() -> None:
    found = list(variation(of_people([[0] * 28 + [1] * 2 for _ in range(10)]), RULES))
    assert not any(one.is_raised for one in found)


def test_a_slider_left_in_one_place_is_too_little_variation() -> None:
    rng = np.random.default_rng(1)
    moved = [list(rng.uniform(0, 5, 30)) for _ in range(9)]
    stuck = list(rng.uniform(2.45, 2.55, 30))
    found = list(variation(of_people([*moved, stuck], level="interval"), RULES))
    assert [one.key for one in found if one.is_raised] == [9]


def test_variation_is_not_told_where_all_judgments_are_alike() -> None:
    with pytest.raises(DegenerateInput, match="alike"):
        list(variation(of_people([[0] * 30 for _ in range(10)]), RULES))


@pytest.mark.parametrize(("cycle", "distance"), [([0, 1], 2), ([0, 1, 2], 3), ([2, 0, 1, 3], 4)])
def test_a_cycle_is_found_at_its_length(cycle: list[int], distance: int) -> None:
    answers = [cycle[place % len(cycle)] for place in range(60)]
    (found,) = patterns(of_people([answers], page=20), RULES)
    assert found.is_raised
    positions = f"The answer {distance} positions later is the same in {60 - 3 * distance} of"
    assert found.says.startswith(positions)


def test_long_runs_are_a_pattern() -> None:
    answers = ([0] * 10 + [1] * 10) * 3
    (found,) = patterns(of_people([answers], page=20), RULES)
    assert found.is_raised
    assert "1 position later is the same in 54 of 57 cases" in found.says


def test_a_cycle_s_distance_from_chance_is_that_of_the_formula() -> None:
    (found,) = patterns(of_people([[0, 1] * 20], page=40), RULES)
    # 38 pairs, all alike, a half of them by chance, at equal shares: (38 - 19 - 0.5) / √9.5.
    assert found.figure == pytest.approx(18.5 / np.sqrt(9.5))


def test_always_the_same_answer_is_no_pattern() -> None:
    assert list(patterns(of_people([[1] * 40], page=20), RULES)) == []


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.15, 0.15, 0.25, 0.45]])
def test_answers_by_chance_are_hardly_ever_a_pattern(shares: list[float]) -> None:
    rng = np.random.default_rng(2)
    people = [list(rng.choice(len(shares), 100, p=shares)) for _ in range(500)]
    raised = sum(one.is_raised for one in patterns(of_people(people, page=20), RULES))
    assert raised <= 5


def test_sides_are_the_exact_test_of_both() -> None:
    chosen = [0] * 19 + [1] * 6
    (found,) = sides(of_people([[0] * 25], sides=[chosen], places=2), RULES)
    exact = stats.binomtest(19, 25, 0.5).pvalue
    assert found.doubt == pytest.approx(np.log(exact) / np.log(0.001))
    assert not found.is_raised
    assert found.says.startswith("19 of 25 choices stood in place 1 of 2, where 12 are")


def test_a_favourite_place_among_three_is_raised() -> None:
    (found,) = sides(of_people([[0] * 30], sides=[[2] * 30], places=3), RULES)
    assert found.doubt == pytest.approx(np.log(3 * (1 / 3) ** 30) / np.log(0.001))


def test_few_choices_say_nothing_of_sides() -> None:
    work = of_people([[0] * 19], sides=[[0] * 19], places=2)
    assert list(sides(work, RULES)) == []


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"sides": [[0, 3]], "places": 2}, "one of the places"),
        ({"sides": [[0, 0]], "places": 0}, "one of the places"),
        ({"seconds": [[1, -1]]}, "from 0 on"),
        ({"seconds": [[1, float("inf")]]}, "from 0 on"),
        ({"golds": [[NO_GOLD]]}, "differ in length"),
    ],
)
def test_work_that_cannot_be_is_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(DegenerateInput, match=why):
        of_people([[0, 1]], **wrong)  # type: ignore[arg-type]


def test_a_page_of_two_people_is_refused() -> None:
    two = np.array([0, 1])
    with pytest.raises(DegenerateInput, match="two people"):
        Work.of(units=two, people=two, pages=two * 0, positions=two, values=two.astype(float))


@pytest.mark.parametrize(
    "wrong",
    [{"level": 0.0}, {"fast_spreads": -1.0}, {"fewest_people": 2}, {"page_golds": 0}],
)
def test_rules_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(DegenerateInput):
        Rules(**wrong)  # type: ignore[arg-type]
