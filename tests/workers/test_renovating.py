"""Coarse texts are found, made finer by a captioner or a file, filtered, and become rows."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from django.conf import LazySettings, settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from PIL import Image

from hits.models import Corpus, Job, Machine, Proposal, Study, StudyRow
from hits.pipeline import jobs, propose, renovate
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.open import create_study, open_study
from hits.pipeline.show import page_of
from tests import making
from tests.workers import tiny_models
from workers import renovating
from workers.encoders import Captioner, Encoder
from workers.encoders import open_installed as opened
from workers.machines import picture
from workers.work import WORK

# Models are too small here for threads, which would wait for each other.
torch.set_num_threads(1)
TEXTS = ["a red ball. it is", "a tree. the color of the tree", "the ball. there are", "a " * 60]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("models")
    tiny_models.clip(made / "clip-tiny")
    tiny_models.vision_encoder_decoder(made / "writer@2")
    return made


@pytest.mark.parametrize("kind", ["git", "blip", "vision_encoder_decoder"])
def test_an_answer_does_not_depend_on_what_is_asked_beside_it(kind: str, tmp_path: Path) -> None:
    writer = opened("captioner", kind, getattr(tiny_models, kind)(tmp_path / kind))
    assert isinstance(writer, Captioner)
    red = Image.new("RGB", (40, 30), "red")
    answers = writer.complete(red, TEXTS)
    assert answers == [writer.complete(red, [text])[0] for text in TEXTS]
    assert any(answers[:3])
    assert answers[3] == ""


@pytest.fixture
def corpus(folder: Path, settings: LazySettings) -> Corpus:
    settings.MODELS_DIR = folder
    return making.corpus(images=6, captions_each=2)


@pytest.fixture
def study(corpus: Corpus) -> Study:
    return create_study(
        slug="finer", name="Finer", corpus=corpus, protocol_slug="renovation", by=corpus.owner
    )


@pytest.fixture
def ranking(corpus: Corpus) -> Proposal:
    """Each caption's own image is first, but for those of the first two images."""
    captions = list(corpus.captions.order_by("image_id", "pk"))
    coarse = captions[4].image_id
    lists = [
        (each.pk, [coarse if place < 4 else each.image_id], [1.0])
        for place, each in enumerate(captions)
    ]
    machine = propose.machine_of(name="m", version="1", kind="x", checksum="", settings={})
    return propose.keep(
        corpus=corpus, machine=machine, direction="t2i", split="test", depth=1,
        query_sample=None, seed=0, ranked=lists,
    )  # fmt: skip


def done(job: Job) -> Job:
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    return job


def ask(study: Study, **given: Any) -> Job:
    usual = {"scorer": "clip-tiny", "train_split": "", "by": None}
    return renovate.ask(study=study, **{**usual, **given})


