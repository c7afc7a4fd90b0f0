"""What a release would have answered: the free statement where a budget is short, and when a release is cheaper.

A statement over one private table, without sub-queries, is read off a synthetic table of that whole table which has all
the columns that it names.

**Break-even.** Let the columns that a statement names have M combinations of listed values. Noise of one price on all
M cells answers every sum of them; a sum of M cells then errs sqrt(M) times as much as a count that is bought alone at
that price. So a table for sqrt(M) times the largest epsilon of any statement about these columns answers each of them
about as precisely, and more precisely the fewer cells it sums: once so much was spent on these columns, the table would
have been cheaper. It is a rule of thumb, of public facts and of what the analyst asked. What is said names the method:
another one may serve the workload of a whole table better, and single counts worse.

Tests: tests/unit/releasing/test_instead.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsql.errors import Error
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.ledger.views import Entry
from dpsql.plan.plans import AnyPlan
from dpsql.plan.synthetic import counted_query, released_columns, tables_named
from dpsql.privacy.kinds import Loss
from dpsql.releasing.stored import StoredTable
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse
from dpsql.sql.walk import walk

__all__ = ["Planned", "break_even", "free_statement"]

SUBJECTS = 2**14
"""Texts of charges whose subject is kept. It is a choice: the thousand that a quote looks at, of 16 analysts."""
Planned = Callable[[syntax.Queryable], AnyPlan]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a statement is about.

    Attributes:
        table: The one private table, in small letters.
        columns: The names that it mentions, in small letters.
    """

    table: str
    columns: frozenset[str]


def free_statement(
    query: syntax.Queryable, held: Iterable[tuple[SyntheticTable, StoredTable]], planned: Planned
) -> str:
    """The same statement over a synthetic table that covers its columns; '' where there is none.

    Args:
        query: What is asked.
        held: The analyst's tables that are paid for.
        planned: Plans a query of the analyst's.
    """
    subject = _subject(query)
    if subject is None or not isinstance(query, syntax.Select) or not isinstance(query.source, syntax.TableName):
        return ""
    for table, stored in held:
        made = _made_of(table)
        if made is None or made.table != subject.table or not subject.columns <= _names(stored):
            continue
        alias = query.source.alias or query.source.name[-1]
        source = replace(query.source, name=(table.name,), alias=None if alias == table.name else alias)
        free = replace(query, source=source, options=None)
        try:
            planned(free)
        except Error:
            continue
        return normal(syntax.QueryStatement(free))
    return ""


def break_even(
    query: syntax.Queryable,
    epsilon: float,
    spent: Iterable[Entry],
    planned: Planned,
    epsilon_of: Callable[[Loss], float],
) -> str:
    """What to say where a table of a statement's columns would have been cheaper than what was spent on them; else ''.

    Args:
        query: What is asked.
        epsilon: What it would cost.
        spent: The analyst's charges.
        planned: Plans a query of the analyst's.
        epsilon_of: A loss as people read it.
    """
    subject = _subject(query)
    if subject is None or not subject.columns or not 0 < epsilon < math.inf:
        return ""
    asked = [entry for entry in spent if _about(entry, subject)]
    prices = [epsilon_of(entry.loss) for entry in asked if entry.loss is not None]
    total = sum(prices)
    columns = ", ".join(sorted(subject.columns))
    try:
        made = parse(f"SELECT {columns} FROM {subject.table}")
        if not isinstance(made, syntax.QueryStatement):
            return ""
        _, keys = released_columns(planned(counted_query(made.select)), made.select)
    except Error:  # no listed values, or no such column
        return ""
    cells = math.prod(len(key.domain or ()) for _, key in keys)
    price = max([epsilon, *prices]) * math.sqrt(cells)
    if total < price or not math.isfinite(total):
        return ""
    return (
        f"You have spent epsilon {total:.3g} on {columns} of {subject.table}, in {len(asked)} statements. A table for "
        f"epsilon {price:.3g} would answer this and those about as precisely, for nothing more: CREATE SYNTHETIC "
        f"TABLE name WITH (method = 'cells', epsilon = {price:.3g}) AS SELECT {columns} FROM {subject.table}"
    )


def _about(entry: Entry, subject: Subject) -> bool:
    """Whether a charge was for some of these columns alone."""
    if entry.kind != "charge":
        return False
    for text in entry.statement.split(";\n"):
        own = _subject_of(text)
        if own is None or own.table != subject.table or not own.columns <= subject.columns:
            return False
    return True


@lru_cache(SUBJECTS)
def _subject_of(text: str) -> Subject | None:
    """What the text of a charge is about, read once: a quote looks at all that were charged."""
    try:
        statement = parse(text)
    except Error:
        return None
    return _subject(statement.select) if isinstance(statement, syntax.QueryStatement) else None


def _made_of(table: SyntheticTable) -> Subject | None:
    """The whole table that a synthetic one is made of; None where it is made of a part, or of several."""
    try:
        statement = parse(table.statement)
    except Error:  # it stands there with the values of its parameters, of which it is no whole table
        return None
    if not isinstance(statement, syntax.CreateSynthetic) or not isinstance(statement.query.select, syntax.Select):
        return None
    query = statement.query.select
    bare = all(isinstance(item.expression, syntax.Name | syntax.AllColumns) for item in query.items)
    stars = (item.expression for item in query.items if isinstance(item.expression, syntax.AllColumns))
    chosen = any(star.without or star.instead for star in stars)
    renamed = chosen or any(item.alias is not None for item in query.items)
    return None if query.where is not None or not bare or renamed else _subject(query)


def _subject(query: syntax.Queryable) -> Subject | None:
    """What a SELECT over one table is about; None for anything else."""
    if not isinstance(query, syntax.Select) or not isinstance(query.source, syntax.TableName) or query.ctes:
        return None
    if len(tables_named(query)) != 1 or len(query.source.name) != 1:
        return None
    aliases = {item.alias.lower() for item in query.items if item.alias is not None}
    return Subject(query.source.name[0].lower(), frozenset(_columns(replace(query, options=None)) - aliases))


def _columns(query: syntax.Node) -> set[str]:
    """The last parts of all names of columns, in small letters."""
    return {node.parts[-1].lower() for node in walk(query) if isinstance(node, syntax.Name)}


def _names(stored: StoredTable) -> set[str]:
    names: Mapping[str, object] = stored.info.columns
    return {name.lower() for name in names}
