import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hits.analysis import agreement
from hits.analysis.aggregation import dawid_skene, majority
from hits.analysis.agreement import Judgments, Level
from hits.analysis.errors import DegenerateInput
from hits.analysis.resampling import By

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def from_table(table: np.ndarray) -> Judgments:
    """Rows are workers, columns units, nan where a worker has not judged a unit."""
    workers, units = np.nonzero(~np.isnan(table))
    return Judgments(units, workers, table[workers, units])


def drawn(seed: int = 0, *, units: int = 60, workers: int = 8, each: int = 4) -> Judgments:
    rng = np.random.default_rng(seed)
    table = np.full((workers, units), np.nan)
    for unit in range(units):
        truth = rng.integers(0, 4)
        for worker in rng.choice(workers, each, replace=False):
            table[worker, unit] = truth if rng.random() < 0.7 else rng.integers(0, 4)
    return from_table(table)


tables = st.lists(
    st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0, 5.0]), min_size=6, max_size=6),
    min_size=2,
    max_size=5,
).map(np.array)


def is_informative(table: np.ndarray) -> bool:
    paired = (~np.isnan(table)).sum(axis=0) > 1
    values = table[:, paired]
    return bool(paired.any()) and len(np.unique(values[~np.isnan(values)])) > 1


@given(tables)
@settings(deadline=None)
def test_alpha_equals_the_krippendorff_package_s(table: np.ndarray) -> None:
    assume(is_informative(table))
    for level in LEVELS:
        expected = krippendorff.alpha(table, level_of_measurement=level)
        found = agreement.krippendorff_alpha(from_table(table), level)
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorff_s_example(level: Level, published: float) -> None:
    """Four observers and twelve units, some not seen by all: K. Krippendorff, Computing
    Krippendorff's alpha-reliability, 2011, example C."""
    gap = np.nan
    table = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
            [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
        ]
    )
    assert agreement.krippendorff_alpha(from_table(table), level) == pytest.approx(
        published, abs=5e-4
    )


@given(tables, st.permutations(range(6)))
@settings(deadline=None)
def test_alpha_does_not_depend_on_the_order_of_units_or_names_of_values(
    table: np.ndarray, order: list[int]
) -> None:
    assume(is_informative(table))
    before = from_table(table)
    permuted = from_table(table[:, order])
    for level in LEVELS:
        expected = agreement.krippendorff_alpha(before, level)
        assert agreement.krippendorff_alpha(permuted, level) == pytest.approx(expected)
    renamed = from_table(table * -3 + 7)
    for level in ("nominal", "interval"):
        expected = agreement.krippendorff_alpha(before, level)
        assert agreement.krippendorff_alpha(renamed, level) == pytest.approx(expected)


@given(tables)
@settings(deadline=None)
def test_agreement_is_at_most_perfect(table: np.ndarray) -> None:
    assume(is_informative(table))
    judgments = from_table(table)
    assert all(agreement.krippendorff_alpha(judgments, level) <= 1 for level in LEVELS)
    assert 0 <= agreement.percent_agreement(judgments) <= 100


def test_fleiss_kappa_is_that_of_his_example() -> None:
    """The worked example of ten subjects and fourteen raters, kappa 0.210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    values = [[kind for kind, n in enumerate(row) for _ in range(n)] for row in counts]
    table = np.array(values, float).T
    assert agreement.fleiss_kappa(from_table(table)) == pytest.approx(0.210, abs=0.0005)


def test_fleiss_kappa_wants_the_same_number_of_judgments_a_unit() -> None:
    table = np.array([[0, 1, 0], [0, 1, 1], [1, np.nan, 0]])
    with pytest.raises(DegenerateInput, match="same number"):
        agreement.fleiss_kappa(from_table(table))


def test_units_that_one_person_judged_do_not_keep_fleiss_kappa_from_the_others() -> None:
    full = np.array([[0, 1, 0, 1], [0, 1, 1, 1]], float)
    with_single = np.column_stack([full, [2, np.nan]])
    found = agreement.fleiss_kappa(from_table(with_single))
    assert found == agreement.fleiss_kappa(from_table(full)) == pytest.approx(7 / 15)


def test_cohen_kappa_of_a_known_table() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: p_o = 0.7, p_e = 0.5."""
    first = np.array([1] * 25 + [0] * 25)
    second = np.array([1] * 20 + [0] * 5 + [1] * 10 + [0] * 15)
    assert agreement.cohen_kappa(first, second) == pytest.approx(0.4)
    found = agreement.cohen_interval(first, second, replicates=200)
    assert 0 < found.low < 0.4 < found.high < 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
