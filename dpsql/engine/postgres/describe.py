"""The schema of a PostgreSQL database: names and types, never a value.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dpsql.engine.database import TableSchema
from dpsql.engine.postgres.connecting import connected, driver
from dpsql.engine.postgres.relations import HOLDS_ROWS, columns_of
from dpsql.errors import OperationalError

__all__ = ["beside", "describe", "is_table", "keys", "left_out", "reads"]

_URI = re.compile(r"postgres(ql)?://")
_WORDS = re.compile(r"(.* )?(host|hostaddr|port|dbname|user|service|options) ?= ?[^ ]")

_TABLES = f"""
    SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY(current_schemas(false)) AND {HOLDS_ROWS} AND NOT c.relispartition
    ORDER BY c.relname, array_position(current_schemas(false), n.nspname) DESC  -- of two, the first in the path stays
"""


_CONSTRAINTS = """
    SELECT k.contype::text, k.conrelid, k.confrelid,
        ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS own(number, place)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = own.number ORDER BY own.place),
        ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS other(number, place)
            JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = other.number ORDER BY other.place)
    FROM pg_constraint k WHERE k.conrelid = ANY($1) AND k.contype IN ('p', 'u', 'f')
    ORDER BY array_position(ARRAY['p', 'u', 'f'], k.contype::text), k.conname
"""

_COMMENTS = """
    SELECT d.objoid, coalesce(a.attname::text, ''), d.description
    FROM pg_description d LEFT JOIN pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid AND d.objsubid > 0
    WHERE d.classoid = 'pg_class'::regclass AND d.objoid = ANY($1)
"""
"""On relations, whose column is '', and on columns."""


def reads(source: str) -> bool:
    """Whether a source is a connection string of PostgreSQL: a URI, or words and values such as ``dbname=hospital``."""
    return bool(_URI.match(source) or _WORDS.match(source))


def beside(source: str) -> Path:
    """A policy in this folder, called after the database, or the service."""
    parts = _parts(source)
    return Path.cwd() / (parts.get("dbname") or parts.get("service") or parts.get("user") or "postgres")


def keys(source: str, at: Path) -> Mapping[str, str]:
    """What a policy writes under ``engine`` beside its kind."""
    return {"dsn": source}


def is_table(source: str) -> bool:
    """Whether a source is one table: a database never is."""
    return False


def left_out(source: str) -> list[Path]:
    """Nothing: a source is no folder."""
    return []


def describe(source: str) -> Mapping[str, TableSchema]:
    """The columns of each table and view in the search path of a connection string, by its name, with what it declares.

    Raises:
        OperationalError: If the server does not answer, there is no table, or a policy may not hold the string.
    """
    if _parts(source).get("password"):
        raise OperationalError(
            "The connection string holds a password, and the policy would hold it, too. Leave it out, and write it "
            "into ~/.pgpass: host:port:database:user:password."
        )
    with connected(source) as connection:
        tables = dict(connection.execute(_TABLES.encode()).fetchall())
        columns = columns_of(connection, list(tables))
        declared = connection.execute(_CONSTRAINTS.encode(), [list(tables)]).fetchall()
        commented = connection.execute(_COMMENTS.encode(), [list(tables)]).fetchall()
    comments: dict[int, dict[str, str]] = {relation: {} for relation in tables}
    for relation, column, text in commented:
        comments[relation][column] = text
    if not tables:
        raise OperationalError(
            "There is no table in the search path of the connection string. Where the tables are in a schema of their "
            "own, name it: 'host=.. dbname=.. user=.. options=-csearch_path=SCHEMA'."
        )
    return {
        name: TableSchema(
            tuple(columns[relation].items()),
            keys=tuple(tuple(own) for kind, of, _, own, _ in declared if of == relation and kind != "f"),
            references={
                own[0]: (tables[other], others[0])
                for kind, of, other, own, others in declared
                if of == relation and kind == "f" and len(own) == 1 and other in tables
            },
            comment=comments[relation].pop("", ""),
            comments=comments[relation],
        )
        for relation, name in tables.items()
    }


def _parts(source: str) -> dict[str, str]:
    """What a connection string says, by its words.

    Raises:
        OperationalError: If it is none.
    """
    psycopg = driver()
    try:
        return {word: str(value) for word, value in psycopg.conninfo.conninfo_to_dict(source).items() if value}
    except psycopg.ProgrammingError as error:
        raise OperationalError(
            "PostgreSQL does not read this connection string. Write one such as postgresql://user@host/database."
        ) from error
