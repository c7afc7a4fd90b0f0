"""Queries: SELECT and UNION with their clauses, and the relations they read."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal as Choice

from sqlglot import exp

from dpsql.sql.atoms import Role
from dpsql.sql.pivot import PivotKey, pivoted
from dpsql.sql.qualify import qualified
from dpsql.sql.syntax import (
    AllColumns,
    Call,
    Cast,
    Derived,
    Expr,
    GroupAll,
    GroupingSets,
    Item,
    JoinClause,
    ListedRows,
    Literal,
    Parameter,
    Queryable,
    Relation,
    ScalarQuery,
    Select,
    TableFunctionCall,
    TableName,
    Union,
)
from dpsql.sql.tokens import fold, schemaless
from dpsql.sql.tree.base import measure, words
from dpsql.sql.tree.expressions import Expressions

__all__ = ["Queries"]

MOST_GROUPING_SETS = 64
"""Grouping sets of a query: those of a CUBE over six keys. It is a choice: each is measured by itself."""


_WHOLE = frozenset("bigint int int2 int4 int8 integer smallint".split())
"""Types of whole numbers to which drivers cast the number of LIMIT."""

TAIL = ("order", "limit", "offset")  # What may stand behind a whole query, as sqlglot names it.


class Queries(Expressions):
    """Converts the queries of one tree."""

    def query(self, node: exp.Expr | None) -> Queryable:
        """A SELECT or a UNION, in parentheses or not."""
        if type(node) is exp.Subquery:
            self._slots(node, "this", "with_", *TAIL)
            outside = self.named
            ctes = self._ctes(node)
            inner = self.query(node.this)
            self.named = outside
            return self._tailed(replace(inner, ctes=(*ctes, *inner.ctes)), node)
        if type(node) is exp.Union:
            return self._union(node)
        if type(node) is exp.Select:
            return self._select(node)
        if isinstance(node, exp.Table):
            self._refuse(node, "table in parentheses", "a query is expected here.", "Write joins without parentheses.")
        return self._refuse(node, words(node), "a SELECT is expected here.", "Write SELECT .. FROM ..")

    def _union(self, node: exp.Union) -> Queryable:
        """A chain of UNION; one that is ordered or cut is what a SELECT orders or cuts."""
        spine: list[exp.Union] = []
        left: exp.Expr = node
        while type(left) is exp.Union:
            self._slots(left, "this", "expression", "distinct", "with_", *(TAIL if left is node else ()))
            spine.append(left)
            left = left.this
        result = self.query(left)
        for union in reversed(spine):
            both = not union.args.get("distinct")
            right = self.query(union.expression)
            result = Union(result, right, both, self._ctes(union), position=result.position)
        return self._tailed(result, node)

    def _tailed(self, query: Queryable, node: exp.Expr) -> Queryable:
        """A query, ordered and cut from behind; a UNION, or a SELECT that does so itself, is within another SELECT."""
        if not any(node.args.get(slot) for slot in TAIL):
            return query
        if not isinstance(query, Select) or query.order_by or query.limit is not None or query.offset is not None:
            items = (Item(AllColumns(None), None, "*", position=query.position),)
            query = Select(items, Derived(query, None, position=query.position), position=query.position)
        order, limit, offset = (node.args.get(slot) for slot in TAIL)
        return replace(
            query, order_by=self._order(order, query.items), limit=self._rows(limit), offset=self._rows(offset)
        )

    def _select(self, node: exp.Select) -> Select:
        self._slots(
            node, "expressions", "from_", "joins", "where", "group", "having", "qualify", "order", "limit", "offset",
            "with_",
        )  # fmt: skip
        marker, *items = node.expressions
        atom = self._atom(marker.this, (Role.SELECT,), "a select list", node)
        outside = self.named
        ctes = self._ctes(node)
        shown = tuple(self._items(items))
        select = Select(
            items=shown,
            source=self._source(node),
            where=self._clause(node.args.get("where")),
            group_by=self._group(node.args.get("group")),
            having=self._clause(node.args.get("having")),
            order_by=self._order(node.args.get("order"), shown),
            limit=self._rows(node.args.get("limit")),
            offset=self._rows(node.args.get("offset")),
            distinct=atom.distinct,
            options=self._named(marker.expressions) if marker.expressions else None,
            ctes=ctes,
            position=atom.position,
        )
        self.named = outside
        condition = self._clause(node.args.get("qualify"))
        return select if condition is None else qualified(select, condition)

    def _ctes(self, node: exp.Expr) -> tuple[tuple[str, Queryable], ...]:
        clause = node.args.get("with_")
        if clause is None:
            return ()
        self._slots(clause, "expressions")
        ctes = []
        for cte in clause.expressions:
            self._slots(cte, "this", "alias")
            alias = cte.args["alias"]
            self._slots(alias, "this", "columns")
            name, query = self._name(alias.this, cte), self._renamed(self.query(cte.this), alias)
            self.named = {**self.named, name: query}
            ctes.append((name, query))
        return tuple(ctes)

    def _group(self, node: exp.Expr | None) -> tuple[Expr, ...] | GroupAll | GroupingSets:
        if node is None:
            return ()
        if node.args.get("all"):
            self._slots(node, "all")
            return GroupAll()
        self._slots(node, "expressions")
        if not node.expressions:
            self._refuse(node, "GROUP BY", "its keys are missing.", "Write GROUP BY column.")
        if not any(type(key) in (exp.Rollup, exp.Cube, exp.GroupingSets) for key in node.expressions):
            return tuple(self._key(key) for key in node.expressions)
        factors = [self._sets(key) for key in node.expressions]
        size = 1
        for factor in factors:
            size *= len(factor)
        if size > MOST_GROUPING_SETS:
            self._refuse(node, "grouping sets", f"there are more than {MOST_GROUPING_SETS}.", "Write fewer.")
        sets = tuple(tuple(itertools.chain(*parts)) for parts in itertools.product(*factors))
        return GroupingSets(sets, position=self._place(node))

    def _sets(self, node: exp.Expr) -> list[tuple[Expr, ...]]:
        """The grouping sets that one element of GROUP BY stands for."""
        if type(node) not in (exp.Rollup, exp.Cube, exp.GroupingSets):
            return [(self._key(node),)]
        self._slots(node, "expressions")
        if type(node) is exp.GroupingSets:
            return [self._keys(member) for member in node.expressions]
        keys = [self._keys(member) for member in node.expressions]
        if type(node) is exp.Rollup:
            chosen: Iterable[Iterable[tuple[Expr, ...]]] = (keys[:count] for count in range(len(keys), -1, -1))
        elif 2 ** len(keys) > MOST_GROUPING_SETS:
            self._refuse(node, "CUBE", f"it has more than {MOST_GROUPING_SETS} grouping sets.", "Write fewer keys.")
        else:
            counts = range(len(keys), -1, -1)
            chosen = (subset for count in counts for subset in itertools.combinations(keys, count))
        return [tuple(itertools.chain(*subset)) for subset in chosen]

    def _keys(self, node: exp.Expr) -> tuple[Expr, ...]:
        """The keys of one member of a grouping set: a key, or several in parentheses."""
        if type(node) is exp.Tuple:
            self._slots(node, "expressions")
            return tuple(self._key(key) for key in node.expressions)
        return (self._key(node),)

    def _key(self, node: exp.Expr) -> Expr:
        if type(node) is exp.Tuple:
            self._refuse(node, "tuple in GROUP BY", "keys are written one by one.", "Write GROUP BY a, b.")
        return self._expression(node)

    def _rows(self, node: exp.Expr | None) -> int | Parameter | None:
        """The number of LIMIT or OFFSET."""
        if node is None:
            return None
        self._slots(node, "expression")
        match _without_cast(self._expression(node.args["expression"])):
            case Parameter() as parameter:
                return parameter
            case Literal(value=int(value)) if not isinstance(value, bool):
                return value
        return self._refuse(node, words(node), "it takes a whole number.", "Write it like LIMIT 10.")

    # Relations

    def _source(self, node: exp.Select) -> Relation | None:
        clause, joins = node.args.get("from_"), node.args.get("joins") or []
        if clause is None:
            return None
        self._slots(clause, "this")
        relation = self._relation(clause.this)
        kinds = {bool(join.args.get("kind") or join.args.get("side")) for join in joins}
        if kinds == {True, False}:
            hint = "Write CROSS JOIN for the comma."
            self._refuse(clause, "comma and JOIN in one FROM", "readers differ on what belongs together.", hint)
        for join in joins:
            relation = self._join(relation, join)
        return relation

    def _relation(self, node: exp.Expr) -> Relation:
        if node.args.get("pivots"):
            rows = node.copy()
            rows.set("pivots", None)
            return self._pivoted(self._relation(rows), *node.args["pivots"])
        if type(node) is exp.Subquery:
            self._slots(node, "this", "alias")
            inner = node.copy()
            inner.set("alias", None)
            query = self.query(inner)
            alias = node.args.get("alias")
            renamed = query if alias is None else self._renamed(query, alias)
            return Derived(renamed, self._table_alias(node, "columns"), position=query.position)
        if type(node) is exp.Values:
            return self._values(node)
        if type(node) is not exp.Table:
            self._refuse(node, words(node), "dpsql reads tables of the policy only.", "Write the name of a table.")
        if type(node.this) is exp.Anonymous:
            return self._table_function(node)
        self._slots(node, "this", "db", "catalog", "alias")
        if type(node.this) is not exp.Identifier:
            self._refuse(node, "table function", "dpsql reads tables of the policy only.", "Write the name of a table.")
        parts = [node.args[slot] for slot in ("catalog", "db", "this") if node.args.get(slot)]
        for part in parts:
            atom = self.atoms.get(str(getattr(part, "this", "")))
            if atom and atom.role is Role.VALUE:
                hint = "Write the name of a table."
                self._refuse(node, "file as a table", "dpsql reads tables of the policy only.", hint)
        name = schemaless(tuple(self._name(part, node) for part in parts), self.database)
        return TableName(name, self._table_alias(node), position=self._place(node))

    def _pivoted(self, rows: Relation, node: exp.Pivot, *more: exp.Pivot) -> Derived:
        """``rows PIVOT (AVG(x) AS mean FOR key IN ('a' AS first, 'b') GROUP BY g) AS alias``."""
        for other in more:
            self._refuse(other, "PIVOT", "one is read behind another's rows.", "Write a sub-query around the first.")
        self._slots(node, "expressions", "fields", "group", "alias", "columns", "pivot_column_naming")
        groups = self._group(node.args.get("group")) if node.args.get("group") else None
        fields = list(node.args.get("fields") or ())
        if not fields or any(type(own) is not exp.In for own in fields) or isinstance(groups, GroupAll | GroupingSets):
            self._refuse(
                node, "PIVOT", "it lists the values of each key.", "Write PIVOT (AVG(x) FOR key IN ('a', 'b'))."
            )
        aggregates = [self._item(own) for own in node.expressions]
        query = pivoted(rows, aggregates, [self._pivot_key(own, node) for own in fields], groups, self._below(rows))
        return Derived(query, self._table_alias(node), position=query.position)

    def _below(self, rows: Relation) -> Queryable | None:
        """The query that rows are the answer of; None where they are a table's."""
        match rows:
            case Derived():
                return rows.query
            case TableName(name=(name,)):
                return self.named.get(name)
        return None

    def _pivot_key(self, listed: exp.Expr, node: exp.Pivot) -> PivotKey:
        self._slots(listed, "this", "expressions")
        values = []
        for own in listed.expressions:
            named = type(own) is exp.PivotAlias
            name = self._column_alias(own.args["alias"], node).text if named else None
            values.append((self._expression(own.this if named else own), name))
        return PivotKey(self._expression(listed.this), values)

    def _table_function(self, node: exp.Table) -> TableFunctionCall | ListedRows:
        """A call in FROM over a query; whether there is such a function is not asked here."""
        self._slots(node, "this", "alias")
        call = self._expression(node.this)
        if isinstance(call, Call) and call.name == "unnest":
            return self._unnest(node, call)
        if isinstance(call, Call) and call.name in ("generate_series", "range"):
            hint = "Write CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d), with every value."
            self._refuse(node, call.name, "dpsql makes no rows of a range.", hint)
        if not isinstance(call, Call) or not any(isinstance(a, ScalarQuery) for a in call.arguments):
            self._refuse(node, "table function", "dpsql reads tables of the policy only.", "Write the name of a table.")
        measure(call)  # before anything walks it by recursion
        return TableFunctionCall(call, self._table_alias(node), position=call.position)

    def _values(self, node: exp.Values) -> ListedRows:
        """``(VALUES (..), (..)) AS t (x, y)``."""
        self._slots(node, "expressions", "alias")
        rows = []
        for row in node.expressions:
            self._slots(row, "expressions")
            rows.append(tuple(self._expression(value) for value in row.expressions))
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            self._refuse(node, "VALUES", "its rows differ in length, or are empty.", "Write as many values in each.")
        names = tuple(f"col{place}" for place in range(len(rows[0])))
        return self._listed(node, tuple(rows), names)

    def _unnest(self, node: exp.Table, call: Call) -> ListedRows:
        """``UNNEST([1, 2]) AS t (x)``; ``AS x`` names the column, too."""
        match call:
            case Call(arguments=(Call(name="list_value", arguments=values),)) if replace(call, arguments=()) == Call(
                "unnest"
            ):
                rows = tuple((value,) for value in values)
            case _:
                self._refuse(node, "UNNEST", "it takes one list of constants.", "Write UNNEST([1, 2, 3]) AS t(x).")
        return self._listed(node, rows, (self._table_alias(node, "columns") or "unnest",))

    def _listed(self, node: exp.Expr, rows: tuple[tuple[Expr, ...], ...], names: tuple[str, ...]) -> ListedRows:
        alias = node.args.get("alias")
        written = [] if alias is None else alias.args.get("columns") or []
        given = [self._alias(column, node).text for column in written]
        if len(given) > len(names):
            self._refuse(node, "column names", "there are more than columns.", "Name each column once.")
        position = next((value.position for row in rows for value in row), None)
        return ListedRows(rows, (*given, *names[len(given) :]), self._table_alias(node, "columns"), position=position)

    def _renamed(self, query: Queryable, alias: exp.Expr) -> Queryable:
        """A query whose columns are named behind its own name: ``AS t (a, b)``."""
        names = [self._alias(column, alias) for column in alias.args.get("columns") or ()]
        if not names:
            return query
        if isinstance(query, Union):
            return replace(query, left=self._renamed(query.left, alias))
        if len(names) != len(query.items) or any(isinstance(item.expression, AllColumns) for item in query.items):
            hint = "Name each column once, or inside: SELECT x AS a."
            self._refuse(alias, "column names", "there are not as many as columns that the query names.", hint)
        items = (replace(item, alias=name.text) for item, name in zip(query.items, names, strict=True))
        return replace(query, items=tuple(items))

    def _table_alias(self, node: exp.Expr, *also: str) -> str | None:
        alias = node.args.get("alias")
        if alias is None:
            return None
        self._slots(alias, "this", *also)
        return fold(self._alias(alias.this, node).text)

    def _join(self, left: Relation, node: exp.Expr) -> JoinClause:
        self._slots(node, "this", "side", "kind", "method", "on", "using")
        right = self._relation(node.this)
        words = " ".join(str(node.args[slot]) for slot in ("side", "kind") if node.args.get(slot))
        kinds: dict[str, Choice["inner", "left", "right", "full", "cross"]] = {
            "": "cross",
            "CROSS": "cross",
            "INNER": "inner",
            "LEFT": "left",
            "RIGHT": "right",
            "FULL": "full",
            "LEFT OUTER": "left",
            "RIGHT OUTER": "right",
            "FULL OUTER": "full",
        }
        if words not in kinds or node.args.get("method") not in (None, "", "NATURAL"):
            self._refuse(node, f"{words} JOIN", "dpsql does not know this join.", "Write JOIN .. ON ..")
        on, natural = node.args.get("on"), node.args.get("method") == "NATURAL"
        kind = "inner" if natural and not words else kinds[words]
        using = tuple(self._name(column, node) for column in node.args.get("using") or ())
        if sum(map(bool, (on, using, natural))) != (kind != "cross"):
            hint = "Write JOIN .. ON .., JOIN .. USING (column) or NATURAL JOIN; CROSS JOIN has neither."
            own = "NATURAL" if natural else words or "CROSS"
            self._refuse(node, f"{own} JOIN", "its condition is missing, or one too many.", hint)
        condition = self._expression(on) if on else None
        return JoinClause(left, right, kind, condition, using, natural, position=right.position)


def _without_cast(number: Expr) -> Expr:
    """What a cast to whole numbers holds, such as the ``$1`` of ``$1::INTEGER``; anything else as it is."""
    return number.operand if isinstance(number, Cast) and number.type_name.lower() in _WHOLE else number
