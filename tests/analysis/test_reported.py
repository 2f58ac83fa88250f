"""Tables of a report: known answers, and words where there is no answer."""

from random import Random
from typing import Any

import choix
import krippendorff
import numpy as np
import pytest

from hits.analysis import reported
from hits.analysis.agreement import Level
from hits.analysis.tables.agreed import agreement_table
from hits.analysis.tables.compared import comparison_tables
from hits.analysis.tables.intervals import (
    FEWEST_REPLICATES,
    MOST_REPLICATES,
    replicates_for,
)
from hits.analysis.tables.scored import score_tables
from hits.protocol import Report
from hits.records import Cell, Option, Said, Table, Tallied

CHOICES = [Option(value, value.upper(), "") for value in ("yes", "partly", "no")]
ORDERED = Tallied("choice", "Does it fit?", CHOICES, is_ordered=True)
NOMINAL = Tallied("choice", "Which?", CHOICES)
NUMBER = Tallied("score", "How alike?", low=0, high=5)


def said(unit: str, person: int, answer: dict[str, Any], **values: Any) -> Said:
    return Said(unit, values.pop("about", {}), values.pop("wanted", 1), person, answer, **values)


def column(table: Table, name: str) -> list[Cell]:
    place = [each.name for each in table.columns].index(name)
    return [row[place] for row in table.rows]


def figures(table: Table) -> dict[Cell, Cell]:
    return dict(zip(column(table, "Figure"), column(table, "Value"), strict=True))


def rated(field: str, values: list[list[Any]]) -> list[Said]:
    """People in rows, units in columns."""
    return [
        said(f"u{unit}", person, {field: value})
        for person, line in enumerate(values)
        for unit, value in enumerate(line)
        if value is not None
    ]


@pytest.mark.parametrize(
    ("asked", "level", "name"),
    [
        (ORDERED, "ordinal", "Krippendorff’s alpha, ordinal"),
        (NOMINAL, "nominal", "Krippendorff’s alpha, nominal"),
    ],
)
def test_alpha_of_choices_is_that_of_the_krippendorff_package(
    asked: Tallied, level: Level, name: str
) -> None:
    codes: list[list[float]] = [[0, 1, 2, 2, 0, 1], [0, 1, 1, 2, 0, 2], [0, 2, 2, np.nan, 0, 1]]
    names = [option.value for option in CHOICES]
    values = [[None if np.isnan(each) else names[int(each)] for each in line] for line in codes]
    table = agreement_table(rated("choice", values), [asked], compares=False)
    expected = krippendorff.alpha(np.array(codes), level_of_measurement=level)
    assert figures(table)[name] == pytest.approx(expected)


def test_numbers_are_compared_as_numbers() -> None:
    values = [[0.5, 2.0, 4.5, 3.0], [1.0, 2.5, 4.0, 3.5], [0.0, 1.5, 5.0, 3.0]]
    table = agreement_table(rated("score", values), [NUMBER], compares=False)
    expected = krippendorff.alpha(np.array(values), level_of_measurement="interval")
    found = figures(table)
    assert found["Krippendorff’s alpha, interval"] == pytest.approx(expected)
    table_of_people = np.array(values)
    others = [np.delete(table_of_people, person, axis=0).mean(axis=0) for person in range(3)]
    each = [np.corrcoef(own, rest)[0, 1] for own, rest in zip(table_of_people, others, strict=True)]
    assert found["One against the rest, mean correlation"] == pytest.approx(np.mean(each))


def test_units_with_one_judgment_have_no_agreement_and_the_table_says_so() -> None:
    table = agreement_table(rated("choice", [["yes", "no"]]), [ORDERED], compares=False)
    assert column(table, "Value") == [None]
    assert "Every unit has one judgment" in str(column(table, "Remark")[0])


def test_kappa_says_why_it_is_missing_where_alpha_is_not() -> None:
    values: list[list[Any]] = [["yes", "no", "no"], ["yes", "no", "yes"], ["yes", None, "no"]]
    table = agreement_table(rated("choice", values), [NOMINAL], compares=False)
    assert figures(table)["Krippendorff’s alpha, nominal"] is not None
    assert figures(table)["Fleiss’ kappa"] is None
    assert any("same number of judgments" in str(remark) for remark in column(table, "Remark"))


def test_several_answers_to_one_question_are_not_compared() -> None:
    asked = Tallied("reasons", "Why?", CHOICES)
    answers = [said("u", person, {"reasons": ["yes", "no"]}) for person in (1, 2)]
    table = agreement_table(answers, [asked], compares=False)
    assert "Several answers" in str(column(table, "Remark")[0])


def test_each_thing_that_is_rated_is_a_unit_of_its_own() -> None:
    asked = Tallied("ratings", "How prominent?", CHOICES, is_ordered=True)
    answers = [
        said("u", 1, {"ratings": {"a": "yes", "b": "no"}}),
        said("u", 2, {"ratings": {"a": "yes", "b": "partly"}}),
    ]
    table = agreement_table(answers, [asked], compares=False)
    assert column(table, "Units") == [2, 2, 2]


def test_nothing_said_is_a_remark_and_no_failure() -> None:
    table = agreement_table([], [ORDERED, NUMBER], compares=False)
    assert column(table, "Value") == [None, None]


