"""The schema of a cluster's tables: names and types, never a value.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.engine.database import TableSchema
from dpsql.engine.spark.connecting import SparkFailed, opened
from dpsql.engine.spark.dialect import spark
from dpsql.engine.spark.types import source_type
from dpsql.errors import OperationalError

__all__ = ["beside", "describe", "is_table", "keys", "left_out", "reads"]


def reads(source: str) -> bool:
    """Whether a source is a connection string of Spark Connect."""
    return source.startswith("sc://")


def beside(source: str) -> Path:
    """A policy in this folder: a cluster has no name."""
    return Path.cwd() / "spark"


def keys(source: str, at: Path) -> Mapping[str, str]:
    """What a policy writes under ``engine`` beside its kind."""
    return {"remote": source}


def is_table(source: str) -> bool:
    """Whether a source is one table: a cluster never is."""
    return False


def left_out(source: str) -> list[Path]:
    """Nothing: a source is no folder."""
    return []


def describe(source: str) -> Mapping[str, TableSchema]:
    """The columns of each table and view in the schema of a session, by its name.

    Raises:
        OperationalError: If the server does not answer, or there is no table.
    """
    words = spark("")
    session = opened(source)
    try:
        names = [row["tableName"] for row in session.rows("SHOW TABLES").to_pylist() if not row["isTemporary"]]
        found = {name: session.columns(f"SELECT * FROM {words.quoted(name)}") for name in names}
    except SparkFailed as error:
        raise OperationalError("Spark does not say which tables it has. Look at the server's log.") from error
    finally:
        session.close()
    if not found:
        raise OperationalError("The session's schema holds no table. Create the tables first.")
    return {
        name: TableSchema(tuple((column, source_type(kind)) for column, kind in columns))
        for name, columns in found.items()
    }
