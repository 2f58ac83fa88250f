"""Propose: keep what machines rank highest for each query."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from hits.models import Corpus, Machine, Proposal
from hits.pipeline.copying import analyze, copy_lines

ORIGINALS = "originals"
Ranked = tuple[int, Sequence[int], Sequence[float]]


def machine_of(
    *, name: str, version: str, kind: str, checksum: str, settings: dict[str, Any]
) -> Machine:
    machine, _ = Machine.objects.get_or_create(
        name=name, version=version, checksum=checksum, defaults={"kind": kind, "settings": settings}
    )
    return machine


@transaction.atomic
def keep(
    *,
    corpus: Corpus,
    machine: Machine,
    direction: str,
    split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
    ranked: Iterable[Ranked],
) -> Proposal:
    """Store ranked lists as one proposal; the same proposal is stored once."""
    proposal = _begun(corpus, machine, direction, split, depth, query_sample, seed)
    if proposal.finished_at is not None:
        return proposal
    queries = 0

    def lines() -> Iterator[str]:
        nonlocal queries
        for query_id, targets, scores in ranked:
            queries += 1
            for rank, (target_id, score) in enumerate(zip(targets, scores, strict=True), start=1):
                yield f"{proposal.pk}\t{query_id}\t{target_id}\t{rank}\t{score}\n"

    columns = ["proposal_id", "query_id", "target_id", "rank", "score"]
    copy_lines("hits_candidate", columns, lines())
    return _finished(proposal, queries)


@transaction.atomic
def keep_originals(
    *,
    corpus: Corpus,
    direction: str,
    split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
) -> Proposal:
    """The corpus's own pairs as a proposal: people are asked about them like about any other."""
    machine = machine_of(name=ORIGINALS, version="1", kind=ORIGINALS, checksum="", settings={})
    proposal = _begun(corpus, machine, direction, split, depth, query_sample, seed)
    if proposal.finished_at is not None:
        return proposal
    values: dict[str, int | str | None] = {
        "proposal": proposal.pk,
        "corpus": corpus.pk,
        "split": split,
        "depth": depth,
        "queries": query_sample,
        "seed": seed,
    }
    query, target = ("image_id", "id") if direction == "i2t" else ("id", "image_id")
    with connection.cursor() as cursor:
        cursor.execute(
            _ORIGINALS.format(
                query=query, target=target, sample=_SAMPLE if query_sample is not None else ""
            ),
            values,
        )
        cursor.execute(_COUNT_QUERIES, values)
        (queries,) = cursor.fetchone()
    return _finished(proposal, queries)


_ORIGINALS = """
    INSERT INTO hits_candidate (proposal_id, query_id, target_id, rank, score)
    WITH own AS (
        SELECT c.{query} AS query_id, c.{target} AS target_id,
               row_number() OVER (PARTITION BY c.{query} ORDER BY c.{target}) AS rank
        FROM hits_caption c JOIN hits_image i ON i.id = c.image_id
        WHERE c.corpus_id = %(corpus)s AND i.split = %(split)s)
    SELECT %(proposal)s, query_id, target_id, rank, 1 FROM own
    WHERE rank <= %(depth)s {sample} ORDER BY query_id, rank
"""
_SAMPLE = """
    AND query_id IN (SELECT query_id FROM own WHERE rank = 1
                     ORDER BY md5(%(seed)s || '/' || query_id) LIMIT %(queries)s)
"""
_COUNT_QUERIES = "SELECT count(*) FROM hits_candidate WHERE proposal_id = %(proposal)s AND rank = 1"


def _begun(
    corpus: Corpus,
    machine: Machine,
    direction: str,
    split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
) -> Proposal:
    proposal, _ = Proposal.objects.select_for_update().get_or_create(
        corpus=corpus,
        machine=machine,
        direction=direction,
        split=split,
        depth=depth,
        query_sample=query_sample,
        seed=seed,
    )
    return proposal


def _finished(proposal: Proposal, queries: int) -> Proposal:
    proposal.queries = queries
    proposal.finished_at = timezone.now()
    proposal.save(update_fields=["queries", "finished_at"])
    analyze("hits_candidate")
    return proposal
