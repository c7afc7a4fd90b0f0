"""Synthetic tables of one analyst: made once for a price, read for nothing, dropped without refund.

A table is stored in the ledger under the charge that paid for it, by its distinct rows. What is asked of it runs in the
worker without data: it is post-processing of what was released.

Tests: tests/unit/test_releasing.py, tests/unit/mechanisms/releases/test_table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from secrets import token_hex
from typing import Any

import numpy as np

from dpsql.answers.answer import Answer, Quote, QuoteColumn, cost_text, public
from dpsql.answers.finish import exact
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE
from dpsql.engine.lower import lower_over_release, lower_public
from dpsql.errors import OperationalError, ProgrammingError, UnsupportedQuery
from dpsql.ledger.refusals import suspended
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.releases.payment import Relation
from dpsql.mechanisms.releases.table import TablePlan, plan_table
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.plan.options import Options, read_options
from dpsql.plan.plans import Key, Plan, PublicPlan
from dpsql.plan.relations import scans
from dpsql.plan.synthetic import counted_query, released_columns, tables_named
from dpsql.plan.types import Facts, Type
from dpsql.prepare.sources import min_units, rows_about, source_of
from dpsql.privacy.tables import RawTable
from dpsql.sql import syntax
from dpsql.sql.parse import normal
from dpsql.worker import wire

__all__ = ["Creation", "Releases", "StoredTable", "create_text"]

MOST_READ = 1_000_000
"""Rows of a synthetic table that SQL reads: they travel to a process with each statement. It is a choice."""
OPTIONS = frozenset(
    "epsilon delta rho max_rows_contributed max_groups_contributed max_groups_per_unit max_rows_per_group".split()
)
"""Options of other statements that this one takes, besides its own ``method``."""
LATER = frozenset({"alpha", "workload", "rows"})  # Named by the documentation of releases, and not taken yet.
NORMAL = 1.96  # Standard deviations on either side that hold 95% of a normal law.
READS = "Whatever is asked of the table later costs nothing."
CONSTRUCT = "CREATE SYNTHETIC TABLE"


@dataclass(frozen=True, slots=True)
class StoredTable:
    """What the ledger keeps of a synthetic table.

    Attributes:
        info: As the plan sees it: a public table.
        values: One list a column, of the distinct rows.
        rows: How many rows there are of each.
    """

    info: TableInfo
    values: tuple[Sequence[Any], ...]
    rows: Sequence[int]

    def expanded(self) -> dict[str, tuple[str, Sequence[Any]]]:
        """All rows, as a worker takes them."""
        if sum(self.rows) > MOST_READ:
            raise OperationalError(f"{self.info.name} has {sum(self.rows):,} rows; SQL reads {MOST_READ:,}.")
        places = np.repeat(np.arange(len(self.rows)), self.rows).tolist()
        return {
            column.name: (WIRE[column.facts.type], [values[place] for place in places])
            for column, values in zip(self.info.columns.values(), self.values, strict=True)
        }


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
        """How a table would be made. Nothing is charged or read.

        Args:
            statement: What is asked.
            plan: Plans a query over the policy's tables.
            weaker: Options in force where the statement says nothing.

        Raises:
            UnsupportedQuery, ProgrammingError: It cannot be.
        """
        backend, name = self._backend, statement.name
        method, own = _options(statement)
        if any(other.lower() == name for other in backend.catalog.tables):
            raise ProgrammingError(f"The policy has a table {name!r}. Take another name.")
        if name in backend.ledger.tables(self._analyst):
            raise ProgrammingError(f"There is a table {name!r}. Take another name, or DROP TABLE {name}.")
        query = statement.query.select
        counted, columns = released_columns(plan(counted_query(query)), query)
        _refuse_governed(counted, backend.catalog)
        source = source_of(counted, tuple(key for _, key in columns), own)
        sizes = [len(key.domain or ()) for _, key in columns]
        rows = source.contribution.total
        table = plan_table(sizes, _price(own.over(weaker)), _relation(backend.catalog), rows, method)
        reading = backend.lower(Aggregates(source, (Measure(MeasureKind.ROWS),)))
        return Creation(backend, self._analyst, self._run, statement, columns, table, reading)

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
            self._known[fingerprint] = _read(name, fingerprint, wire.decode(found[0]))
        return self._known[fingerprint]


@dataclass(frozen=True, slots=True)
class Creation:
    """A table that can be made, at a price.

    Attributes:
        backend: What the proxy shares.
        analyst: Who pays.
        run: Runs a statement over private data.
        statement: What was asked.
        columns: Names and keys of the table's columns.
        table: How it is released.
        reading: What is read.
    """

    backend: Backend
    analyst: str
    run: Callable[[EngineStatement], RawTable]
    statement: syntax.CreateSynthetic
    columns: Sequence[tuple[str, Key]]
    table: TablePlan
    reading: EngineStatement

    def quote(self) -> Quote:
        """What it would cost, and what one number of it would err by."""
        loss, table = self.backend.summary(self.table.loss), self.table
        column = QuoteColumn(
            self.statement.name, table.method, loss, table.payment.rows, None, NORMAL * table.deviation
        )
        repeats = self.backend.ledger.repeats_left(self.analyst, table.loss)
        return Quote(loss, (column,), self.reading.sql, repeats, (READS,))

    def made(self) -> Answer:
        """Charges, reads, releases and stores: one row of name, method, rows, error as a share of them, and cost.

        Raises:
            BudgetExceeded: Nothing was spent.
            EngineFailed: After the charge, which stays.
        """
        backend, table, name = self.backend, self.table, self.statement.name
        if backend.ledger.suspended(self.analyst):
            raise suspended(self.analyst)
        backend.engine.verify(self.reading)
        fingerprint = f"synthetic/{token_hex(16)}"
        charge = backend.ledger.charge(
            self.analyst, table.loss, statement=normal(self.statement), fingerprint=fingerprint, table=name
        )
        names, domains = [key.name for _, key in self.columns], [key.domain or () for _, key in self.columns]
        released = table.release(self.run(self.reading), names, domains, backend.sampler)
        rows = [int(number) for number in released.columns["rows"]]
        told = {
            "columns": [[column, key.expression.facts.type.value] for column, key in self.columns],
            "values": [list(released.columns[key]) for key in names],
            "rows": rows,
        }
        backend.ledger.store(charge, fingerprint, wire.encode(told))
        error, cost = table.deviation / max(1, sum(rows)), backend.summary(table.loss)
        text, real = Type.TEXT, Type.REAL
        answer = public(
            ("table", "method", "rows", "error", "cost"), (text, text, Type.INTEGER, real, text),
            [(name, table.method, sum(rows), error, cost_text(cost))],
        )  # fmt: skip
        return replace(answer, cost=cost, private=backend.private)


def _read(name: str, fingerprint: str, told: Mapping[str, Any]) -> StoredTable:
    """A stored table, with what is publicly known of its columns: their own values."""
    columns = {}
    for (column, kind), values in zip(told["columns"], told["values"], strict=True):
        held: dict[Any, int] = {}
        for value, rows in zip(values, told["rows"], strict=True):
            held[value] = held.get(value, 0) + rows
        known = sorted(value for value in held if value is not None)
        type_ = Type(kind)
        ends = (None, None) if type_ in (Type.TEXT, Type.BOOLEAN) or not known else (known[0], known[-1])
        low, high = (Fraction(end) if isinstance(end, int | float) else end for end in ends)
        step = Fraction(1) if type_ is Type.INTEGER else None
        columns[column] = ColumnInfo(
            column,
            Facts(type_, low, high, None in held, step),
            tuple(known),
            multiplicity=max(held.values(), default=0),
        )
    info = TableInfo(name, columns, public=True, rows=sum(told["rows"]), released=fingerprint)
    return StoredTable(info, tuple(told["values"]), told["rows"])


def _options(statement: syntax.CreateSynthetic) -> tuple[str | None, Options]:
    """The method and the other options of a statement."""
    given = {name: value.value for name, value in statement.options}
    method = given.pop("method", None)
    if method is not None and not isinstance(method, str):
        raise ProgrammingError(f"method is {method}. Write its name, such as method = 'tree'.")
    if later := sorted(LATER & set(given)):
        raise ProgrammingError(f"{later[0]} is not taken yet. Write a price: epsilon, with delta or without, or rho.")
    own = read_options(given)
    if others := sorted(set(given) - OPTIONS):
        raise ProgrammingError(f"{others[0]} says nothing here. Options are method, {', '.join(sorted(OPTIONS))}.")
    return method, own


def create_text(name: str, query: syntax.Statement, options: Mapping[str, Any]) -> syntax.CreateSynthetic:
    """The statement that a call stands for.

    Raises:
        ProgrammingError: If the name is none, or the query is no SELECT.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ProgrammingError(f"{name!r} is no name of a table. Write letters, digits and _.")
    if not isinstance(query, syntax.QueryStatement):
        raise ProgrammingError("A synthetic table is made of a SELECT.")
    given = {
        option: Decimal(repr(value)) if isinstance(value, float) else value
        for option, value in options.items()
        if value is not None
    }
    return syntax.CreateSynthetic(
        name.lower(), tuple((option, syntax.Literal(value)) for option, value in given.items()), query
    )


