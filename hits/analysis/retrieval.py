"""Retrieval metrics: R@K, R-Precision, mAP@R, PMRP, median rank, RSUM and COCO's 1K folds.

For a query x with R positives let m_i be 1 if the item at rank i is a positive and 0 otherwise.

    R@K         1 if any of m_1 … m_K is 1                                 (Karpathy and Li 2015)
    R-Precision 1/R Σ_{i ≤ R} m_i                                          (ECCV Caption, Eq. E.3)
    AP@R        1/R Σ_{i ≤ R} m_i · (1/i Σ_{j ≤ i} m_j)       (Musgrave, Belongie and Lim 2020)

A metric is the mean over queries. Here each function gives one value a query, so that intervals can
resample queries or the images behind them. Values agree with eccv_caption.Metrics, but only the
ranks that a metric depends on are ever read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.analysis.arrays import Bools, Floats, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.heeding import Heed, go_on
from hits.analysis.rankings import (
    CELLS_AT_ONCE,
    MOST_CELLS,
    NOTHING,
    GroundTruth,
    Lookup,
    Rankings,
    matches,
    require_no_repeats,
)

RECALLS = (1, 5, 10)
FOLD_DEPTH = 96
PLAUSIBLE_CUT = 50


def recall(rankings: Rankings, truth: GroundTruth, k: int) -> Floats:
    """R@K of each query, in the ground truth's order."""
    return recalls(rankings, truth, (k,))[k]


def recalls(
    rankings: Rankings, truth: GroundTruth, ks: Sequence[int] = RECALLS
) -> dict[int, Floats]:
    deepest = _deepest(ks)
    found = _matches_to(rankings, truth, np.full(len(truth.queries), deepest), deepest)
    return {k: np.any(found[:, :k], axis=1).astype(np.float64) for k in ks}


def r_precision(rankings: Rankings, truth: GroundTruth, *, cut: int | None = None) -> Floats:
    """R-Precision of each query. With a cut, R becomes min(R, cut)."""
    sizes = truth.sizes if cut is None else np.minimum(truth.sizes, cut)
    if cut is not None and cut < 1:
        raise DegenerateInput("A cut is at least 1.")
    found = _matches_to(rankings, truth, sizes, int(sizes.max()))
    values: Floats = _within(found, sizes).sum(axis=1) / sizes
    return values


