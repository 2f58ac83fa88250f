import random
import re
from collections import Counter
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from hits.demo.scenes import scene
from hits.demo.truth import Truth, is_true
from hits.demo.wording import captions


@given(st.integers(0, 2**32), st.integers(0, 99_999))
def test_a_scene_has_five_different_captions_and_all_are_true(seed: int, number: int) -> None:
    made = scene(seed, number)
    written = captions(made)
    assert len({caption.text for caption in written}) == len(written) == 5
    assert {is_true(made, caption.claim) for caption in written} == {Truth("yes")}


def test_captions_are_the_same_each_time() -> None:
    made = scene(4, 11)
    assert captions.__wrapped__(made) == captions.__wrapped__(made)


@given(st.integers(0, 2**32), st.integers(0, 99_999))
def test_captions_are_sentences_with_the_right_articles_and_plurals(seed: int, number: int) -> None:
    for caption in captions(scene(seed, number)):
        assert re.fullmatch(r"[A-Z][a-z, ]+[a-z]\.", caption.text), caption.text
        assert "  " not in caption.text
        assert " ," not in caption.text
        assert not re.search(r"\b[Aa] [aeiou]", caption.text), caption.text
        assert not re.search(r"\b[Aa]n [^aeiou]", caption.text), caption.text
        assert not re.search(r"\bis (two|three|four|several|some)\b", caption.text), caption.text
        assert not re.search(r"\bare an?\b", caption.text), caption.text


def test_captions_say_much_and_little() -> None:
    lengths = [len(c.text.split()) for number in range(300) for c in captions(scene(1, number))]
    assert min(lengths) <= 3
    assert max(lengths) >= 14


def test_most_random_pairs_are_a_no_and_all_choices_occur() -> None:
    rng = random.Random(8)
    scenes = [scene(2, number) for number in range(1000)]
    said = [caption.claim for made in scenes for caption in captions(made)]
    choices = [is_true(rng.choice(scenes), rng.choice(said)).choice for _ in range(5000)]
    share = {str(choice): number / len(choices) for choice, number in Counter(choices).items()}
    assert share["no"] > 0.6
    assert all(share[choice] > 0.004 for choice in ("yes", "partial_yes", "mostly_no"))


def test_a_caption_is_true_of_several_images_in_a_thousand() -> None:
    rng = random.Random(9)
    scenes = [scene(2, number) for number in range(1000)]
    sample = [rng.choice(captions(rng.choice(scenes))) for _ in range(60)]
    positives = [
        sum(is_true(made, caption.claim).choice == "yes" for made in scenes) for caption in sample
    ]
    assert 5 < mean(positives) < 40