def _price(options: Options) -> Price:
    if options.multiple is not None or (options.epsilon is None and options.rho is None):
        raise ProgrammingError(f"{CONSTRUCT} has no price. Write WITH (epsilon = 1), or rho.")
    if options.rho is not None:
        return Price(None, Fraction(0), options.rho)
    return Price(options.epsilon, options.delta or Fraction(0))


def _relation(catalog: Catalog) -> Relation:
    return "replace_one" if catalog.neighbours == "replace_one" else "add_remove"


def _refuse_governed(plan: Plan, catalog: Catalog) -> None:
    """Nothing, where no rule of the policy stands against synthetic rows.

    Raises:
        UnsupportedQuery: If units have classes, or small groups stay hidden, or the table is too large.
    """
    if catalog.classes:
        why, hint = "units have classes, whose prices no release knows yet.", "Ask for aggregates."
    elif min_units(plan.relation) > 1:
        why, hint = "the policy's min_units hides small groups, and synthetic rows may show them.", "Ask GROUP BY."
    elif rows_about(plan, ((),)) > MOST_READ:
        why, hint = f"SQL reads synthetic tables of up to {MOST_READ:,} rows.", "Select fewer, or ask GROUP BY."
    else:
        return
    raise UnsupportedQuery(why, construct=CONSTRUCT, hint=hint)
