"""Models in a folder: found by the web, loaded by workers, recorded with what they are."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from django.conf import LazySettings
from django.db import connection
from PIL import Image
from safetensors.torch import load_file, save_file

from hits.models import Candidate, Corpus, Job, Machine
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from hits.pipeline.installed import installed
from hits.pipeline.propose import machines
from hits.pipeline.recipe import go_on
from hits.pipeline.runs import Run
from tests import making
from tests.workers import tiny_models
from workers.encoders import BadMachineFile, Encoder, PairScorer, Reader, checksum_of
from workers.encoders import open_installed as opened
from workers.encoders.word_vectors import WordVectors
from workers.propose import propose_candidates
from workers.work import WORK

TEXTS = ["a red ball", "the blue tree .", "", "a word it never read"]
PICTURES = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue", "green")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("models")
    tiny_models.clip(made / "clip-tiny@2021")
    tiny_models.vilt(made / "vilt-tiny")
    tiny_models.bert(made / "sentences")
    (made / "glove.txt").write_text("red 1 0\nblue 0 1\nball 1 1\n")
    (made / "notes.md").write_text("no machine")
    (made / "empty").mkdir()
    (made / "other").mkdir()
    (made / "other" / "config.json").write_text('{"model_type": "gpt_of_tomorrow"}')
    return made


@pytest.fixture
def models(folder: Path, settings: LazySettings) -> Path:
    settings.MODELS_DIR = folder
    return folder


def test_what_lies_in_the_folder_is_offered_by_its_kind(models: Path) -> None:
    found = installed()

    assert {name: (each.name, each.version, each.kind) for name, each in found.items()} == {
        "clip-tiny@2021": ("clip-tiny", "2021", "dual"),
        "glove.txt": ("glove.txt", "1", "words"),
        "sentences": ("sentences", "1", "sentence"),
        "vilt-tiny": ("vilt-tiny", "1", "pairs"),
    }
    assert set(found) < set(machines())


def test_clip_gives_unit_vectors_that_do_not_depend_on_their_batch(folder: Path) -> None:
    encoder = opened("dual", "clip", folder / "clip-tiny@2021")
    assert isinstance(encoder, Encoder)
    images, texts = encoder.encode_images(PICTURES), encoder.encode_captions(TEXTS)
    each_image = [encoder.encode_images([picture]) for picture in PICTURES]
    each_text = [encoder.encode_captions([text]) for text in TEXTS]
    for found, alone in ((images, each_image), (texts, each_text)):
        assert found.shape == (len(alone), 8)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(np.concatenate(alone), found, atol=1e-5)
        assert len({row.tobytes() for row in found}) == len(alone)


def test_sentences_are_the_mean_of_their_tokens_or_their_first(folder: Path) -> None:
    mean = opened("sentence", "mean", folder / "sentences")
    assert isinstance(mean, Reader)
    vectors = mean.encode_captions(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    described = mean.encode_described([TEXTS[:2], TEXTS[2:]])
    expected = vectors[:2].sum(axis=0)
    np.testing.assert_allclose(described[0], expected / np.linalg.norm(expected), atol=1e-6)
    (folder / "sentences" / "1_Pooling").mkdir()
    rule = folder / "sentences" / "1_Pooling" / "config.json"
    rule.write_text(json.dumps({"pooling_mode_cls_token": True}))

    first = opened("sentence", "first", folder / "sentences")

    rule.unlink()
    rule.parent.rmdir()
    assert first.settings["pooling"] == "first token"
    assert isinstance(first, Reader)
    assert not np.allclose(first.encode_captions(TEXTS), vectors, atol=1e-3)


def test_a_pair_has_one_score_whatever_it_is_scored_beside(folder: Path) -> None:
    scorer = opened("pairs", "vilt", folder / "vilt-tiny")
    assert isinstance(scorer, PairScorer)
    scores = scorer.score(PICTURES[0], TEXTS)
    assert scores.shape == (4,)
    alone = np.concatenate([scorer.score(PICTURES[0], [text]) for text in TEXTS])
    np.testing.assert_allclose(alone, scores, atol=1e-5)
    assert len(set(scorer.score(PICTURES[1], TEXTS)) | set(scores)) > 4
    assert not len(scorer.score(PICTURES[0], []))


def test_a_model_that_lacks_weights_or_words_is_refused(tmp_path: Path) -> None:
    """It would be loaded with random ones, and propose by chance."""
    pairs = tiny_models.vilt(tmp_path / "vilt")
    weights = pairs / "model.safetensors"
    whole = weights.read_bytes()
    save_file(
        {name: w for name, w in load_file(weights).items() if "rank_output" not in name}, weights
    )
    with pytest.raises(BadMachineFile, match=r"it lacks rank_output\.bias and 1 other weight\."):
        opened("pairs", "vilt", pairs)
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadMachineFile, match="vilt cannot be loaded"):
        opened("pairs", "vilt", pairs)
    weights.write_bytes(whole)
    opened("pairs", "vilt", pairs)
    for file in pairs.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(BadMachineFile, match="no files of a tokenizer"):
        opened("pairs", "vilt", pairs)


def test_weights_that_would_have_to_be_unpickled_are_refused(tmp_path: Path) -> None:
    model = tiny_models.bert(tmp_path / "bert")
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(BadMachineFile, match="bert cannot be loaded"):
        opened("sentence", "bert", model)


TEXT = b"3 2\nred 1 0\nBlue 0 1\nof glass 2 2\n"
BINARY = (
    b"2 2\nred "
    + np.array([1, 0], "<f4").tobytes()
    + b"\nblue "
    + np.array([0, 1], "<f4").tobytes()
)


@pytest.mark.parametrize(
    ("name", "content"), [("fast.vec", TEXT), ("glove.txt", TEXT[4:]), ("word2vec.bin", BINARY)]
)
def test_words_of_each_format_have_their_vectors(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    found = WordVectors("words", tmp_path / name).encode_captions(["Red!", "blue", "red blue", "x"])
    half = 0.5**0.5
    np.testing.assert_allclose(found, [[1, 0], [0, 1], [half, half], [0, 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.txt", b"red 1 0\nblue 1\n", "line 2 has 1 numbers of 2"),
        ("a.txt", b"red 1 nan\n", "not finite"),
        ("a.txt", b"", "need at least one array"),
        ("a.bin", BINARY[:-3], "it ends at word 2 of 2"),
        ("a.bin", (793712314).to_bytes(4, "little") + b"....", "take its .vec file"),
    ],
)
def test_what_is_no_file_of_words_is_refused(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadMachineFile, match=why):
        WordVectors("words", tmp_path / name)


def test_a_folder_s_checksum_is_of_all_its_files_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    before = checksum_of(tmp_path)
    (tmp_path / "b").rename(tmp_path / "c")
    assert checksum_of(tmp_path) != before
    (tmp_path / "c").rename(tmp_path / "b")
    assert checksum_of(tmp_path) == before


def proposed(corpus: Corpus, machine: str, *directions: str, **given: object) -> list[int]:
    values = {"split": "test", "train_split": "", "depth": 4, "query_sample": None, "seed": 0}
    found = propose_candidates(
        corpus=corpus,
        kind=machine,
        directions=list(directions),
        **{**values, **given},  # type: ignore[arg-type]
    )
    return [proposal.pk for proposal in found]


@pytest.mark.django_db
def test_a_model_whose_weights_are_no_numbers_proposes_nothing(
    tmp_path: Path, settings: LazySettings
) -> None:
    settings.MODELS_DIR = tmp_path
    corpus = making.corpus(images=3)
    pool = making.proposals(corpus, machines=1, depth=3)
    for model in (tiny_models.clip(tmp_path / "clip"), tiny_models.vilt(tmp_path / "vilt")):
        weights = load_file(model / "model.safetensors")
        broken = {name: weight * float("nan") for name, weight in weights.items()}
        save_file(broken, model / "model.safetensors")
    with pytest.raises(Refused, match="numbers that are not finite"):
        proposed(corpus, "clip", "t2i")
    with pytest.raises(Refused, match="numbers that are not finite"):
        proposed(corpus, "vilt", "i2t", pool=pool)


@pytest.mark.django_db
def test_installed_models_propose_and_a_pair_scorer_orders_what_they_proposed(
    models: Path,
) -> None:
    corpus = making.corpus(images=6, captions_each=2)
    pool = proposed(corpus, "clip-tiny@2021", "i2t", "t2i")
    proposed(corpus, "sentences", "i2i", "t2t")
    proposed(corpus, "glove.txt", "t2t")
    with pytest.raises(Refused, match="name proposals for it to order"):
        proposed(corpus, "vilt-tiny", "i2t")
    with pytest.raises(Refused, match="must be finished ones"):
        proposed(corpus, "vilt-tiny", "t2i", pool=pool)

    (ordered,) = proposed(corpus, "vilt-tiny", "i2t", pool=pool[:1])

    assert proposed(corpus, "vilt-tiny", "i2t", pool=pool[:1]) == [ordered]
    given = Candidate.objects.filter(proposal=pool[0])
    new = Candidate.objects.filter(proposal=ordered)
    pairs = ("query_id", "target_id")
    assert set(new.values_list(*pairs)) == set(given.values_list(*pairs))
    assert list(new.order_by("query_id", "rank").values_list("target_id", flat=True)) != list(
        given.order_by("query_id", "rank").values_list("target_id", flat=True)
    )
    for query in corpus.images.all():
        scores = list(
            new.filter(query_id=query.pk).order_by("rank").values_list("score", flat=True)
        )
        assert scores == sorted(scores, reverse=True)
    recorded = Machine.objects.get(name="vilt-tiny")
    assert (recorded.kind, recorded.version) == ("pairs", "1")
    assert recorded.checksum == checksum_of(models / "vilt-tiny")
    assert recorded.settings == {"model": "vilt", "longest_text": 16}


@pytest.mark.django_db(transaction=True)
def test_a_recipe_waits_for_the_worker_that_large_models_have(
    models: Path, settings: LazySettings
) -> None:
    settings.MODELS_QUEUE = "gpu"
    corpus = making.corpus(images=6, captions_each=2)
    run = Run.of(recipe="eccv", corpus=corpus, by=corpus.owner, machines=["clip-tiny@2021"])
    with ThreadPoolExecutor(1) as elsewhere:
        done_there = elsewhere.submit(work_on_the_queue, "gpu")
        waiting = go_on(run)
    assert done_there.result().kind == "propose"
    assert waiting is not None
    assert waiting.study is not None
    assert waiting.study.proposals.count() == 1


def work_on_the_queue(name: str, seconds: float = 20) -> Job:
    """As a worker does that listens there alone."""
    try:
        deadline = time.monotonic() + seconds
        while not (waiting := Job.objects.filter(queue=name, state="queued").first()):
            assert time.monotonic() < deadline, f"Nothing came to the queue {name}."
            time.sleep(0.05)
        jobs.run(waiting.pk, WORK)
        return waiting
    finally:
        connection.close()
