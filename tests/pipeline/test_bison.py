"""BISON from its first stage to its release, as studies that feed each other."""

import csv
import json
from typing import Any

import pytest

from hits.models import (
    Account,
    Assignment,
    Corpus,
    Flag,
    Judgment,
    Membership,
    Reading,
    Release,
    Role,
    Study,
)
from hits.pipeline.chain import choose_feeders
from hits.pipeline.check import check_submitted
from hits.pipeline.doubt import read_signals
from hits.pipeline.draw import draw
from hits.pipeline.errors import NotAllowed
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import give_consent
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from tests import making
from workers.propose import propose_candidates

pytestmark = pytest.mark.django_db(transaction=True)

IMAGES = 6
NONE_SUITABLE = "Caption 0 of image 1."


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=IMAGES, captions_each=3)


def study_of(corpus: Corpus, slug: str, wanted: int = 1, **values: Any) -> Study:
    return create_study(
        slug=slug.replace("_", "-"),
        name=slug,
        corpus=corpus,
        protocol_slug=slug,
        by=corpus.owner,
        judgments_wanted=wanted,
        **values,
    )


@pytest.fixture
def captions(corpus: Corpus) -> Study:
    return captions_of(corpus)


def captions_of(corpus: Corpus, **values: Any) -> Study:
    (kept,) = propose_candidates(
        corpus=corpus,
        kind="caption_mean",
        directions=["i2i"],
        split="test",
        train_split="test",
        depth=3,
        query_sample=None,
        seed=0,
    )
    study = study_of(corpus, "bison_captions", **values)
    study.proposals.add(kept)
    open_study(study=study)
    return study


def answer(page: Assignment, account: Account, choose: Any) -> None:
    fields = {
        f"q{slot.position}-choice": [choose(slot.unit.payload, slot.shown)]
        for slot in page.slots.select_related("unit")
    }
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()


def longest_but_none_for_the_first(payload: dict[str, Any], shown: dict[str, Any]) -> str:
    if NONE_SUITABLE in payload["texts"]:
        return "none"
    return str(shown["captions"].index(payload["captions"][2]) + 1)


def the_positive(payload: dict[str, Any], shown: dict[str, Any]) -> str:
    return "first" if shown["first"] == "positive" else "second"


def chosen(captions: Study) -> Account:
    account = making.rater(captions)
    answer(draw(study=captions, account=account), account, longest_but_none_for_the_first)
    return account


@pytest.fixture
def images(corpus: Corpus, captions: Study) -> Study:
    chosen(captions)
    study = study_of(corpus, "bison_images", wanted=2)
    choose_feeders(study=study, feeders=[captions])
    open_study(study=study)
    return study


def read(made: Release, name: str) -> str:
    return path_of(made.files.get(name=name)).read_text()


def test_pairs_with_a_chosen_caption_go_on_and_the_others_do_not(
    captions: Study, images: Study
) -> None:
    assert captions.units.count() == IMAGES
    assert images.units.count() == IMAGES - 1
    for unit in images.units.all():
        own = list(Judgment.objects.filter(answer__caption=unit.payload["caption"]))
        assert len(own) == 1


def test_only_what_both_people_confirm_is_released(corpus: Corpus, images: Study) -> None:
    careful, doubting = making.rater(images), making.rater(images)
    answer(draw(study=images, account=careful), careful, the_positive)
    doubted = images.units.order_by("pk")[0].payload

    def doubt(payload: dict[str, Any], shown: dict[str, Any]) -> str:
        return "both" if payload == doubted else the_positive(payload, shown)

    answer(draw(study=images, account=doubting), doubting, doubt)
    made = release(studies=[images], name="bison", by=corpus.owner)
    found = json.loads(read(made, "bison_annotations.json"))
    assert found["info"] == {"source": corpus.slug, "split": "test"}
    positives = {unit.payload["positive"] for unit in images.units.all() if unit.payload != doubted}
    outside = dict(corpus.images.values_list("pk", "external_id"))
    assert {entry["true_image_id"] for entry in found["data"]} == {
        int(outside[pk]) for pk in positives
    }
    assert len({entry["bison_id"] for entry in found["data"]}) == IMAGES - 2


def test_whose_captions_the_next_stage_does_not_confirm_is_told(corpus: Corpus) -> None:
    rules = {"fewest_people": 3, "fewest_judgments": 2, "level": 0.05}
    captions = captions_of(corpus, settings={"units_a_page": 2}, quality=rules)
    people = [making.rater(captions) for _ in range(3)]
    for account in people:
        page = draw(study=captions, account=account)
        answer(page, account, lambda payload, shown: "1")
    read_signals(captions)
    assert "confirmation" in Reading.objects.get(study=captions).silent
    images = study_of(corpus, "bison_images", wanted=2)
    choose_feeders(study=images, feeders=[captions])
    open_study(study=images)
    theirs = Judgment.objects.filter(slot__person=people[2].person_id)
    denied = {judgment.answer["caption"] for judgment in theirs if judgment.answer}

    def deny(payload: dict[str, Any], shown: dict[str, Any]) -> str:
        return "neither" if payload["caption"] in denied else the_positive(payload, shown)

    for account in (making.rater(images), making.rater(images)):
        answer(draw(study=images, account=account), account, deny)
    assert Reading.objects.get(study=captions).asked_at is not None
    read_signals(captions)
    (flag,) = Flag.objects.filter(study=captions, signal="confirmation")
    assert (flag.person_id, flag.figure) == (people[2].person_id, 1.0)
    assert "2 of 2 judgments were not confirmed in the later stage" in flag.says


def test_a_chosen_caption_is_released_under_its_outside_id(corpus: Corpus, captions: Study) -> None:
    chosen(captions)
    made = release(studies=[captions], name="stage-2", by=corpus.owner)
    rows = list(csv.DictReader(read(made, "judgments.csv").splitlines()))
    by_text = dict(corpus.captions.values_list("text", "external_id"))
    assert sorted(row["choice"] for row in rows) == ["caption"] * (IMAGES - 1) + ["none"]
    for row in rows:
        assert row["caption"] == by_text.get(row["text"], "")
        assert row["choice"] == "none" or row["caption"] in row["caption_ids"].split()


def test_who_chose_captions_never_gets_to_confirm_them(corpus: Corpus, captions: Study) -> None:
    account = chosen(captions)
    images = study_of(corpus, "bison_images", wanted=2)
    choose_feeders(study=images, feeders=[captions])
    open_study(study=images)
    assert account.user is not None
    Membership.objects.create(study=images, user=account.user, role=Role.RATER)
    give_consent(study=images, account=account)
    with pytest.raises(NotAllowed):
        draw(study=images, account=account)
