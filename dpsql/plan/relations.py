"""FROM and WHERE: which tables, how they are joined, and what one privacy unit can hold of the result."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.errors import UnsupportedQuery
from dpsql.plan import syntax
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.expressions import Resolver, columns_of, nearest
from dpsql.plan.nodes import Apply, Column, Expression, Filter, Join, Relation, Scan
from dpsql.plan.types import Value

__all__ = ["Scope", "conjuncts", "plan_rows", "private_scans", "rows_per_unit", "scans", "unit_column"]

Position = tuple[int, int]


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Every table read, from left to right."""
    match relation:
        case Scan():
            return (relation,)
        case Filter():
            return scans(relation.input)
        case Join():
            return scans(relation.left) + scans(relation.right)


def private_scans(relation: Relation) -> tuple[Scan, ...]:
    """Every private table read."""
    return tuple(scan for scan in scans(relation) if not scan.table.public)


def unit_column(relation: Relation) -> Column:
    """The column that names the privacy unit of each row."""
    scan = private_scans(relation)[0]
    return column_of(scan, str(scan.table.unit))


def column_of(scan: Scan, name: str) -> Column:
    """One column of a scanned table."""
    info = scan.table.columns[name]
    return Column(scan.alias, name, info.facts, info.values, info.stored_grid, info.unit)


def rows_per_unit(relation: Relation) -> int:
    """Most rows one unit can have in a relation (its stability); 0 where nothing is private.

    A filter keeps it. An inner join multiplies: each row of one side meets at most as many rows of the other as
    that side can hold for one unit, or 1 where it is joined on its key (unique within the unit, by the bounded view).
    A public table adds its largest number of rows with one value of the join column, which is public.
    """
    match relation:
        case Scan():
            return relation.table.rows_per_unit
        case Filter():
            return rows_per_unit(relation.input)
        case Join():
            left, right = rows_per_unit(relation.left), rows_per_unit(relation.right)
            if relation.right.table.public:
                return left * _public_multiplicity(relation.right, relation.equal)
            ways = [left * right]
            if _joined_on_key(relation.right, relation.equal):
                ways.append(left)
            if _joined_on_key(relation.left, relation.equal):
                ways.append(right)
            return min(ways)


def _joined_on_key(side: Relation, equal: tuple[tuple[Column, Column], ...]) -> bool:
    """Whether a side that is one table meets each row of the other at most once within a unit."""
    tables = scans(side)
    if len(tables) != 1:
        return False
    alias, table = tables[0].alias, tables[0].table
    joined = {column.name for pair in equal for column in pair if column.alias == alias}
    return table.key in joined or table.rows_per_unit == 1


def _public_multiplicity(public: Scan, equal: tuple[tuple[Column, Column], ...]) -> int:
    """Most rows of a public table that one row of the other side can meet."""
    counts = [public.table.rows]
    for column in (column for pair in equal for column in pair if column.alias == public.alias):
        counts.append(1 if column.name == public.table.key else public.table.columns[column.name].multiplicity)
    return max(1, min(counts))


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """The parts of a condition that must all be true."""
    if isinstance(predicate, Apply) and predicate.function.name == "and":
        return tuple(part for argument in predicate.arguments for part in conjuncts(argument))
    return (predicate,)


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables a name may refer to, by the analyst's alias, in order."""

    tables: tuple[tuple[str, Scan], ...]
    merged: frozenset[str] = frozenset()  # columns of USING: the same on every side, so unqualified use is no ambiguity

    def find(self, name: syntax.Name) -> Column:
        """The column a name stands for.

        Raises:
            UnsupportedQuery: Unknown or ambiguous name, with the nearest names.
        """
        *qualifier, column = name.parts
        wanted = [
            (alias, scan)
            for alias, scan in self.tables
            if not qualifier or (len(qualifier) == 1 and _same(alias, qualifier[0]))
        ]
        if qualifier and not wanted:
            raise UnsupportedQuery(
                f"there is no table {'.'.join(qualifier)} in FROM.", construct=".".join(name.parts),
                position=name.position,
                hint=nearest(qualifier[-1], [alias for alias, _ in self.tables])
                or f"FROM has {', '.join(alias for alias, _ in self.tables)}.",
            )  # fmt: skip
        found = [
            column_of(scan, own) for _, scan in wanted for own in scan.table.columns if _same(own, column)
        ]  # fmt: skip
        if not found:
            names = [own for _, scan in wanted for own, info in scan.table.columns.items() if not info.unit]
            raise UnsupportedQuery(
                "there is no such column (or the policy does not name it).", construct=".".join(name.parts),
                position=name.position, hint=nearest(column, names) or f"There are {', '.join(names)}.",
            )  # fmt: skip
        if len(found) > 1 and column.lower() not in self.merged:
            raise UnsupportedQuery(
                "the name stands in several tables.", construct=column, position=name.position,
                hint=f"Write {' or '.join(f'{alias}.{column}' for alias, _ in wanted[:2])}.",
            )  # fmt: skip
        return found[0]


