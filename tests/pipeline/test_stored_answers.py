"""Judgments named as a release names them: by what was chosen, with outside ids."""

import json
from pathlib import Path
from typing import Any

import pytest

from hits.models import Caption, Judgment, Slot, Study, Unit
from hits.pipeline.judgments import import_judgments
from hits.pipeline.open import create_study, open_study
from hits.pipeline.rows import import_rows
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)


def study_of(slug: str, row: dict[str, Any], tmp_path: Path) -> Study:
    corpus = making.corpus(images=4)
    study = create_study(
        slug="stored", name="Stored", corpus=corpus, protocol_slug=slug, by=corpus.owner
    )
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    import_rows(study=study, source=str(file))
    open_study(study=study)
    return study


def bring(study: Study, tmp_path: Path, said: dict[str, Any]) -> Any:
    file = tmp_path / "judgments.jsonl"
    file.write_text(json.dumps({"worker": "ann", "unit": Unit.objects.get().key, **said}))
    return import_judgments(study=study, source=str(file))


TEXTS = {"image": 1, "wrong": "A dog.", "right": "A cat."}
IMAGES = {"caption": 10, "positive": 1, "negative": 2}
SYSTEMS = {"caption": 10, "outputs": {"a": [1], "b": [2]}}
SIDES = {"left": "b", "right": "a"}


@pytest.mark.parametrize(
    ("slug", "row", "said", "stored"),
    [
        ("right_text", TEXTS, {"choice": "corrected"}, {"choice": "corrected"}),
        ("bison_images", IMAGES, {"choice": "positive"}, {"choice": "positive"}),
        ("preference", SYSTEMS, {"chosen": "a", "shown": SIDES}, {"chosen": "a"}),
    ],
)
def test_what_was_chosen_is_enough(
    tmp_path: Path, slug: str, row: dict[str, Any], said: dict[str, Any], stored: dict[str, Any]
) -> None:
    study = study_of(slug, row, tmp_path)
    assert bring(study, tmp_path, said)["added"] == 1
    assert Judgment.objects.get().answer == stored
    assert Slot.objects.get().shown == said.get("shown")


def test_sides_that_a_public_file_tells_must_be_known(tmp_path: Path) -> None:
    study = study_of("preference", SYSTEMS, tmp_path)
    assert bring(study, tmp_path, {"chosen": "a"})["refused"] == 1


def test_what_nobody_can_have_chosen_is_refused(tmp_path: Path) -> None:
    study = study_of("preference", SYSTEMS, tmp_path)
    assert bring(study, tmp_path, {"chosen": "c", "shown": SIDES})["refused"] == 1


def test_captions_are_named_by_their_outside_ids(tmp_path: Path) -> None:
    study = study_of("bison_captions", {"positive": 1, "negative": 2}, tmp_path)
    captions = list(Caption.objects.filter(pk__in=Unit.objects.get().payload["captions"]))
    order = [caption.external_id for caption in reversed(captions)]
    said = {"caption": captions[1].external_id, "shown": {"captions": order}}
    assert bring(study, tmp_path, said)["added"] == 1
    answer = Judgment.objects.get().answer
    assert answer is not None
    assert answer["caption"] == captions[1].pk
    assert Slot.objects.get().shown == {"captions": [each.pk for each in reversed(captions)]}
