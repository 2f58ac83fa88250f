import json
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from hits.analysis.alterations import Kind, NoWordNet, WordNet, altered, share_changed
from hits.analysis.errors import DegenerateInput

NOUNS = [
    "05 n 02 dog 0 domestic_dog 0 001 @ {canine} n 0000 | barks",
    "05 n 01 canine 0 000 | a kind of animal",
    "05 n 01 stone 0 000 | it lies there",
]
VERBS = [
    "29 v 02 run 0 race 0 001 @ {move} v 0000 01 + 02 00 | fast",
    "29 v 01 move 0 000 | go",
    "29 v 02 rid 0 free 0 000 | of something",
    "29 v 02 ride 0 drive 0 000 | a bike",
    "29 v 02 sing 0 chant 0 000 | a song",
    "29 v 02 singe 0 scorch 0 000 | by fire",
]
HEADER = "  1 As WordNet's files begin.\n"


def write(folder: Path, part: str, lines: list[str]) -> None:
    """Synsets are found by the place at which they begin."""
    numbered = [f"{'0' * 8} {line}" for line in lines]
    places, at = {}, len(HEADER)
    for line in numbered:
        places[line.split()[4]] = at
        width = len(line) if "{" not in line else len(line.format(canine="0" * 8, move="0" * 8))
        at += width + 1
    named = {name: f"{place:08d}" for name, place in places.items()}
    body = "".join(line.format(**named) + "\n" for line in numbered)
    (folder / f"data.{part}").write_text(HEADER + body)
    index = "".join(f"{name} {part[0]} 1 0 1 1 {place}  \n" for name, place in named.items())
    (folder / f"index.{part}").write_text(HEADER + index)


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    write(tmp_path, "noun", NOUNS)
    write(tmp_path, "verb", VERBS)
    return WordNet(tmp_path)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("A dog is running.", "negation", "a dog is not running"),
        ("A dog running on grass", "negation", "a dog not running on grass"),
        ("A red stone", "negation", None),
        ("A dog", "reversal", "dog a"),
        ("A café in Köln", "reversal", "köln in café a"),
        ("Dog", "reversal", None),
        ("Two dogs", "synonym", "two domestic dog"),
        ("Two dogs", "hypernym", "two canine"),
        ("The man is running", "hypernym", "the man is move"),
        ("He is riding", "synonym", "he is drive"),
        ("He is singing", "synonym", "he is chant"),
        ("A stone", "hypernym", None),
    ],
)
def test_a_query_is_altered_or_left_out(
    text: str, kind: Kind, expected: str | None, wordnet: WordNet
) -> None:
    assert altered(text, kind, Random(1), wordnet) == expected


def test_a_permutation_has_the_same_words() -> None:
    words = "a man in a red hat holds one small cup"
    found = altered(words, "permutation", Random(2))
    assert found is not None
    assert found != words
    assert sorted(found.split()) == sorted(words.split())


def test_without_wordnet_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NoWordNet, match="wordnet-base"):
        WordNet(tmp_path / "nowhere")
    with pytest.raises(NoWordNet):
        altered("A dog", "synonym", Random(1))


def test_the_share_of_predictions_that_changed() -> None:
    assert share_changed({"1": "a", "2": "b", "3": "c"}, {"1": "a", "2": "x", "9": "y"}) == (0.5, 2)
    with pytest.raises(DegenerateInput, match="no query in common"):
        share_changed({"1": "a"}, {"2": "a"})


def test_files_are_altered_and_compared_by_command(tmp_path: Path, settings: LazySettings) -> None:
    settings.WORDNET_DIR = tmp_path / "nowhere"
    data = [{"bison_id": 1, "caption": "A dog is running"}, {"bison_id": 2, "caption": "A stone"}]
    given, out = tmp_path / "bison.json", tmp_path / "out.json"
    given.write_text(json.dumps({"info": {"source": "x", "split": "val"}, "data": data}))
    said = StringIO()
    call_command("alter_queries", "alter", str(given), "negation", str(out), stdout=said)
    assert "1 of 2 queries altered" in said.getvalue()
    assert json.loads(out.read_text()) == {
        "info": {"source": "x", "split": "val", "alteration": "negation", "seed": 0},
        "data": [{"bison_id": 1, "caption": "a dog is not running"}],
    }
    with pytest.raises(CommandError, match="wordnet-base"):
        call_command("alter_queries", "alter", str(given), "synonym", str(out))
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    rows = [{"bison_id": number, "predicted_image_id": 7} for number in (1, 2)]
    before.write_text(json.dumps(rows))
    after.write_text(json.dumps([{**rows[0], "predicted_image_id": 8}, rows[1]]))
    call_command("alter_queries", "compare", str(before), str(after), stdout=said)
    assert "50.0% of 2 predictions changed." in said.getvalue()
    after.write_text(json.dumps([{"bison_id": 2, "scores": {"7": 0.1, "8": 0.3}}]))
    call_command("alter_queries", "compare", str(before), str(after), stdout=said)
    assert "100.0% of 1 predictions changed." in said.getvalue()
    with pytest.raises(CommandError, match=r"nowhere\.json: No such file"):
        call_command("alter_queries", "compare", str(tmp_path / "nowhere.json"), str(after))
