"""How many units and rows of a bounded table have each day: counted as the worker does it, while a version is built.

Tests: tests/unit/owner/building/test_open_days.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanoarrow import ArrayStream

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.plan.catalog import DAYS, NUMBER
from dpsql.worker.whole_keys import by_key

if TYPE_CHECKING:
    import duckdb

__all__ = ["create_by_day"]

MADE = "made"  # The name of the numbers while they are taken in.


def create_by_day(connection: duckdb.DuckDBPyConnection, name: str, column: str, rows: str) -> None:
    """Makes the table; see `Database.create_by_day`. Where days lie centuries apart, the database counts.

    Raises:
        ValueError: If the rows do not come in the order of their units.
    """
    day, unit, (units, every) = DUCKDB.quoted(column), DUCKDB.quoted(NUMBER), map(DUCKDB.quoted, DAYS)
    connection.execute("SET preserve_insertion_order = true")
    found = by_key(connection.sql(rows), [(column, "DATE"), *((own, "BIGINT") for own in DAYS)], (1,))
    connection.execute("SET preserve_insertion_order = false")
    made = f"CREATE TABLE {DUCKDB.bounded(name)} AS SELECT {day}"
    if found is None:
        of_units = f"SELECT {day}, count(*) AS n FROM ({rows}) AS r GROUP BY {unit}, {day}"
        sums = f"count(*) AS {units}, CAST(sum(n) AS BIGINT) AS {every}"
        connection.execute(f"{made}, {sums} FROM ({of_units}) AS q GROUP BY {day} ORDER BY {day}")
        return
    connection.register(MADE, ArrayStream(found))
    connection.execute(f"{made}, {units}, {every} FROM {MADE}")
    connection.unregister(MADE)
