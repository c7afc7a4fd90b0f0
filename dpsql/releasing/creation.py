"""How a synthetic table is made: planned and quoted from public facts, then charged, read, released and stored.

Tests: tests/unit/releasing/test_creating.py, tests/unit/releasing/test_large_tables.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from dpsql.answers.answer import Answer, public
from dpsql.answers.quotes.narrow import least_price
from dpsql.answers.quotes.quoted import Quote, QuoteColumn
from dpsql.answers.shown.costs import cost_text
from dpsql.backend import Backend
from dpsql.charging import Spoken, Wish
from dpsql.engine.base import EngineStatement
from dpsql.errors import InvariantBroken, ProgrammingError, UnsupportedQuery
from dpsql.given import AGREE, PROGRESS, function_given
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.mechanisms.base import Price
from dpsql.plan.catalog import Catalog
from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.plan.options import Options, as_given, read_options
from dpsql.plan.plans import AnyPlan, Key, Plan
from dpsql.plan.synthetic import counted_query, refuse_star, released_columns
from dpsql.plan.types import Parameters, Type
from dpsql.plan.values.ranges import is_certain
from dpsql.prepare.classes import price_of_everyone
from dpsql.prepare.prices import positive
from dpsql.prepare.sources import min_units, rows_about, rows_public, source_of
from dpsql.privacy.loss import PrivacyLoss
from dpsql.privacy.tables import RawTable
from dpsql.releasing.names import refuse_taken
from dpsql.releasing.payers import Payer
from dpsql.releasing.stored import read_stored, without_null, written
from dpsql.sql import syntax
from dpsql.sql.parse import normal

if TYPE_CHECKING:
    from dpsql.mechanisms.releases.payment import Relation
    from dpsql.mechanisms.releases.table import TablePlan
    from dpsql.mechanisms.releases.waiting import Told
    from dpsql.mechanisms.releases.workload import Wanted

__all__ = ["SILENT", "Agree", "Creation", "Progress", "beside", "create_text", "planned"]

OPTIONS = frozenset(
    "epsilon delta rho max_rows_contributed max_groups_contributed max_groups_per_unit max_rows_per_group".split()
)
"""Options of other statements that this one takes."""
OWN = ("method", "workload", "alpha", "rows")  # Options of this statement alone.
WHOLE = {"halfspaces": ("halfspaces", (2,)), "intervals": ("rectangles", (2, 3))}
"""The workload of all columns that a method is for, and of how many, where none is said."""
NORMAL = 1.96  # Standard deviations on either side that hold 95% of a normal law.
MEGABYTE = 10**6  # In bytes.
MOST_DIFFERENT = 1_000_000
"""Different rows of a synthetic table: they are kept, and travel to a process with each statement. It is a choice."""
MOST_VALUES = 50_000_000
"""Values of the rows of which a table is made, by the policy's guess: 1.2 GB, where rows are drawn. It is a choice."""
MOST_ASKED = 10_000_000  # That an analyst may ask for. It is a choice.
READS = "Whatever is asked of the table later costs nothing."
OWED = "It was paid for, and its process was lost before it was kept: it is made under that charge, for nothing more."
CONSTRUCT = "CREATE SYNTHETIC TABLE"
COUNTED, RELEASED = 0.1, 0.9  # Shares done before and after the release. It is a choice: that is what takes long.
Agree = Callable[[PrivacyLoss], object] | None
"""Told a price before it is charged; what it raises refuses the statement, uncharged."""
Progress = Callable[[str, float], None]
"""Told each public step of what takes long, and the share done, 0 to 1."""
SILENT: Progress = lambda step, done: None  # noqa: E731 - it has a type this way


