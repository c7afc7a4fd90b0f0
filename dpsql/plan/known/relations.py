"""What relations mean for privacy: which tables they read, whose rows they hold, and how many of one person's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.plan.catalog import RANK, ColumnInfo, TableInfo
from dpsql.plan.nodes import (
    Apply,
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
from dpsql.plan.values.expressions import columns_of

__all__ = [
    "aliases_of",
    "column_of",
    "columns_of_scan",
    "conjuncts",
    "filtered_scan",
    "has_left_join",
    "has_windows",
    "is_number_of_row",
    "is_public",
    "is_rounded",
    "most_met",
    "names_unit",
    "origins",
    "predicates",
    "private_scans",
    "scans",
    "size_of",
    "unit_of",
    "unit_scans",
]


def column_of(scan: Scan, name: str) -> Column:
    """One column of a scanned table."""
    info = scan.table.columns[name]
    declared = info.values is not None and not scan.table.public
    return Column(
        scan.alias, name, info.facts, info.values, info.stored_grid, info.unit, info.link, declared,
        info.reach, info.length, info.letters,
    )  # fmt: skip


def columns_of_scan(scan: Scan) -> Mapping[str, Column]:
    """All columns of a scanned table by name, made once for each alias: every statement scans the same tables."""
    known = _columns_by_alias(scan.table)
    if scan.alias not in known:
        known[scan.alias] = {name: column_of(scan, name) for name in scan.table.columns}
    return known[scan.alias]


@remembered
def _columns_by_alias(_table: TableInfo) -> dict[str, Mapping[str, Column]]:
    return {}


def _inputs(relation: Relation) -> tuple[Relation, ...]:
    """The relations that one is made of, from left to right."""
    match relation:
        case Scan() | Written():
            return ()
        case Filter() | Project() | PerUnit():
            return (relation.input,)
        case Join():
            return relation.left, relation.right
        case Semi():
            return relation.input, relation.right
        case UnionAll():
            return tuple(part for part, _ in relation.parts)


@remembered
def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every table read, from left to right."""
    if isinstance(relation, Scan):
        return (relation,)
    return tuple(scan for part in _inputs(relation) for scan in scans(part))


def has_left_join(relation: Relation) -> bool:
    """Whether it is made of a left join, among others."""
    return (isinstance(relation, Join) and relation.outer) or any(map(has_left_join, _inputs(relation)))


@remembered
def has_windows(relation: Relation) -> bool:
    """Whether it is made of rows with windows over those of their unit, among others."""
    own = isinstance(relation, Project) and any(isinstance(value, Windowed) for _, value in relation.columns)
    return own or any(map(has_windows, _inputs(relation)))


def is_number_of_row(relation: Relation, expression: Expression) -> bool:
    """Whether a window gave it to each row, which is never NULL then: a place in its unit, or a number of rows."""
    if isinstance(relation, Project) and isinstance(expression, Column) and relation.alias == expression.alias:
        own = dict(relation.columns)[expression.name]
        return isinstance(own, Windowed) and not own.facts.nullable
    return any(is_number_of_row(below, expression) for below in _inputs(relation))


def aliases_of(relation: Relation) -> set[str]:
    """Aliases whose columns a relation shows."""
    match relation:
        case Scan() | Project() | UnionAll():
            return {relation.alias}
        case Filter() | Semi():
            return aliases_of(relation.input)
        case Join():
            return aliases_of(relation.left) | aliases_of(relation.right)
        case _:
            return {relation.alias}


def private_scans(relation: Relation) -> tuple[Scan, ...]:
    """Every private table read. What a private relation filters is private, too."""
    return tuple(scan for scan in scans(relation) if not scan.table.public)


@remembered
def is_public(relation: Relation) -> bool:
    """Whether no private table is read."""
    return relation.table.public if isinstance(relation, Scan) else all(map(is_public, _inputs(relation)))


def origins(relation: Relation, expression: Expression) -> Iterator[tuple[ColumnInfo, bool]]:
    """The tables' columns behind an expression over a relation, and whether it is that bare column.

    >>> from dpsql.plan.catalog import TableInfo
    >>> from dpsql.plan.types import Facts, Type
    >>> table = TableInfo("visits", {"cost": ColumnInfo("cost", Facts(Type.REAL))})
    >>> scan = Scan(table, "t0")
    >>> [(column.name, bare) for column, bare in origins(scan, column_of(scan, "cost"))]
    [('cost', True)]
    """
    bare = isinstance(expression, Column)
    for column in columns_of(expression):
        for behind, through_bare in _behind(relation, column):
            yield behind, bare and through_bare


def _behind(relation: Relation, column: Column) -> Iterator[tuple[ColumnInfo, bool]]:
    match relation:
        case Filter() | Semi():
            yield from _behind(relation.input, column)
        case Join():
            yield from _behind(relation.left, column)
            yield from _behind(relation.right, column)
        case _ if relation.alias != column.alias:
            return
        case Written():
            return
        case Scan():
            if column.name != RANK:  # a place in the unit, which is no column of the policy
                yield relation.table.columns[column.name], True
        case Project():
            yield from origins(relation.input, dict(relation.columns)[column.name])
        case PerUnit():
            for name, key in relation.keys:
                if name == column.name:
                    yield from origins(relation.input, key)
            for value in relation.values:
                if value.name == column.name and value.argument is not None:
                    yield from ((behind, False) for behind, _ in origins(relation.input, value.argument))
        case UnionAll():
            place = relation.names.index(column.name)
            for part, expressions in relation.parts:
                yield from origins(part, expressions[place])


