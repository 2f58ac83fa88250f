"""Limits that the documentation states and botocore's model does not know."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hits.marketplace.errors import RequestError

YEAR = 365 * 24 * 3600
MOST_MONEY = Decimal(100_000)


def text(given: Mapping[str, Any], name: str, *, at_most: int, required: bool = False) -> str:
    value: str = given.get(name, "")
    if len(value) > at_most or (required and not value.strip()):
        least = 1 if required else 0
        raise RequestError(
            "ParameterLengthOutOfRange",
            f"The value for {name} must have between {least} and {at_most} characters.",
        )
    return value


def number(
    given: Mapping[str, Any], name: str, least: int, most: int, default: int | None = None
) -> int:
    value: int | None = given.get(name, default)
    assert value is not None
    if not least <= value <= most:
        raise RequestError(
            "ParameterOutOfRange",
            f"The value {value} is invalid for {name}. Valid values range from {least} to {most}.",
        )
    return value


def money(given: Mapping[str, Any], name: str, least: Decimal) -> Decimal:
    amount = Decimal(given[name])
    if not least <= amount <= MOST_MONEY:
        raise RequestError(
            "ParameterOutOfRange",
            f"The value {amount} is invalid for {name}. "
            f"Valid values range from {least} to {MOST_MONEY}.",
        )
    return amount


def at_most_one_of(given: Mapping[str, Any], *names: str) -> None:
    if sum(name in given for name in names) > 1:
        raise RequestError("InvalidParameterValue", f"Only one of {', '.join(names)} may be given.")
