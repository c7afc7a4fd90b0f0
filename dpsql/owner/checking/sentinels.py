"""Numbers that stand for no answer, such as -99: few values outside the bounds, or below 0, which many rows have.

For `dpsql check`, in the owner's process, and for the owner's eyes alone: here values of the data are named.

Tests: tests/unit/owner/checking/test_sentinels.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.engine.database import Database, SourceTable
from dpsql.owner.building.bounded import ColumnReading
from dpsql.owner.finding import MUCH

__all__ = ["below_0", "no_answers"]

MOST = 4  # Such values of one column: surveys have one for each reason not to answer. A guess.
KINDS = 50  # Values from 0 on, at least, beside which those below are none: of a scale from -2 to 2 they are. A guess.
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
    return f"{told} stands for no answer, {_instead(source, column, values, nullstr)}."


def below_0(
    database: Database, source: SourceTable, column: str, read: ColumnReading, rows: int, nullstr: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """The same where all values below 0, within the bounds, are a few whole numbers: in a sentence, with their number.

    Its arguments are those of `no_answers`.
    """
    shown = read.raw if not source.typed else read.parsed
    held = f"SELECT {shown} AS held, {read.parsed} AS number FROM {source.sql} AS s WHERE {read.parsed} < 0"
    counted = database.rows(
        f"SELECT held, min(number), count(*) AS n FROM ({held} AND NOT ({read.outside})) AS r GROUP BY held "
        f"ORDER BY n DESC, held LIMIT {MOST + 1}"
    )
    enough = all(n >= max(FEWEST, MUCH * rows) and float(least).is_integer() for _, least, n in counted)
    if not counted or len(counted) > MOST or not enough:
        return
    kinds = f"SELECT count(DISTINCT {read.parsed}) FROM {source.sql} AS s WHERE {read.parsed} >= 0"
    if database.rows(kinds)[0][0] < KINDS:
        return
    values = [_written(held) for held, _, _ in counted]
    told = f"values are {', '.join(values)}, and nothing else is below 0. If that stands for no answer,"
    yield f"{told} {_instead(source, column, values, nullstr)}.", sum(n for _, _, n in counted)


def _instead(source: SourceTable, column: str, values: Sequence[str], nullstr: Sequence[str]) -> str:
    """What to write so that such values are NULL."""
    if not source.typed:
        words = ", ".join(f'"{word}"' for word in (*nullstr, *values))
        read_as = f"write csv: {{nullstr: [{words}]}} at the table, which holds for all of its columns"
    else:
        name = source.dialect.quoted(column)
        null = f"CASE WHEN {name} NOT IN ({', '.join(values)}) THEN {name} END AS {name}"
        read_as = f"let it be NULL in the data, or in a view over them: {null}"
    return f"{read_as}; and nullable: true at this one"


def _written(value: object) -> str:
    """A number as a person writes it, and a text of a CSV file as it stands there."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
