"""What is kept beside a bounded file: what it was built from, and the facts of its public tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpsql.engines.base import PublicColumn, PublicTable
from dpsql.engines.shape import Shape
from dpsql.plan.types import Type

__all__ = ["fingerprint", "public_table"]


def fingerprint(shape: Shape) -> list[list[Any]]:
    """What tells that a source file has changed: [path, size, time of its last change in ns] of each, sorted.

    A database's write-ahead log counts as a file of its own.
    """
    paths = {table.source for table in shape.tables if table.source is not None}
    if shape.database is not None and any(table.source is None for table in shape.tables):
        paths |= {shape.database, shape.database + ".wal"}
    return [_mark(path) for path in sorted(paths)]


def _mark(path: str) -> list[Any]:
    try:
        status = Path(path).stat()
    except OSError:
        return [path, None, None]
    return [path, status.st_size, status.st_mtime_ns]


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
