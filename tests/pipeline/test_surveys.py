"""Preference and the surveys on the pipeline: what feeds them, and what is counted of them."""

import pytest
from django.test import Client

from hits.models import Corpus, Study, Unit
from hits.pipeline import evidence
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.open import create_study, open_study
from hits.pipeline.submit import submit
from hits.pipeline.tally import results_of
from tests import making
from tests.protocols.cases.surveys import add_regions, study_of_detectors, study_of_prominence

pytestmark = pytest.mark.django_db


def fed_study(slug: str, feeder: Study, **settings: object) -> Study:
    study = create_study(
        slug=slug,
        name=slug,
        corpus=feeder.corpus,
        protocol_slug=slug,
        by=feeder.corpus.owner,
        settings=settings,
    )
    study.fed_by.set([feeder])
    open_study(study=study)
    return study


def answered(study: Study, fields: dict[str, str]) -> None:
    """Every page of a study, with the same answer to every question."""
    account = making.rater(study)
    page = draw(study=study, account=account)
    given = {
        f"q{slot.position}-{name}": [value]
        for slot in page.slots.all()
        for name, value in fields.items()
    }
    submit(assignment_key=page.key, account=account, fields=given)
    check_submitted()


def test_positives_of_a_matching_study_become_rankings() -> None:
    corpus = making.corpus(images=16, captions_each=1)
    matching = making.study(
        corpus,
        direction="t2i",
        settings={
            "candidates_a_page": 200,
            "judged_depth": 4,
            "fill_depth": 4,
            "golds_a_query": 0,
        },
    )
    answered(matching, {"choice": "yes"})
    positives: dict[int, set[int]] = {}
    for payload in Unit.objects.filter(study=matching).values_list("payload", flat=True):
        positives.setdefault(payload["caption"], set()).add(payload["image"])
    preference = fed_study(
        "preference", matching, captions=0, originals_are_positive=False, wrong_from_corpus=True
    )
    units = Unit.objects.filter(study=preference)
    assert units.filter(gold__isnull=False).exists()
    assert units.filter(gold__isnull=True).count() % 10 == 0
    for unit in units:
        right = positives[unit.payload["caption"]]
        for output in unit.payload["outputs"]:
            assert len(output["images"]) == len(right)
            if output["system"] == "E":
                assert not right & set(output["images"])
            elif output["system"] == "A":
                assert set(output["images"][1:]) <= right


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=8)


def test_the_second_survey_is_about_the_images_that_the_first_has_finished(corpus: Corpus) -> None:
    prominence = study_of_prominence(corpus, units_a_page=4, golds_a_page=0)
    answered(prominence, dict.fromkeys("ABCDE", "2"))
    relevance = fed_study("relevance", prominence)
    finished = Unit.objects.filter(study=prominence, counted=1)
    asked = Unit.objects.filter(study=relevance)
    assert asked.count() == 4
    assert sorted(asked.values_list("key")) == sorted(finished.values_list("key"))
    objects = asked.first().payload["objects"]  # type: ignore[union-attr]
    image = corpus.images.get(pk=asked.first().payload["image"])  # type: ignore[union-attr]
    assert {each["id"] for each in objects} == set(
        image.regions.values_list("external_id", flat=True)
    )


def test_ratings_are_counted_object_by_object(corpus: Corpus) -> None:
    study = study_of_prominence(corpus, units_a_page=4, golds_a_page=0)
    answered(study, dict(zip("ABCDE", "33221", strict=True)))
    (tally,) = results_of(study).tallies
    counted = [(share.label, share.count, share.of) for share in tally.shares]
    assert tally.n == 4
    assert counted == [
        ("Very prominent", 8, 20),
        ("Somewhat prominent", 8, 20),
        ("Not prominent", 4, 20),
    ]


def test_reviewers_read_of_objects_what_people_saw_on_them(corpus: Corpus) -> None:
    study = study_of_prominence(corpus, units_a_page=7, golds_a_page=1)
    Unit.objects.filter(study=study).update(wanted=2)
    answered(study, dict(zip("ABCDE", "33221", strict=True)))
    answered(study, dict.fromkeys("ABCDE", "3"))
    page = study.assignments.select_related("study", "version").order_by("pk")[0]
    said = evidence.said_by_others(page)
    for each in evidence.answers_of(page):
        assert [mark.label for mark in each.marks] == list("ABCDE")
        names, ratings = _read(each.answer)
        assert [name[:2] for name in names] == ["A ", "B ", "C ", "D ", "E "]
        assert ratings == [*["Very prominent"] * 2, *["Somewhat prominent"] * 2, "Not prominent"]
        if each.is_gold:
            assert set(_read(each.expected)[0]) <= set(names)
            assert [row.expected for row in results_of(study).golds] == [each.expected]
        else:
            assert said[each.position] == [
                (", ".join(f"{name}: Very prominent" for name in names), 1)
            ]


def _read(words: str) -> tuple[list[str], list[str]]:
    names, ratings = zip(*(part.split(": ") for part in words.split(", ")), strict=True)
    return list(names), list(ratings)


def test_systems_are_counted_as_they_are_called(corpus: Corpus) -> None:
    study = study_of_detectors(corpus, units_a_page=7, golds_a_page=0)
    answered(study, {"choice": "left"})
    (tally,) = results_of(study).tallies
    assert {share.label for share in tally.shares} <= {"fcos", "fovea"}
    assert sum(share.count for share in tally.shares) == tally.n == 7


def test_reviewers_see_both_copies_of_an_image_with_their_boxes(corpus: Corpus) -> None:
    study = study_of_detectors(corpus, units_a_page=6, golds_a_page=1)
    answered(study, {"choice": "left"})
    page = study.assignments.select_related("study", "version").get()
    for each in evidence.answers_of(page):
        assert each.images == []
        first, second = each.sides
        assert first.images == second.images != []
        assert first.marks is not None
        assert second.marks is not None
        assert [mark.box for mark in first.marks] == [mark.box for mark in second.marks]
        assert {first.marks[0].label, second.marks[0].label} == {"cat", "dog"}
    reviewer = Client()
    reviewer.force_login(corpus.owner)
    shown = reviewer.get(f"/review/{study.slug}/{page.key}/").content.decode()
    assert shown.count('<svg class="marks"') == 14
    assert 'alt="First copy, with boxes: ' in shown


def test_an_image_s_regions_come_with_their_outside_ids(corpus: Corpus) -> None:
    image = corpus.images.earliest("pk")
    add_regions(image)
    study = create_study(
        slug="prominence",
        name="Prominence",
        corpus=corpus,
        protocol_slug="prominence",
        by=corpus.owner,
    )
    open_study(study=study)
    (unit,) = Unit.objects.filter(study=study)
    assert {each["id"] for each in unit.payload["objects"]} == {
        f"{image.external_id}-{place}" for place in range(5)
    }