def _same(a: str, b: str) -> bool:
    return a == b or (a.isascii() and b.isascii() and a.lower() == b.lower())


@dataclass(slots=True)
class _From:
    """What FROM collects before the join tree is built."""

    tables: list[tuple[str, Scan]]
    conditions: list[syntax.Expr]
    using: list[tuple[str, Position | None]]


def plan_rows(select: syntax.Select, catalog: Catalog, parameters: tuple[Value, ...]) -> tuple[Relation, Scope]:
    """The rows a SELECT aggregates: FROM and WHERE as a relation, and the scope its names are looked up in.

    Inner joins and comma joins are one thing: all conditions of ON, USING and WHERE together; equalities
    between tables become joins, the rest filters.

    Raises:
        UnsupportedQuery: Unknown tables, joins that are not on the unit or with a public table, outer joins,
            sub-queries.
    """
    if select.source is None:
        raise UnsupportedQuery(
            "there is no FROM.",
            construct="SELECT",
            position=select.position,
            hint="Name a table; SHOW TABLES lists them.",
        )
    parts = _From([], [], [])
    _collect(select.source, catalog, parts)
    scope = Scope(tuple(parts.tables), frozenset(name.lower() for name, _ in parts.using))
    resolver = Resolver(lambda node: scope.find(node) if isinstance(node, syntax.Name) else None, parameters)
    predicates: list[Expression] = []
    nodes = [*parts.conditions, *([select.where] if select.where is not None else [])]
    for node in nodes:
        predicates += conjuncts(resolver.boolean(resolver.resolve(node), node))
    equalities = [pair for name, position in parts.using for pair in _using(name, position, parts.tables)]
    filters = []
    for predicate in predicates:
        pair = _equality(predicate)
        if pair is None:
            filters.append(predicate)
        else:
            equalities.append(pair)
    relation = _joined([scan for _, scan in parts.tables], equalities, select.source.position)
    for predicate in filters:
        refuse_unit(predicate, "WHERE", select.where.position if select.where is not None else select.position)
        relation = Filter(relation, predicate)
    return relation, scope


def refuse_unit(expression: Expression, where: str, position: Position | None) -> None:
    """Refuse the unit column outside joins and COUNT(DISTINCT ...).

    Raises:
        UnsupportedQuery: The expression reads it.
    """
    for column in columns_of(expression):
        if column.unit:
            raise UnsupportedQuery(
                f"the privacy unit may not stand in {where}: that would single out a person.", construct=column.name,
                position=position, hint=f"It may stand in joins and in COUNT(DISTINCT {column.name}).",
            )  # fmt: skip


def _collect(source: syntax.Relation, catalog: Catalog, parts: _From) -> None:
    match source:
        case syntax.TableName():
            table = _table(source, catalog)
            alias = source.alias or source.name[-1]
            if any(_same(alias, other) for other, _ in parts.tables):
                raise UnsupportedQuery(
                    "two tables in FROM have this name.", construct=alias, position=source.position,
                    hint="Give one of them an alias.",
                )  # fmt: skip
            parts.tables.append((alias, Scan(table, f"t{len(parts.tables)}")))
        case syntax.Join():
            if source.kind not in ("inner", "cross"):
                raise UnsupportedQuery(
                    "only inner joins are supported.", construct=f"{source.kind.upper()} JOIN",
                    position=source.position,
                    hint="Write JOIN ... USING (...) or JOIN ... ON ...",
                )  # fmt: skip
            _collect(source.left, catalog, parts)
            _collect(source.right, catalog, parts)
            if source.on is not None:
                parts.conditions.append(source.on)
            parts.using += [(name, source.position) for name in source.using]
        case _:
            raise UnsupportedQuery(
                "sub-queries in FROM are not supported.", construct="sub-query", position=source.position,
                hint="Aggregate a table, or tables joined on the privacy unit.",
            )  # fmt: skip


