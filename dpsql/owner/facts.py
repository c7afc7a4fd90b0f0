"""What is kept beside a bounded file: what it was built from, and the facts of its public tables.

Whether a source changed is told by size and time of its files, and by their content only where the time alone is
another one: a look at a time costs nothing, a look at the content about a second for each gigabyte.

Tests: tests/unit/owner/test_builder.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.owner.shape import Shape
from dpsql.plan.types import Type

__all__ = ["contents", "fingerprint", "public_table", "same_sizes"]


def fingerprint(shape: Shape) -> list[list[Any]]:
    """What tells that a source file has changed: [path, size, time of its last change in ns] of each, sorted.

    A database's write-ahead log counts as a file of its own.
    """
    return [_mark(path) for path in _paths(shape)]


def same_sizes(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Whether two fingerprints differ in nothing but times."""
    return [mark[:2] for mark in one] == [mark[:2] for mark in other]


def contents(shape: Shape) -> list[list[str | None]]:
    """[path, SHA-256 of the content] of each source file, sorted. Runs in the owner's process."""
    return [[path, _digest(path)] for path in _paths(shape)]


def _paths(shape: Shape) -> list[str]:
    paths = {table.source for table in shape.tables if table.source is not None}
    if shape.database is not None and any(table.source is None for table in shape.tables):
        paths |= {shape.database, shape.database + ".wal"}
    return sorted(paths)


def _mark(path: str) -> list[Any]:
    try:
        status = os.stat(_name(path))  # noqa: PTH116 - a Path takes no bytes
    except OSError:
        return [path, None, None]
    return [path, status.st_size, status.st_mtime_ns]


def _digest(path: str) -> str | None:
    try:
        with open(_name(path), "rb") as file:  # noqa: PTH123 - as above
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _name(path: str) -> bytes:
    """A path of a shape as the system knows it, whatever this process's locale can say."""
    return path.encode("utf-8", "surrogateescape")


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
