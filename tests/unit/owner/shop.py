"""A small shop, as its owner has it and as it is built: for tests of what is stored beside its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb

import dpsql.testing
from dpsql.engine.duckdb import FILE
from dpsql.testing_samplers import Noiseless
from tests.connected import connected
from tests.unit.mechanisms.shop import policy

__all__ = ["bounded_tables", "made_shop"]


def made_shop(home: Path, tables: str, rows: Mapping[str, str]) -> Path:
    """A folder with the database and the policy, ``shop.yaml``.

    Args:
        home: The folder.
        tables: As `shop.policy` takes them.
        rows: Of each table, a query that makes them.
    """
    with connected(home / "shop.duckdb") as source:
        for name, sql in rows.items():
            source.execute(f"CREATE TABLE {name} AS {sql}")
    (home / "shop.yaml").write_text(policy(tables))
    return home


@contextmanager
def bounded_tables(home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The bounded tables, as they were built."""
    with dpsql.testing.open(home / "shop.yaml", Noiseless()) as proxy:
        (file,) = Path(proxy._cache).rglob(FILE)
        with connected(file, read_only=True) as connection:
            yield connection
