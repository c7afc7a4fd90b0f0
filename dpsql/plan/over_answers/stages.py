"""Queries over public values, released answers or public tables: ordinary SQL, aggregates included, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.limits import MOST_ROWS
from dpsql.plan.aggregates import CALLS, FUNCTIONS, AggregateFunction, Kind, Takes
from dpsql.plan.functions import Function
from dpsql.plan.intervals import Interval
from dpsql.plan.known.conditions import where_as_case
from dpsql.plan.known.scope import Scope, element_name, same_name, whole_name
from dpsql.plan.known.stars import columns_of_star, instead_of
from dpsql.plan.measured.lists import Lists, numbered
from dpsql.plan.measured.tuple_counts import of_one_value
from dpsql.plan.nodes import Apply, Column, Constant, Expression, Order, Total, Windowed
from dpsql.plan.plans import Output, Plan, Several, Stage, shown
from dpsql.plan.rows.chosen import CHOOSING
from dpsql.plan.rows.lateral import condition_read, of_the_list, with_names_read, within
from dpsql.plan.rows.per_unit import group_nodes
from dpsql.plan.rows.windows import place_sql, refuse_after_having, windowed
from dpsql.plan.types import Facts, Passed, Type
from dpsql.plan.values.conversions import converted
from dpsql.plan.values.expressions import Resolver, arguments_of, columns_of
from dpsql.plan.values.ranges import uncut, with_length
from dpsql.sql import syntax

__all__ = ["RELEASED", "aggregates_in", "is_aggregate", "plan_stage", "released_names", "row_count", "told_apart"]

RELEASED = "released"  # The alias of the table of released values.

PLACED = (
    "An answer has few rows: ORDER BY n shows them in order, with LIMIT 1 OFFSET 5 the sixth of them. Of people, not "
    "of groups, it is asked where people's rows are read."
)
WHETHER = {
    Takes.ANY: "Write COUNT_IF(..) > 0, which says whether some row meets the condition.",
    Takes.ALL: "Write COUNT_IF(NOT (..)) = 0, which says whether no row fails the condition.",
}
"""What to write for an aggregate of a condition."""
ROWS = Interval(Fraction(0), Fraction(MOST_ROWS))
MODERATE = "CASE WHEN abs({0}) <= 1e140 THEN {0} END"
"""Numbers of which squares do not overflow, however many there are. Beyond lies nothing that people measure."""


def _exact(row: AggregateFunction, *types: Type, sql: str = "") -> Function:
    """An aggregate of the table over public values; all counts are called ``count``."""
    result = row.result(types[0] if types else None)
    match row.kind:
        case Kind.COUNT:
            return Function("count", types, result, sql or "COUNT({0})")
        case Kind.SUM:
            total = f"try_sum_of_{result.value}s({{0}})"
            return Function(row.name, types, result, total, interval=lambda x: x * ROWS)
        case Kind.VARIANCE | Kind.DEVIATION:
            spread = f"{row.name.upper()}({MODERATE})"
            return Function(row.name, types, result, spread, interval=lambda _: Interval(Fraction(0), None))
        case _:
            means = row.name == "avg" and types == (Type.INTEGER,)  # not a DOUBLE everywhere
            sql = "avg_of_integers({0})" if means else place_sql(row.name, types)
            return Function(row.name, types, result, sql, interval=lambda x: x)


AGGREGATES: dict[str, tuple[Function, ...]] = {
    row.name: tuple(_exact(row, kind) for kind in row.over_answers)
    for row in FUNCTIONS.values()
    if row.over_answers and row.name in CALLS
}
MEDIAN = Function("median", (Type.REAL,), Type.REAL, f"median_of_reals({MODERATE})", interval=lambda x: x)
AGGREGATES[MEDIAN.name] = (MEDIAN,)
COUNT_DISTINCT = tuple(_exact(FUNCTIONS["count_distinct"], kind, sql="COUNT(DISTINCT {0})") for kind in Type)
COUNT_ROWS = _exact(FUNCTIONS["count_rows"], sql="COUNT(*)")


def released_names(plan: Plan | Several) -> dict[str, Expression]:
    """What the columns of a plan's answer are to a query over it: ``released.c0``, ``released.c1``, ..."""
    names: dict[str, Expression] = {}
    for index, (name, output) in enumerate(zip(told_apart(plan.answer), plan.answer, strict=True)):
        names[name] = _released(index, output)
    return names


