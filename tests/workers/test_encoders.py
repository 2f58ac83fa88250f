import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from hits.demo.drawing import draw
from hits.demo.scenes import scene
from hits.demo.wording import CAPTIONS_A_SCENE, captions
from hits.sampling.neighbours import described
from workers.encoders import (
    KINDS,
    BadMachineFile,
    Encoder,
    Learner,
    UnknownMachine,
    Vectors,
    create,
    load,
    save,
)
from workers.encoders.caption_mean import CaptionMean
from workers.encoders.common_space import canonical_ridge, words_of
from workers.exact import top_k

TRAINING, TEST = range(300), range(300, 450)

every_kind = pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"tfidf"}))


@dataclass(frozen=True)
class Pictures:
    images: list[Image.Image]
    captions: list[list[str]]


@cache
def pictures(numbers: range) -> Pictures:
    scenes = [scene(11, number) for number in numbers]
    return Pictures(
        [draw(each, size=(160, 120)) for each in scenes],
        [[caption.text for caption in captions(each)] for each in scenes],
    )


def fit(kind: str) -> Learner:
    encoder = create(kind, f"{kind} of the tests")
    training = pictures(TRAINING)
    encoder.fit(iter(training.images), iter(training.captions))
    return encoder


fitted = cache(fit)


def image_vectors(encoder: Encoder) -> Vectors:
    return encoder.encode_images(pictures(TEST).images)


def caption_vectors(encoder: Encoder) -> Vectors:
    return encoder.encode_captions([text for texts in pictures(TEST).captions for text in texts])


def found_images(kind: str, k: int) -> NDArray[np.int64]:
    encoder = fitted(kind)
    return top_k(caption_vectors(encoder), image_vectors(encoder), k)[0]


def own_image() -> NDArray[np.int64]:
    return np.repeat(np.arange(len(TEST)), CAPTIONS_A_SCENE)[:, None]


@every_kind
def test_images_and_captions_become_unit_vectors_of_one_space(kind: str) -> None:
    images, texts = image_vectors(fitted(kind)), caption_vectors(fitted(kind))

    assert images.dtype == texts.dtype == np.float32
    assert images.shape[0] == len(TEST)
    assert texts.shape == (len(TEST) * CAPTIONS_A_SCENE, images.shape[1])
    np.testing.assert_allclose(np.linalg.norm(images, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(texts, axis=1), 1, atol=1e-6)


@every_kind
def test_a_loaded_machine_gives_the_same_vectors(kind: str, tmp_path: Path) -> None:
    encoder = fitted(kind)
    checksum = save(encoder, tmp_path / "machine.npz")

    loaded = load(tmp_path / "machine.npz", checksum)

    assert image_vectors(loaded).tobytes() == image_vectors(encoder).tobytes()
    assert caption_vectors(loaded).tobytes() == caption_vectors(encoder).tobytes()
    assert (loaded.kind, loaded.name, loaded.settings) == (kind, encoder.name, encoder.settings)


@every_kind
def test_the_same_training_gives_the_same_file(kind: str, tmp_path: Path) -> None:
    first = save(fitted(kind), tmp_path / "first.npz")
    second = save(fit(kind), tmp_path / "second.npz")
    again = save(load(tmp_path / "first.npz"), tmp_path / "again.npz")

    assert first == second == again
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again.npz",
        "first.npz",
        "second.npz",
    ]


@every_kind
def test_a_vector_does_not_depend_on_its_batch(kind: str) -> None:
    encoder = fitted(kind)
    images, texts = pictures(TEST).images[:20], pictures(TEST).captions[0]

    alone = np.concatenate([encoder.encode_images([image]) for image in images])
    np.testing.assert_allclose(alone, encoder.encode_images(images), rtol=0, atol=1e-7)
    alone = np.concatenate([encoder.encode_captions([text]) for text in texts])
    np.testing.assert_allclose(alone, encoder.encode_captions(texts), rtol=0, atol=1e-7)
    assert len(encoder.encode_images([])) == len(encoder.encode_captions([])) == 0


@every_kind
def test_any_picture_and_any_text_has_a_vector(kind: str) -> None:
    encoder = fitted(kind)
    odd = [
        Image.new(mode, size)
        for mode in ("1", "L", "P", "RGBA", "CMYK")
        for size in ((1, 1), (9, 500))
    ]
    texts = ["", "🦆", "<b>zwölf</b>", "\x00", "nothing of this was ever seen"]

    for vectors in (encoder.encode_images(odd), encoder.encode_captions(texts)):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@every_kind
