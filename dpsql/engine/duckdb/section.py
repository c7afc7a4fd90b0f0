"""DuckDB's keys in the section ``engine`` of a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dpsql.policy.engine import EngineSection
from dpsql.policy.section import FilePath

__all__ = ["SECTION", "DuckDBSection"]


class DuckDBSection(EngineSection):
    """DuckDB, inside of dpsql: where the data lie in files, and how much the engine may use."""

    kind: Literal["duckdb"] = Field(examples=["duckdb"])
    """The engine: duckdb."""
    database: FilePath | None = None
    """The DuckDB file that holds every table without a source of its own."""

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A policy's section."""
        return {"kind": "duckdb", "database": "hospital.duckdb"}

    def source(self, absolute: Callable[[Path], str]) -> dict[str, str]:
        """The absolute path of the ``database``, if there is one."""
        return {} if self.database is None else {"database": absolute(self.database)}

    def without_data(self, file: Path | None) -> tuple[str, str] | None:
        """What is wrong with a table without a file where there is no database."""
        if file is None and self.database is None:
            return "has no data", "write source: FILE here, or engine.database: FILE"
        return None


SECTION = DuckDBSection
