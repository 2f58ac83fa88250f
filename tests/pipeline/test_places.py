from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from hits.models import Assignment, Slot, Study, Unit
from hits.pipeline import places
from hits.pipeline.draw import draw
from tests import making

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL)


@pytest.fixture
def page(study: Study) -> Assignment:
    return draw(study=study, account=making.rater(study))


def counts(page: Assignment) -> set[tuple[int, int]]:
    """(held, counted) of the units to judge that the page has."""
    units = Unit.objects.filter(slots__assignment=page, gold__isnull=True)
    return set(units.values_list("held", "counted"))


def gold_counts(page: Assignment) -> set[tuple[int, int]]:
    units = Unit.objects.filter(slots__assignment=page, gold__isnull=False)
    return set(units.values_list("held", "counted"))


def states(page: Assignment) -> set[str]:
    return set(Slot.objects.filter(assignment=page).values_list("state", flat=True))


def candidate(page: Assignment) -> Slot:
    found = Slot.objects.filter(assignment=page, unit__gold__isnull=True).first()
    assert found is not None
    return found


Move = Callable[[Assignment], None]


@pytest.mark.parametrize(
    ("moves", "state", "expected"),
    [
        ([], "held", (1, 0)),
        ([places.count], "counted", (0, 1)),
        ([places.free], "freed", (0, 0)),
        ([places.count, places.drop], "not_used", (0, 0)),
        ([places.count, places.count], "counted", (0, 1)),
        ([places.free, places.count], "freed", (0, 0)),
        ([places.count, places.drop, places.drop], "not_used", (0, 0)),
        ([places.count, places.free], "counted", (0, 1)),
    ],
)
def test_the_counts_of_units_go_with_the_states_of_slots(
    page: Assignment, moves: list[Move], state: str, expected: tuple[int, int]
) -> None:
    for move in moves:
        move(page)
    assert states(page) == {state}
    assert counts(page) == {expected}
    assert gold_counts(page) == {(0, 0)}


def test_a_place_that_is_free_is_taken_again(page: Assignment) -> None:
    places.free(page)
    places.retake(page, ["freed"])
    assert (states(page), counts(page)) == ({"counted"}, {(0, 1)})


def test_a_place_that_others_have_is_not_taken_again(study: Study, page: Assignment) -> None:
    places.free(page)
    draw(study=study, account=making.rater(study))
    places.retake(page, ["freed"])
    slots = Slot.objects.filter(assignment=page)
    assert set(slots.filter(unit__gold__isnull=True).values_list("state", flat=True)) == {"surplus"}
    assert set(slots.filter(unit__gold__isnull=False).values_list("state", flat=True)) == {
        "counted"
    }
    assert counts(page) == {(1, 0)}


def test_only_the_states_that_are_named_are_retaken(page: Assignment) -> None:
    places.free(page)
    places.retake(page, ["not_used"])
    assert (states(page), counts(page)) == ({"freed"}, {(0, 0)})


def test_what_is_broken_leaves_its_place_alone(page: Assignment) -> None:
    slot = candidate(page)
    places.count(page)
    places.mark_broken(page, [slot.position])
    slot.refresh_from_db()
    slot.unit.refresh_from_db()
    assert (slot.state, slot.unit.counted, slot.unit.is_open) == ("broken", 0, True)
    assert counts(page) == {(0, 0), (0, 1)}


@pytest.mark.parametrize("before", [[], [places.count], [places.free], [places.count, places.drop]])
def test_the_same_person_leaves_one_place_whatever_it_was(
    page: Assignment, before: list[Move]
) -> None:
    for move in before:
        move(page)
    slot = candidate(page)
    places.mark_same_person(slot)
    slot.refresh_from_db()
    slot.unit.refresh_from_db()
    assert slot.state == "same_person"
    assert (slot.unit.held, slot.unit.counted) == (0, 0)
    places.retake(page, ["freed", "not_used"])
    slot.refresh_from_db()
    assert slot.state == "same_person"


def test_the_database_refuses_more_than_is_wanted(page: Assignment) -> None:
    unit = candidate(page).unit
    with pytest.raises(IntegrityError, match="unit_not_over_wanted"), transaction.atomic():
        Unit.objects.filter(pk=unit.pk).update(counted=1)


def test_the_database_refuses_a_unit_twice_for_one_person(page: Assignment) -> None:
    slot = candidate(page)
    with pytest.raises(IntegrityError, match="slot_unit_once_a_person"), transaction.atomic():
        Slot.objects.create(
            assignment=page, unit=slot.unit, person=page.person, position=99, state="held"
        )
