"""What is removed, asked again and made a gold, by page, API and command."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import DjangoDbBlocker

from hits.models import Caption, Curation, Study, Unit
from hits.pipeline.simulate import simulate_by_import
from tests import making
from tests.undoing import undone_at_the_end


@pytest.fixture(scope="module")
def _judged_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Study]:
    with undone_at_the_end(django_db_blocker):
        study = making.study(
            making.corpus(images=10), settings={"justification": False}, judgments_wanted=2
        )
        simulate_by_import(study=study, people=6, seed=1, bad_share=0)
        yield study


@pytest.fixture
def study(_judged_once: Study, db: None) -> Study:
    return deepcopy(_judged_once)


@pytest.fixture
def researcher(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def address(study: Study, act: str = "") -> str:
    return f"/research/studies/{study.slug}/curation/" + (f"{act}/" if act else "")


def caption_of(study: Study) -> Caption:
    return study.corpus.captions.select_related("image").earliest("pk")


def test_an_item_is_removed_and_restored_on_the_page(study: Study, researcher: Client) -> None:
    caption = caption_of(study)
    sent = {"remove-caption": caption.external_id, "remove-reason": "It says nothing."}
    assert researcher.post(address(study, "remove"), sent).status_code == 302
    page = researcher.get(address(study)).text
    assert "It says nothing." in page
    assert f"Caption {caption.external_id}" in page
    back = {"caption": caption.pk, "restore-reason": "It does."}
    assert researcher.post(address(study, "restore"), back).status_code == 302
    assert "Nothing is removed." in researcher.get(address(study)).text
    assert list(study.curations.order_by("pk").values_list("kind", "by__email")) == [
        ("remove", study.corpus.owner.email),
        ("restore", study.corpus.owner.email),
    ]


def test_a_file_of_ratings_is_looked_through_and_pairs_of_it_are_chosen(
    study: Study, researcher: Client
) -> None:
    caption = caption_of(study)
    line = f"x:sentid:{caption.external_id},{caption.image.file_name},0.5"
    file = SimpleUploadedFile("sits.csv", f"caption,image,agg_score\n{line}\n".encode())
    shown = researcher.post(address(study, "rated-low"), {"low-file": file, "low-below": "2.5"})
    assert "Rated 0.5 of 5." in shown.text
    picture = shown.text.partition('thumb"><img src="')[2].partition('"')[0]
    assert researcher.get(picture).status_code == 200
    box = shown.text.partition('name="pair" value="')[2].partition('"')[0]
    sent = {"pair": [box], "remove-chosen-reason": "Rated low elsewhere."}
    assert researcher.post(address(study, "remove-chosen"), sent).status_code == 302
    event = study.curations.get()
    assert (event.image_id, event.caption_id) == (caption.image_id, caption.pk)
    nothing = researcher.post(address(study, "remove-chosen"), {"remove-chosen-reason": "So."})
    assert (nothing.status_code, "Choose some pairs." in nothing.text) == (422, True)


def test_a_pair_is_chosen_whatever_its_ids_look_like(study: Study, researcher: Client) -> None:
    caption = caption_of(study)
    study.corpus.images.filter(pk=caption.image_id).update(external_id="IMG 1")
    line = f"{caption.external_id},{caption.image.file_name},1"
    file = SimpleUploadedFile("s.csv", f"caption,image,agg_score\n{line}\n".encode())
    shown = researcher.post(address(study, "rated-low"), {"low-file": file, "low-below": "2.5"})
    box = shown.text.partition('name="pair" value="')[2].partition('"')[0]
    sent = {"pair": [box], "remove-chosen-reason": "Rated low elsewhere."}
    assert researcher.post(address(study, "remove-chosen"), sent).status_code == 302
    assert study.curations.get().image_id == caption.image_id


@pytest.mark.parametrize("sent", ["9" * 5000, "9" * 30, "1\0", "IMG 1", "-1"])
def test_ids_that_no_page_sends_change_nothing(study: Study, researcher: Client, sent: str) -> None:
    chosen = {"pair": [sent], "remove-chosen-reason": "So."}
    refused = researcher.post(address(study, "remove-chosen"), chosen)
    assert (refused.status_code, "Choose some pairs." in refused.text) == (422, True)
    back = {"image": sent, "restore-reason": "So."}
    assert researcher.post(address(study, "restore"), back).status_code == 302
    golds = {"unit": [sent], "golds-agreement": "1", "golds-reason": "So."}
    assert researcher.post(address(study, "golds"), golds).status_code == 422
    assert not study.curations.exists()


def test_units_are_asked_again_by_what_they_show(study: Study, researcher: Client) -> None:
    unit = Unit.objects.filter(study=study, gold__isnull=True, counted=2).earliest("pk")
    image = study.corpus.images.get(pk=unit.payload["image"]).external_id
    caption = study.corpus.captions.get(pk=unit.payload["caption"]).external_id
    sent = {
        "again-units": f"{image} {caption}\r\n",
        "again-more": "0",
        "again-set_aside": "on",
        "again-reason": "The image was changed.",
    }
    assert researcher.post(address(study, "again"), sent).status_code == 302
    unit.refresh_from_db()
    assert (unit.counted, unit.wanted) == (0, 2)
    wrong = researcher.post(address(study, "again"), sent | {"again-units": "9 9"})
    assert (wrong.status_code, "asks about no unit 9 9" in wrong.text) == (422, True)


def test_a_sample_is_drawn_and_golds_are_made_on_the_page(study: Study, researcher: Client) -> None:
    sample = {"units": "4", "judgments": "5", "seed": "1", "reason": "For agreement."}
    sent = {f"overlap-{name}": value for name, value in sample.items()}
    assert researcher.post(address(study, "overlap"), sent).status_code == 302
    assert Unit.objects.filter(study=study, wanted=5).count() == 4
    page = researcher.get(address(study), {"golds": "1"}).text
    key = page.partition('name="unit" value="')[2].partition('"')[0]
    unit = Unit.objects.get(study=study, key=key)
    assert study.corpus.captions.get(pk=unit.payload["caption"]).text in page
    sha256 = study.corpus.images.get(pk=unit.payload["image"]).blob_id
    assert f'src="/images/{sha256}"' in page
    made = {"unit": [key], "golds-agreement": "1", "golds-reason": "People agree on it."}
    assert researcher.post(address(study, "golds"), made).status_code == 302
    assert Unit.objects.get(study=study, promoted_from__key=key).gold is not None
    assert "Made a gold: unit" in researcher.get(address(study)).text


def test_a_script_does_the_same_by_the_api(study: Study, researcher: Client) -> None:
    caption = caption_of(study)
    thing = {"image": caption.image.external_id, "caption": caption.external_id}
    sent = json.dumps({"things": [thing], "reason": "Another image."})
    api = f"/api/studies/{study.slug}"
    removed = researcher.post(f"{api}/remove/", sent, content_type="application/json")
    assert removed.json()[0]["caption"] == caption.external_id
    events = researcher.get(f"{api}/curations/", {"kind": "remove"}).json()["results"]
    assert [each["reason"] for each in events] == ["Another image."]
    unknown = sent.replace(caption.external_id, "unknown")
    refused = researcher.post(f"{api}/remove/", unknown, content_type="application/json")
    assert refused.status_code == 400


def test_a_command_does_the_same(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = study.corpus.owner.email
    name = caption_of(study).external_id
    why = ["--reason", "So.", "--by", owner]
    call_command("curate", study.slug, "remove", "--caption", name, *why)
    call_command("curate", study.slug, "restore", "--caption", name, *why)
    call_command("curate", study.slug, "overlap", "3", "4", *why)
    units = tmp_path / "units.txt"
    units.write_text(Unit.objects.filter(study=study, counted=2).earliest("pk").key + "\n")
    call_command("curate", study.slug, "rejudge", str(units), "--more", "1", *why)
    call_command("curate", study.slug, "golds", "--most", "2", *why)
    gold = Unit.objects.filter(study=study, promoted_from__isnull=False).earliest("pk")
    call_command("curate", study.slug, "retire", gold.key, *why)
    call_command("curate", study.slug, "doubtful")
    told = capsys.readouterr().out
    assert "1 units are asked again, 0 judgments set aside" in told
    assert "2 golds more" in told
    kinds = Curation.objects.filter(study=study).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["remove", "restore", "overlap", "rejudge", "gold", "gold", "retire"]
    with pytest.raises(CommandError, match="no caption 'unknown'"):
        call_command("curate", study.slug, "remove", "--caption", "unknown", *why)
    somebody = making.user()
    with pytest.raises(CommandError, match="is no researcher of"):
        call_command(
            "curate", study.slug, "retire", gold.key, "--reason", "So.", "--by", somebody.email
        )
