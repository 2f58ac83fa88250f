import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hits.importers import machine_arrays, machine_files
from hits.importers.machine_files import BadFile, computed, ranked_lists
from hits.importers.machine_files import safetensors as read_safetensors

IDS, VECTORS = np.array([7, 3]), np.array([[1, 0, 2], [0, 3, 4]], np.float32)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def safetensors(path: Path, **arrays: np.ndarray) -> Path:
    names = {"float32": "F32", "float16": "F16", "int64": "I64"}
    header: dict[str, Any] = {"__metadata__": {"made": "by a test"}}
    body = b""
    for name, array in arrays.items():
        place = [len(body), len(body) + array.nbytes]
        kind = names[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
        body += array.tobytes()
    told = json.dumps(header).encode()
    path.write_bytes(len(told).to_bytes(8, "little") + told + body)
    return path


def test_json_lines_are_ranked_lists_best_first(tmp_path: Path) -> None:
    lines = (
        '{"query": 1, "targets": [5, "6"], "scores": [0.5, 0.25]}\n\n{"query": 2, "targets": [6]}\n'
    )
    first, second = ranked_lists(written(tmp_path / "l.jsonl", lines))
    assert (first.query, first.targets, first.scores) == ("1", ["5", "6"], [0.5, 0.25])
    assert (second.query, second.targets, second.scores) == ("2", ["6"], [-1.0])


def test_rows_of_a_table_become_lists_by_score(tmp_path: Path) -> None:
    text = "query,target,score\na,x,1\na,y,3\nb,x,0.5\n"
    lists = list(ranked_lists(written(tmp_path / "l.csv", text)))
    assert [(each.query, each.targets) for each in lists] == [("a", ["y", "x"]), ("b", ["x"])]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("l.jsonl", "[1]", "not a ranked list"),
        ("l.jsonl", '{"query": 1, "targets": [1, 1]}', "twice"),
        ("l.jsonl", '{"query": 1, "targets": [1, 2], "scores": [1]}', "2 targets, 1 scores"),
        ("l.jsonl", '{"query": 1, "targets": [1, 2], "scores": [1, 2]}', "best to worst"),
        ("l.jsonl", '{"query": 1, "targets": [1, 2], "scores": [1, NaN]}', "not numbers"),
        ("l.jsonl", '{"query": 1, "targets": "12"}', "not a ranked list"),
        ("l.jsonl", "[" * 100_000, "not a ranked list"),
        ("l.JSONL", f'{{"query": 1, "targets": [1], "scores": [{10**400}]}}', "not a ranked list"),
        ("l.csv", f"query,target,score\n1,{'2' * 200_000},3\n", "not readable as CSV"),
        ("l.csv", "query,score\n1,2\n", "columns"),
        ("l.csv", "query,target,score\n1,2,high\n", "not a number"),
    ],
)
def test_what_is_no_ranked_list_is_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        list(ranked_lists(written(tmp_path / name, text)))


def test_vectors_come_alike_from_both_formats(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", image_ids=IDS, image_vectors=VECTORS)
    np.savez(tmp_path / "whole.npz", image_ids=IDS, image_vectors=VECTORS.astype(np.int8))
    (tmp_path / "v.npz").rename(tmp_path / "V.NPZ")
    files = [
        tmp_path / "V.NPZ",
        tmp_path / "whole.npz",
        safetensors(tmp_path / "v.safetensors", image_ids=IDS, image_vectors=VECTORS),
    ]
    for file in files:
        found = computed(file)
        assert isinstance(found, dict)
        assert found.keys() == {"i"}
        assert found["i"].ids == ["7", "3"]
        np.testing.assert_array_equal(found["i"].vectors, VECTORS)


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"image_ids": IDS}, "both"),
        ({"other": IDS}, "neither"),
        ({"image_ids": IDS[:1], "image_vectors": VECTORS}, "name each row"),
        ({"image_ids": IDS * 0, "image_vectors": VECTORS}, "twice"),
        ({"image_ids": IDS, "image_vectors": VECTORS[0]}, "table of numbers"),
        (
            {
                "image_ids": IDS,
                "image_vectors": VECTORS,
                "caption_ids": IDS,
                "caption_vectors": VECTORS[:, :2],
            },
            "differ in length",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, np.ndarray], why: str
) -> None:
    np.savez(tmp_path / "v.npz", allow_pickle=False, **arrays)
    with pytest.raises(BadFile, match=why):
        computed(tmp_path / "v.npz")


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("unpickled",))


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    bombs = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "v.npz", image_ids=bombs, image_vectors=VECTORS)
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("v.npz", "raw.npz"):
        with pytest.raises(BadFile):
            computed(tmp_path / name)


