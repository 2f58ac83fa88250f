from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker
from scipy import stats

from hits.analysis.behaviour import MANNERS, Manner
from hits.demo import captions, file_name, scene
from hits.demo.corpus import IDS_AN_IMAGE
from hits.demo.corpus import SEED as SCENES
from hits.models import Assignment, Person, Slot, Study, Unit
from hits.pipeline.errors import Refused
from hits.pipeline.golds import promising, promote
from hits.pipeline.rules import rules_of
from hits.pipeline.simulate import simulate_by_import
from hits.pipeline.simulated import Answering, crowd
from hits.pipeline.simulated import Unit as AskedUnit
from hits.protocols.matching import Matching
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from tests.undoing import undone_at_the_end

SETTINGS = {"candidates_a_page": 8, "true_positives_a_page": 2, "true_negatives_a_page": 2}
PEOPLE, SEED, BAD = 12, 3, 0.5


def opened() -> Study:
    return making.study(making.corpus(images=12), settings=SETTINGS, judgments_wanted=3)


@pytest.fixture(scope="module")
def _filled_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Study]:
    with undone_at_the_end(django_db_blocker):
        study = opened()
        simulate_by_import(study=study, people=PEOPLE, seed=SEED, bad_share=BAD)
        yield study


@pytest.fixture
def filled(_filled_once: Study, db: None) -> Study:
    return _filled_once


def test_every_unit_has_its_judgments_and_the_people_are_marked(filled: Study) -> None:
    units = Unit.objects.filter(study=filled, pool="candidate")
    assert units.count() > 20
    assert not units.exclude(counted=3).exists()
    people = Person.objects.filter(assignments__study=filled).distinct()
    assert people.count() > PEOPLE / 2
    assert all(person.is_simulated for person in people)
    assert_places_reconcile()


def test_again_it_adds_nothing(filled: Study) -> None:
    again = simulate_by_import(study=filled, people=PEOPLE, seed=SEED, bad_share=BAD)
    assert (again["lines"], again["added"]) == (0, 0)


def test_the_same_seed_makes_people_answer_alike(filled: Study) -> None:
    workers = crowd(people=PEOPLE, seed=SEED, bad_share=BAD)
    again = crowd(people=PEOPLE, seed=SEED, bad_share=BAD)
    kind, settings = rules_of(filled)
    units = [
        AskedUnit(unit.key, unit.payload, unit.gold, None)
        for unit in Unit.objects.filter(study=filled).order_by("pk")[:12]
    ]
    for one, other in zip(workers, again, strict=True):
        first, second = (
            Answering(kind, settings, SEED).page(each, units, 0.0) for each in (one, other)
        )
        assert first == second


def test_careful_people_pass_the_golds_as_often_as_they_look(filled: Study) -> None:
    kind = Matching()
    golds = Slot.objects.filter(
        unit__study=filled,
        unit__gold__isnull=False,
        assignment__account__external_id__endswith="-careful",
    ).values_list("judgment__answer", "unit__gold")
    passed = [kind.check(answer or {}, gold or {}) for answer, gold in golds]
    attention = MANNERS["careful"].attention
    interval = stats.binomtest(sum(passed), len(passed)).proportion_ci(0.999, method="exact")
    assert len(passed) > 50
    assert interval.low <= attention + (1 - attention) / 2 <= interval.high


def test_who_fails_golds_waits_for_review(filled: Study) -> None:
    pages = Assignment.objects.filter(study=filled)
    waiting = pages.filter(use="pending", golds_failed__gt=0)
    assert waiting.exists()
    assert pages.filter(use="used").count() + waiting.count() == pages.count()


@pytest.mark.django_db
def test_nobody_is_asked_a_gold_that_was_made_of_what_they_judged() -> None:
    study = making.study(making.corpus(images=8), settings=SETTINGS, judgments_wanted=2)
    simulate_by_import(study=study, people=4, seed=SEED, bad_share=0)
    keys = [each.unit.key for each in promising(study=study)]
    promote(study=study, keys=keys, agreement=1, reason="Agreed.", by=study.corpus.owner)
    Unit.objects.filter(study=study, gold__isnull=True).update(wanted=4)
    simulate_by_import(study=study, people=4, seed=SEED, bad_share=0)
    had = set(Slot.objects.filter(unit__study=study).values_list("person", "unit"))
    again = Slot.objects.filter(unit__promoted_from__isnull=False)
    assert len(keys) > 10
    assert not had & set(again.values_list("person", "unit__promoted_from"))


@pytest.mark.django_db
def test_whoever_looks_fails_a_gold_that_is_wrong_about_a_drawn_scene() -> None:
    corpus = making.corpus(images=1, captions_each=0)
    image = corpus.images.get()
    image.external_id, image.file_name = "1", file_name(0)
    image.save()
    said = captions(scene(SCENES, 0))[0].text
    caption = corpus.captions.create(image=image, external_id=str(IDS_AN_IMAGE + 1), text=said)
    pair = {"image": image.pk, "caption": caption.pk}
    for positive in (True, False):
        unit = AskedUnit("1", pair, {"positive": positive}, None)
        assert careful_answers(unit) <= {"yes", "partial_yes"}


@pytest.mark.django_db
def test_golds_can_be_made_wrong_or_were_promoted_wrong() -> None:
    unit = AskedUnit("1", {"image": 0, "caption": 0}, {"positive": True}, None)
    assert careful_answers(unit) <= {"yes", "partial_yes"}
    assert careful_answers(unit, wrong_golds=1.0) <= {"mostly_no", "no"}
    judged = AskedUnit("judged", unit.payload, None, None)
    positive = careful_answers(judged) <= {"yes", "partial_yes"}
    promoted: Any = {"key": "gold/judged", "promoted_from": "judged"}
    right = unit._replace(gold={"positive": positive}, **promoted)
    wrong = unit._replace(gold={"positive": not positive}, **promoted)
    assert careful_answers(right) == careful_answers(wrong)


def careful_answers(unit: AskedUnit, **given: float) -> set[str]:
    """What a careful person who looks says of a unit."""
    kind = Matching()
    answering = Answering(kind, kind.settings_model(), SEED, **given)
    (worker,) = crowd(people=1, seed=SEED, bad_share=0)
    plain = replace(worker.habits, manner=Manner(attention=1.0, seconds=8.0, skill=50.0))
    worker.habits = plain
    said = answering.page(worker, [unit], 0.0)[0].fields["choice"]
    return {said} if isinstance(said, str) else set(said)


@pytest.mark.django_db
def test_nobody_simulated_gets_among_people() -> None:
    study = opened()
    making.work(study, making.rater(study))
    with pytest.raises(Refused, match="People have worked in this study"):
        simulate_by_import(study=study, people=5)
    assert simulate_by_import(study=study, people=5, among_people=True)["added"] > 0
