"""Public tables: copied as they are, and described from their values. Runs in the owner's process.

Tests: tests/unit/owner/checking/test_check.py, tests/unit/owner/building/test_views.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from dpsql.engine.database import Database, SourceTable, SourceType
from dpsql.engine.dialect import WIRE, Dialect
from dpsql.errors import PolicyError
from dpsql.limits import MOST_LISTED
from dpsql.owner.shape import TableShape
from dpsql.plan.types import DECLARED, Type, Value

__all__ = ["columns_of_public", "copied", "described"]

LARGEST = Fraction(sys.float_info.max)  # The largest of all doubles; NaN and infinity are above it.


def copied(database: Database, table: TableShape, source: SourceTable) -> tuple[str, dict[str, Type]]:
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
        types[name] = DECLARED[declared[name]] if name in declared else _type(database, name, kind, source)
        parts.append(f"{_read(name, kind, types[name], source.dialect)} AS {source.dialect.quoted(name)}")
    return f"SELECT {', '.join(parts)} FROM {source.sql} AS s", types


def columns_of_public(database: Database, table: TableShape, names: Sequence[str]) -> dict[str, list[Value]]:
    """Whole columns of a public table of the source, row by row.

    Raises:
        PolicyError: If the table is private, or a column is not there.
    """
    if not table.public:
        raise PolicyError(f"{table.name} is not public.")
    select, types = copied(database, table, table.of(database))
    if not {name.lower() for name in names} <= {name.lower() for name in types}:
        raise PolicyError(f"{table.name} has not all of the columns {', '.join(names)}. Write the data's names.")
    rows = database.rows(f"SELECT {', '.join(map(database.dialect.quoted, names))} FROM ({select}) AS r")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _type(database: Database, name: str, kind: SourceType, source: SourceTable) -> Type:
    if kind.family == "wide":  # sums and counts come so: INTEGER where every value fits
        column = f"s.{source.dialect.quoted(name)}"
        misfit = f"{column} IS NOT NULL AND {source.dialect.call('bigint_of_wide', column)} IS NULL"
        fits = database.rows(f"SELECT count(*) FROM {source.sql} AS s WHERE {misfit}") == [(0,)]
        return Type.INTEGER if fits else Type.TEXT
    return DECLARED.get(kind.family, Type.TEXT)


def _read(name: str, kind: SourceType, wanted: Type, words: Dialect) -> str:
    value = words.call(f"{WIRE[wanted].lower()}_of_{kind.family}", f"s.{words.quoted(name)}")
    match wanted:
        case Type.REAL:
            ends = " AND ".join(words.constant(end, "DOUBLE") for end in (-LARGEST, LARGEST))
            return f"CASE WHEN {value} BETWEEN {ends} THEN {value} + 0.0 END"
        case Type.DATE:
            return f"CASE WHEN {words.call('day_in_calendar', value)} THEN {value} END"
        case Type.TIMESTAMP:
            return f"CASE WHEN {words.call('in_calendar', value)} THEN {value} END"
    return value


def described(database: Database, name: str, types: Mapping[str, Type]) -> dict[str, Any]:
    """The facts of a copied table as `wire.encode` takes them: what `facts.public_table` reads.

    Args:
        database: Where it stands.
        name: The table.
        types: What `copied` said.
    """
    relation = database.dialect.bounded(name)
    counts = ", ".join(f"count({column})" for column in ("*", *map(database.dialect.quoted, types)))
    ((rows, *known),) = database.rows(f"SELECT {counts} FROM {relation}")
    columns = [
        _column(database, relation, *column, nullable=own < rows)
        for column, own in zip(types.items(), known, strict=True)
    ]
    return {"rows": rows, "columns": columns}


def _column(database: Database, relation: str, name: str, kind: Type, *, nullable: bool) -> dict[str, Any]:
    column = database.dialect.quoted(name)
    values = f"SELECT {column} AS v, count(*) AS n FROM {relation} WHERE {column} IS NOT NULL GROUP BY 1"
    bounded = kind not in (Type.TEXT, Type.BOOLEAN)
    ends = "min(v), max(v)" if bounded else "NULL, NULL"
    longest = f"max({database.dialect.call('length', 'v')})" if kind is Type.TEXT else "NULL"
    ((low, high, most, distinct, letters),) = database.rows(
        f"SELECT {ends}, max(n), count(*), {longest} FROM ({values}) AS c"
    )
    listed = None
    if distinct <= MOST_LISTED:
        listed = [value for (value,) in database.rows(f"SELECT v FROM ({values}) AS c ORDER BY v")]
    return {
        "name": name,
        "type": kind.value,
        "low": _exact(low),
        "high": _exact(high),
        "values": listed,
        "nullable": nullable,
        "multiplicity": most or 0,
        "longest": letters or 0,
    }


def _exact(value: int | float | date | None) -> Fraction | date | None:
    return Fraction(value) if isinstance(value, int | float) else value
