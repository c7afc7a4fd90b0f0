"""Several answers in one statement: UNION ALL of answers, joins of them, sub-queries as values. Each of them is bought
as if it were asked alone, at its own price; what is made of them is ordinary SQL over public values.

An answer is a table here: a `Scan` of a table that the policy does not know, public since it was released. So people's
rows never meet it: what they would be joined with is known only after the release.

Tests: tests/unit/answers/test_several.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.known.conditions import connected, holds_aggregate, is_semi, parts_of, windows_in
from dpsql.plan.known.relations import column_of, is_public, scans
from dpsql.plan.known.scope import Scope, ScopeEntry, element_name, place_of, whole_name
from dpsql.plan.known.stars import columns_of_star, instead_of
from dpsql.plan.measured.domains import Evaluate
from dpsql.plan.measured.lists import Lists
from dpsql.plan.nodes import (
    Apply,
    Column,
    Expression,
    Relation,
    Scan,
    UnionAll,
    Written,
)
from dpsql.plan.over_answers.no_rows import NoRows, no_rows
from dpsql.plan.over_answers.origins import NUMBER, ROW, gathered
from dpsql.plan.over_answers.roles import roles_of
from dpsql.plan.over_answers.stages import RELEASED, plan_stage, told_apart
from dpsql.plan.plans import WHOLE, Output, Plan, PublicPlan, Several, Stage
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.rows.semi import semi_join
from dpsql.plan.rows.sub_queries import Gathered, Sub, each_once, in_a_row
from dpsql.plan.rows.unit_windows import UnitWindows
from dpsql.plan.types import Facts
from dpsql.plan.values.expressions import Resolver
from dpsql.plan.values.ranges import released_reach, with_length
from dpsql.sql import syntax
from dpsql.sql.rewritten import rewritten
from dpsql.sql.tokens import fold

__all__ = [
    "MixesPeople",
    "asked_in",
    "has_one_row",
    "of_select",
    "of_union",
]

Part = Plan | PublicPlan
Resolve = Callable[[syntax.Queryable, Rows], Part | Several]


class MixesPeople(UnsupportedQuery):
    """People's rows would meet an answer."""


def of_union(union: syntax.Union, rows: Rows, resolve: Resolve, evaluate: Evaluate) -> Several:
    """UNION and UNION ALL of answers; names are those of the first. SELECTs that are known to have no row cost nothing.

    Args:
        union: The whole statement, or the whole of a FROM.
        rows: What its names mean.
        resolve: Plans one of its SELECTs as a statement of its own.
        evaluate: Runs expressions over public values.

    Raises:
        UnsupportedQuery: One of them is refused, or they do not fit together.
    """
    answers = _answers(rows, resolve, evaluate)
    sub = answers.union(union, _Answers.part)
    names = [element_name(output.name, output.element) for output in answers.first]
    return gathered(answers.parts, sub.relation, list(zip(names, sub.columns.values(), strict=True)), answers.notes)


