"""Tables: the judgments and the units of a release, row by row, out of its snapshot."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import orjson

from hits.exporters.formats import Kind, Typed
from hits.exporters.scrubbing import scrubbed
from hits.models import Release
from hits.pipeline.aggregate import (
    BATCH,
    DIFFERENT_ANSWERS,
    OutsideIds,
    StudySource,
    in_batches,
    outside_captions,
)
from hits.pipeline.pseudonyms import pseudonym
from hits.protocol import Protocol
from hits.records import JudgedUnit

Columns = list[Sequence[Any]]
Tell = Callable[[int], None]
AnyProtocol = Protocol[Any, Any]

_JUDGMENTS = """
    WITH unit AS (
        SELECT u.id, st.slug, u.key, u.payload, u.pool, min(us.rank) AS best_rank,
               string_agg(m.name || ' ' || m.version || '|' || p.direction || '|' || us.rank,
                          ';' ORDER BY us.rank, m.name, us.proposal_id) AS sources
        FROM hits_unit u
        JOIN hits_study st ON st.id = u.study_id
        LEFT JOIN hits_unitsource us ON us.unit_id = u.id
        LEFT JOIN hits_proposal p ON p.id = us.proposal_id
        LEFT JOIN hits_machine m ON m.id = p.machine_id
        WHERE u.study_id = ANY (%(studies)s)
        GROUP BY u.id, st.id)
    SELECT unit.payload::text, j.answer::text, a.person_id, s.shown::text, j.problem,
           unit.slug, unit.key, unit.pool, unit.sources, unit.best_rank,
           a.id, v.number, s.position,
           to_char(a.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'),
           a.use, s.state, j.seconds
    FROM hits_judgment j
    JOIN hits_slot s ON s.id = j.slot_id
    JOIN unit ON unit.id = s.unit_id
    JOIN hits_assignment a ON a.id = s.assignment_id AND NOT a.is_training
    JOIN hits_studyversion v ON v.id = a.version_id
    ORDER BY s.id
"""

_STUDY = Typed("study", Kind.TEXT, "short name of the study")
_UNIT = Typed("unit", Kind.TEXT, "names the unit within its study, in both tables")
_IMAGES = Typed("image_ids", Kind.TEXTS, "outside ids of the images that were shown")
_CAPTIONS = Typed("caption_ids", Kind.TEXTS, "outside ids of the captions that were shown")
_POOL = Typed("pool", Kind.TEXT, "why the unit was asked about; golds have pools of their own")

JUDGMENTS = (
    _STUDY,
    _UNIT,
    _IMAGES,
    _CAPTIONS,
    _POOL,
    Typed("proposed_by", Kind.TEXT, "machine|direction|rank of every proposal, with ; between"),
    Typed("best_rank", Kind.WHOLE, "the best rank that a machine gave it"),
    Typed("person", Kind.TEXT, "pseudonym of the person, the same in every study and release"),
    Typed("page", Kind.WHOLE, "number of the page that was done in one go"),
    Typed("version", Kind.WHOLE, "version of the study's settings and wording"),
    Typed("position", Kind.WHOLE, "place on the page, from 1"),
    Typed("shown", Kind.TEXT, "order or sides that chance gave it on this page, as JSON"),
    Typed("submitted_at", Kind.TIME, "when the page was submitted, UTC"),
    Typed("use", Kind.TEXT, "whether the page is used: used, not_used or pending"),
    Typed(
        "place",
        Kind.TEXT,
        "what became of the judgment: counted, not_used, surplus (came too late to count), "
        "broken (could not be judged), same_person (of somebody who had judged the unit before), "
        "set_aside (its unit was asked again)",
    ),
    Typed("seconds", Kind.NUMBER, "time on the question, while it was in front of the person"),
    Typed("problem", Kind.TEXT, "what the person reported about the question"),
)
UNITS = (
    _STUDY,
    _UNIT,
    _IMAGES,
    _CAPTIONS,
    _POOL,
    Typed("label", Kind.TEXT, "what the people said together"),
    Typed("value", Kind.NUMBER, "the number made of what they said, where there is one"),
    Typed("positive", Kind.FLAG, "whether the protocol counts the label as positive"),
    Typed("judgments", Kind.WHOLE, "judgments that are used"),
    Typed("distribution", Kind.COUNTS, "how often each answer was given; in CSV answer:count;…"),
)


def columns_of_judgments(kinds: Iterable[AnyProtocol]) -> list[Typed]:
    """Those of every judgment, and those of the answers to any of these protocols."""
    own = {
        name: Typed(name, kind.column_kinds.get(name, Kind.TEXT))
        for kind in kinds
        for name in kind.columns
    }
    return [*JUDGMENTS, *own.values()]


def judgments(
    sources: Sequence[StudySource], columns: Sequence[Typed], free_text: str, tell: Tell
) -> Iterator[Columns]:
    """Some rows at a time, column by column; what a protocol does not ask is empty."""
    done = 0
    for source in sources:
        names = [each.name for each in columns_of_judgments([source.kind])]
        for some in _judgments_of(source, free_text):
            found = dict(zip(names, some, strict=True))
            count = len(some[0])
            yield [found.get(each.name) or _nothing(each.kind) * count for each in columns]
            done += count
            tell(done)


def _nothing(kind: Kind) -> list[Any]:
    return [""] if kind == Kind.TEXT else [None]


def _judgments_of(source: StudySource, free_text: str) -> Iterator[Columns]:
    kind = source.kind
    answers = _cells_of_answers(kind, free_text)
    words = _HANDLED[Release.FreeText(free_text)]
    for batch in in_batches(_JUDGMENTS, {"studies": source.ids}):
        payloads, given, people, shown, problems, study, unit, *rest = zip(*batch, strict=True)
        pool, sources, best_rank, page, version, position, submitted_at, use, place, seconds = rest
        items = _items(kind, set(payloads))
        said = _with_outside_captions(kind, list(map(answers, given)))
        yield [
            *(study, unit),
            [items[payload][0] for payload in payloads],
            [items[payload][1] for payload in payloads],
            *(pool, sources, best_rank, list(map(pseudonym, people))),
            *(page, version, position, _arranged(kind, shown), submitted_at),
            *(use, place, seconds, list(map(words, problems))),
            *zip(*said, strict=True),
        ]


def units(sources: Iterable[StudySource]) -> Iterator[list[JudgedUnit]]:
    left = chain.from_iterable(source.units() for source in sources)
    while some := list(islice(left, BATCH)):
        yield some


def columns_of(some: Sequence[JudgedUnit]) -> Columns:
    together = [unit.aggregate for unit in some]
    return [
        [unit.study for unit in some],
        [unit.key for unit in some],
        [[image.id for image in unit.images] for unit in some],
        [[caption.id for caption in unit.captions] for unit in some],
        [unit.pool for unit in some],
        [aggregate.label for aggregate in together],
        [aggregate.value for aggregate in together],
        [aggregate.positive for aggregate in together],
        [len(unit.answers) for unit in some],
        [tuple(aggregate.distribution.items()) for aggregate in together],
    ]


def _items(kind: AnyProtocol, payloads: set[str]) -> dict[str, Any]:
    return dict(zip(payloads, OutsideIds(kind, map(orjson.loads, payloads)), strict=True))


def _left_out(text: str) -> str:
    return ""


def _as_it_is(text: str) -> str:
    return text


_HANDLED: dict[str, Callable[[str], str]] = {
    Release.FreeText.KEPT: _as_it_is,
    Release.FreeText.SCRUBBED: scrubbed,
    Release.FreeText.LEFT_OUT: _left_out,
}


def _cells_of_answers(kind: AnyProtocol, free_text: str) -> Callable[[str | None], Sequence[Any]]:
    words = _HANDLED[Release.FreeText(free_text)]
    written = [kind.columns.index(name) for name in sorted(kind.remarks)]
    numbers = [kind.columns.index(name) for name in sorted(kind.column_kinds)]
    nothing = [None if place in numbers else "" for place in range(len(kind.columns))]

    @lru_cache(DIFFERENT_ANSWERS)
    def cells(answer: str | None) -> Sequence[Any]:
        if answer is None:
            return nothing
        found = list(kind.row(orjson.loads(answer)))
        for place in written:
            found[place] = words(found[place])
        for place in numbers:
            found[place] = None if found[place] == "" else found[place]
        return found

    return cells


def _with_outside_captions(kind: AnyProtocol, rows: list[Sequence[Any]]) -> list[Sequence[Any]]:
    places = {kind.columns.index(name) for name in kind.caption_columns}
    if not places:
        return rows
    names = outside_captions({row[place] for row in rows for place in places if row[place] != ""})
    return [
        [names.get(cell, "") if place in places else cell for place, cell in enumerate(row)]
        for row in rows
    ]


def _arranged(kind: AnyProtocol, shown: Sequence[str | None]) -> Sequence[str | None]:
    """With outside ids where what chance decided is an order of captions."""
    if not kind.captions_in_order:
        return shown
    read = [None if each is None else orjson.loads(each) for each in shown]
    ids = {pk for each in read if each for pk in each[kind.captions_in_order]}
    names = outside_captions(ids)
    return [
        None
        if each is None
        else json.dumps(
            {**each, kind.captions_in_order: [names[pk] for pk in each[kind.captions_in_order]]}
        )
        for each in read
    ]
