from collections.abc import Iterable, Mapping
from typing import Any

from hits.models import Corpus, Image, Study, StudyRow
from hits.pipeline.open import create_study, open_study


def study_of_renovation(corpus: Corpus) -> Study:
    images = list(corpus.images.order_by("pk").prefetch_related("captions"))
    rows = [
        {
            "image": image.pk,
            "caption": caption.pk,
            "proposed": f"{caption.text.rstrip('.')} on a sunny day.",
        }
        for image in images
        for caption in image.captions.order_by("pk")
    ]
    flawed = {
        **rows[0],
        "proposed": "Caption caption of the of.",
        "gold": {"choices": ["hopeless"]},
    }
    return study_of_rows("renovation", corpus, [flawed, *rows[1:]])


def study_of_right_text(corpus: Corpus) -> Study:
    rows = [pair(image) for image in corpus.images.order_by("pk")]
    return study_of_rows("right_text", corpus, [{**rows[0], "gold": True}, *rows[1:]])


def pair(image: Image) -> dict[str, Any]:
    return {"image": image.pk, "wrong": "A blue square.", "right": "A plain rectangle."}


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
