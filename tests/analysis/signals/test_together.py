import numpy as np
import pytest

from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.together import (
    confirmation,
    copies,
    disagreement,
    pairs_of_people,
    reliability,
)
from tests.analysis.signals.making import of_people, the

RULES = Rules()


def right_but_for(rng: np.random.Generator, truth: list[int], errors: float) -> list[float]:
    return [float((true + 1) % 3) if rng.random() < errors else float(true) for true in truth]


def crowd_of(errors: list[float], units: int = 60) -> list[list[float]]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, units).tolist()
    return [right_but_for(rng, truth, each) for each in errors]


def test_disagreement_is_the_share_of_the_others_who_answered_otherwise() -> None:
    few = Rules(fewest_judgments=2, fewest_people=3)
    found = list(disagreement(of_people([[0, 0], [0, 0], [0, 1]]), few))
    assert [the(found, "person", person).figure for person in range(3)] == [0.25, 0.25, 0.5]


def test_disagreement_of_numbers_is_the_distance_from_the_others_mean() -> None:
    few = Rules(fewest_judgments=2, fewest_people=3)
    found = list(disagreement(of_people([[0, 0], [0, 0], [3, 3]], level="interval"), few))
    # Person 2 lies 3 from the mean 0; the standard deviation of 0, 0, 3 is √2.
    assert the(found, "person", 2).figure == pytest.approx(3 / np.sqrt(2))
    assert the(found, "person", 0).figure == pytest.approx(1.5 / np.sqrt(2))


def test_ordered_answers_disagree_the_more_the_further_they_lie_apart() -> None:
    few = Rules(fewest_judgments=2, fewest_people=3)
    answers = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 1, 2], [2, 1, 2]]
    found = list(disagreement(of_people(answers, level="ordinal"), few))
    near, far = (the(found, "person", person).figure for person in (3, 4))
    assert near < far


def test_whoever_disagrees_far_more_than_others_is_raised_on_every_page() -> None:
    found = list(disagreement(of_people(crowd_of([0.1] * 9 + [0.95]), page=30), RULES))
    assert {(one.subject, one.key) for one in found if one.is_raised} == {
        ("person", 9),
        ("page", 18),
        ("page", 19),
    }


def test_golds_do_not_count_as_agreement() -> None:
    few = Rules(fewest_judgments=1, fewest_people=3)
    work = of_people([[0, 0], [0, 0], [0, 1]], golds=[[1, -1], [1, -1], [1, -1]])
    found = list(disagreement(work, few))
    assert the(found, "person", 2).figure == the(found, "page", 2).figure == 1


def test_one_judgment_apart_is_not_enough_to_raise_a_page() -> None:
    answers = [[*own, 0.0] for own in crowd_of([0.1] * 9)]
    lone = of_people([*answers, [0.0] * 60 + [2.0]], page=60)
    alone = [one for one in disagreement(lone, RULES) if one.figure == 1]
    assert [(one.subject, one.key, one.is_raised) for one in alone] == [("page", 19, False)]


@pytest.mark.parametrize("signal", [disagreement, copies, reliability])
def test_one_judgment_a_unit_is_refused_in_words(signal: object) -> None:
    work = of_people([[0, 1], [1, 0]], units=[[0, 1], [2, 3]])
    with pytest.raises(DegenerateInput, match="Every unit has one judgment"):
        list(signal(work, RULES))  # type: ignore[operator]


def test_pairs_share_what_both_judged_and_are_alike_where_both_said_the_same() -> None:
    work = of_people([[0, 1, 2], [0, 1, 0], [5, 2]], units=[[0, 1, 2], [0, 1, 2], [7, 2]])
    pairs = pairs_of_people(work)
    rows = zip(pairs.first, pairs.second, pairs.shared, pairs.same, strict=True)
    assert [tuple(map(int, row)) for row in rows] == [(0, 1, 3, 2), (0, 2, 1, 1), (1, 2, 1, 0)]


def test_two_who_give_one_answer_sheet_are_raised_and_named_to_each_other() -> None:
    answers = crowd_of([0.15] * 9 + [0.6])
    found = list(copies(of_people([*answers, answers[9]]), RULES))
    assert {(one.key, one.other) for one in found if one.is_raised} == {(9, 10), (10, 9)}
    assert the(found, "person", 9).says.startswith("60 of the 60 answers on units shared with one")


def test_careful_people_who_agree_are_not_taken_for_copies() -> None:
    found = list(copies(of_people(crowd_of([0.05] * 10)), RULES))
    assert not any(one.is_raised for one in found)


def test_two_who_share_few_units_are_not_compared() -> None:
    with pytest.raises(DegenerateInput, match="No two people share 10 units"):
        list(copies(of_people([[0.0] * 9, [0.0] * 9]), RULES))


def test_reliability_is_one_for_the_right_nothing_for_the_blind_negative_for_the_inverted() -> None:
    truth = [0.0, 1.0] * 30
    people = [truth] * 8 + [[0.0] * 60, [1 - true for true in truth]]
    found = list(reliability(of_people(people), RULES))
    kappas = [the(found, "person", person).figure for person in (0, 8, 9)]
    assert kappas == pytest.approx([1, 0, -1], abs=1e-6)
    assert [one.key for one in found if one.is_raised] == [8, 9]


def test_numbers_have_no_reliability_of_dawid_and_skene() -> None:
    with pytest.raises(DegenerateInput, match="for names"):
        list(reliability(of_people([[0.5], [0.7]], level="interval"), RULES))


def test_work_that_a_later_stage_refuses_is_raised() -> None:
    usual, refused = [1] * 27 + [0] * 3, [1] * 10 + [0] * 20
    work = of_people([[0] * 30] * 10, confirmed=[usual] * 9 + [refused])
    found = list(confirmation(work, RULES))
    assert [one.key for one in found if one.is_raised] == [9]
    assert "20 of 30 judgments were not confirmed" in the(found, "person", 9).says


def test_confirmation_is_not_told_before_a_later_stage() -> None:
    with pytest.raises(DegenerateInput, match="No later stage"):
        list(confirmation(of_people([[0, 1]]), RULES))


def test_confirmation_of_few_people_says_how_few() -> None:
    work = of_people([[0] * 20], confirmed=[[1] * 20])
    with pytest.raises(DegenerateInput, match="Only 1 person has 20 judgments"):
        list(confirmation(work, RULES))
