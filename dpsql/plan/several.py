"""Several answers in one statement: UNION ALL of answers, joins of them, sub-queries as values. Each of them is bought
as if it were asked alone, at its own price; what is made of them is ordinary SQL over public values.

An answer is a table here: a `Scan` of a table that the policy does not know, public since it was released. So people's
rows never meet it: what they would be joined with is known only after the release.

Tests: tests/unit/answers/test_several.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.conditions import connected, holds_aggregate, is_semi, parts_of, windows_in
from dpsql.plan.conversions import as_constant
from dpsql.plan.expressions import columns_of
from dpsql.plan.nodes import (
    Apply,
    Column,
    Constant,
    Expression,
    Filter,
    Join,
    Order,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
)
from dpsql.plan.plans import WHOLE, Key, Output, Plan, PublicPlan, Several, Stage
from dpsql.plan.relations import column_of, is_public
from dpsql.plan.roles import roles_of
from dpsql.plan.rows import Rows
from dpsql.plan.scope import Scope, ScopeEntry, same_name
from dpsql.plan.semi import semi_join
from dpsql.plan.stages import RELEASED, plan_stage
from dpsql.plan.sub_queries import Gathered, Sub, in_a_row
from dpsql.plan.types import Facts, Type
from dpsql.sql import syntax
from dpsql.sql.rewritten import rewritten
from dpsql.sql.tokens import fold

__all__ = [
    "PART",
    "ROW",
    "MixesPeople",
    "asked_in",
    "decided_by_noise",
    "has_one_row",
    "is_noised",
    "of_select",
    "of_union",
]

Part = Plan | PublicPlan
Resolve = Callable[[syntax.Queryable, Rows], Part | Several]

ROW = "row"  # The column of an answer's table that numbers its rows, from 0.
PART = "part"  # The column of answers one after the other that says which of them a row is of, from 0.
NUMBER = Facts(Type.INTEGER, nullable=False, step=Fraction(1))


class MixesPeople(UnsupportedQuery):
    """People's rows would meet an answer."""


def of_union(union: syntax.Union, rows: Rows, resolve: Resolve) -> Several:
    """UNION and UNION ALL of answers; names are those of the first.

    Args:
        union: The whole statement, or the whole of a FROM.
        rows: What its names mean.
        resolve: Plans one of its SELECTs as a statement of its own.

    Raises:
        UnsupportedQuery: One of them is refused, or they do not fit together.
    """
    answers = _Answers(rows.catalog, rows.parameters, rows.per_unit, rows.ctes, resolve=resolve)
    sub = answers.union(union, _Answers.part)
    names = [output.name for output in answers.parts[0].answer]
    return _gathered(answers.parts, sub.relation, list(zip(names, sub.columns.values(), strict=True)))


def of_select(query: syntax.Select, rows: Rows, resolve: Resolve) -> Several:
    """A SELECT over several answers: joined, one after the other, or as values.

    Args:
        query: Its syntax; its own WITH is in scope already.
        rows: What its names mean.
        resolve: As in `of_union`.

    Raises:
        MixesPeople: It reads people's rows, too.
        UnsupportedQuery: What it makes of the answers is not supported.
    """
    if query.options is not None:
        raise UnsupportedQuery(
            "the SELECTs that it asks are paid for one by one, and here is nothing to pay for.", construct="OPTIONS",
            position=query.position, hint="Write the options into each of them, or SET them for the session.",
        )  # fmt: skip
    answers = _Answers(rows.catalog, rows.parameters, rows.per_unit, rows.ctes, resolve=resolve)
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
    found = _gathered(answers.parts, relation, [own for entry in entries for own in entry.columns.items()])
    shown = (Column(RELEASED, f"c{i}", o.expression.facts) for i, o in enumerate(found.after.outputs))
    *tables, beside = [replace(entry, columns=dict(zip(entry.columns, shown, strict=False))) for entry in entries]
    scope = Scope(tuple(tables), frozenset(name.lower() for name, _ in group.using), Scope((beside,)))
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


