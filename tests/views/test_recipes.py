"""Recipes by click and by script: started once, shown step by step, gone on with."""

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token

from hits.models import Corpus, Job, Study
from hits.pipeline.recipe import go_on
from hits.pipeline.runs import Run
from hits.recipes import recipes
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=8)


@pytest.fixture
def desk(corpus: Corpus) -> Client:
    client = Client()
    client.force_login(corpus.owner)
    return client


def start(desk: Client, recipe: str, corpus: Corpus, **more: object) -> str:
    answer = desk.post(f"/research/recipes/{recipe}/", {"corpus": corpus.pk, "seed": 0, **more})
    return answer.headers.get("Location", answer.text)


def test_a_click_starts_a_recipe_and_its_page_has_every_step(desk: Client, corpus: Corpus) -> None:
    assert "A paper’s whole procedure" in desk.get("/research/recipes/").text
    address = start(desk, "cxc", corpus, queries=5, machines=["layout"])
    assert address == f"/research/recipes/cxc/{corpus.slug}/{corpus.slug}-cxc/"
    text = desk.get(address).text
    assert all(title in text for title in recipes()["cxc"].plan)
    assert "0 of 12 steps are done" in text
    assert "It is being worked on" in text
    assert desk.get("/research/recipes/").text.count(address) == 1
    (job,) = Job.objects.all()
    assert (job.arguments["queries"], job.arguments["machines"]) == (5, ["layout"])
    desk.post(address)
    assert Job.objects.count() == 1


def test_what_a_step_waits_for_is_a_click_away(desk: Client, corpus: Corpus) -> None:
    address = start(desk, "fg", corpus)
    Job.objects.update(state="done")
    waiting = go_on(Run.of(recipe="fg", corpus=corpus, by=corpus.owner))
    assert waiting is not None
    study = Study.objects.get()
    text = desk.get(address).text
    assert "It waits for people" in text
    assert f'href="/research/studies/{study.slug}/imports/">Upload rows' in text
    assert f'href="{address}"' in desk.get(f"/research/studies/{study.slug}/").text


def test_a_step_that_failed_says_why_on_the_page(desk: Client, corpus: Corpus) -> None:
    address = start(desk, "bison", corpus)
    Job.objects.update(state="failed", message="The split has no images.")
    text = desk.get(address).text
    assert "A step failed" in text
    assert "The split has no images." in text
    desk.post(address)
    assert Job.objects.filter(state="queued").count() == 1


def test_a_name_that_cannot_be_is_refused_in_the_form(desk: Client, corpus: Corpus) -> None:
    assert "small letters" in start(desk, "bison", corpus, name="Upper")
    assert not Job.objects.exists()


def test_a_script_sees_the_same_steps_and_goes_on(corpus: Corpus) -> None:
    token = Token.objects.create(user=corpus.owner)
    script = Client(headers={"authorization": f"Token {token.key}"})
    address = f"/api/corpora/{corpus.slug}/recipes/bison/"
    before = script.get(address).json()
    assert (before["is_started"], before["split"], len(before["steps"])) == (False, "test", 8)
    assert before["steps"][0] == {
        "key": "propose-neighbours",
        "title": "Stage 1: images with similar captions are paired",
        "state": "now",
        "text": "To propose: caption_mean",
        "study": None,
        "release": None,
    }
    asked = script.post(address, {"queries": 3}, content_type="application/json")
    assert (asked.status_code, asked.json()["kind"]) == (202, "recipe")
    assert script.get(address).json()["is_started"]
    assert script.get(f"{address}?name=Not a name").status_code == 400
    assert [each["slug"] for each in script.get("/api/recipes/").json()] == list(recipes())