@settings(deadline=None)
def test_cohen_kappa_is_symmetric_at_most_1_and_blind_to_names(rows: list[tuple[int, int]]) -> None:
    first, second = np.array(rows).T
    assume(len({*first.tolist(), *second.tolist()}) > 1)
    kappa = agreement.cohen_kappa(first, second)
    assert kappa <= 1
    assert agreement.cohen_kappa(second, first) == pytest.approx(kappa)
    assert agreement.cohen_kappa(7 - first, 7 - second) == pytest.approx(kappa)


@given(st.integers(0, 500), st.permutations(range(8)))
@settings(max_examples=25, deadline=None)
def test_fleiss_kappa_and_dawid_and_skene_are_blind_to_names(seed: int, order: list[int]) -> None:
    plain = drawn(seed, units=20)
    renamed = Judgments(plain.units, np.array(order)[plain.workers], 9 - plain.values)
    assert agreement.fleiss_kappa(renamed) == pytest.approx(agreement.fleiss_kappa(plain))
    one, two = dawid_skene(plain), dawid_skene(renamed)
    assert two.probabilities[:, ::-1] == pytest.approx(one.probabilities, abs=1e-6)


def test_percent_agreement_is_the_mean_share_of_pairs_alike() -> None:
    table = np.array([[0, 1, 2], [0, 1, 1], [1, 1, 0]], float)
    assert agreement.percent_agreement(from_table(table)) == pytest.approx(
        100 * (1 / 3 + 1 + 0) / 3
    )


def test_leave_one_out_is_pearson_s_r_with_the_mean_of_the_others() -> None:
    judgments = drawn(3, units=30, workers=4, each=4)
    found = agreement.leave_one_out(judgments)
    table = np.full((4, 30), np.nan)
    table[judgments.workers, judgments.units] = judgments.values
    for worker in range(4):
        rest = np.delete(table, worker, axis=0).mean(axis=0)
        expected = np.corrcoef(table[worker], rest)[0, 1]
        assert found.by_worker[worker] == pytest.approx(expected)
    assert found.mean == pytest.approx(found.by_worker.mean())


def test_one_judgment_a_unit_is_refused_with_what_to_do() -> None:
    alone = Judgments(np.arange(5), np.zeros(5, np.int64), np.arange(5.0))
    figures = (agreement.percent_agreement, agreement.fleiss_kappa, agreement.leave_one_out)
    for figure in (*figures, dawid_skene):
        with pytest.raises(DegenerateInput, match="add an overlap sample"):
            figure(alone)
    for level in LEVELS:
        with pytest.raises(DegenerateInput, match="add an overlap sample"):
            agreement.krippendorff_alpha(alone, level)


def test_judgments_that_are_all_alike_have_no_alpha() -> None:
    with pytest.raises(DegenerateInput, match="All judgments are alike"):
        agreement.krippendorff_alpha(from_table(np.ones((2, 4))), "nominal")


def test_a_worker_who_judged_a_unit_twice_is_refused() -> None:
    with pytest.raises(DegenerateInput, match="twice"):
        Judgments(np.array([0, 0]), np.array([1, 1]), np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    "figure",
    ["nominal alpha", "ordinal alpha", "interval alpha", "fleiss", "percent", "one out"],
)
@pytest.mark.parametrize("by", ["worker", "item", "both"])
def test_intervals_hold_the_estimate(figure: agreement.Figure, by: By) -> None:
    found = agreement.agreement_interval(drawn(), figure, by=by, replicates=60)
    assert found.low < found.estimate < found.high
    assert found.high <= (100 if figure == "percent" else 1)


