"""PostgreSQL's numerics as Python's numbers: whole ones as int, others as float.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpsql.engine.postgres.connecting import driver

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["read_numbers"]


def read_numbers(connection: Connection[Any]) -> None:
    """Has a connection read numerics so, as text and as PostgreSQL's own bytes."""
    driver()
    from psycopg.adapt import Loader
    from psycopg.pq import Format
    from psycopg.types.numeric import NumericBinaryLoader, NumericLoader

    class _Text(NumericLoader):
        def load(self, data: Any) -> Any:
            return _plain(super().load(data))

    class _Binary(NumericBinaryLoader):
        format = Format.BINARY

        def load(self, data: Any) -> Any:
            return _plain(super().load(data))

    loaders: tuple[type[Loader], ...] = (_Text, _Binary)
    for loader in loaders:
        connection.adapters.register_loader("numeric", loader)


def _plain(number: Any) -> int | float:
    return int(number) if number.is_finite() and number == int(number) else float(number)
