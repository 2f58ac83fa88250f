"""A paper's whole procedure on a corpus, as far as it goes without people, or to its end with a
simulated crowd."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import follow
from hits.management.stand_ins import stand_in
from hits.models import Corpus, User
from hits.pipeline import visible
from hits.pipeline.errors import PipelineError
from hits.pipeline.recipe import Standing, State, standing
from hits.pipeline.runs import Run, ask
from hits.pipeline.shelf import address_of
from hits.recipes import recipes

MARKS = {State.DONE: "✓", State.NOW: "→", State.PEOPLE: "●", State.LATER: "·"}


class Command(BaseCommand):
    help = (
        "Take the steps of a recipe that are missing, up to one that waits for people, and show "
        "where it stands. Run it again to go on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("recipe", choices=list(recipes()))
        parser.add_argument("--corpus", required=True, help="the corpus's short name")
        parser.add_argument("--by", required=True, help="the email of who will own the studies")
        parser.add_argument("--name", default="", help="what its studies' short names begin with")
        parser.add_argument(
            "--machine", action="append", dest="machines", help="instead of the usual ones; repeat"
        )
        parser.add_argument("--split", help="whose items are asked about")
        parser.add_argument("--train-split", help="what machines learn from")
        parser.add_argument("--queries", type=int, help="a random sample of so many queries")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--show", action="store_true", help="only show where it stands")
        parser.add_argument(
            "--simulate", action="store_true", help="a simulated crowd does what people do"
        )
        parser.add_argument("--people", type=int, default=30, help="in the simulated crowd")

    def handle(self, **options: Any) -> None:
        run = _run(options)
        try:
            while not options["show"]:
                follow(ask(run))
                waiting = next((each for each in standing(run) if each.state != State.DONE), None)
                if waiting is None or not options["simulate"]:
                    break
                self.stderr.write(f"Simulated: {waiting.title}")
                stand_in(waiting, by=run.by, people=options["people"], seed=run.seed)
        except PipelineError as refusal:
            raise CommandError(refusal.message) from None
        for number, each in enumerate(standing(run), 1):
            self.stdout.write(_line(number, each))


def _run(options: dict[str, Any]) -> Run:
    corpus = Corpus.objects.filter(slug=options["corpus"]).first()
    by = User.objects.filter(email=options["by"]).first()
    if corpus is None:
        raise CommandError(f"There is no corpus {options['corpus']!r}.")
    if by is None:
        raise CommandError(f"There is no login {options['by']!r}.")
    if not visible.corpora(by).contains(corpus):
        raise CommandError(f"{by.email} has neither this corpus nor a study on it.")
    chosen = ("recipe", "name", "machines", "split", "train_split", "queries", "seed")
    try:
        return Run.of(corpus=corpus, by=by, **{name: options[name] for name in chosen})
    except PipelineError as refusal:
        raise CommandError(refusal.message) from None


def _line(number: int, each: Standing) -> str:
    lines = [f"{MARKS[each.state]} {number:>2}  {each.title}"]
    if each.text:
        lines.append(f"       {each.text}")
    if each.state == State.PEOPLE and each.study is not None:
        lines.append(f"       {settings.SITE_URL}/research/studies/{each.study.slug}/")
    if each.release is not None:
        files = each.release.files.select_related("release")
        lines += [f"       {address_of(file)}" for file in files]
    return "\n".join(lines)
