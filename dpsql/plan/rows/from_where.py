"""FROM and WHERE: tables, sub-queries, joins and semi-joins as a relation of rows. Nothing is aggregated here
but inside one privacy unit.

Sub-queries that only choose and compute are inlined: their columns stand for expressions over the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Self

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog
from dpsql.plan.known.conditions import (
    across,
    bare_identity,
    full_join,
    holds_aggregate,
    is_semi,
    limited,
    merged_pairs,
    next_joined,
    output_column,
    parts_of,
    refuse_identifying,
    refuse_twice,
    tables_of,
)
from dpsql.plan.known.relations import columns_of_scan, conjuncts, is_public, unit_of
from dpsql.plan.known.scope import Scope, ScopeEntry, no_such_table, same_name, without_from
from dpsql.plan.known.stars import shown_by
from dpsql.plan.measured.combined import Combinations, unread
from dpsql.plan.nodes import Column, Expression, Filter, Join, Project, Relation, Scan
from dpsql.plan.rows.lateral import condition_read, with_names_read
from dpsql.plan.rows.listed import listed_rows, one_row
from dpsql.plan.rows.semi import semi_join
from dpsql.plan.rows.sub_queries import CutInside, Gathered, ReleasesInside, Sub, in_a_row, public_once, unnamed
from dpsql.plan.rows.unit_windows import UnitWindows, over_units
from dpsql.plan.types import Passed
from dpsql.plan.values.expressions import Resolver
from dpsql.plan.values.identities import chooses
from dpsql.sql import syntax

__all__ = ["PerUnitPlanner", "Rows"]

Position = tuple[int, int] | None

MOST_RELATIONS = 50  # Tables and sub-queries of one statement. It is a choice: more than people write.


PerUnitPlanner = Callable[["Rows", syntax.Select], Sub]


@dataclass(slots=True)
class Rows:
    """Plans the rows of one statement; aliases are counted across all its sub-queries.

    Attributes:
        catalog: Tables.
        parameters: Values of ``?``.
        per_unit: Plans sub-queries that aggregate within a unit.
        ctes: Named sub-queries in scope.
        combinations: Reads which values of public tables stand together.
        aliases: The plan's own aliases.
        awaited: What a sub-query as a value stands for (`plan.over_answers.awaited`); None where none may stand.
    """

    catalog: Catalog
    parameters: tuple[Passed, ...]
    per_unit: PerUnitPlanner
    ctes: Mapping[str, syntax.Queryable] = field(default_factory=dict)
    combinations: Combinations = unread
    aliases: count[int] = field(default_factory=count)
    awaited: Callable[[syntax.ScalarQuery, Rows, Scope], Column] | None = None

    def alias(self) -> str:
        """A new alias of the plan's own.

        Raises:
            UnsupportedQuery: There are too many: a few names of WITH, each used twice by the next, grow without end.
        """
        number = next(self.aliases)
        if number >= MOST_RELATIONS:
            raise UnsupportedQuery(
                f"it reads more than {MOST_RELATIONS} tables and sub-queries, each use of a name of WITH being one.",
                construct="FROM", hint="Ask it in several statements.",
            )  # fmt: skip
        return f"t{number}"

    def within(self, query: syntax.Queryable) -> Self:
        """The same, with the query's own WITH in scope.

        Raises:
            UnsupportedQuery: A name of WITH is a table's.
        """
        ctes = dict(self.ctes)
        for name, named in query.ctes:
            if any(same_name(name, table) for table in self.catalog.tables):
                reason, hint = "a table has this name.", "Choose another."
                raise UnsupportedQuery(reason, construct=f"WITH {name}", position=named.position, hint=hint)
            if ctes.get(name.lower()) is not named:  # else it is closed in this scope
                ctes[name.lower()] = _closed(named, ctes)
        return replace(self, ctes=ctes)

    # ------------------------------------------------------------------------------------------------- one SELECT

    def plan(self, select: syntax.Select, outer: Scope | None = None) -> tuple[Relation, Scope]:
        """FROM and WHERE of one SELECT.

        Raises:
            UnsupportedQuery: Unknown tables; joins that are neither on the unit, nor along a declared key, nor with a
                public table; sub-queries that would release something.
        """
        if select.source is None and outer is None:
            group, at = Gathered([one_row(select, self.alias())]), select.position
        elif select.source is None:
            raise without_from("SELECT", select.position)
        else:
            group, at = self.gather(select.source), select.source.position
        scope = replace(group.scope(outer), tables=self.catalog.tables)
        where = condition_read(select, scope)
        nodes = [part for node in [*group.conditions, *([] if where is None else [where])] for part in parts_of(node)]
        semis = [node for node in nodes if is_semi(node)]
        relation = self.joined(group, [node for node in nodes if node not in semis], scope, at)
        for node in semis:
            relation = semi_join(self, relation, scope, node)
        return relation, scope

    def gather(self, source: syntax.Relation) -> Gathered:
        """The tables of one FROM before they are joined."""
        group = Gathered()
        self._collect(source, group)
        return group

    def resolver(self, scope: Scope) -> Resolver:
        """Resolves expressions over one row."""

        def lookup(node: syntax.Expr) -> Expression | None:
            if isinstance(node, syntax.ScalarQuery) and self.awaited is not None:
                return self.awaited(node, self, scope)
            return scope.find(node) if isinstance(node, syntax.Name) else None

        return Resolver(lookup, self.parameters)

    # ------------------------------------------------------------------------------------------------------- FROM

    def _collect(self, source: syntax.Relation, group: Gathered) -> None:
        match source:
            case syntax.TableName():
                self._table(source, group)
            case syntax.Derived():
                self._enter(group, source.alias or unnamed(source), self.sub(source.query), source.position)
            case syntax.ListedRows():
                sub = listed_rows(source, self.alias(), self.resolver(Scope(())))
                self._enter(group, source.alias or "VALUES", sub, source.position)
            case syntax.TableFunctionCall():
                raise ReleasesInside(
                    "a table function releases something of its own.", construct=source.call.name,
                    position=source.position, hint="Let it stand alone in FROM, and only compute with its answer.",
                )  # fmt: skip
            case syntax.JoinClause(kind="inner" | "cross"):
                start = group.reached()
                self._collect(source.left, group)
                middle = group.reached()
                self._collect(source.right, group)
                group.meet(source, start, middle)
            case syntax.JoinClause(kind="left"):
                self._left_join(source, source.left, source.right, group)
            case syntax.JoinClause(kind="right"):
                self._left_join(source, source.right, source.left, group)
            case syntax.JoinClause():
                raise full_join(source.position)

    def _table(self, source: syntax.TableName, group: Gathered) -> None:
        name = source.name[-1]
        alias = source.alias or name
        if len(source.name) == 1 and name.lower() in self.ctes:
            self._enter(group, alias, self._named(name.lower()), source.position)
            return
        table = next(
            (t for own, t in self.catalog.tables.items() if len(source.name) == 1 and same_name(own, name)), None
        )
        if table is None:
            raise no_such_table(source, [*self.catalog.tables, *self.ctes])
        scan = Scan(table, self.alias())
        implied = frozenset({table.unit} if table.unit is not None and table.unit_implied else ())
        self._add(group, scan, ScopeEntry(alias, columns_of_scan(scan), implied, table.renamed), source.position)

    def _named(self, name: str) -> Sub:
        query = self.ctes[name]
        inner = {other: q for other, q in self.ctes.items() if other != name}
        return replace(self, ctes=inner).sub(query)

    def _enter(self, group: Gathered, alias: str, sub: Sub, position: Position) -> None:
        self._add(group, sub.relation, ScopeEntry(alias, sub.columns), position)

    def _add(self, group: Gathered, relation: Relation, entry: ScopeEntry, position: Position) -> None:
        refuse_twice(entry.alias, group.entries, position)
        group.parts.append(relation)
        group.entries.append(entry)

    def _left_join(
        self, join: syntax.JoinClause, kept: syntax.Relation, other: syntax.Relation, group: Gathered
    ) -> None:
        left, right = Gathered(), Gathered()
        self._collect(kept, left)
        self._collect(other, right)
        for entry in right.entries:
            refuse_twice(entry.alias, left.entries, join.position)
        kept_rows = self._closed_group(left, join.position)
        other_rows = self._closed_group(right, join.position)
        if is_public(kept_rows) and not is_public(other_rows):
            raise UnsupportedQuery(
                "a public table may not keep its rows beside a private one: a person's arrival would also take a row.",
                construct=f"{join.kind.upper()} JOIN", position=join.position,
                hint="Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS "
                "(group_selection_strategy = PUBLIC_GROUPS) in the statement itself.",
            )  # fmt: skip
        other_rows, right.entries = self._bare(other_rows, right.entries)
        both = Gathered([kept_rows, other_rows], [*left.entries, *right.entries], using=[*left.using, *right.using])
        scope = both.scope(None)
        nodes = [] if join.on is None else parts_of(join.on)
        resolver = self.resolver(scope)
        predicates = [p for node in nodes for p in conjuncts(resolver.boolean(resolver.resolve(node), node))]
        equal, on = [], []
        merged = merged_pairs(join, left.scope(None), right.scope(None))
        predicates += [resolver.apply("=", pair, join.position) for pair in merged.values()]
        for predicate in predicates:
            met = across(predicate, kept_rows, other_rows)
            (equal.append(met) if met is not None else on.append(predicate))
        pairs = self._checked(kept_rows, other_rows, equal, join.position)
        for predicate in on:
            refuse_identifying(predicate, "ON", join.position)
        group.parts.append(limited(Join(kept_rows, other_rows, pairs, outer=True, on=tuple(on)), join.position))
        group.entries += [*left.entries, *(entry.nullable() for entry in right.entries)]
        group.using += [*both.using, *merged]

    def _closed_group(self, group: Gathered, position: Position) -> Relation:
        """One side of an outer join on its own."""
        nodes = [part for node in group.conditions for part in parts_of(node)]
        return self.joined(group, nodes, group.scope(None), position)

    def _bare(self, relation: Relation, entries: list[ScopeEntry]) -> tuple[Relation, list[ScopeEntry]]:
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
                columns[own] = output_column(alias, name, expression)
            changed.append(ScopeEntry(entry.alias, columns, renamed=entry.renamed))
        return Project(relation, alias, tuple(named)), changed

    # ------------------------------------------------------------------------------------------------------ joins

    def joined(self, group: Gathered, nodes: list[syntax.Expr], scope: Scope, position: Position) -> Relation:
        """The tree of joins, and around it the conditions that are no joins."""
        resolver = self.resolver(scope)
        conditions = [p for node in nodes for p in conjuncts(resolver.boolean(resolver.resolve(node), node))]
        conditions += [resolver.apply("=", pair, at) for pair, at in group.equal]
        first = next((part for part in group.parts if not is_public(part)), group.parts[0])
        relation, waiting = first, [part for part in group.parts if part is not first]
        rest = conditions
        while waiting:
            part, equal = next_joined(relation, waiting, rest)
            if not equal and not is_public(part):
                raise UnsupportedQuery(
                    f"{tables_of(part)} is not joined to the other tables.", construct="JOIN", position=position,
                    hint="Join private tables ON equality of their privacy units.",
                )  # fmt: skip
            pairs = self._checked(relation, part, equal, position)
            rest = [p for p in rest if across(p, relation, part) is None]
            relation = limited(Join(relation, part, pairs), position)
            waiting.remove(part)
        for predicate in filter(chooses, rest):
            refuse_identifying(predicate, "WHERE", position)
            relation = Filter(relation, predicate)
        return relation

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

    # ------------------------------------------------------------------------------------------------ sub-queries

    def sub(self, query: syntax.Queryable) -> Sub:
        """A sub-query as rows.

        Raises:
            UnsupportedQuery: It orders, limits, or aggregates over several people.
        """
        planner = self.within(query)
        if isinstance(query, syntax.Union):
            return planner._union(query)
        if query.options is not None:
            raise ReleasesInside(
                "options belong to a SELECT that releases something.", construct="OPTIONS", position=query.position,
                hint="Move them to the outermost SELECT, or let that one only compute with this one's answer.",
            )  # fmt: skip
        if query.order_by or query.limit is not None or query.offset is not None:
            raise CutInside(
                "ORDER BY and LIMIT inside a sub-query would choose rows of people.", construct="LIMIT or ORDER BY",
                position=query.position, hint="Leave them out: an answer has them, at the end of the whole statement. "
                "A condition chooses rows: WHERE x > 100, or beyond a released number: WHERE x > "
                "(SELECT QUANTILE_CONT(x, 0.9) FROM t).",
            )  # fmt: skip
        grouped = query.group_by or query.having is not None
        if grouped or any(holds_aggregate(item.expression) for item in query.items):
            return planner.per_unit(planner, query)
        relation, scope = planner.plan(query)
        over = over_units(query, relation, planner.resolver(scope), self.alias)
        columns = planner._items(with_names_read(query, scope), scope, over)
        relation = relation if over is None else over.relation()
        if not query.distinct:
            return Sub(relation, columns)
        alias = self.alias()
        named = [(f"c{i}", expression) for i, expression in enumerate(columns.values())]
        outputs = {own: output_column(alias, *pair) for own, pair in zip(columns, named, strict=True)}
        return Sub(Project(relation, alias, tuple(named), distinct=True), outputs)

    def _items(self, query: syntax.Select, scope: Scope, over: UnitWindows | None) -> dict[str, Expression]:
        resolver = self.resolver(scope) if over is None else over.resolver()
        columns: dict[str, Expression] = {}
        for item in query.items:
            if isinstance(star := item.expression, syntax.AllColumns):
                passed = (lambda own: own) if over is None else over.passed
                for name, expression in shown_by(star, scope.entries, resolver, passed):
                    columns.setdefault(name, expression)
                continue
            if item.name in columns:
                raise UnsupportedQuery(
                    "two columns of the sub-query have this name.", construct=item.name, position=item.position,
                    hint="Give one of them an alias.",
                )  # fmt: skip
            columns[item.name] = bare_identity(resolver.resolve(item.expression), item.position)
        return columns

    def _union(self, union: syntax.Union) -> Sub:
        sides = _union_sides(self, union) if union.all else [self.sub(union.left), self.sub(union.right)]
        found = in_a_row(sides, self.alias(), union)
        return found if union.all else public_once(found, self.alias(), union)


def _union_sides(rows: Rows, query: syntax.Queryable) -> list[Sub]:
    """All sides of a chain of UNION ALL, from left to right."""
    if isinstance(query, syntax.Union) and query.all:
        return _union_sides(rows, query.left) + _union_sides(rows, query.right)
    return [rows.sub(query)]


def _closed(query: syntax.Queryable, ctes: Mapping[str, syntax.Queryable]) -> syntax.Queryable:
    """A named query with the names it may use itself: those before it."""
    return replace(query, ctes=(*ctes.items(), *query.ctes)) if ctes else query
