import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from django.test import Client

from hits.models import Assignment, Corpus, Judgment, Slot, Study
from hits.pipeline.chain import choose_feeders
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import NotAllowed
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import give_consent
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from hits.protocol import FieldErrors, PageSettings, protocol
from hits.records import ImageShown, Items, Json, JudgedUnit, OutsideCaption, OutsideImage
from tests import making
from tests.protocols.cases.refinement import study_of_renovation
from tests.protocols.given import Given

RIGHT_TEXT, RENOVATION = protocol("right_text"), protocol("renovation")
SETTINGS = PageSettings()
PAYLOAD = {"image": 1, "proposed": "a red bus", "corrected": "a blue bus"}


def judged(choice: str, text: str = "") -> JudgedUnit:
    payload = {"image": 1, "caption": 11, "proposed": "a red bus"}
    answer = RENOVATION.parse({"choice": [choice], "text": [text]}, payload, None, SETTINGS)
    return JudgedUnit(
        key="1:11",
        protocol="renovation",
        pool="unit",
        payload=payload,
        images=(OutsideImage("1", "1.jpg"),),
        captions=(OutsideCaption("11", "a bus"),),
        aggregate=RENOVATION.aggregate([answer]),
        answers=[answer],
        shown=[None],
    )


def units(given: Given) -> list[Any]:
    return list(RIGHT_TEXT.units(given, SETTINGS, Random(0)))


def test_texts_that_were_corrected_become_units_and_others_do_not() -> None:
    finished = [judged("confirm"), judged("correct", "a blue bus"), judged("hopeless")]
    (unit,) = units(Given(finished=finished))
    assert unit.payload == {**PAYLOAD, "caption": 11}
    assert (unit.pool, unit.gold) == ("unit", None)


def test_rows_give_golds_and_further_units() -> None:
    row = {"image": 1, "wrong": "a red bus", "right": "a blue bus"}
    gold, unit = units(Given(uploaded=[{**row, "gold": True}, {**row, "right": "a bus"}]))
    assert (gold.pool, gold.gold, gold.payload) == ("gold", {"choice": "corrected"}, PAYLOAD)
    assert (unit.pool, unit.gold) == ("unit", None)


def test_an_answer_cannot_be_read_without_the_sides() -> None:
    with pytest.raises(LookupError):
        RIGHT_TEXT.parse({"choice": ["1"]}, PAYLOAD, None, SETTINGS)


def arranged(turn: int) -> Json:
    shown = RIGHT_TEXT.arrange(PAYLOAD, turn, Random(0))
    assert shown is not None
    return shown


def texts(turn: int) -> list[str]:
    items = Items({1: ImageShown("/images/x", 64, 48)}, {})
    return list(RIGHT_TEXT.show(PAYLOAD, arranged(turn), items)["texts"])


def test_the_texts_change_sides_in_turn() -> None:
    assert texts(1) == ["a blue bus", "a red bus"]
    assert texts(2) == ["a red bus", "a blue bus"]


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("side", ["1", "2"])
def test_the_text_is_stored_never_the_side(turn: int, side: str) -> None:
    answer = RIGHT_TEXT.parse({"choice": [side]}, PAYLOAD, arranged(turn), SETTINGS)
    assert PAYLOAD[answer["choice"]] == texts(turn)[int(side) - 1]


@pytest.mark.parametrize("sent", [[], [""], ["corrected"], ["3"]])
def test_there_are_two_texts_to_choose_from(sent: list[str]) -> None:
    with pytest.raises(FieldErrors) as wrong:
        RIGHT_TEXT.parse({"choice": sent}, PAYLOAD, arranged(1), SETTINGS)
    assert set(wrong.value.errors) == {"choice"}


@pytest.mark.parametrize(
    ("corrected", "proposed", "label"),
    [(2, 1, "corrected"), (1, 2, "proposed"), (1, 1, "proposed")],
)
def test_the_majority_decides_and_a_tie_is_no_confirmation(
    corrected: int, proposed: int, label: str
) -> None:
    said = [{"choice": "corrected"}] * corrected + [{"choice": "proposed"}] * proposed
    aggregate = RIGHT_TEXT.aggregate(said)
    assert (aggregate.label, aggregate.positive) == (label, label == "corrected")
    assert aggregate.value == corrected / (corrected + proposed)
    assert aggregate.distribution == {"corrected": corrected, "proposed": proposed}


