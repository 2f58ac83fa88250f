"""Staged records merged into a corpus, in SQL: what is new is added, gaps are filled, and what
contradicts the corpus is refused."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

from hits.importers.records import Refusal, shown
from hits.pipeline.copying import analyze
from hits.pipeline.staging import IMAGES, Stage, Tick

MERGE_BATCH = 50_000
Row = list[Any]
Refuse = Callable[[int, Refusal], None]


@dataclass
class Count:
    """What became of the items of one kind; `completed` ones had gaps that are filled now."""

    added: int = 0
    completed: int = 0
    unchanged: int = 0
    refused: int = 0


_WHOLE_IMAGES = """
    CREATE TEMPORARY TABLE load_image_whole AS
    SELECT row_number() OVER (ORDER BY min(n)) AS n, external_id,
           coalesce((array_agg(file_name ORDER BY n) FILTER (WHERE file_name <> ''))[1], '')
               AS file_name,
           coalesce((array_agg(split ORDER BY guessed, n) FILTER (WHERE split <> ''))[1], '')
               AS split,
           (array_agg(width ORDER BY n) FILTER (WHERE width IS NOT NULL))[1] AS width,
           (array_agg(height ORDER BY n) FILTER (WHERE height IS NOT NULL))[1] AS height
    FROM load_image WHERE NOT refused GROUP BY external_id
"""
_COMPLETE_IMAGES = """
    UPDATE hits_image i
    SET file_name = CASE WHEN i.file_name = '' THEN s.file_name ELSE i.file_name END,
        split = CASE WHEN i.split = '' THEN s.split ELSE i.split END,
        width = coalesce(i.width, s.width), height = coalesce(i.height, s.height)
    FROM load_image_whole s
    WHERE s.n > %(after)s AND s.n <= %(upto)s
      AND i.corpus_id = %(corpus)s AND i.external_id = s.external_id
      AND ((i.file_name = '' AND s.file_name <> '') OR (i.split = '' AND s.split <> '')
           OR (i.width IS NULL AND s.width IS NOT NULL)
           OR (i.height IS NULL AND s.height IS NOT NULL))
"""
_ADD_IMAGES = """
    INSERT INTO hits_image (corpus_id, external_id, file_name, split, width, height)
    SELECT %(corpus)s, external_id, file_name, split, width, height FROM load_image_whole s
    WHERE s.n > %(after)s AND s.n <= %(upto)s ORDER BY s.n
    ON CONFLICT (corpus_id, external_id) DO NOTHING
"""
_ADD_NEW_IMAGES = """
    INSERT INTO hits_image (corpus_id, external_id, file_name, split, width, height)
    SELECT %(corpus)s, external_id, file_name, split, width, height FROM load_image s
    WHERE s.n > %(after)s AND s.n <= %(upto)s ORDER BY s.n
"""
# Once for each image, at the first line that names a file for it.
_IMAGES_WITHOUT_FILE = """
    CREATE TEMPORARY TABLE load_image_without_file AS
    SELECT row_number() OVER (ORDER BY s.n) AS n, s.file, s.place, s.external_id, s.file_name
    FROM (SELECT DISTINCT ON (external_id) n, file, place, external_id, file_name
          FROM load_image WHERE NOT refused AND file_name <> '' ORDER BY external_id, n) s
    JOIN hits_image i ON i.corpus_id = %(corpus)s AND i.external_id = s.external_id
    WHERE i.blob_id IS NULL
"""
_NEXT_WITHOUT_FILE = """
    SELECT n, file, place, external_id, file_name FROM load_image_without_file
    WHERE n > %(after)s AND n <= %(upto)s
"""
_OTHER_FILE = """
    s.file_name <> '' AND i.file_name <> ''
    AND regexp_replace(s.file_name, '^.*/', '') <> regexp_replace(i.file_name, '^.*/', '')
