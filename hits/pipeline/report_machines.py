"""Of a report, what machines proposed: answers and reasons by machine, and machine bias."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hits.models import Study
from hits.pipeline.tally import Results, rows
from hits.protocol import Protocol, Report
from hits.records import Cell, Chart, Column, Said, Table, Tallied

_REASONS = """
    SELECT m.name || ' ' || m.version, field.name, given.value, count(*)
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
    JOIN hits_judgment j ON j.slot_id = s.id
    CROSS JOIN unnest(%(fields)s::text[]) field (name)
    CROSS JOIN LATERAL jsonb_array_elements_text(
        CASE jsonb_typeof(j.answer -> field.name)
        WHEN 'array' THEN j.answer -> field.name ELSE '[]' END) given (value)
    JOIN hits_unitsource us ON us.unit_id = u.id AND us.rank <= %(depth)s
    JOIN hits_proposal p ON p.id = us.proposal_id
    JOIN hits_machine m ON m.id = p.machine_id
    WHERE u.study_id = %(study)s AND u.gold IS NULL AND NOT u.excluded
    GROUP BY 1, 2, 3
"""
# All that was proposed, judged or not.
_PROPOSED = """
    SELECT u.key, m.name || ' ' || m.version, us.rank,
           (u.payload ->> CASE p.direction WHEN 'i2t' THEN 'image' ELSE 'caption' END)::bigint,
           (u.payload ->> CASE p.direction WHEN 'i2t' THEN 'caption' ELSE 'image' END)::bigint
    FROM hits_unit u
    JOIN hits_unitsource us ON us.unit_id = u.id AND us.rank <= %(depth)s
    JOIN hits_proposal p ON p.id = us.proposal_id
    JOIN hits_machine m ON m.id = p.machine_id
    WHERE u.study_id = %(study)s AND u.gold IS NULL AND NOT u.excluded
"""


def machine_tables(
    *,
    study: Study,
    kind: Protocol[Any, Any],
    results: Results,
    asked: Sequence[Tallied],
    said: Sequence[Said],
    depth: int,
) -> Iterator[Table]:
    """ECCV Caption's Tables B.2, B.3 and E.1; none where no machine proposed what was judged."""
    if not results.machines:
        return
    yield _answers(results)
    yield from _reasons(study, asked, depth)
    if Report.BIAS in kind.reports:
        yield from _bias(study, kind, said, depth)


def _answers(results: Results) -> Table:
    labels = [each.label for each in results.machines[0].shares]
    columns = [Column("Machine"), Column("Rank"), Column("n", "count")]
    columns += [Column(label, "share") for label in labels]
    found: list[list[Cell]] = [
        [each.machine, str(each.rank or "all"), each.n, *(share.part for share in each.shares)]
        for each in results.machines
    ]
    note = "A unit that several machines proposed counts for each of them."
    together = sum(each.n for each in results.machines if each.rank is None)
    chart = Chart(
        "stacked",
        (0, 1),
        tuple(range(3, 3 + len(labels))),
        "Machine and rank",
        "Share of judgments",
        f"{together:,} judgments of proposals",
    )
    return Table("machines", "Answers by machine and rank", note, columns, found, chart=chart)


def _reasons(study: Study, asked: Sequence[Tallied], depth: int) -> Iterator[Table]:
    lists = {each.field: each for each in asked if each.options}
    counted: dict[str, dict[str, dict[str, int]]] = {}
    values = {"study": study.pk, "fields": list(lists), "depth": depth}
    for machine, name, value, count in rows(_REASONS, values):
        counted.setdefault(name, {}).setdefault(machine, {})[value] = count
    for name, each in lists.items():
        if name in counted:
            yield _reason_table(each, counted[name])


def _reason_table(asked: Tallied, counted: Mapping[str, Mapping[str, int]]) -> Table:
    columns = [Column("Machine"), Column("Ticks", "count")]
    columns += [Column(option.label, "share") for option in asked.options]
    found: list[list[Cell]] = []
    for machine in sorted(counted):
        ticks = sum(counted[machine].values())
        shares = [counted[machine].get(option.value, 0) / ticks for option in asked.options]
        found.append([machine, ticks, *shares])
    note = f"{asked.title} Shares of all ticks; a unit counts for each machine that proposed it."
    title = f"{asked.field.capitalize()} by machine"
    together = sum(sum(each.values()) for each in counted.values())
    places = tuple(range(2, 2 + len(asked.options)))
    chart = Chart("stacked", (0,), places, "Machine", "Share of ticks", f"{together:,} ticks")
    return Table(f"machines-{asked.field}", title, note, columns, found, chart=chart)


def _bias(study: Study, kind: Protocol[Any, Any], said: Sequence[Said], depth: int) -> list[Table]:
    # As in the report: scipy is imported by who asks for one.
    from hits.analysis.bias import Proposal
    from hits.analysis.tables.machines import bias_tables

    given: dict[str, list[float]] = {}
    for each in said:
        given.setdefault(each.unit, []).append(kind.grade(each.answer))
    proposals: list[Proposal] = []
    grades: dict[tuple[int, int], float] = {}
    for key, machine, rank, query, item in rows(_PROPOSED, {"study": study.pk, "depth": depth}):
        proposals.append(Proposal(query, item, machine, rank))
        if key in given:
            grades[query, item] = sum(given[key]) / len(given[key])
    return bias_tables(proposals, grades, depth)
