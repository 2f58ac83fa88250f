"""CreateHITType: the same properties are the same type."""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hits.marketplace.eligibility import LOCALE, SYSTEM
from hits.marketplace.errors import RequestError
from hits.marketplace.models import HITType, QualificationType, Requester
from hits.marketplace.operations import limits

Given = Mapping[str, Any]
MONTH = 30 * 24 * 3600
AT_MOST_REQUIREMENTS = 10
AT_MOST_INTEGERS = 15
AT_MOST_LOCALES = 30
# The comparators that a set of values, no value and one place may have.
SETS = {"In", "NotIn"}
BARE = {"Exists", "DoesNotExist"}
PLACES = {"EqualTo", "NotEqualTo", "In", "NotIn"}


def create_hit_type(requester: Requester, given: Given) -> dict[str, Any]:
    return {"HITTypeId": hit_type(requester, given).hit_type_id}


def hit_type(requester: Requester, given: Given) -> HITType:
    properties = {
        "title": limits.text(given, "Title", at_most=128, required=True),
        "description": limits.text(given, "Description", at_most=2000, required=True),
        "keywords": limits.text(given, "Keywords", at_most=1000),
        "reward": limits.money(given, "Reward", least=Decimal(0)),
        "assignment_seconds": limits.number(given, "AssignmentDurationInSeconds", 30, limits.YEAR),
        "auto_approval_seconds": limits.number(
            given, "AutoApprovalDelayInSeconds", 0, MONTH, default=MONTH
        ),
        "requirements": requirements(given.get("QualificationRequirements", [])),
    }
    shown = properties | {"reward": f"{properties['reward']:.2f}"}
    fingerprint = hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
    found, _ = HITType.objects.get_or_create(
        requester=requester, fingerprint=fingerprint, defaults=properties
    )
    return found


def requirements(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(given) > AT_MOST_REQUIREMENTS:
        raise _invalid(f"A HIT can have at most {AT_MOST_REQUIREMENTS} qualification requirements")
    for requirement in given:
        limits.at_most_one_of(requirement, "RequiredToPreview", "ActionsGuarded")
        _check_type(requirement["QualificationTypeId"])
        if requirement["QualificationTypeId"] == LOCALE:
            _check_places(requirement)
        else:
            _check_numbers(requirement)
    return given


def _check_type(type_id: str) -> None:
    known = QualificationType.objects.filter(
        qualification_type_id=type_id, is_active=True, deleted_at__isnull=True
    )
    if type_id not in SYSTEM and not known.exists():
        raise RequestError(
            "QualificationTypeDoesNotExist", f"QualificationType {type_id} does not exist."
        )


def _check_places(requirement: Given) -> None:
    if requirement["Comparator"] not in PLACES or "IntegerValues" in requirement:
        raise _invalid("A locale is compared with LocaleValues by EqualTo, NotEqualTo, In or NotIn")
    _check_count("LocaleValues", requirement, AT_MOST_LOCALES)


def _check_numbers(requirement: Given) -> None:
    if "LocaleValues" in requirement:
        raise _invalid("LocaleValues are for the locale qualification")
    if requirement["Comparator"] not in BARE:
        _check_count("IntegerValues", requirement, AT_MOST_INTEGERS)
    elif requirement.get("IntegerValues"):
        raise _invalid("Exists and DoesNotExist compare with no value")


def _check_count(name: str, requirement: Given, most: int) -> None:
    count = len(requirement.get(name, []))
    if not 1 <= count <= (most if requirement["Comparator"] in SETS else 1):
        raise _invalid(f"{requirement['Comparator']} cannot have {count} {name}")


def _invalid(problem: str) -> RequestError:
    return RequestError("InvalidQualificationRequirement", f"{problem}.")


OPERATIONS = {"CreateHITType": create_hit_type}
