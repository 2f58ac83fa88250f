from decimal import Decimal
from typing import Any

import pytest

from hits.models import Corpus, Image, Proposal, Study, StudyVersion, Unit, UnitSource
from hits.pipeline import propose
from hits.pipeline.errors import Closed, Refused, Stale
from hits.pipeline.open import create_study, open_study, set_state
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=20, captions_each=2)


def draft(corpus: Corpus, **values: Any) -> Study:
    return create_study(
        slug=f"study-{Study.objects.count()}",
        name="A study",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
        **values,
    )


def proposed(corpus: Corpus, name: str, ranked: list[tuple[int, list[int]]]) -> Proposal:
    machine = propose.machine_of(name=name, version="1", kind="test", checksum="", settings={})
    return propose.keep(
        corpus=corpus,
        machine=machine,
        direction="i2t",
        split="test",
        depth=25,
        query_sample=None,
        seed=0,
        ranked=[(query, targets, [1.0] * len(targets)) for query, targets in ranked],
    )


def test_a_pair_proposed_by_several_machines_is_judged_once_and_remembers_all_of_them(
    corpus: Corpus,
) -> None:
    image = corpus.images.order_by("pk")[0].pk
    captions = list(corpus.captions.order_by("-pk").values_list("pk", flat=True)[:8])
    one = proposed(corpus, "one", [(image, captions)])
    other = proposed(corpus, "other", [(image, captions[::-1])])
    study = draft(corpus)
    study.proposals.set([one, other])
    open_study(study=study)
    unit = Unit.objects.get(study=study, key=f"{image}:{captions[1]}")
    sources = UnitSource.objects.filter(unit=unit).order_by("rank")
    assert list(sources.values_list("proposal", "rank")) == [(one.pk, 2), (other.pk, 7)]
    assert unit.pool == "candidate"
    assert Unit.objects.filter(study=study, gold__isnull=True).count() == 8


def test_units_are_asked_for_as_often_as_the_version_wants(corpus: Corpus) -> None:
    study = making.study(corpus, judgments_wanted=4)
    assert set(Unit.objects.filter(study=study).values_list("wanted", flat=True)) == {4}


def test_the_same_seed_gives_the_same_units_in_the_same_order(corpus: Corpus) -> None:
    orders = []
    for seed in (1, 1, 2):
        study = making.study(corpus, seed=seed)
        units = Unit.objects.filter(study=study).order_by("order_key")
        orders.append(list(units.values_list("key", "pool")))
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_what_an_earlier_study_asked_is_not_asked_again(corpus: Corpus) -> None:
    first = making.study(corpus)
    second = making.study(corpus, direction="t2i", continues=[first])
    asked = Unit.objects.filter(gold__isnull=True)
    keys = [
        set(asked.filter(study=study).values_list("key", flat=True)) for study in (first, second)
    ]
    assert keys[1]
    assert not keys[0] & keys[1]


def test_images_without_a_file_are_not_asked_about(corpus: Corpus) -> None:
    missing = corpus.images.order_by("pk")[0]
    Image.objects.filter(pk=missing.pk).update(blob=None)
    study = making.study(corpus)
    assert not Unit.objects.filter(study=study, payload__image=missing.pk).exists()


def test_a_study_is_opened_once(corpus: Corpus) -> None:
    study = making.study(corpus)
    before = Unit.objects.count()
    with pytest.raises(Closed):
        open_study(study=study)
    assert Unit.objects.count() == before


def test_a_study_without_proposals_cannot_be_opened(corpus: Corpus) -> None:
    with pytest.raises(Refused):
        open_study(study=draft(corpus))


def test_proposals_of_two_directions_do_not_go_into_one_study(corpus: Corpus) -> None:
    study = draft(corpus)
    study.proposals.set(
        [*making.proposals(corpus), *making.proposals(corpus, direction="t2i", name="back")]
    )
    with pytest.raises(Refused, match="direction"):
        open_study(study=study)
    study.refresh_from_db()
    assert study.state == "draft"
    assert not Unit.objects.exists()