@dataclass(frozen=True, slots=True)
class Creation:
    """A table that can be made, at a price.

    Attributes:
        backend: What the proxy shares.
        payer: Who pays.
        run: Runs a statement over private data.
        statement: What was asked.
        columns: Names and keys of the table's columns.
        table: How it is released.
        reading: What is read.
        parameters: The values of the statement's ``?``.
    """

    backend: Backend
    payer: Payer
    run: Callable[[EngineStatement], RawTable]
    statement: syntax.CreateSynthetic
    columns: Sequence[tuple[str, Key]]
    table: TablePlan
    reading: EngineStatement
    parameters: Parameters = ()

    def quote(self) -> Quote:
        """What it would cost (nothing, where it is owed), and what one question of its workload would err by."""
        owed, table = self.owed() is not None, self.table
        loss = PrivacyLoss() if owed else self.backend.summary(table.loss)
        alone = ("one number asked alone", f"errs by {NORMAL * table.alone:.3g} rows at this price")
        column = QuoteColumn(
            self.statement.name,
            *(table.method, loss, table.payment.rows, None, NORMAL * table.deviation),
            others=(*table.others, alone),
        )
        repeats = None if owed else self.payer.repeats_left(table.loss)
        return Quote(loss, (column,), self.reading.sql, repeats, (*self._notes(), *([OWED] if owed else [])))

    def _notes(self) -> tuple[str, ...]:
        table, about = self.table, self.table.asked.rows_about
        share = NORMAL * table.deviation / about
        one = (
            f"The expected error is that of one question of its workload, {100 * share:.2g}% of about {about:,} rows; "
            f"a number of rows asked alone for the whole price would err by {NORMAL * table.alone:.3g}."
        )
        useless = "That is as much as there are rows: give more epsilon." if share >= 1 else ""
        found = table.largest()
        most = (
            "Nothing is proved of its largest error."
            if found is None or found >= 1
            else f"All questions of its workload are within {100 * found:.2g}% of the rows at once, at 95%."
        )
        memory = f"Making it takes up to about {max(1, table.memory // MEGABYTE):,} MB."
        return tuple(filter(None, (one, useless, most, memory, without_null(self._left_out), READS)))

    @property
    def _left_out(self) -> tuple[str, ...]:
        """Of which columns a row may have a NULL that the table does not list."""
        listed = ((name, key.expression, key.domain or ()) for name, key in self.columns)
        return tuple(name for name, column, values in listed if None not in values and not is_certain(column))

    def made(self, progress: Progress | None = SILENT, agree: Agree = None) -> Answer:
        """Charges, reads, releases and stores: one row of name, method, rows, error as a share of them, and cost.

        The error is what one question of the workload is expected to be off by, root mean square. Where a process was
        lost between a charge and its table, the same statement makes the table under that charge: nobody saw anything
        of the first, for it is kept on the disk before it is shown, and the ledger knows of what it owes. Who asks the
        same meanwhile waits for the answer; what two make at once nevertheless is told once: what was kept first.

        Args:
            progress: Told each public step and the share done, 0 to 1.
            agree: Told what would be charged, before it is; what it raises refuses it, uncharged.

        Raises:
            BudgetExceeded: Nothing was spent.
            EngineFailed: After the charge, which stays.
        """
        function_given(progress, "progress", PROGRESS)
        function_given(agree, "agree", AGREE)
        backend, table, name = self.backend, self.table, self.statement.name
        outdated = backend.outdated()
        with ExitStack() as turn:
            if turn.enter_context(backend.charging.turns.of([f"synthetic/{self.payer.maker}/{name}"])):
                backend.times.begin_anew()
                refuse_taken(backend, self.payer, name, self._spoken)
            charge, fingerprint, cost, notices = self._charged(agree)
            try:
                self._keep(charge, fingerprint, progress or SILENT)
            finally:
                backend.times.at_leaving(turn.pop_all().close)
        found = backend.ledger.find(fingerprint)
        if found is None:
            raise InvariantBroken("a table that was stored is not in the ledger")
        stored = read_stored(name, fingerprint, found[0])
        kinds = (Type.TEXT, Type.TEXT, Type.INTEGER, Type.REAL, Type.TEXT)
        rows = stored.info.rows
        error = float(f"{table.deviation / max(1, rows):.3g}")  # a foretold one: more digits say nothing
        told = (name, table.method, rows, error, cost_text(cost))
        answer = public(("table", "method", "rows", "error", "cost"), kinds, [told])
        told_too = (*filter(None, [without_null(self._left_out), stored.too_large]), *notices, *outdated)
        return replace(answer, cost=cost, private=backend.private, notices=told_too)

    def _charged(self, agree: Agree) -> tuple[int, str, PrivacyLoss, list[str]]:
        """The charge, made now or owed, its fingerprint, what it costs now, and its notices."""
        kept, notices, name = self.owed(), list[str](), self.statement.name
        cost = self.backend.summary(self.table.loss) if kept is None else PrivacyLoss()
        if agree is not None:
            agree(cost)
        self.payer.refuse_suspended()
        self.backend.engine.verify(self.reading)
        if kept is not None:
            return kept.charge, kept.fingerprint, cost, notices
        fingerprint = f"synthetic/{token_hex(16)}"
        with self.payer.asking(self._wish()) as notices:
            charge = self.payer.charge(self.table.loss, self._spoken, fingerprint, name, self.table.method)
        return charge, fingerprint, cost, notices

    @property
    def _spoken(self) -> Spoken:
        return Spoken(self.statement, self.parameters)

    def owed(self) -> SyntheticTable | None:
        """This very table, where it was paid for, with these values, and nobody ever saw anything of it."""
        held = self.payer.held(self.statement.name)
        same = held and (held.paid, held.asked, held.loss) == (True, self._spoken.identity, self.table.loss)
        return held if held and same and self.backend.ledger.owes(held.fingerprint) else None

    def _wish(self) -> Wish:
        """What an approval is for: the statement, what it reads and how it releases."""
        parts = (normal(self.statement), self.reading.identity, self.table.method, repr(self.table.payment))
        return Wish(self.table.loss, parts, [self._spoken])

    def _keep(self, charge: int, fingerprint: str, progress: Progress) -> None:
        """Reads, releases and stores what was paid for."""
        backend, table = self.backend, self.table
        names = [key.name for _, key in self.columns]
        progress("counting rows", 0.05)
        raw = self.run(self.reading)
        step = f"releasing by {table.method}"
        progress(step, COUNTED)
        told: Told = lambda done: progress(step, COUNTED + (RELEASED - COUNTED) * done)  # noqa: E731 - it has a type
        released, made = table.release(raw, names, backend.sampler, told)
        progress("keeping it in the ledger", RELEASED)
        rows = [int(number) for number in released.columns["rows"]]
        kinds = [(column, key.expression.facts.type) for column, key in self.columns]
        values = [released.columns[key] for key in names]
        stored = written(kinds, values, rows, table.asked.domains, made.proofs, self._left_out)
        backend.times.step()  # from here on the table is seen
        backend.ledger.keep(charge, fingerprint, stored)


