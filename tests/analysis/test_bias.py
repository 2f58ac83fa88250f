import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis.bias import MachineBias, Proposal, bias, bias_by_size, subsets
from hits.analysis.errors import DegenerateInput

MACHINES = ("P", "Q", "R")


def proposed() -> list[Proposal]:
    lists = {
        ("P", 1): [10, 11, 12],
        ("Q", 1): [12, 10, 13],
        ("R", 1): [14, 13, 12],
        ("P", 2): [20, 21, 22],
        ("Q", 2): [21, 23, 20],
        ("R", 2): [20, 23, 24],
    }
    return [
        Proposal(query, item, machine, rank)
        for (machine, query), items in lists.items()
        for rank, item in enumerate(items, 1)
    ]


GRADES = {(1, 10): 1.0, (1, 12): 0.5, (1, 14): 1.0, (2, 20): 0.5, (2, 21): 0.0, (2, 23): 1.0}


def test_a_machine_s_recall_counts_only_pairs_that_the_dataset_s_machines_proposed() -> None:
    study = MachineBias(proposed(), GRADES, depth=3)
    assert study.recall_at_1(["P"]) == pytest.approx({"P": 75, "Q": 25, "R": 25})
    assert study.recall_at_1(MACHINES) == pytest.approx({"P": 75, "Q": 25, "R": 75})


def test_r_precision_is_graded_and_reads_as_many_ranks_as_there_are_positives() -> None:
    study = MachineBias(proposed(), GRADES, depth=3)
    # Of P alone: query 1 has positives 10 and 12, query 2 has 20.
    assert study.r_precision(["P"]) == pytest.approx(
        {"P": 100 * (1 / 2 + 0.5) / 2, "Q": 100 * (1.5 / 2 + 0) / 2, "R": 100 * (0 + 0.5) / 2}
    )


def test_pairs_below_the_depth_are_not_in_the_dataset() -> None:
    study = MachineBias(proposed(), GRADES, depth=1)
    assert study.recall_at_1(["R"])["Q"] == 0


def test_the_dataset_of_all_machines_has_no_bias() -> None:
    of_all = {"P": 3.0, "Q": 4.0}
    found = bias(of_all, of_all, of_all)
    assert (found.bias, found.self_bias, found.non_self_bias) == (0, 0, None)


def test_bias_is_the_mean_of_self_and_non_self_weighted_by_machines() -> None:
    rng = np.random.default_rng(0)
    scores, of_all = ({name: float(rng.random()) for name in "PQRST"} for _ in range(2))
    found = bias(scores, of_all, "PQ")
    assert found.self_bias is not None
    assert found.non_self_bias is not None
    assert found.bias == pytest.approx((2 * found.self_bias + 3 * found.non_self_bias) / 5)


scores_of_five = st.lists(st.floats(0, 100), min_size=5, max_size=5)


@given(scores_of_five, scores_of_five, st.sets(st.sampled_from("PQRST"), min_size=1))
def test_bias_is_never_negative_and_the_same_for_scores_turned_around(
    some: list[float], every: list[float], chosen: set[str]
) -> None:
    scores, of_all = (dict(zip("PQRST", values, strict=True)) for values in (some, every))
    found = bias(scores, of_all, chosen)
    assert found.bias >= 0
    assert bias(of_all, scores, chosen) == found


def test_all_subsets_are_averaged_by_their_size() -> None:
    study = MachineBias(proposed(), GRADES, depth=3)
    scores = {chosen: study.recall_at_1(chosen) for chosen in subsets(MACHINES)}
    found = bias_by_size(scores, MACHINES)
    assert set(found) == {1, 2}
    alone = [
        bias(scores[frozenset(one)], scores[frozenset(MACHINES)], one).bias for one in MACHINES
    ]
    assert found[1].bias == pytest.approx(np.mean(alone))


def test_scores_of_every_subset_are_wanted() -> None:
    with pytest.raises(DegenerateInput, match="6 subsets"):
        bias_by_size({frozenset(MACHINES): dict.fromkeys(MACHINES, 1.0)}, MACHINES)


def test_two_items_at_one_rank_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="two items at rank 1"):
        MachineBias([Proposal(1, 10, "P", 1), Proposal(1, 11, "P", 1)], {})
