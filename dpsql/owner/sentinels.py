"""Numbers that stand for no answer, such as -99: few values outside the bounds, which many rows have.

For `dpsql check`, in the owner's process, and for the owner's eyes alone: here values of the data are named.

Tests: tests/unit/owner/test_sentinels.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.database import Database, SourceTable
from dpsql.owner.bounded import ColumnReading
from dpsql.owner.finding import MUCH

__all__ = ["no_answers"]

MOST = 4  # Such values of one column: surveys have one for each reason not to answer. A guess.
FEWEST = 20  # Rows that have one: of fewer, a value may be somebody's own. A guess.


def no_answers(
    database: Database,
    source: SourceTable,
    column: str,
    read: ColumnReading,
    rows: int,
    outside: int,
    nullstr: Sequence[str] = (),
) -> str:
    """What the owner can write where most values outside the bounds are a few numbers; '' where they are not.

    Args:
        database: The source's.
        source: The table.
        column: A number without listed values, as the data call it.
        read: How it is read.
        rows: How many there are.
        outside: How many of them are outside the bounds.
        nullstr: What the policy says of the table's CSV file already.
    """
    held = f"SELECT {read.raw if not source.typed else read.parsed} AS held FROM {source.sql} AS s WHERE {read.outside}"
    counted = database.rows(
        f"SELECT held, count(*) AS n FROM ({held}) AS r GROUP BY held ORDER BY n DESC, held LIMIT {MOST}"
    )
    often = [(_written(value), count) for value, count in counted if count >= max(FEWEST, MUCH * rows)]
    if 2 * sum(count for _, count in often) < outside:
        return ""
    values = [value for value, _ in often]
    told = f" {', '.join(values)} {'is' if len(values) == 1 else 'are'} {sum(n for _, n in often):,} of them. If that"
    if not source.typed:
        words = ", ".join(f'"{word}"' for word in (*nullstr, *values))
        read_as = f"write csv: {{nullstr: [{words}]}} at the table, which holds for all of its columns"
    else:
        name = source.dialect.quoted(column)
        null = f"CASE WHEN {name} NOT IN ({', '.join(values)}) THEN {name} END AS {name}"
        read_as = f"let it be NULL in the data, or in a view over them: {null}"
    return f"{told} stands for no answer, {read_as}; and nullable: true at this one."


def _written(value: object) -> str:
    """A number as a person writes it, and a text of a CSV file as it stands there."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