def planned(
    backend: Backend,
    payer: Payer,
    run: Callable[[EngineStatement], RawTable],
    statement: syntax.CreateSynthetic,
    plan: Callable[[syntax.Queryable], AnyPlan],
    weaker: Options,
    parameters: Parameters = (),
) -> Creation:
    """How a table would be made. Nothing is charged or read.

    Args:
        backend: What the proxy shares.
        payer: Who pays.
        run: Runs a statement over private data, after its charge.
        statement: What is asked.
        plan: Plans a query over the policy's tables.
        weaker: Options in force where the statement says nothing.
        parameters: The values of the statement's ``?``.

    Raises:
        UnsupportedQuery, ProgrammingError: It cannot be.
    """
    refuse_taken(backend, payer, statement.name, Spoken(statement, parameters))
    given, own = _options(statement)
    query = statement.query.select
    refuse_star(query, statement.name, backend.catalog)
    counted, columns = released_columns(plan(counted_query(query)), query)
    if counted.awaits:
        raise UnsupportedQuery(
            "a table is made of rows that wait for no other release.", construct="scalar sub-query",
            position=query.position, hint="Ask it first, then pass its answer as a parameter (?).",
        )  # fmt: skip
    catalog = backend.catalog
    _refuse_governed(counted)
    source = source_of(counted, tuple(key for _, key in columns), own)
    asked = _asked(counted, columns, given, catalog)
    from dpsql.mechanisms.releases.table import plan_table, proves  # here: few sessions make a table

    relation: Relation = "replace_one" if catalog.neighbours == "replace_one" else "add_remove"
    rows, method = source.contribution.total, given.get("method")

    def of_everyone(price: Price) -> Price:
        """What each unit pays: the strictest class's share, as for all that knows nothing of classes."""
        return positive(price_of_everyone(price, catalog.classes))

    price = _price(own, weaker, lambda price: proves(asked, of_everyone(price), relation, rows, method), asked.alpha)
    table = plan_table(asked, of_everyone(price), relation, rows, method)
    reading = backend.lower(Aggregates(source, (Measure(MeasureKind.ROWS),)))
    return Creation(backend, payer, run, statement, columns, table, reading, parameters)


