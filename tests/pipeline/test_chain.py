"""Studies that feed each other: what is finished goes on, and people of one stage never get the
next, on any channel."""

from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from hits.models import Account, Assignment, Corpus, Slot, Study, StudyRow, Unit
from hits.pipeline.chain import choose_feeders, exclude, stop_excluding
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw, draw_for_ticket
from hits.pipeline.errors import Closed, NotAllowed, Refused
from hits.pipeline.open import add_units, create_study, open_study
from hits.pipeline.people import account_at, give_consent, link
from hits.pipeline.submit import submit
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

PAGE = {"units_a_page": 4, "golds_a_page": 0}


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=9)


@pytest.fixture
def captions(corpus: Corpus) -> Study:
    """The second stage, of eight pairs of images."""
    study = a_study(corpus, "bison_captions")
    images = corpus.images.order_by("pk").values_list("pk", flat=True)
    bring(study, [{"positive": one, "negative": other} for one, other in pairwise(images)])
    open_study(study=study)
    return study


def a_study(corpus: Corpus, protocol: str, slug: str = "", **values: Any) -> Study:
    return create_study(
        slug=slug or protocol.replace("_", "-"),
        name=slug or protocol,
        corpus=corpus,
        protocol_slug=protocol,
        by=corpus.owner,
        settings=PAGE,
        **values,
    )


def bring(study: Study, rows: list[dict[str, Any]]) -> None:
    StudyRow.objects.bulk_create(
        StudyRow(study=study, number=number, content=row) for number, row in enumerate(rows, 1)
    )


def captioned_pairs(captions: Study) -> list[dict[str, Any]]:
    """Rows of the third stage about what the second asks."""
    return [
        {
            "caption": unit.payload["captions"][0],
            "positive": unit.payload["positive"],
            "negative": unit.payload["negative"],
        }
        for unit in Unit.objects.filter(study=captions).order_by("pk")
    ]


def fed(captions: Study, slug: str = "images") -> Study:
    """The third stage, open, of what the second has finished."""
    study = a_study(captions.corpus, "bison_images", slug, judgments_wanted=2)
    choose_feeders(study=study, feeders=[captions])
    open_study(study=study)
    return study


def choose(study: Study, account: Account, choice: str) -> Assignment:
    """A page with the same choice everywhere."""
    page = draw(study=study, account=account)
    fields = {f"q{slot.position}-choice": [choice] for slot in page.slots.all()}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    return page


def agrees(study: Study, account: Account) -> None:
    give_consent(study=study, account=account)


def test_what_is_finished_becomes_units_and_what_nobody_found_a_caption_for_does_not(
    captions: Study,
) -> None:
    chosen = choose(captions, making.rater(captions), "1")
    choose(captions, making.rater(captions), "none")
    images = fed(captions)
    asked: set[Any] = {
        (unit.payload["positive"], unit.payload["negative"], unit.payload["caption"])
        for unit in Unit.objects.filter(study=images)
    }
    answered = {
        (payload["positive"], payload["negative"], caption)
        for payload, caption in chosen.slots.values_list(
            "unit__payload", "judgment__answer__caption"
        )
    }
    assert asked == answered
    assert len(asked) == 4


def test_what_is_finished_later_is_taken_over_once(captions: Study) -> None:
    first, second = making.rater(captions), making.rater(captions)
    choose(captions, first, "1")
    images = fed(captions)
    before = set(Unit.objects.filter(study=images).values_list("pk", flat=True))
    assert add_units(study=images) == {}
    choose(captions, second, "1")
    assert add_units(study=images) == {"unit": 4}
    assert add_units(study=images) == {}
    units = Unit.objects.filter(study=images)
    assert units.count() == 8
    assert before < set(units.values_list("pk", flat=True))


def test_a_command_feeds_too_and_says_why_it_refuses(captions: Study, corpus: Corpus) -> None:
    choose(captions, making.rater(captions), "1")
    images = a_study(corpus, "bison_images", "images")
    call_command("feed", "images", by=["bison-captions"])
    assert list(images.fed_by.all()) == [captions]
    with pytest.raises(CommandError, match="is fed by studies of"):
        call_command("feed", "images", by=["images"])
    with pytest.raises(CommandError, match="no study 'nothing'"):
        call_command("feed", "nothing")


def test_only_an_opened_study_of_the_right_kind_on_the_same_corpus_feeds(
    captions: Study, corpus: Corpus
) -> None:
    images = a_study(corpus, "bison_images", "images")
    for wrong, why in [
        (a_study(corpus, "bison_captions", "draft"), "has not been opened"),
        (making.study(corpus), "is fed by studies of"),
        (a_study(making.corpus(), "bison_captions", "elsewhere"), "another corpus"),
    ]:
        with pytest.raises(Refused, match=why):
            choose_feeders(study=images, feeders=[wrong])
    with pytest.raises(Refused, match="fed by no other study"):
        choose_feeders(study=a_study(corpus, "bison_captions", "second"), feeders=[captions])
    assert not images.fed_by.exists()


def test_an_open_study_forgets_no_feeder(captions: Study) -> None:
    choose(captions, making.rater(captions), "1")
    images = fed(captions)
    with pytest.raises(Closed, match="forgets no feeder"):
        choose_feeders(study=images, feeders=[])


def test_people_of_the_second_stage_never_get_the_third(captions: Study) -> None:
    worker = making.rater(captions)
    choose(captions, worker, "1")
    images = fed(captions)
    agrees(images, worker)
    with pytest.raises(NotAllowed, match="rules this one out"):
        draw(study=images, account=worker)