def test_retrieval_is_far_better_than_chance_and_not_perfect(kind: str) -> None:
    encoder = fitted(kind)
    found_captions = top_k(image_vectors(encoder), caption_vectors(encoder), 5)[0]
    own = np.arange(len(TEST))[:, None]

    captions_recall = (found_captions // CAPTIONS_A_SCENE == own).any(axis=1).mean()
    images_recall = (found_images(kind, 5) == own_image()).any(axis=1).mean()

    chance = 5 / len(TEST)
    assert 6 * chance < captions_recall < 0.95
    assert 6 * chance < images_recall < 0.95


def test_an_image_that_is_known_by_its_captions_is_the_mean_of_their_words() -> None:
    encoder = fitted("caption_mean")
    assert isinstance(encoder, CaptionMean)
    groups = [*pictures(TEST).captions, ["nothing that it has ever read: 🦆"]]
    learned = encoder.learned()
    vectors = dict(zip(map(str, learned["phrases"]), learned["caption_weights"], strict=True))
    words = {
        number: [word for text in texts for word in words_of(text)]
        for number, texts in enumerate(groups)
    }

    means = described(words, vectors)

    found = encoder.encode_described(groups)
    expected = means.vectors / np.linalg.norm(means.vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(found[means.images], expected, rtol=0, atol=1e-6)
    assert means.without == [len(TEST)]
    assert not found[-1].any()


def test_each_machine_finds_images_that_the_other_misses() -> None:
    palette, layout = found_images("palette", 5), found_images("layout", 5)
    by_palette = (palette == own_image()).any(axis=1)
    by_layout = (layout == own_image()).any(axis=1)

    shared = np.mean([len(set(p) & set(q)) for p, q in zip(palette, layout, strict=True)])

    assert shared < 4
    assert (by_palette & ~by_layout).mean() > 0.05
    assert (by_layout & ~by_palette).mean() > 0.05


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.npz"
    checksum = save(fitted("palette"), path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    with pytest.raises(BadMachineFile, match="not the file that was recorded"):
        load(path, checksum)


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.npz"
    header = {"kind": "palette", "version": "0", "name": "old", "settings": {}}
    np.savez(path, header=np.array(json.dumps(header)))

    with pytest.raises(BadMachineFile, match="version 0"):
        load(path)


def test_a_file_with_python_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.npz"
    np.savez(path, allow_pickle=True, header=np.array({"kind": "palette"}, dtype=object))

    with pytest.raises(BadMachineFile, match="allow_pickle=False"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"\x80\x04N.", b"{}"])
def test_a_file_that_is_no_machine_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "machine.npz"
    path.write_bytes(content)

    with pytest.raises(BadMachineFile, match=r"machine\.npz is not a machine's file"):
        load(path)


def test_an_unknown_kind_or_setting_is_named() -> None:
    with pytest.raises(UnknownMachine, match=r"'smell'\. There are palette, layout"):
        create("smell", "nose")
    with pytest.raises(ValueError, match="palette has no settings depth"):
        create("palette", "deep", {"depth": 3})


@pytest.mark.parametrize(
    ("texts", "message"),
    [([["a ball"]], "2 images do not match captions of 1"), ([[], []], "too few captions")],
)
def test_training_on_too_little_is_refused(texts: Sequence[Sequence[str]], message: str) -> None:
    images = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]

    with pytest.raises(ValueError, match=message):
        create("palette", "starved").fit(images, texts)


def test_canonical_directions_are_uncorrelated_and_ordered_by_correlation() -> None:
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((400, 3))
    left = np.hstack([shared, rng.standard_normal((400, 2))]) @ rng.standard_normal((5, 5))
    right = (shared + rng.standard_normal((400, 3)) * [0.1, 1, 3]) @ rng.standard_normal((3, 3))
    covariance = np.cov(np.hstack([left, right]).T)
    image, caption, cross = covariance[:5, :5], covariance[5:, 5:], covariance[:5, 5:]

    a, b = canonical_ridge(image, caption, cross, dimension=3, ridge=0.0, power=0.0)

    np.testing.assert_allclose(a.T @ image @ a, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(b.T @ caption @ b, np.eye(3), atol=1e-9)
    correlations = np.diag(a.T @ cross @ b)
    np.testing.assert_allclose(a.T @ cross @ b, np.diag(correlations), atol=1e-9)
    assert 1 > correlations[0] > 0.98 > correlations[1] > 0.6 > correlations[2] > 0


def test_power_scales_each_direction_by_its_correlation() -> None:
    one, cross = np.eye(2), np.diag([0.8, 0.5])

    a, b = canonical_ridge(one, one, cross, dimension=2, ridge=0.0, power=2.0)

    np.testing.assert_allclose(np.abs(a), np.diag([0.64, 0.25]), atol=1e-12)
    np.testing.assert_allclose(a, b, atol=1e-12)
