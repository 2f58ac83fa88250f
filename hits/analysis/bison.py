"""BISON's collection: how many pairs each stage of people lets through (App. A), and which captions
they choose (§3.2)."""

from collections.abc import Iterable, Mapping

from hits.analysis.errors import DegenerateInput
from hits.analysis.positives import Conversion
from hits.records import Json, JudgedUnit


def conversion(units: Iterable[JudgedUnit]) -> Conversion:
    """Of the units of a stage that people judged, those with a positive outcome: pairs for which a
    caption was chosen, or examples of which everybody picked the positive image."""
    outcomes = [unit.aggregate.positive for unit in units]
    if not outcomes:
        raise DegenerateInput("Nobody judged a unit of this stage yet.")
    return Conversion(len(outcomes), sum(outcomes))


def is_longest(answer: Json, payload: Json) -> bool:
    """Whether none of the captions shown has more words than the one chosen (some 30% of those
    chosen in the paper)."""
    lengths = [len(text.split()) for text in payload["texts"]]
    place: int = payload["captions"].index(answer["caption"])
    return lengths[place] == max(lengths)


def confirmed_by_worker(
    chosen: Iterable[tuple[str, str]], confirmed: Mapping[str, bool]
) -> dict[str, tuple[int, int]]:
    """How many of the captions that a worker chose in stage 2 were looked at in stage 3, and how
    many of those were confirmed there. `chosen` are pairs of worker and example."""
    found: dict[str, tuple[int, int]] = {}
    for worker, example in chosen:
        if example in confirmed:
            looked_at, passed = found.get(worker, (0, 0))
            found[worker] = looked_at + 1, passed + confirmed[example]
    return found
