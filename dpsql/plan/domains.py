"""Which groups a key can have: from declarations alone, never from data.

A declared or derived domain lists every group, empty ones included. A key without one is open: its groups appear
only through a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import product

from dpsql.plan.expressions import columns_of
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type, Value

__all__ = ["MOST_CELLS", "Evaluate", "column_domain", "domain_of", "values_known"]

MOST_CELLS = 100_000  # above this a domain is treated as open

Cell = tuple[Value, ...]
Evaluate = Callable[[Sequence[Expression], Sequence[Column], Sequence[Cell]], Sequence[tuple[Value, ...]]]
"""Runs expressions over public rows in a process that holds no data; one tuple of results a row."""


def column_domain(column: Column) -> tuple[Value, ...] | None:
    """Every value a column can take (NULL last where it is a declared value), or None where that is too many."""
    facts = column.facts
    values: Sequence[Value]
    if column.values is not None:
        values = column.values
    elif facts.type is Type.BOOLEAN:
        values = (False, True)
    elif facts.low is None or facts.high is None or column.unit:
        return None
    elif facts.type is Type.INTEGER:
        values = _integers(Fraction(facts.low), Fraction(facts.high))  # type: ignore[arg-type]  # numeric ends
    elif facts.type is Type.DATE:
        values = _days(facts.low, facts.high)  # type: ignore[arg-type]  # date ends
    else:
        return None
    if not values or len(values) > MOST_CELLS:
        return None
    return (*values, None) if facts.nullable else tuple(values)


def _integers(low: Fraction, high: Fraction) -> Sequence[Value]:
    first, last = math.ceil(low), math.floor(high)
    return range(first, last + 1) if last - first < MOST_CELLS else ()


def _days(low: date, high: date) -> Sequence[Value]:
    days = (high - low).days + 1
    return [low + timedelta(days=day) for day in range(days)] if days <= MOST_CELLS else ()


def domain_of(expression: Expression, predicates: Sequence[Expression], evaluate: Evaluate) -> tuple[Value, ...] | None:
    """Every value of a grouping key that the answer lists, in order, or None where the key is open.

    The key's own columns are enumerated, conditions that name nothing but those columns narrow them, and the key is
    computed for each cell: its image is the domain.

    Args:
        expression: The key.
        predicates: Conditions that hold for every row.
        evaluate: Runs expressions over public values.
    """
    columns = columns_of(expression)
    own = [p for p in predicates if columns and set(columns_of(p)) <= set(columns)]
    domains = [column_domain(column) or _named_values(column, own) for column in columns]
    cells = math.prod(len(domain) + 1 for domain in domains if domain is not None)
    if any(domain is None for domain in domains) or cells > MOST_CELLS:
        named = None if expression.facts.type is Type.REAL else _named_values(expression, predicates)
        return named or _whole_numbers(expression.facts)
    declared = [tuple(domain) for domain in domains if domain is not None]
    if not own and isinstance(expression, Column):
        return declared[0]
    # Data may hold a NULL that is not declared: what the key makes of it is a group, NULL itself is not.
    rows: list[Cell] = list(product(*(dict.fromkeys((*domain, None)) for domain in declared)))
    results = evaluate([expression, *own], columns, rows)
    image: dict[Value, None] = {}
    for row, (value, *flags) in zip(rows, results, strict=True):
        undeclared = any(v is None and None not in domain for v, domain in zip(row, declared, strict=True))
        if all(flag is True for flag in flags) and not (value is None and undeclared):
            image[value] = None
    return (*sorted(v for v in image if v is not None), *([None] if None in image else []))


def values_known(expression: Expression, predicates: Sequence[Expression]) -> int | None:
    """How many different values an expression can have at most, NULL apart; None where that is not known.

    Args:
        expression: Over one row.
        predicates: Conditions that hold for every row.
    """
    named = None if expression.facts.type is Type.REAL else _named_values(expression, predicates)
    if named is not None:
        return len(named)
    domain: Sequence[Value] | None = None
    match expression:
        case Constant():
            domain = (expression.value,)
        case Case():
            results = [*(result for _, result in expression.branches), expression.default]
            counts = [values_known(result, predicates) for result in results]
            return None if None in counts else sum(count or 0 for count in counts)
        case Column():
            domain = column_domain(expression)
        case Apply() if expression.facts.type is Type.BOOLEAN:
            domain = (False, True)
        case Apply() if expression.facts.type is Type.INTEGER:
            domain = _whole_numbers(expression.facts)
    return None if domain is None else sum(value is not None for value in domain)


def _named_values(key: Expression, predicates: Sequence[Expression]) -> tuple[Value, ...] | None:
    """The constants to which a condition on nothing but the key confines it (``x = 'a'``, ``x IN (...)``)."""
    for predicate in predicates:
        if isinstance(predicate, Apply) and predicate.function.name in ("=", "in") and predicate.arguments[0] == key:
            constants = [argument.value for argument in predicate.arguments[1:] if isinstance(argument, Constant)]
            if len(constants) == len(predicate.arguments) - 1:
                return tuple(sorted({value for value in constants if value is not None}))
    return None


def _whole_numbers(facts: Facts) -> tuple[Value, ...] | None:
    """The whole numbers within the bounds of an integral key, such as floor(cost / 1000)."""
    if not facts.type.numeric or facts.step != 1 or not facts.bounded:
        return None
    whole = _integers(Fraction(facts.low), Fraction(facts.high))  # type: ignore[arg-type]  # numeric ends
    if not whole:
        return None
    values: list[Value] = [float(v) if facts.type is Type.REAL else v for v in whole]  # type: ignore[arg-type]  # integers
    return (*values, None) if facts.nullable else tuple(values)
