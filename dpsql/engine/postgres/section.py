"""PostgreSQL's keys in the section ``engine`` of a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dpsql.policy.engine import EngineSection
from dpsql.policy.section import Name

__all__ = ["SECTION", "PostgresSection"]


class PostgresSection(EngineSection):
    """PostgreSQL 15 or newer: where the data are, and where their bounded tables stand."""

    kind: Literal["postgres"] = Field(examples=["postgres"])
    """The engine: postgres."""
    dsn: str = Field(min_length=1, examples=["host=/run/postgresql dbname=hospital user=dpsql_owner"])
    """How the owner's role connects: it reads the tables, and writes the bounded ones. A password belongs into
    ~/.pgpass."""
    query_dsn: str | None = Field(None, examples=["host=/run/postgresql dbname=hospital user=dpsql_query"])
    """How the role connects that answers statements: it may read the bounded tables, and nothing else."""
    bounded: Name = "dpsql_bounded"
    """The schema of the bounded tables."""

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A policy's section."""
        return {"kind": "postgres", "dsn": "host=/run/postgresql dbname=hospital"}

    def source(self, absolute: Callable[[Path], str]) -> dict[str, str]:
        """Both connections, and the schema."""
        return {"dsn": self.dsn, "query_dsn": self.query_dsn or "", "bounded": self.bounded}

    def without_data(self, file: Path | None) -> tuple[str, str] | None:
        """What is wrong with a table that has a file."""
        if file is None:
            return None
        return "has a source of its own", "leave source out: PostgreSQL reads its own tables, or views, by their names"


SECTION = PostgresSection