def of_select(query: syntax.Select, rows: Rows, resolve: Resolve, evaluate: Evaluate) -> Several:
    """A SELECT over several answers: joined, one after the other, or as values.

    Args:
        query: Its syntax; its own WITH is in scope already.
        rows: What its names mean.
        resolve: As in `of_union`.
        evaluate: As there.

    Raises:
        MixesPeople: It reads people's rows, too.
        UnsupportedQuery: What it makes of the answers is not supported.
    """
    if query.options is not None:
        raise UnsupportedQuery(
            "the SELECTs that it asks are paid for one by one, and here is nothing to pay for.", construct="OPTIONS",
            position=query.position, hint="Write the options into each of them, or SET them for the session.",
        )  # fmt: skip
    answers = _answers(rows, resolve, evaluate)
    group = Gathered() if query.source is None else answers.gather(query.source)
    values: dict[str, Expression] = {}
    asked: list[syntax.ScalarQuery] = []

    def named(node: syntax.Node) -> syntax.Node | None:
        if not isinstance(node, syntax.ScalarQuery):
            return None
        if node not in asked:
            sub = answers.value(node.query)
            (values[f"value {len(asked)} of dpsql"],) = sub.columns.values()
            group.parts.append(sub.relation)
            asked.append(node)
        name = f"value {asked.index(node)} of dpsql"
        return syntax.Name((name,), name, position=node.position)

    clauses = ("items", "where", "having", "order_by")
    query = replace(query, **{clause: rewritten(getattr(query, clause), named) for clause in clauses})
    relation, where = _joined(answers, group, query, Scope((ScopeEntry("", values),)))
    if not is_public(relation):
        raise MixesPeople(
            "people's rows stand beside an answer.", construct="FROM", position=query.position,
            hint="Ask for what is needed of them in a sub-query that aggregates, and join its answer.",
        )  # fmt: skip
    entries = [*group.entries, ScopeEntry("", values)]
    columns = [own for entry in entries for own in entry.columns.items()]
    found = gathered(answers.parts, relation, columns, answers.notes)
    outputs = enumerate(output.expression for output in found.after.outputs)
    released = (with_length(Column(RELEASED, f"c{i}", own.facts), own) for i, own in outputs)
    *tables, beside = [replace(entry, columns=dict(zip(entry.columns, released, strict=False))) for entry in entries]
    scope = Scope(tuple(tables), frozenset(map(str.lower, group.using)), Scope((beside,)))
    items = tuple(own for item in query.items for own in _expanded(item, scope))
    return found.then(plan_stage(replace(query, items=items, where=where), scope, rows.parameters))


def asked_in(query: syntax.Select) -> list[syntax.Node]:
    """The sub-queries of a SELECT beside FROM: as values, and in conditions."""
    found: list[syntax.Node] = []

    def seen(node: syntax.Node) -> syntax.Node | None:
        if isinstance(node, syntax.ScalarQuery | syntax.InQuery | syntax.Exists):
            found.append(node)
            return node
        return None

    rewritten((query.items, query.where, query.having, query.order_by), seen)
    return found


def _answers(rows: Rows, resolve: Resolve, evaluate: Evaluate) -> _Answers:
    return _Answers(
        rows.catalog, rows.parameters, rows.per_unit, rows.ctes, rows.combinations, resolve=resolve, evaluate=evaluate
    )


