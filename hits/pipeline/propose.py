"""Propose: keep what machines rank highest for each query."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from hits.models import Corpus, Machine, Proposal
from hits.pipeline.copying import copy_lines

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
    proposal, _ = Proposal.objects.select_for_update().get_or_create(
        corpus=corpus,
        machine=machine,
        direction=direction,
        split=split,
        depth=depth,
        query_sample=query_sample,
        seed=seed,
    )
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
    proposal.queries = queries
    proposal.finished_at = timezone.now()
    proposal.save(update_fields=["queries", "finished_at"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE hits_candidate")
    return proposal
