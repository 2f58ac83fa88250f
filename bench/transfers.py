"""A corpus and its units in, judgments out; runs in a process of the application."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from bench import studies
from hits.models import Corpus, Study, Unit
from hits.pipeline.load import load
from hits.pipeline.open import open_study
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of

# The peers keep an image's address and never look at it. Here only images with files can be
# shown, so that each gets a record of one, outside the time that is compared.
_FILES = """
    WITH files AS (
        INSERT INTO hits_blob (sha256, content_type, size, width, height, bucket, object_key)
        SELECT encode(sha256(convert_to(file_name, 'UTF8')), 'hex'), 'image/jpeg', 150000,
               640, 480, '', ''
        FROM hits_image RETURNING sha256)
    UPDATE hits_image SET blob_id = encode(sha256(convert_to(file_name, 'UTF8')), 'hex')
    FROM (SELECT count(*) FROM files) stored
"""


class Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[what] = round(time.perf_counter() - started, 3)


def import_units(*, source: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The rows of a file become a corpus, and its own pairs the units of a study."""
    clock = Clock()
    owner = studies.make_owner()
    corpus = Corpus.objects.create(slug="import", name="A corpus", owner=owner)
    with clock.of("rows to corpus"):
        load(corpus=corpus.slug, source=source, progress=_silent)
    with connection.cursor() as cursor:
        cursor.execute(_FILES)
        cursor.execute("VACUUM ANALYZE hits_image")
    with clock.of("corpus to units"):
        study = studies.make_study("import", corpus, owner, {**settings, "own_pairs": True})
        open_study(study=study)
    units = Unit.objects.filter(study=study, is_open=True).count()
    return {"units": units, "seconds": clock.seconds}


def import_files(*, source: str) -> dict[str, Any]:
    """Image files with their rows: each is read, decoded, hashed and stored."""
    clock = Clock()
    corpus = Corpus.objects.create(slug="files", name="Files", owner=studies.make_owner())
    with clock.of("rows and files"):
        report = load(corpus=corpus.slug, source=source, progress=_silent)
    return {"files": report.files.added, "seconds": clock.seconds}


def release_judgments() -> dict[str, Any]:
    clock = Clock()
    study = Study.objects.select_related("version").get()
    owner = study.corpus.owner
    with clock.of("release"):
        made = release(studies=[study], name="bench", by=owner)
    sizes = {file.name: path_of(file).stat().st_size for file in made.files.all()}
    return {"seconds": clock.seconds, "bytes": sizes, "version": [made.major, made.minor]}


def _silent(done: int, total: int | None = None, message: str = "") -> None:
    pass
