"""A study's report, from its judgments in the database."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from hits.models import Assignment, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.people import link
from hits.pipeline.report import StudyReport, report_of
from hits.pipeline.submit import submit
from hits.pipeline.tally import results_of
from hits.records import Cell, Table
from tests import making
from tests.protocols.cases.bison import study_of_bison_captions
from tests.protocols.cases.refinement import study_of_renovation
from tests.protocols.cases.similarity import study_of, study_of_sts
from tests.protocols.cases.surveys import study_of_preference, study_of_prominence

pytestmark = pytest.mark.django_db

Choose = Callable[[Unit, dict[str, Any]], dict[str, list[str]]]


@pytest.fixture(autouse=True)
def _every_report_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a crowded machine, too: what is dear is kept for a while after something changed."""
    monkeypatch.setattr("hits.pipeline.tally.CHEAP_SECONDS", 600)


@pytest.fixture
def study() -> Study:
    return making.study(
        making.corpus(images=12), settings={"candidates_a_page": 4}, judgments_wanted=2
    )


def table(report: StudyReport, slug: str) -> Table:
    return next(each for each in report.tables if each.slug == slug)


def column(found: Table, name: str) -> list[Cell]:
    place = [each.name for each in found.columns].index(name)
    return [row[place] for row in found.rows]


def answered(study: Study, choice: str = "yes") -> Assignment:
    page = making.work(study, making.rater(study), choice)
    check_submitted()
    return page


def answer(study: Study, choose: Choose) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = {
        f"q{slot.position}-{name}": value
        for slot in page.slots.select_related("unit")
        for name, value in choose(slot.unit, slot.shown or {}).items()
    }
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()


def test_a_study_without_judgments_says_so_in_each_table(study: Study) -> None:
    report = report_of(study)
    assert (report.judgments, report.units, report.people) == (0, 0, 0)
    assert table(report, "answers").why == "No judgment is used yet."
    assert table(report, "people").why == "Nobody has submitted anything."
    assert column(table(report, "agreement"), "Value") == [None] * 3


def test_people_are_counted_by_pages_done(study: Study) -> None:
    account = making.rater(study)
    for _ in range(2):
        making.work(study, account)
    answered(study)
    found = table(report_of(study), "people")
    assert column(found, "Pages done")[:2] == ["1", "2–5"]
    assert column(found, "People")[:2] == [1, 1]
    assert column(found, "Submitted")[:2] == [1, 2]
    assert column(found, "Used")[:2] == [1, 2]


def test_a_new_decision_makes_a_new_report(study: Study) -> None:
    answered(study)
    before = report_of(study)
    assert report_of(study).at == before.at
    answered(study)
    assert report_of(study).judgments == 2 * before.judgments


def test_two_raters_who_are_joined_are_one_in_the_report() -> None:
    study = making.study(making.corpus(images=24), settings={"candidates_a_page": 4})
    first, second = answered(study).account, answered(study).account
    assert column(table(report_of(study), "people"), "People")[:2] == [2, 0]
    link(account=first, same_as=second)
    assert column(table(report_of(study), "people"), "People")[:2] == [0, 1]


def test_what_is_not_used_is_not_in_the_report(study: Study) -> None:
    answered(study)
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(page.slots.count()))
    check_submitted()
    report = report_of(study)
    assert (report.judgments, report.people) == (4, 1)
    assert column(table(report, "people"), "Submitted")[0] == 2
    assert column(table(report, "people"), "Used")[0] == 1


