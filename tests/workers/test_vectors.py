import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import numpy as np
import pytest
from django.conf import settings

from hits.models import Corpus
from tests import making
from tests.workers.waves import ITEMS, LONG, encoded
from workers import vectors
from workers.encoders import Vectors
from workers.propose import propose_candidates
from workers.vectors import BATCH, computed


def nothing(_done: int) -> None:
    return


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "some" / "v.f32"
    first = computed(path, ITEMS, encoded, nothing)
    np.testing.assert_array_equal(first, encoded(0, ITEMS))

    def never(_start: int, _stop: int) -> Vectors:
        pytest.fail("computed again")

    np.testing.assert_array_equal(computed(path, ITEMS, never, nothing), first)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("torn", [0, 1, 4 * LONG, 4 * LONG * 5 + 2])
def test_work_goes_on_behind_the_last_whole_batch(tmp_path: Path, torn: int) -> None:
    path, partial = tmp_path / "v.f32", tmp_path / "v.partial"

    def stop_in_the_middle(done: int) -> None:
        if done == 4 * BATCH:
            raise Stopped

    with pytest.raises(Stopped):
        computed(path, ITEMS, encoded, stop_in_the_middle)
    with partial.open("ab") as file:
        file.write(b"x" * torn)
    asked: list[int] = []

    def counted(start: int, stop: int) -> Vectors:
        asked.append(start)
        return encoded(start, stop)

    computed(path, ITEMS, counted, nothing)

    assert asked == [0, *range(4 * BATCH, ITEMS, BATCH)]
    assert path.read_bytes() == encoded(0, ITEMS).tobytes()
    assert not partial.exists()


def test_a_beginning_that_another_program_left_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "v.partial").write_bytes(b"x" * 4 * LONG * BATCH * 3)
    computed(tmp_path / "v.f32", ITEMS, encoded, nothing)
    assert (tmp_path / "v.f32").read_bytes() == encoded(0, ITEMS).tobytes()


def test_two_who_need_the_same_compute_it_once(tmp_path: Path) -> None:
    asked: list[int] = []

    def counted(start: int, stop: int) -> Vectors:
        asked.append(start)
        return encoded(start, stop)

    with ThreadPoolExecutor(4) as pool:
        found = pool.map(
            lambda _: computed(tmp_path / "v.f32", ITEMS, counted, nothing).tobytes(), range(4)
        )
        assert set(found) == {encoded(0, ITEMS).tobytes()}
    assert asked == list(range(0, ITEMS, BATCH))


def test_a_process_killed_again_and_again_leaves_the_bytes_of_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    path, random = tmp_path / "v.f32", Random(3)
    command = [sys.executable, "-m", "tests.workers.waves", str(path)]
    kills = 0
    while not path.exists():
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(random.randint(3, 5))]
            assert told[0], "it does not start"
            if process.poll() is None:
                process.kill()
                kills += 1
    assert kills
    assert path.read_bytes() == encoded(0, ITEMS).tobytes()


@pytest.mark.django_db
def test_another_caption_or_machine_has_other_vectors() -> None:
    corpus = making.corpus(images=6, captions_each=3)

    def files(kind: str) -> set[str]:
        propose_candidates(
            corpus=corpus,
            kind=kind,
            directions=["i2t"],
            split="test",
            train_split="test",
            depth=5,
            query_sample=None,
            seed=len(made),
        )
        return {each.name for each in folder_of(corpus).iterdir()}

    made: set[str] = set()
    made = files("palette")
    assert len(made) == 2
    assert files("palette") == made
    assert len(files("layout")) == 4
    corpus.captions.filter(pk=corpus.captions.order_by("pk")[0].pk).update(text="Another text.")
    assert len(files("palette")) > 4


def folder_of(corpus: Corpus) -> Path:
    return Path(settings.DATA_DIR) / "vectors" / corpus.slug


def test_items_are_told_apart_by_what_they_are_not_by_how_they_join() -> None:
    assert vectors.name_of(["a", "bc"]) != vectors.name_of(["ab", "c"])
