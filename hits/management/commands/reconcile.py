"""Ask marketplaces what was handed over, and settle what is due."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Publication
from hits.pipeline.pay import settle_payments
from hits.pipeline.publish import QUEUE


class Command(BaseCommand):
    help = "Confirm pages by the marketplace's own list, then approve, reject and pay."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("publication", type=int, nargs="?", help="else all that are due")

    def handle(self, **options: Any) -> None:
        arguments = {}
        if options["publication"] is not None:
            if not Publication.objects.filter(pk=options["publication"]).exists():
                raise CommandError(f"There is no publication {options['publication']}.")
            arguments = {"publication": options["publication"]}
        found = do(kind="reconcile", arguments=arguments, queue=QUEUE)
        self.stdout.write(f"Reconciled: {found}")
        self.stdout.write(f"To be paid or refused: {settle_payments():,}")
        self.stdout.write(f"Settled: {do(kind='settle', arguments={}, queue=QUEUE)}")
