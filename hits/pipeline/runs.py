"""Runs: a recipe on a corpus under a name, with what was chosen when it was started: the first job
of a run says what that was."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from django.db import transaction
from django.db.models import Count, Max, Min
from django.utils.text import slugify

from hits.models import Corpus, Job, Proposal, Study, User
from hits.models.job import JobQuerySet
from hits.pipeline import jobs, propose
from hits.pipeline.errors import Refused
from hits.recipes import Propose, Recipe, recipes

KIND = "recipe"
QUEUE = "cpu"
DEPTH = 25
LONGEST_NAME = 30
USUAL_SPLITS = ("test", "val", "")
TRAINING = "train"
RUNS_SHOWN = 20


@dataclass(frozen=True)
class Run:
    """A recipe on a corpus, under a name that its studies and releases begin with."""

    recipe: Recipe
    corpus: Corpus
    by: User
    name: str
    split: str
    train_split: str
    machines: tuple[str, ...] = ()
    queries: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, *, recipe: str, corpus: Corpus, by: User, name: str = "", **chosen: Any) -> Self:
        """With what was chosen when it was started; what is chosen now counts for a new one."""
        if recipe not in recipes():
            raise Refused(f"There is no recipe {recipe!r}. There are {', '.join(recipes())}.")
        name = name or usual_name(recipe, corpus)
        if name != slugify(name) or len(name) > LONGEST_NAME:
            raise Refused(f"Name it in up to {LONGEST_NAME} small letters, digits and hyphens.")
        started = _jobs_of(corpus, recipe, name)
        if not by.is_staff:
            started = started.filter(arguments__by=by.pk)
        first = started.order_by("pk").first()
        given = chosen if first is None else first.arguments
        if first is None:
            propose.refuse_numbers(
                {"query_sample": given.get("queries"), "seed": given.get("seed") or 0}
            )
            if given.get("machines") and not _lets_choose(recipes()[recipe]):
                raise Refused(f"The recipe {recipe} has no step to choose machines for.")
        split = given.get("split")
        split = usual_split(corpus) if split is None else split
        run = cls(
            recipe=recipes()[recipe],
            corpus=corpus,
            by=by if first is None else User.objects.get(pk=given["by"]),
            name=name,
            split=split,
            train_split=given.get("train_split") or _usual_training(corpus, split),
            machines=tuple(given.get("machines") or ()),
            queries=given.get("queries"),
            seed=given.get("seed") or 0,
        )
        run._refuse_machines()
        return run

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.slug,
            "corpus": self.corpus.pk,
            "by": self.by.pk,
            "name": self.name,
            "split": self.split,
            "train_split": self.train_split,
            "machines": list(self.machines),
            "queries": self.queries,
            "seed": self.seed,
        }

    @property
    def is_started(self) -> bool:
        return self.jobs.exists()

    @cached_property
    def jobs(self) -> JobQuerySet:
        return _jobs_of(self.corpus, self.recipe.slug, self.name).filter(arguments__by=self.by.pk)

    @property
    def mark(self) -> str:
        """What machines are asked under, so that the run knows their answers."""
        return f"{self.recipe.slug}/{self.by.pk}/{self.name}"

    def slug_of(self, key: str) -> str:
        return slug_of(self.name, key)

    def machines_of(self, step: Propose) -> tuple[str, ...]:
        return self.machines or step.machines if step.may_choose else step.machines

    def _refuse_machines(self) -> None:
        """A machine that neither is here nor has proposed what a step needs."""
        for step in self.recipe.steps:
            if isinstance(step, Propose):
                for machine in self.machines_of(step):
                    if not proposed(self, machine, step.directions):
                        propose.check(machine=machine, directions=step.directions)


def _lets_choose(recipe: Recipe) -> bool:
    return any(isinstance(step, Propose) and step.may_choose for step in recipe.steps)


def slug_of(name: str, key: str) -> str:
    """Of a run's study or release."""
    return f"{name}-{key}"[:50].rstrip("-")


