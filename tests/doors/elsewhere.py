"""Engines other than DuckDB, each of which can be given the tables of a DuckDB file."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from dpsql.engine.dialect import Dialect
from dpsql.engine.postgres.connecting import settle
from dpsql.engine.postgres.dialect import postgres as words
from dpsql.engine.postgres.numbers import read_numbers
from dpsql.engine.postgres.section import PostgresSection
from dpsql.engine.spark.connecting import SparkFailed
from dpsql.engine.spark.dialect import spark as spark_words
from dpsql.engine.spark.section import SparkSection
from dpsql.policy import EngineSection
from examples import postgres, spark

__all__ = ["Elsewhere", "OnPostgres", "OnSpark", "Unplanned", "made"]

_NUMBERS = count()
Ask = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class Unplanned(Exception):  # noqa: N818 - what a server did
    """A server has no plan for what an engine would ask it to plan before a charge."""


class Elsewhere(ABC):
    """One of them, at a server of its own."""

    kind: str
    soon = "1s"
    """A deadline that a statement over few rows meets, on a busy machine, too."""

    @abstractmethod
    def load(self, file: Path) -> str:
        """Makes the tables of a DuckDB file there; what holds them is called by a new name."""

    @abstractmethod
    def again(self, name: str, file: Path) -> None:
        """Makes those of another file in their place."""

    @abstractmethod
    def keys(self, name: str) -> dict[str, Any]:
        """What a policy says of where they are."""

    @abstractmethod
    def stop(self) -> None:
        """Ends the server at once, as a crash does."""

    @abstractmethod
    def start(self) -> None:
        """Starts it anew."""

    def moved(self, policy: Path, name: str, **more: str) -> Path:
        """A policy with its engine exchanged, in a folder below its own."""
        there = policy.parent / f"{self.kind}_{name}"
        there.mkdir()
        section = f"engine: {json.dumps({**self.keys(name), **more})}"
        lines = policy.read_text(encoding="utf-8").splitlines()
        text = "\n".join(section if line.startswith("engine:") else line for line in lines)
        (there / policy.name).write_text(text, encoding="utf-8")
        return there / policy.name

    def beside(self, policy: Path) -> Path:
        """A policy over the one DuckDB file beside it, moved with that."""
        (file,) = policy.parent.glob("*.duckdb")
        return self.moved(policy, self.load(file))

    @abstractmethod
    def asked(self, name: str) -> AbstractContextManager[tuple[Dialect, Ask]]:
        """The words for what was loaded, and what asks for rows, with parameters."""

    def section(self, file: Path) -> EngineSection:
        """The tables of a DuckDB file, moved there, as a policy has them."""
        kind = PostgresSection if self.kind == "postgres" else SparkSection
        return kind.model_validate(self.keys(self.load(file)))


class OnPostgres(Elsewhere):
    """A database of a PostgreSQL server for each file."""

    kind = "postgres"

    def __init__(self, server: postgres.Server) -> None:
        self.server = server

    def load(self, file: Path) -> str:
        """Makes a database."""
        name = f"elsewhere_{next(_NUMBERS)}"
        postgres.load(self.server, name, file)
        self.told(name, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
        return name

    def again(self, name: str, file: Path) -> None:
        """Makes the tables anew."""
        self.told(name, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        postgres.fill(self.server, name, file)

    def told(self, name: str, *statements: str) -> None:
        """Has the owner of everything do this."""
        with self.server.connect(name) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def keys(self, name: str) -> dict[str, Any]:
        """Both roles."""
        return {"kind": self.kind, "dsn": self.server.dsn(name), "query_dsn": self.server.dsn(name, "query")}

    @contextmanager
    def asked(self, name: str) -> Iterator[tuple[Dialect, Ask]]:
        """As the owner, over its tables themselves."""
        with psycopg.connect(self.server.dsn(name), autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
            settle(connection)
            read_numbers(connection)
            yield words("public", ""), lambda sql, values: connection.execute(sql.encode(), list(values)).fetchall()

    def stop(self) -> None:
        """Ends it at once."""
        self.server.stop("immediate")

    def start(self) -> None:
        """Starts it."""
        self.server.start()


class OnSpark(Elsewhere):
    """A schema of a cluster's catalogue for each file."""

    kind = "spark"

    def __init__(self, cluster: spark.Server) -> None:
        self.cluster = cluster
        if cluster.home is not None:
            self.soon = "15s"  # Java has compiled nothing of a server that has just begun
        self._files = dict[str, Path]()

    def load(self, file: Path) -> str:
        """Makes a schema."""
        name = f"elsewhere_{next(_NUMBERS)}"
        spark.load(self.cluster, name, file)
        self._files[name] = file
        return name

    def again(self, name: str, file: Path) -> None:
        """Makes the tables anew."""
        with self.cluster.asked() as session:
            for row in session.rows(f"SHOW TABLES IN {name}").to_pylist():
                if not row["isTemporary"]:
                    session.told(f"DROP TABLE {name}.`{row['tableName']}`")
        spark.load(self.cluster, name, file)

    def keys(self, name: str) -> dict[str, Any]:
        """The server, the schema, and a folder for bounded tables."""
        there = {"remote": self.cluster.remote, "schema": name, "bounded": str(self.cluster.bounded)}
        return {"kind": self.kind, **there}

    @contextmanager
    def asked(self, name: str) -> Iterator[tuple[Dialect, Ask]]:
        """As the owner, over a view of each table."""
        own = spark_words(f"{name}_")
        with self.cluster.asked() as session, duckdb.connect(str(self._files[name]), read_only=True) as here:

            def ask(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
                bound = {f"p{place}": value for place, value in enumerate(values, 1)}
                try:
                    session.explained(sql, bound)
                except SparkFailed as error:
                    raise Unplanned(str(error)) from error
                table = session.rows(sql, bound)
                return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

            for (table,) in here.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                session.view(own.bounded(table), session.relation(f"SELECT * FROM {name}.`{table}`"))
            yield own, ask

    def stop(self) -> None:
        """Ends it at once. It forgets its tables: not their files."""
        self.cluster.stop()

    def start(self) -> None:
        """Starts it, with the tables that it had."""
        shutil.rmtree(self.cluster.folder / "warehouse", ignore_errors=True)  # Apache Spark's, which has names there
        self.cluster.start()
        for name, file in self._files.items():
            if file.exists():
                spark.load(self.cluster, name, file)


def made(folder: Path, *statements: str) -> Path:
    """A DuckDB file, by these statements."""
    file = folder / f"made{next(_NUMBERS)}.duckdb"
    with duckdb.connect(str(file)) as database:
        for statement in statements:
            database.execute(statement)
    return file
