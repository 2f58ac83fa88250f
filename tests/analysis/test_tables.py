"""Shares of answers, and workers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis import shares
from hits.analysis.errors import DegenerateInput
from hits.analysis.workers import worker_table

CHOICES = ("yes", "partly", "hardly", "no")


def test_choices_are_shared_out_by_machine_and_rank() -> None:
    rows = [("P", 1, "yes"), ("P", 1, "no"), ("P", 2, "no"), ("Q", 1, "partly")]
    found = shares.choice_shares(rows, CHOICES)
    assert found["P"][1].percent("yes") == 50
    assert found["P"][2].counts == {"yes": 0, "partly": 0, "hardly": 0, "no": 1}
    assert shares.over_ranks(found["P"], CHOICES)["no"] == 75


@given(
    st.lists(
        st.tuples(st.sampled_from("PQ"), st.integers(1, 5), st.sampled_from(CHOICES)), min_size=1
    )
)
def test_shares_of_a_machine_and_rank_sum_to_100(rows: list[tuple[str, int, str]]) -> None:
    found = shares.choice_shares(rows, CHOICES)
    for ranks in found.values():
        for row in ranks.values():
            assert sum(row.percent(choice) for choice in CHOICES) == pytest.approx(100)
    assert sum(row.total for ranks in found.values() for row in ranks.values()) == len(rows)


def test_reasons_are_shares_of_ticks_and_not_of_answers() -> None:
    found = shares.reason_shares(
        [("P", ["color", "age"]), ("P", ["color"]), ("P", [])], ["color", "age"]
    )
    assert found["P"].percent("color") == pytest.approx(200 / 3)


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(DegenerateInput, match="none of the choices"):
        shares.choice_shares([("P", 1, "maybe")], CHOICES)


def test_workers_are_counted_in_the_band_of_what_they_submitted() -> None:
    rows = [("a", True)] + [("b", True)] * 4 + [("b", False)] + [("c", False)] * 26
    table = {band.label: band for band in worker_table(rows)}
    assert list(table) == ["1", "2–5", "6–10", "11–15", "16–25", ">25"]
    assert (table["2–5"].workers, table["2–5"].submitted, table["2–5"].percent) == (1, 5, 80)
    assert table[">25"].percent == 0
    assert table["6–10"].percent is None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=200))
def test_every_assignment_is_in_exactly_one_band(rows: list[tuple[int, bool]]) -> None:
    table = worker_table(rows)
    assert sum(band.submitted for band in table) == len(rows)
    assert sum(band.approved for band in table) == sum(approved for _, approved in rows)
    assert sum(band.workers for band in table) == len({worker for worker, _ in rows})


def test_nobody_is_no_table() -> None:
    with pytest.raises(DegenerateInput, match="Nobody"):
        worker_table([])
