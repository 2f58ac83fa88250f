"""What every protocol must do, run over the registry: a new one is covered once it exists."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from django.template.loader import get_template
from django.test import Client
from django.utils.html import escape
from pytest_django import DjangoDbBlocker

from hits.models import Account, Assignment, Corpus, Slot, Study
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.open import create_study, open_study
from hits.pipeline.show import items_of, page_of
from hits.pipeline.simulate import simulate_by_import
from hits.pipeline.submit import by_question
from hits.pipeline.versions import change_version
from hits.protocol import EXPLANATION, FieldErrors, Protocol, registry
from tests import making
from tests.forms import WAYS_TO_ANSWER, Form
from tests.protocols.cases import case_of
from tests.undoing import undone_at_the_end

pytestmark = pytest.mark.django_db

SLUGS = sorted(registry())


def study_of_proposals(slug: str) -> Callable[[Corpus], Study]:
    def of(corpus: Corpus) -> Study:
        study = create_study(
            slug=f"contract-{slug}",
            name="A contract",
            corpus=corpus,
            protocol_slug=slug,
            by=corpus.owner,
        )
        study.proposals.set(making.proposals(corpus))
        open_study(study=study)
        return study

    return of


class Case:
    """A protocol with a study of its own, and one page of it drawn."""

    def __init__(self, slug: str) -> None:
        self.kind: Protocol[Any, Any] = registry()[slug]
        self.corpus = making.corpus(images=20)
        self.study: Study = (case_of(slug) or study_of_proposals(slug))(self.corpus)
        self.go_on_as(making.rater(self.study))
        self.settings = self.kind.settings_model.model_validate(self.page.version.settings)
        self.wording = self.kind.wording_model.model_validate(self.page.version.wording)

    def go_on_as(self, account: Account) -> None:
        """With the page that this rater gets."""
        self.account = account
        self.page: Assignment = draw(study=self.study, account=account)
        self.client = Client()
        assert account.user is not None
        self.client.force_login(account.user)

    def html(self) -> str:
        answer = self.client.get(f"/work/{self.page.key}/")
        assert answer.status_code == 200
        return answer.text

    def good_answers(self, form: Form) -> dict[str, list[str]]:
        """Golds as expected, the first way to answer for the rest."""
        fields = form.filled(0)
        for slot, gold in self.golds():
            fields |= next(
                own for own, answer in self.ways(form, slot) if self.kind.check(answer, gold)
            )
        return fields

    def ways(self, form: Form, slot: Slot) -> list[tuple[dict[str, list[str]], Any]]:
        """Each way to fill in one question, with the answer it gives."""
        prefix = f"q{slot.position}-"
        found = []
        for way in range(WAYS_TO_ANSWER):
            fields = form.filled(way)
            own = {name: values for name, values in fields.items() if name.startswith(prefix)}
            answer = self.kind.parse(
                by_question(own)[slot.position], slot.unit.payload, slot.shown, self.settings
            )
            found.append((own, answer))
        return found

    def golds(self) -> list[tuple[Slot, Any]]:
        slots = Slot.objects.filter(assignment=self.page, unit__gold__isnull=False)
        return [(slot, slot.unit.gold) for slot in slots.select_related("unit")]

    def submit_well(self) -> None:
        answer = self.client.post(
            f"/work/{self.page.key}/submit",
            self.good_answers(Form(self.html())),
            headers={"Accept": "application/json"},
        )
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module", params=SLUGS)
def _opened_once(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Case]:
    with undone_at_the_end(django_db_blocker):
        yield Case(request.param)


@pytest.fixture
def case(_opened_once: Case, db: None) -> Case:
    return deepcopy(_opened_once)


def test_a_protocol_has_a_name_a_template_and_settings_that_work_as_they_come(case: Case) -> None:
    assert case.kind.name
    assert get_template(case.kind.template)
    assert case.kind.settings_model() == case.settings
    assert case.kind.wording_model() == case.wording


def test_a_page_has_what_its_composition_says(case: Case) -> None:
    drawn: dict[str, int] = {}
    for pool in Slot.objects.filter(assignment=case.page).values_list("unit__pool", flat=True):
        drawn[pool] = drawn.get(pool, 0) + 1
    assert drawn == {
        pool: count for pool, count in case.kind.composition(case.settings).items() if count
    }


def test_the_page_offers_what_the_answer_takes(case: Case) -> None:
    form = Form(case.html())
    for slot in Slot.objects.filter(assignment=case.page).select_related("unit"):
        for _, answer in case.ways(form, slot):
            assert json.loads(json.dumps(answer)) == answer
            assert case.kind.describe(answer, case.wording)
            assert len(case.kind.row(answer)) == len(case.kind.columns)


def test_no_option_can_be_left_without_words(case: Case) -> None:
    wording = case.kind.wording_model().model_dump()
    for name, options in wording.items():
        if not isinstance(options, dict):
            continue
        first = next(iter(options))
        others = {option: text for option, text in options.items() if option != first}
        for wrong in (others, {**options, "of our own": "Some words."}):
            with pytest.raises(Refused, match=r"These settings cannot be used|The wording of"):
                change_version(
                    study=case.study, by=case.corpus.owner, wording={**wording, name: wrong}
                )


def test_every_way_to_answer_is_an_answer_and_one_passes_a_gold(case: Case) -> None:
    for slot in Slot.objects.filter(assignment=case.page).select_related("unit"):
        payload, shown, gold = slot.unit.payload, slot.shown, slot.unit.gold
        ways = case.kind.ways(payload, shown, case.settings, Random(1))
        answers = [case.kind.parse(way, payload, shown, case.settings) for way in ways]
        assert len({case.kind.describe(answer, case.wording) for answer in answers}) > 1
        truth = case.kind.truth(payload, lambda image, caption: 1.0)
        assert truth is None or 0 <= truth <= 1
        assert gold is None or any(case.kind.check(answer, gold) for answer in answers)


def test_a_simulated_crowd_answers_it(case: Case) -> None:
    done = simulate_by_import(study=case.study, people=4, seed=1)
    assert done["refused"] == 0
    assert done["counted"] > 0


def test_no_answer_is_no_answer(case: Case) -> None:
    slot = Slot.objects.filter(assignment=case.page).select_related("unit")[0]
    with pytest.raises(FieldErrors):
        case.kind.parse({}, slot.unit.payload, slot.shown, case.settings)


def test_of_two_values_where_one_is_asked_for_none_is_chosen(case: Case) -> None:
    slot = Slot.objects.filter(assignment=case.page).select_related("unit")[0]
    payload = slot.unit.payload
    ways = case.kind.ways(payload, slot.shown, case.settings, Random(1))
    first, last = ways[0], ways[-1]
    for name in first.keys() & last.keys():
        said = []
        for both in ([*first[name], *last[name]], [*last[name], *first[name]]):
            with suppress(FieldErrors):
                fields = {**first, name: both}
                said.append(case.kind.parse(fields, payload, slot.shown, case.settings))
        assert not said or said[0] == said[1]


def test_a_gold_can_be_passed_and_can_be_failed_and_is_described(case: Case) -> None:
    form = Form(case.html())
    for slot, gold in case.golds():
        outcomes = {case.kind.check(answer, gold) for _, answer in case.ways(form, slot)}
        assert outcomes == {True, False}
        assert case.kind.describe(gold, case.wording)


def test_a_gold_that_says_why_is_checked_and_described_as_one_that_does_not(case: Case) -> None:
    form = Form(case.html())
    for slot, gold in case.golds():
        explained = {**gold, EXPLANATION: "A reason."}
        assert case.kind.describe(explained, case.wording) == case.kind.describe(gold, case.wording)
        for _, answer in case.ways(form, slot):
            assert case.kind.check(answer, explained) == case.kind.check(answer, gold)


def test_its_golds_are_trained_on_before_the_first_page(case: Case) -> None:
    change_version(study=case.study, by=case.corpus.owner, training_units=1, training_accuracy=100)
    case.go_on_as(making.rater(case.study))
    assert case.page.is_training
    case.submit_well()
    told = case.client.get(f"/work/{case.page.key}/done/").text
    ((slot, gold),) = case.golds()
    right = case.kind.named(gold, slot.unit.payload, slot.shown)
    assert "You qualified." in told
    assert escape(case.kind.retell(right, case.wording)) in told
    assert not draw(study=case.study, account=case.account).is_training


def test_what_a_page_says_of_a_unit_has_neither_gold_nor_ids(case: Case) -> None:
    page = page_of(Assignment.objects.select_related("study", "version").get(pk=case.page.pk))
    payloads = list(Slot.objects.order_by("position").values_list("unit__payload", flat=True))
    items = items_of(case.kind, payloads)
    for question, payload in zip(page.questions, payloads, strict=True):
        images, captions = case.kind.items(payload)
        assert set(images) <= set(items.images)
        assert set(captions) <= set(items.captions)
        shown = list(question.shown.values())
        assert not [
            value for value in shown if isinstance(value, int) and value in payload.values()
        ]
        assert "gold" not in question.shown
