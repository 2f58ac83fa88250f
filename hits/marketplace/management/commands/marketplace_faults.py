"""Let the marketplace fail on purpose; it does so only where MARKETPLACE_FAULTS is on."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.marketplace.models import Fault
from hits.marketplace.shapes import OPERATIONS


class Command(BaseCommand):
    help = "Add a fault of the marketplace, list all, or clear them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", nargs="?", choices=Fault.Kind.values)
        parser.add_argument(
            "--operation", default="*", help="an operation, SQS or SNS; all if not given"
        )
        how_often = parser.add_mutually_exclusive_group()
        how_often.add_argument("--share", type=float, help="of the calls, above 0 and up to 1")
        how_often.add_argument("--count", type=int, help="the next so many calls")
        parser.add_argument("--seconds", type=float, default=0, help="how long a delay lasts")
        parser.add_argument("--clear", action="store_true", help="remove all faults first")

    def handle(self, **options: Any) -> None:
        if not settings.MARKETPLACE_FAULTS:
            raise CommandError("MARKETPLACE_FAULTS is off.")
        if options["clear"]:
            Fault.objects.all().delete()
        if options["kind"]:
            _add(options)
        for fault in Fault.objects.order_by("id"):
            often = f"{fault.share:.0%}" if fault.share else f"{fault.remaining} times"
            self.stdout.write(f"{fault.kind} of {fault.operation}: {often}")


def _add(options: dict[str, Any]) -> None:
    if options["operation"] not in {"*", "SQS", "SNS"} | OPERATIONS:
        raise CommandError(f"There is no operation {options['operation']}.")
    share, count = options["share"], options["count"]
    if (share is None) == (count is None):
        raise CommandError("Say either --share or --count.")
    if share is not None and not 0 < share <= 1:
        raise CommandError("--share must be above 0 and up to 1.")
    if count is not None and not 0 < count < 2**31:
        raise CommandError("--count must be at least 1.")
    Fault.objects.create(
        operation=options["operation"],
        kind=options["kind"],
        share=share,
        remaining=count,
        seconds=options["seconds"],
    )
