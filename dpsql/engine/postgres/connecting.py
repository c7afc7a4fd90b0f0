"""Connections to a PostgreSQL server, with all that bears on what SQL means set to what dpsql means.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import OperationalError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["SETTINGS", "connected", "driver", "settle", "understood"]

OLDEST = 150_000  # PostgreSQL 15, as servers say it: the oldest on which the spellings were tried.
CONNECT_SECONDS = 10  # Until a server that does not answer is given up. It is a choice: a connection takes 10 ms.
SETTINGS = {
    "search_path": "pg_catalog, pg_temp",  # no function and no operator but PostgreSQL's own; else pg_temp is first
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "row_security": "off",  # a table that would hide rows is an error, not a part of the table
    "jit": "off",
    "bytea_output": "hex",
    "quote_all_identifiers": "off",
    "transform_null_equals": "off",
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
"""What the owner's server, database or role may have set otherwise."""
GONE = "PostgreSQL does not answer any more. Nothing was built; try again when it stands."
FULL = "PostgreSQL has not enough disk or memory, or is at a limit of the role. Nothing was built; give it more."
_SAYS = {
    "42501": "PostgreSQL says: {}. Grant the right.",
    "25006": "PostgreSQL takes nothing new there. Name the server that does, the primary, at engine.dsn.",
    "57014": "PostgreSQL was told to give up what it did. Nothing was built; try again.",
    "40": "PostgreSQL had to choose between this and what others did. Nothing was built; try again.",
    "53": FULL,
    "54": FULL,
    "55": "Somebody else works on what is wanted. Nothing was built; try again.",
    "57": GONE,
    "08": GONE,
}
"""What the owner is told, by PostgreSQL's code of an error, or by its first two signs, which are its class."""


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
        connection.execute(
            "SET statement_timeout = 0"
        )  # the role's own may be shorter than what is asked before `settle`
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


@contextmanager
def understood() -> Iterator[None]:
    """A block whose errors of the server's are the owner's to mend, where they are of a kind that is known.

    Raises:
        OperationalError: Of a fixed text, but for a name of the database. What the server said is its cause.
    """
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        code = error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
        told = _SAYS.get(code) or _SAYS.get(code[:2])
        if told is None:
            raise
        raise OperationalError(told.format(error.diag.message_primary)) from error
