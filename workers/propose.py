"""The machines' half of the loop: learn, encode, search, keep."""

from typing import Any

from hits.models import Corpus, Machine, Proposal
from hits.pipeline import propose
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Progress
from workers import encoders, searching, vectors
from workers.encoding import Encoded, encoded
from workers.machines import Say, machine_called
from workers.reranking import rerank


def propose_candidates(
    *,
    corpus: Corpus,
    kind: str,
    directions: list[str],
    split: str,
    train_split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
    pool: list[int] | None = None,
    progress: Progress | None = None,
) -> list[Proposal]:
    """Rank targets for each query, in each direction, and keep the best."""
    say: Say = progress or say_nothing
    propose.check(machine=kind, directions=directions, pool=pool or [])
    found, machine = machine_called(corpus, kind, train_split, say)
    shared: dict[str, Any] = {"corpus": corpus, "machine": machine, "split": split, "depth": depth}
    if isinstance(found, encoders.PairScorer):
        return [
            rerank(scorer=found, direction=direction, pool=pool or [], say=say, **shared)
            for direction in directions
        ]
    called = {"machine": kind, "train_split": train_split}
    items = {
        end: encoded(corpus, split, end, found, machine, say, called)
        for end in sorted({end for direction in directions for end in ends(direction)})
    }
    if not all(len(own.ids) for own in items.values()):
        raise Refused(f"The split {split!r} has no images with files and captions.")
    shared |= {"query_sample": query_sample, "seed": seed}
    return search_and_keep(items, directions, say=say, **shared)


def search_and_keep(
    items: dict[str, Encoded],
    directions: list[str],
    *,
    corpus: Corpus,
    machine: Machine,
    split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
    say: Say,
    factors: dict[str, float] | None = None,
) -> list[Proposal]:
    """`factors` are what vectors of an end were divided by, and inner products are given back."""
    scale = factors or {}
    identity: dict[str, Any] = {
        "corpus": corpus,
        "machine": machine,
        "split": split,
        "depth": depth,
        "query_sample": query_sample,
        "seed": seed,
    }
    ranked_items = {direction: _digest(items, direction) for direction in directions}
    kept = propose.kept_before(ranked_items, **identity)
    wanted = [direction for direction in directions if direction not in kept]

    def keep(direction: str, ranked: Any) -> Proposal:
        factor = scale.get(direction[0], 1.0) * scale.get(direction[-1], 1.0)
        scaled = (
            (query, own, [score * factor for score in scores]) for query, own, scores in ranked
        )
        return propose.keep(
            direction=direction, ranked=scaled, items=ranked_items[direction], **identity
        )

    if query_sample is None and set(propose.ACROSS) <= set(wanted):
        forth, back = searching.lists_both_ways(items["i"], items["t"], depth, say)
        kept |= {"i2t": keep("i2t", forth), "t2i": keep("t2i", back)}
        searching.forget(items["i"], items["t"], depth, both=True)
    for direction in (each for each in wanted if each not in kept):
        queries, targets = (items[end] for end in ends(direction))
        chosen = searching.sample(queries, query_sample, seed)
        k = depth + (direction in propose.WITHIN)
        kept[direction] = keep(direction, searching.lists(direction, chosen, targets, k, say))
        searching.forget(chosen, targets, k, both=False)
    return [kept[direction] for direction in directions]


def ends(direction: str) -> tuple[str, str]:
    """What the queries and what the targets are: i(mages) or t(exts)."""
    return direction[0], direction[-1]


def _digest(items: dict[str, Encoded], direction: str) -> str:
    return vectors.name_of(items[end].digest for end in ends(direction))


def say_nothing(done: int, total: int | None = None, message: str = "") -> None:
    return
