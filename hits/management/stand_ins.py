"""Stand-ins: what people do for a recipe, done by a simulated crowd, to rehearse it."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from hits.demo.trials import TRIALS
from hits.management.following import do
from hits.management.trials import bring_rows
from hits.models import Study, User
from hits.pipeline.errors import Refused
from hits.pipeline.overview import progress_by_study
from hits.pipeline.recipe import Standing
from hits.pipeline.review import decide, queue
from hits.recipes import Open, Review, Work

REASON = "Golds were missed. Nobody looked: this is a rehearsal with a simulated crowd."


def stand_in(waiting: Standing, *, by: User, people: int, seed: int) -> None:
    """Do what the step waits for."""
    assert waiting.study is not None
    _DOING[type(waiting.step)](waiting.study, by, people, seed)


def _upload(study: Study, by: User, people: int, seed: int) -> None:
    rows = next(trial.rows for trial in TRIALS if trial.protocol == study.protocol)
    assert rows is not None
    scratch = Path(settings.DATA_DIR)
    scratch.mkdir(parents=True, exist_ok=True)
    bring_rows(study, rows, scratch)


def _judge(study: Study, by: User, people: int, seed: int) -> None:
    before = _counted(study)
    # Others come for what is asked again, and for a study that keeps out those of another.
    crowd = {"people": people, "seed": seed + 1_000 * study.pk + before}
    do(kind="simulate", arguments={"study": study.pk, **crowd}, study=study)
    if _counted(study) == before:
        raise Refused(f"{study.name}: {people} people are too few to judge everything.")


def _counted(study: Study) -> int:
    return progress_by_study([study])[study.pk].counted


def _decide(study: Study, by: User, people: int, seed: int) -> None:
    for page in queue(study):
        decide(assignment=page, by=by, use="not_used", payment="approved", reason=REASON)


_DOING: dict[type, Callable[[Study, User, int, int], None]] = {
    Open: _upload,
    Work: _judge,
    Review: _decide,
}
