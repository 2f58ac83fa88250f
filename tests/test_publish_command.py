from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from hits.marketplace.models import HIT, HITType
from hits.marketplace.models import Assignment as TheirAssignment
from hits.models import Claim, Publication
from hits.pipeline.check import check_submitted
from hits.pipeline.reconcile import reconcile
from tests import making, selling

pytestmark = pytest.mark.usefixtures("requester")


def told(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_publish_says_what_it_costs_and_does_nothing_without_yes() -> None:
    study = selling.study()
    by = study.corpus.owner.email
    text = told("publish", study.slug, "local", "--by", by, "--reward", "0.65", "--pages", "10")
    assert "10 pages at $0.65 and $0.13 fee: $7.80" in text
    assert not Publication.objects.exists()


def test_publish_makes_the_hits_and_reconcile_confirms_and_pays() -> None:
    study = selling.study()
    arguments = ["--by", study.corpus.owner.email, "--reward", "0.65", "--pages", "2", "--yes"]
    requirements = ["--approved-hits", "0", "--approval-rate", "0", "--country", "US"]
    assert "2 HITs" in told("publish", study.slug, "local", *arguments, *requirements)
    assert len(HITType.objects.get().requirements) == 3
    assert HIT.objects.count() == 2
    publication = Publication.objects.get()
    selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    check_submitted()
    told("reconcile", str(publication.pk))
    assert Claim.objects.get().theirs == "approved"
    assert TheirAssignment.objects.get().status == TheirAssignment.Status.APPROVED
    told("reconcile")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (["nowhere", "local"], "no study"),
        (["STUDY", "nowhere"], "CHANNELS has local"),
        (["STUDY", "local", "--pages", "100000", "--yes"], "more pages"),
    ],
)
def test_what_cannot_be_published_is_refused(changes: list[str], why: str) -> None:
    study = selling.study()
    arguments = [study.slug if each == "STUDY" else each for each in changes]
    with pytest.raises(CommandError, match=why):
        told("publish", *arguments, "--by", study.corpus.owner.email, "--reward", "0.10")
    with pytest.raises(CommandError, match="There is no"):
        told("reconcile", "123456")


def test_who_has_nothing_to_do_with_a_study_does_not_pay_for_it() -> None:
    study, stranger = selling.study(), making.user().email
    with pytest.raises(CommandError, match=f"{stranger} is no researcher of {study.slug}"):
        told("publish", study.slug, "local", "--by", stranger, "--reward", "0.10", "--yes")
    assert not Publication.objects.exists()
