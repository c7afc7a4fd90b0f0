"""Connections to a PostgreSQL server, with all that bears on what SQL means set to what dpsql means.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import OperationalError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["SETTINGS", "connected", "driver", "settle"]

OLDEST = 150_000  # PostgreSQL 15, as servers say it: the oldest on which the spellings were tried.
CONNECT_SECONDS = 10  # Until a server that does not answer is given up. It is a choice: a connection takes 10 ms.
SETTINGS = {
    "search_path": "pg_catalog",  # no function and no operator but PostgreSQL's own
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "row_security": "off",  # a table that would hide rows is an error, not a part of the table
    "jit": "off",
    "idle_in_transaction_session_timeout": "0",
}
"""What the owner's server, database or role may have set otherwise."""


def driver() -> Any:
    """psycopg, which comes with the extra ``postgres``.

    Raises:
        OperationalError: If it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise OperationalError(
            "engine.kind postgres needs psycopg. Write, in the copy of dpsql's repository: pip install '.[postgres]'"
        ) from None
    return psycopg


def connected(dsn: str) -> Connection[Any]:
    """A connection that commits each statement by itself. What it means is not settled yet: see `settle`.

    Raises:
        OperationalError: If there is none, or the server is too old, or does not keep text as UTF-8. What the server
            said is its cause, for the owner's log.
    """
    psycopg = driver()
    try:
        connection: Connection[Any] = psycopg.connect(
            dsn,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            connect_timeout=CONNECT_SECONDS,
            client_encoding="UTF8",
            application_name="dpsql",
            prepare_threshold=None,
        )
    except psycopg.Error as error:
        OPERATOR.error("PostgreSQL: %s", error)
        raise OperationalError(
            f"PostgreSQL does not answer, or does not let the role in. Mend engine.dsn or engine.query_dsn. {TELLS}"
        ) from error
    encoding = connection.info.parameter_status("server_encoding")
    if connection.info.server_version < OLDEST or encoding != "UTF8":
        connection.close()
        raise OperationalError(
            "PostgreSQL must be of version 15 or newer, and the database must keep its text as UTF8: "
            f"this one is of version {connection.info.server_version // 10_000} and keeps {encoding}."
        )
    return connection


def settle(connection: Connection[Any], **more: str) -> None:
    """Sets all that bears on what SQL means to what dpsql means."""
    for name, value in {**SETTINGS, **more}.items():
        connection.execute("SELECT set_config($1, $2, false)", [name, value])
