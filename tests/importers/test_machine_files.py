import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hits.importers import machine_files
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
        ("l.csv", "query,score\n1,2\n", "columns"),
        ("l.csv", "query,target,score\n1,2,high\n", "not a number"),
    ],
)
def test_what_is_no_ranked_list_is_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        list(ranked_lists(written(tmp_path / name, text)))


def test_vectors_come_alike_from_both_formats(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", image_ids=IDS, image_vectors=VECTORS)
    files = [
        tmp_path / "v.npz",
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


def test_arrays_that_unpack_to_too_much_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "v.npz", image_ids=IDS, image_vectors=VECTORS)
    monkeypatch.setattr(machine_files, "LARGEST_UNPACKED", 100)
    with pytest.raises(BadFile, match="larger than"):
        computed(tmp_path / "v.npz")
