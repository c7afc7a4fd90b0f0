"""About how many rows and units a relation has: guesses to choose by and to foretell errors, never for a proof.

A table's rows are those that facts counted, or that the policy guesses. Of its units there are as many as `known_units`
says: by facts, or by another table that has one row for each. Where nothing says, units have from 1 to ``most`` rows
each. The middle of these by factors, sqrt(most), is wrong by the least factor at worst. But owners write what hardly
any unit passes: where ``most`` is large, units are thought to have a quarter of it, since a guess of too many units
foretells an error that is too small, and sells an answer of no use.

Tests: tests/unit/plan/known/test_guesses.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.catalog import TableInfo
from dpsql.plan.known.relations import aliases_of, conjuncts, is_public, predicates, private_scans, unit_of
from dpsql.plan.known.selectivity import share_left, share_valued
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import (
    Case,
    Column,
    Constant,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
    Written,
)
from dpsql.plan.remembered import remembered
from dpsql.plan.values.expressions import columns_of

__all__ = [
    "OPEN_GROUPS",
    "known_units",
    "rows_guessed",
    "rows_left",
    "rows_of_a_total",
    "rows_said_by",
    "share_of_a_unit",
    "spread_of_a_total",
    "thinned",
    "units_guessed",
    "units_said_by",
]

OPEN_GROUPS = 100  # As so many groups open keys are thought to have. A guess.
LOOSE = 4  # How many times what a unit has a cap is thought to be, in a whole table. A guess, as in `capped`.


def known_units(table: TableInfo, others: Iterable[TableInfo]) -> int | None:
    """How many units a private table has, as facts or tables with one row a unit tell; None where they do not.

    A table with one row for each unit says how many there are in all, where these can have a table's rows: units with
    ``rows_per_unit`` rows each are too few, and more units than rows are too many.

    Args:
        table: The table.
        others: Private tables whose number of rows is known, or was named by the owner.
    """
    if table.advised is not None and table.advised.units > 0:
        return table.advised.units
    one_each = [other for other in others if other.rows_per_unit == 1 and other.unit is not None]
    counted = [other.advised.units for other in one_each if other.advised is not None and other.advised.units > 0]
    fits = [
        units
        for units in counted or [other.rows_about for other in one_each]
        if units <= table.rows_about <= units * table.rows_per_unit
    ]
    return max(fits, default=None)


@remembered
def rows_guessed(relation: Relation) -> int:
    """About how many rows a private relation has; 0 of a public one.

    Conditions are taken to leave all, and a join as many as its larger private side has. Rows of one unit, or of one
    unit and further keys, are counted as such.
    """
    if is_public(relation):
        return 0
    match relation:
        case Scan():
            return relation.table.rows_about
        case PerUnit() | Project(distinct=True):
            return _of_units(relation)
        case Filter() | Semi() | Project():
            return rows_guessed(relation.input)
        case UnionAll():
            return max(rows_guessed(part) for part, _ in relation.parts)
        case Join():
            return max(rows_guessed(relation.left), rows_guessed(relation.right))
        case Written():
            return 0


def rows_left(relation: Relation, argument: Expression | None = None) -> int:
    """About how many of a private relation's rows its conditions leave, and an aggregate's FILTER; at least 1.

    Args:
        relation: The rows.
        argument: What is aggregated of them, if anything.
    """
    share = share_left(predicates(relation)) * share_valued(argument)
    return max(1, round(rows_guessed(relation) * share))


def share_of_a_unit(relation: Relation, argument: Expression | None = None) -> float:
    """About the share of a unit's own rows that conditions leave, and an aggregate's FILTER.

    What is said of units alone, by columns of tables with one row for each of them, leaves all rows of a unit, or none.
    """
    single = {scan.alias for scan in private_scans(relation) if scan.table.rows_per_unit == 1}
    parts = [part for condition in predicates(relation) for part in conjuncts(condition)]
    of_rows = [part for part in parts if not {column.alias for column in columns_of(part)} <= single]
    return share_left(of_rows) * share_valued(argument)


def thinned(rows: float, share: float) -> float:
    """About how many of a unit's rows are left by conditions that leave a share, where they leave any; at least 1.

    Rows are thought to be picked by chance, so that of few there is often none.

    >>> thinned(9.0, 1.0), round(thinned(9.0, 1 / 6), 2), round(thinned(9.0, 1e-9), 2)
    (9.0, 1.93, 1.0)
    """
    if share >= 1:
        return max(1.0, rows)
    left = rows * share
    return max(1.0, left / -math.expm1(-left)) if left > 0 else 1.0


def _counts_units(relation: Relation) -> bool:
    """Whether the guess of its rows is made from one of units."""
    match relation:
        case PerUnit() | Project(distinct=True):
            return unit_of(relation) is not None
        case Filter() | Semi() | Project():
            return _counts_units(relation.input)
        case UnionAll():
            return any(_counts_units(part) for part, _ in relation.parts)
        case Join():
            return _counts_units(relation.left) or _counts_units(relation.right)
        case _:
            return False


def _of_units(relation: PerUnit | Project) -> int:
    """Of one row for each unit and value of the further keys: between as many as units and as rows, by factors."""
    inside, units, most = rows_guessed(relation.input), units_guessed(relation), rows_per_unit(relation)
    if unit_of(relation) is None:
        return inside
    return min(inside, round(math.sqrt(units * min(inside, units * most))))


def units_guessed(relation: Relation) -> int:
    """About how many units have rows in a private relation; 0 of a public one."""
    if is_public(relation):
        return 0
    match relation:
        case Scan():
            return _units_of(relation.table)
        case Filter() | Semi() | Project() | PerUnit():
            return units_guessed(relation.input)
        case UnionAll():
            return max(units_guessed(part) for part, _ in relation.parts)
        case Join(outer=True):
            return units_guessed(relation.left)
        case Join():
            sides = (relation.left, relation.right)
            return min(units_guessed(side) for side in sides if not is_public(side))
        case Written():
            return 0


def _units_of(table: TableInfo) -> int:
    most = max(1, table.rows_per_unit)
    return max(1, table.units_known or round(table.rows_about / max(math.sqrt(most), most / LOOSE)))


def rows_said_by(relation: Relation) -> str:
    """Who says how many rows a private relation has, as notes put it."""
    if _counts_units(relation):
        return units_said_by(relation)
    return _said((scan.table for scan in private_scans(relation)), "the policy guesses (rows_about)")


def units_said_by(relation: Relation) -> str:
    """Who says how many units a private relation has, as notes put it."""
    tables = [scan.table for scan in private_scans(relation)]
    guessed = any(table.units_known is None and table.rows_per_unit > 1 for table in tables)
    own = "rows_about and rows_per_unit make likely" if guessed else "the policy guesses (rows_about)"
    return _said(tables, own)


def _said(tables: Iterable[TableInfo], guess: str) -> str:
    largest = max(tables, key=lambda table: table.rows_about, default=None)
    held = "the policy holds (rows_about, the owner's or counted by advise)"
    return f"that {guess if largest is None or largest.advised is None else held}"


def spread_of_a_total(relation: Relation, argument: Expression) -> Fraction | None:
    """About how far counts and sums of single units lie apart; None where nothing tells.

    Units are thought to differ in their numbers of rows by as much as they have, and rows by their declared spread.

    Args:
        relation: The rows.
        argument: Over one of them.
    """
    total = rows_of_a_total(relation, argument)
    if total is None:
        return None
    rows, _, added = total
    if added is None:
        return Fraction(rows)
    facts = added.facts
    if facts.centre is None or facts.spread is None:
        return None
    return Fraction(rows * math.hypot(float(facts.centre), float(facts.spread) / math.sqrt(rows)))


def rows_of_a_total(relation: Relation, argument: Expression) -> tuple[float, int, Expression | None] | None:
    """About how many rows one unit's count or sum is made of, the most that it may be, and what is added up.

    Args:
        relation: The rows.
        argument: Over one of them.

    Returns:
        None for whatever is not a count or a sum over the rows of one unit.
    """
    match argument:
        case Case(branches=((_, argument),), default=Constant(value=None)):  # behind FILTER, or of two that both are
            pass
    while isinstance(argument, Column):
        match relation:
            case Filter() | Semi():
                relation = relation.input
            case Join():
                relation = relation.left if argument.alias in aliases_of(relation.left) else relation.right
            case Project() if relation.alias == argument.alias:
                argument, relation = dict(relation.columns)[argument.name], relation.input
            case PerUnit() if relation.alias == argument.alias:
                own = next((value for value in relation.values if value.name == argument.name), None)
                kind = None if own is None else FUNCTIONS[own.function].kind
                if own is None or kind not in (Kind.COUNT, Kind.SUM):
                    return None
                rows, most = rows_guessed(relation.input), rows_per_unit(relation.input)
                each = min(float(most), max(1.0, rows / max(1, rows_guessed(relation))))
                return each, most, own.argument if kind is Kind.SUM else None
            case _:
                return None
    return None
