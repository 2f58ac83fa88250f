"""What machines proposed, before a study is opened: counted, joined, and how differently."""

import json
from io import StringIO
from random import Random

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from hits.models import Corpus, Proposal, Unit
from hits.pipeline import propose
from hits.pipeline.compare import compare, examples
from hits.pipeline.errors import Refused
from tests import making

pytestmark = pytest.mark.django_db

IMAGE_QUERIES, CAPTION_QUERIES, MACHINES, TOP = 1_261, 1_333, 5, 5


def kept(
    corpus: Corpus,
    machine: str,
    direction: str,
    lists: dict[int, list[int]],
    *,
    seed: int = 0,
    file: str = "",
) -> Proposal:
    depth = max(map(len, lists.values()))
    return propose.keep(
        corpus=corpus,
        machine=propose.machine_of(name=machine, version="1", kind="x", checksum=file, settings={}),
        direction=direction,
        split="test",
        depth=depth,
        query_sample=None,
        seed=seed,
        ranked=(
            (query, own, [-float(rank) for rank in range(len(own))]) for query, own in lists.items()
        ),
    )


def test_eccv_s_queries_machines_and_depth_give_its_number_of_proposals() -> None:
    """64,850 proposals before joining (ECCV Caption §3.2), whatever is left of them after it."""
    corpus, random = making.corpus(images=2), Random(4)
    proposals, pairs = [], set()
    for machine in range(MACHINES):
        for direction, count in (("i2t", IMAGE_QUERIES), ("t2i", CAPTION_QUERIES)):
            lists = {query: random.sample(range(60), TOP) for query in range(1, count + 1)}
            proposals.append(kept(corpus, f"m{machine}", direction, lists))
            for query, targets in lists.items():
                pairs |= {(query, t) if direction == "i2t" else (t, query) for t in targets}

    found = compare(corpus=corpus, proposals=proposals, top=TOP)

    assert found.proposed == 64_850
    assert found.joined == len(pairs) < 64_850
    agreement = next(table for table in found.tables if table.slug == "agreement")
    assert sum(row[1] for row in agreement.rows) == len(pairs)  # type: ignore[misc]
    assert (found.judged, found.coverage) == (0, 0)


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=4, captions_each=1)


@pytest.fixture
def proposals(corpus: Corpus) -> list[Proposal]:
    """P and Q rank captions for two images; P ranks an image for a caption, too."""
    (a, b, *_), (s, t, u, v) = (
        list(items.order_by("pk").values_list("pk", flat=True))
        for items in (corpus.images, corpus.captions)
    )
    return [
        kept(corpus, "P", "i2t", {a: [s, t, u], b: [t, s, v]}),
        kept(corpus, "Q", "i2t", {a: [t, s, u], b: [u, v, t]}),
        kept(corpus, "P", "t2i", {s: [a]}),
    ]


def test_a_pair_that_two_machines_or_both_directions_propose_is_counted_once(
    corpus: Corpus, proposals: list[Proposal]
) -> None:
    found = compare(corpus=corpus, proposals=proposals, top=2)
    assert (found.proposed, found.joined, found.originals) == (9, 6, 2)
    who, agreement, tau, first, *_ = found.tables
    assert [row[:6] for row in who.rows] == [
        ["P 1", "image to caption", 2, 4, 2, 2],
        ["Q 1", "image to caption", 2, 4, 2, 1],
        ["P 1", "caption to image", 1, 1, 0, 1],
    ]
    assert [row[:2] for row in agreement.rows] == [[1, 4], [2, 2]]
    # Image a: swapped first two, tau 1/3. Image b: t s v against u v t, tau -2/3.
    assert tau.rows[0][0] == "P 1"
    assert tau.rows[0][2] == "-0.17 (83%)"
    assert first.rows[0] == ["P 1", None, 2.5]
    assert first.rows[1] == ["Q 1", 3.0, None]


def test_a_machine_whose_directions_came_in_two_files_is_one(
    corpus: Corpus, proposals: list[Proposal]
) -> None:
    a, b, *_ = corpus.images.order_by("pk").values_list("pk", flat=True)
    s, t, *_ = corpus.captions.order_by("pk").values_list("pk", flat=True)
    forth = kept(corpus, "lists", "i2t", {a: [s, t]}, file="forth")
    back = kept(corpus, "lists", "t2i", {s: [a, b]}, file="back")
    who, agreement, *_ = compare(corpus=corpus, proposals=[forth, back], top=2).tables
    assert [row[3:5] for row in who.rows] == [[2, 2], [2, 2]]
    assert [row[:2] for row in agreement.rows] == [[1, 3]]

    other = kept(corpus, "lists", "i2t", {a: [s, t]}, file="of other weights")
    _, agreement, *_ = compare(corpus=corpus, proposals=[forth, other], top=2).tables
    assert [row[:2] for row in agreement.rows] == [[2, 2]]