def create_text(name: str, query: syntax.Statement) -> syntax.CreateSynthetic:
    """The statement that a call stands for.

    Raises:
        ProgrammingError: If the name is none, or the query is no SELECT.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ProgrammingError(f"{as_given(name)} is no name of a table. Write letters, digits and _.")
    if not isinstance(query, syntax.QueryStatement):
        raise ProgrammingError("A synthetic table is made of a SELECT.")
    return syntax.CreateSynthetic(name.lower(), (), query)


def beside(statement: syntax.CreateSynthetic, options: Mapping[str, Any]) -> syntax.CreateSynthetic:
    """The statement with the options of a call, which may not disagree with its own.

    Raises:
        ProgrammingError: If they do.
    """
    given = {name: value.value for name, value in statement.options}
    for name, value in options.items():
        own = Decimal(repr(value)) if isinstance(value, float) else value
        if isinstance(own, Decimal) and not own.is_finite():
            raise ProgrammingError(f"{name} is {own}; write a number.")
        if own is not None and given.setdefault(name, own) != own:
            written, named = as_given(value), as_given(given[name])
            raise ProgrammingError(f"{name} is {written} in the call and {named} in WITH. Give it once.")
    return replace(statement, options=tuple((name, syntax.Literal(value)) for name, value in given.items()))


def _options(statement: syntax.CreateSynthetic) -> tuple[dict[str, Any], Options]:
    """The statement's own options, checked, and those that others have, too."""
    given = {name: value.value for name, value in statement.options}
    if others := sorted(set(given) - OPTIONS - set(OWN)):
        hint = "The owner names readers: dpsql release grant. " if "readers" in others else ""
        raise ProgrammingError(
            f"{others[0]} says nothing here. {hint}Options are {', '.join(OWN)}, {', '.join(sorted(OPTIONS))}."
        )
    mine = {name: given.pop(name) for name in OWN if name in given}
    own = read_options(given)
    method, alpha, rows = (mine.get(name) for name in ("method", "alpha", "rows"))
    if method is not None and not isinstance(method, str):
        raise ProgrammingError(f"method is {as_given(method)}. Write its name, such as method = 'tree'.")
    if alpha is not None and not (isinstance(alpha, Decimal) and alpha.is_finite() and 0 < alpha < 1):
        raise ProgrammingError(
            f"alpha is {as_given(alpha)}, which is no share of the rows. Write a number such as 0.05."
        )
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ASKED):
        raise ProgrammingError(f"rows is {as_given(rows)}. Write a whole number from 1 to {MOST_ASKED:,}.")
    return {**mine, "method": method.lower()} if method else mine, own


def _asked(counted: Plan, columns: Sequence[tuple[str, Key]], given: Mapping[str, Any], catalog: Catalog) -> Wanted:
    """What is to be released: public facts alone."""
    names = tuple(name for name, _ in columns)
    domains = tuple(key.domain or () for _, key in columns)
    kinds = [key.expression.facts.type for _, key in columns]
    ordered = [kind.numeric or kind in (Type.DATE, Type.TIMESTAMP) for kind in kinds]
    method, text = given.get("method"), given.get("workload")
    from dpsql.mechanisms.releases.workload import Wanted, default_workload, read_workload

    if text is not None:
        workload = read_workload(text, names)
    elif len(names) in WHOLE.get(method or "", ("", ()))[1]:
        workload = read_workload(f"{WHOLE[str(method)][0]}({', '.join(names)})", names)
    else:
        workload = default_workload(list(map(len, domains)), ordered)
    if any(not ordered[c] for part in workload if part.kind in ("ranges", "rectangles") for c in part.columns):
        raise ProgrammingError("A column of texts or booleans has no ranges. Write workload = 'marginals(1)'.")
    alpha = given.get("alpha")
    asked = Wanted(
        *(names, domains, workload, rows_about(counted.relation, ((),))),
        rows_public=rows_public(counted.relation, (), catalog),
        rows=given.get("rows"),
        alpha=None if alpha is None else float(alpha),
    )
    for part in workload:
        if part.kind == "halfspaces":
            asked.numbers(part.columns)
    return asked


def _price(own: Options, weaker: Options, proved: Callable[[Price], bool], alpha: float | None) -> Price:
    """What the statement says, else the least that serves its alpha, else what is in force."""
    if alpha is not None and own.epsilon is None and own.rho is None:
        delta = own.over(weaker).delta or Fraction(0)
        return Price(
            least_price(lambda epsilon: proved(Price(epsilon, delta)), f"an error of alpha = {alpha:g}"), delta
        )
    options = own.over(weaker)
    if options.multiple is not None or (options.epsilon is None and options.rho is None):
        raise ProgrammingError(f"{CONSTRUCT} has no price. Write WITH (epsilon = 1), or rho.")
    if options.rho is not None:
        return Price(None, Fraction(0), options.rho)
    return Price(options.epsilon, options.delta or Fraction(0))


def _refuse_governed(plan: Plan) -> None:
    """Nothing, where no rule of the policy stands against synthetic rows.

    Raises:
        UnsupportedQuery: If small groups stay hidden, or the table is too large.
    """
    rows, cells = rows_about(plan.relation, ((),)), math.prod(len(key.domain or ()) for key in plan.keys)
    if min_units(plan.relation) > 1:
        why = "the policy's min_units hides small groups, and any groups may be asked of synthetic rows."
        hint = "Ask GROUP BY."
    elif min(rows, cells) > MOST_DIFFERENT:
        why = f"{min(rows, cells):,} rows may be different, and SQL reads {MOST_DIFFERENT:,} of a synthetic table."
        hint = "Select fewer columns, or cut them into parts with width_bucket(x, low, high, count)."
    elif rows * len(plan.keys) > MOST_VALUES:
        why = f"its rows have about {rows * len(plan.keys):,} values, and {MOST_VALUES:,} are the most."
        hint = "Select fewer rows or columns, or ask GROUP BY."
    else:
        return
    raise UnsupportedQuery(why, construct=CONSTRUCT, hint=hint)
