"""The exact counts behind `dpsql advise`, in SQL. Runs in the owner's process; only their noised ones ever leave.

Every count is of units, and every unit is in one bin of a histogram (of each sign's at most) by its own rows alone:
what other units have, or whether they are there, moves it nowhere.

Tests: tests/unit/owner/advice/test_measure.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from dpsql.engine.database import Database, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.owner.advice.questions import Tally, of_sizes, of_totals, open_texts
from dpsql.owner.building import public
from dpsql.owner.building.bounded import reading
from dpsql.owner.building.owners import Owners, require_one_unit_type
from dpsql.owner.building.views import Kept, Report, capped_rows, cleaned_columns, kept_rows
from dpsql.owner.shape import Shape, TableShape

__all__ = ["measured", "require_readable"]


def require_readable(database: Database, shape: Shape) -> None:
    """Nothing, where all that facts are counted from is in the source, in types that can be read; no row is looked at.

    Raises:
        PolicyError: If shape and source disagree.
    """
    sources, owners = _opened(database, shape)
    for table in shape.tables:
        if table.public:
            public.copied(database, table, sources[table.name])
        else:
            owners.rows(table)
            cleaned_columns(table, sources[table.name], owners)


def measured(database: Database, shape: Shape, stage: str, heavy: bool, report: Report) -> dict[str, Any]:
    """The exact counts of one stage: ``counts``, the histograms one after the other, and ``heavy`` values by column.

    Args:
        database: Where no bounded table is yet.
        shape: Of the policy.
        stage: ``sizes`` or ``totals``.
        heavy: Whether to count the most frequent values of open text columns, among the sizes.
        report: Told each public step and the share done.

    Raises:
        PolicyError: If shape and source disagree.
    """
    sources, owners = _opened(database, shape)
    for table in shape.tables:
        if table.public:
            database.create(table.name, public.copied(database, table, sources[table.name])[0])  # domains
    asked = list(of_sizes(shape) if stage == "sizes" else of_totals(shape))
    texts = open_texts(shape) if heavy and stage == "sizes" else []
    counts: dict[Tally, list[int]] = {}
    found: list[list[list[Any]]] = []
    private = [table for table in shape.tables if not table.public]
    for place, table in enumerate(private):
        report(f"measuring {table.name}", place / len(private))
        own = [question for question in asked if question.table == table.name]
        columns = [column for name, column in texts if name == table.name]
        counts |= _of_table(database, table, sources[table.name], owners, own)
        if columns:
            with kept_rows(database, table, sources[table.name], owners) as kept:
                found += [_heavy(database, table, kept, column) for column in columns]
    report("done", 1.0)
    return {"counts": [count for question in asked for count in counts[question]], "heavy": found}


def _opened(database: Database, shape: Shape) -> tuple[dict[str, SourceTable], Owners]:
    """The source's tables, and whose their rows are.

    Raises:
        PolicyError: If a table is not there, or units are of several types.
    """
    sources = {table.name: table.of(database) for table in shape.tables}
    require_one_unit_type(shape, sources)
    return sources, Owners(shape, sources)


def _of_table(
    database: Database, table: TableShape, source: SourceTable, owners: Owners, asked: Sequence[Tally]
) -> Iterator[tuple[Tally, list[int]]]:
    """Each question's counts, the bins above 0 before those below."""
    words = database.dialect
    if not asked:
        return
    with kept_rows(database, table, source, owners) as kept, ExitStack() as steps:
        unit, about = words.quoted(str(table.unit)), {question.about for question in asked}
        if about & {"totals", "single"}:  # never both
            capped = table if "totals" in about else replace(table, rows_per_unit=1)
            rows = steps.enter_context(database.scratch(capped_rows(capped, kept, words)))
        for question in asked:
            match question.about:
                case "largest":
                    numbers = _largest(table, source, owners, question)
                case "rows":
                    numbers = f"SELECT count(*) AS up, 0 AS down FROM {kept.sql} AS k GROUP BY {unit}"
                case "single" | "totals":
                    numbers = _totals(words, rows, unit, question, kept.names)
            yield question, _binned(database, question, numbers)


