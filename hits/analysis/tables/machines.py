"""What machines proposed and people judged, as tables."""

from collections.abc import Callable, Iterable, Mapping

from hits.analysis.bias import MachineBias, Proposal, Subset, bias_by_size, subsets
from hits.analysis.errors import AnalysisError
from hits.records import Cell, Chart, Column, Table

# Machines times subsets of them times queries: some seconds.
MOST_WORK = 2_000_000
TITLE = "Machine bias"


def bias_tables(
    proposals: Iterable[Proposal], grades: Mapping[tuple[int, int], float], depth: int
) -> list[Table]:
    """ECCV Caption's Table E.1 and Fig. E.2; none of a single machine."""
    try:
        study = MachineBias(proposals, grades, depth=depth)
        if len(study.machines) < 2:
            return []
        work = len(study.machines) * 2 ** len(study.machines) * len(study.queries)
        if work > MOST_WORK:
            why = f"{len(study.machines)} machines have too many subsets to compute them here."
            return [Table("bias", TITLE, why=why)]
        found = {"R@1": _of_every_subset(study, study.recall_at_1)}
    except AnalysisError as error:
        return [Table("bias", TITLE, why=str(error))]
    remark = ""
    try:
        found["R-Precision"] = _of_every_subset(study, study.r_precision)
    except AnalysisError as error:
        remark = f" Without R-Precision: {error}"
    return [
        _bias(found, study, remark),
        *(
            _scores(f"bias-{slug}", f"{metric} on the datasets of machines", found[metric], study)
            for metric, slug in (("R@1", "recall"), ("R-Precision", "precision"))
            if metric in found
        ),
    ]


def _of_every_subset(
    study: MachineBias, metric: Callable[[Subset], dict[str, float]]
) -> dict[Subset, dict[str, float]]:
    return {subset: metric(subset) for subset in subsets(study.machines)}


def _bias(
    found: Mapping[str, Mapping[Subset, Mapping[str, float]]], study: MachineBias, remark: str
) -> Table:
    columns = [Column("Machines")]
    for metric in found:
        kinds = ("bias", "self-bias", "non-self-bias")
        columns += [Column(f"{metric}, {kind}", "number") for kind in kinds]
    by_size = [bias_by_size(scores, study.machines) for scores in found.values()]
    rows: list[list[Cell]] = [
        [
            str(size),
            *(
                value
                for each in by_size
                for value in (each[size].bias, each[size].self_bias, each[size].non_self_bias)
            ),
        ]
        for size in range(1, len(study.machines))
    ]
    note = (
        "How far scores on the dataset that so many machines would have given are from those on "
        "the dataset of all, in points of percent: over all machines, over those that proposed "
        "it, over the others; the mean over all subsets of that size (ECCV Caption, Eq. E.5)."
        f"{remark}"
    )
    chart = Chart(
        "lines",
        (0,),
        (1, 2, 3),
        "Machines that propose",
        "Points of percent",
        f"{len(study.queries):,} queries, {len(study.machines)} machines",
    )
    return Table("bias", TITLE, note, columns, rows, chart=chart)


def _scores(
    slug: str, title: str, scores: Mapping[Subset, Mapping[str, float]], study: MachineBias
) -> Table:
    columns = [Column("Dataset of"), *(Column(name, "number") for name in study.machines)]
    rows: list[list[Cell]] = [
        [", ".join(sorted(subset)), *(found[name] for name in study.machines)]
        for subset, found in scores.items()
    ]
    note = (
        f"In percent, over {len(study.queries):,} queries: 1 for a pair that matches, 0.5 for one "
        "that does in part. A pair that the dataset’s machines did not propose, or that nobody "
        "has judged yet, does not match."
    )
    return Table(slug, title, note, columns, rows)
