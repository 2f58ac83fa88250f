"""Compare: what machines proposed, and how differently, before a study is opened on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from random import Random
from typing import Any

from hits.analysis.errors import AnalysisError
from hits.models import Caption, Corpus, Image, Proposal
from hits.models.machines import Direction
from hits.pipeline.errors import Refused
from hits.pipeline.propose import ACROSS
from hits.pipeline.tally import kept, one_row, rows
from hits.records import Cell, Column, Table

KEPT_SECONDS = 24 * 60 * 60
MOST_PROPOSALS = 40
# Past that, counting would keep a reader waiting; diversity is a mean that a sample tells as well.
MOST_PAIRS = 5_000_000
MOST_QUERIES = 5_000
SHOWN_QUERIES = 3
TOP, DEEP = 5, 25

_PAIRS = """
    WITH pair AS (
        SELECT p.id AS proposal_id, by.machine,
               CASE p.direction WHEN 'i2t' THEN c.query_id ELSE c.target_id END AS image,
               CASE p.direction WHEN 'i2t' THEN c.target_id ELSE c.query_id END AS caption
        FROM hits_candidate c JOIN hits_proposal p ON p.id = c.proposal_id
        JOIN unnest(%(ids)s::bigint[], %(machines)s::bigint[]) AS by (id, machine) ON by.id = p.id
        WHERE c.proposal_id = ANY (%(ids)s) AND c.rank <= %(top)s
    ), joined AS (
        SELECT image, caption, count(*) AS times, count(DISTINCT machine) AS machines
        FROM pair GROUP BY image, caption
    )
"""
_TOTALS = (
    _PAIRS
    + """
    SELECT coalesce(sum(times), 0), count(*),
           count(*) FILTER (WHERE own.id IS NOT NULL),
           count(*) FILTER (WHERE EXISTS (
               SELECT FROM hits_unit u JOIN hits_study s ON s.id = u.study_id
               WHERE s.corpus_id = %(corpus)s AND s.protocol = 'matching' AND u.counted > 0
                 AND u.key = joined.image || ':' || joined.caption)),
           count(DISTINCT image), count(DISTINCT caption)
    FROM joined LEFT JOIN hits_caption own ON own.id = caption AND own.image_id = image
"""
)
_BY_PROPOSAL = (
    _PAIRS
    + """
    SELECT pair.proposal_id, count(*), count(*) FILTER (WHERE machines = 1), count(own.id)
    FROM pair JOIN joined USING (image, caption)
    LEFT JOIN hits_caption own ON own.id = caption AND own.image_id = image
    GROUP BY pair.proposal_id
"""
)
_BY_AGREEMENT = _PAIRS + "SELECT machines, count(*) FROM joined GROUP BY machines ORDER BY machines"
_LISTS = """
    SELECT c.proposal_id, c.query_id, c.target_id FROM hits_candidate c
    WHERE c.proposal_id = ANY (%(ids)s) AND c.rank <= %(top)s AND c.query_id = ANY (%(queries)s)
    ORDER BY c.proposal_id, c.query_id, c.rank
"""
_QUERIES = """
    SELECT query_id FROM hits_candidate WHERE proposal_id = ANY (%(ids)s) AND rank = 1
    GROUP BY query_id ORDER BY query_id
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Totals of all proposals together, and tables. A pair that several machines or both
    directions propose is joined to one."""

    top: int
    proposed: int
    joined: int
    originals: int
    judged: int
    images: int
    captions: int
    tables: list[Table]

    @property
    def coverage(self) -> float | None:
        return self.judged / self.joined if self.joined else None


def comparable(corpus: Corpus) -> list[Proposal]:
    """What can be joined to pairs of an image and a caption, the newest first."""
    found = corpus.proposals.filter(direction__in=ACROSS, finished_at__isnull=False)
    return list(found.select_related("machine").order_by("-pk")[: 5 * MOST_PROPOSALS])


def usual(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The newest of each machine and direction, on the split that was proposed on last; no more
    than are compared."""
    newest: dict[tuple[int, str], Proposal] = {}
    for each in proposals:
        if each.split == proposals[0].split:
            newest.setdefault((each.machine_id, each.direction), each)
    return list(newest.values())[:MOST_PROPOSALS]


def compare(*, corpus: Corpus, proposals: Sequence[Proposal], top: int = TOP) -> Comparison:
    """Proposals do not change, so that what was computed of them holds until people judge."""
    _refuse_incomparable(corpus, proposals, top)
    ids = sorted(proposal.pk for proposal in proposals)
    mark = "/".join(map(str, one_row(_JUDGED, {"corpus": corpus.pk})))
    key = f"compare/{'-'.join(map(str, ids))}/{top}"
    return kept(key, mark, lambda: _compare(corpus, proposals, top), KEPT_SECONDS)


