"""Where exact numbers come from.

    base.py      what an engine offers
    lower.py     plan to SQL
    printer.py   expressions as SQL: quoted, qualified, with bound parameters
    duckdb.py    the default engine
    log.py       the owner's log

An engine is one file and one line here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.engine.base import Engine
    from dpsql.policy import Policy

__all__ = ["open_engine"]


def open_engine(policy: Policy, directory: Path, version: int) -> Engine:
    """The engine that the policy's ``engine.kind`` names, over one version of the bounded tables.

    Raises:
        OperationalError: That version is not there, or the policy or the data changed since it was built.
    """
    from dpsql.engine.duckdb import DuckDBEngine  # here: the owner's process needs no engine, and starts sooner

    return {"duckdb": DuckDBEngine}[policy.engine.kind](policy, directory, version)
