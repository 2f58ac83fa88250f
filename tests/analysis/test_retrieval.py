import importlib.util
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.analysis import rankings, retrieval
from hits.analysis.errors import DegenerateInput
from hits.analysis.rankings import GroundTruth, Rankings, ground_truth, rankings_from_layout

DIRECTIONS = {"i2t": "image_to_caption", "t2i": "caption_to_image"}


def data() -> Path:
    package = importlib.util.find_spec("eccv_caption")
    assert package is not None
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "data"


def truth(dataset: str, way: str) -> GroundTruth:
    return rankings.read_ground_truth(data() / f"{dataset}_{DIRECTIONS[way]}.json")


def reference() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import eccv_caption
    return eccv_caption.Metrics()


def better_than_chance(
    rng: np.random.Generator, way: str, depth: int | None, folder: Path
) -> Rankings:
    """Random rankings in which some positives come early, so that metrics are not all 0.

    They lie in a file, as those of researchers do, so that full ones need little memory.
    """
    queries = truth("original", way).queries
    gallery = truth("original", "t2i" if way == "i2t" else "i2t").queries.astype(np.int32)
    strides = np.array([step for step in range(1, 5000, 2) if step % 5])
    positives = rankings.read_layout(data() / f"cxc_{DIRECTIONS[way]}.json")
    width = depth or len(gallery)
    items = np.lib.format.open_memmap(
        folder / f"{way}.npy", mode="w+", dtype=np.int32, shape=(len(queries), width)
    )
    for row, query in enumerate(queries.tolist()):
        places = rng.integers(len(gallery)) + rng.choice(strides) * np.arange(
            min(width + 8, len(gallery))
        )
        order = gallery[places % len(gallery)]
        early = np.array(positives.get(query, [])[:4], np.int32)
        order = np.concatenate([early, order[~np.isin(order, early)]])
        rng.shuffle(order[:40])
        items[row] = order[:width]
    return Rankings(queries, items)


class Lists:
    """Rankings as the reference reads them, a list a query; each is made when it is asked for."""

    def __init__(self, ranked: Rankings) -> None:
        self.items = ranked.items
        self.rows = {query: row for row, query in enumerate(ranked.queries.tolist())}

    def __getitem__(self, query: int) -> list[int]:
        found: list[int] = self.items[self.rows[query]].tolist()
        return found


def test_recalls_and_map_at_r_equal_the_reference_s_on_the_5k_set(tmp_path: Path) -> None:
    """Without COCO 1K, which takes the reference most of its time and is below."""
    rng = np.random.default_rng(0)
    ours = {way: better_than_chance(rng, way, 150, tmp_path) for way in DIRECTIONS}
    lists = {way: Lists(ranked) for way, ranked in ours.items()}
    metrics = reference()
    recalls = {
        "original": metrics.coco_5k_recalls,
        "cxc": metrics.cxc_recalls,
        "eccv": metrics.eccv_recalls,
    }
    graded = metrics.eccv_metrics(lists, "all")
    for dataset, recall in recalls.items():
        for k in retrieval.RECALLS:
            theirs = recall(lists, "all", K=k)
            for way, ranked in ours.items():
                found = retrieval.recall(ranked, truth(dataset, way), k).mean()
                assert found == pytest.approx(theirs[way], abs=1e-12)
    for way, ranked in ours.items():
        found = retrieval.average_precision_at_r(ranked, truth("eccv", way)).mean()
        assert found == pytest.approx(graded["eccv_map_at_r"][way], abs=1e-12)
        assert found > 0.01
        found = retrieval.r_precision(ranked, truth("eccv", way)).mean()
        assert found == pytest.approx(graded["eccv_rprecision"][way], abs=1e-12)


def coco_folds() -> retrieval.Folds:
    captions = truth("original", "t2i")
    image_of = dict(zip(captions.queries.tolist(), captions.firsts.tolist(), strict=True))
    return retrieval.folds(np.load(data() / "coco_test_ids.npy").tolist(), image_of)