def test_reasons_are_shared_out_by_machine(study: Study) -> None:
    def choose(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        if unit.gold is not None:
            return {"choice": ["yes" if unit.gold["positive"] else "no"]}
        return {"choice": ["mostly_no"], "reasons": ["absent"]}

    answer(study, choose)
    found = table(report_of(study), "machines-reasons")
    assert [row[2] for row in found.rows] == [1.0] * len(found.rows)
    ticks = sum(int(cell or 0) for cell in column(found, "Ticks"))
    machines = table(report_of(study), "machines")
    together = [row[2] for row in machines.rows if row[1] == "all"]
    assert ticks == sum(int(cell or 0) for cell in together)


def test_two_people_on_the_same_units_have_an_agreement() -> None:
    study = making.study(
        making.corpus(images=8),
        settings={"candidates_a_page": 200, "judged_depth": 1, "fill_depth": 1},
        judgments_wanted=2,
    )
    for turn in (0, 1):

        def choose(unit: Unit, shown: dict[str, Any], turn: int = turn) -> dict[str, list[str]]:
            if unit.gold is not None:
                return {"choice": ["yes" if unit.gold["positive"] else "no"]}
            return {"choice": ["yes" if unit.pk % 4 > turn else "no"]}

        answer(study, choose)
    found = table(report_of(study), "agreement")
    first = found.rows[0]
    assert first[1] == "Krippendorff’s alpha, ordinal"
    assert 0 < float(first[2] or 0) < 1
    assert float(first[3] or 0) < float(first[2] or 0) < float(first[4] or 0)


def test_the_system_that_is_always_on_top_is_reported_from_sides() -> None:
    study = study_of_preference(making.corpus(images=12), units_a_page=40, golds_a_page=1)

    def alphabet(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        return {"choice": ["left" if shown["left"] < shown["right"] else "right"]}

    def left(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        if unit.gold is not None:
            return alphabet(unit, shown)
        return {"choice": ["left"]}

    for choose in (alphabet, left, left):
        answer(study, choose)
    report = report_of(study)
    strengths = table(report, "strengths")
    assert column(strengths, "System")[0] == "A"
    assert sum(float(cell or 0) for cell in column(strengths, "Score")) == pytest.approx(100)
    assert float(column(table(report, "sides"), "Share")[0] or 0) > 0.7
    assert sum(map(int, [cell or 0 for row in table(report, "wins").rows for cell in row[1:]])) == (
        report.judgments
    )


def test_a_slider_s_scores_are_reported_by_sampling_method() -> None:
    study = study_of_sts(making.corpus(images=12))

    def choose(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        score = unit.gold["low"] if unit.gold else unit.pk % 5
        return {"set": ["1"], "score": [str(score)], "moved": ["pointer"]}

    answer(study, choose)
    answer(study, choose)
    report = report_of(study)
    assert table(report, "scores").rows
    assert sum(int(row[-1] or 0) for row in table(report, "score-spread").rows) == report.units
    assert column(table(report, "agreement"), "Value")[0] == pytest.approx(1)


def test_ratings_of_objects_are_compared_object_by_object() -> None:
    study = study_of_prominence(making.corpus(images=8), units_a_page=4, golds_a_page=0)
    answer(study, lambda unit, shown: {letter: ["2"] for letter in "ABCDE"})
    assert "Every unit has one judgment" in str(
        column(table(report_of(study), "agreement"), "Remark")[0]
    )


def statements(study: Study) -> int:
    with CaptureQueriesContext(
        connection,
    ) as found:
        report_of(study)
    return len(found)


def test_a_report_costs_the_same_number_of_statements_however_much_was_judged(
    study: Study,
) -> None:
    answered(study)
    few = statements(study)
    for _ in range(3):
        answered(study)
    assert statements(study) == few
    assert few <= 10
    assert statements(study) == 1


def test_the_first_results_of_a_slider_have_its_numbers() -> None:
    study = study_of_sts(making.corpus(images=12))
    answer(
        study, lambda unit, shown: {"set": ["1"], "score": [str((unit.gold or {"low": 2})["low"])]}
    )
    numbers = results_of(study).tallies[0].numbers
    assert numbers is not None
    assert (numbers.mean, sum(numbers.bins), numbers.bins[4]) == (2, 10, 10)


def test_machines_are_measured_on_the_datasets_that_each_would_have_given(study: Study) -> None:
    answered(study)
    report = report_of(study)
    bias, recalls = table(report, "bias"), table(report, "bias-recall")
    machines = [each.name for each in recalls.columns[1:]]
    assert len(machines) > 1
    assert column(recalls, "Dataset of")[-1] == ", ".join(machines)
    assert len(recalls.rows) == 2 ** len(machines) - 1
    assert column(bias, "Machines") == [str(size) for size in range(1, len(machines))]
    assert bias.chart is not None
    assert float(column(bias, "R@1, bias")[0] or 0) >= 0


def test_times_are_told_of_questions_and_of_pages(study: Study) -> None:
    def choose(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        right = unit.gold is None or unit.gold["positive"]
        return {"choice": ["yes" if right else "no"], "ms": ["2000"]}

    assert table(report_of(study), "seconds").why
    answer(study, choose)
    found = table(report_of(study), "seconds")
    assert [row[:2] for row in found.rows] == [["A question", 4], ["A page, golds and all", 1]]
    question, page = (float(cell or 0) for cell in column(found, "Mean"))
    assert 4 * question < page


def test_pairs_of_images_rated_both_ways_are_test_and_retest() -> None:
    corpus = making.corpus(images=6)
    one, two, three, *_ = corpus.images.order_by("pk").values_list("pk", flat=True)
    pairs = [(one, two), (two, one), (one, three), (three, one)]
    rows = [{"image1": a, "image2": b} for a, b in pairs]
    study = study_of("sis", corpus, rows, settings={"units_a_page": 4, "golds_a_page": 0})

    def choose(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        away = three in (unit.payload["image1"], unit.payload["image2"])
        score = 4 * away + (unit.payload["image1"] != one)
        return {"set": ["1"], "score": [str(score)], "moved": ["key"]}

    answer(study, choose)
    found = table(report_of(study), "retest")
    assert column(found, "Pairs") == [2]
    assert column(found, "Mean difference, absolute") == [1]


def test_what_a_protocol_reports_on_is_in_its_report() -> None:
    corpus = making.corpus(images=8)
    bison = study_of_bison_captions(corpus)

    def choose(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        right = unit.gold["captions"][0] if unit.gold else shown["captions"][0]
        return {"choice": [str(shown["captions"].index(right) + 1)]}

    answer(bison, choose)
    found = table(report_of(bison), "longest")
    assert column(found, "Chosen") == [report_of(bison).judgments]
    assert column(table(report_of(bison), "conversion"), "People") == [1]
    renovation = study_of_renovation(corpus)
    answer(renovation, lambda unit, shown: {"choice": ["hopeless" if unit.gold else "confirm"]})
    assert column(table(report_of(renovation), "renovated"), "Confirmed") == [1]
    assert column(table(report_of(renovation), "texts"), "Texts") == ["Before", "After"]


def test_ratings_are_compared_with_scorers() -> None:
    study = study_of_prominence(making.corpus(images=8), units_a_page=4, golds_a_page=0)

    def by_area(unit: Unit, shown: dict[str, Any]) -> dict[str, list[str]]:
        areas = {each["id"]: each["box"][2] * each["box"][3] for each in unit.payload["objects"]}
        middle = sorted(areas.values())[2]
        return {
            letter: [str(2 + (areas[thing] > middle) - (areas[thing] < middle))]
            for letter, thing in shown.items()
        }

    answer(study, by_area)
    found = table(report_of(study), "tau")
    taus = dict(zip(column(found, "Compared with"), column(found, "Mean tau-b"), strict=True))
    assert taus.keys() == {"Area", "I_O", "I_P"}
    assert float(taus["Area"] or 0) > 0.5
