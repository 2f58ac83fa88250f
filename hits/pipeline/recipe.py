"""Recipe: a paper's whole procedure on a corpus, step by step. What each step left in the database
says where it stands, so that going on does only what is missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.db.models import Count

from hits.models import Assignment, Job, Proposal, Release, Role, Study, Unit
from hits.pipeline import arrange, jobs, propose
from hits.pipeline.chain import choose_feeders
from hits.pipeline.check import check_submitted
from hits.pipeline.errors import PipelineError, Refused
from hits.pipeline.open import create_study
from hits.pipeline.overview import Progress, progress_by_study, waiting_by_study
from hits.pipeline.runs import DEPTH, QUEUE, Run, proposed
from hits.recipes import Open, Propose, Review, Step, Work
from hits.recipes import Release as ToRelease

PAGES_AT_ONCE = 1_000_000
Tell = Callable[..., None]


class State(StrEnum):
    DONE = "done"
    NOW = "now"
    PEOPLE = "people"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a step stands, and what somebody who has to do something for it goes to."""

    step: Step
    state: State
    text: str = ""
    study: Study | None = None
    release: Release | None = None
    title: str = ""

    @property
    def key(self) -> str:
        return f"{type(self.step).__name__.lower()}-{self.step.key}"


def go_on(run: Run, tell: Tell = lambda *told, **more: None) -> Standing | None:
    """Take the steps that need nobody, up to the one that waits for people; nothing is given back
    where all is there."""
    taken: list[tuple[Step, str]] = []
    while True:
        steps = standing(run)
        now = next((each for each in steps if each.state != State.DONE), None)
        if now is None or now.state == State.PEOPLE:
            return now
        if (now.step, now.text) in taken:
            raise Refused(f"{now.title}: it was done and is not there.")
        taken.append((now.step, now.text))
        tell(steps.index(now), len(steps), now.title)
        _TAKEN[type(now.step)](run, now)


# Where it stands


@dataclass(frozen=True)
class _Found:
    """What the steps of a run have left so far, read at once."""

    studies: dict[str, Study]
    progress: dict[int, Progress]
    waiting: dict[int, int]
    unconfirmed: dict[int, int]
    unchecked: dict[int, int]
    units: dict[int, int]
    with_rows: set[int]
    releases: dict[str, Release]


def standing(run: Run) -> list[Standing]:
    """Every step; the first that is not done waits for a machine or for people. What was reached
    stays done where an earlier step waits again, as for pages that stand out only later."""
    found = _found(run)
    own = [_STANDING[type(step)](run, step, found) for step in run.recipe.steps]
    reached = max((n for n, each in enumerate(own) if _left_something(each)), default=-1)
    steps, is_later = [], False
    for number, each in enumerate(own):
        is_done = each.state == State.DONE
        if is_later and not (is_done and number <= reached):
            each = Standing(each.step, State.LATER, study=each.study)
        is_later = is_later or not is_done
        steps.append(replace(each, title=run.recipe.title_of(each.step)))
    return steps


def _left_something(each: Standing) -> bool:
    return each.state == State.DONE and isinstance(each.step, Open | ToRelease)


def _found(run: Run) -> _Found:
    slugs = {run.slug_of(step.key): step.key for step in run.recipe.studies}
    theirs = Study.objects.of(run.by, Role.RESEARCHER).filter(corpus=run.corpus, slug__in=slugs)
    studies = {slugs[study.slug]: study for study in theirs.select_related("version", "corpus")}
    there = list(studies.values())
    pages = Assignment.objects.filter(study__in=there, state="submitted", checked_at=None)
    unconfirmed = pages.filter(claim__theirs="")
    names = [run.slug_of(step.key) for step in run.recipe.steps if isinstance(step, ToRelease)]
    releases = Release.objects.filter(name__in=names, studies__in=there).order_by("pk").distinct()
    return _Found(
        studies=studies,
        progress=progress_by_study(there),
        waiting=waiting_by_study(there),
        unconfirmed=_counted(unconfirmed),
        unchecked=_counted(pages.exclude(pk__in=unconfirmed)),
        units=_counted(Unit.objects.filter(study__in=there)),
        with_rows=set(
            Study.objects.filter(pk__in=[each.pk for each in there], rows__isnull=False)
            .distinct()
            .values_list("pk", flat=True)
        ),
        releases={release.name: release for release in releases},
    )


def _counted(rows: Any) -> dict[int, int]:
    return dict(rows.order_by("study").values_list("study").annotate(Count("pk")))


def _of_propose(run: Run, step: Propose, found: _Found) -> Standing:
    if missing := _to_ask(run, step, found.studies):
        return Standing(step, State.NOW, f"To propose: {', '.join(missing)}")
    return Standing(step, State.DONE, ", ".join(run.machines_of(step)))


def _to_ask(run: Run, step: Propose, studies: Mapping[str, Study]) -> list[str]:
    """Machines that have not said what they propose. Once a study was made of it, that counts to
    the end of the run; before, they say it again whenever the run is gone on with."""
    made = [each.key in studies for each in run.recipe.studies if each.proposed_by == step.key]
    if made and all(made):
        return []
    return [
        machine
        for machine in run.machines_of(step)
        if not proposed(run, machine, step.directions, lately=not any(made))
    ]