@pytest.mark.deep
def test_coco_1k_equals_the_reference_s_on_full_rankings_of_the_5k_set(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    metrics, folds = reference(), coco_folds()
    ours = {way: better_than_chance(rng, way, None, tmp_path) for way in DIRECTIONS}
    lists = {way: Lists(ranked) for way, ranked in ours.items()}
    own = {
        "i2t": retrieval.fold_recalls(
            ours["i2t"], truth("original", "i2t"), folds.images, folds.captions
        ),
        "t2i": retrieval.fold_recalls(
            ours["t2i"], truth("original", "t2i"), folds.captions, folds.images
        ),
    }
    for k in retrieval.RECALLS:
        theirs = metrics.coco_1k_recalls(lists, "all", K=k)
        for way in DIRECTIONS:
            assert own[way][k] == pytest.approx(theirs[way], abs=1e-12)


def test_recall_in_folds_equals_recall_of_rankings_without_other_folds() -> None:
    rng = np.random.default_rng(2)
    queries, items = np.arange(40), np.arange(100, 300)
    query_folds = {int(query): int(query) % 4 for query in queries}
    item_folds = {int(item): int(item) % 4 for item in items}
    positives = {int(q): [int(100 + q + 4 * step) for step in range(3)] for q in queries}
    ranked = {int(q): rng.permutation(items).tolist() for q in queries}
    own = retrieval.fold_recalls(
        rankings_from_layout(ranked), ground_truth(positives), query_folds, item_folds
    )
    inside = {
        q: [item for item in order if item_folds[item] == query_folds[q]]
        for q, order in ranked.items()
    }
    plain = retrieval.recalls(rankings_from_layout(inside), ground_truth(positives))
    assert own == pytest.approx({k: values.mean() for k, values in plain.items()})


def test_rankings_too_short_for_a_fold_are_refused() -> None:
    ranked = rankings_from_layout({0: [10, 11, 12]})
    with pytest.raises(DegenerateInput, match="end before 5 items"):
        retrieval.fold_recalls(
            ranked, ground_truth({0: [19]}), {0: 0}, dict.fromkeys(range(10, 20), 0), (5,)
        )


layouts = st.integers(2, 12).flatmap(
    lambda size: st.tuples(
        st.permutations(range(size)), st.sets(st.integers(0, size - 1), min_size=1)
    )
)


@given(layouts)
@settings(deadline=None)
def test_metrics_equal_their_definitions(given_: tuple[list[int], set[int]]) -> None:
    order, positive = given_
    ranked = rankings_from_layout({7: order}, complete=True)
    known = ground_truth({7: sorted(positive)})
    m = [item in positive for item in order]
    r = len(positive)
    precision = sum(m[:r]) / r
    average = sum(m[i] * sum(m[: i + 1]) / (i + 1) for i in range(r)) / r
    assert retrieval.r_precision(ranked, known)[0] == pytest.approx(precision, abs=1e-12)
    assert retrieval.average_precision_at_r(ranked, known)[0] == pytest.approx(average, abs=1e-12)
    assert retrieval.recall(ranked, known, 2)[0] == any(m[:2])
    assert retrieval.first_ranks(ranked, known)[0] == m.index(True) + 1


@given(layouts)
@settings(deadline=None)
def test_metrics_lie_in_order_between_0_and_1(given_: tuple[list[int], set[int]]) -> None:
    order, positive = given_
    ranked = rankings_from_layout({7: order}, complete=True)
    known = ground_truth({7: sorted(positive)})
    average = retrieval.average_precision_at_r(ranked, known)[0]
    precision = retrieval.r_precision(ranked, known)[0]
    found = retrieval.recalls(ranked, known, (1, 5, 10))
    assert 0 <= average <= precision <= 1
    assert found[1][0] <= found[5][0] <= found[10][0]


def test_comparing_and_marking_find_the_same_matches() -> None:
    rng = np.random.default_rng(3)
    known = ground_truth({query: rng.choice(60, 20, replace=False).tolist() for query in range(30)})
    items = np.stack([rng.permutation(80)[:50] for _ in range(30)])
    asked = np.arange(30)
    assert (rankings.matches(items, known, asked) == rankings._marked(items, known, asked)).all()


def test_a_cut_limits_r() -> None:
    ranked = rankings_from_layout({1: [5, 9, 8, 7, 6]})
    known = ground_truth({1: [5, 6, 7, 8]})
    assert retrieval.r_precision(ranked, known, cut=1)[0] == 1
    assert retrieval.r_precision(ranked, known)[0] == 0.75


def test_plausible_matches_differ_in_at_most_zeta_classes() -> None:
    queries = {1: frozenset({10, 11}), 2: frozenset({12})}
    gallery = {5: frozenset({10, 11}), 6: frozenset({10}), 7: frozenset({13})}
    for zeta, near in ((0, [5]), (1, [5, 6])):
        found = retrieval.plausible_match_truth(queries, gallery, zeta)
        assert (found.queries.tolist(), found.positives.tolist()) == ([1], near)


def test_pmrp_is_the_mean_over_zeta() -> None:
    ranked = rankings_from_layout({1: [5, 6, 7]})
    truths = [ground_truth({1: [5]}), ground_truth({1: [7, 6]})]
    assert retrieval.pmrp(ranked, truths) == pytest.approx((1 + 0.5) / 2)


def test_median_rank_is_that_of_best_positives() -> None:
    ranked = rankings_from_layout({1: [5, 6, 7], 2: [5, 6, 7], 3: [7, 6, 5]})
    assert retrieval.median_rank(ranked, ground_truth({1: [7], 2: [6, 7], 3: [7]})) == 2


def test_rsum_adds_both_directions_in_percent() -> None:
    assert retrieval.rsum({1: 0.5, 5: 0.6, 10: 0.7}, {1: 0.1, 5: 0.2, 10: 0.3}) == pytest.approx(
        240
    )


def test_scores_become_rankings_with_the_highest_first_and_ties_in_gallery_order() -> None:
    made = rankings.rankings_from_scores(
        np.array([[0.1, 0.9, 0.9, 0.5]]), np.array([3]), np.array([40, 30, 20, 10])
    )
    assert made.items.tolist() == [[30, 20, 10, 40]]
    assert made.complete


def test_ids_that_need_many_digits_are_ranked_as_they_are() -> None:
    large = np.array([2**31, 5, 2**40])
    made = rankings.rankings_from_scores(np.array([[1.0, 3.0, 2.0]]), np.array([1]), large)
    assert made.items.tolist() == [[5, 2**40, 2**31]]


def test_rankings_come_from_json_and_from_npy(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps({"3": ["30", "20"], "4": [10, 40]}))
    np.save(tmp_path / "r.npy", np.array([[30, 20], [10, 40]]))
    one = rankings.rankings_from_layout(rankings.read_layout(tmp_path / "r.json"))
    two = rankings.rankings_from_array(
        rankings.read_array(tmp_path / "r.npy"), np.array([3, 4]), None
    )
    assert one.items.tolist() == two.items.tolist()
    assert one.queries.tolist() == two.queries.tolist()


def test_a_pickled_array_is_never_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DegenerateInput, match="no plain array"):
        rankings.read_array(tmp_path / "r.npy")