@dataclass(slots=True)
class _Answers(Rows):
    """Rows whose sub-queries may be answers.

    Attributes:
        resolve: Plans a sub-query as a statement of its own.
        evaluate: Runs expressions over public values.
        parts: The answers that are read, each once.
        first: The columns of the one that was asked first.
        notes: What is said of SELECTs that add no row.
    """

    resolve: Resolve = field(kw_only=True)
    evaluate: Evaluate = field(kw_only=True)
    parts: list[Part] = field(default_factory=list, kw_only=True)
    first: list[Output] = field(default_factory=list, kw_only=True)
    notes: list[str] = field(default_factory=list, kw_only=True)

    def sub(self, query: syntax.Queryable) -> Sub:
        """A sub-query as rows: an answer, or what is chosen of others."""
        if isinstance(query, syntax.Union):
            return self.union(query, _Answers.sub)
        return self.part(query) if _is_answer(query) else Rows.sub(self, query)

    def resolver(self, scope: Scope) -> Resolver:
        """Resolves expressions over one row, of which an answer's lists have elements."""
        plain = Rows.resolver(self, scope)

        def lookup(node: syntax.Expr) -> Expression | None:
            element = self._lists(scope).read(node)
            return plain.lookup(node) if element is None else Resolver(lookup, self.parameters).resolve(element)

        return Resolver(lookup, self.parameters)

    def _lists(self, scope: Scope) -> Lists:
        return Lists(scope, Rows.resolver(self, scope), ())

    def _items(self, query: syntax.Select, scope: Scope, over: UnitWindows | None) -> dict[str, Expression]:
        """The columns of a sub-query that only chooses and computes: those of a list stand side by side."""
        items = list[syntax.Item]()
        for item in query.items:
            elements = self._lists(scope).elements(item.expression)
            items += [item] if elements is None else []
            items += [
                replace(item, expression=own, alias=element_name(item.name, place))
                for place, own in enumerate(elements or ())
            ]
        return Rows._items(self, replace(query, items=tuple(items)), scope, over)

    def union(self, query: syntax.Queryable, one: Callable[[_Answers, syntax.Queryable], Sub]) -> Sub:
        """The rows of all SELECTs of a UNION, one after the other; once each, without ALL."""
        if not isinstance(query, syntax.Union):
            return one(self, query)
        inner, written = self.within(query), _sides(query)
        sides, empty = list[Sub](), dict[int, NoRows]()
        for place, side in enumerate(written):
            before = len(self.parts)
            sides.append(inner.union(side, one))
            if (why := self._why_empty(sides[-1].relation)) is not None:
                empty[place] = why
                del self.parts[before:]  # nobody pays for it
        if len(empty) == len(written):  # it is refused when it is asked; what it returns may be asked before
            sides, empty = [inner.union(side, one) for side in written], {}
        number = len(written)
        self.notes += [f"SELECT {i + 1} of {number} adds no row and costs nothing: {empty[i]}." for i in sorted(empty)]
        found = in_a_row(sides, self.alias(), query)
        if isinstance(found.relation, UnionAll):
            kept = tuple(part for place, part in enumerate(found.relation.parts) if place not in empty)
            found = replace(found, relation=replace(found.relation, parts=kept))
        return found if query.all else each_once(found, self.alias())

    def _why_empty(self, relation: Relation) -> NoRows | None:
        """Why an answer, or a UNION of several, surely has no row; None where it may have some."""
        why: NoRows | None = None
        for scan in scans(relation):
            part = self.parts[scan.table.answer or 0]
            why = no_rows(part, self.evaluate) if isinstance(part, Plan) else None
            if why is None:
                return None
        return why

    def part(self, query: syntax.Queryable) -> Sub:
        """An answer as a table; one that is asked twice is one."""
        own = Rows(self.catalog, self.parameters, self.per_unit, self.ctes, self.combinations)
        found = self.resolve(query, own)
        if isinstance(found, Several):
            raise UnsupportedQuery(
                "an answer that is made of several answers stands alone in FROM.", construct="sub-query",
                position=query.position, hint="Name its parts in the outer FROM, or ask it by itself.",
            )  # fmt: skip
        if any(output.element is not None and output.report for output in found.answer):
            raise UnsupportedQuery(
                "the report of a list is no column of an answer that is joined, or one of several.", construct="list",
                position=query.position, hint="Ask for the list without report_format.",
            )  # fmt: skip
        self.first.extend(() if self.first else found.answer)
        number = self.parts.index(found) if found in self.parts else len(self.parts)
        self.parts[number : number + 1] = [found]
        scan = Scan(_table(found, number), self.alias())
        columns = zip(told_apart(found.answer), scan.table.columns, strict=False)  # the last one numbers the rows
        return Sub(scan, {name: column_of(scan, column) for name, column in columns})

    def value(self, query: syntax.Queryable) -> Sub:
        """An answer of one row and one column.

        Raises:
            UnsupportedQuery: It may have others.
        """
        sub = self.part(query)
        scan = sub.relation
        part = self.parts[scan.table.answer or 0] if isinstance(scan, Scan) else None
        listed = any(place_of(name) is not None for name in sub.columns)
        if part is None or len(sub.columns) != 1 or listed or not has_one_row(part):
            raise UnsupportedQuery(
                "as a value it has one column, which is no list, and always one row.", construct="scalar sub-query",
                position=query.position, hint="Write (SELECT COUNT(*) FROM t WHERE ..), without GROUP BY or HAVING.",
            )  # fmt: skip
        return sub


