"""What tests of the builder share."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine with an empty source and an empty bounded database, both in memory."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS source")
        connection.execute("ATTACH ':memory:' AS bounded")
        yield connection
