import csv
import json
from collections.abc import Sequence
from io import StringIO
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from pydantic import ValidationError

from hits.protocol import FieldErrors, protocol
from hits.records import (
    Aggregate,
    Candidate,
    CorpusImage,
    Fields,
    ImageShown,
    Items,
    Json,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
    Query,
    UnitDraft,
)
from tests.protocols.given import Given, Released

SLUGS = ("sts", "sis", "sits")
STS, SIS, SITS = map(protocol, SLUGS)
COCO = "COCO_val2014:sentid:{id}"


def parse(slug: str = "sts", **fields: list[str]) -> Json:
    kind = protocol(slug)
    return kind.parse(fields, {}, None, kind.settings_model())


def wrong_fields(slug: str = "sts", **fields: list[str]) -> set[str]:
    with pytest.raises(FieldErrors) as wrong:
        parse(slug, **fields)
    return set(wrong.value.errors)


# Answers


@pytest.mark.parametrize("slug", SLUGS)
def test_a_slider_that_nobody_set_is_no_answer(slug: str) -> None:
    assert wrong_fields(slug, score=["0"]) == {"score"}
    assert wrong_fields(slug, score=["2.5"], moved=["pointer"]) == {"score"}
    assert wrong_fields(slug, score=["2.5"], set=["0"]) == {"score"}
    assert wrong_fields(slug, set=["1"]) == {"score"}


@pytest.mark.parametrize(
    "score", ["", "-1", "5.01", "6", "nan", "inf", "1e0", "٣", "2,5", " 2", "0x1"]
)
def test_what_is_not_on_the_scale_is_refused(score: str) -> None:
    assert wrong_fields(score=[score], set=["1"]) == {"score"}


@pytest.mark.parametrize(("sent", "kept"), [("0", 0.0), ("5", 5.0), ("2.871428", 2.87)])
def test_a_score_is_kept_to_two_decimals(sent: str, kept: float) -> None:
    assert parse(score=[sent], set=["1"])["score"] == kept


def test_how_the_slider_was_moved_is_stored_with_the_score() -> None:
    sent = parse(score=["1.5"], set=["1"], moved=["key pointer nonsense"])
    assert sent == {"score": 1.5, "moved": ["pointer", "key"]}
    assert parse(score=["1.5"], set=["1"])["moved"] == []


def test_a_comment_is_kept_where_it_was_asked_for() -> None:
    fields: Fields = {"score": ["1"], "set": ["1"], "comment": ["  Both are odd. "]}
    assert parse("sts", **fields)["comment"] == "Both are odd."
    assert "comment" not in STS.parse(fields, {}, None, STS.settings_model(comment=False))
    assert "comment" not in parse("sits", **fields)
    assert wrong_fields(score=["1"], set=["1"], comment=["x" * 2001]) == {"comment"}


def parsed(slug: str, fields: Fields) -> tuple[Json | None, set[str]]:
    kind = protocol(slug)
    try:
        return kind.parse(fields, {}, None, kind.settings_model()), set()
    except FieldErrors as wrong:
        return None, set(wrong.errors)


texts = st.text(max_size=12)
values = st.lists(st.one_of(st.sampled_from(["1", "2.5", "5", "key", "touch"]), texts), max_size=3)


@tried(deadline=None)
@given(
    fields=st.dictionaries(
        st.one_of(st.sampled_from(["score", "set", "moved", "comment"]), texts), values
    ),
    slug=st.sampled_from(SLUGS),
)
def test_whatever_is_sent_gives_a_whole_answer_or_says_what_is_wrong(
    fields: Fields, slug: str
) -> None:
    kind = protocol(slug)
    answer, errors = parsed(slug, fields)
    assert errors <= {"score", "comment"}
    assert bool(errors) == (answer is None)
    if answer is None:
        return
    assert fields["set"][0] == "1"
    assert 0 <= answer["score"] <= 5
    assert len(kind.row(answer)) == len(kind.columns)
    assert kind.describe(answer, kind.wording_model())


# Golds and aggregates


@pytest.mark.parametrize(
    ("score", "passes"), [(1.99, False), (2.0, True), (3.5, True), (3.51, False)]
)
def test_a_gold_is_passed_within_its_band(score: float, passes: bool) -> None:
    assert STS.check({"score": score, "moved": []}, {"low": 2, "high": 3.5}) is passes


