import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.word_diff import edit, pieces, plain, size, tokens, words

ORANGE = "three chairs under a window on a orange train."
RIGHT = "three orange chairs under a window on a train."

texts = st.lists(
    st.sampled_from([*"ab.,'-", "a's", "A", "12.5", "–", "red-brown", "é", "\t", "  "]), max_size=12
).map(" ".join)


def split(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def applied(before: str, changes: list[dict[str, object]]) -> list[str]:
    made = split(before)
    for change in reversed(changes):
        at, removed = change["at"], change["removed"]
        assert isinstance(at, int)
        assert isinstance(removed, list)
        assert made[at : at + len(removed)] == removed
        made[at : at + len(removed)] = change["added"]  # type: ignore[call-overload]
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog, a cat.", ["A", "dog", ",", "a", "cat", "."]),
        ("dog,cat", ["dog", ",", "cat"]),
        ("the man's t-shirt", ["the", "man's", "t-shirt"]),
        ("the dogs’ bowl", ["the", "dogs", "’", "bowl"]),
        ("at 12:30, $1,000.50!", ["at", "12:30", ",", "$1,000.50", "!"]),
        ("“stop” (red) …", ["“", "stop", "”", "(", "red", ")", "…"]),
        (" \n a\u00a0b\t", ["a", "b"]),
        ("", []),
    ],
)
def test_words_and_marks_are_tokens_of_their_own(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_moved_word_is_taken_from_one_place_and_put_in_another() -> None:
    assert edit(ORANGE, RIGHT) == [
        {"at": 1, "removed": [], "added": ["orange"]},
        {"at": 7, "removed": ["orange"], "added": []},
    ]
    assert size(ORANGE, RIGHT) == 2


def test_a_word_in_the_place_of_another_is_one_word() -> None:
    assert size("a red bus", "a blue bus") == 1
    assert size("a red bus", "a dark blue bus") == 2
    assert size("a very big red bus", "a blue bus") == 3


def test_the_case_of_letters_is_kept() -> None:
    assert edit("a Red bus", "a red bus") == [{"at": 1, "removed": ["Red"], "added": ["red"]}]


def test_punctuation_is_a_change_but_no_word() -> None:
    assert edit("a bus and a car", "a bus, and a car.") == [
        {"at": 2, "removed": [], "added": [","]},
        {"at": 5, "removed": [], "added": ["."]},
    ]
    assert size("a bus and a car", "a bus, and a car.") == 0
    assert words("a bus, and a car.") == 5


def test_the_width_of_spaces_is_no_change() -> None:
    assert edit("a  bus .", " a\nbus. ") == []
    assert plain(" a\n bus\u2003 ") == "a bus"


def test_pieces_say_what_stands_in_whose_place() -> None:
    assert pieces("A red bus.", "A big blue bus!") == [
        ("kept", "A", False),
        ("removed", "red", True),
        ("added", "big blue", True),
        ("kept", "bus", True),
        ("removed", ".", False),
        ("added", "!", False),
    ]
    assert pieces("", "a bus") == [("added", "a bus", False)]
    assert pieces("a bus", "a bus") == [("kept", "a bus", False)]


@given(before=texts, after=texts)
def test_the_changes_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    assert applied(before, edit(before, after)) == split(after)


@given(before=texts, after=texts)
def test_no_more_is_changed_than_must_be(before: str, after: str) -> None:
    one, two = split(before), split(after)
    changed = sum(len(each["removed"]) + len(each["added"]) for each in edit(before, after))
    assert changed == len(one) + len(two) - 2 * longest_common(one, two)


def longest_common(one: list[str], two: list[str]) -> int:
    """Forwards and by rows, as the code under test is not."""
    row = [0] * (len(two) + 1)
    for word in one:
        above = row
        row = [0]
        for place, other in enumerate(two, 1):
            row.append(above[place - 1] + 1 if word == other else max(above[place], row[-1]))
    return row[-1]


@given(before=texts, after=texts)
def test_pieces_without_what_was_removed_are_the_text_after(before: str, after: str) -> None:
    after = plain(after)
    shown = [piece for piece in pieces(before, after) if piece.kind != "removed"]
    written = "".join([f" {text}" if spaced else text for _, text, spaced in shown])
    assert written.lstrip(" ") == after
