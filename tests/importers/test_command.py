from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hits.models import Corpus
from tests import making
from tests.importers.files import two_images, write

pytestmark = pytest.mark.django_db


def output(*arguments: str) -> str:
    out = StringIO()
    call_command("import_corpus", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_makes_the_corpus_and_tells_counts_time_and_memory(tmp_path: Path) -> None:
    owner = making.user("owner")
    source = str(write(tmp_path / "captions.json", two_images()))
    new = ["--name", "Kitchens", "--owner", owner.email]
    first = output("--corpus", "kitchens", *new, "--report", str(tmp_path / "r"), source)
    second = output("--corpus", "kitchens", "--report", str(tmp_path / "r"), source)
    assert Corpus.objects.get().owner == owner
    assert "Nothing changed." not in first
    assert "Nothing changed." in second
    for text in (first, second):
        assert " s, peak memory " in text


def test_the_command_tells_what_was_refused_and_where_to_read_why(
    corpus: Corpus, tmp_path: Path
) -> None:
    source = str(write(tmp_path / "rows.jsonl", "no\nno\n"))
    told = output("--corpus", corpus.slug, "--report", str(tmp_path / "r.jsonl"), source)
    assert "refused: 2 × not-json" in told
    assert str(tmp_path / "r.jsonl") in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--corpus", "new"], "give --name and --owner"),
        (["--corpus", "new", "--name", "N", "--owner", "nobody@example.org"], "Nobody has"),
    ],
)
def test_the_command_says_what_it_misses(arguments: list[str], words: str, tmp_path: Path) -> None:
    source = str(write(tmp_path / "captions.json", two_images()))
    with pytest.raises(CommandError, match=words):
        output(*arguments, source)
