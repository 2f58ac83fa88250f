"""Arrays of a model that ran elsewhere, from .npy with a file of ids, and from .parquet.

They come out under the names that .npz and .safetensors have: image_ids, image_vectors,
caption_ids, caption_vectors, or image_ids, caption_ids and scores.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hits.analysis.arrays import NOT_NPY
from hits.importers.records import Bad

KINDS = {"image": "images", "caption": "captions"}
COLUMNS = ["id", "kind", "vector"]
LARGEST_READ = 4 << 30
ROWS_AT_ONCE = 1024
Arrays = dict[str, NDArray[Any]]


def npy(path: Path, ids: Path | None) -> Arrays:
    """Mapped, not read. What its rows and columns are, the ids tell."""
    if ids is None:
        raise Bad("no-ids", "An .npy file needs a file of ids beside it.")
    try:
        table = np.lib.format.open_memmap(path, mode="r")
    except NOT_NPY:
        raise Bad("not-npy", "This is not an .npy file of plain numbers.") from None
    named = {kind: np.array(names) for kind, names in _ids(ids).items()}
    arrays = {f"{kind}_ids": names for kind, names in named.items()}
    counts = [len(names) for names in named.values()]
    if len(named) == 2 and table.shape == tuple(counts):
        return {**arrays, "scores": table}
    if table.ndim == 2 and len(table) == sum(counts):
        starts = np.cumsum([0, *counts])
        parts = zip(named, starts, counts, strict=False)
        return arrays | {f"{kind}_vectors": table[at : at + n] for kind, at, n in parts}
    told = ", ".join(f"{len(names):,} {KINDS[kind]}" for kind, names in named.items())
    raise Bad("other-shape", f"A table of {table.shape} has neither a row nor a score for {told}.")


def _ids(path: Path) -> dict[str, list[str]]:
    """Images before captions, whatever order they are named in."""
    try:
        told = json.loads(path.read_text(encoding="utf-8-sig"))
        named = {kind: told[key] for kind, key in KINDS.items() if told.get(key)}
    except (ValueError, AttributeError, OSError, RecursionError):
        named = {}
    found = {kind: list(map(str, ids)) for kind, ids in named.items() if isinstance(ids, list)}
    if not found or len(found) < len(named):
        raise Bad("no-ids", 'The ids must be JSON: {"images": [ids], "captions": [ids]}.')
    return found


def parquet(path: Path) -> Arrays:
    """A row an item: its id, its kind (image or caption) and its vector, a list of numbers."""
    # Slow to import, and asked for by workers only.
    import pyarrow as pa

    try:
        table = _table(path)
        kinds = np.array(table["kind"].cast(pa.string()).to_pylist(), dtype=object)
        names = np.array(table["id"].cast(pa.string()).to_pylist(), dtype=object)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise Bad("not-parquet", "This is not a .parquet file of ids, kinds and vectors.") from None
    if not set(kinds) <= set(KINDS):
        raise Bad("other-kind", "A kind is image or caption.")
    if None in names:
        raise Bad("no-id", "A row has no id.")
    vectors = _vectors(table["vector"])
    return {
        f"{kind}_{what}": array[kinds == kind]
        for kind in KINDS
        if (kinds == kind).any()
        for what, array in (("ids", names.astype(np.str_)), ("vectors", vectors))
    }


def _table(path: Path) -> Any:
    """Its three columns, unless they are too large: a small file may say one thing often."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    given = file.schema_arrow.names
    if any(given.count(name) != 1 for name in COLUMNS):
        raise Bad("no-columns", f"There must be the columns {', '.join(COLUMNS)}, each once.")
    found, size = [], 0
    for batch in file.iter_batches(ROWS_AT_ONCE, columns=COLUMNS):
        size += batch.nbytes
        if size > LARGEST_READ:
            raise Bad("too-large", "The vectors are larger than 4 GB: send them as .safetensors.")
        found.append(batch)
    return pa.Table.from_batches(found, None if found else file.schema_arrow)


def _vectors(column: Any) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        lengths = pc.unique(pc.list_value_length(column)).to_pylist()
        if len(lengths) == 1 and lengths[0]:
            flat: NDArray[Any] = pc.list_flatten(column).to_numpy()
            return flat.reshape(-1, lengths[0])
    except (pa.ArrowException, ValueError):
        raise Bad("no-vectors", "A vector is a list of numbers.") from None
    raise Bad("no-vectors", "Vectors must be there for all, and of one length.")