def test_a_gold_and_an_answer_are_described_in_words() -> None:
    wording = SIS.wording_model()
    assert SIS.describe({"low": 2, "high": 3.5}, wording) == "From 2 to 3.5"
    answer = {"score": 3.6, "moved": ["key"]}
    assert SIS.describe(answer, wording) == "3.6 · near “Mostly equivalent”"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"score": 4.0}, "“Mostly equivalent”"),
        ({"score": 3.6, "comment": "Both run."}, "Below “Mostly equivalent” · Both run."),
        ({"score": 0.05}, "Above “Completely dissimilar”"),
        ({"low": 2, "high": 3.6}, "From “Some details shared” to below “Mostly equivalent”"),
    ],
)
def test_who_answered_is_told_the_place_on_the_scale_and_no_number(
    answer: Json, words: str
) -> None:
    assert SIS.retell(answer, SIS.wording_model()) == words


def said(*scores: float) -> list[Json]:
    return [{"score": score, "moved": ["pointer"]} for score in scores]


@pytest.mark.parametrize(
    ("scores", "label"),
    [
        ((5, 5, 5, 5, 5), "5.0"),
        ((0,), "0.0"),
        ((0.5, 0.5), "0.5"),
        ((1.1, 1.2, 1.3, 1.4, 1.5), "1.3"),
        ((2.87, 2.94, 2.97, 3.0, 3.01), "2.96"),
        ((0.1, 0.1, 0.2), "0.13"),
    ],
)
def test_the_score_of_a_pair_is_the_mean_in_its_shortest_form(
    scores: Sequence[float], label: str
) -> None:
    found = STS.aggregate(said(*scores))
    assert (found.label, found.value) == (label, float(label))


@pytest.mark.parametrize(
    ("slug", "score", "positive"),
    [
        ("sts", 2.99, False),
        ("sts", 3, True),
        ("sits", 2.99, False),
        ("sits", 3, True),
        ("sis", 2.49, False),
        ("sis", 2.5, True),
    ],
)
def test_positives_begin_at_3_and_for_images_at_2_and_a_half(
    slug: str, score: float, positive: bool
) -> None:
    assert protocol(slug).aggregate(said(score)).positive is positive


def test_the_distribution_counts_answers_by_the_nearest_description() -> None:
    found = STS.aggregate(said(0.4, 0.6, 1.2, 4.5, 5))
    assert found.distribution == {"0": 1, "1": 2, "2": 0, "3": 0, "4": 0, "5": 2}


# Pages


def test_the_order_of_two_texts_turns_with_everybody_who_is_asked() -> None:
    payload = {"caption1": 1, "caption2": 2, "sampling_method": "c2c_isim"}
    items = Items({}, {1: "One.", 2: "Two."})
    shown = [STS.show(payload, STS.arrange(payload, turn, Random(1)), items) for turn in range(2)]
    assert shown == [{"captions": ["One.", "Two."]}, {"captions": ["Two.", "One."]}]


def test_two_images_are_shown_in_the_order_in_which_they_were_proposed() -> None:
    payload = {"image1": 2, "image2": 1, "sampling_method": "i2i_csim"}
    images = {1: ImageShown("/one", 1, 1), 2: ImageShown("/two", 1, 1)}
    for turn in range(2):
        shown = SIS.show(payload, SIS.arrange(payload, turn, Random(1)), Items(images, {}))
        assert [image.url for image in shown["images"]] == ["/two", "/one"]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_page_is_not_told_how_a_pair_was_sampled(slug: str) -> None:
    kind = protocol(slug)
    images = {pk: ImageShown("/x", 1, 1) for pk in range(1, 7)}
    items = Items(images, dict.fromkeys(range(1, 7), "A text."))
    for payload in kind.specimens:
        assert payload["sampling_method"] not in str(kind.show(payload, None, items))


@pytest.mark.parametrize("slug", SLUGS)
def test_words_must_describe_all_six_places(slug: str) -> None:
    model = protocol(slug).wording_model
    with pytest.raises(ValidationError):
        model(anchors={"0": "None", "5": "All"})


