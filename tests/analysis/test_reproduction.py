import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from hits.analysis import reproduction
from hits.analysis.rankings import read_layout
from hits.analysis.reproduction import Released, Row, reproduce


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return reproduce(Released(None))


def test_every_figure_that_needs_no_file_is_as_expected(rows: list[Row]) -> None:
    assert [row.figure for row in rows if not row.is_as_expected] == []
    assert sum(row.matches is True for row in rows) >= 55


def test_rows_without_data_say_which_file_is_wanted(rows: list[Row]) -> None:
    wanted = " ".join(row.computed for row in rows if row.matches is None)
    for name in (
        "sts_val.csv",
        "sits_test.csv",
        "AMT_responses.json",
        "MSCOCO_FG_img_filenames.npy",
    ):
        assert name in wanted


def test_the_labels_of_table_d1_do_not_hold(rows: list[Row]) -> None:
    labels = next(row for row in rows if "296 answers" in row.figure)
    assert labels.computed == "printed row D"
    assert not labels.matches


def test_all_28_correlations_of_table_5_are_there(rows: list[Row]) -> None:
    assert sum(row.figure.startswith("ECCV Table 5") for row in rows) == 28


def test_released_files_are_found_at_any_depth(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    folder.mkdir(parents=True)
    np.save(folder / "Flickr30K_FG_img_filenames.npy", np.array([f"{n}.jpg" for n in range(6867)]))
    found = reproduce(Released(tmp_path))
    pool = next(row for row in found if row.figure.endswith("pool of Flickr30K"))
    assert pool.matches


def test_rated_pairs_are_compared_with_the_positives_of_eccv_caption(tmp_path: Path) -> None:
    positives = read_layout(Released(None).eccv_caption("cxc_caption_to_image.json"))
    pairs = [(caption, image) for caption, images in positives.items() for image in images]
    lines = ["caption,image,agg_score,sampling_method"]
    lines += [
        f"COCO_val2014:sentid:{caption},COCO_val2014_{image:012d}.jpg,{score},c2i_intrasim"
        for score in ("3.0", "4.98")
        for caption, image in pairs[score == "3.0" :: 2]
    ]
    lines.append("COCO_val2014:sentid:1,COCO_val2014_000000000001.jpg,2.99,c2i_intrasim")
    (tmp_path / "sits_test.csv").write_text("\n".join(lines))
    found = next(row for row in reproduce(Released(tmp_path)) if "SITS test" in row.figure)
    assert found.matches


def test_survey_answers_are_read_in_their_released_layout(tmp_path: Path) -> None:
    answers = {
        "Prominence": [{"image_id": "1", "description": "32112"}],
        "Caption": [{"image_id": "1", "description": "32112"}],
        "Comparison": [{"image_id": "1", "description": "2"}],
    }
    (tmp_path / "AMT_responses.json").write_text(json.dumps(answers))
    found = {row.figure: row for row in reproduce(Released(tmp_path))}
    assert found["VL surveys 1 and 2, mean tau-b"].computed == "1.00"
    assert not found["VL surveys 1 and 2, mean tau-b"].is_as_expected
    assert found["VL surveys, responses released"].computed == "3"


def test_files_with_something_else_in_them_fail_their_own_rows(
    tmp_path: Path, rows: list[Row]
) -> None:
    others = {
        "sits_val.csv": "caption,image,agg_score,sampling_method\na,b,x,c",
        "sts_val.csv": "nothing\nof that",
        "AMT_responses.json": '{"a":',
        "generated_COCO_survey_score.json": "[1]",
    }
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    found = reproduce(Released(tmp_path))
    wrong = [row for row in found if "cannot be read" in row.computed]
    assert len(wrong) == len(others)
    assert not any(row.is_as_expected for row in wrong)
    assert {row.figure for row in rows if row.matches} <= {row.figure for row in found}


def test_the_command_prints_a_table_and_ends_well() -> None:
    output = StringIO()
    call_command("reproduce", stdout=output)
    assert "ECCV Table D.1" in output.getvalue()
    assert "0 are not as expected" in output.getvalue()


def test_the_command_fails_when_a_figure_does_not_match(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"one": lambda _released: iter([Row("one", "1", "2", False)])}
    monkeypatch.setattr(reproduction, "FIGURES", wrong)
    with pytest.raises(SystemExit) as ended:
        call_command("reproduce", stdout=StringIO())
    assert ended.value.code == 1