def _largest(table: TableShape, source: SourceTable, owners: Owners, question: Tally) -> str:
    """SQL of each unit's largest value above 0 and its furthest below 0, before bounds and cap, in grid steps; or, of
    a question that is not of both, of its value furthest from 0 alone.
    """
    rows = owners.rows(table)
    declared = next(column for column in table.columns if column.name == question.column)
    grid = reading(table, replace(declared, low=None, high=None), source, None).grid
    read = f"SELECT {rows.unit} AS u, {grid} AS g FROM {rows.sql}"
    furthest = "CASE WHEN max(g) >= -min(g) THEN max(g) ELSE min(g) END"
    high, low = ("max(g)", "min(g)") if question.both else (furthest, furthest)
    return (
        f"SELECT CASE WHEN x > 0 THEN x ELSE 0 END AS up, CASE WHEN y < 0 THEN -y ELSE 0 END AS down FROM "
        f"(SELECT {high} AS x, {low} AS y FROM ({read}) AS r WHERE u IS NOT NULL AND g IS NOT NULL GROUP BY u) AS r"
    )


def _totals(words: Dialect, rows: str, unit: str, question: Tally, names: Sequence[str]) -> str:
    """SQL of what each unit's values above 0 add up to in these rows, and those below, in grid steps of them."""
    stored = f"{question.column}$grid"
    grid = words.quoted(stored if stored in names else str(question.column))
    up, down = (
        words.call("sum_of_integers", f"CASE WHEN {grid} {sign} 0 THEN {times}{grid} ELSE 0 END")
        for sign, times in ((">", ""), ("<", "-"))
    )
    return f"SELECT {up} AS up, {down} AS down FROM {rows} AS r GROUP BY {unit}"


def _binned(database: Database, question: Tally, numbers: str) -> list[int]:
    """How many of the numbers ``up`` are in each bin, then, where there are signs, how many of ``down``.

    Numbers below 0 of a column that has none by its bounds are in no bin.
    """
    words, sides = database.dialect, ("up", "down") if question.signed else ("up",)
    ends = [(words.constant(2 << bin_, "HUGEINT"), bin_) for bin_ in range(question.bins - 1)]
    placed = []
    for side in sides:
        bins = "".join(f"WHEN {side} < {end} THEN {bin_} " for end, bin_ in ends)
        of_size = f"CASE {bins}ELSE {question.bins - 1} END" if bins else "0"
        placed.append(f"CASE WHEN {side} >= 1 THEN {of_size} ELSE -1 END AS {side}")
    names, counts = ", ".join(sides), [[0] * question.bins for _ in sides]
    rows = f"SELECT {', '.join(placed)} FROM ({numbers}) AS n"
    for found in database.rows(f"SELECT {names}, count(*) FROM ({rows}) AS r GROUP BY {names}"):
        bins_of, many = map(int, found[:-1]), int(found[-1])
        for side_counts, bin_ in zip(counts, bins_of, strict=True):
            if bin_ >= 0:
                side_counts[bin_] += many
    return [many for side_counts in counts for many in side_counts]


def _heavy(database: Database, table: TableShape, kept: Kept, column: str) -> list[list[Any]]:
    """[value, units] of each value that is some unit's most frequent one in the bounded table (the first of equals)."""
    words = database.dialect
    unit, name = words.quoted(str(table.unit)), words.quoted(column)
    with database.scratch(capped_rows(table, kept, words)) as capped:
        rows = database.rows(
            f"SELECT v, count(*) FROM (SELECT v, row_number() OVER (PARTITION BY u ORDER BY n DESC, v) AS place FROM "
            f"(SELECT {unit} AS u, {name} AS v, count(*) AS n FROM {capped} AS r WHERE {name} IS NOT NULL "
            f"GROUP BY {unit}, {name}) AS r) AS r WHERE place = 1 GROUP BY v ORDER BY v"
        )
    return [[value, int(count)] for value, count in rows]
