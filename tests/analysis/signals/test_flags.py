from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.analysis.crowd import Settings, simulate
from hits.analysis.signals.flags import SIGNALS, Flags, flags
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.work import FAILED, PASSED, Work
from tests.analysis.signals.making import of_people

RULES = Rules()
SMALL = Settings(people=20, bad_share=0.3, units=200, judgments=4)


def doubts(found: Flags) -> dict[int, float]:
    return {proposal.page: proposal.doubt for proposal in found.pages}


def test_every_page_is_there_the_most_doubtful_first() -> None:
    work = simulate(SMALL, 1).work
    found = flags(work, RULES)
    assert sorted(proposal.page for proposal in found.pages) == np.unique(work.pages).tolist()
    ordered = [proposal.doubt for proposal in found.pages]
    assert ordered == sorted(ordered, reverse=True)


def test_a_page_is_flagged_where_it_or_its_person_is_raised() -> None:
    found = flags(simulate(SMALL, 1).work, RULES)
    raised = {(one.subject, one.key) for one in found.signals if one.is_raised}
    for page in found.pages:
        of_it = ("page", page.page) in raised or ("person", page.person) in raised
        assert page.is_flagged == of_it == (page.doubt >= 1)


def test_signals_that_cannot_be_told_say_why() -> None:
    found = flags(of_people([[0.0]]), RULES)
    assert found.silent.keys() == SIGNALS.keys()
    assert all(found.silent.values())
    (page,) = found.pages
    assert (page.doubt, page.raised) == (0, ())


def test_judgments_that_are_all_alike_flag_nobody() -> None:
    found = flags(of_people([[1.0] * 30 for _ in range(12)]), RULES)
    assert not any(page.is_flagged for page in found.pages)


def test_the_plain_rule_is_left_out_where_a_study_does_not_want_it() -> None:
    found = flags(simulate(SMALL, 1).work, Rules(page_golds=None))
    assert "page golds" in found.silent
    assert "page golds" not in {one.name for one in found.signals}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_names_of_people_and_units_change_nothing(seed: int, names: Random) -> None:
    work = simulate(SMALL, seed).work
    people, units = (list(range(int(codes.max()) + 1)) for codes in (work.people, work.units))
    names.shuffle(people)
    names.shuffle(units)
    renamed = replace(work, people=np.array(people)[work.people], units=np.array(units)[work.units])
    assert doubts(flags(renamed, RULES)) == pytest.approx(doubts(flags(work, RULES)), abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50))
def test_the_order_of_the_rows_changes_nothing(seed: int) -> None:
    work = simulate(SMALL, seed).work
    mixed = work.kept(np.random.default_rng(seed).permutation(len(work.units)))
    assert doubts(flags(mixed, RULES)) == pytest.approx(doubts(flags(work, RULES)), abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50), st.data())
def test_a_gold_that_fails_never_lowers_the_doubt_of_any_page(
    seed: int, data: st.DataObject
) -> None:
    work = simulate(SMALL, seed).work
    row = data.draw(st.sampled_from(np.flatnonzero(work.golds == PASSED).tolist()))
    golds = work.golds.copy()
    golds[row] = FAILED
    before, after = (doubts(flags(each, RULES)) for each in (work, replace(work, golds=golds)))
    assert all(after[page] >= doubt - 1e-9 for page, doubt in before.items())


def test_a_careful_crowd_is_hardly_flagged_but_for_its_golds() -> None:
    crowd: Work = simulate(Settings(bad_share=0.0), 7).work
    found = flags(crowd, Rules(page_golds=None))
    assert np.mean([page.is_flagged for page in found.pages]) < 0.03
