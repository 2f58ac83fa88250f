from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from hits.marketplace.models import Payment, Requester, Worker

pytestmark = pytest.mark.django_db


def test_a_requester_gets_keys_and_a_balance() -> None:
    said = StringIO()
    call_command("marketplace_account", "requester", "Lab", balance="12.50", stdout=said)
    opened = Requester.objects.get()
    assert said.getvalue() == (
        f"AWS_ACCESS_KEY_ID={opened.access_key}\nAWS_SECRET_ACCESS_KEY={opened.secret_key}\n"
    )
    assert opened.balance == Payment.objects.get(kind="deposit").amount == Decimal("12.50")


def test_a_worker_gets_an_id_and_a_password() -> None:
    said = StringIO()
    call_command("marketplace_account", "worker", "ada", country="gb", stdout=said)
    worker = Worker.objects.get()
    assert worker.country == "GB"
    assert said.getvalue().startswith(worker.worker_id)
    assert worker.check_password(said.getvalue().split()[-1])


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("requester", {"balance": "much"}),
        ("requester", {"balance": "0"}),
        ("requester", {"balance": "NaN"}),
        ("requester", {"balance": "1e30"}),
        ("worker", {"country": "GBR"}),
    ],
)
def test_an_account_that_makes_no_sense_is_refused(kind: str, given: dict[str, str]) -> None:
    with pytest.raises(CommandError):
        call_command("marketplace_account", kind, "someone", **given)


def test_a_workers_name_is_taken_once() -> None:
    call_command("marketplace_account", "worker", "ada", stdout=StringIO())
    with pytest.raises(CommandError, match="taken"):
        call_command("marketplace_account", "worker", "ada")
