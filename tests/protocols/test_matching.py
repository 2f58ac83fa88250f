from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from hits.protocol import FieldErrors, protocol
from hits.protocols.matching import CHOICES, ERRORS, JUSTIFIED, POSITIVE, REASONS, Settings
from hits.records import Candidate, CorpusImage, Fields, Query, UnitDraft
from tests.protocols.given import Given

MATCHING = protocol("matching")
JUSTIFIED_SETTINGS = Settings()
PLAIN = Settings(justification=False)


def parse(**fields: list[str]) -> dict[str, Any]:
    return MATCHING.parse(fields, {}, None, JUSTIFIED_SETTINGS)


def wrong_fields(**fields: list[str]) -> set[str]:
    with pytest.raises(FieldErrors) as wrong:
        parse(**fields)
    return set(wrong.value.errors)


def test_a_page_is_eighteen_candidates_and_two_golds_unless_set_otherwise() -> None:
    assert MATCHING.composition(JUSTIFIED_SETTINGS) == {
        "candidate": 18,
        "true_positive": 1,
        "true_negative": 1,
    }
    assert sum(MATCHING.composition(Settings(candidates_a_page=4)).values()) == 6


@pytest.mark.parametrize("choice", ["yes", "no"])
def test_a_clear_answer_needs_no_reason(choice: str) -> None:
    assert parse(choice=[choice]) == {"choice": choice}


@pytest.mark.parametrize("choice", ["yes", "no"])
def test_reasons_left_over_from_another_choice_are_not_stored(choice: str) -> None:
    fields = {"choice": [choice], "reasons": ["wrong"], "errors": ["age"], "other": ["x"]}
    assert parse(**fields) == {"choice": choice}


@pytest.mark.parametrize("choice", sorted(JUSTIFIED))
def test_a_middle_answer_needs_at_least_one_shortcoming(choice: str) -> None:
    assert wrong_fields(choice=[choice]) == {"reasons"}
    assert wrong_fields(choice=[choice], reasons=["nonsense"]) == {"reasons"}
    assert parse(choice=[choice], reasons=["grammar", "absent"]) == {
        "choice": choice,
        "reasons": ["absent", "grammar"],
    }


@pytest.mark.parametrize("choice", sorted(JUSTIFIED))
def test_in_a_wrong_way_needs_to_say_in_which(choice: str) -> None:
    assert wrong_fields(choice=[choice], reasons=["wrong"]) == {"errors"}
    answer = parse(choice=[choice], reasons=["wrong"], errors=["age", "quantity"])
    assert answer["errors"] == ["quantity", "age"]


def test_something_else_that_is_wrong_is_said_in_words() -> None:
    fields = {"choice": ["mostly_no"], "reasons": ["wrong"], "errors": ["other"]}
    assert wrong_fields(**fields) == {"other"}
    assert wrong_fields(**fields, other=["  "]) == {"other"}
    assert wrong_fields(**fields, other=["x" * 501]) == {"other"}
    assert parse(**fields, other=[" The time of day "])["other"] == "The time of day"


def test_words_about_something_else_are_stored_only_where_it_was_chosen() -> None:
    answer = parse(choice=["mostly_no"], reasons=["wrong"], errors=["age"], other=["Left over"])
    assert "other" not in answer


def test_what_is_wrong_is_stored_only_where_it_was_asked() -> None:
    answer = parse(choice=["mostly_no"], reasons=["absent"], errors=["age"])
    assert "errors" not in answer


@pytest.mark.parametrize("choice", CHOICES)
def test_without_justification_only_the_choice_is_asked(choice: str) -> None:
    fields = {"choice": [choice], "reasons": ["wrong"]}
    assert MATCHING.parse(fields, {}, None, PLAIN) == {"choice": choice}


@pytest.mark.parametrize("sent", [[], [""], ["not sure"], ["YES"], ["1"]])
def test_there_is_no_fifth_answer(sent: list[str]) -> None:
    assert wrong_fields(choice=sent) == {"choice"}


def parsed(fields: Fields, settings: Settings) -> tuple[dict[str, Any] | None, set[str]]:
    try:
        return MATCHING.parse(fields, {}, None, settings), set()
    except FieldErrors as wrong:
        return None, set(wrong.errors)


