"""The plan: a closed set of typed nodes. What has no node here cannot run.

Expressions describe one row. Relations describe rows of the bounded view. `plans` puts them together to statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.limits import MAX_LENGTH
from dpsql.plan.catalog import TableInfo
from dpsql.plan.intervals import Interval
from dpsql.plan.types import Facts, Value
from dpsql.sql.syntax import Frame

if TYPE_CHECKING:
    from dpsql.plan.functions import Function

__all__ = [
    "AWAITED",
    "Aggregate",
    "Apply",
    "Case",
    "Column",
    "Constant",
    "Expression",
    "Filter",
    "Join",
    "OptionValue",
    "Order",
    "PerUnit",
    "Project",
    "Relation",
    "Scan",
    "Semi",
    "Total",
    "UnionAll",
    "UnitValue",
    "Windowed",
    "Written",
]

Position = tuple[int, int]
OptionValue = Value | tuple[Value, ...]
"""What an option may be set to: a constant, or several in parentheses."""

AWAITED = "awaited"
"""The alias of columns that stand for values which are released first (`plan.over_answers.awaited`)."""

# ------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation in scope.

    Attributes:
        alias: The plan's own alias of the relation (``t0``, or ``released`` after the mechanisms).
        name: The column's name there.
        facts: What is known of it.
        values: Its declared domain without NULL, or None.
        stored_grid: Whether ``<name>$grid`` stands beside it.
        unit: Whether it is the privacy unit.
        link: ``table.key`` for a declared key or a reference to one: it may equal others of the same link, no more.
        declared: Whether it is a private table's own column and the policy declares its values: it has no others.
        reach: Where its numbers surely lie, for one that was computed below and that the facts do not bound; None where
            they lie as those of a table or of a release do (`ranges.range_of`).
        length: How long its texts surely are, where they were computed below: (times, plus) as in `ranges.length_of`.
        letters: The same as a number: of the longest text that there may be.
        said: What the analyst calls it, where that is known, for messages.
    """

    alias: str
    name: str
    facts: Facts
    values: tuple[Value, ...] | None = None
    stored_grid: bool = False
    unit: bool = False
    link: str | None = None
    declared: bool = False
    reach: Interval | None = None
    length: tuple[int, int] | None = None
    letters: int = MAX_LENGTH
    said: str = field(default="", compare=False)

    def __hash__(self) -> int:
        """That of its name, which tells most columns apart: a domain may have many values."""
        return hash((self.alias, self.name))

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return self.said or self.name

    @property
    def identifies(self) -> bool:
        """Whether it names a person or a single record: it may be joined on and counted, never shown or compared."""
        return self.unit or self.link is not None


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal or parameter: carried as a value, bound at run time, never printed."""

    value: Value
    facts: Facts


@dataclass(frozen=True, slots=True)
class Apply:
    """A total function of the allow-list, applied."""

    function: Function
    arguments: tuple[Expression, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Case:
    """CASE: the first branch whose condition is true, else the default (a NULL constant where none is written)."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression
    facts: Facts


@dataclass(frozen=True, slots=True)
class Windowed:
    """A function of a row of an answer and the rows beside it: ``f(..) OVER (PARTITION BY .. ORDER BY .. frame)``.

    Attributes:
        function: Of the list in `dpsql.plan.rows.windows`; ``{over}`` in its spelling is the window.
        arguments: Over one row.
        partition: What rows that see each other have in common.
        order: Terms.
        frame: Which of them count; None for all up to the current row and those equal to it.
        ties: Whether rows that the order leaves equal are put in the order of the answer.
        facts: What is known of it.
    """

    function: Function
    arguments: tuple[Expression, ...]
    partition: tuple[Expression, ...]
    order: tuple[Order, ...]
    frame: Frame | None
    ties: bool
    facts: Facts

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Everything that it reads of a row."""
        return *self.arguments, *self.partition, *(term.expression for term in self.order)


@dataclass(frozen=True, slots=True)
class Total:
    """One aggregate over all rows of the answer that a stage reads: ``(SELECT SUM(n) FROM a WHERE ..)`` as a value.

    Attributes:
        function: An aggregate of `dpsql.plan.over_answers.stages`.
        arguments: Over one of those rows.
        where: Which of them count, or None for all.
        facts: What is known of it.
    """

    function: Function
    arguments: tuple[Expression, ...]
    where: Expression | None
    facts: Facts


Expression = Column | Constant | Apply | Case | Windowed | Total

# -------------------------------------------------------------------- relations


@dataclass(frozen=True, slots=True)
class Scan:
    """A table: the bounded view of a private one, or a public one as it is."""

    table: TableInfo
    alias: str


@dataclass(frozen=True, slots=True)
class Join:
    """An inner or left join on equal columns; on none of them, all rows of the two sides meet.

    A join of two private relations always includes equality of their units. The left side of a left join is private.

    Attributes:
        left: Rows.
        right: Rows.
        equal: Pairs of columns, the left side's first. Without any the right side is public.
        outer: Whether rows of the left side without a partner stay (LEFT JOIN).
        on: Further conditions of a left join.
    """

    left: Relation
    right: Relation
    equal: tuple[tuple[Column, Column], ...]
    outer: bool = False
    on: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which the predicate is true."""

    input: Relation
    predicate: Expression


