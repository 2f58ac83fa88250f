"""A machine that ran elsewhere takes part by what it computed: vectors, or ranked lists."""

from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np

from hits.importers import machine_files
from hits.importers.machine_files import BadFile, ItemVectors, RankedList
from hits.models import Caption, Corpus, Image, Proposal
from hits.models.machines import Direction
from hits.pipeline import propose
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Progress
from workers.encoders import Vectors, file_checksum
from workers.encoding import Encoded
from workers.propose import ends, say_nothing, search_and_keep

BATCH = 4096
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
    progress: Progress | None = None,
) -> list[Proposal]:
    say = progress or say_nothing
    propose.check_file(name=path.name, directions=directions)
    is_lists = path.suffix in machine_files.LISTS
    say(0, None, f"Checking {called}")
    machine = propose.machine_of(
        name=name,
        version=version,
        kind="precomputed",
        checksum=file_checksum(path),
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
        return _from_vectors(path, directions, similarity, say, **shared)
    except BadFile as bad:
        raise Refused(f"{called}: {bad}") from None


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
    path: Path, directions: list[str], similarity: str, say: Any, **shared: Any
) -> list[Proposal]:
    given = machine_files.item_vectors(path)
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
    row_of = {each: row for row, each in enumerate(given.ids)}
    missing = [each for each in wanted if each not in row_of]
    kind = machine_files.ENDS[end]
    if missing or not wanted:
        raise BadFile(
            f"{len(missing):,} of the split's {len(wanted):,} {kind}s have no vector"
            + (f", {missing[0]!r} among them." if missing else ".")
        )
    rows = np.array([row_of[each] for each in wanted])
    vectors = np.empty((len(rows), given.vectors.shape[1]), np.float32)
    lengths = np.empty(len(rows))
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        vectors[part] = given.vectors[rows[part]]
        lengths[part] = np.linalg.norm(vectors[part].astype(np.float64), axis=1)
        say(min(start + BATCH, len(rows)), len(rows), f"Reading vectors of {kind}s")
    if not np.isfinite(lengths).all():
        raise BadFile(f"A vector of {kind}s has numbers that are not finite.")
    scale = 2.0 ** ceil(log2(lengths.max())) if lengths.max() > 0 else 1.0
    _divide(vectors, lengths if similarity == "cosine" else np.full(len(rows), scale))
    ids = np.fromiter(wanted.values(), np.int64, len(wanted))
    return Encoded(ids, vectors), 1.0 if similarity == "cosine" else scale


def _divide(vectors: Vectors, by: Any) -> None:
    by = np.where(by > 0, by, 1)
    for start in range(0, len(vectors), BATCH):
        part = slice(start, start + BATCH)
        vectors[part] = vectors[part].astype(np.float64) / by[part, None]
