from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from hits.boxes import Box, clipped, marked, overlap, shared

LETTERS = "ABCDE"
WIDTH, HEIGHT = 640, 480


def test_boxes_that_lie_apart_do_not_overlap() -> None:
    assert overlap([Box(0, 0, 10, 10), Box(20, 0, 10, 10)]) == 0
    assert overlap([Box(0, 0, 10, 10)]) == 0


@pytest.mark.parametrize(
    ("other", "part"),
    [(Box(0, 0, 5, 5), 1.0), (Box(5, 0, 10, 10), 0.5), (Box(5, 5, 100, 100), 0.25)],
)
def test_overlap_is_the_part_of_the_smaller_box_in_the_larger(other: Box, part: float) -> None:
    assert overlap([Box(0, 0, 10, 10), Box(200, 200, 1, 1), other]) == part


def test_a_box_over_the_edge_is_clipped() -> None:
    assert clipped(Box(-20, 400, 100, 100), WIDTH, HEIGHT) == Box(0, 400, 80, 80)
    assert clipped(Box(700, 10, 50, 50), WIDTH, HEIGHT) == Box(640, 10, 0, 50)


def test_a_plate_stands_in_a_corner_of_a_roomy_box_and_beside_a_small_one() -> None:
    roomy, small = marked("AB", [Box(100, 100, 300, 300), Box(500, 200, 20, 20)], WIDTH, HEIGHT)
    assert (roomy.plate.x, roomy.plate.y) == (100, 100)
    assert shared(small.plate, small.box) == 0
    assert small.leader is None


boxes = st.lists(
    st.builds(
        Box,
        st.floats(-100, WIDTH + 100),
        st.floats(-100, HEIGHT + 100),
        st.floats(1, WIDTH),
        st.floats(1, HEIGHT),
    ),
    min_size=5,
    max_size=5,
)
labels = st.lists(st.text("abcdefgh ", min_size=1, max_size=30), min_size=5, max_size=5)


@tried(deadline=None)
@given(boxes=boxes, labels=st.one_of(st.just(list(LETTERS)), labels))
def test_plates_are_in_the_image_and_never_over_each_other(
    boxes: list[Box], labels: list[str]
) -> None:
    drawn = marked(labels, boxes, WIDTH, HEIGHT)
    assert [each.number for each in drawn] == [1, 2, 3, 4, 5]
    for each in drawn:
        assert each.plate.x >= 0
        assert each.plate.y >= 0
        assert each.plate.right <= WIDTH + 0.1
        assert each.plate.bottom <= HEIGHT + 0.1
    for one, two in combinations(drawn, 2):
        assert shared(one.plate, two.plate) == 0


def test_five_boxes_in_one_place_have_five_plates_in_sight() -> None:
    drawn = marked(LETTERS, [Box(300, 200, 8, 8)] * 5, WIDTH, HEIGHT)
    assert len({each.plate for each in drawn}) == 5
    assert any(each.leader for each in drawn)


def test_a_plate_hides_no_other_box_where_there_is_room_beside_its_own() -> None:
    camera, tripod = Box(255, 175, 85, 55), Box(230, 225, 180, 250)
    drawn = marked(["camera", "tripod"], [camera, tripod], WIDTH, HEIGHT)
    for each in drawn:
        assert shared(each.plate, camera) == 0
        assert each.leader is None


@pytest.mark.parametrize("label", ["WWWWWWWW MMMM", "illicit", "camera", "猫と犬"])
def test_a_plate_is_as_wide_as_its_text(label: str) -> None:
    (drawn,) = marked([label], [Box(200, 200, 50, 50)], WIDTH, HEIGHT)
    assert drawn.label_width < drawn.plate.width < drawn.label_width + drawn.plate.height


def test_wide_letters_have_wider_plates() -> None:
    wide, narrow = marked(["WMWMWM", "illill"], [Box(0, 0, 9, 9), Box(300, 0, 9, 9)], WIDTH, HEIGHT)
    assert wide.plate.width > 2 * narrow.plate.width


def test_a_plate_on_a_narrow_image_stays_in_it() -> None:
    (drawn,) = marked(["a person on a bench"], [Box(10, 10, 9, 9)], 90, 600)
    assert drawn.label.endswith("…")
    assert drawn.plate.width <= 90


@pytest.mark.parametrize(
    ("box", "corner"),
    [
        (Box(100, 100, 300, 300), "left-top"),
        (Box(300, 200, 20, 20), "left-bottom"),
        (Box(600, 0, 40, 30), "right-top"),
    ],
)
def test_a_plate_is_held_at_the_corner_by_its_box(box: Box, corner: str) -> None:
    (drawn,) = marked("A", [box], WIDTH, HEIGHT)
    assert drawn.corner == corner


def test_a_long_label_is_shortened() -> None:
    (drawn,) = marked(["a very long label that nobody needs"], [Box(0, 0, 9, 9)], WIDTH, HEIGHT)
    assert drawn.label == "a very long label that …"
    assert drawn.plate.right <= WIDTH
