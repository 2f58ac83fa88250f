"""What must hold of every statistic, whatever the data: bounds, and what it must not depend on."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hits.analysis import agreement, bias, captions, comparisons, positives, retrieval, shares
from hits.analysis.agreement import Judgments
from hits.analysis.distributions import Agreement
from hits.analysis.errors import AnalysisError
from hits.analysis.likelihood import LEFT, RIGHT, TIE
from hits.analysis.rankings import GroundTruth, Rankings, ground_truth, rankings_from_layout
from hits.analysis.resampling import mean_interval
from hits.analysis.surveys import agreement_with_people, unanimity

SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=20, deadline=None)


def judged(seed: int, values: int = 4) -> Judgments:
    rng = np.random.default_rng(seed)
    asked = rng.random((6, 8)) < 0.8
    assume((asked.sum(axis=0) > 1).sum() > 3)
    workers, units = np.nonzero(asked)
    return Judgments(units, workers, rng.integers(0, values, len(units)).astype(np.float64))


@given(SEEDS, st.floats(0.1, 10), st.floats(-5, 5))
@FEW
def test_one_against_the_rest_is_bounded_and_knows_no_scale(
    seed: int, factor: float, shift: float
) -> None:
    plain = judged(seed)
    try:
        found = agreement.leave_one_out(plain)
    except AnalysisError:
        assume(False)
    known = found.by_worker[~np.isnan(found.by_worker)]
    assert (np.abs(known) <= 1).all()
    scaled = Judgments(plain.units, plain.workers, factor * plain.values + shift)
    assert agreement.leave_one_out(scaled).by_worker == pytest.approx(found.by_worker, nan_ok=True)


@given(SEEDS)
@FEW
def test_agreement_told_unit_by_unit_is_that_of_all_judgments_together(seed: int) -> None:
    plain = judged(seed, values=3)
    streamed = Agreement()
    for unit in np.unique(plain.units):
        streamed.add(Counter(map(str, plain.values[plain.units == unit])))
    assert streamed.alpha == pytest.approx(agreement.krippendorff_alpha(plain, "nominal"))


@given(SEEDS)
@FEW
def test_a_retest_does_not_depend_on_which_way_round_came_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.nonzero(~np.eye(5, dtype=bool))
    scores = rng.random(len(first))
    there, back = (
        agreement.rated_both_ways(one, two, scores)
        for one, two in ((first, second), (second, first))
    )
    assert there.pairs == back.pairs == 10
    assert there.mean_absolute_difference == pytest.approx(back.mean_absolute_difference)
    assert there.mean_difference == pytest.approx(-back.mean_difference)
    assert there.pearson == pytest.approx(back.pearson)


def ranked(seed: int) -> tuple[Rankings, dict[int, list[int]], np.random.Generator]:
    rng = np.random.default_rng(seed)
    items = np.arange(100, 112)
    layout = {query: rng.permutation(items).tolist() for query in range(6)}
    truth = {
        query: rng.choice(items, rng.integers(1, 5), replace=False).tolist() for query in layout
    }
    return rankings_from_layout(layout, complete=True), truth, rng


@given(SEEDS)
@FEW
def test_the_first_rank_says_which_recalls_are_met(seed: int) -> None:
    given_, layout, rng = ranked(seed)
    truth = ground_truth(layout)
    ranks = retrieval.first_ranks(given_, truth)
    assert ((ranks >= 1) & (ranks <= 12)).all()
    for k in (1, 3, 12):
        assert (retrieval.recall(given_, truth, k) == (ranks <= k)).all()
    other = ground_truth({query: layout[query] for query in rng.permutation(6).tolist()})
    assert retrieval.median_rank(given_, other) == retrieval.median_rank(given_, truth)


@given(SEEDS)
@FEW
def test_one_fold_is_no_fold_and_more_folds_never_lower_a_recall(seed: int) -> None:
    given_, _, _ = ranked(seed)
    truth = ground_truth({query: [100 + query] for query in range(6)})
    whole = retrieval.fold_recalls(
        given_, truth, dict.fromkeys(range(6), 0), dict.fromkeys(range(100, 112), 0)
    )
    plain = {k: found.mean() for k, found in retrieval.recalls(given_, truth).items()}
    assert whole == pytest.approx(plain)
    halves = retrieval.fold_recalls(
        given_,
        truth,
        {query: query % 2 for query in range(6)},
        {item: item % 2 for item in range(100, 112)},
    )
    assert all(halves[k] >= whole[k] - 1e-12 for k in whole)


@given(SEEDS, st.integers(0, 2))
@FEW
def test_plausible_matches_are_the_same_both_ways_and_grow_with_zeta(seed: int, zeta: int) -> None:
    rng = np.random.default_rng(seed)
    one, two = (
        {start + n: frozenset(np.flatnonzero(rng.random(3) < 0.5).tolist()) for n in range(5)}
        for start in (0, 100)
    )

    def pairs(found: GroundTruth) -> set[tuple[int, int]]:
        queries = np.repeat(found.queries, found.sizes)
        return set(zip(queries.tolist(), found.positives.tolist(), strict=True))

    expected = {(a, b) for a in one for b in two if len(one[a] ^ two[b]) <= zeta}
    assume(expected)
    assert pairs(retrieval.plausible_match_truth(one, two, zeta)) == expected
    turned = pairs(retrieval.plausible_match_truth(two, one, zeta))
    assert {(a, b) for b, a in turned} == expected


@given(SEEDS)
@FEW
def test_pmrp_lies_between_0_and_1_and_is_1_where_positives_come_first(seed: int) -> None:
    given_, layout, _ = ranked(seed)
    truth = ground_truth(layout)
    assert 0 <= retrieval.pmrp(given_, [truth]) <= 1
    first = {
        query: own + [item for item in range(100, 112) if item not in own]
        for query, own in layout.items()
    }
    assert retrieval.pmrp(rankings_from_layout(first), [truth]) == 1


@given(st.dictionaries(st.integers(0, 20), st.tuples(st.integers(0, 2), st.integers(0, 2))))
def test_an_alteration_changes_as_much_as_its_reversal(both: dict[int, tuple[int, int]]) -> None:
    assume(both)
    before = {example: one for example, (one, _) in both.items()}
    after = {example: two for example, (_, two) in both.items()}
    changed = positives.predictions_changed(before, after)
    assert (changed == positives.predictions_changed(after, before)).all()
    assert changed.sum() == sum(one != two for one, two in both.values())
    assert not positives.predictions_changed(before, before).any()


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=6))
def test_conversions_multiply_to_that_of_all_stages(counts: list[int]) -> None:
    falling = sorted(counts, reverse=True)
    stages = positives.conversions(falling)
    (overall,) = positives.conversions([falling[0], falling[-1]])
    assert all(0 < stage.percent <= 100 for stage in stages)
    product = 100 * np.prod([stage.percent / 100 for stage in stages])
    assert product == pytest.approx(overall.percent)


@given(st.lists(st.tuples(st.sampled_from("PQ"), st.sets(st.sampled_from("abc"))), max_size=30))
def test_shares_of_reasons_sum_to_100_and_know_no_order(
    ticked: list[tuple[str, set[str]]],
) -> None:
    assume(any(chosen for _, chosen in ticked))
    found = shares.reason_shares(ticked, "abc")
    for row in found.values():
        assert sum(row.percent(reason) for reason in "abc") == pytest.approx(100)
    assert shares.reason_shares(ticked[::-1], "abc") == found


@given(SEEDS)
@FEW
def test_graded_scores_are_bounded_and_grow_with_the_machines_that_propose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proposals = [
        bias.Proposal(query, int(item), machine, rank)
        for machine in "PQR"
        for query in range(4)
        for rank, item in enumerate(rng.permutation(8)[:3], 1)
    ]
    pairs = {(each.query, each.item) for each in proposals}
    grades = {pair: float(rng.choice([0, 0.5, 1])) for pair in sorted(pairs)}
    found = bias.MachineBias(proposals, grades)
    alone, more = found.recall_at_1("P"), found.recall_at_1("PQ")
    assert all(0 <= alone[machine] <= more[machine] <= 100 for machine in "PQR")
    assert found.recall_at_1("PQR")["P"] == alone["P"]
    if any(grades.values()):
        assert all(0 <= score <= 100 for score in found.r_precision("PQR").values())


SCORES = st.floats(-5, 5, allow_nan=False)


@given(st.dictionaries(st.text(max_size=3), st.tuples(SCORES, SCORES), min_size=1))
@FEW
def test_what_prefers_the_right_text_does_not_prefer_the_wrong_one(
    scores: dict[str, tuple[float, float]],
) -> None:
    turned = {example: (wrong, right) for example, (right, wrong) in scores.items()}
    assert (captions.forced_choice(scores) + captions.forced_choice(turned) == 1).all()


@given(st.lists(st.text("abc dog red ", min_size=1), min_size=1, max_size=8), st.randoms())
@FEW
def test_texts_have_no_more_nouns_and_adjectives_than_words(
    texts: list[str], order: Random
) -> None:
    found = captions.text_statistics(texts)
    assert (found.nouns + found.adjectives <= found.lengths).all()
    order.shuffle(texts)
    assert captions.text_statistics(texts).line() == pytest.approx(found.line())


VOTES = st.dictionaries(
    st.integers(0, 9).map(str), st.lists(st.sampled_from("12"), min_size=3, max_size=3), min_size=1
)


@given(VOTES)
def test_unanimity_does_not_know_which_side_is_which(votes: dict[str, list[str]]) -> None:
    other = {image: ["21"[int(side) - 1] for side in sides] for image, sides in votes.items()}
    assert 0 <= unanimity(votes, 3) == unanimity(other, 3) <= 1


@given(st.dictionaries(st.integers(0, 9).map(str), st.tuples(SCORES, SCORES), min_size=1), SEEDS)
def test_a_metric_turned_around_agrees_where_it_did_not(
    scores: dict[str, tuple[float, float]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    chosen = {image: str(rng.integers(1, 3)) for image in scores}
    first = {image: one for image, (one, _) in scores.items()}
    second = {image: two for image, (_, two) in scores.items()}
    agreed, _ = agreement_with_people(chosen, first, second)
    turned, _ = agreement_with_people(chosen, second, first)
    assert set(agreed.tolist()) <= {0, 0.5, 1}
    assert (agreed + turned == 1).all()


@given(SEEDS)
@FEW
def test_the_fit_of_ties_and_sides_is_blind_to_names_and_never_worse_than_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tallied = rng.integers(1, 9, (4, 4, 3)).astype(np.float64)
    tallied[np.arange(4), np.arange(4)] = 0
    names, order = "ABCD", rng.permutation(4)
    plain = comparisons.fit_tally(names, tallied, side=True, ties=True)
    moved = comparisons.fit_tally(names, tallied[np.ix_(order, order)], side=True, ties=True)
    assert moved.strengths == pytest.approx(plain.strengths[order], abs=1e-6)
    assert (moved.side, moved.tie) == pytest.approx((plain.side, plain.tie), abs=1e-6)
    told = comparisons.goodness_of_fit(plain, tallied)
    assert min(told.likelihood_ratio, told.pearson) >= 0
    assert 0 <= told.p_value <= 1
    mirrored = tallied.swapaxes(0, 1)[..., [RIGHT, LEFT, TIE]]
    turned = comparisons.fit_tally(names, mirrored, side=True, ties=True)
    assert turned.side == pytest.approx(-(plain.side or 0), abs=1e-6)
    fitted = comparisons.goodness_of_fit(turned, mirrored).likelihood_ratio
    assert fitted == pytest.approx(told.likelihood_ratio, abs=1e-6)


@given(SEEDS, st.floats(-5, 5))
@FEW
def test_the_interval_of_a_mean_moves_with_its_values(seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(size=12)
    plain, moved = (
        mean_interval(each, items=np.arange(12), replicates=50) for each in (values, values + shift)
    )
    assert plain.low < plain.estimate < plain.high
    ends = (plain.low + shift, plain.high + shift)
    assert (moved.low, moved.high) == pytest.approx(ends)
