from random import Random
from typing import Any

import pytest

from hits.protocol import FieldErrors, protocol
from hits.protocols.retrieval_audit import AuditSettings
from hits.records import Candidate, Query, UnitDraft
from tests.protocols.given import Given

AUDIT = protocol("retrieval_audit")
TARGETS = list(range(100, 160))


def query(*ranked: int, originals: tuple[int, ...] = (), direction: str = "t2i") -> Query:
    candidates = tuple(Candidate(1, target, rank, 0.5) for rank, target in enumerate(ranked, 1))
    return Query(7, direction, candidates, originals)


def units(asked: Query, **settings: Any) -> list[UnitDraft]:
    return list(AUDIT.units(Given([asked], TARGETS), AuditSettings(**settings), Random(0)))


def images(found: list[UnitDraft], pool: str) -> list[int]:
    return [unit.payload["image"] for unit in found if unit.pool == pool]


def test_a_first_that_is_no_pair_of_the_corpus_is_audited() -> None:
    found = units(query(100, 101, originals=(101,)))
    assert images(found, "unit") == [100]
    assert found[0].payload == {"image": 100, "caption": 7}
    assert found[0].sources == (Candidate(1, 100, 1, 0.5),)


def test_a_first_that_is_the_pair_is_no_error() -> None:
    assert images(units(query(100, 101, originals=(100,))), "unit") == []


def test_how_deep_the_audit_goes_is_a_setting() -> None:
    found = units(query(100, 101, 102, 103, originals=(101,)), judged_depth=3)
    assert images(found, "unit") == [100, 102]


def test_an_image_s_captions_are_audited_likewise() -> None:
    found = units(query(100, originals=(105,), direction="i2t"))
    assert found[0].payload == {"image": 7, "caption": 100}


def test_golds_are_pairs_of_the_corpus_and_random_ones_that_nobody_proposed() -> None:
    found = units(query(*TARGETS[:50], originals=(150,)))
    golds = {unit.payload["image"]: unit.gold for unit in found if unit.pool == "gold"}
    assert golds.pop(150) == {"choice": "yes"}
    ((image, gold),) = golds.items()
    assert image in set(TARGETS[50:]) - {150}
    assert gold == {"choice": "no"}
    assert not [unit for unit in units(query(100), golds_a_query=0) if unit.gold]


def test_rows_bring_pairs_and_golds() -> None:
    rows: list[dict[str, Any]] = [
        {"image": 1, "caption": 2},
        {"image": 1, "caption": 3, "gold": False},
        {"image": 1, "caption": 4, "gold": True},
    ]
    found = list(AUDIT.units(Given(uploaded=rows), AuditSettings(), Random(0)))
    assert [unit.gold for unit in found] == [None, {"choice": "no"}, {"choice": "yes"}]


def test_yes_and_no_are_the_answers() -> None:
    for choice in ("yes", "no"):
        assert AUDIT.parse({"choice": [choice]}, {}, None, AuditSettings()) == {"choice": choice}
    for sent in ([], [""], ["maybe"], ["1"]):
        with pytest.raises(FieldErrors):
            AUDIT.parse({"choice": sent}, {}, None, AuditSettings())


@pytest.mark.parametrize(
    ("choices", "label"),
    [("y", "yes"), ("n", "no"), ("yn", "no"), ("yyn", "yes"), ("nny", "no")],
)
def test_the_majority_decides_and_a_tie_is_no(choices: str, label: str) -> None:
    said = [{"choice": "yes" if each == "y" else "no"} for each in choices]
    aggregate = AUDIT.aggregate(said)
    assert (aggregate.label, aggregate.positive) == (label, label == "yes")
    assert aggregate.distribution == {"yes": choices.count("y"), "no": choices.count("n")}
