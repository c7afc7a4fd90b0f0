"""How many units and rows of a bounded table have each day: counted as the worker does it, while a version is built.

Tests: tests/unit/owner/building/test_open_days.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanoarrow import ArrayStream

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.plan.catalog import DAYS, MOST_FIRST, NUMBER, RANK
from dpsql.worker.group_ranks import by_group_rank

if TYPE_CHECKING:
    import duckdb

__all__ = ["create_by_day"]

MADE = "made"  # The name of the numbers while they are taken in.


def create_by_day(connection: duckdb.DuckDBPyConnection, name: str, table: str, column: str) -> None:
    """Makes the table; see `Counting.create_by_day`. Where days lie centuries apart, the database counts.

    Raises:
        ValueError: If the rows do not lie in order.
    """
    day, unit, rank, *shown = map(DUCKDB.quoted, (column, NUMBER, RANK, *DAYS))
    group, units, rows = shown
    connection.execute("SET preserve_insertion_order = true")
    stream = connection.sql(f"SELECT {unit}, {day} FROM {DUCKDB.bounded(table)}")
    found = by_group_rank(stream, (column, *DAYS), MOST_FIRST)
    connection.execute("SET preserve_insertion_order = false")
    made = f"CREATE TABLE {DUCKDB.bounded(name)} AS SELECT {day}, {', '.join(shown)}"
    if found is not None:
        connection.register(MADE, ArrayStream(found))
        connection.execute(f"{made} FROM {MADE}")
        connection.unregister(MADE)
        return
    of_units = f"SELECT {unit}, {day}, count(*) AS n, min({rank}) AS first FROM {DUCKDB.bounded(table)} GROUP BY ALL"
    place = f"row_number() OVER (PARTITION BY {unit} ORDER BY first)"
    ranked = f"SELECT {day}, least({place}, {MOST_FIRST + 1}) AS {group}, n FROM ({of_units}) AS u"
    counted = f"SELECT {day}, {group}, count(*) AS {units}, CAST(sum(n) AS BIGINT) AS {rows} FROM ({ranked}) AS r"
    connection.execute(f"{made} FROM ({counted} GROUP BY ALL) AS c ORDER BY {day}, {group}")