@remembered
def unit_of(relation: Relation) -> Column | None:
    """The column that names the privacy unit of each row; None where rows are public or have lost their unit.

    It is never NULL: a unit from the right side of a left join does not count, since rows of several people would share
    its NULL.

    >>> from dpsql.plan.catalog import ColumnInfo, TableInfo
    >>> from dpsql.plan.types import Facts, Type
    >>> unit = ColumnInfo("person", Facts(Type.TEXT), unit=True)
    >>> table = TableInfo("visits", {"person": unit}, unit="person", rows_per_unit=3)
    >>> unit_of(Scan(table, "t0")).name
    'person'
    """
    columns: list[tuple[str, tuple[Expression, ...]]]
    match relation:
        case Scan():
            return None if relation.table.unit is None else column_of(relation, relation.table.unit)
        case Written():
            return None
        case Filter() | Semi():
            return unit_of(relation.input)
        case Join():
            return unit_of(relation.left) or unit_of(relation.right)
        case Project():
            columns = [(name, (expression,)) for name, expression in relation.columns]
        case PerUnit():
            columns = [(name, (expression,)) for name, expression in relation.keys]
        case UnionAll():
            parts = zip(*(expressions for _, expressions in relation.parts), strict=True)
            columns = list(zip(relation.names, parts, strict=True))
    for name, expressions in columns:
        if all(map(names_unit, expressions)):
            return Column(relation.alias, name, expressions[0].facts, unit=True)
    return None


def unit_scans(relation: Relation) -> tuple[Scan, ...]:
    """The private tables of each of which every row has one row, and all of these the same unit, from left to right.

    For two private sides of a join have equal units, and the rows that a left join keeps are those of its left side.
    """
    match relation:
        case Scan():
            return () if relation.table.unit is None else (relation,)
        case Filter() | Semi():
            return unit_scans(relation.input)
        case Join():
            return unit_scans(relation.left) + (() if relation.outer else unit_scans(relation.right))
        case _:
            return ()


def names_unit(expression: Expression) -> bool:
    """Whether it is a privacy unit, and never NULL."""
    return isinstance(expression, Column) and expression.unit and not expression.facts.nullable


def most_met(public: Relation, equal: tuple[tuple[Column, Column], ...]) -> int:
    """Most rows of a public side that one row of the other can meet, joined on pairs of equal columns."""
    match public:
        case Scan():
            counts = [public.table.rows]
            for column in (column for pair in equal for column in pair if column.alias == public.alias):
                if not is_rounded(column, equal):  # a declared key, too, counts as often as it really occurs
                    counts.append(public.table.columns[column.name].multiplicity)
            return max(1, min(counts))
        case Written():
            own = [column for pair in equal for column in pair if column.alias == public.alias]
            return min((_most_equal(public, column) for column in own), default=len(public.rows))
        case Filter() | Semi():
            return most_met(public.input, equal)
        case Join():
            return most_met(public.left, equal) * most_met(public.right, public.equal)
        case PerUnit() if _on_group(public, equal):
            return 1
        case Project() | PerUnit():
            return size_of(public.input)
        case UnionAll():
            return sum(size_of(part) for part, _ in public.parts)


def _most_equal(listed: Written, column: Column) -> int:
    """Most rows with one value of a column, as a real where it is a number: so 1 and 1.0 are one."""
    values = [row[listed.columns.index(column)] for row in listed.rows]
    same = [float(value) if column.facts.type.numeric else value for value in values if value is not None]  # type: ignore[arg-type]  # numbers
    return max(map(same.count, same), default=1)


def _on_group(side: PerUnit, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether a side is joined on the one key that it is grouped by; not a real one, since two may equal one number."""
    own = [c for pair in equal for c in pair if c.alias == side.alias and c.name == side.keys[0][0]]
    return len(side.keys) == 1 and any(c.facts.type is not Type.REAL and not is_rounded(c, equal) for c in own)


def is_rounded(column: Column, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether integers are compared as reals, so that different ones may be equal."""
    if column.facts.type is not Type.INTEGER:
        return False
    return any(column in pair and any(own.facts.type is Type.REAL for own in pair) for pair in equal)


def size_of(public: Relation) -> int:
    """Most rows of a public relation, and at least 1."""
    match public:
        case Scan():
            return max(1, public.table.rows)
        case Written():
            return len(public.rows)
        case Filter() | Semi() | Project() | PerUnit():
            return size_of(public.input)
        case Join():
            return size_of(public.left) * size_of(public.right)
        case UnionAll():
            return sum(size_of(part) for part, _ in public.parts)


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """The parts of a condition that must all be true."""
    if isinstance(predicate, Apply) and predicate.function.name == "and":
        return tuple(part for argument in predicate.arguments for part in conjuncts(argument))
    return (predicate,)


def predicates(relation: Relation) -> list[Expression]:
    """Conditions over columns in scope that hold for every row."""
    match relation:
        case Filter():
            return [relation.predicate, *predicates(relation.input)]
        case Semi():
            return predicates(relation.input)
        case Join():
            return predicates(relation.left) + ([] if relation.outer else predicates(relation.right))
        case _:
            return []


def filtered_scan(relation: Relation) -> tuple[Scan, frozenset[Expression]] | None:
    """The one table that is read and all conditions on its rows, part by part; None where there is more to it."""
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += conjuncts(relation.predicate)
        relation = relation.input
    return (relation, frozenset(conditions)) if isinstance(relation, Scan) else None
