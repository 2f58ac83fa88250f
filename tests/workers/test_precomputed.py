import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from hits.models import Candidate, Corpus, Job, Machine, Proposal
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from tests import making
from workers.precomputed import propose_file
from workers.propose import propose_candidates

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=6, captions_each=3)


def outside_ids(corpus: Corpus, kind: str) -> list[str]:
    items = corpus.images if kind == "i" else corpus.captions
    return list(items.order_by("pk").values_list("external_id", flat=True))


def vectors_file(corpus: Corpus, path: Path, seed: int = 1, **changed: Any) -> Path:
    rng = np.random.default_rng(seed)
    images, captions = outside_ids(corpus, "i"), outside_ids(corpus, "t")
    arrays = {
        "image_ids": np.array(images),
        "image_vectors": rng.standard_normal((len(images), 8)).astype(np.float32) * 5,
        "caption_ids": np.array(captions),
        "caption_vectors": rng.standard_normal((len(captions), 8)).astype(np.float32) * 3,
    }
    np.savez(path, allow_pickle=False, **{**arrays, **changed})
    return path


def kept(corpus: Corpus, path: Path, *directions: str, **given: Any) -> list[Proposal]:
    values = {"called": path.name, "name": "elsewhere", "version": "1", "split": "test"} | given
    return propose_file(corpus=corpus, path=path, directions=list(directions), **values)


def lists(proposal: Proposal) -> dict[str, list[tuple[str, float]]]:
    ends = (proposal.direction[0], proposal.direction[-1])
    images = dict(proposal.corpus.images.values_list("pk", "external_id"))
    captions = dict(proposal.corpus.captions.values_list("pk", "external_id"))
    queries, targets = (images if end == "i" else captions for end in ends)
    found: dict[str, list[tuple[str, float]]] = {}
    for each in Candidate.objects.filter(proposal=proposal).order_by("query_id", "rank"):
        found.setdefault(queries[each.query_id], []).append((targets[each.target_id], each.score))
    return found


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_vectors_rank_all_targets_by_their_similarity(
    corpus: Corpus, tmp_path: Path, direction: str, similarity: str
) -> None:
    path = vectors_file(corpus, tmp_path / "v.npz")
    (proposal,) = kept(corpus, path, direction, similarity=similarity)
    with np.load(path) as arrays:
        images, captions = arrays["image_vectors"], arrays["caption_vectors"]
    if similarity == "cosine":
        images = images / np.linalg.norm(images, axis=1, keepdims=True)
        captions = captions / np.linalg.norm(captions, axis=1, keepdims=True)
    scores = images @ captions.T if direction == "i2t" else captions @ images.T
    queries, targets = outside_ids(corpus, direction[0]), outside_ids(corpus, direction[-1])
    found = lists(proposal)
    assert sorted(found) == sorted(queries)
    for query, row in zip(queries, scores, strict=True):
        order = np.argsort(-row)
        assert [target for target, _ in found[query]] == [targets[each] for each in order]
        expected = pytest.approx(row[order].tolist(), rel=1e-4, abs=1e-5)
        assert [score for _, score in found[query]] == expected


def test_a_machine_of_a_file_is_recorded_with_its_checksum_and_proposes_once(
    corpus: Corpus, tmp_path: Path
) -> None:
    path = vectors_file(corpus, tmp_path / "v.npz")
    first = kept(corpus, path, "i2t", "t2i")
    assert [each.pk for each in kept(corpus, path, "i2t", "t2i")] == [each.pk for each in first]
    machine = Machine.objects.get(name="elsewhere")
    assert (machine.kind, len(machine.checksum)) == ("precomputed", 64)
    assert machine.settings == {"file": "v.npz", "similarity": "cosine"}
    other = vectors_file(corpus, tmp_path / "w.npz", seed=2)
    kept(corpus, other, "i2t")
    assert Machine.objects.filter(name="elsewhere").count() == 2


def test_one_file_is_not_two_similarities_under_one_version(corpus: Corpus, tmp_path: Path) -> None:
    path = vectors_file(corpus, tmp_path / "v.npz")
    kept(corpus, path, "i2t")
    with pytest.raises(Refused, match="new version"):
        kept(corpus, path, "i2t", similarity="dot")