def usual_name(recipe: str, corpus: Corpus) -> str:
    return slugify(f"{corpus.slug}-{recipe}")[:LONGEST_NAME].rstrip("-")


def usual_split(corpus: Corpus) -> str:
    """The split to ask about: one for testing where there is one, else the largest."""
    files = _files_by_split(corpus)
    usual = (split for split in USUAL_SPLITS if files.get(split))
    return next(usual, max(files, key=lambda split: files[split], default=""))


def _usual_training(corpus: Corpus, split: str) -> str:
    return TRAINING if _files_by_split(corpus).get(TRAINING) else split


def _files_by_split(corpus: Corpus) -> dict[str, int]:
    return dict(corpus.images.order_by("split").values_list("split").annotate(Count("blob")))


def _jobs_of(corpus: Corpus, recipe: str, name: str) -> JobQuerySet:
    return Job.objects.filter(
        kind=KIND, corpus=corpus, arguments__recipe=recipe, arguments__name=name
    )


@transaction.atomic
def ask(run: Run) -> Job:
    """Let a worker go on with it; once, however often it is asked for at a time."""
    Corpus.objects.select_for_update(no_key=True).get(pk=run.corpus.pk)
    if not run.is_started:
        _refuse_to_start(run)
    unfinished = run.jobs.unfinished().first()
    if unfinished is not None:
        return unfinished
    return jobs.ask(kind=KIND, arguments=run.arguments, by=run.by, corpus=run.corpus, queue=QUEUE)


def _refuse_to_start(run: Run) -> None:
    """What could never be gone on with would keep its name for good."""
    files = _files_by_split(run.corpus)
    for split in (run.split, run.train_split):
        if not files.get(split):
            where = f"in the split {split!r} of" if split else "in"
            raise Refused(f"There is no image with a file {where} {run.corpus.name}.")


def started_by(user: User) -> list[Job]:
    """The first job of each run that this user started, the newest run first."""
    asked = Job.objects.filter(kind=KIND, asked_by=user, corpus__isnull=False).order_by()
    runs = asked.values("corpus", "arguments__recipe", "arguments__name").annotate(first=Min("pk"))
    newest = Job.objects.filter(pk__in=runs.values("first")).order_by("-pk")[:RUNS_SHOWN]
    return list(newest.select_related("corpus").defer("log"))


def run_with(study: Study) -> Job | None:
    """The first job of the run that a study belongs to, where it belongs to one."""
    begun = Job.objects.filter(kind=KIND, corpus=study.corpus_id).order_by("pk").defer("log")
    for job in begun:
        keys = (step.key for step in recipes()[job.arguments["recipe"]].studies)
        if study.slug in {slug_of(job.arguments["name"], key) for key in keys}:
            return job
    return None


def proposed(
    run: Run, machine: str, directions: Sequence[str], *, lately: bool = False
) -> list[Proposal]:
    """What the machine has proposed in all these directions, or nothing. One that ran elsewhere
    may have ranked as many queries as it liked; one that is here was asked by the run itself, or
    `lately` since the run was last gone on with, and has said so whether what it ranked before is
    still what there is."""
    found = Proposal.objects.filter(
        corpus=run.corpus,
        machine__name=propose.recorded_name(machine),
        split=run.split,
        direction__in=directions,
        finished_at__isnull=False,
    )
    if machine in propose.machines():
        found = found.filter(pk__in=_answers(run, machine, lately=lately))
    newest = {proposal.direction: proposal for proposal in found.order_by("pk")}
    return list(newest.values()) if len(newest) == len(set(directions)) else []


def _answers(run: Run, machine: str, *, lately: bool) -> list[int]:
    """The proposals that the machine gave when this run asked it last."""
    asked = Job.objects.filter(
        kind="propose",
        corpus=run.corpus,
        state=Job.State.DONE,
        arguments__machine=machine,
        arguments__run=run.mark,
    )
    if lately:
        asked = asked.filter(pk__gt=run.jobs.aggregate(last=Max("pk"))["last"] or 0)
    last = asked.order_by("-pk").values_list("result__proposals", flat=True).first()
    return last or []
