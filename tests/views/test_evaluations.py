"""Files that researchers bring, evaluated by page, API and command."""

import json
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from hits.models import Evaluation, Job, Release, ReleaseFile, Study
from hits.pipeline import jobs
from hits.pipeline.evaluate import tables_of
from hits.pipeline.shelf import path_of
from tests import making
from workers.work import WORK

pytestmark = pytest.mark.django_db

METRICS = b"model,a,b\nx,1,2\ny,2,3\nz,3,1\n"
NEW = "/research/evaluations/new/"


@pytest.fixture(autouse=True)
def _no_beat_while_a_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection does not see what the test has not committed, and would take it for lost."""
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 600)


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=8))


@pytest.fixture
def desk(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def sent(name: str = "metrics.csv", content: bytes = METRICS) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def made_by(answer: Any) -> Evaluation:
    assert answer.status_code in (202, 302), answer.text
    found = Evaluation.objects.latest("pk")
    jobs.run(found.job_id, WORK)
    found.refresh_from_db()
    return found


def uploads() -> list[Path]:
    folder = Path(settings.DATA_DIR) / "uploads"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def test_a_file_is_evaluated_and_its_tables_stay_at_an_address(desk: Client) -> None:
    before = uploads()
    answer = desk.post(
        f"{NEW}correlation/", {"metrics": sent(), "name": "Ours", "correlation": "tau-b"}
    )
    found = made_by(answer)
    assert answer.headers["Location"] == f"/research/evaluations/{found.pk}/"
    text = desk.get(answer.headers["Location"]).text
    assert "<dd>Kendall’s tau-b</dd>" in text
    assert "Kendall’s tau-b of each two metrics over 3 models." in text
    assert found.files["metrics"]["sha256"] in text
    assert "Ours" in desk.get("/research/evaluations/").text
    assert uploads() == before
    file = desk.get(f"/research/evaluations/{found.pk}/correlations.csv")
    assert file.text.splitlines()[0] == "Metric,a"
    assert desk.get(f"/research/evaluations/{found.pk}/correlations.svg").status_code == 404
    assert desk.get(f"/research/evaluations/{found.pk}/nothing.csv").status_code == 404


def test_the_api_gives_the_same_tables(desk: Client) -> None:
    kinds = {each["slug"]: each for each in desk.get("/api/evaluation-kinds/").json()}
    assert kinds["correlation"]["uploads"][0]["files"] == [".csv", ".jsonl"]
    answer = desk.post("/api/evaluations/", {"kind": "correlation", "metrics": sent()})
    assert answer.json()["state"] == "queued"
    found = made_by(answer)
    told = desk.get(f"/api/evaluations/{found.pk}/").json()
    assert told["state"] == "done"
    assert told["tables"][0]["rows"] == [["b", pytest.approx(-1 / 3)]]
    assert [each["id"] for each in desk.get("/api/evaluations/").json()["results"]] == [found.pk]
    file = desk.get(f"/api/evaluations/{found.pk}/tables/correlations/tex/")
    assert r"\toprule" in file.text


def test_a_setting_is_told_in_words(desk: Client) -> None:
    compared = sent("c.csv", b"left,right,chosen\nA,B,A\nA,B,B\n")
    found = made_by(desk.post(f"{NEW}comparisons/", {"comparisons": compared, "side": "on"}))
    text = desk.get(f"/research/evaluations/{found.pk}/").text
    assert "<dt>Fit how much the left side gains</dt><dd>yes</dd>" in text


def test_a_job_that_runs_again_computes_nothing_anew(desk: Client) -> None:
    found = made_by(desk.post("/api/evaluations/", {"kind": "correlation", "metrics": sent()}))
    Job.objects.filter(pk=found.job_id).update(state="queued", attempts=0)
    jobs.run(found.job_id, WORK)
    assert Job.objects.get(pk=found.job_id).state == "done"


def test_a_file_that_makes_no_sense_fails_with_a_line_that_says_why(desk: Client) -> None:
    before = uploads()
    broken = sent(content=b"model,a,b\nx,1,2\ny,2\n")
    found = made_by(desk.post(f"{NEW}correlation/", {"metrics": broken}))
    assert found.tables is None
    text = desk.get(f"/research/evaluations/{found.pk}/").text
    why = "Metrics (metrics.csv): line 3: The line has 2 cells; the first has 3."
    assert f"Nothing was computed: {why}" in text
    assert uploads() == before


def test_the_page_of_a_cancelled_evaluation_says_so(desk: Client) -> None:
    broken = sent("metrics.csv", b"model,a,b\nx,1,2\ny,3\n")
    found = made_by(desk.post(f"{NEW}correlation/", {"metrics": broken}))
    Job.objects.filter(pk=found.job_id).update(state=Job.State.CANCELLED)
    text = desk.get(f"/research/evaluations/{found.pk}/").text
    assert "It was cancelled, so nothing was computed." in text


def test_a_file_is_called_by_the_name_that_its_owner_gave_it(desk: Client) -> None:
    values = {"image_to_text": sent("ours.npy", b"nonsense"), "image_to_text_truth": sent("t.json")}
    found = made_by(desk.post(f"{NEW}retrieval/", values))
    told = f"({found.files['image_to_text']['name']}): This is no plain array in an .npy file"
    assert found.files["image_to_text"]["name"] == "ours.npy"
    assert told in desk.get(f"/research/evaluations/{found.pk}/").text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Metrics is needed."),
        ({"metrics": ("metrics.exe", METRICS)}, "Upload one of .csv, .jsonl."),
        ({"metrics": ("metrics.csv", METRICS), "correlation": "nonsense"}, "nonsense"),
    ],
)
def test_what_cannot_be_right_is_refused_before_it_is_read(
    desk: Client, values: dict[str, Any], said: str
) -> None:
    form = {name: sent(*v) if isinstance(v, tuple) else v for name, v in values.items()}
    answer = desk.post(f"{NEW}correlation/", form)
    assert answer.status_code == 422
    assert said in answer.text
    assert not Evaluation.objects.exists()


def test_the_api_says_which_field_is_wrong(desk: Client) -> None:
    answer = desk.post("/api/evaluations/", {"kind": "bootstrap", "rated": "no file"})
    assert answer.status_code == 400
    assert answer.json()["errors"] == {"rated": ["Send a file."]}
    answer = desk.post("/api/evaluations/", {"kind": "correlation"})
    assert answer.json()["errors"] == {"metrics": ["Metrics is needed."]}
    misspelt = {"kind": "correlation", "metrics": sent(), "corelation": "spearman"}
    answer = desk.post("/api/evaluations/", misspelt)
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["corelation"]
    both = {"kind": "texts", "before": sent("t.json"), "after": sent("t.json"), "after_release": 1}
    answer = desk.post("/api/evaluations/", both)
    assert answer.json()["errors"] == {
        "after": ["Upload a file or take one of a release, not both."]
    }
    unclear = {"kind": "comparisons", "comparisons": sent(), "side": "maybe"}
    answer = desk.post("/api/evaluations/", unclear)
    assert answer.status_code == 400
    assert "yes or no" in answer.text
    assert not Evaluation.objects.exists()


def released(study: Study, name: str, content: Any) -> ReleaseFile:
    release, _ = Release.objects.get_or_create(
        name="ours", major=1, last_decision_id=0, manifest={}, made_by=study.corpus.owner
    )
    release.studies.add(study)
    file = ReleaseFile.objects.create(release=release, name=name, sha256="0" * 64, size=1)
    path_of(file).parent.mkdir(parents=True, exist_ok=True)
    path_of(file).write_text(json.dumps(content))
    return file


def test_rankings_are_measured_against_a_release_of_this_site(study: Study, desk: Client) -> None:
    truth = released(study, "eccv_image_to_caption.json", {"1": [10]})
    other = released(study, "units.csv", {})
    assert "ours 1.0: eccv_image_to_caption.json" in desk.get(f"{NEW}retrieval/").text
    ranking = sent("r.json", b'{"1": [9, 10, 11]}')
    values = {"image_to_text": ranking, "image_to_text_truth_release": str(truth.pk)}
    found = made_by(desk.post(f"{NEW}retrieval/", values))
    assert tables_of(found)[0].rows[0][-1] == 2
    assert path_of(truth).is_file()
    ranking.seek(0)
    wrong = {"kind": "retrieval", "image_to_text": ranking}
    for number in (other.pk, 0, "x"):
        answer = desk.post(
            "/api/evaluations/", wrong | {"image_to_text_truth_release": str(number)}
        )
        assert answer.status_code == 400
    figure = desk.get(f"/research/evaluations/{found.pk}/retrieval.svg?shown&dark")
    assert figure.headers["Content-Type"] == "image/svg+xml"
    assert figure.headers["Content-Disposition"].startswith("inline")


def test_a_release_of_somebody_else_is_not_there(study: Study) -> None:
    truth = released(study, "eccv_image_to_caption.json", {"1": [10]})
    stranger = Client()
    stranger.force_login(making.user(is_researcher=True))
    assert "ours 1" not in stranger.get(f"{NEW}retrieval/").text
    values = {"image_to_text": sent("r.json", b"{}"), "image_to_text_truth_release": str(truth.pk)}
    answer = stranger.post("/api/evaluations/", {"kind": "retrieval", **values})
    assert answer.status_code == 400


def test_the_command_prints_and_writes_what_the_page_shows(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(METRICS)
    output = StringIO()
    call_command("evaluate", "correlation", f"metrics={path}", into=tmp_path, stdout=output)
    assert "-0.333" in output.getvalue()
    assert (tmp_path / "correlations.tex").is_file()
    call_command("evaluate", "correlation", stdout=output)
    assert "metrics=PATH (.csv .jsonl)" in output.getvalue()
    for given in ("metrics=nowhere.csv", "nonsense", "seed=1", "correlation=tau-b"):
        with pytest.raises(CommandError):
            call_command("evaluate", "correlation", given, stdout=output)


def test_an_alteration_that_lacks_wordnet_is_refused_as_such_and_not_the_file(
    desk: Client, tmp_path: Path
) -> None:
    content = {"info": {}, "data": [{"bison_id": 7, "caption": "A dog is running"}]}
    given = {
        "alteration": "synonym",
        "seed": "0",
        "annotations": sent("b.json", json.dumps(content).encode()),
    }
    with override_settings(WORDNET_DIR=tmp_path):
        refused = desk.post("/research/evaluations/altered-queries/", given)
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == ["alteration"]


def test_queries_are_altered_alike_by_page_and_api_and_from_a_release(
    study: Study, desk: Client
) -> None:
    data = [{"bison_id": 7, "caption": "A dog is running"}, {"bison_id": 8, "caption": "A stone"}]
    content = {"info": {"source": "x", "split": "val"}, "data": data}
    page, api = "/research/evaluations/altered-queries/", "/api/alterations/"
    assert page in desk.get("/research/evaluations/").content.decode()
    assert "Alter and download" in desk.get(page).content.decode()
    file = released(study, "bison_annotations.json", content)
    asked = {"alteration": "negation", "seed": "3"}
    altered = {
        "info": {"source": "x", "split": "val", "alteration": "negation", "seed": 3},
        "data": [{"bison_id": 7, "caption": "a dog is not running"}],
    }
    for address in (page, api):
        upload = sent("../bison.json", json.dumps(content).encode())
        for given in ({"annotations": upload}, {"annotations_release": str(file.pk)}):
            answer = desk.post(address, {**asked, **given})
            assert answer.status_code == 200
            assert json.loads(b"".join(cast(Any, answer).streaming_content)) == altered
    marked = b"\xef\xbb\xbf" + json.dumps(content).encode()
    assert desk.post(api, {**asked, "annotations": sent("b.json", marked)}).status_code == 200
    for wrong, why in (
        (b"[]", "not a file of BISON"),
        (b'{"info": {}, "data": [{"bison_id": 1}]}', "not a file of BISON"),
        (b'{"data": [], "info": {"x": ' + b"[" * 1000 + b"]" * 1000 + b"}}", "not a file of BISON"),
        (b"{", "not readable as JSON"),
    ):
        refused = desk.post(page, {**asked, "annotations": sent("b.json", wrong)})
        assert why in refused.content.decode()
        assert desk.post(api, {**asked, "annotations": sent("b.json", wrong)}).status_code == 400
