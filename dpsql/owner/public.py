"""Public tables: copied as they are, and described from their values. Runs in the owner's process.

Tests: tests/unit/owner/test_check.py, tests/unit/owner/test_views.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

import duckdb

from dpsql.errors import PolicyError
from dpsql.limits import MOST_LISTED
from dpsql.owner.bounded import FIRST_DAY, LAST_DAY, family
from dpsql.owner.shape import TableShape
from dpsql.owner.sources import SourceTable, quote
from dpsql.plan.types import DECLARED, Type

__all__ = ["copied", "described"]


_STORED = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.BOOLEAN: "BOOLEAN",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


def copied(
    connection: duckdb.DuckDBPyConnection, table: TableShape, source: SourceTable
) -> tuple[str, dict[str, Type]]:
    """(the SELECT that copies a public table, the type of each column).

    Declared columns are read in their declared type, all others in their own where it is one of ours, else as text.
    NaN becomes NULL, as everywhere; so do infinities, which no bound would hold, and days that have no date.

    Raises:
        PolicyError: If a declared column or the key is not in the data.
    """
    declared = {column.name: column.type for column in table.columns}
    wanted = list(declared) or list(source.types)
    if table.key is not None and table.key.lower() not in {name.lower() for name in wanted}:
        wanted.append(table.key)
    types: dict[str, Type] = {}
    parts = []
    for name in wanted:
        kind = source.type_of(name)
        if kind is None:
            raise PolicyError(f"{table.name}.{name} is in the policy but not in the data. Remove it, or correct it.")
        types[name] = DECLARED[declared[name]] if name in declared else _type(connection, name, kind, source)
        parts.append(f"{_read(name, types[name])} AS {quote(name)}")
    return f"SELECT {', '.join(parts)} FROM {source.sql} AS s", types


def _type(connection: duckdb.DuckDBPyConnection, name: str, kind: str, source: SourceTable) -> Type:
    held = family(kind)
    if held == "wide":  # sums and counts come so: INTEGER where every value fits
        misfit = f"s.{quote(name)} IS NOT NULL AND TRY_CAST(s.{quote(name)} AS BIGINT) IS NULL"
        row = connection.execute(f"SELECT count(*) FROM {source.sql} AS s WHERE {misfit}").fetchone()
        return Type.INTEGER if row == (0,) else Type.TEXT
    return DECLARED.get(held, Type.TEXT)


def _read(name: str, kind: Type) -> str:
    value = f"TRY_CAST(s.{quote(name)} AS {_STORED[kind]})"
    match kind:
        case Type.REAL:
            return f"CASE WHEN isfinite({value}) THEN {value} + 0.0 END"
        case Type.DATE | Type.TIMESTAMP:
            first, last = f"DATE '{FIRST_DAY}'", f"TIMESTAMP '{LAST_DAY} 23:59:59.999999'"
            return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} END"
    return value


def described(connection: duckdb.DuckDBPyConnection, relation: str, types: Mapping[str, Type]) -> dict[str, Any]:
    """The facts of a copied table as `wire.encode` takes them: what `facts.public_table` reads.

    Args:
        connection: The engine.
        relation: The copy, quoted.
        types: What `copied` said.
    """
    row = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    columns = [_column(connection, relation, name, kind) for name, kind in types.items()]
    return {"rows": row[0] if row else 0, "columns": columns}


def _column(connection: duckdb.DuckDBPyConnection, relation: str, name: str, kind: Type) -> dict[str, Any]:
    column = quote(name)
    values = f"SELECT {column} AS v, count(*) AS n FROM {relation} WHERE {column} IS NOT NULL GROUP BY 1"
    low, high, most, distinct = _row(connection, f"SELECT min(v), max(v), max(n), count(*) FROM ({values})")
    nulls = _row(connection, f"SELECT count(*) FROM {relation} WHERE {column} IS NULL")[0]
    listed = None
    if distinct <= MOST_LISTED:
        listed = [value for (value,) in connection.execute(f"SELECT v FROM ({values}) ORDER BY v").fetchall()]
    bounded = kind not in (Type.TEXT, Type.BOOLEAN)
    return {
        "name": name,
        "type": kind.value,
        "low": _exact(low) if bounded else None,
        "high": _exact(high) if bounded else None,
        "values": listed,
        "nullable": nulls > 0,
        "multiplicity": most or 0,
    }


def _row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    return connection.execute(sql).fetchall()[0]


def _exact(value: int | float | date | None) -> Fraction | date | None:
    return Fraction(value) if isinstance(value, int | float) else value
