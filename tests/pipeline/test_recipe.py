"""Recipes: what each step left says where a procedure stands, and going on does only the rest."""

from typing import Any

import pytest

from hits.models import Assignment, Corpus, Exclusion, Job, Proposal, Release, Study, StudyRow
from hits.pipeline.draw import draw
from hits.pipeline.errors import PipelineError, Refused
from hits.pipeline.open import set_state
from hits.pipeline.recipe import Standing, State, go_on, standing
from hits.pipeline.runs import Run, ask, started_by
from hits.pipeline.submit import submit
from hits.recipes import Open, Propose, recipes
from tests import making

pytestmark = pytest.mark.django_db
# Where jobs are done, whose progress is written down beside them.
doing_jobs = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=8)


def bison(corpus: Corpus, **chosen: Any) -> Run:
    return Run.of(recipe="bison", corpus=corpus, by=corpus.owner, **chosen)


def states(run: Run) -> str:
    """The first letter of each step's state."""
    return "".join(each.state[0] for each in standing(run))


def somebody_answers(study: Study, choice: str) -> None:
    """A page of somebody new, with one choice everywhere."""
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = {f"q{slot.position}-choice": [choice] for slot in page.slots.all()}
    submit(assignment_key=page.key, account=account, fields=fields)


def waiting_in(run: Run) -> Standing:
    found = go_on(run)
    assert found is not None
    return found


def study_in(run: Run) -> Study:
    found = waiting_in(run).study
    assert found is not None
    return found


@doing_jobs
def test_a_recipe_goes_from_proposals_over_both_stages_to_its_release(corpus: Corpus) -> None:
    run = bison(corpus, queries=4)
    assert states(run) == "n" + "l" * 7
    captions = study_in(run)
    assert states(run) == "ddplllll"
    assert list(captions.proposals.values_list("query_sample", flat=True)) == [4]
    again = study_in(run)
    assert (again, Study.objects.count(), Proposal.objects.count()) == (captions, 1, 1)

    while waiting_in(run).title.startswith("Stage 2"):
        somebody_answers(captions, "1")
    images = study_in(run)
    assert Exclusion.objects.filter(study=images, other=captions).exists()
    while go_on(run) is not None:
        somebody_answers(images, "first")
    assert set(states(run)) == {"d"}
    assert standing(run)[-1].release == Release.objects.get()
    assert go_on(run) is None
    assert Release.objects.count() == 1

    Assignment.objects.filter(study=captions).update(doubt=1)
    assert states(run) == "dddpdddd"
    assert standing(run)[-1].release == Release.objects.get()


@doing_jobs
def test_a_run_asks_machines_again_who_answer_anew_where_the_corpus_has_grown(
    corpus: Corpus,
) -> None:
    def proposals_of(name: str) -> list[int]:
        study = study_in(bison(corpus, name=name))
        return list(study.proposals.values_list("pk", flat=True))

    before = proposals_of("first")
    assert proposals_of("second") == before
    image = corpus.images.order_by("pk")[0]
    corpus.captions.create(image=image, external_id="more", text="A bear reads a newspaper.")
    after = proposals_of("third")
    assert after != before
    assert states(bison(corpus, name="first")) == "ddplllll"
    assert proposals_of("first") == before


@doing_jobs
def test_machines_are_asked_again_until_a_study_was_made_of_their_answers(corpus: Corpus) -> None:
    run = Run.of(recipe="eccv", corpus=corpus, by=corpus.owner, machines=["palette"])
    study = study_in(run)
    ask(run)
    corpus.captions.create(image=corpus.images.all()[0], external_id="more", text="A bear.")
    assert (states(run)[0], study_in(run)) == ("d", study)
    assert Job.objects.filter(kind="propose").count() == 1

    Study.objects.update(slug="of-nobody")
    assert states(run)[0] == "n"
    assert study_in(run).proposals.get() != study.proposals.get()


