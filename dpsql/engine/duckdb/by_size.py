"""What all units of a bounded table have in all, by size: added up as the worker does it, while a version is built.

Tests: tests/unit/owner/building/test_totals.py, tests/unit/engine/test_sized.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanoarrow import ArrayStream

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.sized import WIRES
from dpsql.plan.catalog import SIZES
from dpsql.worker.lying import alone, pieces
from dpsql.worker.ordered import OF
from dpsql.worker.sizing import sized

if TYPE_CHECKING:
    import duckdb

    from dpsql.engine.database import BySize

__all__ = ["create_by_size"]

MADE = "made"  # The name of the numbers while they are taken in.


def create_by_size(connection: duckdb.DuckDBPyConnection, name: str, rows: BySize) -> None:
    """Makes the table; see `Counting.create_by_size`.

    Raises:
        ValueError: If the rows do not come in the order of their units.
    """
    names, places = [key for key, _ in rows.keys], [many for _, many in rows.keys]
    connection.execute("SET preserve_insertion_order = true")
    stream = connection.sql(rows.sql)
    found = sized(pieces(stream, places) if names else alone(stream), names, places, rows.bins, rows.adds)
    connection.execute("SET preserve_insertion_order = false")
    of = DUCKDB.quoted(OF) if len(rows.bins) > 1 else "0"
    shown = [*map(DUCKDB.quoted, names), f"{of} AS {DUCKDB.quoted(SIZES[0])}"]
    for column, (own, wire) in zip(SIZES[1:], WIRES, strict=True):
        shown.append(f"{DUCKDB.cast(DUCKDB.quoted(own), wire)} AS {DUCKDB.quoted(column)}")
    shown += [f"{text} AS {DUCKDB.quoted(column)}" for column, text in rows.shown]
    connection.register(MADE, ArrayStream(found))
    connection.execute(f"CREATE TABLE {DUCKDB.bounded(name)} AS SELECT {', '.join(shown)} FROM {MADE}")
    connection.unregister(MADE)
