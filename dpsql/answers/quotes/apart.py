"""Columns that count different rows each, as PIVOT makes them, and the GROUP BY that says the same with less error.

Each such column is an aggregate with a FILTER, and pays for a part of the price. No row is in two of them, so one row
for each value costs once what all of them do: which rows are whose is then known to the mechanism.

Tests: tests/unit/answers/quotes/test_apart.py.
"""

from __future__ import annotations

from collections.abc import Hashable

from dpsql.plan.known.relations import conjuncts
from dpsql.plan.known.there import filtered
from dpsql.plan.nodes import Aggregate, Apply, Column, Constant, Expression
from dpsql.plan.plans import Plan
from dpsql.plan.types import Value

__all__ = ["columns_apart"]

FEWEST = 3  # Such columns, to be told of. A guess: of two the rows are hardly worth another question.


def columns_apart(plan: Plan) -> tuple[str, ...]:
    """For each aggregate that is asked of the rows of several values, which GROUP BY asks for the same as rows."""
    found = dict[tuple[Hashable, tuple[Column, ...]], dict[tuple[Value, ...], str]]()
    names = {own.name: own.text for own in plan.aggregates}
    for output in plan.outputs:  # in full: FILTERs are told apart by nothing else
        if isinstance(output.expression, Column) and output.expression.name in names:
            names[output.expression.name] = output.label
    keys = [key.expression.shown for key in plan.written if isinstance(key.expression, Column)]
    for own in plan.aggregates:
        if (split := _split(own)) is not None:
            same, columns, values = split
            found.setdefault((same, columns), {}).setdefault(values, names[own.name])
    notes = []
    for (_, columns), called in found.items():
        varied = [column.shown for place, column in enumerate(columns) if len({each[place] for each in called}) > 1]
        if len(called) >= FEWEST and len(keys) == len(plan.keys):
            notes.append(
                f"{', '.join(called.values())}: each takes its part of the price, though no row is in two of them. "
                f"GROUP BY {', '.join((*keys, *varied))} asks for the same as rows, all at the price of one: they err "
                f"up to {len(called)} times less."
            )
    return tuple(notes)


def _split(own: Aggregate) -> tuple[Hashable, tuple[Column, ...], tuple[Value, ...]] | None:
    """What is asked, and which columns have which values in its rows; None where FILTER names none."""
    condition, value = (None, None) if own.argument is None else filtered(own.argument)
    parts = () if condition is None else conjuncts(condition)
    equal = dict(filter(None, map(_equality, parts)))
    others = frozenset(part for part in parts if _equality(part) is None)
    columns = tuple(sorted(equal, key=lambda column: (column.alias, column.name)))
    same = (own.function, value, others)
    return (same, columns, tuple(equal[column] for column in columns)) if columns else None


def _equality(condition: Expression) -> tuple[Column, Value] | None:
    match condition:
        case Apply(function=function, arguments=(Column() as column, Constant(value=value))) if function.name == "=":
            return column, value
    return None
