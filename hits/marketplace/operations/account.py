"""The requester's balance, and where the requester is told what happens."""

from collections.abc import Mapping
from typing import Any

from hits.marketplace import destinations, events
from hits.marketplace.errors import RequestError
from hits.marketplace.models import Event, NotificationSetting, Requester
from hits.marketplace.operations import finding, rendering

Given = Mapping[str, Any]
VERSIONS = {"2006-05-05", "2014-08-15"}


def get_account_balance(requester: Requester, _given: Given) -> dict[str, Any]:
    return {
        "AvailableBalance": rendering.amount(requester.available),
        "OnHoldBalance": rendering.amount(requester.held),
    }


def update_notification_settings(requester: Requester, given: Given) -> dict[str, Any]:
    kind = finding.own_hit_type(requester, given["HITTypeId"])
    if "Notification" not in given and "Active" not in given:
        raise RequestError(
            "MissingParameter", "You must specify either the Notification or the Active parameter."
        )
    changes = {"is_active": given.get("Active", True)}
    if "Notification" in given:
        wanted = _specification(given["Notification"])
        if "Ping" in wanted["event_types"]:
            raise RequestError("InvalidParameterValue", "Ping is for test notifications only.")
        NotificationSetting.objects.update_or_create(hit_type=kind, defaults=wanted | changes)
    elif not NotificationSetting.objects.filter(hit_type=kind).update(**changes):
        raise RequestError(
            "InvalidParameterValue",
            "The HIT type has no notification specification, and none was given.",
        )
    return {}


def send_test_event_notification(requester: Requester, given: Given) -> dict[str, Any]:
    wanted = _specification(given["Notification"])
    Event.objects.create(
        requester=requester,
        transport=wanted["transport"],
        destination=wanted["destination"],
        version=wanted["version"],
        body=events.sample_event(given["TestEventType"]),
    )
    events.tell_after_commit()
    return {}


def _specification(given: Given) -> dict[str, Any]:
    if given["Version"] not in VERSIONS:
        raise RequestError(
            "InvalidParameterValue", f"The notification version {given['Version']} is not known."
        )
    if not given["EventTypes"]:
        raise RequestError("InvalidParameterValue", "At least one event type must be given.")
    if not destinations.is_allowed(given["Transport"], given["Destination"]):
        raise RequestError(
            "InvalidTransportEndpoint",
            f"{given['Transport']} notifications cannot be sent to {given['Destination']}.",
        )
    return {
        "destination": given["Destination"],
        "transport": given["Transport"],
        "version": given["Version"],
        "event_types": given["EventTypes"],
    }


OPERATIONS = {
    "GetAccountBalance": get_account_balance,
    "UpdateNotificationSettings": update_notification_settings,
    "SendTestEventNotification": send_test_event_notification,
}
