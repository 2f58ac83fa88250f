"""Offer a study at a marketplace."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.channels.configured import names
from hits.channels.contract import Terms
from hits.management.following import follow
from hits.management.lines import researcher_named
from hits.models import Job, Study, User
from hits.pipeline.errors import PipelineError
from hits.pipeline.estimate import estimate
from hits.pipeline.offer import requirement_of, terms_of
from hits.pipeline.publish import pages_short, publish


class Command(BaseCommand):
    help = "Publish an open study at a marketplace. Without --yes, say only what it would cost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("channel", help="a name in CHANNELS")
        parser.add_argument("--by", required=True, help="the email address of who pays")
        parser.add_argument("--reward", type=_dollars, required=True, help="a page, in dollars")
        parser.add_argument("--pages", type=int, help="else all that is missing")
        parser.add_argument("--title", help="else the study's name")
        parser.add_argument("--description", help="else the title")
        parser.add_argument("--keywords", default="")
        parser.add_argument("--minutes", type=int, default=60, help="for a page")
        parser.add_argument("--days", type=int, default=7, help="that HITs are offered")
        parser.add_argument("--approve-after-days", type=int, default=7)
        parser.add_argument("--least-wage", type=_dollars, help="warn under so much an hour")
        parser.add_argument("--approved-hits", type=int, help="at least so many")
        parser.add_argument("--approval-rate", type=int, help="at least so many per cent")
        parser.add_argument("--country", action="append", help="such as US, or US-CA")
        parser.add_argument(
            "--qualification", action="append", default=[], metavar="ID",
            help="of the marketplace: an id, !ID for who has it not, 'ID >= 80', or masters",
        )  # fmt: skip
        parser.add_argument("--yes", action="store_true", help="publish and pay for it")

    def handle(self, **options: Any) -> None:
        study = Study.objects.select_related("version").filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        by = researcher_named(options["by"], study=study)
        if options["channel"] not in names():
            raise CommandError(f"CHANNELS has {', '.join(names()) or 'nothing'} in it.")
        try:
            self._publish(study, by, options)
        except PipelineError as refusal:
            raise CommandError(refusal.message) from None

    def _publish(self, study: Study, by: User, options: dict[str, Any]) -> None:
        for text in options["qualification"]:
            if requirement_of(text) is None:
                raise CommandError(f"{text}: this is no qualification.")
        terms = _terms(study, options)
        pages = options["pages"] or pages_short(study)
        expected = estimate(
            study=study,
            channel=options["channel"],
            reward=options["reward"],
            pages=pages,
            least_wage=options["least_wage"],
            duration=terms.duration,
            requirements=terms.requirements,
        )
        self.stdout.write(
            f"{pages:,} pages at ${expected.reward:.2f} and ${expected.fee:.2f} fee: "
            f"${expected.total:,.2f}"
        )
        if expected.warning:
            self.stderr.write(self.style.WARNING(expected.warning))
        if not options["yes"]:
            self.stdout.write("Say --yes to publish.")
            return
        made = publish(
            study=study,
            channel=options["channel"],
            terms=terms,
            by=by,
            least_wage=options["least_wage"],
            pages=pages,
        )
        job = Job.objects.filter(kind="publish", arguments__publication=made.pk).latest("pk")
        result = follow(job)
        self.stdout.write(f"Publication {made.pk}: {result['made']:,} HITs")


def _terms(study: Study, options: dict[str, Any]) -> Terms:
    title = options["title"] or study.name
    return terms_of(
        title=title,
        description=options["description"] or title,
        keywords=options["keywords"],
        reward=options["reward"],
        minutes=options["minutes"],
        days=options["days"],
        approval_days=options["approve_after_days"],
        approved_hits=options["approved_hits"],
        approval_rate=options["approval_rate"],
        countries=options["country"] or (),
        qualifications=options["qualification"],
    )


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        raise ValueError(text) from None