@dataclass(slots=True)
class _Answers(Rows):
    """Rows whose sub-queries may be answers.

    Attributes:
        resolve: Plans a sub-query as a statement of its own.
        parts: The answers that are read, each once.
    """

    resolve: Resolve = field(kw_only=True)
    parts: list[Part] = field(default_factory=list, kw_only=True)

    def sub(self, query: syntax.Queryable) -> Sub:
        """A sub-query as rows: an answer, or what is chosen of others."""
        if isinstance(query, syntax.Union):
            return self.union(query, _Answers.sub)
        return self.part(query) if _is_answer(query) else Rows.sub(self, query)

    def union(self, query: syntax.Queryable, one: Callable[[_Answers, syntax.Queryable], Sub]) -> Sub:
        """The rows of all SELECTs of a UNION, one after the other; once each, without ALL."""
        if not isinstance(query, syntax.Union):
            return one(self, query)
        inner = self.within(query)
        found = in_a_row([inner.union(side, one) for side in _sides(query)], self.alias(), query)
        if query.all:
            return found
        alias = self.alias()
        columns = {
            own: Column(alias, f"c{i}", expression.facts) for i, (own, expression) in enumerate(found.columns.items())
        }
        named = tuple((column.name, found.columns[own]) for own, column in columns.items())
        return Sub(Project(found.relation, alias, named, distinct=True), columns)

    def part(self, query: syntax.Queryable) -> Sub:
        """An answer as a table; one that is asked twice is one."""
        found = self.resolve(query, Rows(self.catalog, self.parameters, self.per_unit, self.ctes))
        if isinstance(found, Several):
            raise UnsupportedQuery(
                "an answer that is made of several answers stands alone in FROM.", construct="sub-query",
                position=query.position, hint="Name its parts in the outer FROM, or ask it by itself.",
            )  # fmt: skip
        if any(output.element is not None for output in found.answer):
            raise UnsupportedQuery(
                "a list is no column of an answer that is joined, or one of several.", construct="list",
                position=query.position, hint="Name its elements: QUANTILE_CONT(x, 0.25) AS low, ..",
            )  # fmt: skip
        number = self.parts.index(found) if found in self.parts else len(self.parts)
        self.parts[number : number + 1] = [found]
        scan = Scan(_table(found, number), self.alias())
        names = dict[str, str]()
        for column, output in zip(scan.table.columns, found.answer, strict=False):  # the last one numbers the rows
            same = sum(same_name(output.name, name) for name in names)
            names[f"{output.name}_{same}" if same else output.name] = column
        return Sub(scan, {name: column_of(scan, column) for name, column in names.items()})

    def value(self, query: syntax.Queryable) -> Sub:
        """An answer of one row and one column.

        Raises:
            UnsupportedQuery: It may have others.
        """
        sub = self.part(query)
        scan = sub.relation
        part = self.parts[scan.table.answer or 0] if isinstance(scan, Scan) else None
        if part is None or len(sub.columns) != 1 or not has_one_row(part):
            raise UnsupportedQuery(
                "as a value it has one column and always one row.", construct="scalar sub-query",
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
        columns.append(ColumnInfo(name, Facts(output.type, nullable=facts.nullable, step=facts.step)))
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
        stages = (part.stage,)
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
    for entry in scope.entries:
        if star.table is not None and not same_name(entry.alias, star.table):
            continue
        for own in entry.columns:
            if star.table is None and fold(own) in seen:
                continue
            seen |= {fold(own)} & scope.merged
            name = syntax.Name((fold(entry.alias), fold(own)), own, position=item.position)
            found.append(syntax.Item(name, own, own, position=item.position))
    return found


# ------------------------------------------------------------------------------------------- where rows come from


def _gathered(parts: list[Part], relation: Relation, columns: Iterable[tuple[str, Expression]]) -> Several:
    """Answers whose rows are those of a relation, with these columns."""
    traced, places = _with_origins(relation)
    kept, keys, outputs = list[Output](), list[Key](), list[Output]()
    for i, (name, expression) in enumerate(columns):
        noised, facts = is_noised(relation, expression), expression.facts
        known = Facts(facts.type, nullable=facts.nullable, step=facts.step)
        column = Column(RELEASED, f"{'a' if noised else 'k'}{i}", known)
        kept.append(Output(column.name, expression))
        outputs.append(Output(name, column))
        keys += [] if noised else [Key(column.name, column, None)]
    order = [*places, *(output.expression for output in kept)]
    named = [Output(f"{ROW}{i}", place) for i, place in enumerate(places)]
    terms = tuple(Order(expression, descending=False, nulls_first=False) for expression in order)
    rows = PublicPlan(traced, Stage((*kept, *named), order_by=terms))
    return Several(tuple(parts), rows, Plan(relation, tuple(keys), (), tuple(outputs)))


def _with_origins(relation: Relation) -> tuple[Relation, tuple[Expression, ...]]:
    """The relation, and what tells of each of its rows which rows of which answers it is made of."""
    match relation:
        case Scan() if relation.table.answer is not None:
            return relation, (column_of(relation, ROW),)
        case Filter() | Semi():
            inner, places = _with_origins(relation.input)
            return replace(relation, input=inner), places
        case Join():
            left, ours = _with_origins(relation.left)
            right, theirs = _with_origins(relation.right)
            return replace(relation, left=left, right=right), (*ours, *theirs)
        case UnionAll():
            sides = [_with_origins(part) for part, _ in relation.parts]
            most = max(len(places) for _, places in sides)
            nothing = Constant(None, Facts(Type.INTEGER))
            parts = tuple(
                (side, (*columns, as_constant(number), *places, *[nothing] * (most - len(places))))
                for number, ((side, places), (_, columns)) in enumerate(zip(sides, relation.parts, strict=True))
            )
            named = (PART, *(f"{ROW}{i}" for i in range(most)))
            whole = UnionAll(parts, relation.alias, (*relation.names, *named))
            return whole, tuple(Column(relation.alias, name, NUMBER) for name in named)
    return relation, ()


def is_noised(relation: Relation, expression: Expression) -> bool:
    """Whether an expression over a relation reads a number that holds noise."""
    return any(_holds_noise(relation, column) for column in columns_of(expression))


def _holds_noise(relation: Relation, column: Column) -> bool:
    match relation:
        case Filter() | Semi():
            return _holds_noise(relation.input, column)
        case Join():
            return _holds_noise(relation.left, column) or _holds_noise(relation.right, column)
        case _ if relation.alias != column.alias:
            return False
        case Scan():
            return relation.table.answer is not None and column.name.startswith("a")
        case UnionAll():
            place = relation.names.index(column.name)
            return any(is_noised(part, columns[place]) for part, columns in relation.parts)
        case Project():
            return is_noised(relation.input, dict(relation.columns)[column.name])
    return False


def decided_by_noise(relation: Relation) -> bool:
    """Whether numbers that hold noise decide which rows there are, beside what WHERE of the whole query says."""
    match relation:
        case Filter():
            return is_noised(relation.input, relation.predicate) or decided_by_noise(relation.input)
        case Semi():
            read = any(is_noised(relation.input, own) or is_noised(relation.right, own) for own in relation.on)
            return read or decided_by_noise(relation.input) or decided_by_noise(relation.right)
        case Join():
            conditions = [*relation.on, *(column for pair in relation.equal for column in pair)]
            read = any(is_noised(relation, own) for own in conditions)
            return read or decided_by_noise(relation.left) or decided_by_noise(relation.right)
        case UnionAll():
            return any(decided_by_noise(part) for part, _ in relation.parts)
        case Project():
            return relation.distinct or decided_by_noise(relation.input)
    return False