def compared(random: Random, strengths: dict[str, float], times: int) -> list[Said]:
    names = sorted(strengths)
    found = []
    for number in range(times):
        one, two = random.sample(names, 2)
        share = strengths[one] / (strengths[one] + strengths[two])
        chosen = one if random.random() < share else two
        found.append(
            said(
                f"c{number % 20}:{min(one, two)}:{max(one, two)}:{number // 7}",
                number % 7,
                {"chosen": chosen},
                shown={"left": one, "right": two},
                about={"caption": number % 20},
            )
        )
    return found


def test_scores_of_systems_are_choix_s_and_sum_to_100() -> None:
    answers = compared(Random(1), {"A": 5, "B": 2, "C": 1}, 400)
    strengths, wins, sides = comparison_tables(answers)
    lost = {"A": 0, "B": 1, "C": 2}
    pairs = []
    for each in answers:
        assert each.shown is not None
        other = each.shown["left" if each.answer["chosen"] == each.shown["right"] else "right"]
        pairs.append((lost[each.answer["chosen"]], lost[other]))
    expected = np.exp(choix.ilsr_pairwise(3, pairs))
    expected *= 100 / expected.sum()
    found = dict(
        zip(column(strengths, "System"), map(float, column(strengths, "Score")), strict=True)  # type: ignore[arg-type]
    )
    assert [found[name] for name in "ABC"] == pytest.approx(expected, abs=1e-4)
    for row in strengths.rows:
        _, score, low, high, *_ = row
        assert float(low or 0) < float(score or 0) < float(high or 0)
    assert sum(int(cell or 0) for row in wins.rows for cell in row[1:]) == 400
    left = sum(each.answer["chosen"] == (each.shown or {})["left"] for each in answers)
    assert sides.rows[0][:3] == [400, left, left / 400]


def test_systems_that_never_met_have_no_scores_and_it_says_why() -> None:
    answers = [
        said("u", 1, {"chosen": "A"}, shown={"left": "A", "right": "B"}),
        said("v", 1, {"chosen": "C"}, shown={"left": "C", "right": "D"}),
    ]
    strengths, *_ = comparison_tables(answers)
    assert strengths.why
    assert not strengths.rows


def test_no_comparison_at_all_is_said() -> None:
    (table,) = comparison_tables([])
    assert "no comparisons" in table.why


def test_people_who_choose_by_chance_do_not_agree_on_systems() -> None:
    """Five systems must not make chance agree in one of five pairs instead of one of two."""
    random = Random(3)
    answers = [
        said(f"u{unit}", person, {"chosen": random.choice(pair)}, shown=dict(zip(
            ("left", "right"), random.sample(pair, 2), strict=True)))
        for unit in range(400)
        for pair in [random.sample("ABCDE", 2)]
        for person in range(4)
    ]  # fmt: skip
    asked = Tallied("chosen", "Which is better?")
    table = agreement_table(answers, [asked], compares=True)
    alpha = figures(table)["Krippendorff’s alpha, nominal"]
    assert isinstance(alpha, float)
    assert abs(alpha) < 0.1


def test_people_who_always_agree_on_systems_have_an_alpha_of_one() -> None:
    answers = [
        said(f"u{unit}", person, {"chosen": "A"}, shown={"left": "A", "right": "B"})
        for unit in range(30)
        for person in range(3)
    ]
    table = agreement_table(answers, [Tallied("chosen", "Which?")], compares=True)
    assert figures(table)["Krippendorff’s alpha, nominal"] == pytest.approx(1)


def test_conversion_counts_units_that_have_all_their_judgments() -> None:
    answers = [
        said("u", 1, {"choice": "yes"}, wanted=2),
        said("u", 2, {"choice": "yes"}, wanted=2),
        said("v", 1, {"choice": "no"}, wanted=2),
        said("v", 2, {"choice": "yes"}, wanted=2),
        said("w", 1, {"choice": "yes"}, wanted=2),
    ]
    *_, table = reported.tables_of(
        {Report.CONVERSION},
        answers,
        [NOMINAL],
        goes_on=lambda given: all(each["choice"] == "yes" for each in given),
        scores_by="",
    )
    assert table.rows[0][:3] == [2, 1, 0.5]


def test_scores_are_spread_by_method_and_units_by_how_far_their_people_are_apart() -> None:
    answers = [
        said("u", 1, {"score": 1.0}, about={"method": "near"}),
        said("u", 2, {"score": 2.0}, about={"method": "near"}),
        said("v", 1, {"score": 5.0}, about={"method": "own"}),
    ]
    scores, spread, deviations = score_tables(answers, NUMBER, "method")
    assert column(scores, "Method") == ["near", "own", "all"]
    assert column(scores, "Mean") == [1.5, 5.0, 3.25]
    assert column(scores, "Mean SD in a unit") == [
        pytest.approx(0.5**0.5),
        None,
        pytest.approx(0.5**0.5),
    ]
    assert column(spread, "near") == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert column(spread, "own") == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert sum(int(count or 0) for count in column(deviations, "all")) == 1


def test_an_interval_is_left_out_where_it_would_take_too_long() -> None:
    assert replicates_for(100) == MOST_REPLICATES
    assert replicates_for(50_000) == 80
    assert replicates_for(1_000_000) == FEWEST_REPLICATES