def told_apart(outputs: Sequence[Output]) -> list[str]:
    """Names of an answer's columns to a query over it: those that are there already get a number, as in DuckDB."""
    names = list[str]()
    for column in shown(outputs):
        name, number = column.name, 0
        while any(same_name(name, whole_name(own)) for own in names):
            number += 1
            name = f"{column.name}_{number}"
        names += [element_name(name, outputs[place].element) for place in column.places]
    return names


def released_columns(plan: Plan | Several) -> dict[Expression, Column]:
    """The same by what the columns are, where they are other than lists."""
    return {o.expression: _released(index, o) for index, o in enumerate(plan.answer) if o.element is None and not o.end}


def _released(index: int, output: Output) -> Column:
    facts = output.expression.facts
    known = Facts(facts.type, nullable=facts.nullable, step=facts.step)
    column = Column(RELEASED, f"c{index}", known)
    return (uncut if isinstance(output.expression, Column) else with_length)(column, output.expression)


def plan_stage(query: syntax.Select, scope: Scope, parameters: tuple[Passed, ...], *, answer: bool = False) -> Stage:
    """One SELECT over public values: released columns, or public tables.

    Args:
        query: Its syntax.
        scope: What its names stand for.
        parameters: Values of ``?``.
        answer: Whether FROM is the name of an answer, which sub-queries as values may read, too.

    Raises:
        UnsupportedQuery: Sub-queries, DISTINCT over aggregates, grouping sets, other aggregates than `AGGREGATES`.
    """
    if isinstance(query.group_by, syntax.GroupingSets):
        raise UnsupportedQuery(
            "GROUPING SETS over public values are not supported.", construct="SELECT", position=query.position,
            hint="Write GROUP BY.",
        )  # fmt: skip
    query = replace(query, where=condition_read(query, scope))
    return _Stage(with_names_read(query, scope), scope, parameters, answer).plan()


def row_count(value: int | syntax.Parameter | None, construct: str, resolver: Resolver) -> int | None:
    """LIMIT or OFFSET as a number, or None. More rows than any answer has mean the same as `MOST_ROWS`.

    Raises:
        UnsupportedQuery: A parameter is no whole number.
    """
    if value is None:
        return None
    number = resolver.constant(value, construct) if isinstance(value, syntax.Parameter) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        position = value.position if isinstance(value, syntax.Parameter) else None
        raise UnsupportedQuery(
            "it must be a whole number from 0.", construct=construct, position=position, hint="Pass an integer."
        )
    return min(number, MOST_ROWS)