def average_precision_at_r(rankings: Rankings, truth: GroundTruth) -> Floats:
    """AP@R of each query; its mean is mAP@R."""
    sizes = truth.sizes
    found = _within(_matches_to(rankings, truth, sizes, int(sizes.max())), sizes)
    ranks = np.arange(1, found.shape[1] + 1)
    values = np.empty(len(found))
    at_once = max(1, CELLS_AT_ONCE // len(ranks))
    for start in range(0, len(found), at_once):
        part = found[start : start + at_once]
        values[start : start + at_once] = (np.cumsum(part, axis=1) / ranks * part).sum(axis=1)
    return values / sizes


def plausible_match_truth(
    query_classes: dict[int, frozenset[int]],
    gallery_classes: dict[int, frozenset[int]],
    zeta: int,
    *,
    heed: Heed = go_on,
) -> GroundTruth:
    """Pseudo-positives: pairs whose sets of object classes differ in at most ζ classes.

    Plausible Match (Chun et al. 2021): the Hamming distance of binary vectors of instance classes,
    a caption having those of its image. Queries without any are left out.
    """
    known = sorted(
        {c for each in (query_classes, gallery_classes) for own in each.values() for c in own}
    )
    sides = len(query_classes), len(gallery_classes)
    if max(sides[0] * sides[1], max(sides) * len(known)) > MOST_CELLS:
        raise DegenerateInput(
            f"{sides[0]:,} queries, {sides[1]:,} items and {len(known):,} classes are too many."
        )
    queries, items = (_class_vectors(own, known) for own in (query_classes, gallery_classes))
    gallery = np.fromiter(gallery_classes, np.int64, len(gallery_classes))
    sizes, near = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    at_once = max(1, CELLS_AT_ONCE // max(1, len(gallery)))
    for start in range(0, len(queries), at_once):
        heed()
        part = queries[start : start + at_once]
        distances = part.sum(axis=1)[:, None] + items.sum(axis=1) - 2 * part @ items.T
        rows, columns = np.nonzero(distances <= zeta)
        sizes.append(np.bincount(rows, minlength=len(part)))
        near.append(gallery[columns])
    counted = np.concatenate(sizes)
    if not counted.any():
        raise DegenerateInput("No query has an item whose classes are near enough to its own.")
    asked = np.fromiter(query_classes, np.int64, len(query_classes))[counted > 0]
    starts = np.concatenate([[0], np.cumsum(counted[counted > 0])]).astype(np.int64)
    return GroundTruth(asked, starts, np.concatenate(near))


def _class_vectors(classes: dict[int, frozenset[int]], known: Sequence[int]) -> NDArray[np.float32]:
    index = {name: place for place, name in enumerate(known)}
    made = np.zeros((len(classes), max(1, len(known))), np.float32)
    for row, own in enumerate(classes.values()):
        made[row, [index[name] for name in own]] = 1
    return made


def pmrp(
    rankings: Rankings, truths: Sequence[GroundTruth], *, cut: int | None = PLAUSIBLE_CUT
) -> float:
    """Plausible Match R-Precision: the mean of R-Precision over the ground truths of each ζ.

    ECCV Caption uses ζ = 0 alone and R cut at 50 (§4.1); Chun et al. 2021 ζ = 0, 1, 2 and no cut.
    """
    if not truths:
        raise DegenerateInput("PMRP needs the ground truth of at least one ζ.")
    return float(np.mean([r_precision(rankings, truth, cut=cut).mean() for truth in truths]))


def first_ranks(rankings: Rankings, truth: GroundTruth, *, heed: Heed = go_on) -> Ints:
    """The rank, from 1 on, of each query's best positive."""
    rows = rankings.rows_of(truth.queries)
    asked = np.arange(len(rows))
    ranks = np.zeros(len(rows), np.int64)
    start, width = 0, FOLD_DEPTH
    while len(asked) and start < rankings.depth:
        heed()
        found = matches(rankings.items[rows[asked], start : start + width], truth, asked)
        hit = found.any(axis=1)
        ranks[asked[hit]] = start + 1 + found[hit].argmax(axis=1)
        asked = asked[~hit]
        start, width = start + width, 2 * width
    if len(asked):
        raise DegenerateInput(
            f"{len(asked)} rankings end before their first positive, such as that of query "
            f"{truth.queries[asked[0]]}."
        )
    return ranks


def median_rank(rankings: Rankings, truth: GroundTruth) -> float:
    """The median over queries of the rank of the best positive (CxC §4)."""
    return float(np.median(first_ranks(rankings, truth)))


@dataclass(frozen=True)
class Folds:
    """The fold of each caption and of each image, by id."""

    captions: dict[int, int]
    images: dict[int, int]
    number: int


def folds(caption_ids: Sequence[int], image_of: dict[int, int], number: int = 5) -> Folds:
    """Captions in their published order, cut into equal folds; images follow their captions."""
    size, rest = divmod(len(caption_ids), number)
    if rest or not size:
        raise DegenerateInput(f"{len(caption_ids)} captions make no {number} equal folds.")
    captions = {caption: place // size for place, caption in enumerate(caption_ids)}
    images: dict[int, int] = {}
    for caption, fold in captions.items():
        if images.setdefault(image_of[caption], fold) != fold:
            raise DegenerateInput(f"Image {image_of[caption]} has captions in two folds.")
    return Folds(captions, images, number)


def fold_recalls(
    rankings: Rankings,
    truth: GroundTruth,
    query_folds: dict[int, int],
    item_folds: dict[int, int],
    ks: Sequence[int] = RECALLS,
    *,
    heed: Heed = go_on,
) -> dict[int, float]:
    """R@K inside folds: a query's ranking without the items of other folds; the mean of means.

    COCO 1K is this with five folds of 1,000 images and 5,000 captions.
    """
    ranks = _first_ranks_in_fold(rankings, truth, query_folds, item_folds, _deepest(ks), heed)
    own = np.array([query_folds[query] for query in truth.queries.tolist()], np.int64)
    queries = np.bincount(own)
    if not queries.all():
        raise DegenerateInput("A fold has no query.")
    return {k: float(np.mean(np.bincount(own, weights=ranks <= k) / queries)) for k in ks}


def _first_ranks_in_fold(
    rankings: Rankings,
    truth: GroundTruth,
    query_folds: dict[int, int],
    item_folds: dict[int, int],
    deepest: int,
    heed: Heed,
) -> Floats:
    """Ranks of best positives within the fold, infinite where they lie beyond `deepest`."""
    lookup = Lookup(np.fromiter(item_folds, np.int64, len(item_folds)))
    fold_of = np.full(len(lookup) + 1, NOTHING, np.int64)
    fold_of[lookup(np.fromiter(item_folds, np.int64))] = np.fromiter(item_folds.values(), np.int64)
    own = np.array([query_folds[query] for query in truth.queries.tolist()], np.int64)
    rows = rankings.rows_of(truth.queries)
    ranks = np.full(len(rows), np.inf)
    before = np.zeros(len(rows), np.int64)
    asked, start, width = np.arange(len(rows)), 0, FOLD_DEPTH
    while len(asked) and start < rankings.depth:
        heed()
        items = rankings.items[rows[asked], start : start + width]
        require_no_repeats(items)
        inside = fold_of[lookup(items)] == own[asked, None]
        counted = np.cumsum(inside, axis=1) + before[asked, None]
        found = matches(items, truth, asked) & inside
        hit = found.any(axis=1)
        first = found[hit].argmax(axis=1)
        ranks[asked[hit]] = counted[hit, first]
        before[asked] = counted[:, -1]
        asked = asked[~hit & (before[asked] < deepest)]
        start, width = start + width, 2 * width
    if (
        len(asked)
        and not rankings.complete
        and not _whole_fold_seen(before[asked], own[asked], item_folds)
    ):
        raise DegenerateInput(
            f"{len(asked)} rankings end before {deepest} items of their fold, such as that of "
            f"query {truth.queries[asked[0]]}."
        )
    return ranks


def _whole_fold_seen(seen: Ints, own: Ints, item_folds: dict[int, int]) -> bool:
    sizes = np.bincount(np.fromiter(item_folds.values(), np.int64))
    return bool((seen >= sizes[own]).all())


def rsum(image_to_text: dict[int, float], text_to_image: dict[int, float]) -> float:
    """The sum, in percent, of R@1, R@5 and R@10 of both directions."""
    try:
        return 100 * sum(each[k] for each in (image_to_text, text_to_image) for k in RECALLS)
    except KeyError as error:
        raise DegenerateInput(f"RSUM needs R@{error} of both directions.") from error


def bison_accuracy(true_images: dict[int, int], predicted: dict[int, int]) -> Floats:
    """1 for each BISON example whose positive image was chosen, 0 otherwise (BISON §3)."""
    if not true_images:
        raise DegenerateInput("There is no example to be right or wrong about.")
    missing = true_images.keys() - predicted.keys()
    if missing:
        raise DegenerateInput(f"{len(missing)} of {len(true_images)} examples have no prediction.")
    right = [predicted[example] == image for example, image in true_images.items()]
    return np.array(right, np.float64)


def _deepest(ks: Sequence[int]) -> int:
    if not ks or min(ks) < 1:
        raise DegenerateInput("R@K needs a K of at least 1.")
    return max(ks)


def _within(found: Bools, sizes: Ints) -> Bools:
    return found & (np.arange(found.shape[1])[None, :] < sizes[:, None])


def _matches_to(rankings: Rankings, truth: GroundTruth, needed: Ints, deepest: int) -> Bools:
    """Which of the first ranks are positives, of rankings that are as deep as is needed."""
    rows = rankings.rows_of(truth.queries)
    items = rankings.items[rows, :deepest]
    require_no_repeats(items)
    if not rankings.complete:
        short = (items != NOTHING).sum(axis=1) < needed
        if short.any():
            raise DegenerateInput(
                f"{short.sum()} rankings are shorter than the metric needs, such as that of query "
                f"{truth.queries[short][0]}."
            )
    found = matches(items, truth, np.arange(len(rows)))
    missing = deepest - found.shape[1]
    return np.pad(found, ((0, 0), (0, missing))) if missing > 0 else found
