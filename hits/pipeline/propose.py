"""Propose: keep what machines rank highest for each query."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from hits.importers.machine_files import LISTS, VECTORS
from hits.models import Corpus, Job, Machine, Proposal, User
from hits.models.machines import Direction
from hits.pipeline import arrange, jobs
from hits.pipeline.copying import analyze, copy_lines
from hits.pipeline.errors import Refused

Ranked = tuple[int, Sequence[int], Sequence[float]]
FILES = VECTORS + LISTS
SIMILARITIES = {"cosine": "cosine", "dot": "inner product"}
ACROSS, WITHIN = ("i2t", "t2i"), ("i2i", "t2t")


class Kind(NamedTuple):
    label: str
    directions: tuple[str, ...] = ACROSS + WITHIN


MACHINES = {
    "palette": Kind("Palette (colours)"),
    "layout": Kind("Layout (colours and places)"),
    # It knows an image by its captions, which would be first among its candidates.
    "caption_mean": Kind("Caption mean (an image by the words of its captions)", WITHIN),
}


def usual_directions(machine: str) -> tuple[str, ...]:
    check(machine=machine, directions=[])
    return ACROSS if ACROSS[0] in MACHINES[machine].directions else WITHIN


def check(*, machine: str, directions: Iterable[str]) -> None:
    """Refuse a machine that there is not, or a direction that it has no answer for."""
    if machine not in MACHINES:
        raise Refused(f"There is no machine {machine!r}. There are {', '.join(MACHINES)}.")
    able = MACHINES[machine].directions
    for direction in directions:
        if direction not in able:
            labels = " and ".join(Direction(each).label for each in able)
            raise Refused(f"The machine {machine} proposes {labels} only.")


def ask_with_file(
    *, corpus: Corpus, file: UploadedFile, by: User, directions: list[str], **given: Any
) -> Job:
    """Let a machine that ran elsewhere propose by the vectors or ranked lists in a file."""
    check_file(name=file.name or "", directions=directions)
    source = arrange.keep_upload(file, FILES)
    called = arrange.name_of_upload(file)
    arguments = {"corpus": corpus.pk, "source": str(source), "called": called, **given}
    arguments["directions"] = directions
    return jobs.ask(kind="propose_file", arguments=arguments, by=by, corpus=corpus)


def check_file(*, name: str, directions: Collection[str]) -> None:
    if not name.lower().endswith(FILES):
        raise Refused(f"Send one of {', '.join(FILES)}.")
    if name.lower().endswith(LISTS) and len(directions) != 1:
        raise Refused("Ranked lists have one direction.")


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
