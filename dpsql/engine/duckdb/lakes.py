"""Folders that hold a table with a log of its own: Delta Lake's and Iceberg's. A version of one is told by the file of
the log that is its own.

Tests: tests/unit/engine/test_delta.py, tests/unit/engine/test_iceberg.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dpsql.engine.duckdb.delta import commit_number, is_delta, newest_commit, rows_of_delta
from dpsql.engine.duckdb.iceberg import is_iceberg, metadata_number, newest_metadata, rows_of_iceberg

__all__ = ["Lake", "lake_of", "version_of"]


@dataclass(frozen=True, slots=True)
class Lake:
    """One kind of them.

    Attributes:
        name: With its article.
        holds: Whether a path is a folder with such a table.
        newest: The file that tells of its newest version: another one is a change of the data.
        number: That of the version that a file tells of; None of any other file.
        rows: What to write after FROM for a table, by its name for messages, its folder, and the file of a version.
    """

    name: str
    holds: Callable[[str], bool]
    newest: Callable[[str], str]
    number: Callable[[str], int | None]
    rows: Callable[[str, str, str], str]


_LAKES = (
    Lake("a Delta table", is_delta, newest_commit, commit_number, rows_of_delta),
    Lake("an Iceberg table", is_iceberg, newest_metadata, metadata_number, rows_of_iceberg),
)


def lake_of(path: str) -> Lake | None:
    """The kind of table that a folder holds; None where it holds none of these."""
    return next((lake for lake in _LAKES if lake.holds(path)), None)


def version_of(path: str) -> tuple[Lake, str, int] | None:
    """(the kind of table, its folder, the number) of the version that a file tells of; None of any other path."""
    for lake in _LAKES:
        number = lake.number(path)
        if number is not None:
            return lake, str(Path(path).parent.parent), number
    return None