_JUDGED = """
    SELECT coalesce(sum(u.counted), 0) FROM hits_unit u JOIN hits_study s ON s.id = u.study_id
    WHERE s.corpus_id = %(corpus)s AND s.protocol = 'matching'
"""


def _refuse_incomparable(corpus: Corpus, proposals: Sequence[Proposal], top: int) -> None:
    if top < 1:
        raise Refused("Look at one candidate of each list or more.")
    if not proposals:
        raise Refused("Name at least one finished proposal between images and captions.")
    if len(proposals) > MOST_PROPOSALS:
        raise Refused(f"At most {MOST_PROPOSALS} proposals are compared.")
    for each in proposals:
        if each.corpus_id != corpus.pk or each.direction not in ACROSS or not each.finished_at:
            raise Refused("A proposal is not a finished one between images and captions here.")
    pairs = sum(proposal.queries for proposal in proposals) * top
    if pairs > MOST_PAIRS:
        raise Refused(f"These are {pairs:,} pairs: look at fewer of each list, or at a sample.")


def _compare(corpus: Corpus, proposals: Sequence[Proposal], top: int) -> Comparison:
    given = {
        "ids": [each.pk for each in proposals],
        "machines": _machines(proposals),
        "top": top,
        "corpus": corpus.pk,
    }
    proposed, joined, originals, judged, images, captions = one_row(_TOTALS, given)
    tables = [_by_machine(proposals, given), _by_agreement(given)]
    for direction in ACROSS:
        own = [each for each in proposals if each.direction == direction]
        if own:
            tables += _diversity(direction, own)
    return Comparison(top, int(proposed), joined, originals, judged, images, captions, tables)


def _machines(proposals: Sequence[Proposal]) -> list[int]:
    """Whose each is. A machine that ran elsewhere may have sent its two directions in two files,
    and so be recorded twice; two of one name in one direction are two."""
    recorded = {(str(each.machine), each.direction): set[int]() for each in proposals}
    for each in proposals:
        recorded[str(each.machine), each.direction].add(each.machine_id)
    several = {name for (name, _), ids in recorded.items() if len(ids) > 1}
    one_of = {str(each.machine): each.machine_id for each in proposals}
    return [
        each.machine_id if str(each.machine) in several else one_of[str(each.machine)]
        for each in proposals
    ]


def _by_machine(proposals: Sequence[Proposal], given: Mapping[str, Any]) -> Table:
    counts = {proposal: figures for proposal, *figures in rows(_BY_PROPOSAL, given)}
    names: dict[int, str] = {}
    for direction in ACROSS:
        names |= _names([each for each in proposals if each.direction == direction])
    lines: list[Sequence[Cell]] = []
    for each in sorted(proposals, key=lambda one: (one.direction, names[one.pk])):
        proposed, alone, own = counts.get(each.pk, (0, 0, 0))
        share = own / proposed if proposed else None
        label = each.get_direction_display()
        lines.append([names[each.pk], label, each.queries, proposed, alone, own, share])
    return Table(
        slug="machines",
        title="Who proposed what",
        note=f"The top {given['top']} of each ranked list. Alone: pairs that no other machine "
        "proposed, in either direction. Own: pairs that the corpus has already.",
        columns=[
            Column("Machine"),
            Column("Direction"),
            Column("Queries", "count"),
            Column("Proposals", "count"),
            Column("Alone", "count"),
            Column("Own pairs", "count"),
            Column("Share own", "share"),
        ],
        rows=lines,
    )


def _by_agreement(given: Mapping[str, Any]) -> Table:
    found = rows(_BY_AGREEMENT, given)
    total = sum(pairs for _, pairs in found)
    return Table(
        slug="agreement",
        title="How many machines propose a pair",
        note=f"Of {total:,} pairs, joined over machines and directions.",
        columns=[Column("Machines", "count"), Column("Pairs", "count"), Column("Share", "share")],
        rows=[[machines, pairs, pairs / total] for machines, pairs in found],
    )


