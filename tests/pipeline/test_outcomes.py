import pytest

from hits.models import Assignment, Study
from hits.pipeline import people
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.outcomes import outcomes_of
from hits.pipeline.release import release
from hits.pipeline.review import decide
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Four units a page: two pages used, two set aside for two reasons, one waits, and of one a
    question could not be judged."""
    settings = {"candidates_a_page": 4, "justification": False}
    study = making.study(making.corpus(images=14), settings=settings)
    pages = [making.work(study, making.rater(study)) for _ in range(4)]
    broken = draw(study=study, account=making.rater(study))
    unit = broken.slots.filter(unit__gold__isnull=True).earliest("position")
    fields = making.truthful(broken) | {f"q{unit.position}-broken": ["1"]}
    submit(assignment_key=broken.key, account=broken.account, fields=fields)
    waiting = draw(study=study, account=making.rater(study))
    wrong = making.answers(waiting.slots.count())
    submit(assignment_key=waiting.key, account=waiting.account, fields=wrong)
    check_submitted()
    owner = study.corpus.owner
    for page, reason in zip(pages, ["Not read.", "Copied."], strict=False):
        decide(assignment=page, by=owner, use="not_used", payment="approved", reason=reason)
    return study


def test_used_pending_and_set_aside_are_all_that_was_submitted(study: Study) -> None:
    found = outcomes_of(study)
    assert (found.submitted, found.used, found.pending) == (24, 11, 4)
    assert found.not_used == {"Not read.": 4, "Copied.": 4, "Could not be judged": 1}
    assert found.submitted == found.used + found.pending + found.set_aside


def test_the_sum_holds_when_two_accounts_turn_out_to_be_one_person(study: Study) -> None:
    first, second = Assignment.objects.order_by("-pk")[:2]
    people.link(account=first.account, same_as=second.account)
    found = outcomes_of(study)
    assert found.submitted == found.used + found.pending + found.set_aside == 24


@pytest.mark.django_db(transaction=True)
def test_a_releases_manifest_accounts_for_every_judgment(study: Study) -> None:
    made = release(studies=[study], name="all", by=study.corpus.owner)
    (entry,) = made.manifest["studies"]
    told = entry["judgments_accounted_for"]
    assert told["submitted"] == told["used"] + told["pending"] + sum(told["not_used"].values())
    assert told["submitted"] == sum(entry["judgments"].values()) == 24
