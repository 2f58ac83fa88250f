"""Drafts: the units that opening a study makes, one after the other, before they are stored."""

from collections import Counter
from collections.abc import Iterator
from heapq import heappush, heappushpop
from itertools import islice
from random import Random
from typing import Any, TypeVar

from django.db import transaction

from hits.models import Image, Proposal, Study, Unit
from hits.pipeline.copying import CopyBehind
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Refused
from hits.pipeline.rules import rules_of
from hits.pipeline.sources import GivenSource
from hits.protocol import Protocol
from hits.records import UnitDraft

T = TypeVar("T")
BATCH = 2500
NO_FILE = "an image has no file"


def chosen_proposals(study: Study) -> list[Proposal]:
    found = list(study.proposals.filter(finished_at__isnull=False).order_by("pk"))
    if len({(proposal.direction, proposal.split) for proposal in found}) > 1:
        raise Refused("Choose proposals of one direction and one split; another is another study.")
    return found


def drafts_of(study: Study, source: GivenSource, copies: CopyBehind) -> Iterator[UnitDraft]:
    """Without what nobody can see, and what was asked in the studies that it continues."""
    kind, settings = rules_of(study)
    drafts = kind.units(source, settings, Random(study.seed))
    if _some_images_have_no_file(study.corpus_id):
        drafts = _showable(kind, drafts, copies, source)
    if earlier := list(study.continues.values_list("pk", flat=True)):
        drafts = _not_asked_before(earlier, drafts, copies)
    return drafts


@transaction.atomic
def drafts_to_come(study: Study, most: int) -> list[UnitDraft]:
    """What opening would make of what the study was given, up to so many; nothing is stored."""
    copies = CopyBehind()
    with GivenSource(study, chosen_proposals(study), copies, _unheard, Counter()) as source, copies:
        return list(islice(drafts_of(study, source, copies), most))


def _unheard(done: int) -> None:
    pass


def of_first_pages(study: Study, drafts: Iterator[UnitDraft], pages: int) -> Iterator[UnitDraft]:
    """The units of so many pages, by the study's order; never all units at once in memory."""
    kind, settings = rules_of(study)
    composition = kind.composition(settings)
    first: dict[str, list[tuple[int, str, UnitDraft]]] = {pool: [] for pool in composition}
    for draft in drafts:
        heap = first.get(draft.pool)
        if heap is None:
            continue
        entry = (-ring_position(study.seed, draft.key), draft.key, draft)
        if len(heap) < composition[draft.pool] * pages:
            heappush(heap, entry)
        elif heap:
            heappushpop(heap, entry)
    for heap in first.values():
        yield from (draft for *_, draft in sorted(heap, reverse=True))


def _some_images_have_no_file(corpus_id: int) -> bool:
    return Image.objects.filter(corpus=corpus_id, blob__isnull=True).exists()


def _showable(
    kind: Protocol[Any, Any], drafts: Iterator[UnitDraft], copies: CopyBehind, source: GivenSource
) -> Iterator[UnitDraft]:
    """Units whose images have files: nobody can judge the others."""
    for batch in _batches(drafts):
        copies.wait()
        wanted = {pk for draft in batch for pk in kind.items(draft.payload)[0]}
        there = set(
            Image.objects.filter(pk__in=wanted, blob__isnull=False).values_list("pk", flat=True)
        )
        for draft in batch:
            if there.issuperset(kind.items(draft.payload)[0]):
                yield draft
            else:
                source.leave_out(NO_FILE)


def _not_asked_before(
    earlier: list[int], drafts: Iterator[UnitDraft], copies: CopyBehind
) -> Iterator[UnitDraft]:
    for batch in _batches(drafts):
        copies.wait()
        keys = [draft.key for draft in batch]
        asked = set(
            Unit.objects.filter(study__in=earlier, key__in=keys, gold__isnull=True).values_list(
                "key", flat=True
            )
        )
        yield from (draft for draft in batch if draft.key not in asked)


def _batches(items: Iterator[T], size: int = BATCH) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
