import json
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, transaction
from pytest_django import DjangoDbBlocker

from hits.models import Caption, Curation, Study, Unit
from hits.pipeline.aggregate import StudySource
from hits.pipeline.errors import Refused
from hits.pipeline.remove import Thing, excluded_by_reason, named, remove, removed_in, restore
from hits.pipeline.rules import rules_of
from hits.pipeline.simulate import simulate_by_import
from tests import making
from tests.undoing import undone_at_the_end

REASON = "It says nothing."


@pytest.fixture(scope="module")
def _judged_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Study]:
    with undone_at_the_end(django_db_blocker):
        corpus = making.corpus(images=12)
        study = making.study(corpus, settings={"justification": False})
        simulate_by_import(study=study, people=6, seed=2, bad_share=0)
        yield study


@pytest.fixture
def study(_judged_once: Study, db: None) -> Study:
    return _judged_once


def positives(study: Study, direction: str) -> dict[str, list[int]]:
    kind, settings = rules_of(study)
    names = {"i2t": "eccv_image_to_caption.json", "t2i": "eccv_caption_to_image.json"}
    files = kind.export(StudySource([study], kind), settings)
    found: dict[str, list[int]] = json.loads("".join(files[names[direction]]))
    return found


def first_pair(study: Study) -> tuple[Caption, Thing]:
    caption = study.corpus.captions.select_related("image").earliest("pk")
    return caption, Thing(caption.image_id, caption.pk)


def showing(study: Study, thing: Thing) -> list[Unit]:
    return [
        unit
        for unit in Unit.objects.filter(study=study)
        if thing.image in (None, unit.payload["image"])
        and thing.caption in (None, unit.payload["caption"])
    ]


def test_an_item_is_gone_from_every_unit_and_comes_back(study: Study) -> None:
    caption, _ = first_pair(study)
    gone = Thing(caption=caption.pk)
    (event,) = remove(study=study, things=[gone], reason=REASON, by=study.corpus.owner)
    units = showing(study, gone)
    assert event.units == len(units) > 1
    assert all(unit.excluded and not unit.is_open for unit in units)
    assert excluded_by_reason(study) == {REASON: len(units)}
    assert remove(study=study, things=[gone], reason="Again.", by=None) == []
    restore(study=study, things=[gone], reason="It does say something.", by=None)
    assert not any(unit.excluded for unit in showing(study, gone))
    assert Curation.objects.filter(study=study).count() == 2
    assert removed_in([study]).reasons == {}


def test_a_removed_item_is_no_query_and_no_target_and_the_caption_of_a_pair_a_target_elsewhere(
    study: Study,
) -> None:
    before = positives(study, "i2t")
    wrong, item, *_ = (
        caption
        for caption in study.corpus.captions.select_related("image").order_by("pk")
        if int(caption.external_id) in before[caption.image.external_id]
        and sum(int(caption.external_id) in found for found in before.values()) > 1
    )
    remove(study=study, things=[Thing(caption=item.pk)], reason=REASON, by=None)
    pair = Thing(wrong.image_id, wrong.pk)
    remove(study=study, things=[pair], reason="It is of another image.", by=None)
    by_image, by_caption = positives(study, "i2t"), positives(study, "t2i")
    assert {item.external_id, wrong.external_id}.isdisjoint(by_caption)
    assert all(int(item.external_id) not in found for found in by_image.values())
    own, name = wrong.image.external_id, int(wrong.external_id)
    assert name in before[own]
    assert name not in by_image[own]
    elsewhere = {image for image, found in before.items() if name in found} - {own}
    assert elsewhere
    assert all(name in by_image[image] for image in elsewhere)


def test_what_is_removed_has_a_name_a_reason_and_a_record(study: Study) -> None:
    caption, pair = first_pair(study)
    with pytest.raises(Refused, match="Write down why"):
        remove(study=study, things=[pair], reason=" ", by=None)
    with pytest.raises(Refused, match="no caption 'nothing'"):
        named(study, caption="nothing")
    with pytest.raises(Refused, match="Name an image, a caption"):
        named(study)
    assert named(study, caption=caption.external_id) == Thing(caption=caption.pk)
    (event,) = remove(study=study, things=[pair], reason=REASON, by=study.corpus.owner)
    assert event.what == f"the pair of image {caption.image.external_id} and caption " + (
        caption.external_id
    )
    with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
        Curation.objects.filter(pk=event.pk).update(reason="Another one.")
