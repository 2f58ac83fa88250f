import time
from collections.abc import Iterator
from io import StringIO

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from hits.marketplace.models import HIT, Fault, Requester
from tests.marketplace import world
from tests.marketplace.asking import Client, hit_id_of


@pytest.fixture(autouse=True)
def _faults(settings: LazySettings) -> None:
    settings.MARKETPLACE_FAULTS = True


@pytest.fixture
def impatient(market: str, owner: Requester) -> Iterator[Client]:
    """A client that does not try again by itself."""
    made = boto3.client(
        "mturk",
        endpoint_url=market,
        region_name="us-east-1",
        aws_access_key_id=owner.access_key,
        aws_secret_access_key=world.SECRET,
        config=Config(retries={"total_max_attempts": 1}),
    )
    yield made
    made.close()


def fault(kind: str, operation: str = "*", **options: object) -> None:
    call_command(
        "marketplace_faults",
        kind,
        operation=operation,
        stdout=StringIO(),
        **{"count": 1, **options},
    )


def test_a_throttled_call_does_nothing_and_says_so(impatient: Client) -> None:
    fault("throttle", "CreateHIT")
    with pytest.raises(ClientError) as caught:
        hit_id_of(impatient)
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
    assert not HIT.objects.exists()
    assert hit_id_of(impatient)


def test_a_call_can_fail_before_it_is_done(impatient: Client) -> None:
    fault("fail_before", "CreateHIT")
    with pytest.raises(impatient.exceptions.ServiceFault) as caught:
        hit_id_of(impatient, UniqueRequestToken="one")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert not HIT.objects.exists()


def test_a_call_can_fail_after_it_is_done(impatient: Client) -> None:
    fault("fail_after", "CreateHIT")
    with pytest.raises(impatient.exceptions.ServiceFault):
        hit_id_of(impatient, UniqueRequestToken="one")
    hit = HIT.objects.get()
    with pytest.raises(impatient.exceptions.RequestError, match=hit.hit_id):
        hit_id_of(impatient, UniqueRequestToken="one")


def test_boto3_tries_again_by_itself(client: Client) -> None:
    fault("throttle", "GetAccountBalance", count=2)
    assert client.get_account_balance()["AvailableBalance"] == "1000.00"


def test_a_call_can_be_delayed(impatient: Client) -> None:
    fault("delay", "GetAccountBalance", seconds=0.5)
    started = time.monotonic()
    impatient.get_account_balance()
    assert time.monotonic() - started >= 0.5


def test_a_share_of_the_calls_fails(impatient: Client) -> None:
    fault("fail_before", "GetAccountBalance", count=None, share=0.5)
    outcomes = set()
    for _ in range(60):
        try:
            impatient.get_account_balance()
            outcomes.add("done")
        except impatient.exceptions.ServiceFault:
            outcomes.add("failed")
    assert outcomes == {"done", "failed"}


def test_there_are_no_faults_unless_the_settings_allow_them(
    impatient: Client, settings: LazySettings
) -> None:
    fault("fail_before", count=None, share=1.0)
    settings.MARKETPLACE_FAULTS = False
    assert impatient.get_account_balance()["AvailableBalance"] == "1000.00"
    with pytest.raises(CommandError, match="MARKETPLACE_FAULTS"):
        call_command("marketplace_faults")


@pytest.mark.django_db
def test_faults_are_listed_and_cleared() -> None:
    fault("throttle", "CreateHIT", count=None, share=0.2)
    said = StringIO()
    call_command("marketplace_faults", stdout=said)
    assert said.getvalue() == "throttle of CreateHIT: 20%\n"
    call_command("marketplace_faults", clear=True)
    assert not Fault.objects.exists()
    for wrong in ({"count": 0}, {"count": None, "share": 2.0}, {"operation": "MakeTea"}):
        with pytest.raises(CommandError):
            fault("throttle", **wrong)
