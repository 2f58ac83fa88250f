"""Propose: keep what machines rank highest for each query."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from hits.importers.machine_files import LISTS, VECTORS
from hits.models import Corpus, Job, Machine, Proposal, Study, User
from hits.models.machines import Direction
from hits.pipeline import arrange, jobs
from hits.pipeline.copying import analyze, copy_lines
from hits.pipeline.errors import Refused
from hits.pipeline.installed import DUAL, PAIRS, SENTENCE, WORDS, installed

Ranked = tuple[int, Sequence[int], Sequence[float]]
FILES = VECTORS + LISTS
IDS = (".json",)
SIMILARITIES = {"cosine": "cosine", "dot": "inner product"}
ACROSS, WITHIN = ("i2t", "t2i"), ("i2i", "t2t")
DEEPEST, MOST_QUERIES, LARGEST_SEED = 1000, 2**31 - 1, 2**62
QUEUES = {"": "as the machine needs", "cpu": "cpu", "gpu": "gpu"}


class Kind(NamedTuple):
    label: str
    directions: tuple[str, ...] = ACROSS + WITHIN
    learns: bool = False
    scores_pairs: bool = False
    is_large: bool = False


# Those that read captions know an image by them: its own would be first among its candidates.
LEARNED = {
    "palette": Kind("Palette (colours)", learns=True),
    "layout": Kind("Layout (colours and places)", learns=True),
    "small_dual": Kind("Small dual encoder (learns here)", learns=True),
    "caption_mean": Kind(
        "Caption mean (an image by the words of its captions)", WITHIN, learns=True
    ),
    "tfidf": Kind("TF-IDF (rare words of captions)", WITHIN, learns=True),
}
TRAINED = {
    DUAL: Kind("dual encoder", is_large=True),
    SENTENCE: Kind("sentence encoder", WITHIN, is_large=True),
    WORDS: Kind("word vectors", WITHIN),
    PAIRS: Kind("pair scorer, orders what others proposed", ACROSS, False, True, True),
}


def machines() -> dict[str, Kind]:
    """What there is to ask: machines that learn here, and models that are installed."""
    trained = {
        called: TRAINED[model.kind]._replace(label=f"{called} ({TRAINED[model.kind].label})")
        for called, model in installed().items()
        if model.kind in TRAINED
    }
    return {**LEARNED, **trained}


def recorded_name(machine: str) -> str:
    """Of what is asked for by this name: without a version."""
    return machine.partition("@")[0]


def usual_directions(machine: str) -> tuple[str, ...]:
    check(machine=machine, directions=[])
    return ACROSS if ACROSS[0] in machines()[machine].directions else WITHIN


def check(*, machine: str, directions: Iterable[str], pool: Collection[int] = ()) -> None:
    """Refuse a machine that there is not, or what it has no answer for."""
    known = machines()
    if machine not in known:
        raise Refused(f"There is no machine {machine!r}. There are {', '.join(known)}.")
    able = known[machine].directions
    for direction in directions:
        if direction not in able:
            labels = " and ".join(Direction(each).label for each in able)
            raise Refused(f"The machine {machine} proposes {labels} only.")
    if known[machine].scores_pairs and directions and not pool:
        raise Refused(f"The machine {machine} scores pairs: name proposals for it to order.")
    if pool and not known[machine].scores_pairs:
        raise Refused(f"The machine {machine} ranks everything; it needs no proposals.")


def ask(
    *,
    corpus: Corpus,
    machine: str,
    directions: list[str],
    by: User | None,
    pool: Sequence[int] = (),
    queue: str = "",
    study: Study | None = None,
    **given: Any,
) -> Job:
    """Let a machine propose, on the queue that large models have here."""
    refuse(
        corpus=corpus,
        machine=machine,
        directions=directions,
        pool=pool,
        split=given.get("split", ""),
    )
    refuse_numbers(given)
    arguments = {"corpus": corpus.pk, "machine": machine, "directions": directions, **given}
    if pool:
        arguments["pool"] = sorted(set(pool))
    queue = queue or (settings.MODELS_QUEUE if machines()[machine].is_large else "cpu")
    return jobs.ask(
        kind="propose", arguments=arguments, by=by, corpus=corpus, study=study, queue=queue
    )


def refuse(
    *, corpus: Corpus, machine: str, directions: Iterable[str], pool: Collection[int], split: str
) -> None:
    """What check refuses, and proposals that a pair scorer cannot put in order."""
    check(machine=machine, directions=directions, pool=pool)
    for direction in directions if pool else ():
        refuse_other_pool(corpus, pool, direction=direction, split=split)


def refuse_numbers(given: Mapping[str, Any]) -> None:
    """Lists without candidates, samples without queries, and what no column holds."""
    if not 1 <= given.get("depth", 1) <= DEEPEST:
        raise Refused(f"From 1 to {DEEPEST:,} candidates of a query are kept.")
    sample = given.get("query_sample")
    if sample is not None and not 1 <= sample <= MOST_QUERIES:
        raise Refused(f"A sample has from 1 to {MOST_QUERIES:,} queries.")
    if not 0 <= given.get("seed", 0) <= LARGEST_SEED:
        raise Refused(f"A seed is a number from 0 to {LARGEST_SEED}.")


def refuse_other_pool(
    corpus: Corpus, pool: Collection[int], *, direction: str, split: str
) -> list[Proposal]:
    """The proposals whose candidates a pair scorer orders: finished, and of the same kind."""
    found = list(
        corpus.proposals.filter(
            pk__in=pool, direction=direction, split=split, finished_at__isnull=False
        ).order_by("pk")
    )
    if len(found) < len(set(pool)):
        raise Refused(
            f"The proposals to order must be finished ones, {Direction(direction).label}, of this "
            f"corpus and the split {split!r}."
        )
    return found


def ask_with_file(
    *,
    corpus: Corpus,
    file: UploadedFile,
    by: User,
    directions: list[str],
    ids: UploadedFile | None = None,
    **given: Any,
) -> Job:
    """Let a machine that ran elsewhere propose by vectors, scores or ranked lists in a file."""
    check_file(name=file.name or "", directions=directions, has_ids=ids is not None)
    refuse_numbers(given)
    source = arrange.keep_upload(file, FILES)
    called = arrange.name_of_upload(file)
    arguments = {"corpus": corpus.pk, "source": str(source), "called": called, **given}
    arguments["directions"] = directions
    if ids is not None:
        arguments["ids"] = str(arrange.keep_upload(ids, IDS))
    return jobs.ask(kind="propose_file", arguments=arguments, by=by, corpus=corpus)


def check_file(*, name: str, directions: Collection[str], has_ids: bool = False) -> None:
    if not name.lower().endswith(FILES):
        raise Refused(f"Send one of {', '.join(FILES)}.")
    if name.lower().endswith(LISTS) and len(directions) != 1:
        raise Refused("Ranked lists have one direction.")
    if name.lower().endswith(".npy") != has_ids:
        raise Refused("A file of ids goes with an .npy file, and only with one.")


def machine_of(
    *, name: str, version: str, kind: str, checksum: str, settings: dict[str, Any]
) -> Machine:
    known = {"kind": kind, "settings": settings}
    machine, _ = Machine.objects.get_or_create(
        name=name, version=version, checksum=checksum, defaults=known
    )
    return machine


def kept_before(items: Mapping[str, str], **identity: Any) -> dict[str, Proposal]:
    """By direction, what the same machine proposed for the same items in the same way."""
    found = Proposal.objects.filter(
        direction__in=list(items), finished_at__isnull=False, **identity
    )
    return {each.direction: each for each in found if each.items == items[each.direction]}


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
    items: str = "",
) -> Proposal:
    """Store ranked lists as one proposal; the same proposal is stored once. `items` tells what was
    ranked, where the lists depend on it."""
    proposal = _begun(
        corpus=corpus,
        machine=machine,
        direction=direction,
        split=split,
        depth=depth,
        query_sample=query_sample,
        seed=seed,
        items=items,
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
    return _finished(proposal, queries)


def _begun(**identity: Any) -> Proposal:
    proposal, _ = Proposal.objects.select_for_update().get_or_create(**identity)
    return proposal


def _finished(proposal: Proposal, queries: int) -> Proposal:
    proposal.queries = queries
    proposal.finished_at = timezone.now()
    proposal.save(update_fields=["queries", "finished_at"])
    analyze("hits_candidate")
    return proposal
