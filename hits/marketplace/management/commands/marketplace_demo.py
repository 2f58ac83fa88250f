"""The marketplace of the demo: a requester with the given keys, and workers to log in as."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils.crypto import get_random_string

from hits.marketplace.accounts import enroll_worker, open_requester
from hits.marketplace.models import Requester, Worker

BALANCE = Decimal(1000)
# Name, country, HITs approved before: requirements can be tried on them.
WORKERS = [("wanda", "US", 1200), ("william", "GB", 640), ("wen", "KR", 0)]


class Command(BaseCommand):
    help = "Make the demo's marketplace: a requester with these keys, and workers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--access-key", required=True)
        parser.add_argument("--secret-key-file", type=Path, required=True)

    def handle(self, **options: Any) -> None:
        if not Requester.objects.filter(access_key=options["access_key"]).exists():
            open_requester(
                name="Demo laboratory",
                access_key=options["access_key"],
                secret_key=options["secret_key_file"].read_text().strip(),
                balance=BALANCE,
            )
        password = _password()
        for name, country, approved in WORKERS:
            if not Worker.objects.filter(name=name).exists():
                enroll_worker(
                    name=name, password=password, country=country, approved_before=approved
                )
        lines = [
            f"  {name:<11} {country}, {approved} HITs approved before"
            for name, country, approved in WORKERS
        ]
        lines = ["Work there as", *lines, f"  with the password {password}"]
        self.stdout.write("\n".join(lines))


def _password() -> str:
    """Made once and kept with the demo's data."""
    path = Path(settings.DATA_DIR) / "marketplace-password"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(get_random_string(12))
    return path.read_text()