@pytest.mark.django_db(transaction=True)
def test_a_captioner_makes_coarse_texts_finer_once_whoever_does_the_parts(
    study: Study, ranking: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = done(ask(study, captioner="writer@2", proposal=ranking.pk))
    assert whole.state == "done", whole.message
    result = whole.result or {}
    assert (result["texts"], result["coarse"], result["machine"]) == (12, 4, "writer 2")
    assert result["details"] >= result["fitting"] >= result["proposed"] == result["added"] > 0
    assert set(result["statistics"]) == {"before", "after"}
    rows = list(study.rows.order_by("number").values_list("content", flat=True))

    again = done(ask(study, captioner="writer@2", proposal=ranking.pk)).result or {}
    assert (again["added"], again["there"]) == (0, len(rows))
    study.rows.all().delete()
    for file in Path(settings.DATA_DIR).glob("renovations/*/*/*"):
        file.unlink()
    monkeypatch.setattr(renovating, "PART", 1)
    parted = ask(study, captioner="writer@2", proposal=ranking.pk)
    elsewhere = {**parted.arguments, "part": 2}
    WORK["part"]({**elsewhere, "work": "renovate"}, lambda *told, **more: None)  # type: ignore[arg-type]

    assert done(parted).state == "done"
    assert list(study.rows.order_by("number").values_list("content", flat=True)) == rows
    recorded = Machine.objects.get(name="writer")
    assert (recorded.kind, recorded.settings["model"]) == ("captioner", "vision-encoder-decoder")


@pytest.mark.django_db(transaction=True)
def test_details_from_elsewhere_are_kept_only_where_they_fit(
    study: Study, ranking: Proposal, folder: Path, tmp_path: Path
) -> None:
    coarse, fine = study.corpus.captions.order_by("image_id", "pk")[3:5]
    clip = opened("dual", "clip", folder / "clip-tiny")
    assert isinstance(clip, Encoder)
    offered = ["the blue tree", "a red ball on the tree", "image of a green ball"]
    seen = clip.encode_images([picture(coarse.image)])[0]
    before, *scores = clip.encode_captions([coarse.text, *offered]) @ seen
    assert min(scores) < before < max(scores)
    best = offered[int(np.argmax(scores))]
    file = tmp_path / "made.jsonl"
    lines = [{"caption": c.external_id, "text": text} for c in (coarse, fine) for text in offered]
    file.write_text("\n".join(map(json.dumps, lines)))
    # As by an import that came later.
    study.corpus.images.update(split="named since")
    said = StringIO()

    call_command(
        "renovate", "finer", "--scorer", "clip-tiny", "--file", str(file), "--name", "gpt",
        "--proposal", str(ranking.pk), stdout=said,
    )  # fmt: skip

    assert said.getvalue().startswith("2 texts, 1 coarse, 3 details, 3 fit, 1 finer texts: 1 added")
    assert re.search(r"before: \d+\.\d+ nouns, .* adjectives, .* words.*\nafter: ", said.getvalue())
    rows = StudyRow.objects.filter(study=study).values_list("content", flat=True)
    assert [(row["proposed"], row["machine"]) for row in rows] == [(best, "gpt 1")]


@pytest.mark.django_db(transaction=True)
def test_without_a_ranking_a_file_says_which_texts_are_meant_and_an_audit_takes_some(
    study: Study, tmp_path: Path
) -> None:
    captions = list(study.corpus.captions.order_by("pk"))
    file = tmp_path / "made.csv"
    lines = [f"{each.external_id},{each.text}" for each in captions]
    lines += [f"{captions[0].external_id},it is red", "nobody,it is red"]
    file.write_text("\n".join(["caption,detail", *lines]))
    given = {"scorer": "palette", "train_split": "test", "source": str(file), "called": file.name}
    given |= {"name": "people", "version": "1"}
    job = done(ask(study, **given, sample=0))
    assert job.result is not None, job.message
    assert (job.result["coarse"], job.result["details"], job.result["added"]) == (12, 13, 0)
    assert job.result["unknown"] == 1
    assert job.message.startswith("12 texts named; 13 details")
    assert "1 captions that the file names are not in the corpus" in job.message
    file.write_text("caption,detail\nnobody,it is red\n")
    strange = done(ask(study, **given))
    assert (
        strange.message == "The corpus has none of the captions that made.csv names, as 'nobody'."
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("caption,detail\n", "proposes nothing"),
        ("caption,other\n1,2\n", "either a detail or a text"),
        ("caption,detail,text\n1,a,b\n", "either a detail or a text"),
    ],
)
def test_a_file_that_proposes_nothing_sound_is_refused(
    tmp_path: Path, content: str, why: str
) -> None:
    file = tmp_path / "made.csv"
    file.write_text(content)
    with pytest.raises(Refused, match=why):
        renovate.uploaded_details(file, file.name)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "one of the two"),
        ({"captioner": "nobody"}, "no captioner"),
        ({"captioner": "writer@2", "scorer": "tfidf"}, "scores texts for images"),
        ({"captioner": "writer@2"}, "tells coarse texts"),
        ({"captioner": "writer@2", "proposal": 0}, "finished proposal"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(
    study: Study, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        ask(study, **given)


@pytest.mark.django_db
def test_people_check_what_a_machine_made_and_never_see_its_name(
    study: Study, tmp_path: Path
) -> None:
    caption = study.corpus.captions.earliest("pk")
    row = {"image": caption.image.external_id, "caption": caption.external_id}
    renovate.keep(
        study,
        [{**row, "proposed": "A very red ball.", "machine": "writer 2"}],
        tmp_path / "rows.jsonl",
        "writer.jsonl",
        lambda *told, **more: None,
    )
    assert open_study(study=study) == {"unit": 1}
    assert study.units.get().payload["machine"] == "writer 2"
    account = making.rater(study)
    page = page_of(draw(study=study, account=account))
    assert "A very red ball." in str(page)
    assert "writer" not in str(page)


@pytest.mark.django_db
def test_page_and_api_ask_for_the_same_job(study: Study, ranking: Proposal, client: Client) -> None:
    client.force_login(study.corpus.owner)
    page = "/research/studies/finer/renovate/"
    for address in ("/research/studies/finer/", "/research/studies/finer/imports/"):
        assert page in client.get(address).content.decode()
    shown = client.get(page).content.decode()
    assert "Completes the prompts" in shown
    assert "m 1, caption to image, test, 12 × 1" in shown
    refused = client.post(page, {"version": "1", "scorer": "clip-tiny", "seed": "0"})
    assert (refused.status_code, study.jobs.count()) == (422, 0)
    given = {"proposal": ranking.pk, "scorer": "clip-tiny", "captioner": "writer@2"}
    assert client.post(page, {**given, "version": "1", "seed": 0}).status_code == 302
    answer = client.post("/api/studies/finer/renovate/", {**given, "queue": "gpu"})
    assert answer.status_code == 202, answer.content
    offered = client.get("/api/machines/offered/").json()
    assert [each["name"] for each in offered if each["completes_texts"]] == ["writer@2"]
    by_page, by_api = study.jobs.order_by("pk")
    assert (by_page.queue, by_api.queue) == ("cpu", "gpu")
    assert by_page.arguments == {**by_api.arguments, "train_split": ""}
    made = SimpleUploadedFile("../made.csv", b"caption,detail\n1,it is red\n")
    sent = {"file": made, "scorer": "palette"}
    assert client.post("/api/studies/finer/renovate/", sent).status_code == 202
    by_file = study.jobs.latest("pk")
    assert by_file.title == "Renovate made.csv, Finer"
    assert (by_file.arguments["name"], by_file.queue) == ("made", "cpu")
