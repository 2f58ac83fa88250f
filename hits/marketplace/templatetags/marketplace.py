from decimal import Decimal

from django import template

register = template.Library()

UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


@register.filter
def allotted(seconds: int) -> str:
    """A time in words, by its two largest units: 1 hour 30 minutes."""
    parts = []
    for name, size in UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts[:2]) or "no time"


@register.filter
def dollars(amount: Decimal) -> str:
    return f"${amount:,.2f}"
