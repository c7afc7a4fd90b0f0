"""Where exact numbers come from. Rooms, in the order of the data:

    shape.py          what the policy says about the tables
    sources.py        the owner's files
    bounded.py        the SQL that puts values and rows inside their bounds
    public.py         public tables and their facts
    owner_process.py  the process that reads the source: builds, checks
    builder.py        the parent's side of building
    check.py          does the data fit the policy?
    base.py           what an engine offers
    lower.py          plan to SQL
    duckdb.py         the default engine

An engine is one file and one line here.
"""

from __future__ import annotations

from dpsql.engines.duckdb import DuckDBEngine

__all__ = ["ENGINES"]

ENGINES = {"duckdb": DuckDBEngine}
"""Engines by the policy's ``engine.kind``."""
