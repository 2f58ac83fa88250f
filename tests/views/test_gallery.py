"""Every form to try out: complete, in a study's own words, and storing nothing."""

import pytest
from django.test import Client

from hits.models import Judgment, Study, User
from hits.pipeline.versions import change_version
from hits.protocol import registry
from tests import making
from tests.forms import Form

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("rae", is_researcher=True))
    return client


def test_the_gallery_leads_to_every_form(desk: Client) -> None:
    text = desk.get("/research/forms/").text
    for slug, kind in registry().items():
        assert f"/research/forms/{slug}/" in text
        assert kind.description in text
        assert f"/forms/{slug}.webp" in text


@pytest.mark.parametrize("slug", sorted(registry()))
def test_a_form_can_be_filled_in_and_says_what_would_be_stored(slug: str, desk: Client) -> None:
    kind = registry()[slug]
    address = f"/research/forms/{slug}/"
    page = desk.get(address)
    assert page.status_code == 200
    assert page.text.count('class="question"') == len(kind.specimens)
    assert desk.post(address, {}).status_code == 422
    answer = desk.post(address, Form(page.text).filled(0))
    assert answer.status_code == 200, answer.text
    assert "This would be stored" in answer.text
    assert not Judgment.objects.exists()


def test_a_study_s_form_has_the_study_s_own_words() -> None:
    study: Study = making.study(making.corpus(images=6))
    owner = study.corpus.owner
    change_version(study=study, by=owner, wording={"question": "Does it fit?"})
    client = Client()
    client.force_login(owner)
    assert "Does it fit?" in client.get(f"/research/studies/{study.slug}/preview/").text


def test_what_is_missing_is_said_at_its_question(desk: Client) -> None:
    text = desk.post("/research/forms/matching/", {"q1-choice": "no"}).text
    assert text.count("Choose one of the four answers.") == 1
