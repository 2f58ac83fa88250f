"""Opening accounts at the marketplace, as a sign-up page would."""

from decimal import Decimal

from django.db import transaction

from hits.marketplace import money
from hits.marketplace.models import Requester, Worker


@transaction.atomic
def open_requester(*, name: str, access_key: str, secret_key: str, balance: Decimal) -> Requester:
    requester = Requester.objects.create(name=name, access_key=access_key, secret_key=secret_key)
    money.deposit(requester=requester, amount=balance)
    requester.refresh_from_db()
    return requester


def enroll_worker(
    *,
    name: str,
    password: str,
    country: str = "US",
    subdivision: str = "",
    approved_before: int = 0,
) -> Worker:
    worker = Worker(
        name=name, country=country, subdivision=subdivision, approved_before=approved_before
    )
    worker.set_password(password)
    worker.save()
    return worker
