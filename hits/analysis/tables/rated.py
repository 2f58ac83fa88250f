"""Ratings of objects beside those of others, as tables."""

from collections.abc import Mapping, Sequence
from statistics import median

from hits.analysis.errors import AnalysisError
from hits.analysis.surveys import PerImageTau, Ratings, at_frequencies_of, per_image_tau
from hits.analysis.tables.intervals import HIGH, LOW
from hits.records import Cell, Chart, Column, Said, Table

TITLE = "Rank correlation an image"
Scorers = Mapping[str, Mapping[str, float]]


def scorer_table(said: Sequence[Said], scored: Mapping[int, Scorers]) -> Table:
    """People's ratings beside area, I_O and I_P (VL detectors, Table 1). `scored` are the scores
    of an image's objects, by scorer and object; a unit's rating is the middle one of its people."""
    given: dict[str, dict[str, list[int]]] = {}
    image_of: dict[str, int] = {}
    for each in said:
        image_of[each.unit] = each.about["image"]
        own = given.setdefault(each.unit, {})
        for thing, rating in each.answer["ratings"].items():
            own.setdefault(thing, []).append(rating)
    survey = {
        unit: [float(median(own[thing])) for thing in sorted(own)] for unit, own in given.items()
    }
    names = sorted({name for own in scored.values() for name in own})
    rows = [row for name in names if (row := _scorer(name, given, image_of, scored, survey))]
    if not rows:
        why = "No image that was rated has captions that name its objects."
        return Table("tau", TITLE, why=why)
    return tau_table(rows)


def _scorer(
    name: str,
    given: Mapping[str, Mapping[str, list[int]]],
    image_of: Mapping[str, int],
    scored: Mapping[int, Scorers],
    survey: Ratings,
) -> list[Cell] | None:
    scores: dict[str, list[float]] = {}
    for unit, own in given.items():
        found = scored.get(image_of[unit], {}).get(name, {})
        if found.keys() >= own.keys():
            scores[unit] = [found[thing] for thing in sorted(own)]
    try:
        return tau_row(name, per_image_tau(at_frequencies_of(scores, survey), survey))
    except AnalysisError:
        return None


def tau_row(name: str, found: PerImageTau) -> list[Cell]:
    try:
        interval = found.interval()
        ends: tuple[Cell, Cell] = (interval.low, interval.high)
    except AnalysisError:
        ends = (None, None)
    return [name, found.mean, *ends, len(found.images), len(found.without)]


def tau_table(rows: Sequence[Sequence[Cell]]) -> Table:
    columns = [
        Column("Compared with"),
        Column("Mean tau-b", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Images", "count"),
        Column("Without tau-b", "count"),
    ]
    note = (
        "Kendall’s tau-b of an image’s objects, averaged over images; where one side rates all "
        "alike there is none. Scores are mapped to ratings at the survey’s frequencies. "
        "Intervals resample images."
    )
    most = max(int(row[4] or 0) for row in rows)
    chart = Chart("points", (0,), (1,), "Compared with", "Mean tau-b", f"{most:,} images", (2, 3))
    return Table("tau", TITLE, note, columns, rows, chart=chart)
