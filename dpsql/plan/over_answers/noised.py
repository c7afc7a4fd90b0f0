"""Which columns of rows that are made of answers hold noise, and whether noise decides which rows there are.

Tests: tests/unit/answers/test_several.py.
"""

from __future__ import annotations

from dpsql.plan.nodes import Column, Expression, Filter, Join, Project, Relation, Scan, Semi, UnionAll
from dpsql.plan.values.expressions import columns_of

__all__ = ["decided_by_noise", "is_noised"]


def is_noised(relation: Relation, expression: Expression) -> bool:
    """Whether an expression over a relation reads a number that holds noise."""
    return any(_holds_noise(relation, column) for column in columns_of(expression))


def _holds_noise(relation: Relation, column: Column) -> bool:
    match relation:
        case Filter() | Semi():
            return _holds_noise(relation.input, column)
        case Join():
            return _holds_noise(relation.left, column) or _holds_noise(relation.right, column)
        case _ if relation.alias != column.alias:
            return False
        case Scan():
            return relation.table.answer is not None and column.name.startswith("a")
        case UnionAll():
            place = relation.names.index(column.name)
            return any(is_noised(part, columns[place]) for part, columns in relation.parts)
        case Project():
            return is_noised(relation.input, dict(relation.columns)[column.name])
    return False


def decided_by_noise(relation: Relation) -> bool:
    """Whether numbers that hold noise decide which rows there are, beside what WHERE of the whole query says."""
    match relation:
        case Filter():
            return is_noised(relation.input, relation.predicate) or decided_by_noise(relation.input)
        case Semi():
            read = any(is_noised(relation.input, own) or is_noised(relation.right, own) for own in relation.on)
            return read or decided_by_noise(relation.input) or decided_by_noise(relation.right)
        case Join():
            conditions = [*relation.on, *(column for pair in relation.equal for column in pair)]
            read = any(is_noised(relation, own) for own in conditions)
            return read or decided_by_noise(relation.left) or decided_by_noise(relation.right)
        case UnionAll():
            return any(decided_by_noise(part) for part, _ in relation.parts)
        case Project():
            return relation.distinct or decided_by_noise(relation.input)
    return False
