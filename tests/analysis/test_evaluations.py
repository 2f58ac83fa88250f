"""Evaluations of files: known answers, and clear lines for files that make no sense."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hits.analysis.evaluations.computing import COMPUTE
from hits.analysis.evaluations.contract import FILES
from hits.analysis.evaluations.kinds import KINDS
from tests.analysis.evaluating import Files, evaluated, refusal, row

Lines = list[list[Any]]


def test_every_kind_is_computed_and_asks_for_files_that_can_be_read() -> None:
    assert list(KINDS) == list(COMPUTE)
    for kind in KINDS.values():
        names = [upload.name for upload in kind.uploads]
        names += [setting.name for setting in kind.settings]
        assert len({*names, "kind", "name"}) == len(names) + 2
        assert all(upload.form in FILES for upload in kind.uploads)


RANKED = {"1": [10, 20, 11, 21], "2": [20, 10, 21, 11]}
TRUTH = {"1": [10, 11], "2": [20, 21]}


def test_rankings_are_measured_against_a_ground_truth(files: Files) -> None:
    metrics, intervals, recalls = evaluated(
        "retrieval",
        image_to_text=files.json("r", RANKED),
        image_to_text_truth=files.json("t", TRUTH),
    )
    found = row(metrics)
    assert (found["Queries"], found["R@1"], found["R-Precision"], found["mAP@R"]) == (
        2,
        1,
        0.5,
        0.5,
    )
    assert found["Median rank"] == 1
    assert found["R@5"] is None
    assert "shorter than the metric needs" in metrics.note
    assert [line[1] for line in intervals.rows] == ["R@1", "R-Precision", "mAP@R"]
    assert recalls.why


def test_a_matrix_of_scores_ranks_both_ways_as_its_rankings_would(files: Files) -> None:
    rng = np.random.default_rng(3)
    images, captions = list(range(1, 11)), list(range(100, 150))
    scores = rng.random((10, 50), dtype=np.float32)
    own = {str(i): [c for c in captions if (c - 100) // 5 + 1 == i] for i in images}
    of_captions = {str(c): [(c - 100) // 5 + 1] for c in captions}
    given = {
        "image_to_text_truth": files.json("i", own),
        "text_to_image_truth": files.json("c", of_captions),
        "originals": files.json("o", of_captions),
        "classes": files.json("k", {str(i): [i % 2] for i in images}),
        "ids": files.json("ids", {"images": images, "captions": captions}),
    }
    by_scores = evaluated("retrieval", scores=files.npy("s", scores), **given)
    rankings = {
        "image_to_text": files.npy("a", np.array(captions)[np.argsort(-scores, axis=1)]),
        "text_to_image": files.npy("b", np.array(images)[np.argsort(-scores.T, axis=1)]),
    }
    by_rankings = evaluated("retrieval", **rankings, **given)
    assert by_scores == by_rankings
    metrics, _, recalls = by_scores
    assert 0 < float(row(metrics)["PMRP"] or 0) < 1
    assert [line[0] for line in recalls.rows] == ["All items", "Mean of 5 folds"]
    whole, folds = (float(str(line[-1])) for line in recalls.rows)
    assert 0 < whole < folds <= 600


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.json", b"[1, 2]", "is not in the layout"),
        ("r.json", b'{"1": [1', "not readable as JSON"),
        ("r.json", b"[" * 100_000, "not readable as JSON"),
        ("r.json", b'{"1": ["a"]}', "is not in the layout"),
        ("r.json", b'{"1": [10, 10, 11]}', "names an item twice"),
        ("r.json", b'{"3": [10, 11]}', "have no ranking"),
        ("r.json", b'{"1": [99999999999999999999]}', "too large"),
        ("r.json", b'{"1": "10"}', "no list of ids"),
        ("r.json", b'{"1": {"10": 11}}', "no list of ids"),
        ("r.json", b'{"1": [10.5]}', "is no id"),
        ("r.json", b'{"1": [true]}', "is no id"),
        ("r.json", b'{"1": ["ten"]}', "'ten' is no id"),
        ("r.json", b'{"one": [10]}', "'one' is no id"),
        ("r.json", b'{"1": [-1, 10]}', "negative id"),
        ("r.json", b'{"1": ["\\u0000"]}', "NUL"),
        ("r.npy", b"", "no plain array"),
        ("r.npy", b"\x93NUMPY\x01\x00nonsense", "no plain array"),
        ("r.npy", b"\x93NUMPY\x01\x00\x28\x23" + b"-" * 8999 + b"1", "no plain array"),
        ("r.npy", b"PK\x03\x04 is how an archive starts", "no plain array"),
    ],
)
def test_hostile_rankings_are_refused_in_words(
    files: Files, name: str, content: bytes, said: str
) -> None:
    truth = files.json("t", {"1": [10], "2": [20]})
    message = refusal(
        "retrieval", image_to_text=files.text(name, content), image_to_text_truth=truth
    )
    assert said in message
    assert "literal" not in message


def test_pickled_and_flat_arrays_are_refused(files: Files) -> None:
    truth = files.json("t", {"1": [10]})
    pickled = files.folder / "p.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    for path in (pickled, files.npy("flat", [1, 2]), files.npy("text", [["a"]])):
        assert "array" in refusal("retrieval", image_to_text=path, image_to_text_truth=truth)


def test_rankings_of_very_different_lengths_do_not_fill_the_memory(files: Files) -> None:
    ranked = {str(query): [1] for query in range(60_000)} | {"60000": list(range(60_000))}
    truth = files.json("t", {"1": [1]})
    path = files.json("r", ranked)
    assert "too many" in refusal("retrieval", image_to_text=path, image_to_text_truth=truth)


COMPARED = [["left", "right", "chosen", "worker", "item"]] + [
    [*pair, pair[n % 3 == 0], f"w{n % 7}", f"i{n % 5}"]
    for n, pair in enumerate([("A", "B"), ("B", "C"), ("C", "A"), ("B", "A")] * 12)
]


def test_comparisons_and_their_win_matrix_give_the_same_scores(files: Files) -> None:
    strengths, wins, probabilities, fit, sides = evaluated(
        "comparisons", comparisons=files.csv("c", COMPARED)
    )
    assert sum(float(str(line[1])) for line in strengths.rows) == pytest.approx(100)
    assert "Intervals resample people and items." in strengths.note
    matrix: Lines = [["preferred", "A", "B", "C"]]
    matrix += [[line[0], *(0 if cell is None else cell for cell in line[1:])] for line in wins.rows]
    again, *others = evaluated("comparisons", comparisons=files.csv("w", matrix))
    for one, two in zip(strengths.rows, again.rows, strict=True):
        assert one[1] == pytest.approx(two[1])
    assert others[1].rows == [
        [line[0], *(cell and pytest.approx(cell) for cell in line[1:])]
        for line in probabilities.rows
    ]
    assert row(fit)["Degrees of freedom"] == 1
    assert row(sides)["Comparisons"] == 48


def test_systems_that_were_never_compared_are_named(files: Files) -> None:
    lines = [["left", "right", "chosen"], ["A", "B", "A"], ["A", "B", "B"], ["C", "D", "C"]]
    strengths, *_ = evaluated("comparisons", comparisons=files.csv("c", lines))
    assert "disconnected" in strengths.why


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([["left", "right", "chosen"], ["A", "B", "C"]], "neither of the two"),
        ([["left", "right"], ["A", "B"]], "has no chosen"),
        ([["preferred", "A"], ["A", "0"], ["A", "1"]], "a system twice"),
        ([["preferred", "A", "B"], ["A", "0", "x"], ["B", "1", "0"]], "is no number"),
        ([["preferred", "A", "Z"], ["A", "0", "1"]], "a column that is no row"),
        ([["preferred", "A", "B"], ["A", "0", "1e30"], ["B", "1e29", "0"]], "more wins than"),
        ([["left", "right", "chosen"], ["A"]], "line 2"),
        ([["left"]], "there are no lines"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(
    files: Files, lines: list[list[str]], said: str
) -> None:
    assert said in refusal("comparisons", comparisons=files.csv("c", lines))


def test_agreement_has_its_figures_and_people(files: Files) -> None:
    lines: Lines = [["unit", "worker", "value"]]
    lines += [
        [u, f"w{w}", "yes" if (u + (w == u % 9)) % 2 else "no"] for u in range(30) for w in (0, 1)
    ]
    path = files.csv("j", lines)
    figures, people, cohen = evaluated("agreement", judgments=path)
    assert row(figures)["Figure"] == "Krippendorff’s alpha, nominal"
    assert [line[:2] for line in people.rows] == [["w0", 30], ["w1", 30]]
    assert people.rows[0][3] is None
    assert row(cohen)["Units"] == 30
    ordered = evaluated("agreement", {"level": "ordinal", "order": "no, yes"}, judgments=path)
    assert ordered[1].rows[0][3] is not None
    assert "does not have 'no'" in refusal(
        "agreement", {"level": "ordinal", "order": "yes"}, judgments=path
    )
    assert "is no number" in refusal("agreement", {"level": "interval"}, judgments=path)


def test_one_judgment_a_unit_has_no_agreement(files: Files) -> None:
    path = files.csv("j", [["unit", "worker", "value"], ["1", "a", "x"], ["2", "a", "y"]])
    assert "one judgment" in refusal("agreement", judgments=path)


def test_correlations_of_metrics_stand_below_the_diagonal(files: Files) -> None:
    lines: Lines = [["model", "a", "b", "c"], ["x", 1, 2, 9], ["y", 2, 1, 8], ["z", 3, 3, 7]]
    (table,) = evaluated("correlation", metrics=files.csv("m", lines))
    assert table.rows == [
        ["b", pytest.approx(1 / 3), None],
        ["c", pytest.approx(-1), pytest.approx(-1 / 3)],
    ]
    assert "a: its values are all equal" in refusal(
        "correlation", metrics=files.csv("e", [["model", "a", "b"], ["x", 1, 2], ["y", 1, 3]])
    )
    empty = files.text("n.jsonl", "{}\n")
    assert "neither models nor metrics" in refusal("correlation", metrics=empty)


def test_a_model_that_scores_as_people_do_correlates_wholly(files: Files) -> None:
    rated: Lines = [[f"q{n % 20}", f"t{n}", n / 20, "m"] for n in range(100)]
    scores = [[one, two, 3 * score] for one, two, score, _ in rated]
    given = {
        "rated": files.csv("r", [["caption", "image", "agg_score", "sampling_method"], *rated]),
        "scores": files.csv("s", [["caption", "image", "score"], *scores]),
    }
    bootstrap, samples = evaluated("bootstrap", {"samples": "50"}, **given)
    assert row(bootstrap)["Mean ρ"] == pytest.approx(1)
    assert (row(bootstrap)["Queries"], row(bootstrap)["Rated pairs"]) == (20, 100)
    assert sum(int(str(line[1])) for line in samples.rows) == 50
    given["scores"] = files.csv("u", [["caption", "image", "score"], *scores[1:]])
    assert "1 rated pairs have no score" in refusal("bootstrap", **given)
    assert "from 2 to" in refusal("bootstrap", {"samples": "1"}, **given)


def test_pairs_rated_both_ways_are_found(files: Files) -> None:
    lines: Lines = [["image1", "image2", "agg_score"], ["a", "b", 1], ["b", "a", 2], ["a", "c", 3]]
    lines += [["c", "a", 3]]
    (table,) = evaluated("retest", rated=files.csv("r", lines))
    assert (row(table)["Pairs"], row(table)["Mean difference, absolute"]) == (2, 0.5)


def test_precision_and_recall_count_what_people_saw(files: Files) -> None:
    (table,) = evaluated(
        "positives",
        dataset=files.json("d", {"1": [1, 2, 9], "2": [5]}),
        people=files.json("p", {"1": [1, 3], "2": [5]}),
        verified=files.json("v", {"1": [1, 2, 3], "2": [5]}),
    )
    assert [line[1] for line in table.rows] == [0.75, 0.75]


def test_bison_s_accuracy_and_what_an_alteration_changes(files: Files) -> None:
    data = [{"bison_id": n, "true_image_id": 10 + n} for n in range(4)]
    annotations = files.json("a", {"info": {}, "data": data})
    predictions = [{"bison_id": n, "predicted_image_id": 10 + n - (n == 0)} for n in range(4)]
    altered = [{"bison_id": n, "predicted_image_id": 9} for n in range(4)]
    (table,) = evaluated(
        "bison",
        annotations=annotations,
        predictions=files.json("p", predictions),
        altered=files.json("q", altered),
    )
    assert [line[1] for line in table.rows] == [0.75, 0, 0.75]
    changed = table.rows[2]
    assert changed[0] == "Changed by the alteration"
    assert 0 < float(str(changed[2])) < 0.75 < float(str(changed[3])) < 1
    scores = [{"bison_id": n, "scores": {"9": 1, "10": 2 - n, "11": 1}} for n in range(2)]
    (table,) = evaluated(
        "bison",
        annotations=annotations,
        predictions=files.json("p", predictions),
        altered=files.json("s", scores),
    )
    assert [(line[1], line[-1]) for line in table.rows] == [(0.75, 4), (0.5, 2), (1, 2)]
    unknown = files.json("u", [{"bison_id": 1}])
    assert "neither" in refusal("bison", annotations=annotations, predictions=unknown)
    few = files.json("f", predictions[1:])
    assert "have no prediction" in refusal("bison", annotations=annotations, predictions=few)
    assert "not a list" in refusal("bison", annotations=files.json("x", {}), predictions=few)
    given = {"annotations": annotations, "predictions": files.json("q", predictions)}
    others = files.json("y", [{"bison_id": 7, "predicted_image_id": 9}])
    assert "altered has no example" in refusal("bison", altered=others, **given)
    named = files.json("z", [{"bison_id": "one", "predicted_image_id": 9}])
    said = refusal("bison", annotations=annotations, predictions=named)
    assert said == "predictions has an id that is no number: 'one' is no id."


def test_a_tie_of_right_and_wrong_counts_half(files: Files) -> None:
    lines: Lines = [["right", "wrong", "model"], [1, 0, "a"], [1, 1, "a"], [0, 1, "b"]]
    (table,) = evaluated("forced-choice", scores=files.csv("s", lines))
    assert [(line[0], line[1], line[-1]) for line in table.rows] == [("a", 0.75, 1), ("b", 0, 0)]


def test_texts_are_counted_before_and_after(files: Files) -> None:
    (table,) = evaluated(
        "texts",
        before=files.json("b", {"x": ["a dog"]}),
        after=files.json("a", {"x": ["a small brown dog"]}),
    )
    assert [(line[1], line[3]) for line in table.rows] == [(1, 0), (1, 2)]
    assert "no list" in refusal("texts", before=files.json("n", {"x": "a dog"}))


SURVEY = [{"image_id": n, "description": "32112" if n % 2 else "13221"} for n in range(6)]


def test_surveys_are_compared_object_by_object(files: Files) -> None:
    letters = "ABCDE"
    keys = [
        {"image_id": n, **{letter: {"id": f"o{place}"} for place, letter in enumerate(letters)}}
        for n in range(6)
    ]
    turned = [{**each, "description": str(each["description"])[::-1]} for each in SURVEY]
    turned_keys = [
        {"image_id": n, **{letter: {"id": f"o{4 - p}"} for p, letter in enumerate(letters)}}
        for n in range(6)
    ]
    scores = {"area": {str(n): [3, 2, 1, 1, 2] if n % 2 else [1, 3, 2, 2, 1] for n in range(6)}}
    (table,) = evaluated(
        "surveys",
        survey=files.json("s", {"Prominence": SURVEY}),
        other=files.json("o", turned),
        survey_keys=files.json("k", keys),
        other_keys=files.json("l", turned_keys),
        scores=files.json("c", scores),
    )
    assert [line[0] for line in table.rows] == ["The other survey", "area"]
    assert [line[1] for line in table.rows] == pytest.approx([1, 1])
    assert "no ratings" in refusal(
        "surveys", survey=files.json("w", [{"image_id": 1, "description": "39"}])
    )


def _boxes(system: int) -> list[dict[str, Any]]:
    return [
        {
            "image_id": n,
            "category_id": 1,
            "bbox": [0, 0, 10, 10 - 8 * (n % 2 == system)],
            "score": 1,
        }
        for n in range(6)
    ]


def _detected(files: Files, votes: list[dict[str, Any]]) -> dict[str, Path]:
    truth = [
        {"image_id": n, "category_id": 1, "bbox": [0, 0, 10, 10], "importance": 0.5}
        for n in range(6)
    ]
    return {
        "annotations": files.json("a", truth),
        "first": files.json("f", _boxes(0)),
        "second": files.json("s", _boxes(1)),
        "choices": files.json("c", {"Comparison": votes}),
    }


def test_people_who_are_undecided_on_every_image_are_told_of(files: Files) -> None:
    votes = [{"image_id": n, "description": side} for n in range(6) for side in "12"]
    overall, people = evaluated("detection", {"thresholds": "0"}, **_detected(files, votes))
    assert len(overall.rows) == 2
    assert people.why == "On no image did more people choose one system than the other."


def test_detection_metrics_that_prefer_what_people_chose_agree_wholly(files: Files) -> None:
    votes = [{"image_id": n, "description": "1" if n % 2 else "2"} for n in range(6)]
    given = _detected(files, votes)
    overall, people, intervals = evaluated("detection", {"thresholds": "0, 0.2"}, **given)
    assert len(overall.rows) == 4
    assert people.rows[0][1:] == [6, *[1.0] * 8]
    assert [line[0] for line in intervals.rows] == [0.0] * 8 + [0.2] * 8
    assert row(intervals)["95% from"] == pytest.approx(0.025 ** (1 / 6))
    assert (row(intervals)["95% to"], row(intervals)["Images"]) == (1, 6)
    keys = [{"image_id": n, "1": "two", "2": "one"} for n in range(6)]
    named = {"first_name": "one", "second_name": "two", "thresholds": "0"}
    _, turned, _ = evaluated("detection", named, keys=files.json("k", keys), **given)
    assert turned.rows[0][2:] == [0.0] * 8
    assert "importance of more than 0.9" in refusal("detection", {"thresholds": "0.9"}, **given)
    assert "thresholds" in refusal("detection", {"thresholds": ","}, **given)
    turned_round = [{**each, "bbox": [10, 10, -10, 10]} for each in _boxes(0)]
    given["first"] = files.json("n", turned_round)
    assert "negative width" in refusal("detection", **given)
