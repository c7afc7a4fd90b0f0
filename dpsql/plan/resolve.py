"""From syntax to a `Plan`: what is measured per group, and what happens to the released values afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS, FUNCTIONS, Kind, Takes
from dpsql.plan.catalog import Catalog
from dpsql.plan.known.conditions import holds_aggregate
from dpsql.plan.known.relations import conjuncts, is_public, predicates
from dpsql.plan.known.scope import Scope, ScopeEntry, identifying
from dpsql.plan.known.single_rows import refuse_single_rows
from dpsql.plan.known.stars import refuse_twice
from dpsql.plan.measured.aggregate_calls import AggregateReader, Asked, without_report
from dpsql.plan.measured.combined import Combinations, combined, unread
from dpsql.plan.measured.dated import with_ends_of_dates
from dpsql.plan.measured.domains import Evaluate, domain_of
from dpsql.plan.measured.lists import Lists, numbered
from dpsql.plan.measured.over_all import with_windows_aggregated
from dpsql.plan.nodes import Aggregate, Column, Expression, Order, Relation
from dpsql.plan.one_order import in_one_order
from dpsql.plan.options import options_of
from dpsql.plan.over_answers.awaited import Awaiting
from dpsql.plan.over_answers.beside import ValueBeside, beside_values
from dpsql.plan.over_answers.grouping import CALLED, grouping, listed_rows, sets_written
from dpsql.plan.over_answers.interval_ends import INTERVAL_ENDS, interval_end, reads_ends
from dpsql.plan.over_answers.kept_order import with_order_kept
from dpsql.plan.over_answers.own_values import with_own_values
from dpsql.plan.over_answers.several import MixesPeople, asked_in, of_select, of_union
from dpsql.plan.over_answers.stages import RELEASED, plan_stage, released_names, row_count
from dpsql.plan.over_answers.work import refuse_heavy
from dpsql.plan.over_answers.wrapped import cut_to, described_alone, wrapped
from dpsql.plan.pivots import with_values_listed
from dpsql.plan.plans import AnyPlan, Key, Output, Plan, PublicPlan, Several, deciding
from dpsql.plan.public_groups import refuse_other_keys, with_public_groups
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.rows.lateral import of_the_list, with_names_read, within
from dpsql.plan.rows.per_unit import group_nodes, plan_per_unit
from dpsql.plan.rows.sub_queries import CutInside, ReleasesInside
from dpsql.plan.rows.windows import NamesPeople, over_groups, refuse_after_having, refuse_over_rows
from dpsql.plan.table_functions import plan_table_function
from dpsql.plan.types import Facts, Passed, Type
from dpsql.plan.values.applied import NoSuchValue
from dpsql.plan.values.conversions import as_null
from dpsql.plan.values.expressions import Resolver, as_constant
from dpsql.plan.values.geometric import taken_back
from dpsql.plan.values.partners import WrongAnswer
from dpsql.plan.values.ranges import uncut
from dpsql.sql import syntax
from dpsql.sql.naming import as_written, column_name
from dpsql.sql.qualify import KEPT

__all__ = ["resolve_query"]


def resolve_query(
    query: syntax.Queryable, catalog: Catalog, parameters: tuple[Passed, ...], evaluate: Evaluate,
    combinations: Combinations = unread,
) -> AnyPlan:  # fmt: skip
    """The plan of one query.

    Args:
        query: The statement's syntax.
        catalog: Tables, columns and their facts.
        parameters: Values of ``?``.
        evaluate: Runs expressions over public values, to derive the domains of keys.
        combinations: Reads which values of public tables stand together.

    Raises:
        UnsupportedQuery: With construct, position and what to write instead.
    """
    plan = _resolve(
        described_alone(with_own_values(query)), Rows(catalog, parameters, plan_per_unit, {}, combinations), evaluate
    )
    refuse_heavy(plan, query.position, catalog)
    return plan


def _resolve(query: syntax.Queryable, rows: Rows, evaluate: Evaluate) -> AnyPlan:
    def again(inner: syntax.Queryable, own: Rows) -> AnyPlan:
        return _resolve(inner, own, evaluate)

    if isinstance(query, syntax.Union):
        return of_union(query, rows, again, evaluate)
    refuse_single_rows(query, rows.catalog)
    inner = rows.within(query)
    query = with_values_listed(query, inner, evaluate, partial(_only_answer, query.source, inner, evaluate))
    if (inner_query := wrapped(query)) is not None:
        return cut_to(_resolve(inner_query, inner, evaluate), query, rows)
    if isinstance(query.source, syntax.TableFunctionCall):
        plan = plan_table_function(query, query.source, inner)
        return replace(plan, options=options_of(query, Resolver(lambda _: None, rows.parameters)))
    if query.source is None and asked_in(query):
        if not any(isinstance(node, syntax.ScalarQuery) for node in asked_in(query)):
            raise UnsupportedQuery(
                "IN and EXISTS pick rows, and there are none.", construct="FROM", position=query.position,
                hint="Name a table in FROM. Whether there are rows: SELECT COUNT(*) > 0 FROM t WHERE ..",
            )  # fmt: skip
        return of_select(query, inner, again, evaluate)
    waiting = Awaiting(again)
    asking = replace(inner, awaited=waiting.value)
    try:
        listed, lists = with_public_groups(query, asking)
        relation, scope = asking.plan(listed)
        if waiting.plans and is_public(relation):
            return of_select(query, inner, again, evaluate)
    except ReleasesInside as inside:
        source = _only_query(query.source, inner)
        alone = all(isinstance(own, syntax.ScalarQuery) and _reads(own, query.source) for own in asked_in(query))
        try:
            if source is not None and alone and (over := _over_released(query, *source, evaluate)) is not None:
                return over
            return of_select(query, inner, again, evaluate)
        except MixesPeople:
            raise inside from None
        except UnsupportedQuery as refusal:
            if isinstance(inside, CutInside) and not isinstance(refusal, WrongAnswer):  # no answer came of it
                raise inside from None
            raise
    query = asked = with_names_read(listed, scope)
    if (numbers := Lists(scope, rows.resolver(scope), ()).lengths_alone(query)) is not None:
        return _resolve(numbers, rows, evaluate)
    if is_public(relation):
        return PublicPlan(relation, plan_stage(replace(query, where=None), scope, rows.parameters))
    query = with_windows_aggregated(query)
    if not query.group_by and not any(holds_aggregate(item.expression) for item in query.items):
        refuse_over_rows(query, relation)
    try:
        plan = _Statement(query, asking, evaluate, relation, scope, lists).plan()
    except ValueBeside:
        return of_select(beside_values(asked), inner, again, evaluate)
    return replace(plan, awaits=tuple(waiting.plans))


def _only_answer(source: syntax.Relation | None, rows: Rows, evaluate: Evaluate) -> AnyPlan | None:
    """The plan of the one sub-query that FROM consists of; None for anything else."""
    return None if (only := _only_query(source, rows)) is None else _resolve(only[0], only[2], evaluate)


def _only_query(source: syntax.Relation | None, rows: Rows) -> tuple[syntax.Queryable, str, Rows] | None:
    """The one sub-query that FROM consists of, its name, and where it is planned; None for anything else."""
    if isinstance(source, syntax.Derived):
        return source.query, source.alias or "sub-query", rows
    if isinstance(source, syntax.TableName) and len(source.name) == 1 and source.name[0].lower() in rows.ctes:
        name = source.name[0].lower()
        inner = {other: query for other, query in rows.ctes.items() if other != name}
        return rows.ctes[name], source.alias or name, replace(rows, ctes=inner)
    return None


def _reads(value: syntax.ScalarQuery, source: syntax.Relation | None) -> bool:
    """Whether a sub-query as a value reads the same answer as FROM, by its name."""
    own = value.query.source if isinstance(value.query, syntax.Select) else None
    return isinstance(own, syntax.TableName) and isinstance(source, syntax.TableName) and own.name == source.name


def _over_released(
    query: syntax.Select, inner: syntax.Queryable, alias: str, rows: Rows, evaluate: Evaluate
) -> Plan | Several | None:
    """A SELECT over the released answer of another, at no further cost; None where it reads the ends of intervals."""
    plan = _resolve(inner, replace(rows, aliases=count()), evaluate)  # named as alone, so that it is the same release
    if isinstance(plan, PublicPlan):
        raise UnsupportedQuery(
            "aggregates of public tables inside a sub-query are not supported.", construct="sub-query",
            position=query.position, hint="Ask it by itself.",
        )  # fmt: skip
    if any(output.report for output in plan.answer):
        raise UnsupportedQuery(
            "a report is a text for its reader.", construct="report_format", position=query.position,
            hint="Leave report_format out of the inner query, and name it in the outermost.",
        )  # fmt: skip
    if alias == KEPT:
        refuse_twice([output.name for output in plan.answer if output.element is None], query.position)
    scope, named = Scope((ScopeEntry(alias, released_names(plan)),)), isinstance(query.source, syntax.TableName)
    stage = with_order_kept(plan_stage(query, scope, rows.parameters, answer=named), plan, query.position)
    options = options_of(query, Resolver(lambda _: None, rows.parameters))
    if options and (isinstance(plan, Several) or plan.options):
        raise UnsupportedQuery(
            "the SELECT that it asks has options of its own, and here is nothing to pay for.", construct="OPTIONS",
            position=query.position, hint="Keep the options of one of them.",
        )  # fmt: skip
    if isinstance(plan, Several):
        return plan.then(stage)
    if reads_ends(stage, plan):  # they are worked out beside the rows: only whole answers have them
        return None
    return replace(plan, stages=(*plan.stages, stage), options=options or plan.options)


@dataclass(slots=True)
class _Statement:
    """One SELECT while it is resolved; aggregates are collected as they are met."""

    query: syntax.Select
    rows: Rows
    evaluate: Evaluate
    relation: Relation
    scope: Scope
    lists: int  # how many of the first tables are a public side whose rows are the groups
    keys: list[Key] = field(default_factory=list)
    aggregates: list[Aggregate] = field(default_factory=list)
    sets: tuple[tuple[int, ...], ...] | None = None
    repeats: tuple[int, ...] = ()

    def plan(self) -> Plan:
        query = self.query
        self.sets, self.repeats = self._group()
        refuse_other_keys(self.keys, self.scope, self.lists, query)
        if query.distinct and not any(holds_aggregate(item.expression) for item in query.items):
            self._distinct()
        pairs = [(item, output) for item in query.items for output in self._outputs(item)]
        outputs = with_ends_of_dates([output for _, output in pairs])
        plain = [(item, output) for item, output in pairs if not output.end and output.element is None]
        named = {item.alias.lower(): output.expression for item, output in plain if item.alias}
        having = None
        if query.having is not None:
            having = self._resolver(named).boolean(self._resolver(named).resolve(query.having), query.having)
            refuse_after_having(having, query)
        order = tuple(self._order(term, outputs, named) for term in query.order_by)
        if not self.aggregates and not query.distinct and not any(key.domain is None for key in self.keys):
            raise UnsupportedQuery(
                "the answer has no aggregate, so it would show rows or the mere presence of people.",
                construct="SELECT", position=query.position, hint="Add COUNT(*), SUM(x) or AVG(x).",
            )  # fmt: skip
        plan = Plan(
            relation=self.relation,
            keys=tuple(self.keys),
            aggregates=tuple(self.aggregates),
            outputs=tuple(outputs),
            having=having,
            order_by=order if self.sets else deciding(order, self.keys),
            limit=row_count(query.limit, "LIMIT", self._resolver()),
            offset=row_count(query.offset, "OFFSET", self._resolver()) or 0,
            options=options_of(query, self._resolver()),
            sets=self.sets,
            repeats=self.repeats,
        )
        plan = in_one_order(plan)
        return replace(plan, combined=combined(self.relation, plan.keys, self.rows.combinations, self.evaluate))

    # ---- keys -------------------------------------------------------------------------------------------------

    def _distinct(self) -> None:
        """SELECT DISTINCT of an open domain: the values that enough people share."""
        self._keys([item.expression for item in self.query.items])
        if all(key.domain is not None for key in self.keys):
            raise UnsupportedQuery(
                "its values are declared, whether they occur or not.", construct="SELECT DISTINCT",
                position=self.query.position, hint="DESCRIBE table.column lists them; COUNT(*) tells how often.",
            )  # fmt: skip

    def _group(self) -> tuple[tuple[tuple[int, ...], ...] | None, tuple[int, ...]]:
        group_by = self.query.group_by
        self._keys(group_nodes(self.query, self.scope))
        if not isinstance(group_by, syntax.GroupingSets):
            return None, ()
        resolver = self.rows.resolver(self.scope)
        self.relation = listed_rows(self.relation, self.keys, resolver, self.query.position)
        return sets_written(group_by, self.query, self.keys, self.scope, resolver)

    def _keys(self, nodes: list[syntax.Expr]) -> None:
        resolver = self.rows.resolver(self.scope)
        known = [part for predicate in predicates(self.relation) for part in conjuncts(predicate)]
        for node in nodes:
            expression = resolver.resolve(node)
            held = identifying(expression)
            if held is not None:
                raise UnsupportedQuery(
                    "grouping the answer by the privacy unit or a key would show every person.", construct=held.shown,
                    position=node.position, hint=f"Count people with COUNT(DISTINCT {held.shown}), or group by it "
                    "in a sub-query and aggregate its result.",
                )  # fmt: skip
            if any(key.expression == expression for key in self.keys):
                continue
            domain = domain_of(expression, known, self.evaluate)
            self.keys.append(Key(f"k{len(self.keys)}", expression, domain, node.position))

    # ---- released values --------------------------------------------------------------------------------------

    def _outputs(self, item: syntax.Item) -> list[Output]:
        """The columns of one entry of the select list: one, or one for each argument of AVG_VECTOR or each element."""
        node = item.expression
        plain, report = without_report(node)
        if (elements := self._lists().elements(plain)) is not None:
            found = [self._resolver().resolve(own) for own in elements]
            return [Output(item.name, own, None, report, place) for place, own in enumerate(found)]
        if not isinstance(node, syntax.Call) or node.name not in CALLS or CALLS[node.name].takes is not Takes.VECTOR:
            return [self._output(item)]
        if item.alias is not None:
            raise UnsupportedQuery(
                "it makes several columns, which cannot share one name.", construct="AVG_VECTOR",
                position=node.position, hint="Leave AS out: the columns are avg(x), avg(y), ...",
            )  # fmt: skip
        reader = AggregateReader(self.rows.resolver(self.scope), self.relation)
        names = [column_name(replace(node, name="avg", arguments=(argument,))) for argument in node.arguments]
        return [Output(name, self._asked(asked)) for name, asked in zip(names, reader.vector(node), strict=True)]

    def _output(self, item: syntax.Item) -> Output:
        node = item.expression
        if isinstance(node, syntax.Call) and node.name in INTERVAL_ENDS:
            return Output(item.name, as_null(Type.REAL), interval_end(node, self.query.items, self._lists()))
        name = self.scope.spelling(node) if item.alias is None and isinstance(node, syntax.Name) else item.name
        plain, report = without_report(node)
        return Output(name, self._resolver().resolve(plain), report=report)

    def _resolver(self, named: Mapping[str, Expression] | None = None) -> Resolver:
        def lookup(node: syntax.Expr) -> Expression | None:
            return within(node, named or {}, self._measured) or self._measured(node)

        return Resolver(lookup, self.rows.parameters)

    def _lists(self) -> Lists:
        return Lists(self.scope, self.rows.resolver(self.scope), self.query.items)

    def _measured(self, node: syntax.Expr) -> Expression | None:
        """A key or an aggregate as a released column, a window over those; None for anything in between."""
        if (element := self._lists().read(node)) is not None:
            return self._resolver().resolve(element)
        if isinstance(node, syntax.Window):
            return over_groups(node, self._resolver())
        if isinstance(node, syntax.ScalarQuery):
            raise ValueBeside(
                "a value stands here beside aggregates.", construct="scalar sub-query", position=node.position,
                hint="Ask for the groups in a sub-query of FROM, and compute around it.",
            )  # fmt: skip
        if isinstance(node, syntax.Call) and node.name in CALLED:
            return grouping(node, self.keys, self.sets, self.rows.resolver(self.scope), self._resolver())
        if isinstance(node, syntax.Call) and holds_aggregate(replace(node, arguments=())):
            return self._aggregate(node)
        if (kept := taken_back(node)) is not None:
            return self._resolver().resolve(kept)
        plain = isinstance(node, syntax.Literal | syntax.Parameter | syntax.IntervalLiteral | syntax.AllColumns)
        if plain or holds_aggregate(node):
            return None
        try:
            expression = self.rows.resolver(self.scope).resolve(node)
        except NoSuchValue:
            raise
        except UnsupportedQuery:
            if isinstance(node, syntax.Name):
                raise
            return None
        for key in self.keys:
            if key.expression == expression:
                return uncut(Column(RELEASED, key.name, _key_facts(key)), key.expression)
        if isinstance(node, syntax.Name):
            held, shown, kind = identifying(expression), as_written(node), expression.facts.type
            example = f"AVG({shown})" if kind.numeric or kind is Type.BOOLEAN else f"COUNT(DISTINCT {shown})"
            if held is not None and node.parts[0] != KEPT:
                raise NamesPeople(
                    "a privacy unit or a key is never in the answer.", construct=shown, position=node.position,
                    hint=f"COUNT(DISTINCT {held.shown}) counts people.",
                )  # fmt: skip
            if node.parts[0] == KEPT:
                raise UnsupportedQuery(
                    "it would show rows of people.", construct="QUALIFY", position=node.position,
                    hint="Let it choose them in a sub-query, and ask for aggregates around it: SELECT AVG(x) FROM "
                    "(SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).",
                )  # fmt: skip
            raise UnsupportedQuery(
                "it is neither grouped by nor aggregated.", construct=shown, position=node.position,
                hint=f"Add it to GROUP BY, or write an aggregate such as {example}.",
            )  # fmt: skip
        return None

    def _aggregate(self, node: syntax.Call) -> Expression:
        return self._asked(AggregateReader(self.rows.resolver(self.scope), self.relation).read(node))

    def _asked(self, asked: Asked) -> Expression:
        """The released column of an aggregate; the same one for an aggregate that was asked before."""
        for known in self.aggregates:
            if replace(asked.aggregate, name=known.name, text=known.text) == known:
                return asked.finish(_released_aggregate(known))
        aggregate = replace(asked.aggregate, name=f"a{len(self.aggregates)}")
        self.aggregates.append(aggregate)
        return asked.finish(_released_aggregate(aggregate))

    # ---- afterwards -------------------------------------------------------------------------------------------

    def _order(self, term: syntax.OrderItem, outputs: list[Output], named: Mapping[str, Expression]) -> Order:
        alone = numbered(term.expression, outputs) or of_the_list(term.expression, named)
        return Order(alone or self._resolver(named).resolve(term.expression), term.descending, term.nulls_first)


def _key_facts(key: Key) -> Facts:
    facts = key.expression.facts
    return Facts(facts.type, facts.low, facts.high, nullable=key.domain is None or None in key.domain, step=facts.step)


def _released_aggregate(aggregate: Aggregate) -> Column:
    """The column of released values of an aggregate, typed as DuckDB types it."""
    function, argument = FUNCTIONS[aggregate.function], aggregate.argument
    result = function.result(None if argument is None else argument.facts.type)
    if function.kind is Kind.CHOICE:
        return Column(RELEASED, aggregate.name, Facts(result))
    step = as_constant(1).facts.step if result is Type.INTEGER else None
    return Column(RELEASED, aggregate.name, Facts(result, nullable=False, step=step))
