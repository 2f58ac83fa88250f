from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from hits.models import Corpus, Study, StudyRow
from hits.pipeline.open import create_study, open_study


def study_of_bison_captions(corpus: Corpus) -> Study:
    images = list(corpus.images.order_by("pk"))
    right = [caption.pk for caption in images[0].captions.order_by("pk")][:1]
    pairs = [{"positive": one.pk, "negative": other.pk} for one, other in pairwise(images)]
    return study_of_rows("bison_captions", corpus, [{**pairs[0], "gold": right}, *pairs[1:]])


def study_of_bison_images(corpus: Corpus) -> Study:
    images = list(corpus.images.order_by("pk"))
    rows = [
        {
            "caption": one.captions.order_by("pk")[0].pk,
            "positive": one.pk,
            "negative": other.pk,
        }
        for one, other in pairwise(images)
    ]
    return study_of_rows("bison_images", corpus, [{**rows[0], "gold": "positive"}, *rows[1:]])


def study_of_correctness(corpus: Corpus) -> Study:
    rows = [
        {"image": caption.image_id, "caption": caption.pk}
        for caption in corpus.captions.order_by("pk")
    ]
    return study_of_rows("correctness", corpus, [{**rows[0], "gold": 5}, *rows[1:]])


def study_of_detailedness(corpus: Corpus) -> Study:
    rows: list[dict[str, Any]] = [
        {"caption": caption.pk} for caption in corpus.captions.order_by("pk")
    ]
    return study_of_rows("detailedness", corpus, [{"text": "A thing.", "gold": 1}, *rows])


def study_of_rows(
    slug: str, corpus: Corpus, rows: Iterable[Mapping[str, Any]], **values: Any
) -> Study:
    study = create_study(
        slug=f"{slug.replace('_', '-')}-of-{corpus.slug}",
        name="A study of rows",
        corpus=corpus,
        protocol_slug=slug,
        by=corpus.owner,
        **values,
    )
    StudyRow.objects.bulk_create(
        StudyRow(study=study, number=number, content=content)
        for number, content in enumerate(rows, 1)
    )
    open_study(study=study)
    return study
