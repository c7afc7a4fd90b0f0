"""Whether the tables of a cluster changed since the bounded ones were built from them.

It is told by their columns, the number of their version where they have one (`lakes`), and their files: what Spark
writes has a new name each time. Of files that this machine sees, too, size and time count as well.

Tests: tests/doors/test_spark_engine.py, tests/doors/test_spark_lakes.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from dpsql.engine.spark.connecting import SparkFailed, SparkSession, opened
from dpsql.engine.spark.database import in_catalogue, source_relation
from dpsql.engine.spark.dialect import spark
from dpsql.engine.spark.lakes import AS_OF, newest
from dpsql.engine.spark.types import written
from dpsql.errors import OperationalError

__all__ = ["apart", "contents", "fingerprint", "may_be_equal", "number", "opens", "versions"]


def opens(tables: Mapping[str, str | None]) -> bool:
    """Nothing: the server is asked."""
    return False


def versions(source: Mapping[str, str], tables: Mapping[str, str | None]) -> dict[str, str]:
    """`AS_OF` the newest version of each table of the catalogue that has a number.

    Raises:
        OperationalError: If the server does not answer.
    """
    with _asked(source) as session:
        found = {name: _version(session, source, name) for name, file in tables.items() if file is None}
    return {name: version for name, version in found.items() if version is not None}


def number(version: str) -> int:
    """The number of a version, as its store has it."""
    return int(version.removeprefix(AS_OF))


def fingerprint(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[table, its columns, its version, None], and [table, file, size, time of its last change in ns] of each file
    behind it, for the named tables, sorted.

    Raises:
        OperationalError: If the server does not answer.
    """
    words, found = spark(""), list[list[Any]]()
    with _asked(source) as session:
        for name, file in sorted(tables.items()):
            place = _version(session, source, name) if file is None else file
            relation = source_relation(session, words, source["schema"], name, place)
            try:
                columns = ", ".join(f"{column} {written(kind)}" for column, kind in session.columns_of(relation))
                found.append([name, columns, place if place and place.startswith(AS_OF) else None, None])
                found += [[name, *_mark(path)] for path in sorted(session.files(relation))]
            except SparkFailed as error:
                if error.gone:
                    raise
                found.append([name, "?", None, None])  # it is gone, or cannot be read: that is a change
    return found


@contextmanager
def _asked(source: Mapping[str, str]) -> Iterator[SparkSession]:
    session = opened(source["remote"])
    try:
        yield session
    except SparkFailed as error:
        raise OperationalError("Spark does not answer any more. Nothing was read.") from error
    finally:
        session.close()


def _version(session: SparkSession, source: Mapping[str, str], name: str) -> str | None:
    return newest(session, in_catalogue(spark(""), source["schema"], name))


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
