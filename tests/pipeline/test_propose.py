import pytest

from hits.models import Candidate, Corpus, Image, Proposal, Unit
from hits.pipeline import propose
from hits.pipeline.open import create_study, open_study
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=6, captions_each=3)


def originals(
    corpus: Corpus, direction: str = "i2t", depth: int = 25, queries: int | None = None
) -> Proposal:
    return propose.keep_originals(
        corpus=corpus,
        direction=direction,
        split="test",
        depth=depth,
        query_sample=queries,
        seed=3,
    )


def lines(proposal: Proposal) -> list[tuple[int, int, int]]:
    found = Candidate.objects.filter(proposal=proposal).order_by("query_id", "rank")
    return list(found.values_list("query_id", "target_id", "rank"))


def test_an_image_is_proposed_with_its_own_captions_in_their_order(corpus: Corpus) -> None:
    proposal = originals(corpus)
    assert proposal.queries == 6
    assert lines(proposal) == [
        (image.pk, caption.pk, rank)
        for image in corpus.images.order_by("pk")
        for rank, caption in enumerate(image.captions.order_by("pk"), start=1)
    ]


def test_a_caption_is_proposed_with_its_own_image(corpus: Corpus) -> None:
    proposal = originals(corpus, "t2i")
    assert proposal.queries == 18
    assert lines(proposal) == [
        (caption.pk, caption.image_id, 1) for caption in corpus.captions.order_by("pk")
    ]


def test_no_more_of_an_images_captions_are_proposed_than_asked_for(corpus: Corpus) -> None:
    assert [rank for _, _, rank in lines(originals(corpus, depth=2))] == [1, 2] * 6


def test_a_sample_of_queries_comes_with_all_of_their_pairs(corpus: Corpus) -> None:
    proposal = originals(corpus, queries=2)
    assert proposal.queries == 2
    assert [rank for _, _, rank in lines(proposal)] == [1, 2, 3] * 2


def test_other_splits_and_corpora_are_left_out(corpus: Corpus) -> None:
    making.corpus(images=2)
    first = corpus.images.order_by("pk")[0]
    Image.objects.filter(pk=first.pk).update(split="train")
    assert first.pk not in {query for query, _, _ in lines(originals(corpus))}
    assert originals(corpus).queries == 5


def test_the_same_originals_are_kept_once(corpus: Corpus) -> None:
    assert originals(corpus) == originals(corpus)
    assert Candidate.objects.count() == 18


def test_originals_become_units_that_remember_where_they_come_from(corpus: Corpus) -> None:
    study = create_study(
        slug="own-pairs", name="A study", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    proposal = originals(corpus)
    study.proposals.add(proposal)
    assert open_study(study=study)["candidate"] == 18
    unit = Unit.objects.filter(study=study, pool="candidate").order_by("pk")[0]
    assert [source.proposal_id for source in unit.sources.all()] == [proposal.pk]
