"""Where the tables of one build stand: in a schema of the catalogue, or as Parquet in a folder of the cluster.

A version's directory holds a file that names them. The ledger's directory holds one of all builds that were begun:
what no version names any more is dropped by the next build. In a session each bounded table has a view, by whose name
statements call it.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dpsql.engine.spark.connecting import SparkSession
from dpsql.engine.spark.dialect import SparkDialect, spark

__all__ = ["ClusterBuild", "begun", "keep", "kept_by", "new", "read"]

FILE = "spark.json"
BEGUN = "spark-builds.json"


@dataclass(frozen=True, slots=True)
class ClusterBuild:
    """The tables of one build.

    Attributes:
        where: A schema of the catalogue, or a folder: the one with a slash.
        build: Eight random digits.
        count: How many were begun, scratch ones among them.
        tables: Of each that analysts' statements may read: its place among them, and its columns as DDL.
    """

    where: str
    build: str
    count: int = 0
    tables: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def dialect(self) -> SparkDialect:
        """The words that name them."""
        return spark(f"b{self.build}_")

    @property
    def mark(self) -> str:
        """A view that a session has in which all tables are shown. One that was made anew by others has not."""
        return f"dpsql_shown_{self.build}"

    def began(self) -> ClusterBuild:
        """With one more begun."""
        return replace(self, count=self.count + 1)

    def named(self, name: str, place: int, columns: str) -> ClusterBuild:
        """With one more that statements may read."""
        return replace(self, tables={**self.tables, name: (place, columns)})

    def write(self, place: Path) -> None:
        """Says so in a version's directory."""
        (place / FILE).write_text(json.dumps(asdict(self)))

    def save(self, session: SparkSession, place: int, relation: Any, *, more: bool = False) -> None:
        """Has the cluster write a table.

        Args:
            session: Of the owner.
            place: Which of this build.
            relation: Its rows.
            more: Whether it may be there already, and gets these rows too.
        """
        mode = "APPEND" if more else "ERROR_IF_EXISTS"
        if self._folder:
            session.write(relation, path=self._path(place), mode=mode)
        else:
            session.write(relation, table=self._table(place), mode=mode)

    def relation(self, session: SparkSession, place: int, columns: str) -> Any:
        """The rows of a table. A folder without a file is a table without rows: so its columns are said."""
        if self._folder:
            return session.parquet(self._path(place), columns)
        return session.relation(f"SELECT * FROM {self._table(place)}")

    def drop(self, session: SparkSession, place: int) -> None:
        """Has the cluster forget a table. Of a folder nothing stays but itself."""
        if self._folder:
            empty = session.relation("SELECT 1 AS gone WHERE 1 = 0")
            session.write(empty, path=self._path(place), mode="OVERWRITE")
        else:
            session.told(f"DROP TABLE IF EXISTS {self._table(place)}")

    def show(self, session: SparkSession) -> None:
        """Gives each table that statements may read its view."""
        for name, (place, columns) in self.tables.items():
            self.show_one(session, name, self.relation(session, place, columns))
        session.view(self.mark, session.relation("SELECT 1 AS one"))

    def show_one(self, session: SparkSession, name: str, relation: Any) -> None:
        """Gives a relation the name by which statements call the bounded table of this name."""
        session.view(self.dialect.bounded(name), relation)

    @property
    def _folder(self) -> bool:
        return "/" in self.where

    def _path(self, place: int) -> str:
        return f"{self.where.rstrip('/')}/dpsql_{self.build}/{place}"

    def _table(self, place: int) -> str:
        return f"{self.dialect.quoted(self.where)}.dpsql_{self.build}_{place}"


def new(where: str) -> ClusterBuild:
    """The tables of a build that begins."""
    return ClusterBuild(where, secrets.token_hex(4))


def read(place: Path) -> ClusterBuild:
    """Those of a version's directory."""
    return _read(json.loads((place / FILE).read_text()))


def kept_by(cache: Path) -> set[str]:
    """The builds that versions in a ledger's directory name."""
    return {json.loads(file.read_text())["build"] for file in cache.glob(f"v*/{FILE}")}


def begun(cache: Path) -> list[ClusterBuild]:
    """All builds that were begun for a ledger and not dropped."""
    file = cache / BEGUN
    return [_read(message) for message in json.loads(file.read_text())] if file.exists() else []


def keep(cache: Path, builds: list[ClusterBuild]) -> None:
    """Writes down which builds those are, whole or not at all."""
    file = cache / f"{BEGUN}.new"
    file.write_text(json.dumps([asdict(replace(build, tables={})) for build in builds]))
    file.replace(cache / BEGUN)


def _read(message: Mapping[str, Any]) -> ClusterBuild:
    tables = {name: (int(place), str(columns)) for name, (place, columns) in message["tables"].items()}
    return ClusterBuild(message["where"], message["build"], message["count"], tables)
