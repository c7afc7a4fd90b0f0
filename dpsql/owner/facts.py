"""The facts of public tables, as they are kept beside the bounded ones.

Tests: tests/unit/owner/test_builder.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.plan.types import Type

__all__ = ["public_table"]


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
        )
        for column in message["columns"]
    }
    return PublicTable(name, message["rows"], columns)
