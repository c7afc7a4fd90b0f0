"""The facts of public tables, as they are kept beside the bounded ones, and the values that they list for others.

Tests: tests/unit/owner/building/test_builder.py, tests/unit/owner/building/test_facts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.owner.shape import MOST_PLACED, ColumnShape, TableShape
from dpsql.plan.types import DECLARED, Type, Value

__all__ = ["public_table", "with_lists"]

MOST_LETTERS = 100
"""Of a listed text that is written as a constant. It is a choice: names of wards and districts have fewer."""


def public_table(name: str, message: Mapping[str, Any]) -> PublicTable:
    """The table that `public.described` spoke of."""
    columns = {
        column["name"]: PublicColumn(
            name=column["name"],
            type=Type(column["type"]),
            low=column["low"],
            high=column["high"],
            values=None if column["values"] is None else tuple(column["values"]),
            nullable=column["nullable"],
            multiplicity=column["multiplicity"],
            longest=column["longest"],
        )
        for column in message["columns"]
    }
    return PublicTable(name, message["rows"], columns)


def with_lists(table: TableShape, public: Mapping[str, PublicTable]) -> TableShape:
    """A private table whose columns have the values that public tables list for them, where these are few.

    So do both who make what is stored beside its rows and who plan with it: they know of the same public tables.

    >>> from dpsql.owner.shape import ColumnShape, TableShape
    >>> ward = ColumnShape("ward", "text", values_from=("wards", "name"))
    >>> stays = TableShape("stays", None, False, "patient", None, 9, (ward,))
    >>> names = PublicColumn("name", Type.TEXT, None, None, ("A", "B"), False, 1)
    >>> with_lists(stays, {"wards": PublicTable("wards", 2, {"name": names})}).columns[0].places
    ('A', 'B')
    """
    return replace(table, columns=tuple(_with_list(column, public) for column in table.columns))


def _with_list(column: ColumnShape, public: Mapping[str, PublicTable]) -> ColumnShape:
    if column.values_from is None:
        return column
    table, name = column.values_from
    listing = public[table].columns[name]
    values, alike = listing.values or (), listing.type is DECLARED[column.type]
    written = alike and 0 < len(values) <= MOST_PLACED and all(map(_short, values))
    return replace(column, values=values) if written else column


def _short(value: Value) -> bool:
    """Whether SQL may hold a listed value as a constant: no text of a public table is long there, or has odd signs."""
    return not isinstance(value, str) or (len(value) <= MOST_LETTERS and value.isprintable())