@dataclass(slots=True)
class _Stage:
    """One such SELECT while it is resolved."""

    query: syntax.Select
    scope: Scope
    parameters: tuple[Passed, ...]
    answer: bool

    def plan(self) -> Stage:
        query = self.query
        plain = Resolver(self._plain, self.parameters)
        where = None if query.where is None else plain.boolean(plain.resolve(query.where), query.where)
        groups = tuple(plain.resolve(node) for node in group_nodes(query, self.scope))
        if isinstance(query.group_by, syntax.GroupAll):  # to it a constant is no key, as in DuckDB
            groups = tuple(key for key in groups if columns_of(key))
        items: list[syntax.Item] = []
        for item in query.items:
            if isinstance(item.expression, syntax.AllColumns):
                found = columns_of_star(item.expression, self.scope.entries)
                names = dict.fromkeys(whole_name(name) for _, name in found)
                items += [
                    instead_of(item.expression, n)
                    or replace(item, expression=syntax.Name((n.lower(),), n), alias=n, text=n)
                    for n in names
                ]
            else:
                items.append(item)
        over = Resolver(self._lookup, self.parameters)
        pairs = [(item, output) for item in items for output in self._outputs(item, over)]
        outputs = tuple(output for _, output in pairs)
        groups = self._distinct(outputs) if query.distinct else groups
        named = {item.alias.lower(): o.expression for item, o in pairs if item.alias and o.element is None}
        single = not groups and query.having is None and not any(aggregates_in(o.expression) for o in outputs)

        def column(node: syntax.Expr) -> Expression | None:
            found = self._plain(node)
            return found if found is None or single or _loose(found, groups) is None else None

        after = Resolver(lambda n: within(n, named, column) or self._lookup(n), self.parameters)
        having = None if query.having is None else after.boolean(after.resolve(query.having), query.having)
        refuse_after_having(having, query)
        order = tuple(
            Order(alone or after.resolve(t.expression), t.descending, t.nulls_first)
            for t in query.order_by
            for alone in [numbered(t.expression, outputs) or of_the_list(t.expression, named)]
        )
        parts = [(o.expression, o.name, item.position) for item, o in pairs]
        parts += [] if having is None else [(having, "HAVING", query.position)]
        parts += [(term.expression, "ORDER BY", query.position) for term in order]
        aggregated = bool(groups) or having is not None or any(aggregates_in(expression) for expression, *_ in parts)
        if aggregated:
            _check_grouped(parts, groups)
        return Stage(
            outputs, where, groups, having, order, row_count(query.limit, "LIMIT", plain),
            row_count(query.offset, "OFFSET", plain) or 0, aggregated,
        )  # fmt: skip

    def _distinct(self, outputs: Sequence[Output]) -> tuple[Expression, ...]:
        """What DISTINCT groups by: all columns, where none is made of several rows."""
        query, chosen = self.query, tuple(dict.fromkeys(output.expression for output in outputs))
        if query.group_by or query.having is not None or any(map(_of_rows, chosen)):
            raise UnsupportedQuery(
                "over public values DISTINCT takes plain columns.", construct="SELECT", position=query.position,
                hint="Write GROUP BY, or SELECT DISTINCT over a sub-query.",
            )  # fmt: skip
        return chosen

    def _outputs(self, item: syntax.Item, over: Resolver) -> list[Output]:
        """The columns of one entry of the select list: one, or one for each element of a list."""
        elements = self._lists().elements(item.expression)
        if elements is None:
            return [Output(item.name, over.resolve(item.expression))]
        return [Output(item.name, over.resolve(own), element=place) for place, own in enumerate(elements)]

    def _lists(self) -> Lists:
        return Lists(self.scope, Resolver(lambda _: None, self.parameters), self.query.items)

    def _plain(self, node: syntax.Expr) -> Expression | None:
        """What a node is over one row."""
        if (element := self._lists().read(node)) is not None:
            return Resolver(self._plain, self.parameters).resolve(element)
        if isinstance(node, syntax.Name):
            return self.scope.find(node)
        return self._total(node.query) if isinstance(node, syntax.ScalarQuery) and self.answer else None

    def _total(self, query: syntax.Queryable) -> Expression:
        """A sub-query as a value: aggregates over the answer that FROM reads; always one row, so it cannot fail."""
        outer, own = self.query.source, query.source if isinstance(query, syntax.Select) else None
        named = isinstance(outer, syntax.TableName) and isinstance(own, syntax.TableName) and outer.name == own.name
        total = self._totalled(query) if named and query == _one_value(query) else None
        if total is not None:
            return total
        name = ".".join(outer.name) if isinstance(outer, syntax.TableName) else "a"
        raise UnsupportedQuery(
            "as a value it is arithmetic over aggregates of the answer that FROM reads.", construct="scalar sub-query",
            position=query.position, hint=f"Write (SELECT SUM(n) FROM {name}), with WHERE if need be.",
        )  # fmt: skip

    def _totalled(self, query: syntax.Queryable) -> Expression | None:
        """The value of such a sub-query; None where it is no arithmetic over aggregates."""
        if not isinstance(query, syntax.Select) or not isinstance(query.source, syntax.TableName):
            return None
        entry = replace(self.scope.entries[0], alias=query.source.alias or query.source.name[-1])
        inner = _Stage(query, Scope((entry,)), self.parameters, answer=False)
        plain = Resolver(inner._plain, self.parameters)
        where = None if query.where is None else plain.boolean(plain.resolve(query.where), query.where)
        return _totals(Resolver(inner._lookup, self.parameters).resolve(query.items[0].expression), where)

    def _lookup(self, node: syntax.Expr) -> Expression | None:
        if (plain := self._plain(node)) is not None:
            return plain
        if isinstance(node, syntax.Call) and node.name in CALLS:
            return self._aggregate(node)
        if isinstance(node, syntax.Call) and node.name in CHOOSING:
            raise UnsupportedQuery(
                "over answers and public tables a row is not chosen by an aggregate.", construct=node.name,
                position=node.position,
                hint="Write ORDER BY n DESC LIMIT 1; over an answer, for one of each group, "
                "QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC) = 1.",
            )  # fmt: skip
        return windowed(node, Resolver(self._lookup, self.parameters)) if isinstance(node, syntax.Window) else None

    def _aggregate(self, node: syntax.Call) -> Expression:
        node = of_one_value(node)
        if node.where is not None:
            return self._aggregate(where_as_case(node, node.where))
        if CALLS[node.name].takes is Takes.COUNT_IF and len(node.arguments) == 1 and not node.distinct:
            counted = where_as_case(replace(node, name="count", arguments=(), star=True), node.arguments[0])
            return self._aggregate(counted)
        name = CALLS[node.name].function if CALLS[node.name].plain else node.name
        if name not in AGGREGATES:
            raise UnsupportedQuery(
                "over answers and public tables there are COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR and STDDEV.",
                construct=node.name.upper(), position=node.position,
                hint=WHETHER.get(CALLS[node.name].takes, PLACED),
            )  # fmt: skip
        distinct = node.distinct and node.name == "count" and bool(node.arguments)
        if node.distinct > distinct or node.order or node.named or len(node.arguments) > 1:
            raise UnsupportedQuery(
                "over public values it takes one plain argument.", construct=node.name.upper(),
                position=node.position, hint=f"Write {node.name.upper()}(x).",
            )  # fmt: skip
        if node.star or not node.arguments:
            return Apply(COUNT_ROWS, (), Facts(Type.INTEGER, nullable=False, step=Fraction(1)))
        plain = Resolver(self._plain, self.parameters)
        argument = plain.resolve(node.arguments[0])
        if argument.facts.type is Type.BOOLEAN and CALLS[node.name].takes is Takes.NUMBER_OR_TRUTH:
            argument = plain.apply("cast:integer", (argument,), node.position)
        functions = COUNT_DISTINCT if distinct else AGGREGATES[name]
        if len(functions) == 1:  # of reals, which whole numbers are, too
            argument = converted(argument, *functions[0].parameters) or argument
        for function in functions:
            if function.parameters == (argument.facts.type,):
                return Apply(function, (argument,), Facts(function.result))
        raise UnsupportedQuery(
            f"it does not take {argument.facts.type.value}.", construct=node.name.upper(), position=node.position,
            hint="Name a numeric column.",
        )  # fmt: skip


