import resource
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from hits.importers.formats import FORMATS
from hits.management.following import PlainLines
from hits.models import Corpus, User
from hits.pipeline.arrange import create_corpus
from hits.pipeline.errors import PipelineError
from hits.pipeline.load import LoadReport, load

KILOBYTE = 1 if sys.platform == "darwin" else 1024


class Command(BaseCommand):
    help = "Imports images, captions and regions. A second import of the same changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="a file, a folder, a zip, or s3://bucket/prefix")
        parser.add_argument("--corpus", required=True, metavar="SLUG")
        parser.add_argument("--name", help="for a new corpus: its name")
        parser.add_argument("--owner", metavar="EMAIL", help="for a new corpus: whose it is")
        parser.add_argument("--split", default="", help="the split of images that name none")
        parser.add_argument("--format", default="", choices=["", *FORMATS], metavar="FORMAT",
                            help=f"{', '.join(FORMATS)}; found out if not given")  # fmt: skip
        parser.add_argument("--report", default="", metavar="FILE", help="where refusals go")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            corpus = self._corpus(options["corpus"], options["name"], options["owner"])
            report = load(
                corpus=corpus.slug,
                source=options["source"],
                split=options["split"],
                format_name=options["format"],
                report=options["report"],
                progress=self._show if self.stderr.isatty() else PlainLines(self.stderr),
            )
        except PipelineError as refusal:
            raise CommandError(refusal.message) from None
        self._tell(report)

    def _corpus(self, slug: str, name: str | None, owner: str | None) -> Corpus:
        found = Corpus.objects.filter(slug=slug).first()
        if found is not None:
            return found
        if not name or not owner:
            raise CommandError(f"There is no corpus {slug}: give --name and --owner to make it.")
        user = User.objects.filter(email__iexact=owner).first()
        if user is None:
            raise CommandError(f"Nobody has the email address {owner}.")
        return create_corpus(slug=slug, name=name, licence="", by=user)

    def _show(self, done: int, total: int | None = None, message: str = "") -> None:
        self.stderr.write(f"\r{done:>12,}  {message:<50}", ending="" if total is None else "\n")

    def _tell(self, report: LoadReport) -> None:
        self.stdout.write(f"{'':10}{'added':>10}{'completed':>11}{'unchanged':>11}{'refused':>9}")
        for kind, count in report.counts().items():
            self.stdout.write(
                f"{kind + 's':10}{count.added:>10,}{count.completed:>11,}"
                f"{count.unchanged:>11,}{count.refused:>9,}"
            )
        if not report.changed_anything:
            self.stdout.write("Nothing changed.")
        for reason, number in report.reasons.items():
            self.stdout.write(f"refused: {number:,} × {reason}")
        if report.refused:
            self.stdout.write(f"Each refusal with its place and reason: {report.refusals}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE
        self.stdout.write(f"{report.seconds:.2f} s, peak memory {peak / 1e6:.0f} MB")
