"""What an evaluation says of how far its figures can be trusted."""

import numpy as np
import pytest

from tests.analysis.evaluating import Files, evaluated, refusal, row

IMAGES, CAPTIONS = list(range(1, 13)), list(range(100, 160))
IMAGE_OF = {str(caption): [(caption - 100) // 5 + 1] for caption in CAPTIONS}


def test_captions_of_one_image_are_resampled_together(files: Files) -> None:
    """All captions of an image are found, or none: sixty captions say no more than twelve."""
    ranked = {
        caption: own if own[0] % 2 else [1 + own[0] % 12, *own] for caption, own in IMAGE_OF.items()
    }
    given = {
        "text_to_image": files.json("r", ranked),
        "text_to_image_truth": files.json("t", IMAGE_OF),
    }
    widths = []
    for more in ({}, {"originals": files.json("o", IMAGE_OF)}):
        _, intervals, _ = evaluated("retrieval", {"folds": "1"}, **given, **more)
        found = row(intervals)
        assert (found["Metric"], found["Value"], found["Queries"]) == ("R@1", 0.5, 60)
        widths.append(float(str(found["95% to"])) - float(str(found["95% from"])))
    assert "captions with theirs" in intervals.note
    assert widths[1] > 1.8 * widths[0]


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.float16])
def test_scores_of_any_type_rank_the_highest_first(files: Files, kind: type[np.generic]) -> None:
    least = np.iinfo(np.int8).min if kind is np.int8 else 0
    metrics, *_ = evaluated(
        "retrieval",
        scores=files.npy("s", np.array([[least, 1, 2], [3, 9, 4]], kind)),
        ids=files.json("i", {"images": [1, 2], "captions": [10, 11, 12]}),
        image_to_text_truth=files.json("t", {"1": [12], "2": [11]}),
    )
    assert row(metrics)["R@1"] == 1


def test_two_people_who_always_agree_have_a_kappa_without_an_interval(files: Files) -> None:
    lines = [[u, w, "yes" if u % 3 else "no"] for u in range(9) for w in ("a", "b")]
    path = files.csv("j", [["unit", "worker", "value"], *lines])
    figures, _, cohen = evaluated("agreement", judgments=path)
    assert row(cohen) == {"Kappa": 1.0, "95% from": None, "95% to": None, "Units": 9}
    assert "Without an interval" in cohen.note
    percent = row(figures, 2)
    assert percent["Value"] == percent["95% to"] == 100
    assert 0 < float(str(percent["95% from"])) < 100


def test_who_judged_twice_is_told_with_the_entries(files: Files) -> None:
    lines = [["unit", "worker", "value"], ["1", "a", "x"], ["1", "b", "x"], ["1", "a", "y"]]
    assert "Entries 1 and 3: 'a' judged '1' twice." in refusal(
        "agreement", judgments=files.csv("j", lines)
    )


def test_a_side_that_is_preferred_is_told_where_workers_are_not_known(files: Files) -> None:
    lines = [["left", "right", "chosen"], ["A", "B", "A"], ["B", "A", "B"], ["A", "B", "B"]]
    *_, sides = evaluated("comparisons", comparisons=files.csv("c", lines))
    assert sides.rows == [[3, 2, pytest.approx(2 / 3), None, None]]
    assert "workers are not told" in sides.note


def test_numbers_whose_squares_are_infinite_are_refused(files: Files) -> None:
    lines = [["image1", "image2", "agg_score"], ["a", "b", "1e308"], ["b", "a", "-1e308"]]
    assert "no number to compute with" in refusal("retest", rated=files.csv("r", lines))
