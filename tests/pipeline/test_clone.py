from decimal import Decimal

import pytest

from hits.models import Judgment, Study, Unit
from hits.pipeline.clone import PilotTime, clone_study, make_pilot, pilot_times, use_pilot
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.open import open_study
from hits.pipeline.plan import plan_of
from hits.pipeline.release import check
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


def test_a_copy_asks_the_same_and_has_nobodys_work(study: Study) -> None:
    making.work(study, making.rater(study))
    made = clone_study(study=study, slug="again", name="Again", by=study.corpus.owner)
    assert made.state == Study.State.DRAFT
    assert made.version is not None
    assert study.version is not None
    assert made.version.settings == study.version.settings
    open_study(study=made)
    assert keys(made) == keys(study)
    assert not Judgment.objects.filter(slot__unit__study=made).exists()


def test_a_pilot_has_the_units_of_its_pages_and_is_never_released(study: Study) -> None:
    pilot = make_pilot(study=study, pages=2, by=study.corpus.owner)
    open_study(study=pilot)
    assert pilot.units.filter(pool="candidate").count() == 2 * 4
    assert keys(pilot) < keys(study)
    with pytest.raises(Refused, match="never released"):
        check(studies=[pilot], name="pilot", by=study.corpus.owner)
    with pytest.raises(Refused, match="pilot itself"):
        make_pilot(study=pilot, pages=2, by=study.corpus.owner)


def test_the_plan_of_a_pilot_is_of_its_pages_alone(study: Study) -> None:
    pilot = make_pilot(study=study, pages=2, by=study.corpus.owner)
    plan = plan_of(pilot)
    assert (plan.judged, plan.pages, plan.cost) == (2 * 4, 2, Decimal("1.30"))


def test_the_median_time_of_a_pilot_gives_the_pay_for_a_wage(study: Study) -> None:
    pilot = make_pilot(study=study, pages=2, by=study.corpus.owner)
    timed = PilotTime(pilot, 12, 201.5)
    version = use_pilot(study=study, timed=timed, hourly=Decimal(15), by=study.corpus.owner)
    assert (version.pay, version.expected_minutes) == (Decimal("0.84"), 4)


def test_the_times_of_a_pilot_are_those_of_its_own_pages(study: Study) -> None:
    pilot = make_pilot(study=study, pages=2, by=study.corpus.owner)
    assert pilot_times(study) == []
    open_study(study=pilot)
    making.work(study, making.rater(study))
    account = making.rater(pilot)
    done = draw(study=pilot, account=account)
    times = {f"q{slot.position}-ms": ["1"] for slot in done.slots.all()}
    submit(assignment_key=done.key, account=account, fields=making.truthful(done) | times)
    (timed,) = pilot_times(study)
    assert timed.median_seconds == pytest.approx(0.001 * len(times))
    assert (timed.pages, timed.is_enough) == (1, False)


def test_a_pilot_that_nobody_did_gives_no_pay(study: Study) -> None:
    pilot = make_pilot(study=study, pages=2, by=study.corpus.owner)
    with pytest.raises(Refused, match="No page of the pilot was done"):
        PilotTime(pilot, 0, None).pay_for(Decimal(15))


def test_the_plan_of_a_draft_is_what_opening_makes(study: Study) -> None:
    draft = clone_study(study=study, slug="again", name="Again", by=study.corpus.owner)
    plan = plan_of(draft)
    assert plan.units == open_study(study=draft)
    candidates = draft.units.filter(pool="candidate").count()
    assert plan.pages == -(-candidates // 4)
    assert plan.cost == plan.pages * Decimal("0.65")
    assert plan.cost_with_fee == plan.pages * Decimal("0.78")
    assert len(plan.first_page) == 4 + 1 + 1


def keys(of: Study) -> set[str]:
    return set(Unit.objects.filter(study=of).values_list("key", flat=True))
