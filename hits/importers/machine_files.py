"""What a model computed elsewhere: vectors of images and captions, scores of all pairs, or ranked
lists.

Vectors: .npz or .safetensors with the arrays image_ids, image_vectors, caption_ids and
caption_vectors, or the two of one kind. Scores: image_ids, caption_ids and scores, a row an image.
Both also as .npy with a file of ids, and vectors as .parquet. Ranked lists: JSON lines of {"query",
"targets"} and, if there are any, "scores", best first, or CSV with the columns query, target and
score, the rows of a query together. Ids are the corpus's outside ids. Nothing is ever unpickled.
"""

import csv
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hits.analysis.arrays import NOT_NPY
from hits.importers import machine_arrays, zips
from hits.importers.records import Bad, shown

VECTORS = (".npz", ".safetensors", ".npy", ".parquet")
LISTS = (".jsonl", ".csv")
ENDS = {"i": "image", "t": "caption"}
LONGEST_HEADER = 100 << 20
# A packed file says how large it becomes; larger vectors come as .safetensors, which are mapped.
LARGEST_UNPACKED = 4 << 30
NUMBERS = "fiu"
NOT_A_LIST = (
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    OverflowError,
    RecursionError,
)
_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}


class BadFile(ValueError):
    """In words for whoever made the file."""


@dataclass(frozen=True)
class RankedList:
    place: str
    query: str
    targets: Sequence[str]
    scores: Sequence[float]


@dataclass(frozen=True)
class ItemVectors:
    ids: list[str]
    vectors: NDArray[Any]


@dataclass(frozen=True)
class PairScores:
    """A row an image, a column a caption."""

    images: list[str]
    captions: list[str]
    scores: NDArray[Any]


def form_of(path: Path) -> str:
    return path.suffix.lower()


def ranked_lists(path: Path) -> Iterator[RankedList]:
    """Without scores, a list's are minus its ranks."""
    reading = _from_jsonl if form_of(path) == ".jsonl" else _from_csv
    try:
        for each in reading(path):
            yield _checked(each)
    except UnicodeDecodeError:
        raise BadFile("The file is not UTF-8 text.") from None
    except csv.Error as fault:
        raise BadFile(f"The file is not readable as CSV: {fault}.") from None


def _from_jsonl(path: Path) -> Iterator[RankedList]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            place = f"Line {number}"
            try:
                yield _list_of(json.loads(line), place)
            except (
                KeyError,
                TypeError,
                AttributeError,
                ValueError,
                ArithmeticError,
                RecursionError,
            ):
                raise BadFile(f"{place} is not a ranked list with query and targets.") from None


def _list_of(row: dict[str, Any], place: str) -> RankedList:
    given, scores = row["targets"], row.get("scores")
    if not isinstance(given, list):
        raise TypeError
    targets = list(map(str, given))
    found = _minus_ranks(targets) if scores is None else list(map(float, scores))
    return RankedList(place, str(row["query"]), targets, found)


def _from_csv(path: Path) -> Iterator[RankedList]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        if not {"query", "target", "score"} <= set(rows.fieldnames or ()):
            raise BadFile("The first line must name the columns query, target and score.")
        for query, group in groupby(rows, key=lambda row: row["query"]):
            place = f"Line {rows.line_num}"
            try:
                pairs = [(float(row["score"]), row["target"]) for row in group]
            except (TypeError, ValueError):
                raise BadFile(f"{place}: a score is not a number.") from None
            pairs.sort(key=lambda pair: -pair[0])
            yield RankedList(place, query, [b for _, b in pairs], [a for a, _ in pairs])


def _minus_ranks(targets: Sequence[str]) -> list[float]:
    return [-float(rank) for rank in range(1, len(targets) + 1)]


def _checked(each: RankedList) -> RankedList:
    if len(each.scores) != len(each.targets):
        raise BadFile(f"{each.place} has {len(each.targets)} targets, {len(each.scores)} scores.")
    if len(set(each.targets)) != len(each.targets):
        raise BadFile(f"{each.place} names a target twice.")
    scores = np.array(each.scores)
    if not np.isfinite(scores).all() or (np.diff(scores) > 0).any():
        raise BadFile(f"{each.place} has scores that are not numbers from best to worst.")
    return each