def _table(source: syntax.TableName, catalog: Catalog) -> TableInfo:
    name = source.name[-1]
    if len(source.name) == 1:
        for known, table in catalog.tables.items():
            if _same(known, name):
                return table
    raise UnsupportedQuery(
        "there is no such table (or the policy does not name it).", construct=".".join(source.name),
        position=source.position, hint=nearest(name, list(catalog.tables)) or f"There are {', '.join(catalog.tables)}.",
    )  # fmt: skip


def _using(name: str, position: Position | None, tables: list[tuple[str, Scan]]) -> list[tuple[Column, Column]]:
    holders = [
        column_of(scan, own) for _, scan in tables for own in scan.table.columns if _same(own, name)
    ]  # fmt: skip
    if len(holders) < 2:
        raise UnsupportedQuery(
            "USING needs a column of both tables.", construct=name, position=position, hint="Write ON a.x = b.y."
        )
    return [(holders[0], other) for other in holders[1:]]


def _equality(predicate: Expression) -> tuple[Column, Column] | None:
    """The two columns of different tables that a predicate equates, or None."""
    if isinstance(predicate, Apply) and predicate.function.name == "=":
        left, right = predicate.arguments
        if isinstance(left, Column) and isinstance(right, Column) and left.alias != right.alias:
            return left, right
    return None


def _joined(tables: list[Scan], equalities: list[tuple[Column, Column]], position: Position | None) -> Relation:
    """A left-deep tree of inner joins; each new table is tied to those before it by the equalities at hand."""
    for left, right in equalities:
        _check_pair(left, right, position)
    first = next((table for table in tables if not table.table.public), tables[0])
    relation: Relation = first
    inside = {first.alias}
    waiting = [table for table in tables if table is not first]
    while waiting:
        ready = next((t for t in waiting if _ties(t, inside, equalities)), None)
        if ready is None:
            raise UnsupportedQuery(
                f"{waiting[0].table.name} is not joined to the other tables.", construct="JOIN", position=position,
                hint="Join private tables ON equality of their privacy units, public tables ON equal columns.",
            )  # fmt: skip
        equal = tuple(_ties(ready, inside, equalities))
        both_private = not ready.table.public and any(not t.table.public for t in tables if t.alias in inside)
        if both_private and not any(a.unit and b.unit for a, b in equal):
            raise UnsupportedQuery(
                f"private tables are joined only where their privacy units are equal; {ready.table.name} is not.",
                construct="JOIN", position=position,
                hint=f"Add: AND the two {ready.table.unit} columns are equal, or USING ({ready.table.unit}).",
            )  # fmt: skip
        relation = Join(relation, ready, equal)
        inside.add(ready.alias)
        waiting.remove(ready)
    return relation


def _ties(table: Scan, inside: set[str], equalities: list[tuple[Column, Column]]) -> list[tuple[Column, Column]]:
    """Equalities between a table and those already joined, the joined side first."""
    ties = []
    for left, right in equalities:
        if left.alias in inside and right.alias == table.alias:
            ties.append((left, right))
        elif right.alias in inside and left.alias == table.alias:
            ties.append((right, left))
    return ties


def _check_pair(left: Column, right: Column, position: Position | None) -> None:
    if left.unit != right.unit:
        raise UnsupportedQuery(
            "the privacy unit can only equal the privacy unit of another table.", construct="JOIN", position=position,
            hint="Join public tables on other columns.",
        )  # fmt: skip
    if left.facts.type is not right.facts.type and not (left.facts.type.numeric and right.facts.type.numeric):
        raise UnsupportedQuery(
            f"{left.name} is {left.facts.type.value} and {right.name} is {right.facts.type.value}.", construct="JOIN",
            position=position, hint="Join columns of one type.",
        )  # fmt: skip