@pytest.mark.parametrize(
    "told",
    [
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 9999]},
        {"dtype": "F32", "shape": [2, 300], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [-24, 0]},
        {"dtype": "PICKLE", "shape": [2, 3], "data_offsets": [0, 24]},
        {},
    ],
)
def test_a_tensor_that_lies_outside_of_its_file_is_refused(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    header = json.dumps({"image_vectors": told}).encode()
    path = tmp_path / "v.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(24))
    with pytest.raises(BadFile):
        read_safetensors(path)


def npy(shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


LYING = [
    npy("(1000000000000, 3)"),
    npy(f"({2**64}, 1)"),
    npy("+".join("1" * 4000)),
    npy("-" * 9000 + "1"),
    npy("(" * 9000),
    b"no array",
]


@pytest.mark.parametrize("content", LYING)
def test_arrays_whose_header_lies_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.npy").write_bytes(content)
    ids = written(tmp_path / "ids.json", '{"images": [7, 3]}')
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as packed:
        packed.writestr("image_vectors.npy", content)
    for name, beside in (("v.npy", ids), ("v.npz", None)):
        with pytest.raises(BadFile, match="This is not an"):
            computed(tmp_path / name, beside)


def test_a_packed_file_is_refused_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez_compressed(path, image_ids=IDS, image_vectors=VECTORS)
    whole = path.read_bytes()
    kept = 0
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x29]) + whole[place + 1 :])
        try:
            found = computed(path)
        except BadFile:
            continue
        kept += 1
        # What no check covers is not the numbers.
        assert isinstance(found, dict)
        np.testing.assert_array_equal(found["i"].vectors, VECTORS)
    assert kept < len(whole) / 6


@pytest.mark.parametrize(
    "told",
    ["[" * 100_000, '{"images": "73"}', '{"images": {"7": 1, "3": 2}}', '{"images": []}', "7"],
)
def test_ids_that_are_no_lists_are_refused(tmp_path: Path, told: str) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(BadFile, match="The ids must be JSON"):
        computed(tmp_path / "v.npy", written(tmp_path / "ids.json", told))


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"id": ["7", None]}, "no id"),
        ({"id": [["7"], ["3"]]}, "not a .parquet file of ids"),
        ({"id": [b"\xff", b"3"]}, "not a .parquet file of ids"),
        ({"kind": [{"a": 1}, {"a": 2}]}, "not a .parquet file of ids"),
        ({"vector": [["a"], ["b"]]}, "table of numbers"),
        ({"vector": [{"a": 1.0}, {"a": 2.0}]}, "list of numbers"),
    ],
)
def test_odd_columns_are_refused(tmp_path: Path, columns: dict[str, Any], why: str) -> None:
    usual = {"id": ["7", "3"], "kind": ["image", "image"], "vector": VECTORS.tolist()}
    pq.write_table(pa.table({**usual, **columns}), tmp_path / "v.parquet")
    with pytest.raises(BadFile, match=why):
        computed(tmp_path / "v.parquet")


def test_a_column_named_twice_is_refused(tmp_path: Path) -> None:
    column = pa.array(["image"])
    table = pa.Table.from_arrays([column] * 4, names=["id", "kind", "vector", "id"])
    pq.write_table(table, tmp_path / "v.parquet")
    with pytest.raises(BadFile, match="each once"):
        computed(tmp_path / "v.parquet")


def test_a_small_file_that_says_one_thing_often_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"id": ["7" * 1000] * 5000, "kind": ["image"] * 5000, "vector": [[1.0]] * 5000}
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table(rows), path)
    monkeypatch.setattr(machine_arrays, "LARGEST_READ", 1 << 20)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(BadFile, match="larger than"):
        computed(path)


def test_arrays_that_unpack_to_too_much_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "v.npz", image_ids=IDS, image_vectors=VECTORS)
    monkeypatch.setattr(machine_files, "LARGEST_UNPACKED", 100)
    with pytest.raises(BadFile, match="larger than"):
        computed(tmp_path / "v.npz")