def test_nor_do_people_of_the_third_get_the_second(captions: Study) -> None:
    choose(captions, making.rater(captions), "1")
    images = fed(captions)
    worker = making.rater(images)
    choose(images, worker, "first")
    agrees(captions, worker)
    with pytest.raises(NotAllowed, match="rules this one out"):
        draw(study=captions, account=worker)


def test_nor_when_they_were_let_into_it_before_the_rule_existed(
    captions: Study, corpus: Corpus
) -> None:
    worker = making.rater(captions)
    images = a_study(corpus, "bison_images", "images", judgments_wanted=2)
    agrees(images, worker)
    choose(captions, worker, "1")
    choose_feeders(study=images, feeders=[captions])
    open_study(study=images)
    with pytest.raises(NotAllowed, match="rules this one out"):
        draw(study=images, account=worker)


def test_what_they_judged_there_before_the_rule_existed_is_not_used(
    captions: Study, corpus: Corpus
) -> None:
    worker, other = making.rater(captions), making.rater(captions)
    choose(captions, worker, "1")
    images = a_study(making.corpus(), "bison_images", "images")
    bring(images, captioned_pairs(captions))
    open_study(study=images)
    for account in (worker, other):
        agrees(images, account)
    pages = [choose(images, account, "first") for account in (worker, other)]
    Study.objects.filter(pk=images.pk).update(corpus=corpus)

    assert choose_feeders(study=images, feeders=[captions]) == 1

    uses = [Assignment.objects.get(pk=page.pk).use for page in pages]
    assert uses == ["not_used", "used"]
    reason = pages[0].decisions.get(kind="use", value="not_used").reason
    assert "kept apart" in reason
    assert set(pages[0].slots.values_list("state", flat=True)) == {"not_used"}


def test_stages_on_one_corpus_are_apart_though_neither_feeds_the_other(captions: Study) -> None:
    worker = making.rater(captions)
    choose(captions, worker, "1")
    images = a_study(captions.corpus, "bison_images", "images")
    bring(images, captioned_pairs(captions))
    open_study(study=images)
    agrees(images, worker)

    with pytest.raises(NotAllowed, match="rules this one out"):
        draw(study=images, account=worker)
    with pytest.raises(Refused, match="may never work here"):
        stop_excluding(study=images, other=captions)


def test_nor_under_another_login_of_theirs(captions: Study) -> None:
    worker, other_login = making.rater(captions), making.rater(captions)
    choose(captions, worker, "1")
    images = fed(captions)
    agrees(images, other_login)
    link(account=other_login, same_as=worker)
    other_login.refresh_from_db()
    with pytest.raises(NotAllowed, match="rules this one out"):
        draw(study=images, account=other_login)


def test_nor_at_a_marketplace_where_they_get_a_payable_page_without_units(captions: Study) -> None:
    worker = making.rater(captions)
    choose(captions, worker, "1")
    images = fed(captions)
    turker = account_at(channel="local", external_id="A1")
    link(account=turker, same_as=worker)
    turker.refresh_from_db()
    agrees(images, turker)
    page = draw_for_ticket(
        study=images, account=turker, lease_until=timezone.now() + timedelta(hours=1), may_hold=True
    )
    assert not page.slots.filter(unit__gold__isnull=True).exists()


def test_work_of_both_stages_that_turns_out_to_be_one_person_s_leaves_the_third(
    captions: Study,
) -> None:
    one = making.rater(captions)
    choose(captions, one, "1")
    images = fed(captions)
    second = making.rater(images)
    choose(images, second, "first")
    third = Unit.objects.filter(study=images)
    assert sum(third.values_list("counted", flat=True)) == 4
    link(account=second, same_as=one)
    assert sum(third.values_list("counted", flat=True)) == 0
    assert set(Slot.objects.filter(unit__study=images).values_list("state", flat=True)) == {
        "same_person"
    }
    kept = Slot.objects.filter(unit__study=captions).values_list("state", flat=True)
    assert set(kept) == {"counted"}
    assert_places_reconcile()


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_one_person_gets_one_stage() -> None:
    corpus = making.corpus(images=25)
    captions = a_study(corpus, "bison_captions")
    images = corpus.images.order_by("pk").values_list("pk", flat=True)
    bring(captions, [{"positive": one, "negative": other} for one, other in pairwise(images)])
    open_study(study=captions)
    for _ in range(3):
        choose(captions, making.rater(captions), "1")
    third = fed(captions)
    for _ in range(3):
        worker = making.rater(captions)
        second_login = making.rater(third)
        link(account=second_login, same_as=worker)
        worker.refresh_from_db()
        second_login.refresh_from_db()
        agrees(third, worker)
        got = at_once(
            [
                partial(draw, study=captions, account=worker),
                partial(draw, study=third, account=second_login),
            ]
        )
        assert sorted(type(each).__name__ for each in got) == ["Assignment", "NotAllowed"]


def test_a_rule_that_comes_late_takes_open_pages_back_and_says_of_how_many_people(
    corpus: Corpus,
) -> None:
    one, other = making.study(corpus), making.study(corpus)
    worker = making.rater(one)
    making.work(one, worker)
    agrees(other, worker)
    page = draw(study=other, account=worker)
    assert exclude(study=one, other=other) == 1
    page.refresh_from_db()
    assert page.state == Assignment.State.RETURNED
    assert_places_reconcile()


def test_who_feeds_and_is_kept_apart_stays_so(captions: Study) -> None:
    choose(captions, making.rater(captions), "1")
    images = fed(captions)
    with pytest.raises(Refused, match="may never work here"):
        stop_excluding(study=images, other=captions)
    assert images.exclusions.filter(other=captions).exists()
