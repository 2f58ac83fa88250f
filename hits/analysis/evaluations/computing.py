"""What each kind of evaluation computes."""

from collections.abc import Callable, Mapping

from hits.analysis.evaluations import choices, compared, metrics, objects, people, retrieval
from hits.analysis.evaluations.contract import Given
from hits.records import Table

COMPUTE: Mapping[str, Callable[[Given], list[Table]]] = {
    "retrieval": retrieval.evaluate,
    "comparisons": compared.evaluate,
    "agreement": people.evaluate_agreement,
    "correlation": metrics.evaluate_correlation,
    "bootstrap": metrics.evaluate_bootstrap,
    "retest": people.evaluate_retest,
    "positives": choices.evaluate_positives,
    "bison": choices.evaluate_bison,
    "forced-choice": choices.evaluate_forced_choice,
    "texts": choices.evaluate_texts,
    "surveys": objects.evaluate_surveys,
    "detection": objects.evaluate_detection,
}
