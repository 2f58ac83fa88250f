"""Lists, a page at a time. A token says where the last page ended, so that what is added or
removed in between moves nothing."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

from hits.marketplace.errors import RequestError

PAGE = 10
SALT = "hits.marketplace.pages"

Row = TypeVar("Row", bound=Model)


def page(
    given: Mapping[str, Any],
    rows: QuerySet[Row],
    *,
    name: str,
    render: Callable[[Row], dict[str, Any]],
    newest_first: bool = False,
) -> dict[str, Any]:
    """In the order of their ids."""
    rows = rows.order_by("-id" if newest_first else "id")
    if token := given.get("NextToken"):
        last = _last(token, name)
        rows = rows.filter(id__lt=last) if newest_first else rows.filter(id__gt=last)
    size = given.get("MaxResults", PAGE)
    found = list(rows[: size + 1])
    more = {"NextToken": _token(found[size - 1].pk, name)} if len(found) > size else {}
    shown = [render(row) for row in found[:size]]
    return {name: shown, "NumResults": len(shown), **more}


def page_by_time(
    given: Mapping[str, Any],
    rows: QuerySet[Row],
    *,
    name: str,
    time: str,
    render: Callable[[Row], dict[str, Any]],
) -> dict[str, Any]:
    """In the order of a moment, and of their ids where two share it."""
    rows = rows.order_by(time, "id")
    if token := given.get("NextToken"):
        moment, last = _last(token, name)
        since = parse_datetime(moment)
        rows = rows.filter(Q(**{f"{time}__gt": since}) | Q(**{time: since, "id__gt": last}))
    size = given.get("MaxResults", PAGE)
    found = list(rows[: size + 1])
    more = {}
    if len(found) > size:
        end = found[size - 1]
        more["NextToken"] = _token([getattr(end, time).isoformat(), end.pk], name)
    shown = [render(row) for row in found[:size]]
    return {name: shown, "NumResults": len(shown), **more}


def _token(last: Any, name: str) -> str:
    return signing.dumps(last, salt=f"{SALT}.{name}")


def _last(token: str, name: str) -> Any:
    try:
        return signing.loads(token, salt=f"{SALT}.{name}")
    except signing.BadSignature:
        raise RequestError("InvalidParameterValue", "The NextToken is not valid.") from None