# Units


def units(slug: str, given: Given, seed: int = 1, **settings: Any) -> list[UnitDraft]:
    kind = protocol(slug)
    return list(kind.units(given, kind.settings_model(**settings), Random(seed)))


def row(first: int, second: int, **more: Any) -> Json:
    return {"caption1": first, "caption2": second, **more}


def test_rows_become_units_and_golds() -> None:
    band = {"low": 1, "high": 2}
    rows = [row(1, 2, sampling_method="by_hand"), row(3, 4, gold=band)]
    unit, gold = units("sts", Given(uploaded=rows))
    assert (unit.pool, unit.gold, unit.payload) == ("unit", None, rows[0])
    assert (gold.pool, gold.gold) == ("gold", band)
    assert gold.payload["sampling_method"] == "uploaded"


def test_texts_are_paired_once_whatever_their_order_and_images_in_each() -> None:
    texts = units("sts", Given(uploaded=[row(1, 2), row(2, 1)]))
    assert len({unit.key for unit in texts}) == 1
    images = [{"image1": 1, "image2": 2}, {"image1": 2, "image2": 1}]
    assert len({unit.key for unit in units("sis", Given(uploaded=images))}) == 2


def test_nothing_is_compared_with_itself() -> None:
    assert units("sts", Given(uploaded=[row(1, 1)])) == []
    assert units("sis", Given(uploaded=[{"image1": 3, "image2": 3}])) == []
    assert len(units("sits", Given(uploaded=[{"caption": 3, "image": 3}]))) == 1


@pytest.mark.parametrize(
    "content",
    [
        {"caption1": "1", "caption2": "2", "gold": {"low": 3, "high": 2}},
        {"caption1": "1", "caption2": "2", "gold": {"low": -1, "high": 2}},
        {"caption1": "1", "caption2": "2", "sampling_method": "=cmd"},
        {"caption1": "1"},
        {"caption1": "1", "caption2": "2", "more": 1},
    ],
)
def test_a_row_that_makes_no_sense_is_refused(content: Json) -> None:
    assert STS.row_model is not None
    with pytest.raises(ValidationError):
        STS.row_model.model_validate(content)


def image(pk: int, *captions: int) -> CorpusImage:
    return CorpusImage(pk, 10, 10, {caption: f"Text {caption}." for caption in captions}, ())


CORPUS = [image(pk, pk * 10, pk * 10 + 1) for pk in range(1, 9)]


def ranked(query: int, *targets: int, machine: int = 1) -> list[Candidate]:
    return [Candidate(machine, target, rank, 1 / rank) for rank, target in enumerate(targets, 1)]


def query(pk: int, *candidates: Candidate) -> Query:
    return Query(pk, "i2i", candidates, ())


def image_of(caption: int) -> int:
    return caption // 10


def test_texts_are_paired_by_the_nearest_images_one_caption_of_each() -> None:
    given = Given(proposed=[query(1, *ranked(1, 1, 2, 3, 4))], corpus=CORPUS)
    found = units("sts", given, nearest=2)
    pairs = [(image_of(u.payload["caption1"]), image_of(u.payload["caption2"])) for u in found]
    assert pairs == [(1, 2), (1, 3)]
    assert {unit.payload["sampling_method"] for unit in found} == {"c2c_isim"}
    assert [[each.rank for each in unit.sources] for unit in found] == [[2], [3]]


def test_two_images_that_name_each_other_or_that_two_machines_name_give_one_pair_of_texts() -> None:
    given = Given(
        proposed=[
            query(1, *ranked(1, 2), *ranked(1, 3, 2, machine=2)),
            query(2, *ranked(2, 1)),
        ],
        corpus=CORPUS,
    )
    found = units("sts", given)
    pairs = [{image_of(u.payload["caption1"]), image_of(u.payload["caption2"])} for u in found]
    assert pairs == [{1, 2}, {1, 3}]
    assert [each.proposal_id for each in found[0].sources] == [1, 2]


def test_an_image_without_captions_gives_no_pair_of_texts() -> None:
    given = Given(
        proposed=[query(1, *ranked(1, 2, 3))], corpus=[image(1, 10), image(2), image(3, 30)]
    )
    assert [unit.payload["caption2"] for unit in units("sts", given)] == [30]


