"""The outbox of notifications: written with what happened, told after it is committed."""

from django.utils import timezone

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
        body=event(event_type, hit, assignment),
    )


def event(event_type: str, hit: HIT, assignment: Assignment | None = None) -> dict[str, str]:
    body = {
        "EventType": event_type,
        "EventTimestamp": timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITTypeId": hit.hit_type.hit_type_id,
        "HITId": hit.hit_id,
    }
    if assignment is not None:
        body["AssignmentId"] = assignment.assignment_id
        body["WorkerId"] = assignment.worker.worker_id
        if assignment.answer:
            body["Answer"] = assignment.answer
    return body
