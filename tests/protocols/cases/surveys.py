from collections.abc import Mapping, Sequence
from typing import Any

from hits.models import Corpus, Image, Region, Study, StudyRow
from hits.pipeline.open import create_study, open_study

BOXES = ([2, 2, 20, 20], [30, 4, 20, 12], [4, 30, 12, 12], [30, 30, 30, 15], [52, 2, 10, 10])


def study_of_preference(corpus: Corpus, **settings: Any) -> Study:
    images = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    captions = list(corpus.captions.order_by("pk").values_list("pk", flat=True))
    rows = [
        {
            "caption": caption,
            "outputs": {
                system: images[place : place + 5] for place, system in enumerate("ABCDE", start)
            },
        }
        for start, caption in enumerate(captions[:4])
    ]
    gold = {
        "caption": captions[4],
        "outputs": {"A": images[:5], "E": images[5:10]},
        "gold": "A",
    }
    return _study_of_rows(corpus, "preference", settings, [*rows, gold])


def study_of_prominence(corpus: Corpus, **settings: Any) -> Study:
    """Of the corpus's own regions, which its captions name."""
    images = list(corpus.images.order_by("pk"))
    for image in images[1:]:
        add_regions(image)
    return _study_of_rows(corpus, "prominence", settings, [_row_of_objects(images[0], gold=True)])


def study_of_relevance(corpus: Corpus, **settings: Any) -> Study:
    images = corpus.images.order_by("pk")
    rows = [_row_of_objects(image, gold=place == 0) for place, image in enumerate(images)]
    return _study_of_rows(corpus, "relevance", settings, rows)


def study_of_detectors(corpus: Corpus, **settings: Any) -> Study:
    rows: list[dict[str, Any]] = [
        {"image": pk, "systems": {"fcos": _predicted("cat"), "fovea": _predicted("dog")}}
        for pk in corpus.images.order_by("pk").values_list("pk", flat=True)
    ]
    rows[0]["gold"] = "fcos"
    return _study_of_rows(corpus, "detectors", settings, rows)


def add_regions(image: Image) -> None:
    Region.objects.bulk_create(
        Region(
            corpus_id=image.corpus_id,
            image=image,
            external_id=f"{image.external_id}-{place}",
            category="image" if place < 3 else "square",
            area=box[2] * box[3],
            **dict(zip(("x", "y", "width", "height"), box, strict=True)),
        )
        for place, box in enumerate(BOXES)
    )


def _row_of_objects(image: Image, *, gold: bool) -> dict[str, Any]:
    names = [f"{image.external_id}-{place}" for place in range(5)]
    objects = [
        {"id": name, "label": "square", "box": box} for name, box in zip(names, BOXES, strict=True)
    ]
    row: dict[str, Any] = {"image": image.pk, "objects": objects}
    return row | {"gold": {names[0]: [2, 3]}} if gold else row


def _predicted(label: str) -> list[dict[str, Any]]:
    return [
        {"label": label if place == 0 else "bench", "box": box, "score": 1 - place / 10}
        for place, box in enumerate(BOXES)
    ]


def _study_of_rows(
    corpus: Corpus, slug: str, settings: dict[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Study:
    study = create_study(
        slug=f"contract-{slug}",
        name="A contract",
        corpus=corpus,
        protocol_slug=slug,
        by=corpus.owner,
        settings=settings,
    )
    StudyRow.objects.bulk_create(
        StudyRow(study=study, number=number, content=row) for number, row in enumerate(rows, 1)
    )
    open_study(study=study)
    return study
