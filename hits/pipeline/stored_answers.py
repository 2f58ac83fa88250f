"""Answers as a release's table of judgments has them: by what was chosen, not by where it stood."""

from collections.abc import Collection, Iterable, Mapping
from random import Random
from typing import Any

from hits.models import Caption
from hits.protocol import Protocol
from hits.records import Fields, Json

Outside = Mapping[str, int]


def captions_called(kind: Protocol[Any, Any], payloads: Iterable[Json]) -> Outside:
    """The captions of some units by their outside ids, where answers name captions."""
    if not kind.caption_columns:
        return {}
    wanted = {pk for payload in payloads for pk in kind.items(payload)[1]}
    found = Caption.objects.filter(pk__in=wanted).values_list("external_id", "pk")
    return dict(found)


def with_ids_here(shown: Any, outside: Outside, own: Collection[int]) -> Any:
    """What was shown, with ids here in the place of outside ones of the unit's own captions."""
    if isinstance(shown, dict):
        return {name: with_ids_here(each, outside, own) for name, each in shown.items()}
    if isinstance(shown, list):
        return [with_ids_here(each, outside, own) for each in shown]
    here = outside.get(str(shown))
    return here if here in own else shown


def answer_of(
    kind: Protocol[Any, Any],
    form: Fields,
    payload: Json,
    shown: Json | None,
    settings: Any,
    outside: Outside,
) -> Json | None:
    """The answer whose row of the table has these cells; None where they name no columns of it, or
    where nothing that can be answered has them."""
    cells = {name: values[0] for name, values in form.items() if name in kind.columns and values}
    if not cells or form.keys() - set(kind.columns):
        return None
    for name in cells.keys() & kind.caption_columns:
        cells[name] = str(outside.get(cells[name], cells[name]))
    arranged = shown if shown is not None else kind.arrange(payload, 0, Random(0))
    for way in kind.ways(payload, arranged, settings, Random(0)):
        answer: Json = kind.parse(way, payload, arranged, settings)
        row = dict(zip(kind.columns, map(str, kind.row(answer)), strict=True))
        if all(row[name] == cell for name, cell in cells.items()):
            return answer
    return None
