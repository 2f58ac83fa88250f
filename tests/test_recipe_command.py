"""The recipes by command: to their releases on the demo's corpus, with a simulated crowd."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hits.demo import corpus as scenes
from hits.models import Corpus, Job, Release
from hits.pipeline.load import load
from hits.recipes import Release as ToRelease
from hits.recipes import recipes
from tests import making

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = "bison"
# Captions with five positives are rare in a small corpus.
IMAGES = {QUICK: 50, "eccv-preference": 400}


def drawn(folder: Path, images: int) -> Corpus:
    owner = making.user("rosa", is_researcher=True)
    corpus = Corpus.objects.create(slug="scenes", name="Scenes", owner=owner)
    scenes.write(folder, images, 7)
    load(corpus=corpus.slug, source=str(folder), progress=lambda *told, **more: None)
    return corpus


def told(recipe: str, *more: str, **options: object) -> str:
    said = StringIO()
    given = ["--corpus", "scenes", "--by", "rosa@example.org", *more]
    call_command("recipe", recipe, *given, stdout=said, stderr=StringIO(), **options)
    return said.getvalue()


@pytest.mark.parametrize(
    "recipe",
    [pytest.param(each, marks=() if each == QUICK else pytest.mark.deep) for each in recipes()],
)
def test_a_recipe_runs_to_its_releases_with_a_simulated_crowd(recipe: str, tmp_path: Path) -> None:
    drawn(tmp_path, IMAGES.get(recipe, 120))
    stopped = told(recipe, "--queries", "10")
    assert stopped.count("●") == 1
    ended = told(recipe, "--simulate")
    steps = recipes()[recipe].steps
    assert ended.count("✓") == len(steps)
    made = {f"scenes-{recipe}-{step.key}" for step in steps if isinstance(step, ToRelease)}
    assert set(Release.objects.values_list("name", flat=True)) == made
    asked = Job.objects.count()
    assert told(recipe, "--show") == ended
    assert Job.objects.count() == asked


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--corpus", "none", "--by", "rosa@example.org"], "There is no corpus 'none'"),
        (["--corpus", "here", "--by", "nobody@example.org"], "There is no login"),
        (["--corpus", "here", "--by", "rita@example.org"], "has neither this corpus"),
        (["--corpus", "here", "--by", "rosa@example.org", "--machine", "smell"], "no machine"),
    ],
)
def test_the_command_says_what_it_does_not_find(given: list[str], why: str) -> None:
    owner = making.user("rosa", is_researcher=True)
    Corpus.objects.create(slug="here", name="Here", owner=owner)
    making.user("rita")
    with pytest.raises(CommandError, match=why):
        call_command("recipe", "eccv", *given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--split", "tset"], "no image with a file in the split 'tset' of"),
        (["--train-split", "tarin"], "no image with a file in the split 'tarin' of"),
        (["--queries", "0"], "A sample has from 1 to"),
    ],
)
def test_a_slip_at_the_start_does_not_take_the_name(given: list[str], why: str) -> None:
    corpus = making.corpus(images=3)
    start = ["recipe", "eccv", "--corpus", corpus.slug, "--by", corpus.owner.email]
    with pytest.raises(CommandError, match=why):
        call_command(*start, *given)
    assert not Job.objects.exists()