# From the renovation to the test, through the pipeline

CORRECTION = "A rectangle of one colour."


def answered(page: Assignment, fields: dict[str, list[str]]) -> None:
    submit(assignment_key=page.key, account=page.account, fields=fields)
    check_submitted()


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=6)


@pytest.fixture
def renovation(corpus: Corpus) -> Study:
    """A page of which every second text was corrected."""
    study = study_of_renovation(corpus)
    page = draw(study=study, account=making.rater(study))
    fields = {}
    for slot in page.slots.select_related("unit"):
        n = slot.position
        fields[f"q{n}-choice"] = ["correct" if n % 2 else "confirm"]
        fields[f"q{n}-text"] = [CORRECTION]
        if slot.unit.gold:
            fields[f"q{n}-choice"] = ["hopeless"]
    answered(page, fields)
    return study


@pytest.fixture
def fed(corpus: Corpus, renovation: Study) -> Study:
    study = create_study(
        slug="wrong-or-right",
        name="Wrong or right",
        corpus=corpus,
        protocol_slug="right_text",
        by=corpus.owner,
    )
    choose_feeders(study=study, feeders=[renovation])
    open_study(study=study)
    return study


def released(study: Study, name: str) -> Any:
    made = release(studies=[study], name="texts", by=study.corpus.owner)
    return json.loads(path_of(made.files.get(name=name)).read_text())


@pytest.mark.django_db(transaction=True)
def test_a_release_has_every_text_of_the_corpus_as_people_left_it(renovation: Study) -> None:
    expected = {
        image.file_name.removesuffix(".png"): [
            caption.text for caption in image.captions.order_by("pk")
        ]
        for image in renovation.corpus.images.prefetch_related("captions")
    }
    for slot in Slot.objects.filter(unit__gold__isnull=True).select_related("unit", "judgment"):
        image = renovation.corpus.images.get(pk=slot.unit.payload["image"])
        own = list(image.captions.order_by("pk").values_list("pk", flat=True))
        name = image.file_name.removesuffix(".png")
        assert slot.judgment.answer is not None
        expected[name][own.index(slot.unit.payload["caption"])] = slot.judgment.answer["text"]
    assert released(renovation, "FG_ann.json") == expected
    assert Counter(text for own in expected.values() for text in own)[CORRECTION] >= 4


@pytest.mark.django_db(transaction=True)
def test_corrected_texts_are_tried_against_what_the_machine_said(fed: Study) -> None:
    assert fed.units.count() == Judgment.objects.filter(answer__choice="correct").count() > 3
    account = making.rater(fed)
    page = draw(study=fed, account=account)
    assert account.user is not None
    client = Client()
    client.force_login(account.user)
    html = client.get(f"/work/{page.key}/").text
    assert not [name for name in ("corrected", "proposed", "image_000") if name in html]
    fields = {}
    for slot in page.slots.select_related("unit"):
        assert slot.shown is not None
        side = slot.shown["order"].index("corrected" if slot.position > 1 else "proposed")
        fields[f"q{slot.position}-choice"] = [str(side + 1)]
    answered(page, fields)
    chosen = page.slots.exclude(position=1).select_related("unit")
    pairs = [
        {
            "image": f"image_{int(image.external_id):012d}",
            "wrong": slot.unit.payload["proposed"],
            "right": CORRECTION,
        }
        for slot in chosen.order_by("unit")
        for image in [fed.corpus.images.get(pk=slot.unit.payload["image"])]
    ]
    assert released(fed, "wrong_right.json") == pairs


@pytest.mark.django_db(transaction=True)
def test_people_who_wrote_a_text_do_not_judge_it(renovation: Study, fed: Study) -> None:
    writer = Assignment.objects.get(study=renovation).account
    give_consent(study=fed, account=writer)
    with pytest.raises(NotAllowed):
        draw(study=fed, account=writer)
