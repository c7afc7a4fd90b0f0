"""What a statement needs, read where it is stored and by the database alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.plan.needs import Need
from dpsql.privacy.tables import listed
from dpsql.session import Session
from dpsql.sql.parse import parse


@dataclass(frozen=True)
class Read:
    """One reading: its tables, and its rows in an order of their own."""

    tables: frozenset[str]
    rows: list[tuple[Any, ...]]


def both_ways(session: Session, asked: str, options: dict[str, Any], *kinds: type) -> Iterator[tuple[Need, Read, Read]]:
    """Each need of these kinds: as an engine reads it that counts, and as one does that does not."""
    parsed: Any = parse(asked)
    prepared = session._prepare(session._plan(parsed.select, ()), options)  # type: ignore[arg-type]
    for need in (own.choice.release.need for own in prepared.measured):
        if isinstance(need, kinds):
            ours, databases = (_read(session, need, counts=counts) for counts in (True, False))
            yield need, ours, databases


def _read(session: Session, need: Need, *, counts: bool) -> Read:
    statement = lowering(replace(DUCKDB, counts=counts), b"a secret")(need)
    raw = session._backend.engine.run(statement)
    rows = zip(*(listed(raw.column(name)) for name, _ in statement.columns), strict=True)
    return Read(statement.tables, sorted(rows, key=str))
