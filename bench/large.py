"""A study at the scale of a whole dataset, step by step; runs in a process of the application."""

import csv
import statistics
import time
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction

from bench import studies
from bench.transfers import Clock
from hits.models import Account, Corpus, Study, Unit
from hits.pipeline.aggregate import StudySource
from hits.pipeline.draw import draw
from hits.pipeline.judgments import import_judgments
from hits.pipeline.open import create_study, open_study
from hits.pipeline.people import account_at, give_consent
from hits.pipeline.release import release
from hits.pipeline.report import compute_report
from hits.pipeline.rows import import_rows
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import give_back
from hits.protocol import CaptionRef, ImageRef, protocol

SLUG = "scale"
WORKERS = 200
CAPTIONS = studies.CAPTIONS_AN_IMAGE
CHOICES = ("yes", "no", "partial_yes", "mostly_no")
# Without questions about shortcomings, and without golds, which rows need not have.
SETTINGS = {"matching": {"justification": False}}


def make(*, units: int, judgments: int, slug: str, rows: str) -> dict[str, Any]:
    """A corpus, a draft on it, and the file of rows that name every unit."""
    owner = studies.make_owner()
    corpus = Corpus.objects.create(slug=SLUG, name="A corpus", owner=owner)
    # So many images that every unit has two of its own, wherever it needs two.
    studies.fill(corpus, images=units // CAPTIONS + CAPTIONS + 2)
    create_study(
        slug=SLUG,
        name="A whole dataset",
        corpus=corpus,
        protocol_slug=slug,
        by=owner,
        settings=SETTINGS.get(slug, {}),
        judgments_wanted=judgments,
    )
    with open(rows, "w", newline="") as file:  # noqa: PTH123
        table = csv.DictWriter(file, list(_row(slug, 0)))
        table.writeheader()
        table.writerows(_row(slug, number) for number in range(units))
    return {}


def _row(slug: str, number: int) -> dict[str, str]:
    """Another pair for every number, of the captions and images that the protocol's rows name."""
    model = protocol(slug).row_model
    assert model is not None
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    captions = [name for name, kind in kinds.items() if kind is CaptionRef]
    images = [name for name, kind in kinds.items() if kind is ImageRef]
    image, caption = divmod(number, CAPTIONS)
    row = {}
    for step, name in enumerate(captions):
        row[name] = f"{1 + (number + step) // CAPTIONS}0{1 + (number + step) % CAPTIONS}"
    for step, name in enumerate(images):
        row[name] = str(1 + image + (step and caption + step))
    return row


def write_judgments(*, slug: str, file: str, first: int, last: int, each: int) -> dict[str, Any]:
    """So many judgments of each unit in a range, by different workers."""
    with open(file, "w", newline="") as lines:  # noqa: PTH123
        table = csv.writer(lines)
        table.writerow(["worker", *_row(slug, 0), *_answer(slug, 0), "seconds", "submitted_at"])
        for number in range(first, last):
            row = _row(slug, number).values()
            for turn in range(each):
                worker = (number + turn * (WORKERS // each)) % WORKERS
                answer = _answer(slug, number + turn).values()
                table.writerow([f"W{worker}", *row, *answer, "4.2", "2020-05-01T10:00:00+00:00"])
    return {}


def _answer(slug: str, number: int) -> dict[str, str]:
    if slug == "matching":
        return {"choice": CHOICES[number % len(CHOICES)]}
    return {"score": f"{number % 101 / 20:g}", "set": "1"}


def bring_rows(*, file: str) -> dict[str, Any]:
    clock = Clock()
    with clock.of("import"):
        came = import_rows(study=_study(), source=file)
    assert not came["refused"], came["first_refusals"]
    return {"rows": came["added"], "seconds": clock.seconds["import"]}


def open_it() -> dict[str, Any]:
    clock = Clock()
    with clock.of("open"):
        made = open_study(study=_study())
    return {"units": made, "seconds": clock.seconds["open"]}


def bring_judgments(*, file: str) -> dict[str, Any]:
    clock = Clock()
    with clock.of("import"):
        came = import_judgments(study=_study(), source=file)
    assert not came["refused"], came["first_refusals"]
    return {"judgments": came["counted"], "seconds": clock.seconds["import"]}


def draw_pages(*, raters: int, name: str) -> dict[str, Any]:
    """The first page of raters who are new; each gives it back. Nothing was cleaned up before."""
    study = _study()
    accounts = list(_raters(study, raters, name))
    times = []
    for account in accounts:
        started = time.perf_counter()
        page = draw(study=study, account=account)
        times.append(1000 * (time.perf_counter() - started))
        give_back(assignment_key=page.key, account=account)
    times, first = sorted(times[1:]), times[0]
    return {
        "open_units": Unit.objects.filter(study=study, is_open=True).count(),
        "first_ms": round(first, 2),
        "p50_ms": round(statistics.median(times), 2),
        "p95_ms": round(times[int(0.95 * len(times))], 2),
    }


def _raters(study: Study, count: int, name: str) -> Iterator[Account]:
    for number in range(count):
        account = account_at(channel="bench", external_id=f"{name}-{number}")
        give_consent(study=study, account=account)
        yield account


def aggregate() -> dict[str, Any]:
    clock = Clock()
    study = _study()
    units = answers = 0
    with clock.of("aggregate"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
        cursor.execute("SET LOCAL work_mem = '64MB'")
        for unit in StudySource([study], protocol(study.protocol)).units():
            units += 1
            answers += len(unit.answers)
    return {"units": units, "judgments": answers, "seconds": clock.seconds["aggregate"]}


def release_it() -> dict[str, Any]:
    clock = Clock()
    study = _study()
    with clock.of("release"):
        made = release(studies=[study], name=SLUG, by=study.corpus.owner)
    sizes = {file.name: path_of(file).stat().st_size for file in made.files.all()}
    return {"seconds": clock.seconds["release"], "bytes": sizes}


def report() -> dict[str, Any]:
    clock = Clock()
    with clock.of("report"):
        made = compute_report(_study())
    return {"seconds": clock.seconds["report"], "tables": len(made.tables)}


def _study() -> Study:
    return Study.objects.select_related("version", "corpus").get(slug=SLUG)
