from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured

from annotation_app.environment import Environment
from hits.channels.configured import NoSuchChannel, channel, names
from hits.channels.contract import Channel, Publish, Refusal, Requirement, Terms
from tests import selling

KEYS = {
    "CHANNEL_SANDBOX_ACCESS_KEY": "key",
    "CHANNEL_SANDBOX_SECRET_KEY": "secret",
    "CHANNEL_PRODUCTION_ACCESS_KEY": "key",
    "CHANNEL_PRODUCTION_SECRET_KEY": "secret",
    "CHANNEL_LOCAL_ACCESS_KEY": "key",
    "CHANNEL_LOCAL_SECRET_KEY": "secret",
}


def configured(**values: str) -> dict[str, dict[str, str]]:
    return Environment({**KEYS, **values}).channels()


def test_without_channels_there_is_the_house_alone(settings: LazySettings) -> None:
    settings.CHANNELS = configured()
    assert names() == []
    assert channel("in_house").capabilities.tickets is False


def test_sandbox_production_and_our_own_marketplace_differ_by_settings_only(
    settings: LazySettings,
) -> None:
    settings.CHANNELS = configured(CHANNELS="local, sandbox,production")
    assert names() == ["local", "sandbox", "production"]
    opened: list[Channel] = [channel(name) for name in names()]
    assert len({type(each) for each in opened}) == 1
    assert [each.submit_origin for each in opened] == [
        "http://127.0.0.1:8001",
        "https://workersandbox.mturk.com",
        "https://www.mturk.com",
    ]
    assert opened[2].frame_ancestors == ["https://worker.mturk.com", "https://www.mturk.com"]


def test_a_channel_is_opened_once_and_anew_when_its_settings_change(
    settings: LazySettings,
) -> None:
    settings.CHANNELS = configured(CHANNELS="local")
    first = channel("local")
    assert channel("local") is first
    settings.CHANNELS = configured(CHANNELS="local", CHANNEL_LOCAL_SUBMIT="http://other")
    assert channel("local").submit_origin == "http://other"


def test_a_channel_without_its_keys_stops_the_start_by_name() -> None:
    with pytest.raises(ImproperlyConfigured, match="CHANNEL_SANDBOX_SECRET_KEY"):
        Environment({"CHANNELS": "sandbox", "CHANNEL_SANDBOX_ACCESS_KEY": "key"}).channels()


@pytest.mark.parametrize("name", ["Sandbox", "a-b", "x" * 21])
def test_a_channel_has_a_plain_name(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="CHANNELS"):
        Environment({"CHANNELS": name}).channels()


def test_a_channel_that_is_not_configured_is_not_there(settings: LazySettings) -> None:
    settings.CHANNELS = {}
    with pytest.raises(NoSuchChannel):
        channel("sandbox")


def test_terms_come_back_from_the_database_as_they_were() -> None:
    terms = selling.terms(
        reward=Decimal("0.10"),
        duration=timedelta(minutes=7),
        requirements=(
            Requirement(Requirement.LOCALE, "In", ("US", "GB"), hides=False),
            Requirement("own", "DoesNotExist"),
        ),
    )
    assert Terms.from_json(terms.as_json()) == terms


def test_raters_of_the_house_are_sold_no_tickets() -> None:
    with pytest.raises(Refusal, match="no tickets"):
        channel("in_house").write(Publish(selling.terms()))
