"""A machine that ran elsewhere takes part by what it computed: vectors, scores or ranked lists."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from math import ceil, log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hits.importers import machine_files
from hits.importers.machine_files import BadFile, ItemVectors, PairScores, RankedList
from hits.models import Caption, Corpus, Image, Proposal
from hits.models.machines import Direction
from hits.pipeline import propose
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Progress
from workers import exact
from workers.encoders import Vectors, file_checksum
from workers.encoding import Encoded, digest_of
from workers.propose import ends, say_nothing, search_and_keep
from workers.searching import sampled
from workers.vectors import name_of

BATCH = 4096
SCORES_AT_ONCE = 1 << 24
Ids = dict[str, int]


def propose_file(
    *,
    corpus: Corpus,
    path: Path,
    called: str,
    name: str,
    version: str,
    directions: list[str],
    split: str,
    depth: int = 25,
    similarity: str = "cosine",
    query_sample: int | None = None,
    seed: int = 0,
    ids: Path | None = None,
    progress: Progress | None = None,
) -> list[Proposal]:
    say = progress or say_nothing
    propose.check_file(name=path.name, directions=directions, has_ids=ids is not None)
    is_lists = machine_files.form_of(path) in machine_files.LISTS
    say(0, None, f"Checking {called}")
    machine = propose.machine_of(
        name=name,
        version=version,
        kind="precomputed",
        checksum=_checksum(path, ids),
        settings={"file": called} if is_lists else {"file": called, "similarity": similarity},
    )
    if not is_lists and machine.settings["similarity"] != similarity:
        raise Refused(
            f"{machine} compares by {machine.settings['similarity']}: name a new version."
        )
    shared: dict[str, Any] = {"corpus": corpus, "machine": machine, "split": split, "depth": depth}
    try:
        if is_lists:
            lists = _lists_of(corpus, path, directions[0], split, depth, say)
            return [
                propose.keep(
                    direction=directions[0], query_sample=None, seed=0, ranked=lists, **shared
                )
            ]
        shared |= {"query_sample": query_sample, "seed": seed}
        given = machine_files.computed(path, ids)
        if isinstance(given, PairScores):
            return [_from_scores(given, each, say, **shared) for each in directions]
        return _from_vectors(given, directions, similarity, say, **shared)
    except BadFile as bad:
        raise Refused(f"{called}: {bad}") from None


def _checksum(path: Path, ids: Path | None) -> str:
    """Of the file; with ids beside it, of both: the same numbers may mean other items."""
    own = file_checksum(path)
    if ids is None:
        return own
    return sha256(f"{own} {file_checksum(ids)}".encode()).hexdigest()


def _from_scores(
    given: PairScores,
    direction: str,
    say: Any,
    *,
    query_sample: int | None,
    seed: int,
    **shared: Any,
) -> Proposal:
    if direction in propose.WITHIN:
        raise BadFile("Scores are of images and captions: they have no lists within one kind.")
    table, names = given.scores, {"i": given.images, "t": given.captions}
    query, target = ends(direction)
    rows, columns = (_places(end, names[end], shared, say) for end in (query, target))
    chosen = sampled(len(rows.ids), query_sample, seed)
    return propose.keep(
        direction=direction,
        query_sample=query_sample,
        seed=seed,
        items=name_of(digest_of(end.ids) for end in (rows, columns)),
        ranked=_best(table if query == "i" else table.T, rows, chosen, columns, say, **shared),
        **shared,
    )


class _Places(NamedTuple):
    """The split's items in the order of their ids, and where each stands in the file."""

    ids: NDArray[np.int64]
    places: NDArray[np.int64]


def _places(end: str, names: list[str], shared: dict[str, Any], say: Any) -> _Places:
    wanted = _ids(shared["corpus"], end, shared["split"])
    kind = machine_files.ENDS[end]
    say(0, None, f"Looking up {kind}s")
    places = np.array(_rows_of(kind, names, wanted, "score"), np.int64)
    return _Places(np.fromiter(wanted.values(), np.int64, len(wanted)), places)


