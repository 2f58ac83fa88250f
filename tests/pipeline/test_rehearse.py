from decimal import Decimal

import pytest
from django.core.management import call_command
from django.test import Client

from hits.models import Assignment, Study, Unit
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from hits.pipeline.open import create_study
from hits.pipeline.plan import plan_of
from hits.pipeline.rehearse import rehearse
from tests import making
from workers.work import WORK


def draft(protocol: str = "matching", **values: object) -> Study:
    corpus = making.corpus(images=10)
    study = create_study(
        slug="to-rehearse",
        name="To rehearse",
        corpus=corpus,
        protocol_slug=protocol,
        by=corpus.owner,
        pay="0.65",
        expected_minutes=3,
        **values,  # type: ignore[arg-type]
    )
    if protocol == "matching":
        study.proposals.set(making.proposals(corpus))
    return Study.objects.select_related("version", "corpus").get(pk=study.pk)


@pytest.mark.django_db(transaction=True)
def test_a_draft_is_rehearsed_by_page_api_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    study = draft(judgments_wanted=3)
    client = Client()
    client.force_login(study.corpus.owner)
    page = f"/research/studies/{study.slug}/rehearsal/"
    assert client.get(f"/api/studies/{study.slug}/rehearsal/").status_code == 404
    sent = {"people": "20", "bad_share": "0.2", "positives": "0.3", "hours_a_day": "0.5"}
    assert client.post(page, sent).status_code == 302
    job = study.jobs.get(kind="rehearse")
    jobs.run(job.pk, WORK)
    found = client.get(f"/api/studies/{study.slug}/rehearsal/").json()
    planned = plan_of(study)
    assert found["judged_pages"] == planned.pages
    assert (
        Decimal(found["cost_with_fee"]) == planned.cost_with_fee == planned.pages * Decimal("0.78")
    )
    assert Decimal(found["cost_with_replacements"]) > planned.cost_with_fee
    assert found["assumed"]["seconds"] == 180 / 20
    assert found["days"] == pytest.approx(found["hours"] / (20 * 0.5))
    assert 0.5 < found["positives"]["precision"]["mean"] <= 1
    shown = client.get(page).text
    assert "What would come of it" in shown
    assert f"${found['cost_with_fee']} with a fee" in shown
    call_command("rehearse", study.slug, people=20, bad=0.2)
    assert "the quality rules flag" in capsys.readouterr().out
    assert not Unit.objects.filter(study=study).exists()
    assert not Assignment.objects.exists()


@pytest.mark.django_db
def test_what_has_nothing_to_judge_or_too_few_people_is_not_rehearsed() -> None:
    study = draft(judgments_wanted=3)
    with pytest.raises(Refused, match="2 people cannot give 3 judgments"):
        rehearse(study=study, people=2)
    study.proposals.clear()
    with pytest.raises(Refused):
        rehearse(study=study, people=20)


@pytest.mark.django_db
def test_a_study_of_preferences_is_told_how_many_judgments_it_needs() -> None:
    study = draft("preference")
    caption, *_ = study.corpus.captions.order_by("pk")
    images = list(study.corpus.images.order_by("pk").values_list("pk", flat=True))
    study.rows.create(
        number=1,
        content={"caption": caption.pk, "outputs": {"one": images[:3], "two": images[3:6]}},
    )
    found = rehearse(study=study, people=20)
    assert found["compares"]
    assert found["positives"] == {}
    by_preference = {row["preference"]: row for row in found["power"]}
    assert by_preference[0.6]["independent"] == 209
    assert by_preference[0.6]["judgments"] > by_preference[0.7]["judgments"] > 53


@pytest.mark.django_db(transaction=True)
def test_a_scale_has_no_positives_and_its_rehearsal_says_so() -> None:
    study = draft("sts")
    one, two, *_ = study.corpus.captions.order_by("pk").values_list("pk", flat=True)
    study.rows.create(number=1, content={"caption1": one, "caption2": two})
    client = Client()
    client.force_login(study.corpus.owner)
    page = f"/research/studies/{study.slug}/rehearsal/"
    sent = {"people": "20", "bad_share": "0.2", "positives": "0.3", "hours_a_day": "1"}
    client.post(page, sent)
    jobs.run(study.jobs.get(kind="rehearse").pk, WORK)
    shown = client.get(page).text
    assert "nothing is a positive to be found or missed" in shown
    assert "Recall of the positives" not in shown
    assert "Bad pages that are flagged" in shown
