"""Numbers at the ends of what there may be: expressions over them, drawn at random, and what an engine makes of them.

Columns whose bounds are tiny, huge, or hold 0, and rows at the ends of these bounds: there products vanish and powers
grow out of reach. No row may make a statement fail, be infinite or no number, leave the bounds that the plan knows, or
be NULL where the plan knows of none.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.engine.dialect import Dialect
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.limits import FARTHEST_STEP
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver, arguments_of
from dpsql.plan.values.ranges import known_range
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = [
    "COLUMNS",
    "ROWS",
    "TYPES",
    "Selected",
    "below",
    "drawn",
    "resolved",
    "rows_at_the_ends",
    "selected",
    "wrong",
]

_BOUNDS: dict[str, Sequence[str]] = {
    "tiny": ("1e-60", "1e-50"), "low": ("0", "1e-60"), "part": ("0.001", "1"), "half": ("0", "1"),
    "signed": ("-1000", "1000"), "huge": ("1", "1e60"), "wide": ("-1e60", "1e60"), "free": (),
}  # fmt: skip
"""Bounds of reals, the widest that a policy may write among them."""
_WHOLE: dict[str, Sequence[int]] = {"n": (0, 100), "m": (-99, 93)}


def _column(name: str, kind: Type, ends: Sequence[str | int]) -> Column:
    low, high = map(Fraction, ends) if ends else (None, None)
    return Column("t", name, Facts(kind, low, high, nullable=False))


COLUMNS = {
    **{name: _column(name, Type.REAL, ends) for name, ends in _BOUNDS.items()},
    **{name: _column(name, Type.INTEGER, ends) for name, ends in _WHOLE.items()},
}
TYPES = {name: "BIGINT" if name in _WHOLE else "DOUBLE" for name in COLUMNS}
_HOSTILE = [
    0.0, 5e-324, 1e-300, 1e-200, 3e-150, -3e-150, 1e-118, 3e-118, 1e-100, 1e-61, 1e-60, 3e-60, 0.001, 0.5, 1.0, -1.0,
    1.0000000000000002, 2.0, 3.3, 345.6, -600.5, 709.9, 1e15, 1e30, -1e30, 1e59,
]  # fmt: skip
ROWS = 60

_CONSTANTS = ["0e0", "1e0", "2e0", "-6e0", "5e-1", "1e-60", "1e-118", "3e-150", "1e-200", "1e60", "1e150", "1e300"]
_UNARY = """
    ln({}) | log10({}) | log2({}) | sqrt({}) | cbrt({}) | exp({}) | exp(-{}) | abs({}) | (-{}) | sin({}) | cos({}) |
    tan({}) | tanh({}) | atan({}) | asin({}) | acos({}) | degrees({}) | radians({}) | floor({}) | round({}) | sign({}) |
    round({}, 2) | round({}, -15) | trunc({}, 15) | pow({}, 2) | pow({}, 3) | pow({}, 60) | pow({}, 100) | (1 / {}) |
    (1e-60 * {}) | (1e60 * {}) | (1e-200 * {}) | CAST({} AS FLOAT) | CAST({} AS DECIMAL(38, 10)) | ({} + 1e0) | (1 - {})
""".split("|")
_BINARY = """
    ({} + {}) | ({} - {}) | ({} * {}) | ({} * {}) | ({} / {}) | ({} / {}) | ({} % {}) | pow({}, {}) | log({}, {}) |
    atan2({}, {}) | greatest({}, {}) | least({}, {}) | nullif({}, {}) | coalesce({}, {}) |
    CASE WHEN {} > 1 THEN {} END | CASE WHEN {} < 0.5 THEN 1.5 ELSE {} END
""".split("|")
FORMS = [[form.strip() for form in forms] for forms in (_UNARY, _BINARY)]


@dataclass(frozen=True)
class Selected:
    """Expressions as one list behind SELECT.

    Attributes:
        sql: Their SQL, with commas between.
        parameters: What is bound.
    """

    sql: str
    parameters: list[object]


def _text(chance: random.Random, depth: int) -> str:
    """SQL of a number, nested at most so deep."""
    if depth <= 0:
        return chance.choice([*COLUMNS] * 2 + _CONSTANTS)
    form = chance.choice(FORMS[chance.random() < 0.45])
    return form.format(*(_text(chance, depth - chance.randint(1, 2)) for _ in range(form.count("{}"))))


def resolved(text: str) -> Expression:
    """The expression that a text means over these columns.

    Raises:
        UnsupportedQuery: It is refused.
    """
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)

    def lookup(node: syntax.Expr) -> Expression | None:
        return COLUMNS.get(node.parts[-1]) if isinstance(node, syntax.Name) else None

    return Resolver(lookup, ()).resolve(statement.select.items[0].expression)


def drawn(seed: int, dialect: Dialect) -> Iterator[tuple[str, Expression]]:
    """Texts that the plan takes and the dialect has words for, without end."""
    chance = random.Random(seed)
    while True:
        text = _text(chance, chance.randint(1, 4))
        try:
            found = resolved(text)
            selected([found], dialect)
        except UnsupportedQuery:
            continue
        yield text, found


def selected(expressions: Sequence[Expression], dialect: Dialect) -> Selected:
    """Expressions in a dialect's words."""
    printer = Printer(dialect)
    sql = ", ".join([printer.expression(expression) for expression in expressions])
    return Selected(sql, list(printer.parameters))


def rows_at_the_ends(seed: int = 0) -> list[tuple[float, ...]]:
    """Rows whose every value is inside its column's bounds, many of them at an end, or next to 0."""
    chance = random.Random(seed)
    values = []
    for name, column in COLUMNS.items():
        known = known_range(column) if column.facts.bounded else Interval.point(0).hull(_SATURATED)
        low, high = float(known.low or 0), float(known.high or 0)
        inside = [value for value in _HOSTILE if low <= value <= high]
        if name in _WHOLE:
            inside = [int(low), int(high), 0, 1, 2, 60, int(high) - 1]
        values.append([low if name not in _WHOLE else int(low), high if name not in _WHOLE else int(high), *inside])
    return [tuple(chance.choice(own) for own in values) for _ in range(ROWS)]


_SATURATED = Interval(Fraction(-FARTHEST_STEP), Fraction(FARTHEST_STEP))


def wrong(expression: Expression, value: object) -> str:
    """What is wrong with a value of an expression; empty where nothing is."""
    if value is None:
        return "" if expression.facts.nullable else "it is NULL, and the plan knows of none"
    if not isinstance(value, int | float) or not math.isfinite(value):
        return "it is no number"
    known = known_range(expression)
    low, high = (None if end is None else float(end) for end in (known.low, known.high))
    outside = (low is not None and value < low) or (high is not None and value > high)
    return f"it lies outside of {low} to {high}" if outside else ""


def below(expression: Expression) -> Iterator[Expression]:
    """An expression, and all that it is made of."""
    yield expression
    for argument in arguments_of(expression):
        yield from below(argument)