@pytest.mark.parametrize("figure", ["nominal alpha", "ordinal alpha", "interval alpha", "fleiss"])
def test_perfect_agreement_is_not_said_to_be_certain(figure: agreement.Figure) -> None:
    table = np.tile(np.array([0.1, 1.3, 2.7, 1.3]), (3, 1))
    with pytest.raises(DegenerateInput, match="tells no interval"):
        agreement.agreement_interval(from_table(table), figure, by="item", replicates=20)


@pytest.mark.parametrize(
    ("figure", "least", "most"),
    [("nominal alpha", -1, 1), ("fleiss", -1, 1), ("percent", 0, 100), ("one out", -1, 1)],
)
def test_intervals_of_few_people_stay_within_what_is_possible(
    figure: agreement.Figure, least: float, most: float
) -> None:
    table = np.tile([0.0] * 4 + [1.0] * 4, (3, 1))
    table[2, 7] = 0
    found = agreement.agreement_interval(from_table(table), figure, by="both", replicates=100)
    assert least <= found.low < found.estimate < found.high <= most


def test_pairs_rated_both_ways_are_found_once() -> None:
    first, second = np.array([0, 1, 0, 2, 3, 2]), np.array([1, 0, 2, 0, 2, 4])
    found = agreement.rated_both_ways(first, second, np.array([1.0, 2.0, 4.0, 3.5, 0.0, 5.0]))
    assert found.pairs == 2
    assert found.mean_absolute_difference == pytest.approx(0.75)
    interval = found.interval()
    assert interval.low < 0.75 < interval.high


def known() -> dict[str, list[list[float]]]:
    path = Path(__file__).parent / "known" / "crowd_kit.json"
    read: dict[str, list[list[float]]] = json.loads(path.read_text())
    return read


def judgments_of(rows: list[list[float]]) -> Judgments:
    units, workers, values = np.array(rows).T
    return Judgments(units.astype(np.int64), workers.astype(np.int64), values)


def test_dawid_and_skene_s_probabilities_equal_crowd_kit_s() -> None:
    found = dawid_skene(judgments_of(known()["judgments"]))
    assert found.probabilities == pytest.approx(np.array(known()["dawid_skene"]), abs=1e-4)


def test_shares_of_votes_equal_crowd_kit_s() -> None:
    found = majority(judgments_of(known()["judgments"]))
    assert found.probabilities == pytest.approx(np.array(known()["majority"]), abs=1e-9)


def test_dawid_and_skene_trust_those_who_agree_with_others() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    careless = rng.integers(0, 2, (2, 200))
    careful = np.where(rng.random((3, 200)) < 0.9, truth, 1 - truth)
    judgments = from_table(np.concatenate([careful, careless]).astype(float))
    model = dawid_skene(judgments)
    plain = majority(judgments)
    assert (model.answers == truth).mean() > (plain.answers == truth).mean()
    assert model.confusions[0, 1, 1] > 0.8 > model.confusions[4, 1, 1]


def test_beliefs_and_confusions_are_probabilities() -> None:
    model = dawid_skene(drawn(4))
    assert model.probabilities.sum(axis=1) == pytest.approx(np.ones(60))
    assert model.confusions.sum(axis=2) == pytest.approx(np.ones((8, 4)))


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=30))
def test_shares_alike_with_others_lie_between_nothing_and_all_and_average_to_percent(
    values: list[list[int]],
) -> None:
    units, workers = np.indices((len(values), 3))
    judgments = Judgments(units.ravel(), workers.ravel(), np.array(values, float).ravel())
    shares = agreement.alike_with_others(judgments)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert 100 * shares.mean() == pytest.approx(agreement.percent_agreement(judgments))
