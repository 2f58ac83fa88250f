"""A study whose judgments have published means gives the published files again.

The suite does it with a few lines of its own. The run on what was really published reads a folder
with sts_val.csv, sis_val.csv and sits_val.csv:

    CXC_FOLDER=… python -m pytest -m deep tests/protocols/test_published_scores.py
"""

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from hits.models import Assignment, Caption, Corpus, Image, Judgment, Slot, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import submit
from hits.records import Json
from tests import making
from tests.protocols.cases.similarity import study_of

CAPTION = "COCO_val2014:sentid:"
IMAGE = "COCO_val2014_"
Pair = tuple[int, int]
Scores = dict[Pair, float]
RATERS = 5
A_PAGE = 1000
NAMES = {"sts": {"caption_names": f"{CAPTION}{{id}}"}, "sis": {}}
NAMES["sits"] = NAMES["sts"]

PUBLISHED = {
    "sts": """caption1,caption2,agg_score,sampling_method
COCO_val2014:sentid:17,COCO_val2014:sentid:4,1.24,c2c_isim
COCO_val2014:sentid:4,COCO_val2014:sentid:23,2.4,c2c_isim
COCO_val2014:sentid:23,COCO_val2014:sentid:17,5.0,c2c_cocaption
COCO_val2014:sentid:8,COCO_val2014:sentid:4,0.0,c2c_cocaption
""",
    "sis": """image1,image2,agg_score,sampling_method
COCO_val2014_000000000042.jpg,COCO_val2014_000000000007.jpg,0.5,i2i_csim
COCO_val2014_000000000007.jpg,COCO_val2014_000000000042.jpg,0.62,i2i_csim
COCO_val2014_000000000007.jpg,COCO_val2014_000000000011.jpg,2.31,i2i_csim
""",
    "sits": """caption,image,agg_score,sampling_method
COCO_val2014:sentid:17,COCO_val2014_000000000007.jpg,4.99,c2i_original
COCO_val2014:sentid:17,COCO_val2014_000000000042.jpg,1.8,c2i_intrasim
COCO_val2014:sentid:4,COCO_val2014_000000000042.jpg,2.93,c2i_intrasim
""",
}

pytestmark = pytest.mark.django_db(transaction=True)


def rows_of(table: str) -> tuple[Corpus, list[Json], Scores]:
    """A corpus of all that a published table names, its pairs as rows, and the score of each."""
    lines = [line.split(",") for line in table.splitlines()]
    ends = lines[0][:2]
    named = sorted({name for line in lines[1:] for name in line[:2]})
    corpus = making.corpus(images=0)
    blob = making.blob(1)
    files = {name: int(name.removeprefix(IMAGE)[:12]) for name in named if name.startswith(IMAGE)}
    images = [
        Image(corpus=corpus, external_id=str(number), file_name=name, split="val", blob=blob)
        for name, number in {**files, "another": 0}.items()
    ]
    Image.objects.bulk_create(images)
    captions = [
        Caption(corpus=corpus, image=images[-1], external_id=name.removeprefix(CAPTION), text=name)
        for name in named
        if name.startswith(CAPTION)
    ]
    Caption.objects.bulk_create(captions)
    ids = {image.file_name: image.pk for image in images} | {c.text: c.pk for c in captions}
    rows, scores = [], {}
    for first, second, score, method in lines[1:]:
        pair = {ends[0]: ids[first], ends[1]: ids[second]}
        rows.append(pair | {"sampling_method": method})
        scores[pair_of(pair)] = float(score)
    return corpus, rows, scores


def ratings(mean: float) -> list[float]:
    """Five scores on the scale with this mean, as different as it allows up to a point."""
    step = min(0.3, mean / 2, (5 - mean) / 2) // 0.01 / 100
    return [round(mean + each * step, 2) for each in (-2, -1, 0, 1, 2)]


def pair_of(payload: Json) -> Pair:
    """The ids of a pair, without how it was sampled; the database keeps no order of names."""
    first, second = (payload[end] for end in sorted(payload) if end != "sampling_method")
    return first, second


def made(slug: str, table: str) -> tuple[Study, Scores]:
    corpus, rows, scores = rows_of(table)
    settings = {"units_a_page": 10, "golds_a_page": 0, **NAMES[slug]}
    study = study_of(slug, corpus, rows, settings=settings, judgments_wanted=RATERS)
    Study.objects.filter(pk=study.pk).update(split="val")
    return study, scores


def released(study: Study) -> dict[str, str]:
    found = release(studies=[study], name="published", by=study.corpus.owner)
    tables = found.files.filter(name__endswith=".csv")
    return {file.name: path_of(file).read_text() for file in tables}


def in_order(table: str) -> list[str]:
    return sorted(table.splitlines(keepends=True))


@pytest.mark.parametrize("slug", PUBLISHED)
def test_judgments_with_published_means_give_the_published_table(slug: str) -> None:
    study, scores = made(slug, PUBLISHED[slug])
    for number in range(RATERS):
        account = making.rater(study)
        page = draw(study=study, account=account)
        fields = {}
        for slot in page.slots.select_related("unit"):
            score = ratings(scores[pair_of(slot.unit.payload)])[number]
            fields[f"q{slot.position}-score"] = [str(score)]
            fields[f"q{slot.position}-set"] = ["1"]
        submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    assert in_order(released(study)[f"{slug}_val.csv"]) == in_order(PUBLISHED[slug])


def pages(units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    for start in range(0, len(units), A_PAGE):
        yield units[start : start + A_PAGE]


def judge_all(study: Study, scores: Scores) -> None:
    """Five people's judgments of every unit, as pages submitted and used."""
    now = timezone.now()
    units = list(study.units.order_by("pk"))
    for number in range(RATERS):
        account = making.rater(study)
        for page in pages(units):
            assert study.version is not None
            assignment = Assignment.objects.create(
                study=study, version=study.version, account=account, person=account.person,
                seed=0, state="submitted", use="used", submitted_at=now, checked_at=now,
                golds_shown=0, golds_failed=0, lease_until=now + timedelta(hours=1),
            )  # fmt: skip
            slots = Slot.objects.bulk_create(
                Slot(
                    assignment=assignment,
                    unit=unit,
                    person=account.person,
                    position=position,
                    state="counted",
                )
                for position, unit in enumerate(page, 1)
            )
            Judgment.objects.bulk_create(
                Judgment(
                    slot=slot,
                    answer={
                        "score": ratings(scores[pair_of(slot.unit.payload)])[number],
                        "moved": [],
                    },
                )
                for slot in slots
            )
    study.units.update(counted=RATERS)


@pytest.mark.deep
@pytest.mark.skipif("CXC_FOLDER" not in os.environ, reason="CXC_FOLDER names no published files")
@pytest.mark.parametrize("slug", PUBLISHED)
def test_what_was_published_comes_out_again(slug: str) -> None:
    table = (Path(os.environ["CXC_FOLDER"]) / f"{slug}_val.csv").read_text()
    study, scores = made(slug, table)
    judge_all(study, scores)
    files = released(study)
    assert in_order(files[f"{slug}_val.csv"]) == in_order(table)
    assert len(files[f"{slug}_val_raw.csv"].splitlines()) == 1 + RATERS * len(scores)
