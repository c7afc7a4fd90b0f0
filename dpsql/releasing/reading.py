"""An analyst's synthetic tables: listed beside the policy's, read for nothing, dropped.

Tests: tests/unit/releasing/test_creating.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.answers.answer import Answer, public
from dpsql.answers.finish import exact
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.engine.lower import lower_over_release, lower_public
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.catalog import Catalog
from dpsql.plan.options import Options
from dpsql.plan.plans import Plan, PublicPlan
from dpsql.plan.relations import scans
from dpsql.plan.synthetic import tables_named
from dpsql.plan.types import Type
from dpsql.privacy.tables import RawTable
from dpsql.releasing.creation import Creation, planned
from dpsql.releasing.stored import StoredTable, read_stored
from dpsql.sql import syntax

__all__ = ["Releases"]


class Releases:
    """The synthetic tables of one analyst.

    Args:
        backend: What the proxy shares.
        analyst: Whose they are.
        run: Runs a statement over private data, after its charge.
    """

    def __init__(self, backend: Backend, analyst: str, run: Callable[[EngineStatement], RawTable]) -> None:
        self._backend, self._analyst, self._run = backend, analyst, run
        self._known: dict[str, StoredTable] = {}

    def catalog(self, query: syntax.Queryable | None = None) -> Catalog:
        """The policy's tables and this analyst's; where a query is given, those of these that it may name."""
        named = None if query is None else {name.lower() for name in tables_named(query)}
        catalog = self._backend.catalog
        own = {
            name: stored.info
            for name, fingerprint in self._backend.ledger.tables(self._analyst).items()
            if (named is None or name in named) and (stored := self._stored(name, fingerprint)) is not None
        }
        return replace(catalog, tables={**own, **catalog.tables}) if own else catalog

    def checked(self, plan: Plan | PublicPlan) -> Plan | PublicPlan:
        """The plan.

        Raises:
            UnsupportedQuery: If a synthetic table is read beside another one.
        """
        read = {scan.table.name: scan.table.released for scan in scans(plan.relation)}
        if any(read.values()) and len(read) > 1:
            name = next(name for name, released in read.items() if released)
            raise UnsupportedQuery(
                "a synthetic table is read by itself.", construct=name,
                hint="Ask it alone: columns of other tables can be released with it.",
            )  # fmt: skip
        return plan

    def over(self, plan: PublicPlan) -> Answer | None:
        """The answer of a plan over a synthetic table, free; None where it reads none."""
        table = next((scan.table for scan in scans(plan.relation) if scan.table.released), None)
        stored = None if table is None else self._stored(table.name, table.released or "")
        if table is None or stored is None:
            return None
        raw = self._backend.post_process.over_release(lower_over_release(plan), stored.expanded())
        return replace(exact(plan, raw), released_from=(table.name,), private=self._backend.private)

    def verify(self, plan: PublicPlan) -> None:
        """Nothing, where the engine reads a plan over public tables as it is meant, or has nothing to do with it."""
        if not any(scan.table.released for scan in scans(plan.relation)):
            self._backend.engine.verify(lower_public(plan, self._backend.engine.dialect))

    def planned(
        self,
        statement: syntax.CreateSynthetic,
        plan: Callable[[syntax.Queryable], Plan | PublicPlan],
        weaker: Options,
    ) -> Creation:
        """How a table would be made: `creation.planned`, under a name that is free.

        Raises:
            UnsupportedQuery, ProgrammingError: It cannot be.
        """
        name = statement.name
        if any(other.lower() == name for other in self._backend.catalog.tables):
            raise ProgrammingError(f"The policy has a table {name!r}. Take another name.")
        if name in self._backend.ledger.tables(self._analyst):
            raise ProgrammingError(f"There is a table {name!r}. Take another name, or DROP TABLE {name}.")
        return planned(self._backend, self._analyst, self._run, statement, plan, weaker)

    def drop(self, name: str) -> Answer:
        """Forgets a table; nothing is given back."""
        self._backend.ledger.drop(self._analyst, name)
        return public(("table", "state"), (Type.TEXT, Type.TEXT), [(name, "dropped; what it cost stays charged")])

    def _stored(self, name: str, fingerprint: str) -> StoredTable | None:
        """A table of the ledger's; None where a lost process kept nothing of it."""
        if fingerprint not in self._known:
            found = self._backend.ledger.find(fingerprint)
            if found is None:
                return None
            self._known[fingerprint] = read_stored(name, fingerprint, found[0])
        return self._known[fingerprint]
