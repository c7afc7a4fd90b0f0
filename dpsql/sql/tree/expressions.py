"""Expressions: calls, operators, predicates, CASE, casts and sub-queries."""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.limits import MOST_OFFSET
from dpsql.sql.atoms import Atom, Role
from dpsql.sql.elements import SUBSCRIPT
from dpsql.sql.naming import column_name
from dpsql.sql.refused import FRAMES
from dpsql.sql.rewording.warehouses import as_here
from dpsql.sql.stars import StarClauses
from dpsql.sql.syntax import (
    AllColumns,
    Call,
    CaseExpression,
    Cast,
    Exists,
    Expr,
    Frame,
    InList,
    InQuery,
    Item,
    Literal,
    Name,
    OrderItem,
    Queryable,
    ScalarQuery,
    Window,
)
from dpsql.sql.tokens import fold, name_of, schemaless
from dpsql.sql.tree.base import measure, words
from dpsql.sql.tree.operators import OPERATORS, Operators

__all__ = ["Expressions"]


class Expressions(Operators):
    """Converts expressions; the queries inside them are left to the subclass."""

    def __init__(self, atoms: dict[str, Atom], database: str) -> None:
        super().__init__(atoms, database)
        self.expressions: dict[type[exp.Expr], Callable[[Any], Expr]] = {
            **dict.fromkeys(OPERATORS, self._operator),
            exp.Column: self._column,
            exp.Anonymous: self._call,
            exp.Filter: self._filter,
            exp.WithinGroup: self._within_group,
            exp.Window: self._window,
            exp.Paren: self._paren,
            exp.Tuple: self._tuple,
            exp.Neg: self._negate,
            exp.Not: self._not,
            exp.Escape: self._escape,
            exp.Is: self._is,
            exp.NullSafeEQ: self._is_not_distinct_from,
            exp.Between: self._between,
            exp.In: self._in,
            exp.Exists: self._exists,
            exp.Subquery: self._scalar_query,
            exp.Case: self._case,
            exp.Bracket: self._subscript,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
        }

    @abstractmethod
    def query(self, node: exp.Expr | None) -> Queryable:
        """A SELECT or a UNION."""

    def _expression(self, node: exp.Expr, *, star: bool = False) -> Expr:
        converter = self.expressions.get(type(node))
        if converter is None:
            self._refuse(node, words(node), "dpsql does not support it here.", "Write it with columns and functions.")
        result = converter(node)
        if isinstance(result, AllColumns) and not star:
            self._refuse(node, "*", "all columns together are no value.", "Name the column, or write COUNT(*).")
        return result

    def _column(self, node: exp.Column) -> Expr:
        self._slots(node, "this", "table", "db", "catalog")
        parts = [node.args[slot] for slot in ("catalog", "db", "table", "this") if node.args.get(slot)]
        if len(parts) == 1:
            atom = self._atom(parts[0], (Role.NAME, Role.VALUE, Role.STAR), "a value", node)
            if atom.value is not None:
                return atom.value
        else:
            atom = self._atom(parts[-1], (Role.NAME, Role.STAR), "a column", node)
        owners = schemaless(tuple(self._name(part, node) for part in parts[:-1]), self.database)
        position = self._place(node)
        if atom.role is Role.STAR:
            if len(owners) > 1:
                self._refuse(node, "*", "its table is named by one word.", "Write table.*.")
            return AllColumns(owners[0] if owners else None, atom.choice.without, position=position)
        return Name((*owners, fold(atom.text)), atom.text, atom.quoted, position=position)

    def _choice(self, node: exp.Expr) -> StarClauses:
        """What a star chooses; nothing for any other entry of a select list."""
        handle = node.this if type(node) is exp.Column else None
        atom = self.atoms.get(str(handle.this)) if isinstance(handle, exp.Identifier) else None
        return StarClauses() if atom is None else atom.choice

    def _instead(self, star: Expr, replaced: Sequence[Item], choice: StarClauses) -> Expr:
        """A star with the entries that it shows in the place of columns."""
        if not isinstance(star, AllColumns):
            raise InvariantBroken("only a star chooses columns")
        for item in replaced:
            if item.alias is None or isinstance(item.expression, AllColumns):
                raise UnsupportedQuery(
                    "each of its values has the name of a column.", construct="* REPLACE", position=item.position,
                    hint="Write SELECT * REPLACE (a + 1 AS a).",
                )  # fmt: skip
        owner = () if star.table is None else (star.table,)
        renamed = [
            (old, Item(Name((*owner, old), old, position=new.position), name_of(new), old, position=new.position))
            for old, new in choice.renamed
        ]
        own = [(fold(item.name), item) for item in replaced]
        return dataclasses.replace(star, instead=(*own, *renamed))

    def _items(self, nodes: list[exp.Expr]) -> Iterator[Item]:
        """The entries of a select list; those of a star's REPLACE are its own."""
        waiting = iter(nodes)
        for node in waiting:
            choice, item = self._choice(node), self._item(node)
            if choice.replaced or choice.renamed:
                own = [self._item(next(waiting)) for _ in range(choice.replaced)]
                item = dataclasses.replace(item, expression=self._instead(item.expression, own, choice))
            yield item

    def _item(self, node: exp.Expr) -> Item:
        alias = None
        written = node
        if type(node) is exp.Alias:
            self._slots(node, "this", "alias")
            alias = self._column_alias(node.args["alias"], node).text
            written = node.this
        while type(written) is exp.Paren:  # the reader moves a parenthesis's comment to the alias
            self._slots(written, "this")
            written = written.this
        expression = self._expression(written, star=True)
        if alias is not None and isinstance(expression, AllColumns):
            self._refuse(node, "alias of *", "all columns cannot share one name.", "Name the columns.")
        measure(expression)  # before anything walks it by recursion
        return Item(expression, alias, column_name(expression), position=expression.position or self._place(node))

    def _call(self, node: exp.Anonymous) -> Expr:
        self._slots(node, "this", "expressions")
        atom = self._atom(node.this, (Role.FUNCTION,), "a function", node)
        written = list(node.expressions)
        order: tuple[OrderItem, ...] = ()
        if written and type(written[-1]) is exp.Order:
            last = written.pop()
            self._slots(last, "this", "expressions")
            order = tuple(self._ordered(key) for key in last.expressions)
            written.append(last.this)
        plain = list(itertools.takewhile(lambda part: not self._is_named(part), written))
        named = self._named(written[len(plain) :])
        arguments = tuple(self._expression(part, star=True) for part in plain)
        star = any(isinstance(argument, AllColumns) for argument in arguments)
        if star and (arguments != (AllColumns(None),) or atom.distinct or order):
            self._refuse(node, "* in a function", "it stands alone, in COUNT(*).", "Name the column.")
        return as_here(Call(
            fold(atom.text), () if star else arguments, named, distinct=atom.distinct, star=star, order=order,
            position=atom.position,
        ))  # fmt: skip

    def _subscript(self, node: exp.Bracket) -> Expr:
        """One element of a list, by its place from 1."""
        self._slots(node, "this", "expressions")
        written = node.this
        while type(written) is exp.Paren:  # the reader moves a parenthesis's comment behind the bracket
            written = written.this
        listed, place = self._expression(written), self._expression(node.expressions[0])
        return Call(SUBSCRIPT, (listed, place), position=listed.position)

    def _clause(self, node: exp.Expr | None) -> Expr | None:
        """The condition of WHERE or HAVING."""
        if node is None:
            return None
        self._slots(node, "this")
        return self._expression(node.this)

    def _order(self, node: exp.Expr | None, columns: Sequence[Item] = ()) -> tuple[OrderItem, ...]:
        if node is None:
            return ()
        self._slots(node, "expressions")
        if any(type(key.args.get("this")) is exp.Var for key in node.expressions):
            return self._order_all(node.expressions, columns)
        return tuple(self._ordered(key) for key in node.expressions)

    def _ordered(self, node: exp.Expr) -> OrderItem:
        if type(node) is not exp.Ordered:
            self._refuse(node, words(node), "this is not a key of ORDER BY.", "Write ORDER BY column.")
        self._slots(node, "this", "desc", "nulls_first")
        expression = self._expression(node.this)
        return OrderItem(
            expression, bool(node.args.get("desc")), bool(node.args.get("nulls_first")), position=expression.position
        )

    def _order_all(self, keys: list[exp.Expr], columns: Sequence[Item]) -> tuple[OrderItem, ...]:
        """``ORDER BY ALL``: by the number of each column, from left to right."""
        if len(keys) > 1 or not columns or any(isinstance(item.expression, AllColumns) for item in columns):
            message = "it stands alone, behind a SELECT that names its columns."
            self._refuse(keys[0], "ORDER BY ALL", message, "Write ORDER BY and the columns.")
        self._slots(keys[0], "this", "desc", "nulls_first")
        descending, first = (bool(keys[0].args.get(slot)) for slot in ("desc", "nulls_first"))
        return tuple(
            OrderItem(Literal(number, position=item.position), descending, first, position=item.position)
            for number, item in enumerate(columns, 1)
        )

    def _is_named(self, node: exp.Expr) -> bool:
        atom = self.atoms.get(str(node.this)) if type(node) is exp.Anonymous else None
        return atom is not None and atom.role is Role.NAMED

    def _named(self, nodes: list[exp.Expr]) -> tuple[tuple[str, Expr], ...]:
        """Named arguments, which come last, each once."""
        named: dict[str, Expr] = {}
        for node in nodes:
            if not self._is_named(node) or len(node.expressions) != 1:
                hint = "Write f(value, name => value)."
                self._refuse(node, "argument after a named one", "plain arguments come first.", hint)
            self._slots(node, "this", "expressions")
            atom = self._atom(node.this, (Role.NAMED,), "a named argument", node)
            name = fold(atom.text)
            if name in named:
                self._refuse(node, f"{name if name.isascii() else 'option'} twice", "it is given once.", "Drop one.")
            named[name] = self._expression(node.expressions[0])
        return tuple(named.items())

    def _filter(self, node: exp.Filter) -> Expr:
        self._slots(node, "this", "expression")
        call = self._modified(node)
        return dataclasses.replace(call, where=self._clause(node.expression))

    def _within_group(self, node: exp.WithinGroup) -> Expr:
        self._slots(node, "this", "expression")
        call = self._modified(node)
        if call.order or call.where:
            self._refuse(node, "WITHIN GROUP", "the order is given twice, or after FILTER.", "Write one ORDER BY.")
        order = self._order(node.expression)
        if call == Call("mode", position=call.position) and len(order) == 1:
            return dataclasses.replace(call, arguments=(order[0].expression,))  # which of equals comes first is drawn
        return dataclasses.replace(call, order=order, within_group=True)

    def _window(self, node: exp.Window) -> Expr:
        self._slots(node, "this", "partition_by", "order", "spec", "over")
        call = self._modified(node)
        partition = tuple(self._expression(key) for key in node.args.get("partition_by") or ())
        order = self._order(node.args.get("order"))
        return Window(call, partition, order, self._frame(node.args.get("spec")), position=call.position)

    def _frame(self, node: exp.WindowSpec | None) -> Frame | None:
        """ROWS or RANGE; None for the usual frame, which is RANGE up to the current row."""
        if node is None:
            return None
        self._slots(node, "kind", "start", "start_side", "end", "end_side")
        rows = node.args.get("kind") == "ROWS"
        start = self._frame_end(node, "start")
        end = self._frame_end(node, "end") if node.args.get("end") else 0
        if start > end or start == math.inf or end == -math.inf:
            self._refuse(node, "frame", "it starts behind its end.", "Write the earlier row first.")
        if not rows and not {start, end} <= {-math.inf, 0, math.inf}:
            self._refuse(node, "RANGE", *FRAMES)
        if not rows and (start, end) == (-math.inf, 0):
            return None
        return Frame(rows, *(None if math.isinf(side) else int(side) for side in (start, end)))

    def _frame_end(self, node: exp.WindowSpec, slot: str) -> float:
        """Rows from the current one, those before it negative."""
        written, sign = node.args[slot], -1 if node.args.get(f"{slot}_side") == "PRECEDING" else 1
        if isinstance(written, str):
            return sign * math.inf if written == "UNBOUNDED" else 0
        match self._expression(written):
            case Literal(value=int(rows)) if not isinstance(rows, bool) and rows < MOST_OFFSET:
                return sign * rows
        return self._refuse(node, "frame", "it takes a whole number of rows below 2^31.", "Write 2 PRECEDING.")

    def _modified(self, node: exp.Expr) -> Call:
        """The call that a FILTER, a WITHIN GROUP or an OVER follows."""
        kinds = (exp.Anonymous, exp.WithinGroup, *((exp.Filter,) if type(node) is exp.Window else ()))
        if type(node.this) not in kinds:
            self._refuse(node, words(node), "it follows a function.", "Write SUM(x) FILTER (WHERE ..).")
        call = self._expression(node.this)
        if not isinstance(call, Call):
            self._refuse(node, words(node), "it follows a function.", "Write SUM(x) FILTER (WHERE ..).")
        return call

    def _paren(self, node: exp.Paren) -> Expr:
        self._slots(node, "this")
        if not node.comments:  # the reader's own guess at what belongs together
            self._ambiguous(node)
        return self._expression(node.this)

    def _tuple(self, node: exp.Tuple) -> Expr:
        self._slots(node, "expressions")
        if len(node.expressions) < 2:
            self._refuse(node, "()", "there is nothing in the parentheses.", "Write a value.")
        return Call("row", tuple(self._expression(part) for part in node.expressions), position=self._place(node))

    def _between(self, node: exp.Between) -> Expr:
        self._slots(node, "this", "low", "high", "symmetric")
        self._plain_operands(node, node.this, node.args["low"], node.args["high"])
        if node.this.find(exp.Between):
            hint = "Write x >= low AND x <= high."
            self._refuse(node, "BETWEEN of a BETWEEN", "dpsql reads it around plain values.", hint)
        operand = self._expression(node.this)
        low, high = self._expression(node.args["low"]), self._expression(node.args["high"])
        found = _within(operand, low, high)
        if node.args.get("symmetric"):
            return Call("or", (found, _within(operand, high, low)), position=operand.position)
        return found

    def _in(self, node: exp.In) -> Expr:
        self._slots(node, "this", "expressions", "query")
        self._plain_operands(node, node.this)
        operand = self._expression(node.this)
        if node.args.get("query"):
            return InQuery(operand, self.query(node.args["query"]), False, position=operand.position)
        if not node.expressions:
            self._refuse(node, "IN", "its list is missing.", "Write IN (1, 2).")
        values = tuple(self._expression(value) for value in node.expressions)
        return InList(operand, values, False, position=operand.position)

    def _exists(self, node: exp.Exists) -> Expr:
        self._slots(node, "this")
        query = self.query(node.this)
        return Exists(query, False, position=query.position)

    def _scalar_query(self, node: exp.Subquery) -> Expr:
        query = self.query(node)
        return ScalarQuery(query, position=query.position)

    def _case(self, node: exp.Case) -> Expr:
        self._slots(node, "this", "ifs", "default")
        branches = []
        for branch in node.args["ifs"]:
            self._slots(branch, "this", "true")
            branches.append((self._expression(branch.this), self._expression(branch.args["true"])))
        operand, default = node.args.get("this"), node.args.get("default")
        return CaseExpression(
            self._expression(operand) if operand else None,
            tuple(branches),
            self._expression(default) if default else None,
            position=self._place(node),
        )

    def _cast(self, node: exp.Cast | exp.TryCast) -> Expr:
        self._slots(node, "this", "to", "safe")
        self._slots(node.args["to"], "this", "kind")
        atom = self._atom(node.args["to"].args.get("kind"), (Role.TYPE,), "a type", node)
        self.operators += 1
        operand = self._expression(node.this)
        safe = type(node) is exp.TryCast
        return Cast(operand, fold(atom.text), safe, atom.text, position=operand.position)


def _within(operand: Expr, low: Expr, high: Expr) -> Call:
    above = Call(">=", (operand, low), position=operand.position)
    below = Call("<=", (operand, high), position=operand.position)
    return Call("and", (above, below), position=operand.position)
