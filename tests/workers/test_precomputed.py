import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
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


@pytest.mark.parametrize(("number", "why"), [(np.nan, "not finite"), (0, "images are all zero")])
def test_vectors_that_would_rank_by_chance_are_refused(
    corpus: Corpus, tmp_path: Path, number: float, why: str
) -> None:
    same = np.full((6, 8), number, np.float32)
    path = vectors_file(corpus, tmp_path / "v.npz", image_vectors=same)
    with pytest.raises(Refused, match=why):
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


def in_another_form(corpus: Corpus, path: Path, form: str) -> tuple[Path, Path | None]:
    """What an .npz of vectors holds, and the ids beside it where there are any."""
    with np.load(path) as arrays:
        held = dict(arrays)
    made = path.with_suffix(form)
    if form == ".parquet":
        kinds = ("image", "caption")
        rows = {
            "id": [name for kind in kinds for name in held[f"{kind}_ids"].tolist()],
            "kind": [kind for kind in kinds for _ in held[f"{kind}_ids"]],
            "vector": [row for kind in kinds for row in held[f"{kind}_vectors"].tolist()],
        }
        pq.write_table(pa.table(rows), made)
        return made, None
    np.save(made, np.concatenate([held["image_vectors"], held["caption_vectors"]]))
    ids = path.with_suffix(".json")
    names = {f"{kind}s": held[f"{kind}_ids"].tolist() for kind in ("caption", "image")}
    ids.write_text(json.dumps(names))
    return made, ids


@pytest.mark.parametrize("form", [".npy", ".parquet"])
def test_vectors_of_every_form_give_the_same_lists(
    corpus: Corpus, tmp_path: Path, form: str
) -> None:
    path = vectors_file(corpus, tmp_path / "v.npz")
    (one,) = kept(corpus, path, "i2t")
    made, ids = in_another_form(corpus, path, form)
    (other,) = kept(corpus, made, "i2t", ids=ids, version="2")
    assert lists(other) == lists(one)


@pytest.mark.parametrize("form", [".npz", ".npy"])
def test_a_matrix_of_scores_gives_lists_both_ways_and_ties_by_id(
    corpus: Corpus, tmp_path: Path, form: str
) -> None:
    images, captions = outside_ids(corpus, "i"), outside_ids(corpus, "t")
    scores = np.random.default_rng(3).integers(0, 4, (len(images), len(captions))) / 2
    shuffled = np.random.default_rng(4).permutation(len(captions))
    names = {"images": images, "captions": [captions[each] for each in shuffled]}
    path, ids = tmp_path / f"s{form}", None
    if form == ".npz":
        arrays = {f"{kind[:-1]}_ids": np.array(own) for kind, own in names.items()}
        np.savez(path, allow_pickle=False, scores=scores[:, shuffled], **arrays)
    else:
        np.save(path, scores[:, shuffled])
        ids = tmp_path / "ids.json"
        ids.write_text(json.dumps(names))
    forth, back = kept(corpus, path, "i2t", "t2i", ids=ids, depth=4)
    for proposal, queries, targets, table in (
        (forth, images, captions, scores),
        (back, captions, images, scores.T),
    ):
        best = np.argsort(-table, axis=1, kind="stable")[:, :4]
        assert lists(proposal) == {
            query: [(targets[each], row[each]) for each in own]
            for query, own, row in zip(queries, best, table, strict=True)
        }
    (sample,) = kept(corpus, path, "i2t", ids=ids, depth=4, query_sample=2, seed=1)
    assert len(lists(sample)) == 2
    with pytest.raises(Refused, match="no lists within one kind"):
        kept(corpus, path, "i2i", ids=ids)


def test_files_that_do_not_say_what_they_hold_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    table, ids = tmp_path / "v.npy", tmp_path / "ids.json"
    np.save(table, np.zeros((4, 5)))
    with pytest.raises(Refused, match="A file of ids goes with"):
        kept(corpus, table, "i2t")
    for told, why in (
        ("[]", "The ids must be JSON"),
        ('{"images": [1, 2, 3]}', "neither a row nor a score for 3 images"),
        ('{"images": [1, 2, 3, 4], "captions": [1, 2, 3, 4, 5]}', "images have no score"),
    ):
        ids.write_text(told)
        with pytest.raises(Refused, match=why):
            kept(corpus, table, "i2t", ids=ids)
    for columns, why in (
        ({"id": ["1"], "vector": [[1.0]]}, "columns id, kind, vector"),
        ({"id": ["1"], "kind": ["sound"], "vector": [[1.0]]}, "image or caption"),
        ({"id": ["1", "2"], "kind": ["image"] * 2, "vector": [[1.0], [1.0, 2.0]]}, "one length"),
    ):
        pq.write_table(pa.table(columns), tmp_path / "v.parquet")
        with pytest.raises(Refused, match=why):
            kept(corpus, tmp_path / "v.parquet", "i2i")


def test_ids_are_sent_beside_an_npy_file(corpus: Corpus, client: Client) -> None:
    client.force_login(corpus.owner)
    given = {"name": "elsewhere", "directions": ["i2t"]}
    address = f"/api/corpora/{corpus.slug}/propose-file/"

    def sent() -> dict[str, Any]:
        return {**given, "file": SimpleUploadedFile("../v.npy", b"x")}

    assert client.post(address, sent()).status_code == 400
    ids = SimpleUploadedFile("ids.json", b"{}")
    assert client.post(address, {**sent(), "ids": ids}).status_code == 202
    kept_ids = Path(Job.objects.get(kind="propose_file").arguments["ids"])
    assert (kept_ids.suffix, kept_ids.read_bytes()) == (".json", b"{}")
