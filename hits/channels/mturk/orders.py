"""Orders as requests of MTurk's API, exactly as they are sent; the token is added to them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from hits.channels.contract import (
    Approve,
    Block,
    Bonus,
    Delete,
    End,
    MakeQualification,
    Notify,
    Order,
    Publish,
    Qualify,
    Refusal,
    Reject,
    Requirement,
    Subscribe,
    Terms,
    Ticket,
    Unblock,
)
from hits.records import Json

QUESTION = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/"
    "ExternalQuestion.xsd"
)
LONGEST_QUESTION = 65_535
FIT_THE_WINDOW = "0"
MOST_REQUIREMENTS = 10
MOST_NOTIFIED = 100
NOTIFICATION_VERSION = "2014-08-15"
EVENTS = ["AssignmentSubmitted", "AssignmentReturned", "AssignmentAbandoned", "HITExpired"]
SYSTEM_QUALIFICATIONS = {
    Requirement.APPROVED_HITS: "00000000000000000040",
    Requirement.APPROVAL_RATE: "000000000000000000L0",
    Requirement.LOCALE: "00000000000000000071",
}
COMPARATORS = frozenset(
    {
        *("LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo"),
        *("EqualTo", "NotEqualTo", "Exists", "DoesNotExist", "In", "NotIn"),
    }
)
WITHOUT_VALUES = frozenset({"Exists", "DoesNotExist"})
# What XML and so MTurk cannot carry.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Place:
    """What differs between one place where MTurk is spoken and another."""

    masters: str = ""
    topic: str = ""
    queue: str = ""


def request_of(order: Order, place: Place) -> Json:  # noqa: C901 - one line a kind of order
    match order:
        case Publish(terms):
            return _hit_type(terms, place)
        case Ticket():
            return _ticket(order)
        case End(hit_id):
            return {"HITId": hit_id, "ExpireAt": 0}
        case Delete(hit_id):
            return {"HITId": hit_id}
        case Approve():
            return _approval(order)
        case Reject(ref, message):
            return {"AssignmentId": ref, "RequesterFeedback": _text("reason", message, 1024)}
        case Bonus():
            return _bonus(order)
        case MakeQualification(name, description):
            return {
                "Name": _text("name", name, 200),
                "Description": _text("description", description, 2000),
                "QualificationTypeStatus": "Active",
            }
        case Qualify(qualification, worker, tells):
            return {
                "QualificationTypeId": qualification,
                "WorkerId": worker,
                "IntegerValue": 1,
                "SendNotification": tells,
            }
        case Block(worker, reason) | Unblock(worker, reason):
            return {"WorkerId": worker, "Reason": _text("reason", reason, 1024)}
        case Notify():
            return _notification(order)
        case Subscribe(publication_ref):
            return _subscription(publication_ref, place)


def _hit_type(terms: Terms, place: Place) -> Json:
    if len(terms.requirements) > MOST_REQUIREMENTS:
        raise Refusal(f"At most {MOST_REQUIREMENTS} requirements can be made of workers.")
    if terms.reward < 0 or terms.reward != round(terms.reward, 2):
        raise Refusal("The reward must be an amount in dollars and whole cents.")
    if not 30 <= terms.duration.total_seconds() <= 365 * 86400:
        raise Refusal("The time for a page must be between 30 seconds and 365 days.")
    if not 30 <= terms.lifetime.total_seconds() <= 365 * 86400:
        raise Refusal("A HIT must be offered between 30 seconds and 365 days.")
    if not 0 <= terms.auto_approval.total_seconds() <= 30 * 86400:
        raise Refusal("Work is approved by itself after at most 30 days.")
    return {
        "Title": _text("title", terms.title, 128),
        "Description": _text("description", terms.description, 2000),
        "Keywords": _clean(terms.keywords)[:1000],
        "Reward": f"{terms.reward:.2f}",
        "AssignmentDurationInSeconds": int(terms.duration.total_seconds()),
        "AutoApprovalDelayInSeconds": int(terms.auto_approval.total_seconds()),
        "QualificationRequirements": [_requirement(each, place) for each in terms.requirements],
    }


def _requirement(requirement: Requirement, place: Place) -> Json:
    known: Mapping[str, str] = {**SYSTEM_QUALIFICATIONS, Requirement.MASTERS: place.masters}
    type_id = known.get(requirement.qualification, requirement.qualification)
    if not type_id:
        raise Refusal("Masters are not known at this marketplace.")
    if requirement.comparator not in COMPARATORS:
        raise Refusal(f"{requirement.comparator!r} compares nothing.")
    if (requirement.comparator in WITHOUT_VALUES) == bool(requirement.values):
        raise Refusal(
            f"{requirement.comparator} does not go with {len(requirement.values)} values."
        )
    request: Json = {
        "QualificationTypeId": type_id,
        "Comparator": requirement.comparator,
        "ActionsGuarded": "DiscoverPreviewAndAccept" if requirement.hides else "Accept",
    }
    if requirement.qualification == Requirement.LOCALE:
        request["LocaleValues"] = [_locale(str(value)) for value in requirement.values]
    elif requirement.values:
        request["IntegerValues"] = [int(value) for value in requirement.values]
    return request


def _locale(value: str) -> Json:
    country, _, subdivision = value.upper().partition("-")
    return {"Country": country} | ({"Subdivision": subdivision} if subdivision else {})


def _ticket(order: Ticket) -> Json:
    return {
        "HITTypeId": order.publication_ref,
        "MaxAssignments": 1,
        "LifetimeInSeconds": int(order.terms.lifetime.total_seconds()),
        "Question": external_question(order.url),
        "RequesterAnnotation": order.key,
    }


def external_question(url: str) -> str:
    question = ElementTree.Element("ExternalQuestion", xmlns=QUESTION)
    ElementTree.SubElement(question, "ExternalURL").text = url
    ElementTree.SubElement(question, "FrameHeight").text = FIT_THE_WINDOW
    written = ElementTree.tostring(question, encoding="unicode")
    if len(written.encode()) > LONGEST_QUESTION:
        raise Refusal("The address of the page is too long for the marketplace.")
    return written


def _approval(order: Approve) -> Json:
    request: Json = {"AssignmentId": order.ref, "OverrideRejection": order.overturns}
    if order.message:
        request["RequesterFeedback"] = _clean(order.message)[:1024]
    return request


def _bonus(order: Bonus) -> Json:
    if order.amount <= 0 or order.amount != round(order.amount, 2):
        raise Refusal("A bonus must be an amount in dollars and whole cents.")
    return {
        "AssignmentId": order.ref,
        "WorkerId": order.worker,
        "BonusAmount": f"{order.amount:.2f}",
        "Reason": _text("reason", order.reason, 4096),
    }


def _notification(order: Notify) -> Json:
    if not 1 <= len(order.workers) <= MOST_NOTIFIED:
        raise Refusal(f"A message goes to between 1 and {MOST_NOTIFIED} workers.")
    return {
        "Subject": _text("subject", order.subject, 200),
        "MessageText": _text("message", order.text, 4096),
        "WorkerIds": list(order.workers),
    }


def _subscription(publication_ref: str, place: Place) -> Json:
    if not (place.queue or place.topic):
        raise Refusal("There is no queue and no topic to send hints to.")
    return {
        "HITTypeId": publication_ref,
        "Notification": {
            "Destination": place.queue or place.topic,
            "Transport": "SQS" if place.queue else "SNS",
            "Version": NOTIFICATION_VERSION,
            "EventTypes": EVENTS,
        },
        "Active": True,
    }


def _text(what: str, text: str, most: int) -> str:
    cleaned = _clean(text).strip()
    if not cleaned:
        raise Refusal(f"The {what} is missing.")
    if len(cleaned) > most:
        raise Refusal(f"The {what} is longer than {most} characters.")
    return cleaned


def _clean(text: str) -> str:
    return _CONTROL.sub("", text)
