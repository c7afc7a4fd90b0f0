"""One value for each unit beside the unit's class: what personalised statistics are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.catalog import TableInfo
from dpsql.plan.functions import overloads
from dpsql.plan.known.relations import column_of, unit_of
from dpsql.plan.nodes import Aggregate, Case, Column, Constant, Expression, Join, Relation, Scan
from dpsql.plan.plans import Key
from dpsql.plan.rows.per_unit import totals_per_unit
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.applied import applied

__all__ = ["UnitValues", "values_per_unit"]


@dataclass(frozen=True, slots=True)
class UnitValues:
    """The rows of a relation as one value for each unit and group.

    Attributes:
        relation: One row for each unit and group, joined to the unit's class: at most as many rows as groups.
        keys: What they are grouped by, over it.
        value: The unit's total, or its own least or largest value.
        of: The column that holds the unit's class.
    """

    relation: Relation
    keys: tuple[Key, ...]
    value: Column
    of: Column

    def of_class(self, name: str) -> Expression:
        """The value where the unit is of that class, else NULL."""
        constant = Constant(name, Facts(Type.TEXT, nullable=False))
        facts = replace(self.value.facts, nullable=True)
        equal = applied("=", overloads("="), (self.of, constant), None)
        return Case(((equal, self.value),), Constant(None, facts), facts)


def values_per_unit(
    relation: Relation, keys: tuple[Key, ...], aggregate: Aggregate, class_of: TableInfo
) -> UnitValues | None:
    """The values of an aggregate that is the total, the least or the largest of one value for each unit.

    Args:
        relation: The rows.
        keys: What they are grouped by.
        aggregate: What is asked of them.
        class_of: The table of units and their classes.

    Returns:
        None for other aggregates, for ends of the statement's own, and for rows that have lost their unit.
    """
    ends = aggregate.bounds or aggregate.per_group
    if FUNCTIONS[aggregate.function].by_unit is None or ends is not None or unit_of(relation) is None:
        return None
    counted = replace(aggregate, function="count_rows") if aggregate.function == "count_units" else aggregate
    try:
        totals, columns, asked = totals_per_unit(relation, keys, counted, f"of_{aggregate.name}")
    except UnsupportedQuery:  # a sum that could be too large for the engine
        return None
    unit, classes = unit_of(totals), Scan(class_of, f"class_{aggregate.name}")
    if unit is None or not isinstance(asked.argument, Column):
        raise InvariantBroken("values per unit have a unit and a value")
    joined = Join(totals, classes, ((unit, column_of(classes, "unit")),))
    return UnitValues(joined, columns, asked.argument, column_of(classes, "class"))
