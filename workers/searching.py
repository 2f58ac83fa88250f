"""Ranked lists of a split, searched at once, or in shards that many workers take."""

import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np
from django.conf import settings

from hits.models.machines import Direction
from hits.pipeline import propose
from workers import parts, ranking, vectors
from workers.encoding import Encoded
from workers.exact import Block
from workers.machines import Say


class Search(NamedTuple):
    """What is searched for what. `both` gives the lists of the targets from the same products."""

    queries: Encoded
    targets: Encoded
    depth: int
    both: bool
    folder: Path | None
    size: int


def sample(queries: Encoded, size: int | None, seed: int) -> Encoded:
    if size is None or size >= len(queries.ids):
        return queries
    chosen = sampled(len(queries.ids), size, seed)
    return Encoded(queries.ids[chosen], queries.vectors[chosen])


def sampled(count: int, size: int | None, seed: int) -> list[int]:
    """Which of so many, in their order; all where no size is given."""
    if size is None or size >= count:
        return list(range(count))
    return sorted(Random(seed).sample(range(count), size))


def lists(
    direction: str, queries: Encoded, targets: Encoded, k: int, say: Say
) -> Iterator[propose.Ranked]:
    """Each query with its best targets, equal scores by id. Within images or captions, where k is
    one more than is wanted, never with itself."""
    search = _planned(queries, targets, k, both=False)
    if search.folder is None:
        blocks = ranking.top_k_blocks(queries.vectors, targets.vectors, k)
    else:
        _search(search, say, Direction(direction).label)
        blocks = ranking.one_after_another([forth for forth, _ in _found(search)])
    return _lists(direction, blocks, queries, targets, k, say)


def lists_both_ways(
    queries: Encoded, targets: Encoded, depth: int, say: Say
) -> tuple[Iterator[propose.Ranked], Iterator[propose.Ranked]]:
    """Image to caption and caption to image of whole splits, from one product."""
    search = _planned(queries, targets, depth, both=True)
    label = "both directions"
    if search.folder is None:
        say(0, len(queries.ids), f"{label}: searching")
        found = [_shard(search, 0, len(queries.ids))]
    else:
        _search(search, say, label)
        found = _found(search)
    forth = ranking.one_after_another([forth for forth, _ in found])
    back = ranking.merged([back for _, back in found], depth)
    return (
        _lists("i2t", forth, queries, targets, depth, say),
        _lists("t2i", back, targets, queries, depth, say),
    )


def forget(queries: Encoded, targets: Encoded, depth: int, *, both: bool) -> None:
    """The shards' files, once their lists are stored."""
    folder = _planned(queries, targets, depth, both=both).folder
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def search_part(arguments: dict[str, Any], say: Say) -> None:
    """What a worker does that was asked for one shard by another."""
    queries, targets = (_mapped(arguments[name]) for name in ("queries", "targets"))
    folder = Path(settings.DATA_DIR) / arguments["folder"]
    depth, both, size = (arguments[name] for name in ("depth", "both", "size"))
    search = Search(queries, targets, depth, both, folder, size)
    _search_part(search, arguments["part"], say)


def _planned(queries: Encoded, targets: Encoded, depth: int, *, both: bool) -> Search:
    size = settings.PART_ITEMS
    if queries.file is None or targets.file is None or len(queries.ids) <= size:
        return Search(queries, targets, depth, both, None, size)
    name = vectors.name_of([queries.file.name, targets.file.name, str(depth), str(both), str(size)])
    folder = Path(settings.DATA_DIR) / "searches" / name
    return Search(queries, targets, depth, both, folder, size)


def _search(search: Search, say: Say, label: str) -> None:
    assert search.folder is not None
    parts.do_all(
        say,
        work="search",
        name=f"search {search.folder.name[:16]}",
        arguments={
            "queries": _described(search.queries),
            "targets": _described(search.targets),
            "depth": search.depth,
            "both": search.both,
            "folder": _within(search.folder),
            "size": search.size,
        },
        count=_shards(search),
        is_there=lambda part: _file(search, part, "forth").exists(),
        do=partial(_search_part, search),
        message=f"{label}: searching, shards of {search.size:,} queries",
    )


def _search_part(search: Search, part: int, say: Say) -> None:
    first = part * search.size
    last = min(first + search.size, len(search.queries.ids))
    say(0, last - first, f"Searching shard {part + 1}")
    forth, back = _shard(search, first, last)
    # The second file says that the first is there.
    _kept(_file(search, part, "back"), back)
    _kept(_file(search, part, "forth"), forth)
    say(last - first, last - first)


def _shard(search: Search, first: int, last: int) -> tuple[ranking.Keys, ranking.Keys]:
    return ranking.shard(
        search.queries.vectors[first:last],
        search.targets.vectors,
        search.depth,
        first_query=first,
        both=search.both,
    )


def _kept(path: Path, keys: ranking.Keys) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with vectors.written_whole(path) as file:
        np.save(file, keys, allow_pickle=False)


def _found(search: Search) -> list[tuple[ranking.Keys, ranking.Keys]]:
    # An empty file cannot be mapped.
    how: Literal["r"] | None = "r" if search.both else None
    return [
        (
            np.load(_file(search, part, "forth"), mmap_mode="r", allow_pickle=False),
            np.load(_file(search, part, "back"), mmap_mode=how, allow_pickle=False),
        )
        for part in range(_shards(search))
    ]


def _shards(search: Search) -> int:
    return -(-len(search.queries.ids) // search.size)


def _file(search: Search, part: int, way: str) -> Path:
    assert search.folder is not None
    return search.folder / f"{part}-{way}.npy"


def _described(items: Encoded) -> dict[str, Any]:
    assert items.file is not None
    return {"file": _within(items.file), "count": len(items.ids)}


def _mapped(told: dict[str, Any]) -> Encoded:
    file = Path(settings.DATA_DIR) / told["file"]
    return Encoded(np.arange(told["count"]), vectors.mapped(file, told["count"]), file)


def _within(path: Path) -> str:
    """As every worker finds it, wherever its data folder is."""
    return path.relative_to(settings.DATA_DIR).as_posix()


def _lists(
    direction: str,
    blocks: Iterable[Block],
    queries: Encoded,
    targets: Encoded,
    k: int,
    say: Say,
) -> Iterator[propose.Ranked]:
    is_within = direction in propose.WITHIN
    for block in blocks:
        found = targets.ids[block.indices].tolist()
        asked = queries.ids[block.start : block.start + len(found)].tolist()
        for query, own, scores in zip(asked, found, block.scores.tolist(), strict=True):
            if is_within:
                own, scores = _without(query, own, scores, k - 1)
            yield query, own, scores
        done = block.start + len(block.indices)
        say(done, len(queries.ids), f"{Direction(direction).label}: ranking")


def _without(
    query: int, targets: list[int], scores: list[float], depth: int
) -> tuple[list[int], list[float]]:
    kept = [pair for pair in zip(targets, scores, strict=True) if pair[0] != query][:depth]
    return [target for target, _ in kept], [score for _, score in kept]
