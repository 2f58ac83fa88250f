from collections.abc import Iterator
from copy import deepcopy

import pytest
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from hits.models import Assignment, Curation, Slot, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.doubtful import denied, rated_low
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NothingLeft, Refused
from hits.pipeline.golds import promising, promote, retire
from hits.pipeline.rejudge import overlap, rejudge
from hits.pipeline.remove import Thing, remove
from hits.pipeline.submit import submit
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from tests.undoing import undone_at_the_end

SETTINGS = {"justification": False, "candidates_a_page": 10}
WHY = "A reviewer asked."


@pytest.fixture(scope="module")
def _judged_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Study]:
    """One page by one person."""
    with undone_at_the_end(django_db_blocker):
        study = making.study(
            making.corpus(images=12), settings=SETTINGS, information="About this study."
        )
        making.work(study, making.rater(study), "no")
        check_submitted()
        yield study


@pytest.fixture
def study(_judged_once: Study, db: None) -> Study:
    return deepcopy(_judged_once)


def judged(study: Study) -> list[Unit]:
    return list(Unit.objects.filter(study=study, gold__isnull=True, counted=1).order_by("pk"))


def test_units_are_asked_of_more_people(study: Study) -> None:
    first, second, *_ = judged(study)
    again = rejudge(study=study, keys=[first.key, second.key], more=2, reason=WHY, by=None)
    assert (again.units, again.set_aside) == (2, 0)
    first.refresh_from_db()
    assert (first.wanted, first.counted, first.is_open) == (3, 1, True)
    event = Curation.objects.get(study=study)
    assert event.details["units"] == sorted(
        [first.key, second.key], key=event.details["units"].index
    )
    assert_places_reconcile()


