"""FROM and WHERE: tables, sub-queries, joins and semi-joins as a relation of rows. Nothing is aggregated here
but inside one privacy unit.

Sub-queries that only choose and compute are inlined: their columns stand for expressions over the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from dpsql.errors import UnsupportedQuery
from dpsql.plan import syntax
from dpsql.plan.catalog import Catalog
from dpsql.plan.expressions import Resolver, as_constant, columns_of, nearest
from dpsql.plan.nodes import (
    Apply,
    Column,
    Expression,
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
)
from dpsql.plan.relations import column_of, conjuncts, is_public, scans, unit_of
from dpsql.plan.scope import Entry, Scope, identifying, same_name
from dpsql.plan.types import Value

__all__ = ["PerUnitPlanner", "Rows", "Sub", "holds_aggregate", "plan_union_side"]

Position = tuple[int, int] | None

AGGREGATES = frozenset(
    "count sum avg mean min max median quantile_cont quantile_disc quantile percentile_cont percentile_disc var_pop var_samp variance"
    " stddev stddev_pop stddev_samp covar_pop covar_samp corr regr_slope mode count_if countif bool_or bool_and"
    " logical_or logical_and sum_if approx_count_distinct arg_max arg_min max_by min_by any_value first last list array_agg string_agg"
    " product".split()
)


def holds_aggregate(node: syntax.Expr) -> bool:
    """Whether an expression aggregates rows."""
    match node:
        case syntax.Call():
            return node.name in AGGREGATES or any(map(holds_aggregate, node.arguments))
        case syntax.Case():
            parts = [part for branch in node.branches for part in branch] + [
                p for p in (node.operand, node.default) if p
            ]
            return any(map(holds_aggregate, parts))
        case syntax.Cast():
            return holds_aggregate(node.operand)
        case syntax.InList():
            return any(map(holds_aggregate, (node.operand, *node.values)))
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Sub:
    """A sub-query as rows: a relation and what its column names stand for."""

    relation: Relation
    columns: Mapping[str, Expression]


PerUnitPlanner = Callable[["Rows", syntax.Select], Sub]


@dataclass(slots=True)
class _Group:
    """Tables that are joined freely (inner and comma joins), before the tree of joins is built."""

    parts: list[Relation] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    conditions: list[syntax.Expr] = field(default_factory=list)
    using: list[tuple[str, Position]] = field(default_factory=list)

    def scope(self, outer: Scope | None) -> Scope:
        return Scope(tuple(self.entries), frozenset(name.lower() for name, _ in self.using), outer)


@dataclass(slots=True)
class Rows:
    """Plans the rows of one statement; aliases are counted across all its sub-queries.

    Attributes:
        catalog: Tables.
        parameters: Values of ``?``.
        per_unit: Plans sub-queries that aggregate within a unit.
        ctes: Named sub-queries in scope.
        aliases: The plan's own aliases.
    """

    catalog: Catalog
    parameters: tuple[Value, ...]
    per_unit: PerUnitPlanner
    ctes: Mapping[str, syntax.Queryable] = field(default_factory=dict)
    aliases: count[int] = field(default_factory=count)

    def alias(self) -> str:
        """A new alias of the plan's own."""
        return f"t{next(self.aliases)}"

    def within(self, query: syntax.Queryable) -> Rows:
        """The same, with the query's own WITH in scope.

        Raises:
            UnsupportedQuery: A name of WITH is a table's.
        """
        ctes = dict(self.ctes)
        for name, named in query.ctes:
            if any(same_name(name, table) for table in self.catalog.tables):
                raise UnsupportedQuery(
                    "a table has this name.", construct=f"WITH {name}", position=named.position, hint="Choose another."
                )
            ctes[name.lower()] = _closed(named, ctes)
        return replace(self, ctes=ctes)

    # ------------------------------------------------------------------------------------------------- one SELECT

    def plan(self, select: syntax.Select, outer: Scope | None = None) -> tuple[Relation, Scope]:
        """FROM and WHERE of one SELECT.

        Raises:
            UnsupportedQuery: Unknown tables; joins that are neither on the unit, nor along a declared key, nor with a
                public table; sub-queries that would release something.
        """
        if select.source is None:
            raise UnsupportedQuery(
                "there is no FROM.", construct="SELECT", position=select.position,
                hint="Name a table; SHOW TABLES lists them.",
            )  # fmt: skip
        group = _Group()
        self._collect(select.source, group)
        where = [select.where] if select.where is not None else []
        nodes = [part for node in [*group.conditions, *where] for part in _parts(node)]
        scope = group.scope(outer)
        semis = [node for node in nodes if isinstance(node, syntax.InQuery | syntax.Exists) or _negated_query(node)]
        relation, rest = self._joined(
            group, [node for node in nodes if node not in semis], scope, select.source.position
        )
        for predicate in rest:
            relation = Filter(relation, predicate)
        for node in semis:
            relation = self._semi(relation, scope, node)
        return relation, scope

    def resolver(self, scope: Scope) -> Resolver:
        """Resolves expressions over one row."""
        return Resolver(lambda node: scope.find(node) if isinstance(node, syntax.Name) else None, self.parameters)

    # ------------------------------------------------------------------------------------------------------- FROM

    def _collect(self, source: syntax.Relation, group: _Group) -> None:
        match source:
            case syntax.TableName():
                self._table(source, group)
            case syntax.Derived():
                self._enter(group, source.alias or "sub-query", self.sub(source.query), source.position)
            case syntax.Join(kind="inner" | "cross"):
                self._collect(source.left, group)
                self._collect(source.right, group)
                if source.on is not None:
                    group.conditions.append(source.on)
                group.using += [(name, source.position) for name in source.using]
            case syntax.Join(kind="left"):
                self._left_join(source, source.left, source.right, group)
            case syntax.Join(kind="right"):
                self._left_join(source, source.right, source.left, group)
            case syntax.Join():
                raise UnsupportedQuery(
                    "a full join shows rows without a partner on both sides.", construct="FULL JOIN",
                    position=source.position, hint="Write JOIN or LEFT JOIN.",
                )  # fmt: skip

    def _table(self, source: syntax.TableName, group: _Group) -> None:
        name = source.name[-1]
        alias = source.alias or name
        if len(source.name) == 1 and name.lower() in self.ctes:
            self._enter(group, alias, self._named(name.lower()), source.position)
            return
        table = next(
            (t for own, t in self.catalog.tables.items() if len(source.name) == 1 and same_name(own, name)), None
        )
        if table is None:
            known = [*self.catalog.tables, *self.ctes]
            raise UnsupportedQuery(
                "there is no such table (or the policy does not name it).", construct=".".join(source.name),
                position=source.position, hint=nearest(name, known) or f"There are {', '.join(known)}.",
            )  # fmt: skip
        scan = Scan(table, self.alias())
        columns = {own: column_of(scan, own) for own in table.columns}
        self._enter(group, alias, Sub(scan, columns), source.position)

    def _named(self, name: str) -> Sub:
        query = self.ctes[name]
        inner = {other: q for other, q in self.ctes.items() if other != name}
        return replace(self, ctes=inner).sub(query)

    def _enter(self, group: _Group, alias: str, sub: Sub, position: Position) -> None:
        if any(same_name(alias, entry.alias) for entry in group.entries):
            raise UnsupportedQuery(
                "two tables in FROM have this name.", construct=alias, position=position,
                hint="Give one of them an alias.",
            )  # fmt: skip
        group.parts.append(sub.relation)
        group.entries.append(Entry(alias, sub.columns))

    def _left_join(self, join: syntax.Join, kept: syntax.Relation, other: syntax.Relation, group: _Group) -> None:
        left, right = _Group(), _Group()
        self._collect(kept, left)
        self._collect(other, right)
        kept_rows = self._closed_group(left, join.position)
        other_rows = self._closed_group(right, join.position)
        if is_public(kept_rows) and not is_public(other_rows):
            raise UnsupportedQuery(
                "a public table may not keep its rows beside a private one: a person's arrival would also remove a row.",
                construct=f"{join.kind.upper()} JOIN", position=join.position,
                hint="Keep the private table's rows, or write JOIN; a declared domain lists empty groups anyway.",
            )  # fmt: skip
        other_rows, right_entries = self._bare(other_rows, right.entries)
        both = _Group([kept_rows, other_rows], [*left.entries, *right_entries])
        scope = both.scope(None)
        nodes = [part for part in ([] if join.on is None else _parts(join.on))]
        resolver = self.resolver(scope)
        predicates = [p for node in nodes for p in conjuncts(resolver.boolean(resolver.resolve(node), node))]
        equal, on = [], []
        for name in join.using:
            predicates += [
                resolver.apply("=", pair, join.position) for pair in _using(name, join.position, both.entries)
            ]
        for predicate in predicates:
            pair = _across(predicate, kept_rows, other_rows)
            (equal.append(pair) if pair is not None else on.append(predicate))
        pairs = self._checked(kept_rows, other_rows, equal, join.position)
        for predicate in on:
            _refuse_identifying(predicate, "ON", join.position)
        group.parts.append(Join(kept_rows, other_rows, pairs, outer=True, on=tuple(on)))
        group.entries += [*left.entries, *(entry.nullable() for entry in right_entries)]
        group.using += [(name, None) for name in join.using]

    def _closed_group(self, group: _Group, position: Position) -> Relation:
        """One side of an outer join on its own."""
        nodes = [part for node in group.conditions for part in _parts(node)]
        relation, rest = self._joined(group, nodes, group.scope(None), position)
        for predicate in rest:
            relation = Filter(relation, predicate)
        return relation

    def _bare(self, relation: Relation, entries: list[Entry]) -> tuple[Relation, list[Entry]]:
        """Rows whose entries are bare columns: what has no partner must read as NULL, computed columns too."""
        if all(isinstance(column, Column) for entry in entries for column in entry.columns.values()):
            return relation, entries
        alias, changed = self.alias(), []
        named: list[tuple[str, Expression]] = []
        for entry in entries:
            columns: dict[str, Expression] = {}
            for own, expression in entry.columns.items():
                name = f"c{len(named)}"
                named.append((name, expression))
                columns[own] = _output(alias, name, expression)
            changed.append(Entry(entry.alias, columns))
        return Project(relation, alias, tuple(named)), changed

    # ------------------------------------------------------------------------------------------------------ joins

    def _joined(
        self, group: _Group, nodes: list[syntax.Expr], scope: Scope, position: Position
    ) -> tuple[Relation, list[Expression]]:
        """The tree of joins, and the conditions that are no joins."""
        resolver = self.resolver(scope)
        conditions = [p for node in nodes for p in conjuncts(resolver.boolean(resolver.resolve(node), node))]
        for name, at in group.using:
            if at is not None:
                conditions += [resolver.apply("=", pair, at) for pair in _using(name, at, group.entries)]
        first = next((part for part in group.parts if not is_public(part)), group.parts[0])
        relation, waiting = first, [part for part in group.parts if part is not first]
        rest = conditions
        while waiting:
            for part in waiting:
                equal = [pair for p in rest if (pair := _across(p, relation, part)) is not None]
                if equal:
                    break
            else:
                raise UnsupportedQuery(
                    f"{_shown(waiting[0])} is not joined to the other tables.", construct="JOIN", position=position,
                    hint="Join private tables ON equality of their privacy units, public tables ON equal columns.",
                )  # fmt: skip
            pairs = self._checked(relation, part, equal, position)
            rest = [p for p in rest if _across(p, relation, part) is None]
            relation = Join(relation, part, pairs)
            waiting.remove(part)
        for predicate in rest:
            _refuse_identifying(predicate, "WHERE", position)
        return relation, rest

    def _checked(
        self, left: Relation, right: Relation, equal: list[tuple[Column, Column]], position: Position
    ) -> tuple[tuple[Column, Column], ...]:
        """The pairs of a join, with equality of units added along a declared key.

        Raises:
            UnsupportedQuery: Private rows would meet other than on the unit.
        """
        for a, b in equal:
            if a.unit != b.unit or a.link != b.link:
                raise UnsupportedQuery(
                    "a privacy unit or a key equals only the same unit or key.", construct=f"{a.name} = {b.name}",
                    position=position, hint="Join public tables on other columns.",
                )  # fmt: skip
            if (
                not a.identifies
                and a.facts.type is not b.facts.type
                and not (a.facts.type.numeric and b.facts.type.numeric)
            ):
                raise UnsupportedQuery(
                    f"{a.name} is {a.facts.type.value} and {b.name} is {b.facts.type.value}.", construct="JOIN",
                    position=position, hint="Join columns of one type.",
                )  # fmt: skip
        if is_public(left) or is_public(right):
            return tuple(equal)
        units = unit_of(left), unit_of(right)
        if units[0] is None or units[1] is None:
            raise UnsupportedQuery(
                "rows that have lost their privacy unit can only be aggregated.", construct="JOIN", position=position,
                hint="Keep the unit among the columns of the sub-query.",
            )  # fmt: skip
        if any(a.unit and b.unit for a, b in equal):
            return tuple(equal)
        if any(a.link is not None for a, _ in equal):  # the same record is the same person's
            return (*equal, (units[0], units[1]))
        raise UnsupportedQuery(
            "private tables are joined only where their privacy units are equal.", construct="JOIN", position=position,
            hint=f"Add: the two {units[0].name} columns are equal (ON a.{units[0].name} = b.{units[1].name}).",
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------- semi-joins

    def _semi(self, relation: Relation, scope: Scope, node: syntax.Expr) -> Relation:
        """IN (SELECT ...) and EXISTS (SELECT ...): rows with or without a partner of the same unit."""
        negated = False
        if isinstance(node, syntax.Call):  # NOT (EXISTS ...)
            negated, node = True, node.arguments[0]
        if isinstance(node, syntax.Exists):
            return self._exists(relation, scope, node, negated != node.negated)
        if not isinstance(node, syntax.InQuery):
            raise UnsupportedQuery(
                "a sub-query is expected.", construct="IN", position=node.position, hint="Write a list."
            )
        left = self.resolver(scope).resolve(node.operand)
        sub = self.sub(node.query)
        if len(sub.columns) != 1:
            raise UnsupportedQuery(
                f"the sub-query has {len(sub.columns)} columns.", construct="IN", position=node.position,
                hint="Select one column.",
            )  # fmt: skip
        (right,) = sub.columns.values()
        if not is_public(sub.relation):
            _need_units(left, right, "IN", node.position)
        elif identifying(left) is not None or identifying(right) is not None:
            raise UnsupportedQuery(
                "the privacy unit may not be looked up in a public table.", construct="IN", position=node.position,
                hint="Look up another column.",
            )  # fmt: skip
        equal = self.resolver(scope).apply("=", (left, right), node.position)
        negated = negated != node.negated
        on: tuple[Expression, ...] = (equal,)
        if negated and is_public(sub.relation):  # NOT IN is not true where either side is NULL
            is_true = self.resolver(scope).apply("is_distinct_from", (equal, as_constant(False)), node.position)
            on = (is_true,)
        return Semi(relation, sub.relation, on, negated)

    def _exists(self, relation: Relation, scope: Scope, node: syntax.Exists, negated: bool) -> Relation:
        query = node.query
        if isinstance(query, syntax.Union) or query.group_by or query.having is not None or query.limit is not None:
            raise UnsupportedQuery(
                "EXISTS takes a plain SELECT.", construct="EXISTS", position=node.position,
                hint="Write EXISTS (SELECT 1 FROM table WHERE its unit equals the outer unit AND ...).",
            )  # fmt: skip
        inner = self.within(query)
        group = _Group()
        if query.source is None:
            raise UnsupportedQuery("it has no FROM.", construct="EXISTS", position=node.position, hint="Name a table.")
        inner._collect(query.source, group)
        own = group.scope(scope)
        resolver = inner.resolver(own)
        inside: list[tuple[Expression, syntax.Expr]] = []
        across: list[tuple[Expression, syntax.Expr]] = []
        aliases = {scan.alias for part in group.parts for scan in scans(part)} | {
            a for p in group.parts for a in _aliases(p)
        }
        nodes = [
            part for n in [*group.conditions, *([query.where] if query.where is not None else [])] for part in _parts(n)
        ]
        for part in nodes:
            if isinstance(part, syntax.InQuery | syntax.Exists):
                raise UnsupportedQuery(
                    "a sub-query inside EXISTS is not supported.", construct="EXISTS", position=part.position,
                    hint="Join the tables inside EXISTS.",
                )  # fmt: skip
            for predicate in conjuncts(resolver.boolean(resolver.resolve(part), part)):
                outside = any(column.alias not in aliases for column in columns_of(predicate))
                (across if outside else inside).append((predicate, part))
        right, rest = inner._joined(group, [part for _, part in inside], own, node.position)
        for predicate in rest:
            right = Filter(right, predicate)
        on = [predicate for predicate, _ in across]
        if not is_public(right) and not any(_same_unit(predicate, aliases) for predicate in on):
            raise UnsupportedQuery(
                "a private sub-query must be about the same person.", construct="EXISTS", position=node.position,
                hint="Add equality of the two privacy units to its WHERE.",
            )  # fmt: skip
        for predicate in on:
            if not _same_unit(predicate, aliases) and not _links_equal(predicate):
                _refuse_identifying(predicate, "EXISTS", node.position)
        return Semi(relation, right, tuple(on), negated)

    # ------------------------------------------------------------------------------------------------ sub-queries

    def sub(self, query: syntax.Queryable) -> Sub:
        """A sub-query as rows.

        Raises:
            UnsupportedQuery: It orders, limits, or aggregates over several people.
        """
        planner = self.within(query)
        if isinstance(query, syntax.Union):
            return planner._union(query)
        if query.order_by or query.limit is not None or query.offset is not None:
            raise UnsupportedQuery(
                "ORDER BY and LIMIT inside a sub-query would choose rows of people.", construct="LIMIT or ORDER BY",
                position=query.position, hint="Put them at the end of the whole statement.",
            )  # fmt: skip
        if query.options is not None:
            raise UnsupportedQuery(
                "options belong to the outermost SELECT.", construct="OPTIONS", position=query.position,
                hint="Move them there.",
            )  # fmt: skip
        grouped = query.group_by or query.having is not None
        if grouped or any(holds_aggregate(item.expression) for item in query.items):
            return planner.per_unit(planner, query)
        relation, scope = planner.plan(query)
        columns = planner._items(query, scope)
        if not query.distinct:
            return Sub(relation, columns)
        alias = self.alias()
        named = [(f"c{i}", expression) for i, expression in enumerate(columns.values())]
        outputs = {
            own: _output(alias, name, expression)
            for own, (name, expression) in zip(columns, named, strict=True)
        }  # fmt: skip
        return Sub(Project(relation, alias, tuple(named), distinct=True), outputs)

    def _items(self, query: syntax.Select, scope: Scope) -> dict[str, Expression]:
        resolver = self.resolver(scope)
        columns: dict[str, Expression] = {}
        for item in query.items:
            if isinstance(item.expression, syntax.Star):
                for entry in scope.entries:
                    if item.expression.table is None or same_name(entry.alias, item.expression.table):
                        for own, expression in entry.columns.items():
                            columns.setdefault(own, expression)
                continue
            if item.name in columns:
                raise UnsupportedQuery(
                    "two columns of the sub-query have this name.", construct=item.name, position=item.position,
                    hint="Give one of them an alias.",
                )  # fmt: skip
            columns[item.name] = resolver.resolve(item.expression)
        return columns

    def _union(self, union: syntax.Union) -> Sub:
        if not union.all:
            raise UnsupportedQuery(
                "UNION removes equal rows of different people.", construct="UNION", position=union.position,
                hint="Write UNION ALL.",
            )  # fmt: skip
        sides = plan_union_side(self, union)
        names = list(sides[0].columns)
        alias = self.alias()
        outputs: dict[str, Expression] = {}
        for index, own in enumerate(names):
            expressions = [list(side.columns.values())[index] for side in sides if len(side.columns) == len(names)]
            if len(expressions) < len(sides) or len({(e.facts.type, _unit(e)) for e in expressions}) > 1:
                raise UnsupportedQuery(
                    "its sides differ in number or type of columns, or in where the privacy unit stands.",
                    construct="UNION ALL", position=union.position, hint="Select the same columns in the same order.",
                )  # fmt: skip
            outputs[own] = _merged(alias, f"c{index}", expressions)
        if len({is_public(side.relation) for side in sides}) > 1:
            raise UnsupportedQuery(
                "it mixes private and public rows.", construct="UNION ALL", position=union.position,
                hint="Ask about each in a statement of its own.",
            )  # fmt: skip
        parts = tuple((side.relation, tuple(side.columns.values())) for side in sides)
        return Sub(UnionAll(parts, alias, tuple(f"c{i}" for i in range(len(names)))), outputs)


def plan_union_side(rows: Rows, query: syntax.Queryable) -> list[Sub]:
    """All sides of a chain of UNION ALL, from left to right."""
    if isinstance(query, syntax.Union) and query.all:
        return plan_union_side(rows, query.left) + plan_union_side(rows, query.right)
    return [rows.sub(query)]


# ------------------------------------------------------------------------------------------------------ small pieces


def _closed(query: syntax.Queryable, ctes: Mapping[str, syntax.Queryable]) -> syntax.Queryable:
    """A named query with the names it may use itself: those before it."""
    return replace(query, ctes=(*ctes.items(), *query.ctes)) if ctes else query


def _parts(node: syntax.Expr) -> list[syntax.Expr]:
    if isinstance(node, syntax.Call) and node.name == "and":
        return [part for argument in node.arguments for part in _parts(argument)]
    return [node]


def _negated_query(node: syntax.Expr) -> bool:
    inner = node.arguments[0] if isinstance(node, syntax.Call) and node.name == "not" else None
    return isinstance(inner, syntax.InQuery | syntax.Exists)


def _output(alias: str, name: str, expression: Expression) -> Column:
    """A sub-query's column as the rows around see it."""
    if isinstance(expression, Column):
        return Column(
            alias, name, expression.facts, expression.values, unit=expression.unit, link=expression.link
        )  # fmt: skip
    return Column(alias, name, expression.facts)


def _merged(alias: str, name: str, expressions: list[Expression]) -> Column:
    """A column of UNION ALL: what holds for every side."""
    first = expressions[0]
    facts = first.facts
    if any(e.facts != facts for e in expressions):
        lows, highs = [e.facts.low for e in expressions], [e.facts.high for e in expressions]
        steps = {e.facts.step for e in expressions}
        facts = replace(
            facts,
            low=None if None in lows else min(lows),  # type: ignore[type-var]  # ends of one type
            high=None if None in highs else max(highs),  # type: ignore[type-var]  # ends of one type
            nullable=any(e.facts.nullable for e in expressions),
            step=steps.pop() if len(steps) == 1 else None,
            centre=None,
            spread=None,
        )
    values = first.values if isinstance(first, Column) else None
    same = all(isinstance(e, Column) and e.values == values for e in expressions)
    return Column(alias, name, facts, values if same else None, unit=_unit(first))


def _unit(expression: Expression) -> bool:
    return isinstance(expression, Column) and expression.unit


def _aliases(relation: Relation) -> set[str]:
    """Aliases whose columns a relation shows."""
    match relation:
        case Scan() | Project() | UnionAll():
            return {relation.alias}
        case Filter() | Semi():
            return _aliases(relation.input)
        case Join():
            return _aliases(relation.left) | _aliases(relation.right)
        case _:
            return {relation.alias}


def _across(predicate: Expression, left: Relation, right: Relation) -> tuple[Column, Column] | None:
    """The columns of the two sides that a condition equates, the left side's first; None where it does not."""
    if not (isinstance(predicate, Apply) and predicate.function.name == "="):
        return None
    a, b = predicate.arguments
    if not (isinstance(a, Column) and isinstance(b, Column)):
        return None
    ours, theirs = _aliases(left), _aliases(right)
    if a.alias in ours and b.alias in theirs:
        return a, b
    return (b, a) if b.alias in ours and a.alias in theirs else None


def _using(name: str, position: Position, entries: list[Entry]) -> list[tuple[Expression, Expression]]:
    holders = [expression for entry in entries for own, expression in entry.columns.items() if same_name(own, name)]
    if len(holders) < 2:
        raise UnsupportedQuery(
            "USING needs a column of both tables.", construct=name, position=position, hint="Write ON a.x = b.y."
        )
    return [(holders[0], other) for other in holders[1:]]


def _refuse_identifying(expression: Expression, where: str, position: Position) -> None:
    column = identifying(expression)
    if column is not None:
        raise UnsupportedQuery(
            f"it may not stand in {where}: that would single out a person or a record.", construct=column.name,
            position=position, hint=f"It may stand in joins and in COUNT(DISTINCT {column.name}).",
        )  # fmt: skip


def _need_units(left: Expression, right: Expression, construct: str, position: Position) -> None:
    if not (_unit(left) and _unit(right)):
        raise UnsupportedQuery(
            "a private sub-query is looked up by the privacy unit alone.", construct=construct, position=position,
            hint="Write unit IN (SELECT unit FROM ...), or EXISTS with equal units.",
        )  # fmt: skip


def _same_unit(predicate: Expression, inside: set[str]) -> bool:
    """Whether a condition ties a sub-query's unit to that of the row outside: one of the two columns is inside."""
    if not _equal_columns(predicate) or not all(map(_unit, getattr(predicate, "arguments", ()))):
        return False
    return len({column.alias in inside for column in columns_of(predicate)}) == 2


def _links_equal(predicate: Expression) -> bool:
    if not _equal_columns(predicate):
        return False
    links = [getattr(argument, "link", None) for argument in getattr(predicate, "arguments", ())]
    return links[0] is not None and links[0] == links[1]


def _equal_columns(predicate: Expression) -> bool:
    return (
        isinstance(predicate, Apply)
        and predicate.function.name == "="
        and all(isinstance(argument, Column) for argument in predicate.arguments)
    )


def _shown(relation: Relation) -> str:
    return ", ".join(scan.table.name for scan in scans(relation))
