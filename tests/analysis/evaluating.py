"""Files as researchers bring them, and what an evaluation says to them."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from hits.analysis.evaluations.kinds import KINDS
from hits.pipeline.errors import Refused
from hits.pipeline.evaluate import computed, settings_of
from hits.records import Cell, Table

Settings = Mapping[str, str]
NONE: Settings = MappingProxyType({})


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def json(self, name: str, value: Any) -> Path:
        return self.text(f"{name}.json", json.dumps(value))

    def csv(self, name: str, rows: Sequence[Sequence[Any]]) -> Path:
        path = self.folder / f"{name}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return path

    def npy(self, name: str, values: Any) -> Path:
        path = self.folder / f"{name}.npy"
        np.save(path, np.asarray(values))
        return path


def evaluated(slug: str, settings: Settings = NONE, /, **paths: Path) -> list[Table]:
    return computed(KINDS[slug], paths, settings_of(KINDS[slug], settings))


def refusal(slug: str, settings: Settings = NONE, /, **paths: Path) -> str:
    with pytest.raises(Refused) as refused:
        evaluated(slug, settings, **paths)
    return refused.value.message


def row(table: Table, place: int = 0) -> dict[str, Cell]:
    names = [column.name for column in table.columns]
    return dict(zip(names, table.rows[place], strict=True))
