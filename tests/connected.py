"""DuckDB's databases as tests write and read them, by one engine for all: to open an engine takes 20 ms of a processor.

A test that sets something in its engine, or asks how a file is locked, opens its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

__all__ = ["connected", "fill"]

NUMBERS = count(1)


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """The engine of a process that runs tests."""
    return duckdb.connect()


@contextmanager
def connected(file: Path | str | None = None, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the database in a file, or to a new one in memory, as `duckdb.connect` makes it."""
    name = f"memory{next(NUMBERS)}" if file is None else Path(file).stem
    with _engine(os.getpid()).cursor() as connection:
        connection.execute(f"ATTACH '{file or ':memory:'}' AS \"{name}\" {'(READ_ONLY)' if read_only else ''}")
        try:
            connection.execute(f'USE "{name}"')
            yield connection
        finally:
            connection.execute("USE memory")
            connection.execute(f'DETACH "{name}"')


def fill(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Puts rows into a table at once: with `executemany` each row takes as long as a statement."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {table} SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)