def test_captions_of_one_image_are_paired_where_that_is_set() -> None:
    given = Given(corpus=[image(1, 10, 11, 12, 13, 14), image(2, 20)])
    assert units("sts", given) == []
    found = units("sts", given, cocaptions=True)
    assert len({unit.key for unit in found}) == 5
    assert {unit.payload["sampling_method"] for unit in found} == {"c2c_cocaption"}


def test_images_are_paired_in_the_order_in_which_each_machine_proposed_them() -> None:
    given = Given(
        proposed=[
            query(1, *ranked(1, 1, 2, 3), *ranked(1, 3, 4, machine=2)),
            query(2, *ranked(2, 1)),
        ]
    )
    found = units("sis", given, nearest=2)
    assert [unit.key for unit in found] == ["1:2", "1:3", "1:4", "2:1"]
    assert {unit.payload["sampling_method"] for unit in found} == {"i2i_csim"}
    assert [each.proposal_id for each in found[1].sources] == [1, 2]


def judged(slug: str, first: int, second: int, score: float) -> JudgedUnit:
    ends = ("caption1", "caption2") if slug == "sts" else ("image1", "image2")
    payload = {ends[0]: first, ends[1]: second, "sampling_method": "x"}
    answers = said(score)
    aggregate = protocol(slug).aggregate(answers)
    return JudgedUnit("", slug, "unit", payload, (), (), aggregate, answers, [None])


def test_pairs_across_are_half_by_texts_and_half_by_images_best_first() -> None:
    finished = [
        judged("sts", 10, 20, 1),
        judged("sts", 30, 40, 4),
        judged("sts", 50, 51, 5),
        judged("sis", 1, 2, 2),
        judged("sis", 5, 6, 4.5),
    ]
    found = units("sits", Given(corpus=CORPUS, finished=finished), chosen_pairs=2)
    pairs = [(u.payload["caption"], u.payload["image"]) for u in found]
    assert pairs[0] == (40, 3)
    assert (image_of(pairs[1][0]), pairs[1][1]) == (6, 5)
    assert {unit.payload["sampling_method"] for unit in found} == {"c2i_intrasim"}


def test_what_texts_have_chosen_is_skipped_by_images() -> None:
    corpus = [image(1, 10), image(2, 20), image(3, 30)]
    finished = [judged("sts", 10, 20, 5), judged("sis", 1, 2, 5), judged("sis", 1, 3, 1)]
    found = units("sits", Given(corpus=corpus, finished=finished), chosen_pairs=2)
    assert [unit.key for unit in found] == ["20:1", "30:1"]


def test_what_the_corpus_no_longer_shows_is_not_chosen() -> None:
    finished = [judged("sts", 10, 990, 5), judged("sis", 99, 1, 5), judged("sis", 1, 99, 5)]
    assert units("sits", Given(corpus=CORPUS, finished=finished)) == []


def test_the_corpus_s_own_pairs_are_asked_about_where_that_is_set() -> None:
    given = Given(corpus=CORPUS[:2])
    assert units("sits", given) == []
    found = units("sits", given, originals=True)
    assert [unit.key for unit in found] == ["10:1", "11:1", "20:2", "21:2"]
    assert {unit.payload["sampling_method"] for unit in found} == {"c2i_original"}


@pytest.mark.parametrize("names", ["", "x", "{file}"])
def test_a_name_that_would_be_the_same_for_all_captions_is_refused(names: str) -> None:
    with pytest.raises(ValidationError):
        STS.settings_model(caption_names=names)


# Releases


def released(
    slug: str,
    scores: Sequence[float],
    images: Sequence[int] = (),
    captions: Sequence[int] = (),
    method: str = "m",
) -> JudgedUnit:
    ids = [*captions, *images]
    named = tuple(OutsideImage(str(pk), f"COCO_val2014_{pk:012d}.jpg") for pk in images)
    texts = tuple(OutsideCaption(str(pk), "A text.") for pk in captions)
    ends = {"sts": ("caption1", "caption2"), "sis": ("image1", "image2")}
    payload = dict(zip(ends.get(slug, ("caption", "image")), ids, strict=True))
    answers = said(*scores)
    aggregate: Aggregate = protocol(slug).aggregate(answers)
    return JudgedUnit(
        "",
        slug,
        "unit",
        payload | {"sampling_method": method},
        named,
        texts,
        aggregate,
        answers,
        [],
    )


