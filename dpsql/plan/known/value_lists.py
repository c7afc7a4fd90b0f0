"""The values that a column or an expression can have, by its declaration and by what conditions name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache

from dpsql.limits import MOST_LISTED
from dpsql.plan.functions import Nulls
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import columns_of

__all__ = ["column_domain", "is_strict", "listed_numbers", "named_values", "values_known", "values_shown"]


def column_domain(column: Column) -> tuple[Value, ...] | None:
    """Every value a column can take (NULL last where it is a declared value), or None where that is too many."""
    listed = _listed(column)
    if not listed:
        return None
    values = _days(listed) if isinstance(listed, range) and column.facts.type is Type.DATE else listed
    return (*values, None) if column.facts.nullable else tuple(values)


@lru_cache(maxsize=16)  # a policy has few columns of days, of which each statement lists the same
def _days(numbers: range) -> tuple[date, ...]:
    return tuple(map(date.fromordinal, numbers))


def _listed(column: Column) -> Sequence[Value]:
    """The values of a column, days by their numbers, without the NULL of one that is nullable; none where too many.

    So they can be counted without being made: a statement is asked often how many there are.
    """
    facts = column.facts
    values: Sequence[Value] = ()
    if column.values is not None:
        values = column.values
    elif facts.type is Type.BOOLEAN:
        values = (False, True)
    elif column.unit:
        return ()
    elif facts.type is Type.INTEGER:
        values = _whole_numbers(facts)
    elif facts.type is Type.DATE and isinstance(facts.low, date) and isinstance(facts.high, date):
        values = range(facts.low.toordinal(), facts.high.toordinal() + 1)
    return values if len(values) <= MOST_LISTED else ()


def listed_numbers(facts: Facts) -> tuple[Value, ...] | None:
    """The values of an integral key, such as floor(cost / 1000); None for others."""
    integral = facts.type is Type.INTEGER or (facts.type is Type.REAL and facts.step == 1)
    whole = _whole_numbers(facts) if integral else ()
    numbers: list[Value] = [float(number) for number in whole] if facts.type is Type.REAL else list(whole)
    return (*numbers, *([None] if facts.nullable else [])) if numbers else None


def _whole_numbers(facts: Facts) -> Sequence[int]:
    """The whole numbers within the bounds; none where those are not known, or too many."""
    low, high = facts.low, facts.high
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return ()
    first, last = math.ceil(low), math.floor(high)
    return range(first, last + 1) if last - first < MOST_LISTED else ()


def values_shown(expression: Expression) -> tuple[Value, ...] | None:
    """The declared values of the one column that an expression shows where it is not NULL; None where it is no such."""
    match expression:
        case Column():
            return expression.values
        case Case():
            results = [expression.default, *(result for _, result in expression.branches)]
            shown = {own for own in results if not (isinstance(own, Constant) and own.value is None)}
            return values_shown(shown.pop()) if len(shown) == 1 else None
    return None


def values_known(expression: Expression, predicates: Sequence[Expression]) -> int | None:
    """How many different values an expression can have at most, NULL apart; None where that is not known.

    Args:
        expression: Over one row.
        predicates: Conditions that hold for every row.
    """
    named = None if expression.facts.type is Type.REAL else named_values(expression, predicates)
    if named is not None:
        return len(named)
    domain: Sequence[Value] = ()
    match expression:
        case Constant():
            domain = (expression.value,)
        case Case():
            results = [*(result for _, result in expression.branches), expression.default]
            counts = [values_known(result, predicates) for result in results]
            return None if None in counts else sum(count or 0 for count in counts)
        case Column():
            domain = _listed(expression)
        case Apply() if expression.facts.type is Type.BOOLEAN:
            domain = (False, True)
        case Apply() if expression.facts.type is Type.INTEGER:
            domain = _whole_numbers(expression.facts)
    if not domain:
        return _by_columns(expression, predicates) if isinstance(expression, Apply) else None
    return len(domain) if isinstance(domain, range) else sum(value is not None for value in domain)


def _by_columns(function: Apply, predicates: Sequence[Expression]) -> int | None:
    """The same of a function, which has one value for all that its columns have together. NULL, which a column that
    is not declared nullable may hold, too, counts unless it makes the whole NULL."""
    counts = [values_known(column, predicates) for column in columns_of(function)]
    missing = 0 if is_strict(function) else 1
    known = [count + missing for count in counts if count is not None]
    return math.prod(known) if len(known) == len(counts) else None


def is_strict(expression: Expression) -> bool:
    """Whether it is NULL wherever one of its columns is."""
    if not isinstance(expression, Apply):
        return isinstance(expression, Column | Constant)
    return expression.function.nulls in (Nulls.STRICT, Nulls.MAY) and all(map(is_strict, expression.arguments))


def named_values(key: Expression, predicates: Sequence[Expression]) -> tuple[Value, ...] | None:
    """The constants to which conditions confine the key (``x = 'a'``, ``x IN (...)``, OR of such); None without one."""
    for predicate in predicates:
        named = _named(key, predicate)
        if named is not None:
            return tuple(sorted(named))  # type: ignore[type-var]  # constants of one type
    return None


def _named(key: Expression, predicate: Expression) -> set[Value] | None:
    if not isinstance(predicate, Apply):
        return None
    name, parts = predicate.function.name, predicate.arguments
    if name == "or":
        sides = [_named(key, part) for part in parts]
        known = [side for side in sides if side is not None]
        return set().union(*known) if len(known) == len(sides) else None
    if name == "and":
        return next((named for part in parts if (named := _named(key, part)) is not None), None)
    if name == "=" and parts[1] == key:
        parts = parts[::-1]
    constants = [part.value for part in parts[1:] if isinstance(part, Constant)]
    if name not in ("=", "in") or parts[0] != key or len(constants) < len(parts) - 1:
        return None
    return {value for value in constants if value is not None}
