import pytest

from hits.models import Decision, Slot, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.review import decide, queue
from hits.pipeline.show import page_of
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db


def test_a_page_has_eighteen_candidates_and_two_golds() -> None:
    study = making.study()
    page = draw(study=study, account=making.rater(study))
    pools = list(Slot.objects.filter(assignment=page).values_list("unit__pool", flat=True))
    assert sorted(pools) == ["candidate"] * 18 + ["true_negative", "true_positive"]
    assert len(page_of(page).questions) == 20


def test_a_page_with_good_golds_is_used_and_paid_by_rule() -> None:
    study = making.study()
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.truthful(page))
    assert check_submitted() == 1
    page.refresh_from_db()
    assert (page.use, page.payment, page.golds_failed) == ("used", "approved", 0)
    assert Unit.objects.filter(study=study, counted=1).count() == 18
    assert not Unit.objects.filter(study=study, held__gt=0).exists()


def test_a_page_that_failed_a_gold_waits_for_a_person_and_unused_units_go_out_again() -> None:
    study = making.study()
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(20))
    check_submitted()
    assert list(queue(study)) == [page]
    decide(assignment=page, by=study.corpus.owner, use="not_used", payment="approved", reason="No")
    assert not Unit.objects.filter(study=study, counted__gt=0).exists()
    assert not queue(study).exists()
    assert Decision.objects.count() == 2
