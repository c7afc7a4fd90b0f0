"""What a PostgreSQL database says of its tables: where one of a name is, and what types its columns have.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.engine.database import SourceType
from dpsql.engine.postgres.types import source_type

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["HOLDS_ROWS", "columns_of", "found_by", "named", "searched"]

HOLDS_ROWS = "c.relkind IN ('r', 'p', 'v', 'm', 'f')"
"""That a relation ``c`` is a table, whole or in parts, a view, a materialised one or a foreign table."""
_COLUMNS = """
    SELECT a.attrelid, a.attname, format_type(b.oid, NULL), b.typcategory,
           CASE WHEN b.oid = t.oid THEN a.atttypmod ELSE t.typtypmod END,
           EXISTS (SELECT 1 FROM pg_collation k WHERE k.oid = a.attcollation AND NOT k.collisdeterministic)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
         JOIN pg_type b ON b.oid = (
             WITH RECURSIVE own(oid, kind, base) AS (
                 SELECT t.oid, t.typtype, t.typbasetype UNION ALL
                 SELECT d.oid, d.typtype, d.typbasetype FROM own JOIN pg_type d ON own.kind = 'd' AND d.oid = own.base
             ) SELECT oid FROM own WHERE kind <> 'd'
         )
    WHERE a.attrelid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def searched(connection: Connection[Any]) -> list[str]:
    """The schemas in which the role looks for tables, in order, before `connecting.settle` sets others."""
    ((schemas,),) = connection.execute("SELECT current_schemas(false)::text[]").fetchall()
    return list(schemas)


def found_by(name: str) -> str:
    """SQL of the relation that a name (SQL, too) finds in the schemas of the second parameter, or as ``schema.table``:
    its ``oid`` and ``sql``.
    """
    return f"""
        SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS sql
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE ((c.relname = {name} AND n.nspname = ANY($2)) OR concat(n.nspname, '.', c.relname) = {name})
              AND {HOLDS_ROWS}
        ORDER BY c.relname = {name} DESC, array_position($2, n.nspname) LIMIT 1
    """


def named(connection: Connection[Any], name: str, schemas: Sequence[str]) -> tuple[int, str] | None:
    """A relation's number, and what to write after FROM for it; None where there is none of that name."""
    found: tuple[int, str] | None = connection.execute(found_by("$1").encode(), [name, list(schemas)]).fetchone()
    return found


def columns_of(connection: Connection[Any], relations: Sequence[int]) -> Mapping[int, Mapping[str, SourceType]]:
    """For each relation, by its number, the types of its columns by name, in order."""
    found: dict[int, dict[str, SourceType]] = {relation: {} for relation in relations}
    for relation, column, name, category, modifier, collated in connection.execute(
        _COLUMNS, [list(relations)]
    ).fetchall():
        found[relation][column] = source_type(name, category, modifier, collated=collated)
    return found