def _diversity(direction: str, proposals: Sequence[Proposal]) -> list[Table]:
    # scipy and its friends take their time to import, and only who asks for this should wait.
    from hits.analysis.diversity import diversity

    depth = min(DEEP, *(each.depth for each in proposals))
    label = Direction(direction).label
    slugs = {"tau": f"tau-{direction}", "rank": f"first-{direction}"}
    titles = {
        "tau": f"Kendall's tau-b between machines, {label}",
        "rank": f"Mean rank of one's first by the other, {label}",
    }
    names = _names(proposals)
    queries = _sampled([each.pk for each in proposals])
    lists = _lists(proposals, names, depth, queries)
    try:
        found = diversity(lists, depth)
    except AnalysisError as why:
        return [Table(slugs[kind], titles[kind], why=str(why)) for kind in slugs]
    alike = all(len(own) == len(queries) for own in lists.values())
    asked = "" if alike else "what both were asked of "
    of = f"Over {asked}{len(queries):,} queries and the top {depth}"
    machines = list(names.values())

    def cells(one: str, kind: str) -> list[Cell]:
        return [_cell(found.get((one, two)), kind) for two in machines]

    return [
        Table(
            slugs["tau"],
            titles["tau"],
            f"{of}; what the other list lacks stands at rank {depth + 1}. In brackets, the share "
            "of the row's list that the column's has too.",
            [Column("Machine"), *(Column(each) for each in machines)],
            [[one, *cells(one, "tau")] for one in machines],
        ),
        Table(
            slugs["rank"],
            titles["rank"],
            f"{of}. The rank that the column's machine gives to what the row's ranks first; "
            f"{depth + 1} where it has it not.",
            [Column("Machine"), *(Column(each, "number") for each in machines)],
            [[one, *cells(one, "rank")] for one in machines],
        ),
    ]


def _cell(between: Any, kind: str) -> Cell:
    if between is None:
        return None
    if kind == "rank":
        return float(between.rank_of_first)
    return f"{between.tau:.2f} ({between.shared:.0%})"


def _names(proposals: Sequence[Proposal]) -> dict[int, str]:
    """Machines by their names; two of one machine are told apart by their numbers."""
    names = [str(each.machine) for each in proposals]
    return {
        each.pk: name if names.count(name) == 1 else f"{name} #{each.pk}"
        for each, name in zip(proposals, names, strict=True)
    }


def _sampled(ids: Sequence[int], most: int = MOST_QUERIES, seed: int = 0) -> list[int]:
    queries = [query for (query,) in rows(_QUERIES, {"ids": list(ids)})]
    return sorted(Random(seed).sample(queries, most)) if len(queries) > most else queries


def _lists(
    proposals: Sequence[Proposal], names: Mapping[int, str], depth: int, queries: Sequence[int]
) -> dict[str, dict[int, list[int]]]:
    given = {"ids": [each.pk for each in proposals], "top": depth, "queries": list(queries)}
    found: dict[str, dict[int, list[int]]] = {name: {} for name in names.values()}
    for (proposal, query), group in groupby(rows(_LISTS, given), key=itemgetter(0, 1)):
        found[names[proposal]][query] = [target for _, _, target in group]
    return found


@dataclass(frozen=True, slots=True)
class Shown:
    """A query with what each machine ranks first for it; an item is its own pair or not."""

    direction: str
    query: Image | Caption
    lists: list[tuple[str, list[tuple[Image | Caption, bool]]]]


def examples(*, proposals: Sequence[Proposal], top: int, seed: int) -> list[Shown]:
    """Some queries at random, to look at."""
    shown: list[Shown] = []
    for direction in ACROSS:
        own = [each for each in proposals if each.direction == direction]
        if own:
            shown += _examples(direction, own, top, seed)
    return shown


def _examples(direction: str, own: Sequence[Proposal], top: int, seed: int) -> list[Shown]:
    queries = _sampled([each.pk for each in own], SHOWN_QUERIES, seed)
    lists = _lists(own, _names(own), top, queries)
    wanted = {target for by in lists.values() for found in by.values() for target in found}
    kinds = (Image, Caption) if direction == "i2t" else (Caption, Image)
    asked, offered = (
        _in_bulk(kind, ids) for kind, ids in zip(kinds, (queries, wanted), strict=True)
    )
    return [
        Shown(
            direction,
            asked[query],
            [
                (name, [(offered[t], _is_own(asked[query], offered[t])) for t in by[query]])
                for name, by in lists.items()
                if query in by
            ],
        )
        for query in queries
        if query in asked
    ]


def _in_bulk(kind: Any, ids: Any) -> dict[int, Any]:
    found: dict[int, Any] = kind.objects.in_bulk(list(ids))
    return found


def _is_own(query: Image | Caption, target: Image | Caption) -> bool:
    if isinstance(query, Caption):
        return query.image_id == target.pk
    assert isinstance(target, Caption)
    return target.image_id == query.pk
