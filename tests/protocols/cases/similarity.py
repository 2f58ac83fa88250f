"""Open studies of the similarity protocols, made of rows."""

from collections.abc import Sequence
from itertools import count

from hits.models import Corpus, Study, StudyRow
from hits.pipeline.open import create_study, open_study
from hits.records import Json

_numbers = count(1)
GOLD = {"low": 2.5, "high": 5}
PAIRS, GOLDS = 16, 3


def study_of_sts(corpus: Corpus) -> Study:
    ids = list(corpus.captions.order_by("pk").values_list("pk", flat=True))
    return study_of("sts", corpus, rows_of(("caption1", ids), ("caption2", ids[1:])))


def study_of_sis(corpus: Corpus) -> Study:
    ids = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    return study_of("sis", corpus, rows_of(("image1", ids), ("image2", ids[1:])))


def study_of_sits(corpus: Corpus) -> Study:
    images = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    captions = list(corpus.captions.order_by("pk").values_list("pk", flat=True))
    return study_of("sits", corpus, rows_of(("caption", captions), ("image", images)))


def rows_of(*ends: tuple[str, Sequence[int]]) -> list[Json]:
    rows = [dict(zip((name for name, _ in ends), ids, strict=True)) for ids in _together(ends)]
    golds: list[Json] = [{**row, "gold": GOLD} for row in rows[:GOLDS]]
    return golds + [{**row, "sampling_method": "by_hand"} for row in rows[GOLDS:PAIRS]]


def _together(ends: Sequence[tuple[str, Sequence[int]]]) -> list[tuple[int, ...]]:
    return list(zip(*(ids for _, ids in ends), strict=False))


def study_of(slug: str, corpus: Corpus, rows: Sequence[Json], **values: object) -> Study:
    study = create_study(
        slug=f"{slug}-{next(_numbers)}",
        name="How similar are they?",
        corpus=corpus,
        protocol_slug=slug,
        by=corpus.owner,
        **values,  # type: ignore[arg-type]
    )
    StudyRow.objects.bulk_create(
        StudyRow(study=study, number=number, content=row) for number, row in enumerate(rows)
    )
    open_study(study=study)
    return study
