"""Values beside aggregates: ``SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) FROM patients``, as the query over two
answers that it stands for. Neither of them depends on the other.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import holds_aggregate, windows_in
from dpsql.sql import syntax
from dpsql.sql.naming import column_name
from dpsql.sql.rewritten import rewritten
from dpsql.sql.tokens import fold
from dpsql.sql.walk import walk

__all__ = ["ValueBeside", "beside_values"]

ANSWER = "answer of dpsql"  # The name of the inner query.


class ValueBeside(UnsupportedQuery):
    """A sub-query as a value stands beside aggregates, not inside of what rows are asked."""


def beside_values(query: syntax.Select) -> syntax.Select:
    """The query over the answer to what it asks of rows, which is a sub-query; its values stand around that.

    Raises:
        UnsupportedQuery: DISTINCT, or a window that would go over other rows.
    """
    valued = {fold(item.alias): item.expression for item in query.items if item.alias and _holds_value(item.expression)}

    def meant(node: syntax.Node) -> syntax.Node | None:
        return valued.get(node.parts[0]) if isinstance(node, syntax.Name) and len(node.parts) == 1 else None

    query = replace(query, having=rewritten(query.having, meant), order_by=rewritten(query.order_by, meant))
    conditions = () if query.having is None else (query.having,)
    moved = any(map(_holds_value, conditions))
    expressions = [*(item.expression for item in query.items), *(term.expression for term in query.order_by)]
    windows = [window for node in [*expressions, *conditions] for window in windows_in(node)]
    if query.distinct or any(map(_holds_value, windows)) or (windows and moved):
        raise UnsupportedQuery(
            "beside it neither DISTINCT nor a window over it stands.", construct="scalar sub-query",
            position=query.position, hint="Ask for the groups in a sub-query of FROM, and compute around it.",
        )  # fmt: skip
    asked = _Asked(_keys(query))
    items = [replace(item, expression=asked.item(item)) for item in query.items]
    having = asked.outside(query.having) if moved and query.having is not None else None
    order = [replace(term, expression=asked.outside(term.expression)) for term in query.order_by]
    if not asked.items:
        raise UnsupportedQuery(
            "nothing is asked of the rows in FROM.", construct="scalar sub-query", position=query.position,
            hint="Leave FROM out: SELECT (SELECT COUNT(*) FROM t).",
        )  # fmt: skip
    rows = replace(
        query, items=tuple(asked.items), having=None if moved else query.having, group_by=asked.grouped(query),
        order_by=(), limit=None, offset=None, ctes=(),
    )  # fmt: skip
    return syntax.Select(
        tuple(items), syntax.Derived(rows, ANSWER, position=query.position), having, (), None, tuple(order),
        query.limit, query.offset, position=query.position,
    )  # fmt: skip


@dataclass(slots=True)
class _Asked:
    """What is asked of rows.

    Attributes:
        keys: What they are grouped by.
        items: The columns of the inner query.
    """

    keys: tuple[syntax.Expr, ...]
    items: list[syntax.Item] = field(default_factory=list)

    def item(self, item: syntax.Item) -> syntax.Expr:
        """What an entry of the select list is outside."""
        if _holds_value(item.expression) and not self._whole(item.expression):
            return self.outside(item.expression)
        return self._column(item.expression, item.alias, item.name, item.position)

    def outside(self, node: syntax.Expr) -> syntax.Expr:
        """An expression over the inner query's columns and values."""

        def change(own: syntax.Node) -> syntax.Node | None:
            if isinstance(own, syntax.ScalarQuery | syntax.Literal | syntax.Parameter | syntax.IntervalLiteral):
                return own
            if _holds_value(own) and not self._whole(own):
                return None
            named = [item for item in self.items if isinstance(own, syntax.Name) and own.parts == (fold(item.name),)]
            if named:
                return _outer(named[0].name, own.position)
            return self._column(own, None, column_name(own), own.position)  # type: ignore[arg-type]  # an expression

        return rewritten(node, change)

    def grouped(self, query: syntax.Select) -> tuple[syntax.Expr, ...] | syntax.GroupAll | syntax.GroupingSets:
        """GROUP BY with the expressions that numbers stand for."""
        match query.group_by:
            case syntax.GroupingSets(sets):
                return syntax.GroupingSets(tuple(tuple(_meant(key, query) for key in own) for own in sets))
            case syntax.GroupAll() as every:
                return every
            case nodes:
                return tuple(_meant(key, query) for key in nodes)

    def _whole(self, node: syntax.Node) -> bool:
        """Whether it is asked of rows as it stands: an aggregate, or what they are grouped by."""
        return node in self.keys or (isinstance(node, syntax.Call) and holds_aggregate(replace(node, arguments=())))

    def _column(self, node: syntax.Expr, alias: str | None, name: str, position: syntax.Position) -> syntax.Expr:
        same = [item for item in self.items if item.expression == node and alias in (None, item.alias)]
        if not same:
            taken = any(fold(name) == fold(item.name) for item in self.items)
            own = f"{name} {len(self.items)}" if taken else name
            same = [syntax.Item(node, own if taken or alias else None, own, position=position)]
            self.items += same
        return _outer(same[0].name, position)


def _outer(name: str, position: syntax.Position) -> syntax.Name:
    return syntax.Name((ANSWER, fold(name)), name, position=position)


def _holds_value(node: syntax.Node) -> bool:
    return any(isinstance(own, syntax.ScalarQuery) for own in walk(node))


def _keys(query: syntax.Select) -> tuple[syntax.Expr, ...]:
    match query.group_by:
        case syntax.GroupingSets(sets):
            nodes = tuple(key for own in sets for key in own)
        case syntax.GroupAll():
            nodes = ()
        case own:
            nodes = own
    return tuple(_meant(node, query) for node in nodes)


def _meant(node: syntax.Expr, query: syntax.Select) -> syntax.Expr:
    """The column that a number in GROUP BY stands for; what else is written, as it is."""
    place = node.value if isinstance(node, syntax.Literal) else None
    if isinstance(place, int) and not isinstance(place, bool) and 1 <= place <= len(query.items):
        return query.items[place - 1].expression
    return node
