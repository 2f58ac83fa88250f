"""Setting a draft up: machines asked from its own page."""

import pytest
from django.test import Client

from hits.models import Study
from hits.pipeline.open import create_study
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> Study:
    corpus = making.corpus(images=8)
    return create_study(
        slug="a-draft", name="A draft", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )


@pytest.fixture
def desk(draft: Study) -> Client:
    client = Client()
    client.force_login(draft.corpus.owner)
    return client


def test_a_draft_without_proposals_leads_to_a_machine_and_shows_its_job(
    draft: Study, desk: Client
) -> None:
    address = f"/research/studies/{draft.slug}/propose/"
    assert (
        f'href="{address}">Let a machine propose'
        in desk.get(f"/research/studies/{draft.slug}/").text
    )
    form = desk.get(address).text
    assert "caption to image" in form
    assert "image to image" not in form
    asked = {"machine": "palette", "directions": "t2i", "split": "test", "train_split": "test"}
    assert "depth" in desk.post(address, asked).text
    answer = desk.post(address, asked | {"depth": 25, "seed": 0, "query_sample": 2}, follow=True)
    job = draft.jobs.get()
    assert (job.kind, job.corpus, job.arguments["directions"]) == ("propose", draft.corpus, ["t2i"])
    assert job.arguments["query_sample"] == 2
    assert f'data-job="/research/jobs/{job.pk}/"' in answer.text


def test_only_a_draft_that_takes_proposals_asks_for_them(draft: Study, desk: Client) -> None:
    Study.objects.update(protocol="detectors")
    answer = desk.get(f"/research/studies/{draft.slug}/propose/")
    assert answer.headers["Location"] == f"/research/studies/{draft.slug}/"


def test_a_draft_says_which_papers_study_it_is_like_and_what_is_changed(
    draft: Study, desk: Client
) -> None:
    own = f"/research/studies/{draft.slug}/"
    change_version(study=draft, by=draft.corpus.owner, pay="1.40")
    assert "As in ECCV Caption, “Stage 1: matching" in desk.get(own).text
    assert "but for" not in desk.get(own).text
    settings = {"candidates_a_page": 9}
    change_version(study=draft, by=draft.corpus.owner, pay="2", settings=settings)
    changed = "but for “Candidates on a page”, “Pay a page, in dollars”."
    assert changed in desk.get(own).text


def test_a_draft_offers_every_machine_in_the_papers_direction(draft: Study, desk: Client) -> None:
    across = making.proposals(draft.corpus, machines=2, direction="t2i")
    wanted = making.proposals(draft.corpus, machines=2, direction="i2t")
    address = f"/research/studies/{draft.slug}/"
    page = desk.get(address)
    assert page.context["chosen_ids"] == set(wanted)
    assert page.text.index("Image to caption, as in ECCV Caption") < page.text.index(
        "Caption to image</legend>"
    )
    assert not draft.proposals.exists()
    desk.post(address + "proposals/", {"proposal": across[0]})
    page = desk.get(address)
    assert page.context["chosen_ids"] == {across[0]}
    assert "“Direction”" in page.text


def test_what_a_protocol_does_not_ask_about_cannot_be_chosen(draft: Study, desk: Client) -> None:
    (within,) = making.proposals(draft.corpus, machines=1)
    draft.corpus.proposals.update(direction="i2i")
    address = f"/research/studies/{draft.slug}/proposals/"
    assert "does not ask about" in desk.post(address, {"proposal": within}, follow=True).text
    assert not draft.proposals.exists()
    assert "No proposal is chosen." in desk.post(address, {}, follow=True).text