@dataclass(frozen=True, slots=True)
class Semi:
    """The rows with (``negated``: without) a partner: IN and EXISTS.

    Attributes:
        input: Rows that stay or go.
        right: Where partners are looked for.
        on: What makes a row of ``right`` a partner; between private relations it includes equality of units.
        negated: NOT IN, NOT EXISTS.
    """

    input: Relation
    right: Relation
    on: tuple[Expression, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Project:
    """Named expressions over rows, as a relation of its own.

    Attributes:
        input: Rows.
        alias: The plan's alias of the result.
        columns: Names and expressions.
        distinct: Whether equal rows are one.
    """

    input: Relation
    alias: str
    columns: tuple[tuple[str, Expression], ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several relations with the same columns, one after the other.

    Attributes:
        parts: Relations with their expressions, all of the same types, the unit at the same place.
        alias: The plan's alias of the result.
        names: Its column names.
    """

    parts: tuple[tuple[Relation, tuple[Expression, ...]], ...]
    alias: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Rows that the statement itself holds: public, and nobody's.

    Attributes:
        columns: The columns of all rows.
        rows: Their values, one tuple a row.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def alias(self) -> str:
        """The plan's alias."""
        return self.columns[0].alias


@dataclass(frozen=True, slots=True)
class UnitValue:
    """One exact aggregate over the rows of one unit (and key values).

    Attributes:
        name: Its column.
        function: ``count_rows``, ``count``, ``count_distinct``, ``sum``, ``avg``, ``min`` or ``max``.
        argument: Over one row, or None for ``count_rows``.
        facts: What is known of it.
    """

    name: str
    function: str
    argument: Expression | None
    facts: Facts


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row per unit and key values: exact aggregates inside one person's rows. Still private.

    Attributes:
        input: Rows.
        alias: The plan's alias of the result.
        keys: Names and expressions of what is grouped by; the unit is among them.
        values: The aggregates.
    """

    input: Relation
    alias: str
    keys: tuple[tuple[str, Expression], ...]
    values: tuple[UnitValue, ...]


Relation = Scan | Join | Filter | Semi | Project | UnionAll | PerUnit | Written

# -------------------------------------------------------------------- statement


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One private aggregate; identical ones are measured once.

    Attributes:
        name: Its column in released tables (``a0``, ``a1``, ...).
        function: A name in the table of `aggregates`; ``count`` is of the values that are not NULL.
        argument: The expression over one row, or None for ``count_rows`` and ``count_units``.
        text: The analyst's own spelling, for messages and plans.
        epsilon: Its own price by ``epsilon =>``, or None for an equal share.
        second: The second argument of covariances (``covar(y, x)``: y is ``argument``, x is ``second``); else None.
        fraction: Of a quantile, from 0 to 1; else None.
        bounds: The analyst's ends for each row's value, inside the policy's; None for those inferred.
        per_group: The analyst's ends for each unit's total within a group, or None.
        vector: Of ``avg_vector``: all its arguments; rows count where none of them is NULL. () for other aggregates.
        since: Where the values are dates, the one from which ``argument`` counts their days; else None.
        position: Where it stands in the text.
    """

    name: str
    function: str
    argument: Expression | None
    text: str
    epsilon: Fraction | None = None
    second: Expression | None = None
    fraction: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    per_group: tuple[Fraction, Fraction] | None = None
    vector: tuple[Expression, ...] = ()
    since: date | None = None
    position: Position | None = field(default=None, compare=False)

    @property
    def values(self) -> list[Expression]:
        """What it reads of each row."""
        return [value for value in (self.argument, self.second, *self.vector) if value is not None]

    @property
    def rank(self) -> Fraction | None:
        """Where among the values in order it stands: a quantile's fraction, 0 of MIN, 1 of MAX; None of others."""
        return {"min": Fraction(0), "max": Fraction(1)}.get(self.function, self.fraction)


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY term over released values."""

    expression: Expression
    descending: bool
    nulls_first: bool