texts = st.text(max_size=20)
values = st.lists(st.one_of(st.sampled_from([*CHOICES, *REASONS, *ERRORS]), texts), max_size=4)
any_fields = st.dictionaries(
    st.one_of(st.sampled_from(["choice", "reasons", "errors", "other", "ms"]), texts), values
)


@tried(deadline=None)
@given(fields=any_fields, justification=st.booleans())
def test_whatever_is_sent_gives_a_whole_answer_or_says_what_is_wrong(
    fields: Fields, justification: bool
) -> None:
    answer, errors = parsed(fields, Settings(justification=justification))
    assert errors <= {"choice", "reasons", "errors", "other"}
    assert bool(errors) == (answer is None)
    if answer is None:
        return
    assert answer["choice"] in CHOICES
    must_justify = justification and answer["choice"] in JUSTIFIED
    assert bool(answer.get("reasons")) == must_justify
    assert bool(answer.get("errors")) == ("wrong" in answer.get("reasons", []))
    assert bool(answer.get("other")) == ("other" in answer.get("errors", []))
    assert set(answer.get("reasons", [])) <= set(REASONS)
    assert set(answer.get("errors", [])) <= set(ERRORS)
    assert len(MATCHING.row(answer)) == len(MATCHING.columns)
    assert MATCHING.describe(answer, MATCHING.wording_model())


@tried(deadline=None)
@given(choices=st.lists(st.sampled_from(CHOICES), min_size=1, max_size=12), random=st.randoms())
def test_the_aggregate_is_the_majority_whatever_the_order(
    choices: list[str], random: Random
) -> None:
    aggregate = MATCHING.aggregate([{"choice": choice} for choice in choices])
    counts = Counter(choices)
    assert aggregate.distribution == {choice: counts[choice] for choice in CHOICES}
    assert counts[aggregate.label] == max(counts.values())
    assert aggregate.positive == (aggregate.label in POSITIVE)
    random.shuffle(choices)
    assert MATCHING.aggregate([{"choice": choice} for choice in choices]) == aggregate


@pytest.mark.parametrize(
    ("choices", "label"),
    [
        (["yes"], "yes"),
        (["yes", "no"], "no"),
        (["yes", "partial_yes"], "partial_yes"),
        (["yes", "yes", "no"], "yes"),
        (["mostly_no", "partial_yes", "partial_yes", "mostly_no"], "mostly_no"),
    ],
)
def test_between_equally_frequent_choices_the_more_negative_holds(
    choices: list[str], label: str
) -> None:
    assert MATCHING.aggregate([{"choice": choice} for choice in choices]).label == label


def test_a_gold_takes_either_of_its_two_answers() -> None:
    passed = {
        (choice, positive): MATCHING.check({"choice": choice}, {"positive": positive})
        for choice, positive in product(CHOICES, (True, False))
    }
    assert [passed[choice, True] for choice in CHOICES] == [True, True, False, False]
    assert [passed[choice, False] for choice in CHOICES] == [False, False, True, True]


TARGETS = list(range(1000, 1400))


def query(*rankings: list[int], originals: tuple[int, ...] = ()) -> Query:
    return Query(
        1,
        "i2t",
        tuple(
            Candidate(machine, target, rank, 1 / rank)
            for machine, ranking in enumerate(rankings, start=1)
            for rank, target in enumerate(ranking, start=1)
        ),
        originals,
    )


def units(asked: Query, settings: Settings = JUSTIFIED_SETTINGS, seed: int = 0) -> list[UnitDraft]:
    return list(MATCHING.units(Given([asked], TARGETS), settings, Random(seed)))


def targets(found: list[UnitDraft], pool: str) -> set[int]:
    return {unit.payload["caption"] for unit in found if unit.pool == pool}


def test_the_first_five_of_each_machine_are_candidates_and_the_next_twenty_fill() -> None:
    one, other = TARGETS[:25], TARGETS[20:45]
    found = units(query(one, other))
    assert targets(found, "candidate") == {*one[:5], *other[:5]}
    assert targets(found, "fill") == {*one, *other} - {*one[:5], *other[:5]}


