"""Which conditions compare a column with a number beyond its bounds: they tell none of the values there apart.

A number outside the bounds counts as the nearer one. So `x <> 9999`, `x < 9999` and NULLIF(x, 9999), which leave out a
number that stands for no answer, leave nothing out where x counts within [0, 500]: 9999 is 500 there, and goes into the
mean. A condition at the bound leaves it out. What no row can meet is refused before (`plan.over_answers.no_rows`).

Tests: tests/unit/answers/quotes/test_beyond.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpsql.plan.intervals import Interval
from dpsql.plan.known.relations import origins
from dpsql.plan.nodes import Apply, Column, Expression, Relation
from dpsql.plan.plans import Plan
from dpsql.plan.rows.unit_work import parts_of, values_of
from dpsql.plan.values.expressions import arguments_of, columns_of
from dpsql.plan.values.ranges import known_range

__all__ = ["beyond_bounds"]

COMPARING = ("=", "<>", "<", "<=", ">", ">=", "in", "nullif")
KEEPING = ("cast:", "nullif", "coalesce")
"""What keeps the values of its first argument, for the most part."""


def beyond_bounds(plan: Plan) -> tuple[str, ...]:
    """A sentence for each column that is compared with what lies beyond its bounds."""
    found = dict[str, None]()
    for expression, relation in (*((own, plan.relation) for own in values_of(plan)), *_conditions(plan.relation)):
        for column, values in _compared(expression):
            found |= dict.fromkeys(_said(column, values, relation))
    return tuple(found)


def _conditions(relation: Relation) -> Iterator[tuple[Expression, Relation]]:
    """What is worked out for the rows of a relation and of those below it, each with these rows."""
    for own, below in parts_of(relation):
        yield from ((expression, relation if below is None else below) for expression in own)
        if below is not None:
            yield from _conditions(below)


def _compared(expression: Expression) -> Iterator[tuple[Column, list[Fraction]]]:
    """Columns, each with the constants that it is compared with."""
    if isinstance(expression, Apply) and expression.function.name in COMPARING:
        sides = [_converted(own) for own in expression.arguments]
        columns = [own for own in sides if isinstance(own, Column)]
        if len(columns) == 1:
            yield columns[0], _numbers(sides)
    for argument in arguments_of(expression):
        yield from _compared(argument)


def _converted(side: Expression) -> Expression:
    """What is compared, without casts between numbers and what handles NULL."""
    while isinstance(side, Apply) and side.function.name.startswith(KEEPING) and side.arguments[0].facts.type.numeric:
        side = side.arguments[0]
    return side


def _numbers(sides: Sequence[Expression]) -> list[Fraction]:
    known = [known_range(own) for own in sides if own.facts.type.numeric and not columns_of(own)]
    return [own.low for own in known if isinstance(own, Interval) and own.low is not None and own.low == own.high]


def _said(column: Column, values: Sequence[Fraction], relation: Relation) -> Iterator[str]:
    for own, bare in origins(relation, column):
        low, high = own.facts.low, own.facts.high
        if not bare or own.values is not None or not isinstance(low, Fraction) or not isinstance(high, Fraction):
            continue
        within = f"[{float(low):.15g}, {float(high):.15g}]"
        for value in values:
            if not low <= value <= high:
                which, end, instead = ("smaller", low, ">") if value < low else ("larger", high, "<")
                yield (
                    f"{column.shown} is compared with {float(value):.15g}, beyond its bounds {within}: {which} values "
                    f"count as {float(end):.15g}, so that it tells none of them apart. "
                    f"{column.shown} {instead} {float(end):.15g} leaves them out."
                )
