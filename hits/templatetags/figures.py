"""Figures as people read them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol

from django import template

register = template.Library()

MINUTE, HOUR = 60, 3600


@register.filter
def thousands(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


@register.filter
def share(part: float | None) -> str:
    """A share between 0 and 1 in percent."""
    return "–" if part is None else f"{part:.1%}"


@register.filter
def seconds(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1f} s"


@register.filter
def duration(value: float | None) -> str:
    if value is None:
        return "not measured"
    whole = round(value)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"


class Paced(Protocol):
    rate: float | None

    @property
    def seconds_left(self) -> int | None: ...


@register.filter
def pace(job: Paced) -> str:
    """How fast a job goes and how long what it does now still takes."""
    if not job.rate:
        return ""
    speed = f"{job.rate:,.0f} a second" if job.rate >= 1 else f"{job.rate * MINUTE:,.1f} a minute"
    left = job.seconds_left
    return f"· {speed}" if left is None else f"· {speed} · {duration(left)} left"


@register.filter
def money(amount: Decimal | float | None) -> str:
    return "–" if amount is None else f"${amount:,.2f}"


@register.filter
def in_words(name: str) -> str:
    """A name of the code as people read it."""
    return name.replace("_", " ")


@register.filter
def size(number: int) -> str:
    value = float(number)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


@register.filter
def of(found: Mapping[Any, Any] | None, key: Any) -> Any:
    """What a mapping has under a key that a template knows only by name."""
    return (found or {}).get(key)