def computed(path: Path, ids: Path | None = None) -> dict[str, ItemVectors] | PairScores:
    """Vectors by end, i(mages) and t(exts), or scores. What can be is mapped, not read."""
    arrays = _arrays(path, ids)
    if "scores" not in arrays:
        return _item_vectors(arrays)
    if not {"image_ids", "caption_ids"} <= arrays.keys():
        raise BadFile("Scores need image_ids and caption_ids.")
    scores = arrays["scores"]
    images, captions = (_names(kind, arrays[f"{kind}_ids"]) for kind in ("image", "caption"))
    if scores.shape != (len(images), len(captions)) or scores.dtype.kind not in NUMBERS:
        raise BadFile("scores must be a table of numbers, a row an image and a column a caption.")
    return PairScores(images, captions, scores)


def _arrays(path: Path, ids: Path | None) -> dict[str, NDArray[Any]]:
    try:
        if form_of(path) == ".npy":
            return machine_arrays.npy(path, ids)
        if form_of(path) == ".parquet":
            return machine_arrays.parquet(path)
    except Bad as bad:
        raise BadFile(bad.detail) from None
    return _npz(path) if form_of(path) == ".npz" else safetensors(path)


def _item_vectors(arrays: dict[str, NDArray[Any]]) -> dict[str, ItemVectors]:
    found = {}
    for end, kind in ENDS.items():
        ids, vectors = arrays.get(f"{kind}_ids"), arrays.get(f"{kind}_vectors")
        if ids is None and vectors is None:
            continue
        if ids is None or vectors is None:
            raise BadFile(f"There must be both {kind}_ids and {kind}_vectors.")
        found[end] = _items(kind, ids, vectors)
    if not found:
        raise BadFile("There are neither image_vectors nor caption_vectors.")
    if len({items.vectors.shape[1] for items in found.values()}) > 1:
        raise BadFile("Vectors of images and captions differ in length.")
    return found


def _items(kind: str, ids: NDArray[Any], vectors: NDArray[Any]) -> ItemVectors:
    if vectors.ndim != 2 or vectors.dtype.kind not in NUMBERS or not vectors.shape[1]:
        raise BadFile(f"{kind}_vectors must be a table of numbers, one row an item.")
    names = _names(kind, ids)
    if len(names) != len(vectors):
        raise BadFile(f"{kind}_ids must name each row of {kind}_vectors.")
    return ItemVectors(names, vectors)


def _names(kind: str, ids: NDArray[Any]) -> list[str]:
    if ids.ndim != 1 or ids.dtype.kind not in "iuU":
        raise BadFile(f"{kind}_ids must name each {kind}.")
    names = list(map(str, ids.tolist()))
    if len(set(names)) != len(names):
        raise BadFile(f"{kind}_ids names an item twice.")
    return names


def _npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > LARGEST_UNPACKED:
            raise BadFile("The arrays are larger than 4 GB: send them as .safetensors.")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except BadFile:
        raise
    except (*NOT_NPY, *zips.UNREADABLE, AttributeError):
        raise BadFile("This is not an .npz file of plain arrays.") from None
    # What is no array comes as bytes.
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise BadFile("This is not an .npz file of plain arrays.")
    return arrays


def safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """The format is a length, a JSON header that names types, shapes and places, and the bytes."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(LONGEST_HEADER, size - 8):
                raise BadFile("This is not a .safetensors file.")
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        return {name: _tensor(path, 8 + length, size, told) for name, told in header.items()}
    except BadFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise BadFile("This is not a .safetensors file of plain numbers.") from None


def _tensor(path: Path, start: int, size: int, told: dict[str, Any]) -> NDArray[Any]:
    if told["dtype"] not in _TYPES:
        raise BadFile(f"Numbers can be {', '.join(_TYPES)}; {shown(str(told['dtype']))} cannot.")
    dtype, shape = np.dtype(_TYPES[told["dtype"]]), tuple(map(int, told["shape"]))
    begin, end = told["data_offsets"]
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if not 0 <= begin <= end <= size - start or end - begin != count * dtype.itemsize:
        raise BadFile("A tensor lies outside of the file.")
    if not count:
        return np.empty(shape, dtype)
    return np.memmap(path, dtype, "r", offset=start + begin, shape=shape)