def test_each_proposal_of_a_machine_is_counted_for_itself(
    corpus: Corpus, proposals: list[Proposal]
) -> None:
    """Another sample of queries, or another depth, of the same machine and direction."""
    _, _, c, _ = corpus.images.order_by("pk").values_list("pk", flat=True)
    s, t, u, _ = corpus.captions.order_by("pk").values_list("pk", flat=True)
    p, q, _ = proposals
    again = kept(corpus, "P", "i2t", {c: [u, s, t]}, seed=1)
    found = compare(corpus=corpus, proposals=[p, q, again], top=2)
    who, _, tau, first = found.tables
    assert [row[:6] for row in who.rows] == [
        [f"P 1 #{p.pk}", "image to caption", 2, 4, 2, 2],
        [f"P 1 #{again.pk}", "image to caption", 1, 2, 2, 1],
        ["Q 1", "image to caption", 2, 4, 2, 1],
    ]
    assert found.proposed == 10
    # The second sample shares no query with the others, who are compared all the same.
    assert tau.rows == [
        [f"P 1 #{p.pk}", None, "-0.17 (83%)", None],
        ["Q 1", "-0.17 (83%)", None, None],
        [f"P 1 #{again.pk}", None, None, None],
    ]
    assert first.rows[0] == [f"P 1 #{p.pk}", None, 2.5, None]
    assert tau.note.startswith("Over what both were asked of 3 queries and the top 3;")
    for each in examples(proposals=[p, q, again], top=2, seed=0):
        assert all(items for _, items in each.lists)


def test_pairs_that_people_judged_are_the_coverage() -> None:
    corpus = making.corpus(images=12)
    study = making.study(corpus, settings={"candidates_a_page": 4, "justification": False})
    proposals = list(corpus.proposals.all())
    before = compare(corpus=corpus, proposals=proposals)
    making.work(study, making.rater(study))
    # What was dear to compute is kept for a while.
    cache.clear()
    after = compare(corpus=corpus, proposals=proposals)
    judged = Unit.objects.filter(study=study, pool="candidate", counted=1).count()
    assert judged
    assert (before.judged, after.judged) == (0, judged)
    assert after.coverage == pytest.approx(judged / after.joined)


def test_some_queries_are_shown_with_what_each_machine_proposes(
    corpus: Corpus, proposals: list[Proposal]
) -> None:
    shown = examples(proposals=proposals, top=2, seed=0)
    assert [each.direction for each in shown] == ["i2t", "i2t", "t2i"]
    lists = dict(shown[0].lists)
    assert [(item.external_id, own) for item, own in lists["P 1"]] == [("10", True), ("20", False)]


def test_what_cannot_be_compared_is_refused(corpus: Corpus, proposals: list[Proposal]) -> None:
    with pytest.raises(Refused, match="at least one"):
        compare(corpus=corpus, proposals=[])
    with pytest.raises(Refused, match="one candidate of each list"):
        compare(corpus=corpus, proposals=proposals, top=0)
    with pytest.raises(Refused, match="not a finished one"):
        compare(corpus=making.corpus(images=1), proposals=proposals)
    Proposal.objects.filter(pk=proposals[0].pk).update(queries=2**30)
    proposals[0].refresh_from_db()
    with pytest.raises(Refused, match="look at fewer of each list"):
        compare(corpus=corpus, proposals=proposals)


def test_the_page_tells_why_what_nobody_chose_is_too_much(
    corpus: Corpus, proposals: list[Proposal]
) -> None:
    Proposal.objects.filter(pk=proposals[0].pk).update(queries=2**30)
    client = Client()
    client.force_login(corpus.owner)
    page = client.get(f"/research/corpora/{corpus.slug}/proposals/")
    assert page.status_code == 422
    assert "look at fewer of each list" in page.content.decode()


def test_page_api_and_command_say_the_same(corpus: Corpus, proposals: list[Proposal]) -> None:
    client = Client()
    client.force_login(corpus.owner)
    page = client.get(f"/research/corpora/{corpus.slug}/proposals/?top=2")
    assert page.status_code == 200
    for text in ("What machines proposed", "-0.17 (83%)", "the top 2 of each list"):
        assert text in page.content.decode()
    assert client.get(f"/research/corpora/{corpus.slug}/proposals/?top=0").status_code == 422
    answer = client.get(f"/api/corpora/{corpus.slug}/proposals/compare/?top=2")
    assert json.loads(answer.content)["joined"] == 6
    wrong = client.get(f"/api/corpora/{corpus.slug}/proposals/compare/?proposal=999999")
    assert wrong.status_code == 400
    said = StringIO()
    call_command("compare_machines", corpus.slug, "--top", "2", stdout=said)
    assert "9 proposals, 6 pairs after joining, 2 of them the corpus's own" in said.getvalue()
    assert "-0.17 (83%)" in said.getvalue()
    with pytest.raises(CommandError, match="999999: no finished proposal"):
        call_command("compare_machines", corpus.slug, "--proposals", "999999")
    with pytest.raises(CommandError, match="no corpus"):
        call_command("compare_machines", "nowhere")
