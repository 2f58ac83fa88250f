"""What an evaluation says of how far its figures can be trusted."""

import numpy as np
import pytest

from hits.analysis.evaluations.kinds import KINDS
from hits.pipeline.errors import Refused
from hits.pipeline.evaluate import computed, settings_of
from hits.pipeline.jobs import Cancelled
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
    some = files.json("o", {caption: IMAGE_OF[caption] for caption in list(IMAGE_OF)[:5]})
    _, alone, _ = evaluated("retrieval", {"folds": "1"}, **given, originals=some)
    assert "resamples queries" in alone.note


def test_where_every_answer_is_a_tie_no_interval_is_told(files: Files) -> None:
    tied = files.csv("s", [["right", "wrong"], *[["1", "1"]] * 5])
    (shares,) = evaluated("forced-choice", scores=tied)
    assert (row(shares)["Value"], row(shares)["95% from"], row(shares)["95% to"]) == (
        0.5,
        None,
        None,
    )
    apart = [["a", "b", "1"], ["b", "a", "2"], ["c", "d", "3"], ["d", "c", "4"]]
    (retest,) = evaluated("retest", rated=files.csv("r", [["one", "two", "agg_score"], *apart]))
    assert (row(retest)["Mean difference, absolute"], row(retest)["95% to"]) == (1, None)
    assert "Without an interval" in retest.note


def test_half_wins_are_shown_as_they_were_given(files: Files) -> None:
    matrix = files.csv("m", [["preferred", "A", "B"], ["A", "0", "3.5"], ["B", "2.5", "0"]])
    strengths, wins, *_ = evaluated("comparisons", comparisons=matrix)
    assert row(strengths)["Score"] == pytest.approx(100 * 3.5 / 6)
    assert [list(each) for each in wins.rows] == [["A", None, 3.5], ["B", 2.5, None]]


@pytest.mark.parametrize("unit", ["e-200", "e-9", "e98"])
def test_agreement_of_numbers_does_not_depend_on_their_unit(files: Files, unit: str) -> None:
    found = []
    for each in ("", unit):
        lines = [[u, w, f"{(u * 7 + w * w) % 5}{each}"] for u in range(9) for w in range(3)]
        path = files.csv("j", [["unit", "worker", "value"], *lines])
        figures, people = evaluated("agreement", {"level": "interval"}, judgments=path)
        found.append([row(figures, place)["Value"] for place in range(len(figures.rows))])
        found[-1] += [row(people, place)["Correlation"] for place in range(3)]
    assert found[1] == pytest.approx(found[0])


def test_a_setting_of_endless_digits_is_refused() -> None:
    with pytest.raises(Refused, match="a number from"):
        settings_of(KINDS["bootstrap"], {"samples": "9" * 5000})


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


def test_who_asks_to_stop_does_not_wait_for_every_sample(files: Files) -> None:
    pairs = [[f"q{place}", "d", place] for place in range(8)]
    rated = files.csv("r", [["one", "two", "agg_score"], *pairs])
    scores = files.csv("s", [["one", "two", "score"], *pairs])
    told: list[str] = []

    def tell(done: int, total: int | None = None, message: str = "") -> None:
        told.append(message)
        if told.count("Computing.") == 5:
            raise Cancelled

    kind = KINDS["bootstrap"]
    with pytest.raises(Cancelled):
        computed(kind, {"rated": rated, "scores": scores}, settings_of(kind, {}), tell)
    assert told.count("Computing.") == 5
