"""How many rows of a relation one privacy unit can have: the stability that every sensitivity starts from."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction

from dpsql.plan.known.groups import most_values
from dpsql.plan.known.relations import (
    aliases_of,
    column_of,
    conjuncts,
    has_windows,
    is_public,
    is_rounded,
    most_met,
    names_unit,
    predicates,
    scans,
    size_of,
)
from dpsql.plan.known.scope import named_where
from dpsql.plan.known.value_lists import named_values, values_known
from dpsql.plan.nodes import (
    Apply,
    Case,
    Column,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
    Windowed,
    Written,
)
from dpsql.plan.remembered import remembered
from dpsql.plan.types import Type
from dpsql.plan.values.boxes import all_of, key_of
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.implied import stated
from dpsql.plan.values.steps import NOTHING

__all__ = ["most_rows", "rows_in_group", "rows_per_unit", "values_per_unit"]

EXACT = (Type.INTEGER, Type.DATE)
"""Types of which two different values are never equal, however they are compared with their own."""


@remembered
def rows_per_unit(relation: Relation) -> int:
    """Most rows that one unit's arrival or departure can add or take (the stability); 0 where nothing is private.

    * A filter keeps it, and so does IN or EXISTS: a unit decides over its own rows alone. But where a key is several
      columns, of which conditions leave few values (``WHERE year = 1987`` under the key person and year), a unit has
      as many rows as these have values together: the bounded view keeps one row for each.
    * A join multiplies: each row of one side meets at most as many rows of the other as that side can hold for one
      unit, or 1 where it is joined on its key (unique within the unit, by the bounded view). Of a key of several
      columns conditions may say some, as computed from the other side's row: ``b.year = a.year + 1``. A left join keeps
      unmatched rows, so the other side counts at least 1. Where the left side is joined on its key, all rows of
      the right side may meet one and the same left row, and the unit's other left rows still add one row each.
    * A public side counts its largest number of rows with one value of a join column, which is public; all of its rows
      where there is no such column.
    * Per-unit aggregation gives one row a unit and value of the further keys, and DISTINCT one for each value of its
      columns: at most as many as there were rows, and as a unit's rows have values (`groups`). Where the unit is not
      among the columns, its arrival adds at most the values of its own rows.
    * Windows over a unit's rows keep them (`unit_windows`). Where one numbers them, conditions that leave few numbers
      leave as many rows, or so many for each value of its further keys: ``WHERE r <= 3``, in whatever way it compares r
      with constants (`implied`: all numbers for which it is true lie in one interval).
    * UNION ALL adds. Rows that the statement holds are nobody's.
    """
    return _rows(relation, ())


def _rows(relation: Relation, known: tuple[Expression, ...]) -> int:
    """The same of those rows for which some conditions are true."""
    if known and not has_windows(relation) and not any(scan.table.unique for scan in scans(relation)):
        known = ()  # they leave as many as there are
    match relation:
        case Scan():
            return _of_table(relation, known)
        case Written():
            return 0
        case Project(distinct=True):
            return _values(relation.input, [expression for _, expression in relation.columns])
        case PerUnit():
            return _values(relation.input, [key for _, key in relation.keys])
        case Filter():
            return _rows(relation.input, (*known, *conjuncts(relation.predicate)))
        case Semi():
            return _rows(relation.input, known)
        case Project():
            return _numbered(relation, known)
        case UnionAll():
            return sum(rows_per_unit(part) for part, _ in relation.parts)
        case Join():
            return _of_join(relation, known)


def _of_table(scan: Scan, known: tuple[Expression, ...]) -> int:
    """The rows of one unit in a table: no two are alike in a key of several columns, none of which is NULL."""
    rows, unique = scan.table.rows_per_unit, scan.table.unique
    if not known or not unique:
        return rows
    sizes = [(column, values_known(column, known)) for column in (column_of(scan, name) for name in unique)]
    return min(rows, most_values(scan, sizes) or rows)


def _numbered(rows: Project, known: Sequence[Expression]) -> int:
    """Most rows of one unit; where a window numbers them, of those numbers that conditions leave.

    Rows of one partition have different numbers, and a unit has as many partitions as their keys have values.
    """
    most = rows_per_unit(rows.input)
    for name, own in rows.columns:
        if isinstance(own, Windowed) and own.function.name == "row_number":
            read = {column for part in known for column in columns_of(part)}
            left = [_numbers_left(one, known) for one in read if (one.alias, one.name) == (rows.alias, name)]
            keys = [key for key in own.partition if not names_unit(key)]  # that of a left join may be NULL, too
            times = values_per_unit(rows.input, keys, missing=1) if left and keys else 1
            most = min([most, *(number * times for number in left if number and times)])
    return most


def _numbers_left(column: Column, known: Sequence[Expression]) -> int | None:
    """How many of a column's numbers, from 1 on, conditions leave at most; None where they leave all."""
    named = named_values(column, known)
    box = all_of([stated(part, truth=True, or_null=False) for part in known])
    if box is None:  # no row meets them
        return 1
    lies = box.get(key_of(column))
    if lies is NOTHING:
        return 1
    least = Fraction(1) if lies is None or lies.low is None else max(Fraction(1), lies.low)
    between = None if lies is None or lies.high is None else math.floor(lies.high) - math.ceil(least) + 1
    found = [number for number in (between, None if named is None else len(named)) if number is not None]
    return max(1, min(found)) if found else None