def _table(part: Part, number: int) -> TableInfo:
    """An answer as a table: columns that hold noise are a0, a1, ..., others k0, k1, ..., and its rows are numbered."""
    roles = roles_of(part)
    columns = []
    for i, output in enumerate(part.answer):
        facts = output.expression.facts
        name = f"{'a' if roles[i].noised else 'k'}{i}"
        known = Facts(output.type, nullable=facts.nullable, step=facts.step)
        reach = released_reach(output.expression)
        columns.append(with_length(ColumnInfo(name, known, reach=reach), output.expression))
    columns.append(ColumnInfo(ROW, NUMBER))
    return TableInfo(f"answer {number} of dpsql", {c.name: c for c in columns}, public=True, answer=number)


def _is_answer(query: syntax.Select) -> bool:
    """Whether a sub-query over answers is one of its own, and not only rows that are chosen and computed with."""
    parts = [item.expression for item in query.items]
    clauses = query.options is not None or query.group_by or query.having is not None or query.order_by
    cut = query.limit is not None or query.offset is not None
    function = isinstance(query.source, syntax.TableFunctionCall)
    return bool(clauses or cut or function or any(holds_aggregate(own) or windows_in(own) for own in parts))


def has_one_row(part: Part) -> bool:
    """Whether an answer has one row whatever is released."""
    one, stages = False, tuple[Stage, ...]()
    if isinstance(part, PublicPlan):
        one, stages = isinstance(part.relation, Written) and len(part.relation.rows) == 1, (part.stage,)
    else:
        only = not part.keys and part.sets is None and part.table is None and part.cut == WHOLE
        one, stages = only and _keeps_rows(part), part.stages
    for stage in stages:
        kept = stage.where is None if not stage.aggregates else not stage.group_by
        one = kept and _keeps_rows(stage) and (one or stage.aggregates)
    return one


def _keeps_rows(last: Plan | Stage) -> bool:
    """Whether neither HAVING nor LIMIT takes a row away, where there is one."""
    return last.limit != 0 and not last.offset and last.having is None


def _sides(union: syntax.Union) -> list[syntax.Queryable]:
    """What a chain of equal UNIONs is made of, from left to right."""
    left = union.left
    chained = isinstance(left, syntax.Union) and left.all == union.all and not left.ctes
    return [*(_sides(left) if chained and isinstance(left, syntax.Union) else [left]), union.right]


def _joined(
    answers: _Answers, group: Gathered, query: syntax.Select, outer: Scope
) -> tuple[Relation, syntax.Expr | None]:
    """The tables of FROM as one relation, and what WHERE says beside how they are joined."""
    scope = group.scope(outer)
    nodes = [] if query.where is None else parts_of(query.where)
    semis = [node for node in nodes if is_semi(node)]
    ties = [node for node in nodes if node not in semis and _ties(answers, scope, node)]
    written = [part for node in group.conditions for part in parts_of(node)]
    relation = answers.joined(group, [*written, *ties], scope, query.position)
    for node in semis:
        relation = semi_join(answers, relation, scope, node)
    kept = [node for node in nodes if node not in semis and node not in ties]
    return relation, connected("and", kept) if kept else None


def _ties(answers: _Answers, scope: Scope, node: syntax.Expr) -> bool:
    """Whether a condition is equality of two tables' columns."""
    match answers.resolver(scope).resolve(node):
        case Apply(function=function, arguments=(Column(alias=left), Column(alias=right))):
            return function.name == "=" and left != right
    return False


def _expanded(item: syntax.Item, scope: Scope) -> list[syntax.Item]:
    """One entry of a select list, or all columns that ``*`` or ``table.*`` stands for; those of USING once."""
    star = item.expression
    if not isinstance(star, syntax.AllColumns):
        return [item]
    found, seen = list[syntax.Item](), set[str]()
    columns = dict.fromkeys((entry.alias, whole_name(own)) for entry, own in columns_of_star(star, scope.entries))
    for alias, own in columns:
        if star.table is None and fold(own) in seen:
            continue
        seen |= {fold(own)} & scope.merged
        name = syntax.Name((fold(alias), fold(own)), own, position=item.position)
        found.append(instead_of(star, own) or syntax.Item(name, own, own, position=item.position))
    return found
