"""SHOW TABLES and DESCRIBE: the policy's public promises as rows.

Tests: tests/unit/answers/test_listing.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.answers.answer import Answer, public
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.expressions import nearest
from dpsql.plan.types import Type

__all__ = ["describe_table", "list_tables"]

LISTED = 12  # Values of a domain: DESCRIBE shows so many, and counts the rest. It is a choice: about one line.


def list_tables(catalog: Catalog) -> Answer:
    """One row per table: name, whether private, public or released, privacy unit, rows per unit, rows about; and where
    those come from: ``advised`` by `dpsql advise`, or the owner's guess."""
    text, integer = Type.TEXT, Type.INTEGER
    return public(
        ("table", "kind", "privacy_unit", "rows_per_unit", "rows_about", "known_from"),
        (text, text, text, integer, integer, text),
        [
            (t.name, "released", None, None, None, f"granted: its first reading costs {t.unread}")
            if t.unread
            else (t.name, "released" if t.released else "public", None, None, t.rows, "the table")
            if t.public
            else (t.name, "private", t.unit, t.rows_per_unit, t.rows_about, _known_from(t))
            for t in catalog.tables.values()
        ],
    )


def _known_from(table: TableInfo) -> str:
    """Who says how many rows a private table has."""
    return "a guess" if table.advised is None or table.advised.rows_of_policy else "advise"


def describe_table(catalog: Catalog, name: str) -> Answer:
    """One row per column: name, type, bounds or values, whether NULL is a group, grid step.

    Raises:
        UnsupportedQuery: There is no such table.
    """
    table = next((t for own, t in catalog.tables.items() if own.lower() == name.lower()), None)
    if table is None:
        raise UnsupportedQuery(
            "there is no such table (or the policy does not name it).", construct=name,
            hint=nearest(name, list(catalog.tables)) or f"There are {', '.join(catalog.tables)}.",
        )  # fmt: skip
    text = Type.TEXT
    return public(
        ("column", "type", "domain", "nullable", "grid"),
        (text, text, text, Type.BOOLEAN, text),
        [_described(catalog, table, column) for column in table.columns.values()],
    )


def _described(catalog: Catalog, table: TableInfo, column: ColumnInfo) -> tuple[object, ...]:
    facts = column.facts
    if column.unit:
        return (column.name, "privacy unit", "joins and COUNT(DISTINCT) only", False, None)
    if column.link is not None:
        return (column.name, "key", _joined(catalog, table, column.link), False, None)
    if facts.bounded and (table.public or column.values is None):
        domain = f"[{_end(facts.low)}, {_end(facts.high)}]"
    elif column.values is not None:
        shown = ", ".join(map(str, column.values[:LISTED]))
        more = len(column.values) - LISTED
        domain = shown + (f", and {more} more" if more > 0 else "")
    else:
        domain = "open" if table.public or facts.type is not Type.BOOLEAN else "false, true"
    return (column.name, facts.type.value, domain, facts.nullable, None if facts.step is None else _end(facts.step))


def _joined(catalog: Catalog, table: TableInfo, link: str) -> str:
    """With which columns of other tables a key may be joined: those that identify the same record."""
    others = [
        f"{name}.{column.name}"
        for name, other in catalog.tables.items()
        for column in other.columns.values()
        if column.link == link and name != table.name
    ]
    return f"joins only, with {', '.join(others)}" if others else "joins only; no other table refers to it"


def _end(value: object) -> str:
    return f"{float(value):.15g}" if isinstance(value, Fraction) else str(value)
