"""Folders that hold a table with a log of its own: Delta Lake's and Iceberg's.

Tests: tests/unit/engine/test_delta.py, tests/unit/engine/test_iceberg.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpsql.engine.duckdb.delta import is_delta, newest_commit, rows_of_delta
from dpsql.engine.duckdb.iceberg import is_iceberg, newest_metadata, rows_of_iceberg

__all__ = ["Lake", "lake_of"]


@dataclass(frozen=True, slots=True)
class Lake:
    """One kind of them.

    Attributes:
        name: With its article.
        holds: Whether a path is a folder with such a table.
        newest: The file that tells of its newest version: another one is a change of the data.
        rows: What to write after FROM for a table, by its name for messages, and its folder.
    """

    name: str
    holds: Callable[[str], bool]
    newest: Callable[[str], str]
    rows: Callable[[str, str], str]


_LAKES = (
    Lake("a Delta table", is_delta, newest_commit, rows_of_delta),
    Lake("an Iceberg table", is_iceberg, newest_metadata, rows_of_iceberg),
)


def lake_of(path: str) -> Lake | None:
    """The kind of table that a folder holds; None where it holds none of these."""
    return next((lake for lake in _LAKES if lake.holds(path)), None)
