"""Sub-queries that aggregate within one privacy unit: exact, still private, one row a unit.

Tests: tests/unit/plan/rows/test_per_unit.py, tests/sql.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.plan.aggregates import CALLS, FUNCTIONS, Kind, Takes
from dpsql.plan.functions import INTEGER_LIMIT, overloads
from dpsql.plan.functions.refused import REFUSED_AGGREGATES
from dpsql.plan.grids import saturating_grid
from dpsql.plan.intervals import Interval
from dpsql.plan.known.conditions import bare_identity, holds_aggregate, refuse_identifying, where_as_case, windows_in
from dpsql.plan.known.relations import is_public, names_unit, unit_of
from dpsql.plan.known.scope import Scope, identifying, named_where
from dpsql.plan.known.stability import most_rows, rows_per_unit
from dpsql.plan.known.value_lists import values_known, values_shown
from dpsql.plan.measured.tuple_counts import of_one_value
from dpsql.plan.nodes import Aggregate, Column, Expression, Filter, PerUnit, Relation, UnitValue
from dpsql.plan.plans import Key
from dpsql.plan.rows.chosen import CHOOSING, with_chosen
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.rows.lateral import with_names_read, within
from dpsql.plan.rows.sub_queries import ReleasesInside, Sub
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.applied import applied
from dpsql.plan.values.expressions import Resolver, all_of, range_of, where_true
from dpsql.plan.values.ranges import known_range, showing
from dpsql.sql import syntax
from dpsql.sql.naming import as_written

__all__ = ["group_nodes", "plan_per_unit", "sums_per_unit", "totals_per_unit", "unit_facts"]

INSIDE = {name: call for name, call in CALLS.items() if call.plain and FUNCTIONS[call.function].inside_unit is not None}
"""Calls that may stand inside one unit."""
LISTED = " Of several values COUNT(DISTINCT x) says how many they are, BOOL_OR(x = 'a') whether one is among them."


def plan_per_unit(rows: Rows, query: syntax.Select) -> Sub:
    """A sub-query with GROUP BY the unit (and perhaps more) as rows.

    Raises:
        ReleasesInside: The unit is not among what is grouped by.
        UnsupportedQuery: Other aggregates than COUNT, SUM, AVG, MIN and MAX.
    """
    relation, scope = rows.plan(query)
    query = with_names_read(query, scope)
    keys = group_nodes(query, scope)
    if not is_public(relation) and any(_of_one_unit(rows.resolver(scope).resolve(key)) for key in keys):
        asked = with_chosen(query, keys)
        if asked is not query:
            return plan_per_unit(rows, asked)
    return _PerUnit(rows, query, relation, scope, rows.alias()).sub()


def _of_one_unit(key: Expression) -> bool:
    """Whether rows with one value of it are one unit's."""
    return names_unit(key) or (isinstance(key, Column) and key.link is not None)


def group_nodes(query: syntax.Select, scope: Scope) -> list[syntax.Expr]:
    """What GROUP BY names: expressions, with ordinals, output aliases and ALL resolved."""
    group_by = query.group_by
    if isinstance(group_by, syntax.GroupAll):
        nodes = [item.expression for item in query.items]
        return [node for node in nodes if not holds_aggregate(node) and not windows_in(node)]
    if isinstance(group_by, syntax.GroupingSets):
        return list(dict.fromkeys(_named_item(node, query, scope) for keys in group_by.sets for node in keys))
    return [_named_item(node, query, scope) for node in group_by]


def _named_item(node: syntax.Expr, query: syntax.Select, scope: Scope) -> syntax.Expr:
    if isinstance(node, syntax.Literal) and isinstance(node.value, int) and not isinstance(node.value, bool):
        if not 1 <= node.value <= len(query.items):
            raise UnsupportedQuery(
                f"there is no column {node.value}.", construct=str(node.value), position=node.position,
                hint=f"The select list has {len(query.items)}.",
            )  # fmt: skip
        return query.items[node.value - 1].expression
    if isinstance(node, syntax.Name) and len(node.parts) == 1 and not scope.holds(node.parts[0]):
        for item in query.items:
            if item.alias is not None and item.alias.lower() == node.parts[0]:
                return item.expression
    return node


