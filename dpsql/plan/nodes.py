"""The plan: a closed set of typed nodes. What has no node here cannot run.

Expressions describe one row. Relations describe rows of the bounded view. A `Plan` is one statement:
private aggregates over a relation, and what happens to their released values afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.plan.catalog import TableInfo
from dpsql.plan.types import Facts, Value

if TYPE_CHECKING:
    from dpsql.plan.functions import Function

__all__ = [
    "Aggregate",
    "Apply",
    "Case",
    "Column",
    "Constant",
    "Expression",
    "Filter",
    "Join",
    "Key",
    "Order",
    "Output",
    "Plan",
    "Relation",
    "Scan",
]

Position = tuple[int, int]

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
    """

    alias: str
    name: str
    facts: Facts
    values: tuple[Value, ...] | None = None
    stored_grid: bool = False
    unit: bool = False


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


Expression = Column | Constant | Apply | Case

# -------------------------------------------------------------------- relations


@dataclass(frozen=True, slots=True)
class Scan:
    """A table: the bounded view of a private one, or a public one as it is."""

    table: TableInfo
    alias: str


@dataclass(frozen=True, slots=True)
class Join:
    """An inner join on equal columns, one table at a time, starting from a private one.

    Joins of private tables always include equality of units.
    """

    left: Relation
    right: Scan
    equal: tuple[tuple[Column, Column], ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which the predicate is true."""

    input: Relation
    predicate: Expression


Relation = Scan | Join | Filter

# -------------------------------------------------------------------- statement


@dataclass(frozen=True, slots=True)
class Key:
    """One grouping key.

    Attributes:
        name: Its column in released tables (``k0``, ``k1``, ...).
        expression: What is grouped by.
        domain: Every value it can take that the answer lists, in order, NULL last where it is a group; None: open.
    """

    name: str
    expression: Expression
    domain: tuple[Value, ...] | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One private aggregate; identical ones are measured once.

    Attributes:
        name: Its column in released tables (``a0``, ``a1``, ...).
        function: ``count_rows``, ``count`` (of non-NULL values), ``count_units``, ``count_distinct``, ``sum``, ``avg``,
            ``var_pop``, ``var_samp``, ``stddev_pop``, ``stddev_samp``, ``covar_pop``, ``covar_samp``, ``corr``,
            ``regr_slope``, ``min``, ``max``, ``quantile_cont``, ``quantile_disc`` or ``mode``.
        argument: The expression over one row, or None for ``count_rows`` and ``count_units``.
        text: The analyst's own spelling, for messages and plans.
        epsilon: Its own price by ``epsilon =>``, or None for an equal share.
        second: The second argument of covariances (``covar(y, x)``: y is ``argument``, x is ``second``); else None.
        fraction: Of a quantile, from 0 to 1; else None.
        position: Where it stands in the text.
    """

    name: str
    function: str
    argument: Expression | None
    text: str
    epsilon: Fraction | None = None
    second: Expression | None = None
    fraction: Fraction | None = None
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer, over released values (`Column` s with alias ``released``)."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Order:
    """One ORDER BY term over released values."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """One statement, ready for mechanisms to offer.

    Attributes:
        relation: What is aggregated.
        keys: Grouping keys; none means one group.
        aggregates: Distinct aggregates, in order of first appearance.
        outputs: The answer's columns.
        having: Condition on released values, or None.
        order_by: Terms over released values; without any, rows come sorted by key.
        limit: Most rows of the answer, or None.
        offset: Rows skipped before.
        options: The statement's own options (``WITH DIFFERENTIAL_PRIVACY OPTIONS``), by name.
    """

    relation: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: tuple[tuple[str, Value], ...] = ()
