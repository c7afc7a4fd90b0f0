"""Which groups a key can have: from declarations alone, never from data.

A declared or derived domain lists every group, empty ones included. A key without one is open: its groups appear
only through a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import compress, product

from dpsql.limits import MOST_LISTED
from dpsql.plan.known.narrowing import facts_where
from dpsql.plan.known.value_lists import column_domain, listed_numbers, named_values
from dpsql.plan.measured.forms import Listing
from dpsql.plan.nodes import AWAITED, Apply, Column, Expression
from dpsql.plan.types import Type, Value
from dpsql.plan.values.expressions import columns_of

__all__ = ["Evaluate", "domain_of"]

Cell = tuple[Value, ...]
Evaluate = Callable[[Sequence[Expression], Sequence[Column], Sequence[Cell]], Sequence[tuple[Value, ...]]]
"""Runs expressions over public rows in a process that holds no data; one tuple of results a row."""


def domain_of(expression: Expression, predicates: Sequence[Expression], evaluate: Evaluate) -> tuple[Value, ...] | None:
    """Every value of a grouping key that the answer lists, in order, or None where the key is open.

    The key's own columns are enumerated, what conditions say of nothing but those columns narrows them, and the key is
    computed for each cell: its image is the domain.

    Args:
        expression: The key.
        predicates: Conditions that hold for every row.
        evaluate: Runs expressions over public values.
    """
    columns = columns_of(expression)
    own = [said for p in predicates if (said := _said_of(columns, p)) is not None]
    listed = {column: _listed(column, own) for column in columns}
    known = {column: domain for column, domain in listed.items() if domain is not None}
    if len(known) == len(columns) and _cells(known) <= MOST_LISTED:
        bare = isinstance(expression, Column) and not own
        return known[columns[0]] if bare else _image(expression, own, known, evaluate)
    named = None if expression.facts.type is Type.REAL else named_values(expression, predicates)
    return named or _by_form(expression, predicates, own, evaluate)


def _said_of(columns: Sequence[Column], predicate: Expression) -> Expression | None:
    """What a condition says of these columns alone, which is true wherever it is; None where it says nothing.

    Of ``(a = 1 AND b = 2) OR (a = 3 AND b = 4)`` it is ``a = 1 OR a = 3`` for a.
    """
    if columns and set(columns_of(predicate)) <= set(columns):
        return predicate
    if not isinstance(predicate, Apply) or predicate.function.name not in ("and", "or"):
        return None
    parts = [_said_of(columns, part) for part in predicate.arguments]
    known = tuple(part for part in parts if part is not None)
    if not known or (predicate.function.name == "or" and len(known) < len(parts)):
        return None
    return known[0] if len(known) == 1 else replace(predicate, arguments=known)


def _by_form(
    expression: Expression, predicates: Sequence[Expression], own: Sequence[Expression], evaluate: Evaluate
) -> tuple[Value, ...] | None:
    """The values that follow from what the key is made of (`forms`); None where some part of it is open."""
    if isinstance(expression, Column):
        return listed_numbers(expression.facts)
    listing = Listing(own, lambda part: domain_of(part, predicates, evaluate))
    found = listing.replaced(expression)
    if found is None or _cells(listing.found) > MOST_LISTED:
        return None
    narrowing = listing.narrowing()
    if isinstance(found, Column) and not narrowing:
        return listing.found[found]
    return _image(found, narrowing, listing.found, evaluate)


def _cells(domains: Mapping[Column, Sequence[Value]]) -> int:
    return math.prod(len(domain) + 1 for domain in domains.values())


def _image(
    expression: Expression, own: Sequence[Expression], domains: Mapping[Column, Sequence[Value]], evaluate: Evaluate
) -> tuple[Value, ...]:
    """What a key is for the cells of its columns on which its own conditions are true.

    Data may hold a NULL that is not declared: what the key makes of it is a group, NULL itself is not.
    """
    open_to_null = [at for at, domain in enumerate(domains.values()) if None not in domain]
    cells = ((*domain, None) if at in open_to_null else domain for at, domain in enumerate(domains.values()))
    rows: list[Cell] = list(product(*cells))
    values, *flags = zip(*evaluate([expression, *own], list(domains), rows), strict=True)
    found = list(zip(values, rows, strict=True))
    if flags:
        found = list(compress(found, map(all, zip(*flags, strict=True))))
    image = dict.fromkeys(value for value, _ in found)
    nulls = (row for value, row in found if value is None)
    is_group = any(all(row[at] is not None for at in open_to_null) for row in nulls)
    return (*sorted(value for value in image if value is not None), *([None] if is_group else []))


def _listed(column: Column, own: Sequence[Expression]) -> tuple[Value, ...] | None:
    """A column's values by its declaration, or by the conditions on it; what is released before has none."""
    if column.alias == AWAITED:
        return None
    declared = column_domain(column)
    if declared is not None or column.unit:
        return declared
    return column_domain(replace(column, facts=facts_where(column, own))) or named_values(column, own)
