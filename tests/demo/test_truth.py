"""Known answers for scenes built by hand."""

import pytest

from hits.demo.scenes import Group, Scene, Thing
from hits.demo.truth import MANY, Claim, Mention, Relation, Truth, is_true


def group(
    kind: str, colour: str, left: int, count: int = 1, *, top: int = 240, **more: str
) -> Group:
    things = tuple(Thing(left + 60 * place, top, 50, 50) for place in range(count))
    traits: dict[str, str | None] = {"size": "small", "pose": None, "facing": None, **more}
    return Group(kind=kind, colour=colour, count=count, things=things, **traits)  # type: ignore[arg-type]


def scene(*groups: Group, setting: str = "meadow") -> Scene:
    return Scene(seed=0, number=0, setting=setting, backdrop=0, groups=groups)


TWO_RED_BALLS_AND_A_DOG = scene(
    group("ball", "red", 20, 2),
    group("dog", "grey", 300, pose="standing", facing="left"),
)
TWO_RED_BALLS = Mention(("ball",), 2, 2, colour="red")
A_GREY_DOG = Mention(("dog",), colour="grey")


def judged(claim: Claim, of: Scene = TWO_RED_BALLS_AND_A_DOG) -> tuple[str, set[str], set[str]]:
    truth = is_true(of, claim)
    return truth.choice, set(truth.reasons), set(truth.errors)


def test_what_holds_and_names_the_main_objects_is_a_yes() -> None:
    claim = Claim((TWO_RED_BALLS, A_GREY_DOG), ("meadow",), (Relation(0, "left_of", 1),))
    assert is_true(TWO_RED_BALLS_AND_A_DOG, claim) == Truth("yes")


def test_a_side_object_may_be_left_out() -> None:
    assert judged(Claim((TWO_RED_BALLS,)))[0] == "yes"


@pytest.mark.parametrize(
    ("mention", "error"),
    [
        (Mention(("ball",), 2, 2, colour="blue"), "appearance"),
        (Mention(("ball",), 3, 3, colour="red"), "quantity"),
        (Mention(("ball",), 1, 1, colour="red"), "quantity"),
        (Mention(("ball",), 3, MANY), "quantity"),
        (Mention(("ball",), 2, 2, size="large"), "other"),
    ],
)
def test_one_wrong_attribute_leaves_a_partial_yes(mention: Mention, error: str) -> None:
    assert judged(Claim((mention,))) == ("partial_yes", {"wrong"}, {error})


@pytest.mark.parametrize(
    ("mention", "error"),
    [
        (Mention(("dog",), pose="sitting"), "action"),
        (Mention(("dog",), facing="right"), "orientation"),
        (Mention(("cat",)), "class"),
    ],
)
def test_a_wrong_side_object_leaves_a_partial_yes(mention: Mention, error: str) -> None:
    assert judged(Claim((TWO_RED_BALLS, mention))) == ("partial_yes", {"wrong"}, {error})


def test_left_and_right_swapped_is_a_wrong_location() -> None:
    claim = Claim((A_GREY_DOG, TWO_RED_BALLS), (), (Relation(0, "left_of", 1),))
    assert judged(claim) == ("partial_yes", {"wrong"}, {"location"})


def test_another_setting_is_a_wrong_location() -> None:
    claim = Claim((TWO_RED_BALLS,), ("beach", "lake"))
    assert judged(claim) == ("partial_yes", {"wrong"}, {"location"})


def test_above_holds_of_what_is_higher_only() -> None:
    pictured = scene(group("ball", "red", 20), group("kite", "blue", 200, top=40))
    ball, kite = Mention(("ball",)), Mention(("kite",))
    assert judged(Claim((kite, ball), (), (Relation(0, "above", 1),)), pictured)[0] == "yes"
    wrong = Claim((ball, kite), (), (Relation(0, "above", 1),))
    assert judged(wrong, pictured) == ("partial_yes", {"wrong"}, {"location"})


def test_an_object_too_many_is_absent_from_the_image() -> None:
    claim = Claim((TWO_RED_BALLS, Mention(("house",))))
    assert judged(claim) == ("partial_yes", {"absent"}, set())


def test_saying_nothing_of_the_main_objects_leaves_a_partial_yes() -> None:
    assert judged(Claim((A_GREY_DOG,))) == ("partial_yes", {"undescribed"}, set())


def test_two_faults_are_mostly_a_no() -> None:
    claim = Claim((Mention(("ball",), 3, 3, colour="blue"),))
    assert judged(claim) == ("mostly_no", {"wrong"}, {"appearance", "quantity"})


def test_only_a_relative_of_what_is_said_is_mostly_a_no() -> None:
    pictured = scene(group("dog", "white", 20, pose="sitting", facing="left"))
    assert judged(Claim((Mention(("cat",)),)), pictured) == ("mostly_no", {"wrong"}, {"class"})


def test_nothing_in_common_is_a_no() -> None:
    claim = Claim((Mention(("house",), colour="red"),), ("meadow",))
    assert judged(claim)[0] == "no"


def test_a_number_counts_all_that_fits_the_words() -> None:
    pictured = scene(group("ball", "red", 20), group("ball", "blue", 200))
    assert judged(Claim((Mention(("ball",), 2, 2),)), pictured)[0] == "yes"
    assert judged(Claim((Mention(("ball",), 1, 1),)), pictured)[2] == {"quantity"}
    assert judged(Claim((Mention(("ball",), 1, 1, colour="red"),)), pictured)[0] == "yes"


def test_a_second_ball_is_absent_when_there_is_only_one() -> None:
    claim = Claim((Mention(("ball",), colour="red"), Mention(("ball",), colour="blue")))
    assert judged(claim, scene(group("ball", "red", 20))) == ("partial_yes", {"absent"}, set())


def test_one_object_is_not_taken_for_two() -> None:
    claim = Claim((Mention(("ball",), colour="blue"), Mention(("ball",), colour="green")))
    pictured = scene(group("ball", "red", 20))
    assert judged(claim, pictured) == ("mostly_no", {"wrong", "absent"}, {"appearance"})