def exported(slug: str, *judged: JudgedUnit, split: str = "val", **settings: Any) -> dict[str, str]:
    kind = protocol(slug)
    files = kind.export(Released(judged, split=split), kind.settings_model(**settings))
    return {name: "".join(pieces) for name, pieces in files.items()}


def test_the_table_of_texts_is_as_published() -> None:
    unit = released("sts", (1.2, 1.28), captions=(190268, 315773), method="c2c_isim")
    files = exported("sts", unit, caption_names=COCO)
    assert files["sts_val.csv"] == (
        "caption1,caption2,agg_score,sampling_method\n"
        "COCO_val2014:sentid:190268,COCO_val2014:sentid:315773,1.24,c2c_isim\n"
    )


def test_the_table_of_images_is_as_published() -> None:
    unit = released("sis", (0.5,), images=(32001, 432818), method="i2i_csim")
    assert exported("sis", unit)["sis_val.csv"] == (
        "image1,image2,agg_score,sampling_method\n"
        "COCO_val2014_000000032001.jpg,COCO_val2014_000000432818.jpg,0.5,i2i_csim\n"
    )


def test_the_table_of_images_and_texts_is_as_published() -> None:
    unit = released("sits", (5, 5), images=(144959,), captions=(10765,), method="c2i_original")
    files = exported("sits", unit, caption_names=COCO)
    assert files["sits_val.csv"] == (
        "caption,image,agg_score,sampling_method\n"
        "COCO_val2014:sentid:10765,COCO_val2014_000000144959.jpg,5.0,c2i_original\n"
    )


def test_raw_judgments_read_back_are_the_answers_given() -> None:
    units = [
        released("sts", (1.2, 3, 0), captions=(1, 2)),
        released("sts", (4.99,), captions=(2, 3)),
    ]
    lines = csv.DictReader(StringIO(exported("sts", *units)["sts_val_raw.csv"]))
    read: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        read.setdefault((line["caption1"], line["caption2"]), []).append(float(line["score"]))
    assert read == {("1", "2"): [1.2, 3, 0], ("2", "3"): [4.99]}


def test_an_image_without_a_file_name_is_called_by_its_id() -> None:
    kind = protocol("sis")
    unit = released("sis", (1,), images=(1, 2))
    unnamed = JudgedUnit(
        "", "sis", "unit", unit.payload, (OutsideImage("a1", ""), OutsideImage("a2", "2.jpg")), (),
        unit.aggregate, unit.answers, [],
    )  # fmt: skip
    table = "".join(kind.export(Released([unnamed]), kind.settings_model())["sis_val.csv"])
    assert table.splitlines()[1].startswith("a1,2.jpg,")


def test_a_split_cannot_lead_out_of_the_release() -> None:
    assert set(exported("sts", split="../../x")) == {
        "sts_..=2F..=2Fx.csv",
        "sts_..=2F..=2Fx_raw.csv",
    }
    assert set(exported("sts", split="")) == {"sts.csv", "sts_raw.csv"}


def test_positives_are_as_eccv_caption_reads_them() -> None:
    files = exported(
        "sits",
        released("sits", (3,), images=(7,), captions=(20,)),
        released("sits", (5,), images=(7,), captions=(9,)),
        released("sits", (2.99,), images=(7,), captions=(11,)),
        released("sits", (4,), images=(8,), captions=(20,)),
    )
    assert json.loads(files["cxc_image_to_caption.json"]) == {"7": [9, 20], "8": [20]}
    assert json.loads(files["cxc_caption_to_image.json"]) == {"9": [7], "20": [7, 8]}


def test_a_score_in_a_file_of_judgments_was_set_by_somebody() -> None:
    kind = protocol("sts")
    fields = kind.told({"score": ["3.4"]})
    assert kind.parse(fields, {}, None, kind.settings_model())["score"] == 3.4
