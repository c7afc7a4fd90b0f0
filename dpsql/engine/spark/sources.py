"""Whether the tables of a cluster changed since the bounded ones were built from them.

It is told by their columns and their files: what Spark, Delta and Iceberg write has a new name each time. Of files that
this machine sees, too, size and time count as well.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from dpsql.engine.spark.connecting import SparkFailed, opened
from dpsql.engine.spark.database import source_relation
from dpsql.engine.spark.dialect import spark
from dpsql.engine.spark.types import written
from dpsql.errors import OperationalError

__all__ = ["apart", "contents", "fingerprint", "may_be_equal"]


def fingerprint(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[table, its columns, None, None], and [table, file, size, time of its last change in ns] of each file behind it,
    for the named tables, sorted.

    Raises:
        OperationalError: If the server does not answer.
    """
    words = spark("")
    session = opened(source["remote"])
    found: list[list[Any]] = []
    try:
        for name, file in sorted(tables.items()):
            relation = source_relation(session, words, source["schema"], name, file)
            try:
                columns = ", ".join(f"{column} {written(kind)}" for column, kind in session.columns_of(relation))
                found.append([name, columns, None, None])
                found += [[name, *_mark(path)] for path in sorted(session.files(relation))]
            except SparkFailed as error:
                if error.gone:
                    raise OperationalError("Spark does not answer any more. Nothing was read.") from error
                found.append([name, "?", None, None])  # it is gone, or cannot be read: that is a change
    finally:
        session.close()
    return found


def may_be_equal(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Never: another file is taken for other data."""
    return False


def contents(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """The same as the fingerprint: files that are equal in name, size and time hold equal data."""
    return fingerprint(source, tables)


def apart(tables: Mapping[str, str | None], contents: Any) -> Mapping[str, Any]:
    """Nothing: a table may be a view, whose rows are elsewhere."""
    return {}


def _mark(path: str) -> list[Any]:
    parts = urlparse(path)
    if parts.scheme in ("", "file"):
        try:
            status = Path(unquote(parts.path)).stat()
        except OSError:
            return [path, None, None]
        return [path, status.st_size, status.st_mtime_ns]
    return [path, None, None]
