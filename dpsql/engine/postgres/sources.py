"""Whether the tables of a PostgreSQL database changed since the bounded ones were built from them.

The server counts the rows that were ever inserted, updated and deleted in each table: a look at these counts costs
nothing, as does one at the names and types of its columns, and at what a view says. The counts are a moment behind, and
begin anew after a crash: then the content is looked at, by a hash of all rows.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.engine.postgres.connecting import connected, settle, understood
from dpsql.engine.postgres.relations import found_by, named, searched
from dpsql.engine.postgres.words import ONCE

__all__ = ["apart", "contents", "fingerprint", "may_be_equal", "number", "opens", "versions"]

_HASH = "encode(sha256(convert_to({}, 'UTF8')), 'hex')"
_SHAPE = _HASH.format("concat(d.columns, d.view)")
_TABLES = f"""
    WITH RECURSIVE edges(whole, part) AS (
        SELECT r.ev_class, d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
        UNION SELECT inhparent, inhrelid FROM pg_inherits
    ), used(oid) AS (
        SELECT f.oid FROM unnest($1::text[]) AS t(name) CROSS JOIN LATERAL ({found_by("t.name")}) AS f
        UNION SELECT part FROM used JOIN edges ON whole = used.oid
    )
    SELECT c.oid::bigint, coalesce(pg_relation_filenode(c.oid), 0)::bigint, pg_stat_get_tuples_inserted(c.oid),
           pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid), {_SHAPE}
    FROM used JOIN pg_class c ON c.oid = used.oid CROSS JOIN LATERAL (
        SELECT string_agg(concat_ws(' ', attname, atttypid, atttypmod), ', ' ORDER BY attnum) AS columns,
               CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END AS view
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    ) AS d
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1
"""

_HASHED = f"""
    SELECT count(*), sum(('x' || substr(h, 1, 15))::bit(60)::bigint), sum(('x' || substr(h, 16, 15))::bit(60)::bigint)
    FROM ({ONCE}SELECT {_HASH.format("t::text")} AS h FROM {{}} AS t) AS r
"""


def fingerprint(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[table, its file, rows inserted, updated, deleted, a hash of its columns and of its definition] of each table and
    view behind the named ones.

    Raises:
        OperationalError: If the server does not answer.
    """
    with connected(source["dsn"]) as connection, understood():
        schemas = searched(connection)
        settle(connection)
        return [list(row) for row in connection.execute(_TABLES.encode(), [list(tables), schemas]).fetchall()]


def may_be_equal(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Whether they are of the same tables: then a look at the content tells."""
    return [mark[0] for mark in one] == [mark[0] for mark in other]


def contents(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[table, rows, two sums of the hashes of its rows] for each named one. Runs in the owner's process."""
    found: list[list[Any]] = []
    with connected(source["dsn"]) as connection, understood():
        schemas = searched(connection)
        settle(connection)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for name in sorted(tables):
            place = named(connection, name, schemas)
            row = None if place is None else connection.execute(_HASHED.format(place[1]).encode()).fetchone()
            found.append([name, *(map(str, row or ()))])
    return found


def apart(tables: Mapping[str, str | None], contents: Any) -> Mapping[str, Any]:
    """Nothing: a table may be a view, whose rows are elsewhere."""
    return {}


def opens(tables: Mapping[str, str | None]) -> bool:
    """Nothing: the server is asked."""
    return False


def versions(source: Mapping[str, str], tables: Mapping[str, str | None]) -> Mapping[str, str]:
    """Nothing: a build reads one snapshot of the server, which has no number that lasts."""
    return {}


def number(version: str) -> int:
    """None has one."""
    raise ValueError(version)
