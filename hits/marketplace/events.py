"""The outbox of notifications: written with what happened, told after it is committed."""

from django.db import transaction
from django.utils import timezone

from hits.marketplace import telling
from hits.marketplace.ids import thing_id
from hits.marketplace.models import HIT, Assignment, Event, NotificationSetting


def note(event_type: str, hit: HIT, assignment: Assignment | None = None) -> None:
    setting = NotificationSetting.objects.filter(hit_type=hit.hit_type_id, is_active=True).first()
    if setting is None or event_type not in setting.event_types:
        return
    Event.objects.create(
        requester_id=hit.requester_id,
        transport=setting.transport,
        destination=setting.destination,
        version=setting.version,
        body=_event(event_type, hit, assignment),
    )
    tell_after_commit()


def sample_event(event_type: str) -> dict[str, str]:
    body = {"EventType": event_type, "EventTimestamp": _now()}
    if event_type != "Ping":
        body |= {"HITTypeId": thing_id(), "HITId": thing_id()}
    if event_type.startswith("Assignment"):
        body["AssignmentId"] = thing_id()
    return body


def tell_after_commit() -> None:
    transaction.on_commit(telling.tell_due)


def _event(event_type: str, hit: HIT, assignment: Assignment | None) -> dict[str, str]:
    body = {
        "EventType": event_type,
        "EventTimestamp": _now(),
        "HITTypeId": hit.hit_type.hit_type_id,
        "HITId": hit.hit_id,
    }
    if assignment is not None:
        body["AssignmentId"] = assignment.assignment_id
    return body


def _now() -> str:
    return timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")
