"""Pair scorers order what encoders proposed: the joined candidates of each query, scored anew."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from hits.models import Candidate, Caption, Corpus, Image, Machine, Proposal
from hits.models.machines import Direction
from hits.pipeline import propose
from hits.pipeline.errors import Refused
from workers import vectors
from workers.encoders import PairScorer, Vectors
from workers.machines import Say, picture

Pairs = NDArray[np.int64]
_image_of = itemgetter(0)


def rerank(
    *,
    corpus: Corpus,
    scorer: PairScorer,
    machine: Machine,
    direction: str,
    split: str,
    depth: int,
    pool: list[int],
    say: Say,
) -> Proposal:
    found = propose.refuse_other_pool(corpus, pool, direction=direction, split=split)
    pairs = _pairs(direction, found)
    if not len(pairs):
        raise Refused("The proposals to order are empty.")
    scores = _scores(corpus, scorer, machine, pairs, say)
    return propose.keep(
        corpus=corpus,
        machine=machine,
        direction=direction,
        split=split,
        depth=depth,
        query_sample=None,
        seed=_seed(found),
        ranked=_ranked(direction, pairs, scores, depth, say),
    )


def _pairs(direction: str, pool: list[Proposal]) -> Pairs:
    """(image, caption), each once, in order: those of an image come together."""
    columns = ("query_id", "target_id") if direction == "i2t" else ("target_id", "query_id")
    rows = Candidate.objects.filter(proposal__in=pool).order_by(*columns).values_list(*columns)
    return np.array(list(rows.distinct().iterator()), np.int64).reshape(-1, 2)


def _scores(
    corpus: Corpus, scorer: PairScorer, machine: Machine, pairs: Pairs, say: Say
) -> Vectors:
    """One number a pair, kept in a file as vectors are: a killed job goes on where it was."""
    images = dict(Image.objects.filter(corpus=corpus).values_list("pk", "blob_id").iterator())
    texts = dict(Caption.objects.filter(corpus=corpus).values_list("pk", "text").iterator())
    name = vectors.name_of(
        [
            machine.checksum,
            *(f"{image} {images[image]} {texts[caption]}" for image, caption in pairs.tolist()),
        ]
    )

    def score(start: int, stop: int) -> Vectors:
        rows = pairs[start:stop].tolist()
        owners = Image.objects.select_related("blob").in_bulk({image for image, _ in rows})
        found = []
        for image, group in groupby(rows, key=_image_of):
            if owners[image].blob is None:
                raise Refused(f"The image {owners[image].external_id} has no file to look at.")
            captions = [texts[caption] for _, caption in group]
            found.append(scorer.score(picture(owners[image]), captions))
        return np.concatenate(found)[:, None]

    file = Path(settings.DATA_DIR) / "vectors" / corpus.slug / f"{name}.f32"
    message = f"{machine.name.capitalize()}: scoring pairs"
    return vectors.computed(file, len(pairs), score, lambda done: say(done, len(pairs), message))[
        :, 0
    ]


def _ranked(
    direction: str, pairs: Pairs, scores: Vectors, depth: int, say: Say
) -> Iterator[propose.Ranked]:
    query, target = (0, 1) if direction == "i2t" else (1, 0)
    order = np.lexsort((pairs[:, target], -scores, pairs[:, query]))
    rows = zip(pairs[order].tolist(), scores[order].tolist(), strict=True)
    for done, (asked, group) in enumerate(groupby(rows, key=lambda row: row[0][query]), start=1):
        best = list(group)[:depth]
        yield asked, [pair[target] for pair, _ in best], [score for _, score in best]
        say(done, None, f"{Direction(direction).label}: ordering")


def _seed(pool: list[Proposal]) -> int:
    """Another pool is another proposal: its identity has a place for a number."""
    digest = vectors.name_of(str(each.pk) for each in pool)
    return int(digest[:15], 16)