def test_proposals_without_a_showable_pair_open_nothing(corpus: Corpus) -> None:
    Image.objects.update(blob=None)
    study = draft(corpus)
    study.proposals.set(making.proposals(corpus))
    with pytest.raises(Refused):
        open_study(study=study)
    study.refresh_from_db()
    assert study.state == "draft"


def test_settings_that_make_no_sense_are_refused(corpus: Corpus) -> None:
    for wrong in ({"candidates_a_page": 0}, {"judged_depth": "deep"}, {"unheard_of": 1}):
        with pytest.raises(Refused):
            draft(corpus, settings=wrong)


def test_a_change_is_a_new_version_and_keeps_what_it_does_not_name(corpus: Corpus) -> None:
    study = draft(corpus, settings={"candidates_a_page": 3}, lease_minutes=7, pay="1.40")
    version = change_version(study=study, by=corpus.owner, lease_minutes=9)
    first = StudyVersion.objects.get(study=study, number=1)
    assert (first.lease_minutes, version.lease_minutes) == (7, 9)
    assert (version.number, version.consent_number) == (2, 1)
    assert version.settings["candidates_a_page"] == 3
    assert str(version.pay) == "1.40"


def test_a_change_that_changes_nothing_is_no_new_version(corpus: Corpus) -> None:
    study = making.study(corpus)
    wording = {"question": "Is it so?"}
    made = change_version(study=study, by=corpus.owner, wording=wording, pay=Decimal("1.40"))
    again = change_version(study=study, by=corpus.owner, wording=wording, pay=Decimal("1.4"))
    assert again == made == study.version
    assert study.versions.count() == 2


def test_settings_and_wording_that_are_not_named_stay(corpus: Corpus) -> None:
    study = making.study(corpus, settings={"candidates_a_page": 4})
    change_version(study=study, by=corpus.owner, wording={"question": "Is it so?"})
    version = change_version(study=study, by=corpus.owner, settings={"judged_depth": 3})
    assert (version.settings["candidates_a_page"], version.settings["judged_depth"]) == (4, 3)
    assert version.wording["question"] == "Is it so?"


def test_a_version_made_meanwhile_stops_whoever_did_not_see_it(corpus: Corpus) -> None:
    study = making.study(corpus)
    assert study.version is not None
    seen = study.version.number
    change_version(study=study, by=corpus.owner, seen=seen, wording={"question": "Is it so?"})
    with pytest.raises(Stale, match="made meanwhile"):
        change_version(study=study, by=corpus.owner, seen=seen, settings={"judged_depth": 3})
    assert study.versions.count() == 2


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"wording": {"question": " "}}, "no text for question"),
        ({"wording": {"question": "x" * 10_001}}, "more than 10,000 characters"),
        ({"wording": {"question": "\0"}}, "NUL"),
        ({"wording": {"question": "\ud800"}}, "written down"),
        ({"settings": {"candidates_a_page": 3, "judged_depth": "\0"}}, "whole number"),
        ({"judgments_wanted": 7}, "when the units were made"),
    ],
)
def test_what_nobody_could_read_or_do_is_refused(
    corpus: Corpus, changes: dict[str, Any], why: str
) -> None:
    study = making.study(corpus)
    with pytest.raises(Refused, match=why):
        change_version(study=study, by=corpus.owner, **changes)


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "http://elsewhere.example/a.jpg", "../../etc/passwd"]
)
def test_an_example_shows_no_image_from_anywhere(corpus: Corpus, address: str) -> None:
    study = making.study(corpus)
    assert study.version is not None
    examples = [each | {"image_url": address} for each in study.version.wording["examples"]]
    with pytest.raises(Refused, match="begins with https"):
        change_version(study=study, by=corpus.owner, wording={"examples": examples})


def test_a_draft_can_be_neither_paused_nor_closed(corpus: Corpus) -> None:
    with pytest.raises(Refused):
        set_state(study=draft(corpus), state="paused")


def test_a_study_never_becomes_a_draft_again(corpus: Corpus) -> None:
    study = making.study(corpus)
    with pytest.raises(Refused):
        set_state(study=study, state="draft")