@dataclass(slots=True)
class _PerUnit:
    """One such sub-query while it is resolved."""

    rows: Rows
    query: syntax.Select
    relation: Relation
    scope: Scope
    alias: str
    keys: list[tuple[str, Expression]] = field(default_factory=list)
    values: list[UnitValue] = field(default_factory=list)

    def sub(self) -> Sub:
        query = self.query
        unit = unit_of(self.relation)
        resolver = self.rows.resolver(self.scope)
        for node in group_nodes(query, self.scope):
            expression = resolver.resolve(node)
            if not any(known == expression for _, known in self.keys):
                self.keys.append((f"k{len(self.keys)}", expression))
        grouped = [key for _, key in self.keys if isinstance(key, Column)]
        if unit is not None and any(key.link for key in grouped) and not any(key.unit for key in grouped):
            self.keys.append(("unit", unit))  # a declared key belongs to one person: the groups stay the same
            grouped.append(unit)
        public = is_public(self.relation)
        if not any(map(names_unit, grouped)) and any(key.unit for key in grouped):
            raise UnsupportedQuery(
                "where the left join finds no partner it is NULL, so that rows of several people would be one group.",
                construct="GROUP BY", position=query.position,
                hint="Group by the unit of the table whose rows are kept.",
            )  # fmt: skip
        if not (public and self.keys) and not any(map(names_unit, grouped)):
            raise ReleasesInside(
                "an aggregate of public tables without GROUP BY is one value."
                if public
                else "a sub-query that aggregates over several people releases something of its own.",
                construct="sub-query", position=query.position,
                hint="Ask it by itself, then write its answer as a constant."
                if public
                else "Group it by the privacy unit"
                + (f" ({unit.name})" if unit else "")
                + ", ask it by itself (with ORDER BY and LIMIT), or let the outer query only compute with its result.",
            )  # fmt: skip
        for _, key in self.keys:
            inside = identifying(key)
            if inside is not None and not isinstance(key, Column):
                raise UnsupportedQuery(
                    "nothing is computed from a privacy unit or a key.", construct=inside.shown,
                    position=query.position, hint="Group by the column itself.",
                )  # fmt: skip
        over = Resolver(self._lookup, self.rows.parameters)
        columns: dict[str, Expression] = {}
        for item in query.items:
            if isinstance(item.expression, syntax.AllColumns):
                raise UnsupportedQuery(
                    "a star cannot be grouped.", construct="*", position=item.position, hint="Name the columns."
                )
            columns[item.name] = bare_identity(over.resolve(item.expression), item.position)
        named = {item.alias.lower(): columns[item.name] for item in query.items if item.alias}
        after = Resolver(lambda node: within(node, named, self._lookup) or self._lookup(node), self.rows.parameters)
        having = None if query.having is None else after.boolean(after.resolve(query.having), query.having)
        if having is not None:
            refuse_identifying(having, "HAVING", query.position)
        relation: Relation = PerUnit(self.relation, self.alias, tuple(self.keys), tuple(self.values))
        if having is not None:
            relation = Filter(relation, having)
        return Sub(relation, columns)

    def _lookup(self, node: syntax.Expr) -> Expression | None:
        """Keys and aggregates as columns of the grouped rows."""
        if isinstance(node, syntax.Call) and holds_aggregate(replace(node, arguments=())):
            return self._aggregate(node)
        if isinstance(node, syntax.ScalarQuery):  # the same for all units
            return self.rows.resolver(self.scope).resolve(node)
        if isinstance(node, syntax.Literal | syntax.Parameter | syntax.IntervalLiteral | syntax.AllColumns):
            return None
        if isinstance(node, syntax.Name) or not holds_aggregate(node):
            try:
                expression = self.rows.resolver(self.scope).resolve(node)
            except UnsupportedQuery:
                if isinstance(node, syntax.Name):
                    raise
                return None
            for name, key in self.keys:
                if key == expression:
                    return _key_column(self.alias, name, key)
            if isinstance(node, syntax.Name):
                raise UnsupportedQuery(
                    "it is neither grouped by nor aggregated.", construct=as_written(node), position=node.position,
                    hint=f"Add it to GROUP BY, or write an aggregate such as MAX({as_written(node)}).",
                )  # fmt: skip
        return None

    def _aggregate(self, node: syntax.Call) -> Expression:
        node = of_one_value(node)
        if node.where is not None:
            return self._aggregate(where_as_case(node, node.where))
        if _is_count_if(node):
            return self._aggregate(where_as_case(replace(node, name="count", arguments=()), node.arguments[0]))
        if node.name in CALLS and CALLS[node.name].takes in (Takes.ANY, Takes.ALL) and len(node.arguments) == 1:
            resolver = self.rows.resolver(self.scope)
            resolver.boolean(resolver.resolve(node.arguments[0]), node.arguments[0])
            node = replace(node, name="max" if CALLS[node.name].takes is Takes.ANY else "min")
        if node.name not in INSIDE or node.named or node.order:
            listed = LISTED if node.name in REFUSED_AGGREGATES and node.name not in CHOOSING else ""
            raise UnsupportedQuery(
                "inside one unit it is not supported.", construct=node.name.upper(), position=node.position,
                hint="COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), "
                f"first(x ORDER BY y) and last(x ORDER BY y) are.{listed}",
            )  # fmt: skip
        resolver = self.rows.resolver(self.scope)
        starred, counts = node.star or not node.arguments, INSIDE[node.name].takes is Takes.COUNTED
        if len(node.arguments) > 1 or (starred and not counts):
            raise UnsupportedQuery(
                "it takes one argument.", construct=node.name.upper(), position=node.position,
                hint=f"Write {node.name.upper()}(x).",
            )  # fmt: skip
        argument = None if starred else resolver.resolve(node.arguments[0])
        function = INSIDE[node.name].function
        if counts:
            function = "count_rows" if argument is None else "count_distinct" if node.distinct else "count"
        elif node.distinct:
            raise UnsupportedQuery(
                "DISTINCT is for COUNT alone.",
                construct=node.name.upper(),
                position=node.position,
                hint="Leave it out.",
            )
        if argument is not None and counts:
            argument = self._counted(argument, resolver, node)
        elif argument is not None:
            held = identifying(argument)
            if held is not None or argument.facts.type not in (FUNCTIONS[function].inside_unit or ()):
                raise UnsupportedQuery(
                    "it needs numbers." if held is None else "nothing is computed from a privacy unit or a key.",
                    construct=node.name.upper(), position=node.position, hint="Name a numeric column.",
                )  # fmt: skip
        for known in self.values:
            if (known.function, known.argument) == (function, argument):
                return unit_column(self.alias, known, most_rows(self.relation))
        facts = unit_facts(function, argument, most_rows(self.relation), node.position)
        value = UnitValue(f"v{len(self.values)}", function, argument, facts)
        self.values.append(value)
        return unit_column(self.alias, value, most_rows(self.relation))

    def _counted(self, argument: Expression, resolver: Resolver, node: syntax.Call) -> Expression:
        """What COUNT reads: a unit or a key only by itself, or where conditions hold."""
        named = named_where(argument)
        if named is not None:
            return named[0] if not named[1] else where_true(all_of(named[1], resolver, node.position), named[0])
        if (held := identifying(argument)) is not None:
            raise UnsupportedQuery(
                "nothing is computed from a privacy unit or a key: that would single out a person or a record.",
                construct=held.shown, position=node.position,
                hint=f"Count {held.shown} itself, or write COUNT(DISTINCT CASE WHEN .. THEN {held.shown} END).",
            )  # fmt: skip
        return argument


