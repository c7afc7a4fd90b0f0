"""A shop whose customers have many orders: its policy, and sessions on it without noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dpsql.testing
from dpsql.privacy.sampling import Sampler
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.testing_samplers import Noiseless
from tests.connected import connected

__all__ = ["policy", "prepared_for", "sessions"]


def policy(tables: str, *, delta: bool = False) -> str:
    """A policy file with these tables, each indented by two; with a delta where groups are to be chosen."""
    composition, more, least = ("zcdp", ", delta: 0.1", ", delta: 1e-6") if delta else ("basic", "", "")
    return f"""\
version: 1
name: shop
engine: {{kind: duckdb, database: shop.duckdb}}
neighbours: add_remove
budget:
  ledger: ledger.db
  composition: {composition}
  total: {{epsilon: 1000{more}}}
  analysts: {{"*": {{epsilon: 1000{more}}}}}
  per_query: {{epsilon: 1{least}}}
tables:
{tables.strip(chr(10))}
"""


def sessions(home: Path, made: str, text: str, sampler: Sampler | None = None) -> Iterator[Session]:
    """The session of ana over what the statements make, under such a policy; without noise, or with a sampler's.

    A shop that is there already stays.
    """
    if not (home / "shop.duckdb").exists():
        with connected(home / "shop.duckdb") as connection:
            connection.execute(made)
    (home / "shop.yaml").write_text(text)
    with dpsql.testing.open(home / "shop.yaml", sampler or Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def prepared_for(session: Session, asked: str, **options: Any) -> Any:
    """What a session would release for a SELECT, at epsilon 20."""
    parsed: Any = parse(asked)
    plan: Any = session._plan(parsed.select, ())
    return session._prepare(plan, {**options, "epsilon": 20})
