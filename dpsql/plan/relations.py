"""What relations mean for privacy: which tables they read, whose rows they hold, and how many of one person's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsql.plan.catalog import ColumnInfo
from dpsql.plan.expressions import columns_of
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
)
from dpsql.plan.types import Type

__all__ = [
    "column_of",
    "conjuncts",
    "filtered_scan",
    "is_public",
    "most_met",
    "most_rows",
    "names_unit",
    "origins",
    "predicates",
    "private_scans",
    "rows_in_group",
    "rows_per_unit",
    "scans",
    "unit_of",
]


def column_of(scan: Scan, name: str) -> Column:
    """One column of a scanned table."""
    info = scan.table.columns[name]
    return Column(scan.alias, name, info.facts, info.values, info.stored_grid, info.unit, info.link)


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every table read, from left to right."""
    match relation:
        case Scan():
            return (relation,)
        case Filter() | Project() | PerUnit():
            return scans(relation.input)
        case Join():
            return scans(relation.left) + scans(relation.right)
        case Semi():
            return scans(relation.input) + scans(relation.right)
        case UnionAll():
            return tuple(scan for part, _ in relation.parts for scan in scans(part))


def private_scans(relation: Relation) -> tuple[Scan, ...]:
    """Every private table read. What a private relation filters is private, too."""
    return tuple(scan for scan in scans(relation) if not scan.table.public)


def is_public(relation: Relation) -> bool:
    """Whether no private table is read."""
    return not private_scans(relation)


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
        case Scan():
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


def names_unit(expression: Expression) -> bool:
    """Whether it is a privacy unit, and never NULL."""
    return isinstance(expression, Column) and expression.unit and not expression.facts.nullable


def rows_per_unit(relation: Relation) -> int:
    """Most rows that one unit's arrival or departure can add or take (the stability); 0 where nothing is private.

    * A filter keeps it, and so does IN or EXISTS: a unit only ever decides over its own rows.
    * A join multiplies: each row of one side meets at most as many rows of the other as that side can hold for one
      unit, or 1 where it is joined on its key (unique within the unit, by the bounded view). A left join keeps
      unmatched rows, so the other side counts at least 1. Where it is the left side that is joined on its key, the
      partners may all be those of one row, and the other left rows stay beside them.
    * A public side counts its largest number of rows with one value of a join column, which is public.
    * Per-unit aggregation gives one row a unit, or with further keys at most as many as there were rows.
    * UNION ALL adds. DISTINCT keeps: a unit's arrival adds at most the rows it brings.
    """
    match relation:
        case Scan():
            return relation.table.rows_per_unit
        case Filter() | Semi() | Project():
            return rows_per_unit(relation.input)
        case PerUnit():
            return 1 if len(relation.keys) == 1 else rows_per_unit(relation.input)
        case UnionAll():
            return sum(rows_per_unit(part) for part, _ in relation.parts)
        case Join():
            left = rows_per_unit(relation.left)
            if is_public(relation.right):
                return left * most_met(relation.right, relation.equal)
            right = rows_per_unit(relation.right)
            if is_public(relation.left):
                return right * most_met(relation.left, relation.equal)
            ways = [left * right]
            if _on_key(relation.right, relation.equal):
                ways.append(left)
            if _on_key(relation.left, relation.equal):
                ways.append(left - 1 + right if relation.outer else right)
            return min(ways)


def _on_key(side: Relation, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether a row of the other side meets at most one row of this one: of a unit's, where it is private.

    A side that is itself a join does where one of its own sides does, and each row of that has one partner at most.
    """
    if is_public(side):
        return most_met(side, equal) == 1
    while isinstance(side, Filter | Semi):
        side = side.input
    if isinstance(side, Join):
        ways = ((side.left, side.right), (side.right, side.left))
        return any(_on_key(one, equal) and _on_key(other, side.equal) for one, other in ways)
    if not isinstance(side, Scan):
        return rows_per_unit(side) == 1
    joined = {c.name for pair in equal for c in pair if c.alias == side.alias and not _rounded(c, equal)}
    return side.table.key in joined or side.table.rows_per_unit == 1


def most_met(public: Relation, equal: tuple[tuple[Column, Column], ...]) -> int:
    """Most rows of a public side that one row of the other can meet, joined on pairs of equal columns."""
    match public:
        case Scan():
            counts = [public.table.rows]
            for column in (column for pair in equal for column in pair if column.alias == public.alias):
                if not _rounded(column, equal):  # a declared key, too, counts as often as it really occurs
                    counts.append(public.table.columns[column.name].multiplicity)
            return max(1, min(counts))
        case Filter() | Semi():
            return most_met(public.input, equal)
        case Join():
            return most_met(public.left, equal) * most_met(public.right, public.equal)
        case PerUnit() if _on_group(public, equal):
            return 1
        case Project() | PerUnit():
            return _size(public.input)
        case UnionAll():
            return sum(_size(part) for part, _ in public.parts)


def _on_group(side: PerUnit, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether a side is joined on the one key that it is grouped by; not a real one, since two may equal one number."""
    own = [c for pair in equal for c in pair if c.alias == side.alias and c.name == side.keys[0][0]]
    return len(side.keys) == 1 and any(c.facts.type is not Type.REAL and not _rounded(c, equal) for c in own)


def _rounded(column: Column, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether integers are compared as reals, so that different ones may be equal."""
    if column.facts.type is not Type.INTEGER:
        return False
    return any(column in pair and {a.facts.type for a in pair} == {Type.INTEGER, Type.REAL} for pair in equal)


def _size(public: Relation) -> int:
    """Most rows of a public relation, and at least 1."""
    match public:
        case Scan():
            return max(1, public.table.rows)
        case Filter() | Semi() | Project() | PerUnit():
            return _size(public.input)
        case Join():
            return _size(public.left) * _size(public.right)
        case UnionAll():
            return sum(_size(part) for part, _ in public.parts)


def rows_in_group(relation: Relation, keys: Iterable[Expression]) -> int:
    """Most rows of one unit that share one value of the keys: 1 where a sub-query is grouped by unit and keys alone.

    A row that is joined to at most one other stays one row.
    """
    rows, keys = relation, tuple(keys)
    while isinstance(rows, Filter | Semi) or (isinstance(rows, Join) and _on_key(rows.right, rows.equal)):
        rows = rows.left if isinstance(rows, Join) else rows.input
    if isinstance(rows, PerUnit) and any(names_unit(key) for _, key in rows.keys):
        alias, names = rows.alias, {name for name, key in rows.keys if not names_unit(key)}
        if names <= {key.name for key in keys if isinstance(key, Column) and key.alias == alias}:
            return 1
    return rows_per_unit(relation)


def most_rows(relation: Relation) -> int:
    """Most rows that one group of a sub-query can have: of one unit, or all rows of a public relation."""
    return _size(relation) if is_public(relation) else rows_per_unit(relation)


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
