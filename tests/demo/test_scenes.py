from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from hits.demo.drawing import draw
from hits.demo.scenes import DWELLERS, HEIGHT, WIDTH, Scene, scene

seeds = st.integers(0, 2**32)
numbers = st.integers(0, 99_999)


def fresh(seed: int, number: int) -> Scene:
    return scene.__wrapped__(seed, number)


@given(seeds, numbers)
def test_a_scene_depends_on_its_seed_and_number_alone(seed: int, number: int) -> None:
    assert fresh(seed, number) == fresh(seed, number)
    assert (fresh(seed, number).seed, fresh(seed, number).number) == (seed, number)


def test_another_seed_gives_other_scenes() -> None:
    groups = [[scene(seed, number).groups for number in range(50)] for seed in (1, 2)]
    assert groups[0] != groups[1]


@given(seeds, numbers)
def test_no_object_hides_another_or_leaves_the_picture(seed: int, number: int) -> None:
    things = [thing for group in scene(seed, number).groups for thing in group.things]
    for thing in things:
        assert thing.left >= 0
        assert thing.top >= 0
        assert thing.right <= WIDTH
        assert thing.bottom <= HEIGHT
    for one, other in combinations(things, 2):
        beside = one.right <= other.left or other.right <= one.left
        stacked = one.bottom <= other.top or other.bottom <= one.top
        assert beside or stacked


@given(seeds, numbers)
def test_groups_are_counted_apart_and_belong_in_their_setting(seed: int, number: int) -> None:
    made = scene(seed, number)
    assert 1 <= len(made.groups) <= 3
    assert len({(group.kind, group.colour) for group in made.groups}) == len(made.groups)
    for group in made.groups:
        assert len(group.things) == group.count >= 1
        assert group.kind in DWELLERS[made.setting]


def test_a_picture_is_the_same_each_time_and_shows_its_scene() -> None:
    one, again, other = (draw(scene(3, number)) for number in (5, 5, 6))
    assert one.size == (WIDTH, HEIGHT)
    assert one.mode == "RGB"
    assert one.tobytes() == again.tobytes() != other.tobytes()


def test_a_picture_is_drawn_in_other_sizes() -> None:
    assert draw(scene(3, 5), (240, 180)).size == (240, 180)