def _check_grouped(parts: Sequence[tuple[Expression, str, syntax.Position]], groups: tuple[Expression, ...]) -> None:
    """Every part is made of groups and aggregates.

    Args:
        parts: What is selected, tested and ordered by; each with its name and position.
        groups: What the rows are grouped by.

    Raises:
        UnsupportedQuery: Naming the first that is not.
    """
    for expression, name, position in parts:
        if _loose(expression, groups) is not None:
            raise UnsupportedQuery(
                "it is neither grouped by nor aggregated.", construct=name, position=position,
                hint="Add it to GROUP BY; a condition on single rows belongs into WHERE.",
            )  # fmt: skip


def _one_value(query: syntax.Queryable) -> syntax.Queryable:
    """The query without what would make its rows none or several, or another's."""
    if isinstance(query, syntax.Union):
        return query.left
    return syntax.Select(query.items[:1], query.source, query.where)


def _totals(expression: Expression, where: Expression | None) -> Expression | None:
    """Arithmetic over aggregates, each read off all rows of the answer; None for anything else."""
    match expression:
        case Apply(function=function, arguments=arguments) if is_aggregate(expression):
            return Total(function, arguments, where, expression.facts)
        case Apply(arguments=arguments):
            parts = [total for part in arguments if (total := _totals(part, where)) is not None]
            return replace(expression, arguments=tuple(parts)) if len(parts) == len(arguments) else None
        case Constant():
            return expression
    return None


def is_aggregate(expression: Expression) -> bool:
    """Whether an expression is one of `AGGREGATES` over public or released values."""
    return isinstance(expression, Apply) and (
        expression.function is COUNT_ROWS
        or expression.function in COUNT_DISTINCT
        or expression.function in AGGREGATES.get(expression.function.name, ())
    )


def aggregates_in(expression: Expression) -> list[Apply]:
    """Every aggregate of an expression over released values."""
    if isinstance(expression, Apply) and is_aggregate(expression):
        return [expression]
    return [own for argument in arguments_of(expression) for own in aggregates_in(argument)]


def _of_rows(expression: Expression) -> bool:
    """Whether it is made of several rows."""
    own = is_aggregate(expression) or isinstance(expression, Windowed | Total)
    return own or any(map(_of_rows, arguments_of(expression)))


def _loose(expression: Expression, groups: tuple[Expression, ...]) -> Column | None:
    """A column that is neither inside an aggregate nor part of what is grouped by."""
    if expression in groups or is_aggregate(expression):
        return None
    if isinstance(expression, Column):
        return expression
    if isinstance(expression, Total):
        return None
    return next((c for part in arguments_of(expression) if (c := _loose(part, groups)) is not None), None)
