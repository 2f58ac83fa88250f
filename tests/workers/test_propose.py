from typing import Any

import pytest

from hits.models import Candidate, Corpus, Image, Job, Proposal
from hits.models.machines import Direction
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Cancelled
from hits.pipeline.propose import LEARNED, ask, usual_directions
from tests import making
from workers.encoders import KINDS
from workers.propose import propose_candidates

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=6, captions_each=3)


def proposed(corpus: Corpus, machine: str, direction: str, **values: Any) -> Proposal:
    given = {"split": "test", "train_split": "test", "depth": 25, "query_sample": None, "seed": 0}
    (proposal,) = propose_candidates(
        corpus=corpus, kind=machine, directions=[direction], **{**given, **values}
    )
    return proposal


def lists(proposal: Proposal) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for candidate in Candidate.objects.filter(proposal=proposal).order_by("query_id", "rank"):
        found.setdefault(candidate.query_id, []).append(candidate.target_id)
    return found


def ids(corpus: Corpus, kind: str) -> list[int]:
    items = corpus.images if kind == "i" else corpus.captions
    return list(items.order_by("pk").values_list("pk", flat=True))


WAYS = [(machine, way) for machine, kind in LEARNED.items() for way in kind.directions]


@pytest.mark.parametrize(("machine", "direction"), WAYS)
def test_every_query_ranks_every_target_but_itself(
    corpus: Corpus, machine: str, direction: str
) -> None:
    queries, targets = ids(corpus, direction[0]), ids(corpus, direction[-1])
    found = lists(proposed(corpus, machine, direction))
    assert sorted(found) == queries
    is_within = direction[0] == direction[-1]
    for query, ranked in found.items():
        assert sorted(ranked) == [each for each in targets if not is_within or each != query]


@pytest.mark.parametrize("machine", sorted(LEARNED))
def test_no_more_neighbours_are_kept_than_asked_for(corpus: Corpus, machine: str) -> None:
    found = lists(proposed(corpus, machine, "i2i", depth=2))
    assert {len(ranked) for ranked in found.values()} == {2}


def test_equal_neighbours_come_in_the_order_of_their_ids(corpus: Corpus) -> None:
    a, b, c, d, e, f = ids(corpus, "i")
    corpus.captions.update(text="A red ball.")
    corpus.captions.filter(image__in=[b, e]).update(text="A green tree.")
    found = lists(proposed(corpus, "caption_mean", "i2i"))
    assert found[a] == [c, d, f, b, e]
    assert found[f] == [a, c, d, b, e]
    assert found[e] == [b, a, c, d, f]


def test_an_image_is_nearest_to_the_one_that_is_described_in_the_same_words(
    corpus: Corpus,
) -> None:
    words = ["red ball", "blue ball", "green tree", "green tree", "blue ball", "red ball"]
    for image, subject in zip(corpus.images.order_by("pk"), words, strict=True):
        image.captions.update(text=f"A {subject} on the grass.")
    a, b, c, d, e, f = ids(corpus, "i")
    found = lists(proposed(corpus, "caption_mean", "i2i", depth=1))
    assert found == {a: [f], b: [e], c: [d], d: [c], e: [b], f: [a]}


def test_an_image_without_captions_has_no_words_to_be_known_by(corpus: Corpus) -> None:
    silent = corpus.images.order_by("pk")[0]
    silent.captions.all().delete()
    found = lists(proposed(corpus, "caption_mean", "i2i"))
    assert silent.pk not in {*found, *(target for ranked in found.values() for target in ranked)}


def test_a_machine_that_knows_images_by_their_captions_does_not_rank_captions(
    corpus: Corpus,
) -> None:
    with pytest.raises(Refused, match="image to image and caption to caption only"):
        proposed(corpus, "caption_mean", "i2t")
    with pytest.raises(Refused, match="There is no machine 'smell'"):
        proposed(corpus, "smell", "i2t")


def test_other_splits_and_corpora_are_left_out(corpus: Corpus) -> None:
    making.corpus(images=2)
    first, *others = ids(corpus, "i")
    Image.objects.filter(pk=first).update(split="train")
    found = lists(proposed(corpus, "palette", "i2i", train_split="test"))
    assert sorted(found) == others
    assert first not in {target for ranked in found.values() for target in ranked}


def test_a_machine_learns_from_a_split_of_any_name(corpus: Corpus) -> None:
    corpus.images.update(split="../val/2014")
    (proposal,) = {
        proposed(corpus, "palette", "i2i", split="../val/2014", train_split="../val/2014")
        for _ in range(2)
    }
    assert proposal.queries == 6


def test_the_same_proposal_is_kept_once(corpus: Corpus) -> None:
    assert proposed(corpus, "palette", "i2i") == proposed(corpus, "palette", "i2i")
    assert Candidate.objects.count() == 6 * 5


def test_a_split_that_has_grown_is_ranked_anew(corpus: Corpus) -> None:
    late, *learned_from = ids(corpus, "i")[:4]
    Image.objects.filter(pk__in=learned_from).update(split="train")
    Image.objects.filter(pk=late).update(split="later")
    before = proposed(corpus, "tfidf", "i2i", train_split="train")
    Image.objects.filter(pk=late).update(split="test")
    after = proposed(corpus, "tfidf", "i2i", train_split="train")
    assert before.machine == after.machine
    assert (before.queries, after.queries) == (2, 3)
    assert late in lists(after)
    assert proposed(corpus, "tfidf", "i2i", train_split="train") == after


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"depth": 0}, "From 1 to 1,000 candidates"),
        ({"query_sample": 0}, "A sample has from 1"),
        ({"query_sample": 10**12}, "A sample has from 1"),
        ({"seed": -1}, "A seed is a number from 0"),
    ],
)
def test_numbers_that_make_no_lists_are_refused_before_a_job_is_made(
    corpus: Corpus, wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        ask(corpus=corpus, machine="palette", directions=["t2i"], by=corpus.owner, **wrong)
    assert not Job.objects.exists()


def test_pages_and_scripts_are_offered_the_machines_that_workers_have() -> None:
    assert set(LEARNED) == set(KINDS)
    for machine, kind in LEARNED.items():
        assert set(usual_directions(machine)) <= set(kind.directions) <= set(Direction.values)


def test_a_cancel_while_lists_are_stored_is_a_cancel_and_leaves_nothing(corpus: Corpus) -> None:
    def say(done: int, total: int | None = None, message: str = "") -> None:
        if "ranking" in message:
            raise Cancelled

    with pytest.raises(Cancelled):
        proposed(corpus, "palette", "i2t", progress=say)
    assert not Proposal.objects.exists()


def test_who_waits_for_the_first_batch_is_told_that_it_is_being_encoded(corpus: Corpus) -> None:
    said: list[str] = []

    def say(done: int, total: int | None = None, message: str = "") -> None:
        said.append(message)

    proposed(corpus, "palette", "i2t", progress=say)
    assert said.index("Palette: the first images") < said.index("Palette: encoding images")
    said.clear()
    proposed(corpus, "palette", "i2t", depth=3, progress=say)
    assert "Palette: the first images" not in said