"""
_OTHER_SPLIT = "s.split <> '' AND NOT s.guessed AND i.split <> '' AND s.split <> i.split"
# What was judged under an id must stay what it was: the first to come is kept.
_REFUSE_CHANGED_IMAGES = f"""
    UPDATE load_image s SET refused = true FROM hits_image i
    WHERE s.n > %(after)s AND s.n <= %(upto)s AND NOT s.refused
      AND i.corpus_id = %(corpus)s AND i.external_id = s.external_id
      AND (({_OTHER_FILE}) OR ({_OTHER_SPLIT}))
    RETURNING s.n, s.file, s.place, s.external_id,
      CASE WHEN {_OTHER_FILE} THEN 'file name' ELSE 'split' END,
      CASE WHEN {_OTHER_FILE} THEN i.file_name ELSE i.split END,
      CASE WHEN {_OTHER_FILE} THEN s.file_name ELSE s.split END
"""


def _refuse_without_image(stage: Stage) -> str:
    return f"""
        UPDATE {stage.table} s SET refused = true
        WHERE s.n > %(after)s AND s.n <= %(upto)s AND NOT EXISTS (
            SELECT FROM hits_image i
            WHERE i.corpus_id = %(corpus)s AND i.external_id = s.image_id)
        RETURNING s.n, s.file, s.place, s.external_id, s.image_id
    """


def _refuse_with_refused_image(stage: Stage) -> str:
    """An id under which two files mean two images would else collect the captions of both."""
    return f"""
        UPDATE {stage.table} s SET refused = true
        WHERE s.n > %(after)s AND s.n <= %(upto)s AND (s.file, s.image_id) IN (
            SELECT file, external_id FROM load_image WHERE refused)
        RETURNING s.n, s.file, s.place, s.external_id, s.image_id
    """


def _all_are_new(stage: Stage) -> str:
    return f"""
        SELECT NOT EXISTS (SELECT FROM hits_{stage.kind} WHERE corpus_id = %(corpus)s)
               AND (SELECT count(DISTINCT external_id) = count(*) FROM {stage.table})
    """


def _add_new(stage: Stage) -> str:
    content = [name for name, _ in stage.content if name != "image_id"]
    names = ", ".join(content)
    said = ", ".join(f"s.{name}" for name in content)
    return f"""
        INSERT INTO hits_{stage.kind} (corpus_id, image_id, external_id, {names})
        SELECT %(corpus)s, i.id, s.external_id, {said} FROM {stage.table} s
        JOIN hits_image i ON i.corpus_id = %(corpus)s AND i.external_id = s.image_id
        WHERE s.n > %(after)s AND s.n <= %(upto)s AND NOT s.refused
        ORDER BY s.n
    """


def _add(stage: Stage) -> str:
    return f"{_add_new(stage)} ON CONFLICT (corpus_id, external_id) DO NOTHING"


def _refuse_changed(stage: Stage) -> str:
    content = [name for name, _ in stage.content if name != "image_id"]
    said, kept = (", ".join(f"{row}.{name}" for name in content) for row in "sk")
    return f"""
        UPDATE {stage.table} s SET refused = true
        FROM hits_{stage.kind} k JOIN hits_image i ON i.id = k.image_id
        WHERE s.n > %(after)s AND s.n <= %(upto)s AND NOT s.refused
          AND k.corpus_id = %(corpus)s AND k.external_id = s.external_id
          AND (({said}) <> ({kept}) OR i.external_id <> s.image_id)
        RETURNING s.n, s.file, s.place, s.external_id, i.external_id <> s.image_id
    """


class Merging:
    """What is staged in this connection, into one corpus."""

    def __init__(self, corpus_id: int, refuse: Refuse) -> None:
        self.corpus_id = corpus_id
        self._refuse = refuse

    def merge_images(self, tick: Tick) -> Count:
        if self._answer(_all_are_new(IMAGES)):
            return self._add_new_images(tick)
        self._refuse_changed_images(tick)
        with connection.cursor() as cursor:
            cursor.execute(_WHOLE_IMAGES)
        analyze("load_image_whole")
        whole = self._last("load_image_whole")
        count = Count()
        for batch in self._batches(whole, tick):
            count.completed += self._changed(_COMPLETE_IMAGES, batch)
            count.added += self._changed(_ADD_IMAGES, batch)
        count.unchanged = whole - count.added - count.completed
        self._refuse_changed_images(tick)
        return count

    def _add_new_images(self, tick: Tick) -> Count:
        """Nothing that they could complete or contradict."""
        batches = self._batches(self._last("load_image"), tick)
        return Count(added=sum(self._changed(_ADD_NEW_IMAGES, batch) for batch in batches))

    def merge(self, stage: Stage, tick: Tick) -> Count:
        """Captions or regions, whose images are merged."""
        last, count = self._last(stage.table), Count()
        if not last:
            return count
        analyze(f"{stage.table} (n)")
        # Looking for a row under each id takes longer than storing one, so that it is left out
        # where there can be none.
        add = _add_new(stage) if self._answer(_all_are_new(stage)) else _add(stage)
        images_refused = self._answer("SELECT EXISTS (SELECT FROM load_image WHERE refused)")
        all_new = True
        for batch in self._batches(last, tick):
            refused = self._refuse_with_refused_image(stage, batch) if images_refused else 0
            added = self._changed(add, batch)
            count.added += added
            if added + refused == min(batch["upto"], last) - batch["after"]:
                continue
            refused += self._refuse_without_image(stage, batch)
            # Where every other row was added, none met another with its id.
            if added + refused < min(batch["upto"], last) - batch["after"]:
                all_new = False
                self._refuse_changed(stage, batch)
        count.unchanged = 0 if all_new else self._taken(stage) - count.added
        return count

    def report_images_without_file(self, told: Container[str], tick: Tick) -> None:
        """After files were attached; `told` are images whose file was refused, by their ids."""
        with connection.cursor() as cursor:
            cursor.execute(_IMAGES_WITHOUT_FILE, {"corpus": self.corpus_id})
        for batch in self._batches(self._last("load_image_without_file"), tick):
            for file, place, id_, name in self._refused(_NEXT_WITHOUT_FILE, batch):
                if id_ not in told:
                    detail = f"No file was found for this image: {shown(name)}."
                    self._refuse(file, Refusal("file", place, id_, "no-file", detail))

    def _refuse_without_image(self, stage: Stage, batch: dict[str, int]) -> int:
        unknown = self._refused(_refuse_without_image(stage), batch)
        for file, place, id_, image in unknown:
            detail = f"The corpus has no image {shown(image)}."
            self._refuse(file, Refusal(stage.kind, place, id_, "unknown-image", detail))
        return len(unknown)

    def _refuse_with_refused_image(self, stage: Stage, batch: dict[str, int]) -> int:
        refused = self._refused(_refuse_with_refused_image(stage), batch)
        for file, place, id_, image in refused:
            detail = f"Its image {shown(image)} is refused in this file."
            self._refuse(file, Refusal(stage.kind, place, id_, "refused-image", detail))
        return len(refused)

    def _refuse_changed(self, stage: Stage, batch: dict[str, int]) -> None:
        for file, place, id_, moved in self._refused(_refuse_changed(stage), batch):
            what = "belongs to another image" if moved else "reads otherwise"
            detail = f"The {stage.kind} kept under this id {what}."
            self._refuse(file, Refusal(stage.kind, place, id_, "conflict", detail))

    def _refuse_changed_images(self, tick: Tick) -> None:
        analyze("load_image (n, external_id, refused)")
        for batch in self._batches(self._last("load_image"), tick):
            for file, place, id_, what, kept, said in self._refused(_REFUSE_CHANGED_IMAGES, batch):
                detail = f"The {what} is kept as {shown(kept)}; here it is {shown(said)}."
                self._refuse(file, Refusal("image", place, id_, "conflict", detail))

    def _batches(self, last: int, tick: Tick) -> Iterator[dict[str, int]]:
        for after in range(0, last, MERGE_BATCH):
            tick()
            yield {"corpus": self.corpus_id, "after": after, "upto": after + MERGE_BATCH}

    def _last(self, table: str) -> int:
        return self._answer(f"SELECT coalesce(max(n), 0) FROM {table}")

    def _taken(self, stage: Stage) -> int:
        return self._answer(
            f"SELECT count(DISTINCT external_id) FROM {stage.table} WHERE NOT refused"
        )

    def _answer(self, statement: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"corpus": self.corpus_id})
            (answer,) = cursor.fetchone()
        return int(answer)

    def _changed(self, statement: str, batch: dict[str, int]) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, batch)
            return int(cursor.rowcount)

    def _refused(self, statement: str, batch: dict[str, int]) -> list[Row]:
        """In the order of the files, whatever order PostgreSQL found them in."""
        with connection.cursor() as cursor:
            cursor.execute(statement, batch)
            return [row for _, *row in sorted(cursor.fetchall())]