def test_a_target_that_one_machine_has_in_its_first_five_is_a_candidate_whoever_ranks_it_low() -> (
    None
):
    one, other = TARGETS[:25], TARGETS[:25][::-1]
    found = units(query(one, other))
    assert targets(found, "candidate") == {*one[:5], *other[:5]}
    (unit,) = (unit for unit in found if unit.payload["caption"] == one[0])
    assert [(source.proposal_id, source.rank) for source in unit.sources] == [(1, 1), (2, 25)]


def test_what_lies_beyond_the_fill_is_not_asked() -> None:
    found = units(query(TARGETS[:40]), Settings(fill_depth=10))
    assert targets(found, "candidate") | targets(found, "fill") == set(TARGETS[:10])


def test_a_true_positive_is_an_original_that_no_machine_has_in_its_first_five() -> None:
    ranking = TARGETS[:25]
    originals = (ranking[0], ranking[10], TARGETS[300])
    found = units(query(ranking, originals=originals), Settings(golds_a_query=5))
    assert targets(found, "true_positive") == {ranking[10], TARGETS[300]}
    assert ranking[0] in targets(found, "candidate")
    assert ranking[10] not in targets(found, "fill")
    golds = [unit for unit in found if unit.pool == "true_positive"]
    assert all(unit.gold == {"positive": True} for unit in golds)


@tried(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_true_negative_lies_outside_every_list_and_every_original(seed: int) -> None:
    one, other = TARGETS[:25], TARGETS[100:125]
    originals = tuple(TARGETS[200:205])
    found = units(query(one, other, originals=originals), Settings(golds_a_query=5), seed)
    negatives = targets(found, "true_negative")
    assert len(negatives) == 5
    assert not negatives & {*one, *other, *originals}
    golds = [unit for unit in found if unit.pool == "true_negative"]
    assert all(unit.gold == {"positive": False} for unit in golds)


@tried(deadline=None)
@given(
    rankings=st.lists(
        st.lists(st.sampled_from(TARGETS[:60]), min_size=1, max_size=25, unique=True),
        min_size=1,
        max_size=5,
    ),
    originals=st.lists(st.sampled_from(TARGETS[:80]), max_size=5, unique=True),
)
def test_every_pair_is_one_unit_with_all_who_proposed_it(
    rankings: list[list[int]], originals: list[int]
) -> None:
    found = units(query(*rankings, originals=tuple(originals)))
    assert max(Counter(unit.key for unit in found).values()) == 1
    for unit in found:
        proposed_by = {
            (machine, ranking.index(unit.payload["caption"]) + 1)
            for machine, ranking in enumerate(rankings, start=1)
            if unit.payload["caption"] in ranking
        }
        sources = {(source.proposal_id, source.rank) for source in unit.sources}
        assert sources == (set() if unit.gold else proposed_by)
        assert (unit.gold is None) == (unit.pool in {"candidate", "fill"})


def test_the_corpus_s_own_pairs_are_asked_about_where_that_is_wanted() -> None:
    image = CorpusImage(7, 640, 480, {1000: "A cat.", 1001: "A dog."}, ())
    own = Settings(own_pairs=True)
    found = [
        (unit.key, unit.pool) for unit in MATCHING.units(Given(corpus=[image]), own, Random(0))
    ]
    assert found == [("7:1000", "candidate"), ("7:1001", "candidate")]
    assert not list(MATCHING.units(Given(corpus=[image]), PLAIN, Random(0)))


def test_the_other_direction_asks_the_same_pairs() -> None:
    asked = Query(1000, "t2i", (Candidate(1, 7, 1, 1.0),), ())
    (unit,) = (unit for unit in MATCHING.units(Given([asked], [7]), PLAIN, Random(0)))
    assert unit.payload == {"image": 7, "caption": 1000}
    assert unit.key == "7:1000"


def test_golds_are_drawn_alike_with_the_same_seed() -> None:
    asked = query(TARGETS[:25])
    assert units(asked, seed=3) == units(asked, seed=3)
    assert units(asked, seed=3) != units(asked, seed=4)