def test_ranked_lists_are_kept_as_they_are_down_to_the_depth(
    corpus: Corpus, tmp_path: Path
) -> None:
    images, captions = outside_ids(corpus, "i"), outside_ids(corpus, "t")
    path = tmp_path / "l.jsonl"
    path.write_text(
        "\n".join(json.dumps({"query": each, "targets": captions[::-1]}) for each in images[:2])
    )
    (proposal,) = kept(corpus, path, "i2t", depth=3)
    assert proposal.queries == 2
    expected = [(target, -float(rank)) for rank, target in enumerate(captions[::-1][:3], 1)]
    assert lists(proposal) == dict.fromkeys(images[:2], expected)


def test_an_item_is_no_candidate_for_itself(corpus: Corpus, tmp_path: Path) -> None:
    images = outside_ids(corpus, "i")
    path = tmp_path / "l.csv"
    rows = [f"{images[0]},{target},{score}" for score, target in enumerate(images)]
    path.write_text("\n".join(["query,target,score", *rows]))
    (proposal,) = kept(corpus, path, "i2i")
    assert [target for target, _ in lists(proposal)[images[0]]] == images[:0:-1]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([{"query": "nobody", "targets": []}], "no query 'nobody'"),
        ([{"query": "IMAGE", "targets": ["nothing"]}], "no target 'nothing'"),
        ([{"query": "IMAGE", "targets": []}] * 2, "a list already"),
        ([], "no ranked list"),
    ],
)
def test_lists_that_do_not_fit_the_corpus_are_refused_whole(
    corpus: Corpus, tmp_path: Path, lines: list[Any], why: str
) -> None:
    path = tmp_path / "l.jsonl"
    text = "\n".join(map(json.dumps, lines)).replace("IMAGE", outside_ids(corpus, "i")[0])
    path.write_text(text)
    with pytest.raises(Refused, match=why):
        kept(corpus, path, "i2t")
    assert not Candidate.objects.exists()
    assert not Proposal.objects.exists()


def test_an_item_without_a_vector_is_named(corpus: Corpus, tmp_path: Path) -> None:
    ids = np.array(["unknown", *outside_ids(corpus, "i")[1:]])
    path = vectors_file(corpus, tmp_path / "v.npz", image_ids=ids)
    with pytest.raises(Refused, match="1 of the split's 6 images have no vector"):
        kept(corpus, path, "i2t")


def test_vectors_with_numbers_that_are_none_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    path = vectors_file(
        corpus, tmp_path / "v.npz", image_vectors=np.full((6, 8), np.nan, np.float32)
    )
    with pytest.raises(Refused, match="not finite"):
        kept(corpus, path, "i2t")


@pytest.fixture
def desk(corpus: Corpus) -> Client:
    client = Client()
    client.force_login(corpus.owner)
    return client


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["page", "api"])
def test_a_file_sent_by_page_or_api_proposes(
    corpus: Corpus, desk: Client, tmp_path: Path, way: str
) -> None:
    path = vectors_file(corpus, tmp_path / "v.npz")
    start = "/api/corpora" if way == "api" else "/research/corpora"
    with path.open("rb") as file:
        sent = {
            "file": file,
            "name": "elsewhere",
            "version": "2",
            "directions": ["i2t", "t2i"],
            "split": "test",
            "similarity": "cosine",
            "depth": 5,
        }
        answer = desk.post(f"{start}/{corpus.slug}/propose-file/", sent)
    assert answer.status_code == (202 if way == "api" else 302), answer.content
    job = jobs.run_here(Job.objects.get(kind="propose_file"))
    assert job.state == "done", job.message
    assert job.title == "Propose elsewhere, image to caption, caption to image, test"
    assert Proposal.objects.filter(machine__name="elsewhere", depth=5).count() == 2


def test_machines_of_files_and_of_here_stand_side_by_side(corpus: Corpus, tmp_path: Path) -> None:
    kept(corpus, vectors_file(corpus, tmp_path / "v.npz"), "i2t")
    propose_candidates(
        corpus=corpus,
        kind="palette",
        directions=["i2t"],
        split="test",
        train_split="test",
        depth=25,
        query_sample=None,
        seed=0,
    )
    kinds = set(corpus.proposals.values_list("machine__kind", flat=True))
    assert kinds == {"precomputed", "palette"}
