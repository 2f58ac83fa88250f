"""Exact top-k by inner product with torch: fast sums find the candidates, exact ones rank them.

The score of a pair is that of `workers.exact`: integer arithmetic in float64, rounded to float32
once. It does not depend on the order in which a processor adds, so neither block sizes, threads,
shards nor devices change a bit of the result.

Products are taken in blocks, in float32 on a CPU and in float16 on a GPU. Their distance from the
exact score is bounded (Higham 2002, §3.1: n * u * |x| * |y| for any order of additions). The best
`keep` of each query are kept by fast score, a few more than asked for. Whatever was not kept is at
most as good as the last one kept; where that one lies further than twice the bound below the k-th,
the k best are certainly among those kept, and their exact scores decide. Where it does not (many
ties, nearly equal vectors), the query is searched again by `workers.exact`.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray

from workers import exact
from workers.exact import Found, Vectors

ROWS, COLUMNS = 1024, 4096
# How many scores are looked at by their maximum first: neighbours of a row, or of a column.
ALONG, DOWN = 32, 16
RESCORED_QUERIES, RESCORED_TARGETS = 8192, 4096
# A float32 length of up to 4,096 squares is off by less than 2**-24 * 4096 of itself.
ROUNDED_LENGTH = 1.00025


@dataclass(frozen=True)
class Speed:
    """Where and in which numbers the candidates are found."""

    device: str
    dtype: torch.dtype
    spare: int

    def error(self, dimension: int) -> float:
        """The most that a fast score can be away from the exact one, for norms up to 1.001."""
        added = dimension * 2.0**-24 / (1 - dimension * 2.0**-24)
        stepped = 2 * sqrt(dimension) * 2.0**-27
        rounded = 2.0**-24
        if self.dtype == torch.float16:
            # Both vectors and the sum are rounded, relatively and, where numbers are tiny, by step.
            rounded += 3 * 2.0**-11 + 2.0**-20 + 2 * sqrt(dimension) * 2.0**-25
        return 1.01 * (added + stepped + rounded)


def speed_of_this_machine() -> Speed:
    if torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        return Speed("cuda", torch.float16, spare=32)
    return Speed("cpu", torch.float32, spare=8)


class Best:
    """The best targets so far of some queries by fast score, in no order."""

    def __init__(self, queries: int, keep: int, device: str) -> None:
        self.values = torch.full((queries, keep), -torch.inf, device=device)
        self.indices = torch.zeros((queries, keep), dtype=torch.int64, device=device)
        self.bars = torch.full((queries,), -torch.inf, device=device)

    def of(self, rows: slice) -> "Best":
        part = Best(0, 0, "cpu")
        part.values, part.indices = self.values[rows].cpu(), self.indices[rows].cpu()
        part.bars = self.bars[rows].cpu()
        return part

    def merge(self, rows: slice, values: torch.Tensor, indices: torch.Tensor) -> None:
        values = torch.cat([self.values[rows], values], 1)
        indices = torch.cat([self.indices[rows], indices], 1)
        best = values.topk(self.values.shape[1], dim=1, sorted=False)
        self.values[rows] = best.values
        self.indices[rows] = indices.gather(1, best.indices)
        # Nothing that was not kept is above its query's bar.
        self.bars[rows] = best.values.amin(1)

    def take(self, rows: slice, grouped: torch.Tensor, tops: torch.Tensor, first: int) -> None:
        """Keep what is better than the worst kept of scores (rows, groups, members)."""
        bars = self.bars[rows]
        passing = tops > bars[:, None]
        keep = self.values.shape[1]
        if tops.shape[1] > keep and int(passing.sum()) > keep * len(tops):
            bars = torch.maximum(bars, _just_below_the_best(tops, keep))
            passing = tops > bars[:, None]
        row, group = passing.nonzero(as_tuple=True)
        values = _groups_of(grouped, row, group).float()
        line, member = (values > bars[row, None]).nonzero(as_tuple=True)
        if len(line):
            index = first + group[line] * grouped.shape[2] + member
            self._insert(rows, row[line], values[line, member], index)

    def _insert(
        self, rows: slice, row: torch.Tensor, values: torch.Tensor, indices: torch.Tensor
    ) -> None:
        """Entries come ordered by row."""
        counts = torch.bincount(row, minlength=rows.stop - rows.start)
        place = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
        shape = len(counts), int(counts.max())
        padded = values.new_full(shape, -torch.inf)
        padded[row, place] = values
        numbers = indices.new_zeros(shape)
        numbers[row, place] = indices
        self.merge(rows, padded, numbers)


def _just_below_the_best(tops: torch.Tensor, keep: int) -> torch.Tensor:
    """As many groups as are kept have a value above it, so that the best are all above it."""
    lowest = tops.topk(keep, dim=1, sorted=False).values.amin(1).float()
    return torch.nextafter(lowest, torch.full_like(lowest, -torch.inf))


def _groups_of(grouped: torch.Tensor, row: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    if grouped.is_contiguous():
        return grouped.flatten(0, 1).index_select(0, row * grouped.shape[1] + group)
    return grouped[row, group]


def top_k(queries: Vectors, targets: Vectors, k: int, *, speed: Speed | None = None) -> Found:
    """Best targets of every query, best first; equal scores by lower index."""
    width = min(k, len(targets))
    indices = np.empty((len(queries), width), np.int64)
    scores = np.empty((len(queries), width), np.float32)
    for done in top_k_blocks(queries, targets, k, speed=speed):
        rows = slice(done.start, done.start + len(done.indices))
        indices[rows] = done.indices
        scores[rows] = done.scores
    return indices, scores


def top_k_blocks(
    queries: Vectors, targets: Vectors, k: int, *, speed: Speed | None = None
) -> Iterator[exact.Block]:
    """The same, some queries at a time, in memory that does not grow with their number."""
    speed = speed or speed_of_this_machine()
    exact.check_shapes(queries, targets, k)
    _check_lengths(targets)
    for start in range(0, len(queries), RESCORED_QUERIES):
        asked = queries[start : start + RESCORED_QUERIES]
        _check_lengths(asked)
        best, _ = candidates(asked, targets, k, speed=speed, both=False)
        yield exact.Block(start, *ranked(best, asked, targets, k, speed))


def top_k_both(
    queries: Vectors, targets: Vectors, k: int, *, speed: Speed | None = None
) -> tuple[Found, Found]:
    """Best targets of every query and best queries of every target, from one product."""
    speed = speed or speed_of_this_machine()
    exact.check_shapes(queries, targets, k)
    _check_lengths(queries)
    _check_lengths(targets)
    # The side with more lists to fill reads its scores in a row, which is quicker.
    if len(queries) > len(targets):
        forward, backward = candidates(queries, targets, k, speed=speed, both=True)
    else:
        backward, forward = candidates(targets, queries, k, speed=speed, both=True)
    return (
        ranked(forward, queries, targets, k, speed),
        ranked(backward, targets, queries, k, speed),
    )


def candidates(
    queries: Vectors, targets: Vectors, k: int, *, speed: Speed, both: bool
) -> tuple[Best, Best]:
    """The best of every query by fast score and, from the same products, those of every target."""
    keep = k + speed.spare
    forward = Best(len(queries), keep, speed.device)
    back = Best(len(targets) if both else 0, keep, speed.device)
    product = torch.empty(ROWS * COLUMNS, dtype=speed.dtype, device=speed.device)
    for start in range(0, len(queries), ROWS):
        asked = _part(queries, start, ROWS, speed)
        of_queries = slice(start, start + len(asked))
        for first in range(0, len(targets), COLUMNS):
            offered = _part(targets, first, COLUMNS, speed)
            filled = _multiply(product, asked, offered)
            along = filled[: len(asked)].unflatten(1, (-1, ALONG))
            forward.take(of_queries, along, along.amax(2), first)
            if both:
                of_targets = slice(first, first + len(offered))
                down = filled[:, : len(offered)].unflatten(0, (-1, DOWN))
                tops = down.amax(1).T.contiguous()
                back.take(of_targets, down.permute(2, 0, 1), tops, start)
    return forward, back


def ranked(best: Best, queries: Vectors, targets: Vectors, k: int, speed: Speed) -> Found:
    """The exact k best of every query in order."""
    width = min(k, len(targets))
    indices = np.empty((len(queries), width), np.int64)
    scores = np.empty((len(queries), width), np.float32)
    for start in range(0, len(queries) if width else 0, RESCORED_QUERIES):
        rows = slice(start, start + RESCORED_QUERIES)
        found = _ranked_part(best.of(rows), queries[rows], targets, width, speed)
        indices[rows], scores[rows] = found
    return indices, scores


def _ranked_part(best: Best, queries: Vectors, targets: Vectors, width: int, speed: Speed) -> Found:
    kth = best.values.topk(width, dim=1).values[:, -1]
    reach = kth - 2 * speed.error(queries.shape[1])
    keys = _sort_keys(queries, targets, best.indices, best.values >= reach[:, None])
    found = exact.of_sort_keys(np.sort(keys, axis=1)[:, :width])
    uncertain = (best.bars >= reach).numpy()
    if uncertain.any():
        found[0][uncertain], found[1][uncertain] = exact.top_k(queries[uncertain], targets, width)
    return found


def _sort_keys(
    queries: Vectors, targets: Vectors, indices: torch.Tensor, chosen: torch.Tensor
) -> NDArray[np.int64]:
    """The exact sort key of each chosen pair; the others sort last."""
    keys = np.full(indices.shape, np.iinfo(np.int64).max)
    row, place = chosen.nonzero(as_tuple=True)
    target = indices[chosen]
    is_used = torch.zeros(len(targets), dtype=torch.bool)
    is_used[target] = True
    used = is_used.nonzero()[:, 0]
    column = (is_used.cumsum(0) - 1)[target]
    asked = _integers(queries, torch.empty(queries.shape, dtype=torch.float64))
    room = torch.empty((RESCORED_TARGETS, targets.shape[1]), dtype=torch.float64)
    for first in range(0, len(used), RESCORED_TARGETS):
        offered = _integers(targets[used[first : first + RESCORED_TARGETS].numpy()], room)
        here = ((column >= first) & (column < first + len(offered))).nonzero()[:, 0]
        products = _products(asked, offered, row[here], column[here] - first)
        keys[row[here].numpy(), place[here].numpy()] = exact.sort_keys(
            products.numpy(), target[here].numpy()
        )
    return keys


def _products(
    asked: torch.Tensor, offered: torch.Tensor, row: torch.Tensor, column: torch.Tensor
) -> torch.Tensor:
    """Inner products of chosen pairs, which come ordered by row."""
    starts = torch.zeros(len(asked) + 1, dtype=torch.int64)
    starts[1:] = torch.bincount(row, minlength=len(asked)).cumsum(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        chosen = torch.sparse_csr_tensor(
            starts,
            column,
            asked.new_zeros(len(row)),
            (len(asked), len(offered)),
            check_invariants=False,
        )
        return torch.sparse.sampled_addmm(chosen, asked, offered.T, beta=0).values()


def _integers(vectors: Vectors, room: torch.Tensor) -> torch.Tensor:
    return room[: len(vectors)].copy_(_tensor(vectors)).mul_(exact.STEPS).round_()


def _tensor(vectors: Vectors) -> torch.Tensor:
    with warnings.catch_warnings():
        # Memory-mapped files are opened for reading, and only read.
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(vectors)


def _part(vectors: Vectors, start: int, size: int, speed: Speed) -> torch.Tensor:
    return _tensor(vectors[start : start + size]).to(speed.device, speed.dtype)


def _multiply(product: torch.Tensor, asked: torch.Tensor, offered: torch.Tensor) -> torch.Tensor:
    """Scores, one row a query, filled up to whole groups with what nothing is worse than."""
    height, width = _whole(len(asked), DOWN), _whole(len(offered), ALONG)
    filled = product[: height * width].view(height, width)
    torch.mm(asked, offered.T, out=filled[: len(asked), : len(offered)])
    filled[len(asked) :] = -torch.inf
    filled[:, len(offered) :] = -torch.inf
    return filled


def _whole(count: int, group: int) -> int:
    return -(-count // group) * group


def _check_lengths(vectors: Vectors) -> None:
    """In float32, which is off by much less than what is allowed beyond 1."""
    for start in range(0, len(vectors), COLUMNS):
        part = _tensor(vectors[start : start + COLUMNS])
        lengths = torch.linalg.vector_norm(part, dim=1).numpy().astype(np.float64)
        exact.check_lengths(lengths * ROUNDED_LENGTH)