def _is_count_if(node: syntax.Call) -> bool:
    """Whether it is COUNT_IF of one condition, and nothing else."""
    plain = len(node.arguments) == 1 and not (node.distinct or node.named or node.order)
    return plain and node.name in CALLS and CALLS[node.name].takes is Takes.COUNT_IF


def unit_facts(function: str, argument: Expression | None, most: int, position: tuple[int, int] | None) -> Facts:
    """What is known of an exact aggregate over at most ``most`` rows of one unit.

    Raises:
        UnsupportedQuery: A sum could overflow.
    """
    if argument is None or FUNCTIONS[function].kind is Kind.COUNT:
        least = 1 if function == "count_rows" else 0
        known = None if argument is None or function != "count_distinct" else values_known(argument, ())
        most = most if known is None else min(most, known)
        return Facts(Type.INTEGER, Fraction(least), Fraction(most), False, Fraction(1))
    facts = argument.facts
    if function in ("min", "max"):
        return facts
    ends = _in_steps(known_range(argument), saturating_grid(facts).step)
    low, high = ends.low, ends.high
    if function == "avg":
        return Facts(Type.REAL, low, high, facts.nullable, scale=facts.scale)
    if facts.type is Type.INTEGER and not range_of(argument, hard=True).within(INTEGER_LIMIT // most):
        raise UnsupportedQuery(
            "the sum could be too large for the engine.", construct="SUM", position=position,
            hint="Declare or narrow the bounds of its columns.",
        )  # fmt: skip
    return Facts(
        facts.type,
        None if low is None else min(low, low * most),
        None if high is None else max(high, high * most),
        facts.nullable,
        facts.step,
        scale=None if facts.scale is None else (facts.scale[0], facts.scale[1] * most),
    )


def _in_steps(ends: Interval, step: Fraction) -> Interval:
    """Numbers put on a grid before they are summed: one of 0.4 steps is 0 there."""
    low, high = ends.low, ends.high
    return Interval(
        None if low is None else math.floor(low / step) * step, None if high is None else math.ceil(high / step) * step
    )


def unit_column(alias: str, value: UnitValue, most: int) -> Column:
    """The column of an exact aggregate over at most ``most`` rows of one unit.

    What is summed is put on its grid first, whose ends it does not pass.
    """
    column, argument = Column(alias, value.name, value.facts), value.argument
    if argument is None:
        return column
    column = showing(column, argument)
    if FUNCTIONS[value.function].one_of_them:
        return replace(column, values=values_shown(argument))
    if value.function not in ("sum", "avg") or column.reach is None:
        return column
    grid = saturating_grid(argument.facts)
    each = _in_steps(column.reach, grid.step).clipped(grid.low * grid.step, grid.high * grid.step)
    return replace(column, reach=each if value.function == "avg" else each.hull(each * Interval.point(most)))


def totals_per_unit(
    relation: Relation, keys: tuple[Key, ...], aggregate: Aggregate, alias: str
) -> tuple[Relation, tuple[Key, ...], Aggregate]:
    """The same aggregate over one value per unit and group, each put inside the analyst's ends for it.

    A sum or a count is the sum of the units' totals. AVG is the mean of the units' own means, as in GoogleSQL: in a
    group each unit weighs the same, however many rows it has there.

    Args:
        relation: The rows.
        keys: What they are grouped by.
        aggregate: A sum, a count or a mean with ``per_group``.
        alias: The plan's alias of the totals.
    """
    asked_of_unit = ((aggregate.function, aggregate.argument),)
    totals, columns, (own,) = _one_row_a_unit(relation, keys, aggregate, asked_of_unit, alias)
    asked = replace(
        aggregate,
        function="avg" if aggregate.function == "avg" else "sum",
        argument=own,
        bounds=aggregate.per_group,
        per_group=None,
    )
    return totals, columns, asked


def sums_per_unit(
    relation: Relation, keys: tuple[Key, ...], aggregate: Aggregate, alias: str, *, squares: bool
) -> tuple[Relation, tuple[Key, ...], list[Column]]:
    """What a mean or a variance is made of, for each unit and group.

    Args:
        relation: The rows.
        keys: What they are grouped by.
        aggregate: Of which argument.
        alias: The plan's alias of the sums.
        squares: Whether the sum of the values' squares is wanted, too.

    Returns:
        The rows, one a unit and group; their keys; and the columns of the sum of its values, of how many they are, and
        of the sum of squares.

    Raises:
        UnsupportedQuery: Rows have lost their unit, or sums could overflow.
    """
    x = aggregate.argument
    if x is None:
        raise InvariantBroken("a mean needs an argument")
    asked: list[tuple[str, Expression]] = [("sum", x), ("count", x)]
    if squares:
        asked.append(("sum", applied("*", overloads("*"), (x, x), aggregate.position)))
    return _one_row_a_unit(relation, keys, aggregate, asked, alias)


def _one_row_a_unit(
    relation: Relation,
    keys: tuple[Key, ...],
    aggregate: Aggregate,
    asked: Sequence[tuple[str, Expression | None]],
    alias: str,
) -> tuple[Relation, tuple[Key, ...], list[Column]]:
    """Functions of arguments over each unit's rows in each group; last their columns."""
    unit = unit_of(relation)
    if unit is None:
        raise UnsupportedQuery(
            "rows that have lost their privacy unit have no totals per unit.",
            construct="contribution_bounds_per_group",
            position=aggregate.position, hint="Keep the unit among the columns of the sub-query.",
        )  # fmt: skip
    most, values = rows_per_unit(relation), list[UnitValue]()
    for place, (function, argument) in enumerate(asked):
        facts = unit_facts(function, argument, most, aggregate.position)
        values.append(UnitValue(f"v{place}", function, argument, facts))
    named = (("unit", unit), *((key.name, key.expression) for key in keys))
    columns = tuple(replace(key, expression=_key_column(alias, key.name, key.expression)) for key in keys)
    own = [unit_column(alias, value, most) for value in values]
    return PerUnit(relation, alias, named, tuple(values)), columns, own


def _key_column(alias: str, name: str, key: Expression) -> Column:
    if isinstance(key, Column):
        own = Column(alias, name, key.facts, key.values, unit=key.unit, link=key.link, said=key.shown)
        return showing(own, key)
    return showing(Column(alias, name, key.facts), key)
