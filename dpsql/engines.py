"""The engines there are, one line for each: what a policy writes as ``engine.kind``, and the folder that is all of it.

A folder offers five modules. Each is loaded by name, in the processes that need it: the one that talks to analysts
loads no driver of the owner's.

    section.py     SECTION: the engine's keys in a policy, a `dpsql.policy.engine.EngineSection`
    engine.py      open_engine: the engine over one version of the bounded tables
    sources.py     fingerprint, may_be_equal, contents: whether the owner's data changed
    database.py    reading, building: the owner's side, in the owner's process
    describe.py    reads, beside, is_table, describe, keys: what a first policy is made of

`dpsql.owner.engines` says what each of these functions takes and gives.

Tests: tests/unit/engine/test_engines.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

__all__ = ["CSV", "ENGINES", "offered"]

CSV = (
    ".csv",
    ".tsv",
    ".csv.gz",
    ".tsv.gz",
)  # How names of CSV files end, to a policy and to who reads them.
ENGINES: Mapping[str, str] = {
    "duckdb": "dpsql.engine.duckdb",
    "postgres": "dpsql.engine.postgres",
    "spark": "dpsql.engine.spark",
}


def offered(kind: str, module: str) -> ModuleType:
    """A module of an engine's folder.

    >>> offered("duckdb", "dialect").DUCKDB.name
    'DuckDB'
    """
    return import_module(f"{ENGINES[kind]}.{module}")
