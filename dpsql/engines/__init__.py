"""Where exact numbers come from. Rooms, in the order of the data:

    shape.py          what the policy says about the tables
    sources.py        the owner's files
    bounded.py        the SQL that puts values and rows inside their bounds
    owners.py         whose row it is: the unit, or a chain of keys to it
    public.py         public tables and their facts
    views.py          building the bounded file, table by table
    check.py          do the data fit the policy?
    owner_process.py  the process that does all this: it alone reads the source
    builder.py        the parent's side of it
    facts.py          what is kept beside a bounded file
    base.py           what an engine offers
    catalog.py        what the plan may know of the tables
    lower.py          plan to SQL
    duckdb.py         the default engine
    log.py            the owner's log

An engine is one file and one line here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.engines.base import Engine
    from dpsql.policy import Policy

__all__ = ["open_engine"]


def open_engine(policy: Policy, directory: Path, version: int) -> Engine:
    """The engine that the policy's ``engine.kind`` names, over one version of the bounded tables.

    Raises:
        OperationalError: That version is not there, or the policy or the data changed since it was built.
    """
    from dpsql.engines.duckdb import DuckDBEngine  # here: the owner's process needs no engine, and starts sooner

    return {"duckdb": DuckDBEngine}[policy.engine.kind](policy, directory, version)