@pytest.mark.parametrize("text", ["[1, 2]", '{"a": [1]}', '{"1": 5}', "{"])
def test_a_file_in_another_layout_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(DegenerateInput, match="layout"):
        rankings.read_layout(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("layout", "says"),
    [
        ({1: [5]}, "no ranking"),
        ({1: [5], 2: [5]}, "shorter than"),
        ({1: [5, 5], 2: [5, 6]}, "item twice"),
    ],
)
def test_rankings_that_do_not_answer_are_refused(layout: dict[int, list[int]], says: str) -> None:
    with pytest.raises(DegenerateInput, match=says):
        retrieval.r_precision(rankings_from_layout(layout), ground_truth({1: [5, 6], 2: [7, 8]}))


@pytest.mark.parametrize(("layout", "says"), [({}, "no query"), ({1: []}, "no positive")])
def test_a_ground_truth_without_positives_is_refused(
    layout: dict[int, list[int]], says: str
) -> None:
    with pytest.raises(DegenerateInput, match=says):
        ground_truth(layout)


def test_bison_accuracy_counts_positive_images_and_wants_all_predictions() -> None:
    assert retrieval.bison_accuracy({1: 10, 2: 20}, {1: 10, 2: 21}).mean() == 0.5
    with pytest.raises(DegenerateInput, match="1 of 2 examples"):
        retrieval.bison_accuracy({1: 10, 2: 20}, {1: 10})