def test_what_was_said_is_set_aside_and_the_unit_is_asked_anew_of_others(study: Study) -> None:
    first, *_ = judged(study)
    again = rejudge(study=study, keys=[first.key], set_aside=True, reason=WHY, by=None)
    assert (again.units, again.set_aside) == (1, 1)
    first.refresh_from_db()
    assert (first.wanted, first.counted, first.is_open) == (1, 0, True)
    slot = Slot.objects.select_related("assignment__account").get(unit=first)
    assert slot.state == "set_aside"
    page = draw(study=study, account=slot.assignment.account)
    assert not page.slots.filter(unit=first).exists()
    assert_places_reconcile()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"keys": [], "more": 1}, "Name the units"),
        ({"keys": ["nothing"], "more": 1}, "no unit nothing"),
        ({"keys": ["nothing"]}, "how many more"),
    ],
)
def test_what_cannot_be_asked_again_is_refused(
    study: Study, given: dict[str, object], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        rejudge(study=study, reason=WHY, by=None, **given)  # type: ignore[arg-type]


def test_what_was_removed_is_restored_before_it_is_asked_again_or_made_a_gold(
    study: Study,
) -> None:
    first, second, *_ = judged(study)
    remove(study=study, things=[Thing(**first.payload)], reason=WHY, by=None)
    keys = [first.key, second.key]
    with pytest.raises(Refused, match=f"Restore first .*: {first.key}[.]"):
        rejudge(study=study, keys=keys, more=1, reason=WHY, by=None)
    with pytest.raises(Refused, match=f"Restore first .*: {first.key}[.]"):
        promote(study=study, keys=keys, agreement=1, reason=WHY, by=None)


def test_units_on_which_people_do_not_agree_make_no_golds(study: Study) -> None:
    unjudged = Unit.objects.filter(study=study, gold__isnull=True, counted=0).first()
    assert unjudged is not None
    with pytest.raises(Refused, match=f"do not agree that much on {unjudged.key}"):
        promote(study=study, keys=[unjudged.key], agreement=1, reason=WHY, by=None)


def test_an_overlap_sample_is_drawn_by_its_seed(study: Study) -> None:
    given = {"study": study, "units": 5, "judgments": 3, "reason": WHY, "by": None}
    assert overlap(seed=1, **given).units == 5  # type: ignore[arg-type]
    drawn = set(Unit.objects.filter(study=study, wanted=3).values_list("key", flat=True))
    overlap(seed=1, **given)  # type: ignore[arg-type]
    assert drawn == set(Unit.objects.filter(study=study, wanted=3).values_list("key", flat=True))
    overlap(seed=2, **given)  # type: ignore[arg-type]
    assert Unit.objects.filter(study=study, wanted=3).count() > 5
    study.state = Study.State.CLOSED
    with pytest.raises(Closed, match="reopen it"):
        overlap(seed=3, **given)  # type: ignore[arg-type]


def test_a_promoted_gold_is_asked_of_everybody_but_who_judged_it(study: Study) -> None:
    ready = promising(study=study, judgments=1)
    keys = [each.unit.key for each in ready]
    assert keys
    assert all(each.pool == "true_negative" and each.agreement == 1 for each in ready)
    with pytest.raises(Refused, match="no unit nothing"):
        promote(study=study, keys=["nothing"], agreement=1, reason=WHY, by=None)
    made = promote(study=study, keys=keys, agreement=1, reason=WHY, by=None)
    with pytest.raises(Refused, match=f"A gold was made already of {keys[0]}"):
        promote(study=study, keys=keys[:1], agreement=1, reason=WHY, by=None)
    assert promising(study=study, judgments=1) == []
    Unit.objects.filter(study=study, gold__isnull=False, promoted_from__isnull=True).update(
        excluded=True
    )
    judge = Slot.objects.get(unit__key=keys[0], unit__study=study).assignment.account
    asked = draw(study=study, account=judge).slots.filter(unit__gold__isnull=False)
    assert not asked.exists()
    stranger = making.rater(study)
    page = draw(study=study, account=stranger)
    (shown,) = page.slots.filter(unit__gold__isnull=False).select_related("unit")
    assert shown.unit in made
    submit(assignment_key=page.key, account=stranger, fields=making.answers(20, "yes"))
    check_submitted()
    page.refresh_from_db()
    assert page.golds_failed == 1
    assert retire(study=study, key=shown.unit.key, reason=WHY, by=None).excluded
    assert Unit.objects.get(pk=ready[0].unit.pk).counted == 1


def test_who_was_asked_a_promoted_gold_is_not_asked_the_unit_it_comes_from(study: Study) -> None:
    source = promising(study=study, judgments=1)[0].unit
    (gold,) = promote(study=study, keys=[source.key], agreement=1, reason=WHY, by=None)
    Unit.objects.filter(study=study).exclude(pk=gold.pk).update(excluded=True)
    saw_it = making.rater(study)
    assert study.version is not None
    page = Assignment.objects.create(
        study=study,
        version=study.version,
        account=saw_it,
        person=saw_it.person,
        seed=1,
        lease_until=timezone.now(),
        state="returned",
    )
    Slot.objects.create(assignment=page, unit=gold, person=saw_it.person, position=1)
    Unit.objects.filter(pk=source.pk).update(excluded=False)
    rejudge(study=study, keys=[source.key], more=1, reason=WHY, by=None)
    with pytest.raises(NothingLeft):
        draw(study=study, account=saw_it)
    somebody = draw(study=study, account=making.rater(study))
    assert [slot.unit for slot in somebody.slots.select_related("unit")] == [source]


def test_a_pair_that_people_deny_or_a_file_rates_low_is_proposed_until_it_is_removed(
    study: Study,
) -> None:
    images = {image.pk: image for image in study.corpus.images.all()}
    own = [
        unit
        for unit in judged(study)
        if study.corpus.captions.filter(
            pk=unit.payload["caption"], image=unit.payload["image"]
        ).exists()
    ]
    found = denied(study)
    assert {each.thing for each in found} == {
        Thing(unit.payload["image"], unit.payload["caption"]) for unit in own
    }
    captions = list(study.corpus.captions.order_by("-pk")[:2])
    lines = ["caption,image,agg_score,sampling_method"] + [
        f"COCO_val2014:sentid:{caption.external_id},{images[caption.image_id].file_name},{score},x"
        for caption, score in zip(captions, ["1.25", "4.5"], strict=True)
    ]
    # Of a caption with another image nothing is said here.
    lines.append(f"COCO_val2014:sentid:{captions[0].external_id},another.jpg,0.1,x")
    (low,) = rated_low(study, lines, 2.5)
    assert (low.caption, low.why) == (captions[0].external_id, "Rated 1.25 of 5.")
    remove(study=study, things=[low.thing], reason=low.why, by=None)
    assert rated_low(study, lines, 2.5) == []
    with pytest.raises(Refused, match="needs the columns"):
        rated_low(study, ["a,b"], 2.5)
    with pytest.raises(Refused, match="Line 2: 'high' is no score"):
        rated_low(study, ["caption,image,agg_score", "a,b,high"], 2.5)
    with pytest.raises(Refused, match="Line 2 holds a NUL"):
        rated_low(study, ["caption,image,agg_score", "a\0,b,1"], 2.5)
    with pytest.raises(Refused, match="cannot be read as CSV: field larger"):
        rated_low(study, ["caption,image,agg_score", f"{'a' * 200_000},b,1"], 2.5)
