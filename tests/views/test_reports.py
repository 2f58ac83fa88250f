"""The report of a study on its page, in the API and as files."""

import csv
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from hits.exporters.tables import table_as_latex
from hits.models import Job, Study
from hits.pipeline.check import check_submitted
from hits.pipeline.jobs import run_here
from hits.pipeline.report import compute_report
from hits.records import Column, Table
from tests import making

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4})


@pytest.fixture
def desk(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def answered(study: Study) -> None:
    making.work(study, making.rater(study))
    check_submitted()


def address(study: Study, name: str = "") -> str:
    return f"/research/studies/{study.slug}/report/{name}"


def test_the_page_says_of_a_table_without_rows_why_it_has_none(study: Study, desk: Client) -> None:
    text = desk.get(address(study)).text
    assert "No judgment is used yet." in text
    assert "Nobody has submitted anything." in text
    assert "people.csv" not in text


def test_results_lead_to_the_report_and_its_tables_to_their_files(
    study: Study, desk: Client
) -> None:
    answered(study)
    assert address(study) in desk.get(f"/research/studies/{study.slug}/results/").text
    text = desk.get(address(study)).text
    for name in ("people.csv", "people.tex", "machines.csv", "agreement.tex"):
        assert address(study, name) in text
        answer = desk.get(address(study, name))
        assert answer.status_code == 200
        assert answer.headers["Content-Disposition"].startswith("attachment")


def test_figures_are_shown_in_the_page_s_own_light_and_kept_until_the_report_is_another(
    study: Study, desk: Client
) -> None:
    answered(study)
    text = desk.get(address(study)).text
    shown = re.findall(r'="([^"]+machines\.svg\?shown=[^"]+)"', text)
    dark, light = (desk.get(each.replace("&amp;", "&")) for each in shown)
    assert dark.content != light.content
    assert re.search(r'machines\.svg[^>]+ width="624" height="\d+"', text)
    assert light.headers["Cache-Control"] == "private, max-age=86400"
    for form in ("svg", "pdf", "png"):
        file = desk.get(address(study, f"machines.{form}"))
        assert file.headers["Content-Disposition"].startswith("attachment")
        assert "Cache-Control" not in file.headers or "86400" not in file.headers["Cache-Control"]
        assert (
            desk.get(f"/api/studies/{study.slug}/report/machines/{form}/").content == file.content
        )
    assert desk.get(address(study, "agreement.svg")).status_code == 404


def test_the_page_and_the_api_say_the_same(study: Study, desk: Client) -> None:
    answered(study)
    told = desk.get(f"/api/studies/{study.slug}/report/").json()
    assert (told["judgments"], told["people"]) == (4, 1)
    (people,) = [table for table in told["tables"] if table["slug"] == "people"]
    assert people["rows"][0] == ["1", 1, 1, 1, 1.0, 1, 1.0]
    lines = list(csv.reader(desk.get(address(study, "people.csv")).text.splitlines()))
    assert lines[0] == [column["name"] for column in people["columns"]]
    assert lines[1] == ["1", "1", "1", "1", "1.0", "1", "1.0"]


def test_a_table_that_is_not_there_is_not_found(study: Study, desk: Client) -> None:
    answered(study)
    assert desk.get(address(study, "nothing.csv")).status_code == 404
    assert desk.get(address(study, "nothing.tex")).status_code == 404


def test_a_machine_s_name_becomes_neither_a_formula_nor_a_command(
    study: Study, desk: Client
) -> None:
    answered(study)
    making.name_proposer(study, r"=1&\input{x}")
    cells = [
        cell
        for row in csv.reader(desk.get(address(study, "machines.csv")).text.splitlines())
        for cell in row
    ]
    assert not any(cell.startswith("=") for cell in cells)
    assert r"=1\&\textbackslash{}input\{x\}" in desk.get(address(study, "machines.tex")).text


def test_latex_aligns_numbers_and_reads_shares_in_percent() -> None:
    columns = [Column("Name"), Column("ρ", "share")]
    table = Table("t", "A title", "A note.", columns, [["a_b", 0.123], ["[c", None]])
    assert table_as_latex(table).splitlines() == [
        r"\begin{table}",
        r"  \centering",
        r"  \caption{A title. A note.}",
        r"  \begin{tabular}{lr}",
        r"    \toprule",
        r"    Name & $\rho$ \\",
        r"    \midrule",
        r"    a\_b & 12.3\% \\",
        r"    {[}c & -- \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]


def test_a_report_that_was_computed_costs_few_statements(
    study: Study, desk: Client, django_assert_max_num_queries: Queries
) -> None:
    answered(study)
    for path in (address(study), f"/api/studies/{study.slug}/report/"):
        desk.get(path)
        with django_assert_max_num_queries(7):
            assert desk.get(path).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_report_of_many_judgments_is_computed_by_a_job_that_somebody_asks_for(
    study: Study, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.pipeline.report.MOST_AT_ONCE", 3)
    answered(study)
    api = f"/api/studies/{study.slug}/report/"
    page = desk.get(address(study)).text
    assert "4 judgments take a while" in page
    assert "<table" not in page
    assert desk.get(address(study, "people.csv")).status_code == 404
    told = desk.get(api)
    assert (told.status_code, told.json()["error"]) == (409, "not_computed")

    asked = desk.post(api)
    assert asked.status_code == 202
    assert desk.post(address(study)).headers["Location"] == address(study)
    (job,) = study.jobs.filter(kind="report")
    assert job.pk == asked.json()["id"]
    assert f"/research/jobs/{job.pk}/" in desk.get(address(study)).text

    assert run_here(job).result == {"tables": len(desk.get(api).json()["tables"]), "judgments": 4}
    assert desk.get(address(study, "people.csv")).status_code == 200
    page = desk.get(address(study)).text
    assert "4 judgments of 4 units" in page
    assert "Compute it anew" not in page


@pytest.mark.django_db(transaction=True)
def test_a_report_of_many_judgments_stays_until_another_is_computed(
    study: Study, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.pipeline.report.MOST_AT_ONCE", 3)
    monkeypatch.setattr("hits.pipeline.tally.CHEAP_SECONDS", 600)
    answered(study)
    compute_report(study)
    answered(study)
    page = desk.get(address(study)).text
    assert "4 judgments of 4 units" in page
    assert "Compute it anew" in page

    desk.post(address(study))
    (job,) = study.jobs.filter(kind="report")
    Job.objects.filter(pk=job.pk).update(state="failed", message="No disk.")
    page = desk.get(address(study)).text
    assert "It could not be computed: No disk." in page
    assert "4 judgments of 4 units" in page

    desk.post(address(study))
    run_here(study.jobs.get(kind="report", state="queued"))
    page = desk.get(address(study)).text
    assert "8 judgments of 8 units" in page
    assert "No disk." not in page


@pytest.mark.django_db(transaction=True)
def test_a_report_that_failed_can_be_asked_for_again_though_nothing_is_new(
    study: Study, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.pipeline.report.MOST_AT_ONCE", 3)
    answered(study)
    compute_report(study)
    Job.objects.create(kind="report", study=study, state="failed", message="No disk.")
    page = desk.get(address(study)).text
    assert "It could not be computed: No disk." in page
    assert "Compute it anew" in page
