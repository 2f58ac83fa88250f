"""Records of corpus files on their way into the tables: set down by COPY, to be merged."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import orjson
from django.db import connection

from hits.importers.records import CaptionRecord, ImageRecord, Record, RegionRecord
from hits.pipeline.copying import NULL, CopyBehind, cells

BATCH = 10_000
Tick = Callable[[], None]


@dataclass(frozen=True)
class Stage:
    """A temporary table: records of one kind, with the file and place each came from."""

    kind: str
    content: tuple[tuple[str, str], ...]

    @property
    def table(self) -> str:
        return f"load_{self.kind}"

    @property
    def columns(self) -> list[str]:
        return ["file", "place", "external_id", *(name for name, _ in self.content)]

    def create(self) -> str:
        columns = ", ".join(f"{name} {type_}" for name, type_ in self.content)
        return f"""
            CREATE TEMPORARY TABLE {self.table} (
                n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, file integer NOT NULL,
                place text NOT NULL, external_id text COLLATE "C" NOT NULL, {columns},
                refused boolean NOT NULL DEFAULT false)
        """


IMAGES = Stage(
    "image",
    (
        ("file_name", "text"),
        ("folder", "text"),
        ("split", "text"),
        ("guessed", "boolean"),
        ("width", "integer"),
        ("height", "integer"),
    ),
)
CAPTIONS = Stage("caption", (("image_id", 'text COLLATE "C"'), ("text", "text")))
REGIONS = Stage(
    "region",
    (
        ("image_id", 'text COLLATE "C"'),
        ("category", "text"),
        ("x", "float8"),
        ("y", "float8"),
        ("width", "float8"),
        ("height", "float8"),
        ("area", "float8"),
        ("outline", "jsonb"),
    ),
)
STAGES = (IMAGES, CAPTIONS, REGIONS)
# By merging.
MADE_OF_THEM = ("load_image_whole", "load_image_without_file")


class Staging:
    """Temporary tables of this connection, for one load into one corpus."""

    def __init__(self) -> None:
        self._copies = CopyBehind()
        self._images: list[str] = []
        self._captions: list[str] = []
        self._regions: list[str] = []
        self._waiting = dict(
            zip(STAGES, (self._images, self._captions, self._regions), strict=True)
        )

    def __enter__(self) -> Self:
        self._drop()
        with connection.cursor() as cursor:
            cursor.execute(";".join(stage.create() for stage in STAGES))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._copies.__exit__(kind, value, traceback)
        if not connection.needs_rollback and connection.is_usable():
            self._drop()

    def _drop(self) -> None:
        tables = [*(stage.table for stage in STAGES), *MADE_OF_THEM]
        with connection.cursor() as cursor:
            cursor.execute(
                f"DROP TABLE IF EXISTS {', '.join(f'pg_temp.{table}' for table in tables)}"
            )

    def add(self, file: int, record: Record, split: str, split_is_guessed: bool) -> bool:
        """True when a batch is complete, and wants to be written."""
        if isinstance(record, ImageRecord):
            lines = self._images
            lines.append(_image_line(file, record, split, split_is_guessed))
        elif isinstance(record, CaptionRecord):
            lines = self._captions
            lines.append(_caption_line(file, record))
        else:
            lines = self._regions
            lines.append(_region_line(file, record))
        return len(lines) >= BATCH

    def write(self, tick: Tick) -> None:
        """Batches are stored while the next is read, and all of them when `settle` is back."""
        self._copies.wait()
        tick()
        for stage, lines in self._waiting.items():
            if lines:
                self._copies.start(stage.table, stage.columns, lines)
                lines.clear()

    def settle(self, tick: Tick) -> None:
        self.write(tick)
        self._copies.wait()

    def forget(self, file: int) -> None:
        """A file that breaks off in the middle is not taken at all."""
        self._copies.wait()
        for lines in self._waiting.values():
            lines.clear()
        with connection.cursor() as cursor:
            for stage in STAGES:
                cursor.execute(f"DELETE FROM {stage.table} WHERE file = %s", [file])


def _image_line(file: int, record: ImageRecord, split: str, split_is_guessed: bool) -> str:
    place, id_, file_name, folder, own_split, width, height = record
    guessed = "t" if split_is_guessed and not own_split else "f"
    return (
        f"{file}\t{cells(place, id_, file_name, folder, own_split or split)}\t{guessed}\t"
        f"{NULL if width is None else width}\t{NULL if height is None else height}\n"
    )


def _caption_line(file: int, record: CaptionRecord) -> str:
    return f"{file}\t{cells(*record)}\n"


def _region_line(file: int, record: RegionRecord) -> str:
    place, id_, image_id, category, x, y, width, height, area, outline = record
    return (
        f"{file}\t{cells(place, id_, image_id, category)}\t{x}\t{y}\t{width}\t{height}\t{area}\t"
        f"{orjson.dumps(outline).decode()}\n"
    )
