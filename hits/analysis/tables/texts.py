"""Texts that people chose or renovated, as tables."""

from collections.abc import Sequence

import numpy as np

from hits.analysis.arrays import coded
from hits.analysis.bison import is_longest
from hits.analysis.captions import renovation_report
from hits.analysis.tables.intervals import HIGH, LOW, share_with_interval
from hits.records import Cell, Column, Said, Table


def longest_table(said: Sequence[Said]) -> Table:
    """The share of the captions chosen than which none of the same image is longer (BISON §3.2)."""
    title = "Longest captions chosen"
    chosen = [each for each in said if each.answer.get("caption") is not None]
    if not chosen:
        return Table("longest", title, why="No caption was chosen yet.")
    values = np.array([is_longest(each.answer, each.about) for each in chosen], np.float64)
    people = coded([each.person for each in chosen])[0]
    share, ends, remark = share_with_interval(values, people=people)
    columns = [
        Column("Chosen", "count"),
        Column("Longest", "count"),
        Column("Share", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
    ]
    note = f"Captions than which no other that was shown has more words. {remark}"
    row: list[Cell] = [len(values), int(values.sum()), share, *ends]
    return Table("longest", title, note, columns, [row])


def renovation_tables(texts: Sequence[tuple[str, str, str | None]]) -> list[Table]:
    """Of (original, proposed, final) texts: MSCOCO-FG's Table 3, and what became of proposals."""
    title = "Renovated texts"
    if not texts:
        return [Table("renovated", title, why="No unit has all its judgments yet.")]
    found = renovation_report(texts)
    columns = [
        Column("Texts", "count"),
        Column("Confirmed", "share"),
        Column("Corrected", "share"),
        Column("Hopeless", "share"),
        Column("Words a correction", "number"),
    ]
    row: list[Cell] = [
        found.texts,
        found.confirmed,
        found.corrected,
        found.hopeless,
        found.words_a_correction,
    ]
    note = "Of the proposed texts that have all their judgments."
    tables = [Table("renovated", title, note, columns, [row])]
    if found.before is not None and found.after is not None:
        tables.append(statistics_table({"Before": found.before, "After": found.after}))
    return tables


def statistics_table(lines: dict[str, dict[str, float]]) -> Table:
    columns = [
        Column("Texts"),
        Column("n", "count"),
        Column("Nouns", "count"),
        Column("Adjectives", "count"),
        Column("Nouns a text", "number"),
        Column("Adjectives a text", "number"),
        Column("Words a text", "number"),
    ]
    rows: list[list[Cell]] = [
        [name, *(value if of.endswith("a text") else int(value) for of, value in line.items())]
        for name, line in lines.items()
    ]
    note = "Counted by a small tagger made for captions: compare within this table only."
    return Table("texts", "Texts before and after", note, columns, rows)