def _of_open(run: Run, step: Open, found: _Found) -> Standing:
    study = found.studies.get(step.key)
    if study is None:
        return Standing(step, State.NOW, "To be made")
    if study.state != Study.State.DRAFT:
        return Standing(step, State.DONE, f"{found.units.get(study.pk, 0):,} units", study)
    if step.rows and study.pk not in found.with_rows:
        return Standing(step, State.PEOPLE, f"Upload rows. {step.rows}", study)
    return Standing(step, State.NOW, "To be opened", study)


def _of_work(run: Run, step: Work, found: _Found) -> Standing:
    study = found.studies.get(step.key)
    if study is None:
        return Standing(step, State.LATER)
    progress = found.progress[study.pk]
    is_done = progress.is_complete or study.state == Study.State.CLOSED
    text = f"{progress.counted:,} of {progress.wanted:,} judgments"
    return Standing(step, State.DONE if is_done else State.PEOPLE, text, study)


def _of_review(run: Run, step: Review, found: _Found) -> Standing:
    study = found.studies.get(step.key)
    if study is None:
        return Standing(step, State.LATER)
    if waiting := found.waiting.get(study.pk):
        pages = "1 page waits" if waiting == 1 else f"{waiting:,} pages wait"
        return Standing(step, State.PEOPLE, f"{pages} for a decision", study)
    if found.unchecked.get(study.pk):
        return Standing(step, State.NOW, "Golds are being checked", study)
    if unconfirmed := found.unconfirmed.get(study.pk):
        text = f"Handed over and not yet confirmed by the marketplace: {unconfirmed:,}"
        return Standing(step, State.PEOPLE, text, study)
    return Standing(step, State.DONE, "Nothing waits for a decision", study)


def _of_release(run: Run, step: ToRelease, found: _Found) -> Standing:
    study = found.studies.get(step.studies[0])
    release = found.releases.get(run.slug_of(step.key))
    if release is None:
        return Standing(step, State.NOW, "To be made", study)
    return Standing(step, State.DONE, str(release), study, release)


# Taking a step


def _propose(run: Run, now: Standing) -> None:
    step = now.step
    assert isinstance(step, Propose)
    for machine in _to_ask(run, step, _found(run).studies):
        job = propose.ask(
            corpus=run.corpus,
            machine=machine,
            directions=list(step.directions),
            by=run.by,
            split=run.split,
            train_split=run.train_split,
            depth=DEPTH,
            query_sample=run.queries,
            seed=run.seed,
            run=run.mark,
        )
        _do(job)


def _open(run: Run, now: Standing) -> None:
    assert isinstance(now.step, Open)
    if now.study is None:
        _make(run, now.step)
    else:
        arguments = {"study": now.study.pk}
        _do(jobs.ask(kind="open", arguments=arguments, by=run.by, study=now.study))


@transaction.atomic
def _make(run: Run, step: Open) -> None:
    asked = step.asked
    study = create_study(
        slug=run.slug_of(step.key),
        name=f"{step.title} ({run.name})",
        corpus=run.corpus,
        protocol_slug=asked.protocol,
        by=run.by,
        settings={**asked.settings, **step.settings},
        pay=str(asked.pay),
        expected_minutes=asked.expected_minutes,
        seed=run.seed,
        split=run.split,
    )
    studies = _found(run).studies
    if step.proposed_by:
        chosen = [each.pk for each in _proposals_for(run, step)]
        continued = [studies[key] for key in step.continues]
        arrange.choose_proposals(study=study, proposals=chosen, continues=continued)
    if step.fed_by:
        choose_feeders(study=study, feeders=[studies[key] for key in step.fed_by])


def _proposals_for(run: Run, step: Open) -> list[Proposal]:
    proposing = next(
        each
        for each in run.recipe.steps
        if isinstance(each, Propose) and each.key == step.proposed_by
    )
    return [
        proposal
        for machine in run.machines_of(proposing)
        for proposal in proposed(run, machine, proposing.directions)
        if proposal.direction == step.direction
    ]


def _review(run: Run, now: Standing) -> None:
    check_submitted(limit=PAGES_AT_ONCE, study=now.study)


def _release(run: Run, now: Standing) -> None:
    assert isinstance(now.step, ToRelease)
    studies = _found(run).studies
    released = [studies[key] for key in now.step.studies]
    arguments = {
        "studies": [study.pk for study in released],
        "name": run.slug_of(now.step.key),
        "by": run.by.pk,
    }
    _do(jobs.ask(kind="release", arguments=arguments, by=run.by, study=released[0]))


def _do(job: Job) -> None:
    """A job of its own, so that it is seen where such jobs are, done in this process or, where it
    needs another kind of worker, waited for."""
    job = jobs.run_here(job) if job.queue == QUEUE else jobs.awaited(job)
    if job.state != Job.State.DONE:
        raise PipelineError(f"{job.title} {job.get_state_display()}. {job.message}".strip())


_STANDING: dict[type, Callable[[Run, Any, _Found], Standing]] = {
    Propose: _of_propose,
    Open: _of_open,
    Work: _of_work,
    Review: _of_review,
    ToRelease: _of_release,
}
_TAKEN: dict[type, Callable[[Run, Standing], None]] = {
    Propose: _propose,
    Open: _open,
    Review: _review,
    ToRelease: _release,
}