def _of_join(join: Join, known: tuple[Expression, ...]) -> int:
    left = _rows(join.left, known)
    if is_public(join.right):
        return left * most_met(join.right, join.equal)
    right = _rows(join.right, known)
    if is_public(join.left):
        return right * most_met(join.left, join.equal)
    ways = [left * right]
    true = (*known, *join.on)
    if _on_key(join.right, join.equal, _computed(join.right, join.left, true)):
        ways.append(left)
    if _on_key(join.left, join.equal, _computed(join.left, join.right, true)):
        ways.append(left - 1 + right if join.outer else right)
    return min(ways)


def _values(relation: Relation, expressions: Sequence[Expression], missing: int = 1) -> int:
    """Most different values of several expressions together that one unit's rows can have."""
    rows = rows_per_unit(relation)
    return min(rows, values_per_unit(relation, expressions, missing=missing) or rows)


def values_per_unit(relation: Relation, expressions: Sequence[Expression], *, missing: int) -> int | None:
    """Most different values of several expressions together that one unit's rows can have, by what is public.

    Of one that is the unit in some rows and NULL in the others, that is one value beside NULL.

    Args:
        relation: The rows.
        expressions: Over one row.
        missing: 1 where NULL counts as a value, else 0.

    Returns:
        None where nothing known limits them.
    """
    known = [part for predicate in predicates(relation) for part in conjuncts(predicate)]
    sizes = []
    for expression in expressions:
        named = named_where(expression) if isinstance(expression, Case) else None
        found = 1 if named is not None and named[0].unit else values_known(expression, known)
        sizes.append(None if found is None else max(1, found + missing))
    return most_values(relation, list(zip(expressions, sizes, strict=True)))


def _computed(side: Relation, other: Relation, true: Iterable[Expression]) -> frozenset[Column]:
    """The columns of a private side of which conditions leave one value beside each row of the other.

    They are equal to an expression over columns of the other side alone, or to a constant. Whole numbers and days are
    compared exactly, as themselves: of any other types two values may be equal to one.

    Args:
        side, other: The sides of a join; its rows that have a partner are meant.
        true: What is true of those rows, perhaps of columns that neither side has.
    """
    ours, theirs, found = aliases_of(side), aliases_of(other), set[Column]()
    for part in true:
        if isinstance(part, Apply) and part.function.name == "=":
            for own, value in (part.arguments, part.arguments[::-1]):
                exact = own.facts.type is value.facts.type and own.facts.type in EXACT
                beside = all(column.alias in theirs for column in columns_of(value))
                if isinstance(own, Column) and own.alias in ours and exact and beside:
                    found.add(own)
    return frozenset(found)


