"""From syntax to a `Plan`: what is measured per group, and what happens to the released values afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.plan import syntax
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.domains import Evaluate, domain_of
from dpsql.plan.expressions import Resolver, columns_of, nearest
from dpsql.plan.naming import column_name
from dpsql.plan.nodes import Aggregate, Column, Expression, Filter, Key, Order, Output, Plan, Relation
from dpsql.plan.relations import Scope, plan_rows, private_scans, refuse_unit
from dpsql.plan.types import Facts, Type, Value

__all__ = ["RELEASED", "resolve_query"]

RELEASED = "released"  # alias of the table of released values
AGGREGATES = ("count", "sum", "avg", "mean")
LATER = {
    "min": "MIN", "max": "MAX", "median": "MEDIAN", "quantile_cont": "QUANTILE_CONT", "stddev": "STDDEV",
    "variance": "VARIANCE", "var_pop": "VAR_POP", "var_samp": "VAR_SAMP", "mode": "MODE", "string_agg": "STRING_AGG",
    "list": "LIST", "array_agg": "ARRAY_AGG", "any_value": "ANY_VALUE", "first": "FIRST", "last": "LAST",
    "stddev_pop": "STDDEV_POP", "stddev_samp": "STDDEV_SAMP", "quantile": "QUANTILE", "quantile_disc": "QUANTILE_DISC",
    "corr": "CORR", "covar_pop": "COVAR_POP", "arg_max": "ARG_MAX", "arg_min": "ARG_MIN", "product": "PRODUCT",
    "approx_count_distinct": "APPROX_COUNT_DISTINCT", "count_if": "COUNT_IF", "bool_or": "BOOL_OR",
    "bool_and": "BOOL_AND",
}  # fmt: skip


def resolve_query(query: syntax.Queryable, catalog: Catalog, parameters: tuple[Value, ...], evaluate: Evaluate) -> Plan:
    """The plan of one SELECT over private tables.

    Args:
        query: The statement's syntax.
        catalog: Tables, columns and their facts.
        parameters: Values of ``?``.
        evaluate: Runs expressions over public values, to derive the domains of keys.

    Raises:
        UnsupportedQuery: With construct, position and what to write instead.
    """
    if isinstance(query, syntax.Union):
        raise UnsupportedQuery(
            "set operations are not supported.",
            construct="UNION",
            position=query.position,
            hint="Ask one SELECT at a time.",
        )
    for given, construct, hint in (
        (query.ctes, "WITH", "Write one SELECT over the tables themselves."),
        (query.distinct, "SELECT DISTINCT", "GROUP BY the columns instead."),
        (isinstance(query.group_by, syntax.GroupingSets), "GROUPING SETS", "Ask one GROUP BY at a time."),
    ):
        if given:
            raise UnsupportedQuery("this is not supported.", construct=construct, position=query.position, hint=hint)
    _refuse_rows(query, catalog)
    relation, scope = plan_rows(query, catalog, parameters)
    if not private_scans(relation):
        raise UnsupportedQuery(
            "every table in FROM is public.", construct="SELECT", position=query.position,
            hint="Public tables may be joined to private ones.",
        )  # fmt: skip
    return _Statement(query, catalog, parameters, evaluate, relation, scope).plan()


def _refuse_rows(query: syntax.Select, catalog: Catalog) -> None:
    """The friendly answer to ``SELECT * FROM visits LIMIT 5``: what can be asked instead."""
    for item in query.items:
        if isinstance(item.expression, syntax.Star):
            table = query.source.name[-1] if isinstance(query.source, syntax.TableName) else None
            known = next((t for name, t in catalog.tables.items() if name.lower() == (table or "").lower()), None)
            names = [name for name, info in known.columns.items() if not info.unit] if known else []
            example = _example(known) if known else "SELECT COUNT(*) FROM ..."
            raise UnsupportedQuery(
                "single rows of people are never shown.", construct="SELECT *", position=item.position,
                hint=(f"{table} has the columns {', '.join(names)} (DESCRIBE {table} tells more). " if names else "")
                + f"Ask for aggregates: {example}",
            )  # fmt: skip


def _example(table: TableInfo) -> str:
    """A question that a table can answer."""
    columns = [info for info in table.columns.values() if not info.unit]
    listed = next((info.name for info in columns if info.values is not None), None)
    number = next((info.name for info in columns if info.facts.type.numeric and info.facts.bounded), None)
    asked = f"COUNT(*), AVG({number})" if number else "COUNT(*)"
    return (
        f"SELECT {listed}, {asked} FROM {table.name} GROUP BY {listed}"
        if listed
        else f"SELECT {asked} FROM {table.name}"
    )


@dataclass(slots=True)
class _Statement:
    """One SELECT while it is resolved; aggregates are collected as they are met."""

    query: syntax.Select
    catalog: Catalog
    parameters: tuple[Value, ...]
    evaluate: Evaluate
    relation: Relation
    scope: Scope
    keys: list[Key] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)

    def plan(self) -> Plan:
        query = self.query
        self._group()
        outputs = tuple(Output(item.name, self._released(item.expression, item)) for item in query.items)
        named = {
            item.alias.lower(): output.expression
            for item, output in zip(query.items, outputs, strict=True)
            if item.alias
        }
        having = None
        if query.having is not None:
            having = self._resolver(named).boolean(self._resolver(named).resolve(query.having), query.having)
        order = tuple(self._order(term, outputs, named) for term in query.order_by)
        if not self.aggregates:
            raise UnsupportedQuery(
                "the answer has no aggregate, so it would show rows or the mere presence of people.",
                construct="SELECT", position=query.position, hint="Add COUNT(*), SUM(x) or AVG(x).",
            )  # fmt: skip
        return Plan(
            relation=self.relation,
            keys=tuple(self.keys),
            aggregates=tuple(self.aggregates),
            outputs=outputs,
            having=having,
            order_by=order,
            limit=self._count(query.limit, "LIMIT"),
            offset=self._count(query.offset, "OFFSET") or 0,
            options=self._options(),
        )

    # ---- rows -------------------------------------------------------------------------------------------------

    def _rows(self, node: syntax.Expr) -> Expression:
        """An expression over one row."""
        return Resolver(lambda n: self.scope.find(n) if isinstance(n, syntax.Name) else None, self.parameters).resolve(
            node
        )

    def _group(self) -> None:
        group_by = self.query.group_by
        nodes: list[syntax.Expr]
        if isinstance(group_by, syntax.GroupingSets):
            raise InvariantBroken("grouping sets were refused before")
        if isinstance(group_by, syntax.GroupAll):
            nodes = [item.expression for item in self.query.items if not _holds_aggregate(item.expression)]
        else:
            nodes = [self._named_item(node) for node in group_by]
        predicates = _predicates(self.relation)
        for node in nodes:
            expression = self._rows(node)
            refuse_unit(expression, "GROUP BY", node.position)
            if any(key.expression == expression for key in self.keys):
                continue
            domain = domain_of(expression, predicates, self.evaluate)
            self.keys.append(Key(f"k{len(self.keys)}", expression, domain))

    def _named_item(self, node: syntax.Expr) -> syntax.Expr:
        """What an ordinal or an output alias in GROUP BY stands for."""
        items = self.query.items
        if isinstance(node, syntax.Literal) and isinstance(node.value, int) and not isinstance(node.value, bool):
            return items[self._ordinal(node.value, node)].expression
        if isinstance(node, syntax.Name) and len(node.parts) == 1:
            own = any(node.parts[0] == name.lower() for _, scan in self.scope.tables for name in scan.table.columns)
            for item in items:
                if not own and item.alias is not None and item.alias.lower() == node.parts[0]:
                    return item.expression
        return node

    def _ordinal(self, number: int, node: syntax.Expr) -> int:
        if not 1 <= number <= len(self.query.items):
            raise UnsupportedQuery(
                f"there is no column {number}.", construct=str(number), position=node.position,
                hint=f"The select list has {len(self.query.items)}.",
            )  # fmt: skip
        return number - 1

    # ---- released values --------------------------------------------------------------------------------------

    def _resolver(self, named: dict[str, Expression] | None = None) -> Resolver:
        def lookup(node: syntax.Expr) -> Expression | None:
            if named and isinstance(node, syntax.Name) and len(node.parts) == 1 and node.parts[0] in named:
                return named[node.parts[0]]
            return self._measured(node)

        return Resolver(lookup, self.parameters)

    def _released(self, node: syntax.Expr, item: syntax.Item) -> Expression:
        """An output column: arithmetic over keys and aggregates."""
        return self._resolver().resolve(node)

    def _measured(self, node: syntax.Expr) -> Expression | None:
        """A key or an aggregate as a released column; None for anything in between."""
        if isinstance(node, syntax.Call) and (node.name in AGGREGATES or node.name in LATER):
            return self._aggregate(node)
        if isinstance(node, syntax.Literal | syntax.Parameter | syntax.IntervalLiteral | syntax.Star):
            return None
        if isinstance(node, syntax.Name) or not _holds_aggregate(node):
            expression = None
            try:
                expression = self._rows(node)
            except UnsupportedQuery:
                if isinstance(node, syntax.Name):
                    raise
            for key in self.keys:
                if expression is not None and key.expression == expression:
                    return Column(RELEASED, key.name, _key_facts(key))
            if isinstance(node, syntax.Name):
                refuse_unit(self._rows(node), "the answer", node.position)
                raise UnsupportedQuery(
                    "it is neither grouped by nor aggregated.", construct=".".join(node.parts), position=node.position,
                    hint=f"Add it to GROUP BY, or write an aggregate such as AVG({'.'.join(node.parts)}).",
                )  # fmt: skip
        return None

    def _aggregate(self, node: syntax.Call) -> Expression:
        function, argument = self._function_and_argument(node)
        if argument is not None:
            refuse_unit(argument, node.name.upper(), node.position)
            if function in ("sum", "avg"):
                argument = self._numeric(argument, node)
            if not columns_of(argument) and function != "count":
                raise UnsupportedQuery(
                    "it aggregates a constant.", construct=node.name.upper(), position=node.position,
                    hint="Name a column, or multiply COUNT(*) by the constant.",
                )  # fmt: skip
        epsilon = self._own_epsilon(node)
        for known in self.aggregates:
            if (known.function, known.argument, known.epsilon) == (function, argument, epsilon):
                return _released_aggregate(known)
        aggregate = Aggregate(
            f"a{len(self.aggregates)}", function, argument, _spelled(node), epsilon, position=node.position
        )
        self.aggregates.append(aggregate)
        return _released_aggregate(aggregate)

    def _function_and_argument(self, node: syntax.Call) -> tuple[str, Expression | None]:
        name = node.name
        if name in LATER:
            raise UnsupportedQuery(
                "this aggregate is not supported.", construct=LATER[name], position=node.position,
                hint="COUNT, COUNT(DISTINCT unit), SUM and AVG are.",
            )  # fmt: skip
        if node.where is not None or node.order:
            raise UnsupportedQuery(
                "FILTER and ORDER BY inside an aggregate are not supported.", construct=name.upper(),
                position=node.position,
                hint="Write SUM(CASE WHEN condition THEN x ELSE 0 END).",
            )  # fmt: skip
        if name == "count" and (node.star or not node.arguments):
            if node.distinct:
                raise UnsupportedQuery(
                    "DISTINCT needs a column.", construct="COUNT", position=node.position, hint="Write COUNT(*)."
                )
            return "count_rows", None
        if node.star or len(node.arguments) != 1:
            raise UnsupportedQuery(
                "it takes one argument.",
                construct=name.upper(),
                position=node.position,
                hint=f"Write {name.upper()}(x).",
            )
        argument = self._rows(node.arguments[0])
        if node.distinct:
            if name == "count" and isinstance(argument, Column) and argument.unit:
                return "count_units", None
            unit = private_scans(self.relation)[0].table.unit
            raise UnsupportedQuery(
                "DISTINCT is supported for the privacy unit alone.", construct=f"{name.upper()}(DISTINCT ...)",
                position=node.position, hint=f"Write COUNT(DISTINCT {unit}), or GROUP BY the column.",
            )  # fmt: skip
        if name == "count" and isinstance(argument, Column) and argument.unit:
            return "count_rows", None  # the unit is never NULL in a bounded view
        return {"mean": "avg"}.get(name, name), argument

    def _numeric(self, argument: Expression, node: syntax.Call) -> Expression:
        if argument.facts.type is Type.BOOLEAN:
            return Resolver(lambda _: None, ()).apply("cast:integer", (argument,), node.position)
        if not argument.facts.type.numeric:
            raise UnsupportedQuery(
                f"it needs numbers, not {argument.facts.type.value}.", construct=node.name.upper(),
                position=node.position,
                hint="Name a numeric column or expression.",
            )  # fmt: skip
        return argument

    def _own_epsilon(self, node: syntax.Call) -> Fraction | None:
        epsilon = None
        for name, value in node.named:
            if name != "epsilon":
                raise UnsupportedQuery(
                    "this named argument is not supported.", construct=f"{name} =>",
                    position=value.position or node.position,
                    hint=nearest(name, ["epsilon"]) or "epsilon => is.",
                )  # fmt: skip
            number = self._resolver().constant(value, "epsilon")
            if isinstance(number, bool) or not isinstance(number, int | float | Decimal) or not 0 < number < 10**6:
                raise UnsupportedQuery(
                    "it must be a number above 0.", construct="epsilon =>", position=value.position or node.position,
                    hint="Write epsilon => 0.1.",
                )  # fmt: skip
            epsilon = Fraction(number)
        return epsilon

    # ---- afterwards -------------------------------------------------------------------------------------------

    def _order(self, term: syntax.Order, outputs: tuple[Output, ...], named: dict[str, Expression]) -> Order:
        node = term.expression
        if isinstance(node, syntax.Literal) and isinstance(node.value, int) and not isinstance(node.value, bool):
            expression = outputs[self._ordinal(node.value, node)].expression
        else:
            expression = self._resolver(named).resolve(node)
        return Order(expression, term.descending, term.nulls_first)

    def _count(self, value: int | syntax.Parameter | None, construct: str) -> int | None:
        if isinstance(value, syntax.Parameter):
            number = self._resolver().constant(value, construct)
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
                raise UnsupportedQuery(
                    "it must be a whole number.", construct=construct, position=value.position, hint="Pass an integer."
                )
            return number
        return value

    def _options(self) -> tuple[tuple[str, Value], ...]:
        given: dict[str, Value] = {}
        for name, node in self.query.options or ():
            if name in given:
                raise UnsupportedQuery(
                    "the option is given twice.", construct=name, position=node.position, hint="Keep one of them."
                )
            if isinstance(node, syntax.Name):
                given[name] = node.spelling or node.parts[-1]
            else:
                given[name] = self._resolver().constant(node, f"option {name}")
        return tuple(given.items())


def _predicates(relation: Relation) -> list[Expression]:
    """Conditions that hold for every row of a relation."""
    predicates = []
    while isinstance(relation, Filter):
        predicates.append(relation.predicate)
        relation = relation.input
    return predicates


def _holds_aggregate(node: syntax.Expr) -> bool:
    match node:
        case syntax.Call():
            return node.name in AGGREGATES or node.name in LATER or any(map(_holds_aggregate, node.arguments))
        case syntax.Case():
            parts = [part for branch in node.branches for part in branch] + [
                p for p in (node.operand, node.default) if p
            ]
            return any(map(_holds_aggregate, parts))
        case syntax.Cast():
            return _holds_aggregate(node.operand)
        case syntax.InList():
            return any(map(_holds_aggregate, (node.operand, *node.values)))
        case _:
            return False


def _key_facts(key: Key) -> Facts:
    facts = key.expression.facts
    return Facts(facts.type, facts.low, facts.high, nullable=key.domain is None or None in key.domain, step=facts.step)


def _released_aggregate(aggregate: Aggregate) -> Column:
    whole = aggregate.function.startswith("count") or (
        aggregate.function == "sum" and aggregate.argument is not None and aggregate.argument.facts.type is Type.INTEGER
    )
    facts = Facts(Type.INTEGER if whole else Type.REAL, nullable=False, step=Fraction(1) if whole else None)
    return Column(RELEASED, aggregate.name, facts)


def _spelled(node: syntax.Call) -> str:
    """The aggregate as a person would write it, for messages and plans: AVG(cost), COUNT(*)."""
    name = node.name.upper()
    if node.star or not node.arguments:
        return f"{name}(*)"
    argument = node.arguments[0]
    inner = ".".join(argument.parts) if isinstance(argument, syntax.Name) else column_name(argument)
    return f"{name}({'DISTINCT ' if node.distinct else ''}{inner})"
