from hits.marketplace.models.money import Bonus, Payment, RequestToken
from hits.marketplace.models.notices import Event, Fault, NotificationSetting, SigningKey
from hits.marketplace.models.people import Block, Message, Requester, Worker
from hits.marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from hits.marketplace.models.work import HIT, Assignment, HITType

__all__ = [
    "HIT",
    "Assignment",
    "Block",
    "Bonus",
    "Event",
    "Fault",
    "HITType",
    "Message",
    "NotificationSetting",
    "Payment",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "RequestToken",
    "Requester",
    "SigningKey",
    "Worker",
]
