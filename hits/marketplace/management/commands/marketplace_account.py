"""Open an account at the marketplace."""

import secrets
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from hits.marketplace.accounts import enroll_worker, open_requester


class Command(BaseCommand):
    help = "Open a requester's or a worker's account at the marketplace."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=["requester", "worker"])
        parser.add_argument("name")
        parser.add_argument("--balance", default="1000.00", help="of a requester, in dollars")
        parser.add_argument("--country", default="US", help="of a worker, two letters")

    def handle(self, **options: Any) -> None:
        try:
            with transaction.atomic():
                if options["kind"] == "requester":
                    self._requester(options["name"], options["balance"])
                else:
                    self._worker(options["name"], options["country"])
        except IntegrityError:
            raise CommandError(f"{options['name']} is taken.") from None

    def _requester(self, name: str, balance: str) -> None:
        try:
            amount = Decimal(balance).quantize(Decimal("0.01"))
            is_sensible = 0 < amount < 10**9
        except InvalidOperation:
            is_sensible = False
        if not is_sensible:
            raise CommandError("The balance must be an amount above 0 and below a billion.")
        opened = open_requester(
            name=name,
            access_key="AKIA" + secrets.token_hex(8).upper(),
            secret_key=secrets.token_urlsafe(30),
            balance=amount,
        )
        self.stdout.write(f"AWS_ACCESS_KEY_ID={opened.access_key}")
        self.stdout.write(f"AWS_SECRET_ACCESS_KEY={opened.secret_key}")

    def _worker(self, name: str, country: str) -> None:
        if len(country) != 2:
            raise CommandError("A country has two letters.")
        password = secrets.token_urlsafe(12)
        worker = enroll_worker(name=name, password=password, country=country.upper())
        self.stdout.write(f"{worker.worker_id} logs in as {name} with the password {password}")