@doing_jobs
def test_closing_a_study_goes_on_with_what_there_is() -> None:
    run = bison(making.corpus(images=12))
    captions = study_in(run)
    somebody_answers(captions, "1")
    assert waiting_in(run).title.startswith("Stage 2")
    set_state(study=captions, state="closed")
    assert waiting_in(run).title == "Stage 3: choose the image: people judge"


@doing_jobs
def test_a_step_that_is_refused_says_why_and_stays_to_be_done(corpus: Corpus) -> None:
    run = bison(corpus)
    captions = study_in(run)
    set_state(study=captions, state="closed")
    with pytest.raises(PipelineError, match="made no unit to judge"):
        go_on(run)
    assert states(run)[4] == "n"


@doing_jobs
def test_what_a_researcher_brings_is_waited_for(corpus: Corpus) -> None:
    run = Run.of(recipe="fg", corpus=corpus, by=corpus.owner)
    study = study_in(run)
    waiting = waiting_in(run)
    assert (waiting.state, waiting.text[:12]) == (State.PEOPLE, "Upload rows.")
    StudyRow.objects.create(study=study, number=1, content=proposed(corpus))
    assert waiting_in(run).title == "Correct the added details: people judge"


def proposed(corpus: Corpus) -> dict[str, object]:
    caption = corpus.captions.order_by("pk")[0]
    return {"image": caption.image_id, "caption": caption.pk, "proposed": f"{caption.text} Red."}


def test_what_was_chosen_at_the_start_counts_to_the_end(corpus: Corpus) -> None:
    ask(bison(corpus, queries=3, seed=5))
    found = bison(corpus, queries=7)
    assert (found.queries, found.seed, found.name) == (3, 5, f"{corpus.slug}-bison")
    assert [job.pk for job in started_by(corpus.owner)] == [Job.objects.get().pk]
    assert ask(found).pk == Job.objects.get().pk


def test_a_run_is_its_researchers_own_and_an_admins(corpus: Corpus) -> None:
    ask(bison(corpus))
    other, admin = making.user(is_researcher=True), making.user(is_staff=True)
    assert not Run.of(recipe="bison", corpus=corpus, by=other).is_started
    seen: Run = Run.of(recipe="bison", corpus=corpus, by=admin)
    assert (seen.is_started, seen.by) == (True, corpus.owner)


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"recipe": "soup"}, "There is no recipe 'soup'"),
        ({"recipe": "eccv", "name": "Not a name"}, "small letters"),
        ({"recipe": "eccv", "machines": ["smell"]}, "There is no machine 'smell'"),
        ({"recipe": "cxc", "machines": ["smell"]}, "There is no machine 'smell'"),
        ({"recipe": "bison", "machines": ["tfidf"]}, "no step to choose machines for"),
        ({"recipe": "eccv", "queries": 0}, "A sample has from 1 to"),
        ({"recipe": "bison", "seed": -1}, "A seed is a number from 0"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(
    corpus: Corpus, chosen: dict[str, str], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        Run.of(corpus=corpus, by=corpus.owner, **chosen)


@doing_jobs
def test_a_machine_that_ran_elsewhere_proposes_by_what_it_has_proposed(corpus: Corpus) -> None:
    for direction in ("i2t", "t2i"):
        making.proposals(corpus, machines=1, name="elsewhere", direction=direction)
    named = Proposal.objects.values_list("machine__name", flat=True)[0]
    run = Run.of(recipe="eccv", corpus=corpus, by=corpus.owner, machines=[named])
    study = study_in(run)
    assert [each.machine.name for each in study.proposals.all()] == [named]


def test_steps_name_only_what_comes_before_them() -> None:
    for recipe in recipes().values():
        before: set[str] = set()
        for step in recipe.steps:
            named = {*getattr(step, "studies", ()), *getattr(step, "fed_by", ())}
            named |= {*getattr(step, "continues", ())}
            named |= {step.proposed_by} - {""} if isinstance(step, Open) else set()
            assert named <= before, (recipe.slug, step)
            before |= {step.key} if isinstance(step, Open | Propose) else set()
        assert len({step.key for step in recipe.studies}) == len(recipe.studies)