def _best(
    table: NDArray[Any],
    rows: _Places,
    chosen: list[int],
    columns: _Places,
    say: Any,
    *,
    depth: int,
    **_: Any,
) -> Iterator[propose.Ranked]:
    """The best columns of each chosen row, equal scores by id, some rows at a time."""
    places = np.arange(len(columns.ids))
    at_once = max(SCORES_AT_ONCE // len(places), 1)
    for start in range(0, len(chosen), at_once):
        some = chosen[start : start + at_once]
        block = np.asarray(table[rows.places[some]], np.float32)[:, columns.places]
        if not np.isfinite(block).all():
            raise BadFile("A score is not a finite number.")
        keys = exact.smallest(exact.keys_of(places, block), depth)
        keys.sort(axis=1)
        found, scores = exact.of_sort_keys(keys)
        for query, own, of in zip(rows.ids[some], columns.ids[found], scores, strict=True):
            yield int(query), own.tolist(), of.tolist()
        say(start + len(some), len(chosen), "Ranking scores")


def _lists_of(
    corpus: Corpus, path: Path, direction: str, split: str, depth: int, say: Any
) -> Iterator[propose.Ranked]:
    # Before the first list is asked for: the connection is busy while lists are stored.
    queries, targets = (_ids(corpus, end, split) for end in ends(direction))
    return _matched(path, direction, queries, targets, depth, say)


def _matched(
    path: Path, direction: str, queries: Ids, targets: Ids, depth: int, say: Any
) -> Iterator[propose.Ranked]:
    seen: set[str] = set()
    for each in machine_files.ranked_lists(path):
        if each.query in seen:
            raise BadFile(f"{each.place}: the query {each.query!r} has a list already.")
        seen.add(each.query)
        kept = _known(each, queries, targets, direction)[:depth]
        yield queries[each.query], [pk for pk, _ in kept], [score for _, score in kept]
        say(len(seen), None, f"{Direction(direction).label}: reading ranked lists")
    if not seen:
        raise BadFile("There is no ranked list in it.")


def _known(each: RankedList, queries: Ids, targets: Ids, direction: str) -> list[tuple[int, float]]:
    """Its targets without the query itself; equal scores by id."""
    if each.query not in queries:
        raise BadFile(f"{each.place}: the split has no query {each.query!r}.")
    unknown = next((target for target in each.targets if target not in targets), None)
    if unknown is not None:
        raise BadFile(f"{each.place}: the split has no target {unknown!r}.")
    pairs = zip(map(targets.__getitem__, each.targets), each.scores, strict=True)
    found = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    if direction in propose.WITHIN:
        found = [pair for pair in found if pair[0] != queries[each.query]]
    return found


def _ids(corpus: Corpus, end: str, split: str) -> Ids:
    if end == "i":
        items = Image.objects.filter(corpus=corpus, split=split)
        return dict(items.order_by("pk").values_list("external_id", "pk").iterator())
    captions = Caption.objects.filter(corpus=corpus, image__split=split)
    return dict(captions.order_by("pk").values_list("external_id", "pk").iterator())


def _from_vectors(
    given: dict[str, ItemVectors],
    directions: list[str],
    similarity: str,
    say: Any,
    **shared: Any,
) -> list[Proposal]:
    items: dict[str, Encoded] = {}
    scale: dict[str, float] = {}
    for end in sorted({end for direction in directions for end in ends(direction)}):
        if end not in given:
            raise BadFile(
                f"There are no {machine_files.ENDS[end]}_vectors, which these directions need."
            )
        wanted = _ids(shared["corpus"], end, shared["split"])
        items[end], scale[end] = _prepared(end, given[end], wanted, similarity, say)
    return search_and_keep(items, directions, say=say, factors=scale, **shared)


def _prepared(
    end: str, given: ItemVectors, wanted: Ids, similarity: str, say: Any
) -> tuple[Encoded, float]:
    """Vectors of the split's items in their order, of norm at most 1, and what they were scaled by.

    A power of two scales without rounding, so that inner products keep their order and value.
    """
    kind = machine_files.ENDS[end]
    rows = np.array(_rows_of(kind, given.ids, wanted, "vector"))
    vectors = np.empty((len(rows), given.vectors.shape[1]), np.float32)
    lengths = np.empty(len(rows))
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        vectors[part] = given.vectors[rows[part]]
        lengths[part] = np.linalg.norm(vectors[part].astype(np.float64), axis=1)
        say(min(start + BATCH, len(rows)), len(rows), f"Reading vectors of {kind}s")
    if not np.isfinite(lengths).all():
        raise BadFile(f"A vector of {kind}s has numbers that are not finite.")
    if not lengths.any():
        raise BadFile(f"The vectors of {kind}s are all zero.")
    scale = 2.0 ** ceil(log2(lengths.max()))
    _divide(vectors, lengths if similarity == "cosine" else np.full(len(rows), scale))
    ids = np.fromiter(wanted.values(), np.int64, len(wanted))
    return Encoded(ids, vectors), 1.0 if similarity == "cosine" else scale


def _rows_of(kind: str, names: Iterable[str], wanted: Ids, what: str) -> list[int]:
    """Where the split's items stand in the file."""
    row_of = {each: row for row, each in enumerate(names)}
    missing = [each for each in wanted if each not in row_of]
    if missing or not wanted:
        raise BadFile(
            f"{len(missing):,} of the split's {len(wanted):,} {kind}s have no {what}"
            + (f", {missing[0]!r} among them." if missing else ".")
        )
    return [row_of[each] for each in wanted]


def _divide(vectors: Vectors, by: Any) -> None:
    by = np.where(by > 0, by, 1)
    for start in range(0, len(vectors), BATCH):
        part = slice(start, start + BATCH)
        vectors[part] = vectors[part].astype(np.float64) / by[part, None]
