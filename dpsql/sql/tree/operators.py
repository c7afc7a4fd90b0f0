"""Operators, and predicates that are written as operators: how they nest, and what they mean."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import NoReturn

from sqlglot import exp

from dpsql.sql.atoms import Role
from dpsql.sql.syntax import Call, Exists, Expr, InList, InQuery, Literal
from dpsql.sql.tree.base import DEEPEST_TREE, Reader, too_deep

__all__ = ["OPERATORS", "Operators"]

OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.NullSafeNEQ: "is_distinct_from",
    exp.RegexpLike: "regexp_matches",
    exp.SimilarTo: "regexp_full_match",
}
_PATTERNS = (exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo)
_WORDED = (exp.And, exp.Or, *_PATTERNS, exp.NullSafeNEQ)  # Operators that are words to the reader, not signs.
_OPERATOR_SLOTS = frozenset({"this", "expression", "typed", "safe"})
"""The arguments of an operator's node; the last two describe the dialect."""

# Readers differ on how these nest without parentheses: DuckDB refuses a < b < c and gives IN and IS ranks of their own.
_PREDICATES: tuple[type[exp.Expr], ...] = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    *_PATTERNS,
    exp.Escape,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Not,
)


class Operators(Reader):
    """Converts operators; what they stand between is left to the subclass."""

    @abstractmethod
    def _expression(self, node: exp.Expr, *, star: bool = False) -> Expr:
        """Any expression."""

    def _operator(self, node: exp.Expr) -> Expr:
        """A binary operator; a chain of them is followed by a loop, for it may be long."""
        spine: list[exp.Expr] = []
        left = node
        while type(left) in OPERATORS:
            self._slots(left, *_OPERATOR_SLOTS, *(("negate",) if type(left) in _PATTERNS else ()))
            self._plain_operands(left, left.this, left.expression)
            spine.append(left)
            self.operators += type(left) not in _WORDED
            left = left.this
        if len(spine) > DEEPEST_TREE:
            raise too_deep(self._place(left))
        result = self._expression(left)
        for operator in reversed(spine):
            right = self._expression(operator.expression)
            result = Call(OPERATORS[type(operator)], (result, right), position=result.position)
            if operator.args.get("negate"):
                result = _not(result)
        return result

    def _plain_operands(self, node: exp.Expr, *operands: exp.Expr) -> None:
        """Refuse a predicate inside a predicate, or a NOT inside anything, where no parentheses say what is meant."""
        if type(node) in (exp.And, exp.Or):
            return
        for operand in operands:
            if type(operand) in (*_PREDICATES, exp.And, exp.Or):
                self._ambiguous(operand)

    def _ambiguous(self, node: exp.Expr) -> NoReturn:
        hint = "Write AND between comparisons, or parentheses around the inner one."
        self._refuse(node, "comparison of a comparison", "readers differ on what belongs together.", hint)

    def _negate(self, node: exp.Neg) -> Expr:
        self._slots(node, "this")
        self._plain_operands(node, node.this)
        self.operators += 1
        operand = self._expression(node.this)
        return Call("negate", (operand,), position=operand.position)

    def _not(self, node: exp.Not) -> Expr:
        self._slots(node, "this")
        operand = self._expression(node.this)
        bare = type(node.this) in (exp.In, exp.Exists)
        if bare and isinstance(operand, InList | InQuery | Exists):
            return dataclasses.replace(operand, negated=True)
        if type(node.this) in (exp.Is, exp.NullSafeEQ) and isinstance(operand, Call) and operand.name == "not":
            return operand.arguments[0]  # IS NOT TRUE: the reader's NOT around our own
        return _not(operand)

    def _escape(self, node: exp.Escape) -> Expr:
        """``LIKE .. ESCAPE ..``, which is a function, as in DuckDB."""
        self._slots(node, "this", "expression")
        like = node.this
        if type(like) not in (exp.Like, exp.ILike):
            self._refuse(node, "ESCAPE", "it follows LIKE and its pattern.", "Write text LIKE pattern ESCAPE '!'.")
        self._slots(like, *_OPERATOR_SLOTS, "negate")
        self._plain_operands(like, like.this, like.expression)
        name = f"{'not_' if like.args.get('negate') else ''}{OPERATORS[type(like)]}_escape"
        text, pattern = self._expression(like.this), self._expression(like.expression)
        escape = self._atom(node.expression.this, (Role.VALUE,), "a text", node).value
        if escape is None:
            self._refuse(node, "ESCAPE", "it takes one character.", "Write text LIKE pattern ESCAPE '!'.")
        return Call(name, (text, pattern, escape), position=text.position)

    def _is(self, node: exp.Is) -> Expr:
        self._slots(node, "this", "expression")
        self._plain_operands(node, node.this)
        operand = self._expression(node.this)
        match node.expression:
            case exp.Null():
                return Call("is_null", (operand,), position=operand.position)
            case exp.Boolean(this=bool(truth)):
                constant = Literal(truth, position=operand.position)
                return _not(Call("is_distinct_from", (operand, constant), position=operand.position))
        return self._refuse(node, "IS", "it takes NULL, TRUE or FALSE.", "Write IS NULL, or use =.")

    def _is_not_distinct_from(self, node: exp.NullSafeEQ) -> Expr:
        self._slots(node, "this", "expression")
        self._plain_operands(node, node.this, node.expression)
        left, right = self._expression(node.this), self._expression(node.expression)
        return _not(Call("is_distinct_from", (left, right), position=left.position))


def _not(operand: Expr) -> Expr:
    return Call("not", (operand,), position=operand.position)
