"""What a researcher reads of a job: what it was asked for, and what came of it."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hits.models import Corpus, Job
from hits.pipeline import jobs
from hits.pipeline.open import create_study
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corpus(settings: LazySettings, tmp_path: Path) -> Corpus:
    settings.DATA_DIR = tmp_path
    return making.corpus(images=12)


@pytest.fixture
def desk(corpus: Corpus) -> Client:
    client = Client()
    client.force_login(corpus.owner)
    return client


def uploaded(desk: Client, corpus: Corpus, name: str, content: bytes) -> Any:
    file = SimpleUploadedFile(name, content)
    return desk.post(f"/research/corpora/{corpus.slug}/import/", {"file": file}, follow=True)


def finished(kind: str) -> Job:
    return jobs.run_here(Job.objects.get(kind=kind))


def test_an_import_goes_by_the_name_that_its_owner_gave(desk: Client, corpus: Corpus) -> None:
    answer = uploaded(desk, corpus, "my rows.csv", b"image_id\n901\n902,3\n")
    assert "my rows.csv is here" in answer.content.decode()
    job = finished("import")
    assert (job.state, job.title) == ("done", "Import my rows.csv")
    report = desk.get(f"/research/jobs/{job.pk}/refused.csv").getvalue().decode()
    assert report.splitlines()[1].startswith("my rows.csv,line 3,")


def test_an_import_that_failed_names_the_file(desk: Client, corpus: Corpus) -> None:
    uploaded(desk, corpus, "rows.csv", b"image_id;file_name\n901;a.png\n")
    job = finished("import")
    assert job.state == "failed"
    assert "rows.csv: Separate columns by commas" in job.message


def test_an_upload_by_script_goes_by_its_name_too(desk: Client, corpus: Corpus) -> None:
    file = SimpleUploadedFile("rows.csv", b"image_id\n901\n")
    answer = desk.post(f"/api/corpora/{corpus.slug}/import/", {"file": file})
    assert answer.json()["about"] == "rows.csv"


def test_a_proposal_ends_with_how_much_was_kept(corpus: Corpus) -> None:
    arguments = {
        "corpus": corpus.pk, "machine": "palette", "directions": ["i2t", "t2i"], "split": "test",
        "train_split": "test", "depth": 2,
    }  # fmt: skip
    jobs.ask(kind="propose", arguments=arguments, by=corpus.owner, corpus=corpus)
    assert finished("propose").message == (
        "Image to caption: 12 ranked lists, the top 2 of each kept. "
        "Caption to image: 24 ranked lists, the top 2 of each kept."
    )


def test_opening_ends_with_how_many_units_there_are(corpus: Corpus) -> None:
    study = create_study(
        slug="another", name="Another", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    study.proposals.set(making.proposals(corpus))
    jobs.ask(kind="open", arguments={"study": study.pk}, by=corpus.owner, study=study)
    assert finished("open").message == f"{study.units.count():,} units made."


def test_a_release_ends_with_its_name_and_number(corpus: Corpus) -> None:
    study = making.study(corpus)
    arguments = {"studies": [study.pk], "name": "first", "by": corpus.owner.pk}
    jobs.ask(kind="release", arguments=arguments, by=corpus.owner, study=study)
    assert finished("release").message == "first 1.0 is there."
