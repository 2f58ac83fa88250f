"""The page that takes files of lines into a study."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hits.models import Job, JudgmentImport, Study
from hits.pipeline import jobs
from hits.pipeline.judgments import import_judgments
from hits.pipeline.open import create_study
from tests import making
from workers.work import WORK

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"justification": False})


def client_of(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def send(study: Study, path: str, name: str, text: str, **more: Any) -> Any:
    file = SimpleUploadedFile(name, text.encode())
    return client_of(study).post(
        f"/research/studies/{study.slug}/{path}/", {"file": file, **more}, follow=True
    )


def done(kind: str) -> Job:
    job = Job.objects.get(kind=kind)
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    return job


def judgment_of(study: Study) -> str:
    unit = study.units.filter(gold__isnull=True).earliest("pk")
    return f"worker,unit,choice\nann,{unit.key},yes\nbob,{unit.key},perhaps\n"


def test_a_file_of_judgments_becomes_a_job_that_takes_them_in(study: Study) -> None:
    page = send(study, "imports", "crowd.csv", judgment_of(study))
    assert "crowd.csv is here; its import has been asked for." in page.text
    job = done("judgments")
    assert (job.state, job.result and job.result["added"]) == ("done", 1)
    made = JudgmentImport.objects.get()
    assert (made.file_name, made.by) == ("crowd.csv", study.corpus.owner)
    page = client_of(study).get(f"/research/studies/{study.slug}/imports/")
    assert "1 refused: download which and why" in page.text
    assert "Imports that brought something in" in page.text


def test_what_was_refused_can_be_downloaded(study: Study) -> None:
    send(study, "imports", "crowd.csv", judgment_of(study))
    job = done("judgments")
    table: Any = client_of(study).get(f"/research/jobs/{job.pk}/refused.csv")
    text = b"".join(table.streaming_content).decode()
    assert "crowd.csv,line 3,line,,bad-answer,choice: Choose one of the four answers." in text


def test_a_file_of_rows_becomes_a_job_that_keeps_them() -> None:
    corpus = making.corpus(images=3)
    draft = create_study(
        slug="draft", name="A draft", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    send(draft, "rows", "rows.csv", "image,caption\n1,20\n")
    assert done("rows").state == "done"
    page = client_of(draft).get("/research/studies/draft/")
    assert "1 row uploaded" in page.text


def test_a_wrong_upload_says_what_is_wrong_with_it(study: Study) -> None:
    page = send(study, "imports", "judgments.xlsx", "x")
    assert page.status_code == 422
    assert "File extension “xlsx” is not allowed" in page.text


def test_a_closed_study_is_refused_on_the_page(study: Study) -> None:
    Study.objects.update(state="closed")
    page = send(study, "imports", "crowd.csv", "worker\n")
    assert page.status_code == 422
    assert "This study is closed." in page.text
    assert not Job.objects.filter(kind="judgments").exists()


def test_reviewers_read_that_a_rater_was_imported(study: Study, tmp_path: Path) -> None:
    gold = study.units.filter(gold__isnull=False).earliest("pk")
    assert gold.gold is not None
    wrong = "no" if gold.gold["positive"] else "yes"
    file = tmp_path / "golds.csv"
    file.write_text(f"worker,unit,choice\nann,{gold.key},{wrong}\n")
    import_judgments(study=study, source=str(file))
    page = client_of(study).get(f"/review/{study.slug}/", follow=True)
    assert ", imported" in page.text
