"""Spark's keys in the section ``engine`` of a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from dpsql.policy.engine import EngineSection
from dpsql.policy.section import Name

__all__ = ["SECTION", "SparkSection"]


class SparkSection(EngineSection):
    """Spark Connect: Apache Spark 4, Databricks or Sail."""

    model_config = ConfigDict(serialize_by_alias=True)

    kind: Literal["spark"] = Field(examples=["spark"])
    """The engine: spark."""
    remote: str = Field(pattern="^sc://.", examples=["sc://localhost:15002"])
    """The server, with all that a connection string of Spark Connect may say, such as a token."""
    catalog_schema: Name | None = Field(
        None,
        alias="schema",  # which is a method of pydantic's models
        description="The schema of the catalogue that holds every table without a source of its own; the session's "
        "where nothing is said.",
    )
    bounded: str = Field("dpsql_bounded", min_length=1, examples=["hospital_bounded"])
    """Where the bounded tables stand: a schema of the catalogue, or a folder that the cluster writes and reads, such as
    /mnt/dpsql or s3://bucket/dpsql."""

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A policy's section."""
        return {"kind": "spark", "remote": "sc://localhost:15002", "schema": "hospital", "bounded": "hospital_bounded"}

    def source(self, absolute: Callable[[Path], str]) -> dict[str, str]:
        """The server, the schema of the tables, and where the bounded ones stand."""
        return {"remote": self.remote, "schema": self.catalog_schema or "", "bounded": self.bounded}

    def without_data(self, file: Path | None) -> tuple[str, str] | None:
        """What is wrong with a table whose file is none that Spark reads as a table of types."""
        if file is None or file.suffix.lower() in (".parquet", ""):
            return None
        return (
            f"has a source that ends with {file.suffix}",
            "name Parquet files, or a folder of them, or make the source a table or view of the cluster's catalogue",
        )


SECTION = SparkSection