def _on_key(
    side: Relation, equal: tuple[tuple[Column, Column], ...], computed: Collection[Column] = frozenset()
) -> bool:
    """Whether a row of the other side meets at most one row of this one: of a unit's, where it is private.

    A side that is itself a join does where one of its own sides does, and each row of that has one partner at most.

    Args:
        side: Of a join.
        equal: Its pairs of columns.
        computed: Columns of this side of which a row of the other leaves one value (`_computed`).
    """
    if is_public(side):
        return most_met(side, equal) == 1
    while isinstance(side, Filter | Semi):
        side = side.input
    if isinstance(side, Join):
        ways = ((side.left, side.right), (side.right, side.left))
        return any(_on_key(one, equal, computed) and _on_key(other, side.equal) for one, other in ways)
    if not isinstance(side, Scan):
        return rows_per_unit(side) == 1
    joined = {c.name for pair in equal for c in pair if c.alias == side.alias and not is_rounded(c, equal)}
    joined |= {column.name for column in computed if column.alias == side.alias}
    unique = side.table.unique
    return side.table.key in joined or (bool(unique) and joined >= {*unique}) or side.table.rows_per_unit == 1


def rows_in_group(relation: Relation, keys: Iterable[Expression]) -> int:
    """Most rows of one unit that share one value of the keys.

    Rows of which no two are equal differ in the columns that are no keys, and are at most as many as a unit can have
    values of those: 1 where a sub-query is grouped by unit and keys alone. So do the rows of one unit in a table whose
    key is several columns (the bounded view keeps one row for each value of them): 1 where all of them are keys. A row
    that is joined to at most one other stays one row. Of the rows of a public side that one row meets, those are in one
    group that have its values in the keys.
    """
    rows, keys, met = relation, tuple(keys), 1
    true: tuple[Expression, ...] = ()
    while isinstance(rows, Filter | Semi) or (isinstance(rows, Join) and _is_partner(rows, true)):
        if isinstance(rows, Join) and is_public(rows.right):
            met *= most_met(rows.right, (*rows.equal, *((key, key) for key in _given(keys))))
        if isinstance(rows, Filter):
            true = (*true, *conjuncts(rows.predicate))
        rows = rows.left if isinstance(rows, Join) else rows.input
    if isinstance(rows, Scan) and rows.table.unique:
        columns: Sequence[tuple[str, Expression]] = [(name, column_of(rows, name)) for name in rows.table.unique]
        inside: Relation = rows
        missing = 0  # no row of the bounded view lacks a part of its key
    elif isinstance(rows, PerUnit):
        columns, inside, missing = rows.keys, rows.input, 1
    elif isinstance(rows, Project) and rows.distinct:
        columns, inside, missing = rows.columns, rows.input, 1
    else:
        return min(rows_per_unit(relation), met * rows_per_unit(rows))
    fixed = {key.name for key in keys if isinstance(key, Column) and key.alias == rows.alias}
    others = [expression for name, expression in columns if name not in fixed]
    return min(rows_per_unit(relation), met * _values(inside, others, missing))


def _is_partner(join: Join, true: tuple[Expression, ...]) -> bool:
    """Whether the rows of the right side only stand beside those of the left one: one each, or public ones.

    Args:
        join: The rows.
        true: What is true of all of them that count.
    """
    if is_public(join.right):
        return True
    return _on_key(join.right, join.equal, _computed(join.right, join.left, (*true, *join.on)))


def _given(keys: Iterable[Expression]) -> Iterator[Column]:
    """The keys that are a column, and equal in one group: so often as a value of it, no NULL and no real, occurs."""
    for key in keys:
        if isinstance(key, Column) and not key.facts.nullable and key.facts.type is not Type.REAL:
            yield key


def most_rows(relation: Relation) -> int:
    """Most rows that one group of a sub-query can have: of one unit, or all rows of a public relation."""
    return size_of(relation) if is_public(relation) else rows_per_unit(relation)
