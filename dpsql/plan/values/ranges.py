"""What is publicly known of an expression's values: bounds, lengths, certainty, size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any, TypeVar

from dpsql.limits import FARTHEST_STEP, SATURATION
from dpsql.plan.catalog import ColumnInfo
from dpsql.plan.functions import Function, Nulls, Spelt
from dpsql.plan.functions.days import FIRST, LAST
from dpsql.plan.functions.rules import hull
from dpsql.plan.functions.table import Length
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Total, Windowed
from dpsql.plan.types import Facts, Type, Value

__all__ = [
    "DATED",
    "hull_of",
    "is_certain",
    "is_null",
    "known_range",
    "length_of",
    "letters_of",
    "printed_size",
    "range_of",
    "reading",
    "released_reach",
    "showing",
    "uncut",
    "value_of",
    "with_bounds",
    "with_length",
]

RELEASED = {Type.INTEGER: Fraction(SATURATION), Type.REAL: Fraction(10**30)}
"""Where released numbers lie, those of earlier stages included. Whole ones saturate there, for an overflow would fail.
Of reals it is assumed, and a choice: far beyond what people measure. From one beyond an infinite number may come, which
fails nowhere but in a cast, and a rehearsal with the largest doubles refuses that."""
LONG = Interval(Fraction(-(2**63)), Fraction(2**63 - 1))  # What a signed 64-bit integer can be.
DATED = (Type.DATE, Type.TIMESTAMP)
Shown = TypeVar("Shown", Column, ColumnInfo)
PRINTED = 30  # Letters of a number, a date or a truth value as a text, at most.


def range_of(expression: Expression, *, hard: bool) -> Any:
    """Bounds of an expression: an `Interval` for numbers, a pair for dates, the text of a constant text, else the
    unbounded interval.

    Args:
        expression: Over one row.
        hard: Whether columns without declared bounds take the ends at which the engine saturates them. The hard
            range proves that nothing overflows; the declared one is what a sensitivity may rest on.
    """
    facts = expression.facts
    match expression:
        case Column():
            if hard and facts.type.numeric and not facts.bounded:
                if expression.reach is not None:
                    return expression.reach
                released = expression.alias == "released"
                end = RELEASED[facts.type] if released else Fraction(FARTHEST_STEP * (facts.step or 1))
                return Interval(-end, end)
            found = known_range(expression)
        case Constant():
            return known_range(expression)
        case Apply():
            ranges = tuple(range_of(argument, hard=hard) for argument in expression.arguments)
            certain = tuple(map(is_certain, expression.arguments))
            found = expression.function.bounds(ranges, certain, hard=hard)
        case Case():
            results = [result for _, result in expression.branches] + [expression.default]
            parts = [range_of(result, hard=hard) for result in results if not is_null(result)]
            found = hull_of(parts, facts.type)
        case Windowed() | Total():
            ranges = tuple(range_of(argument, hard=hard) for argument in expression.arguments)
            found = expression.function.bounds(ranges, tuple(map(is_certain, expression.arguments)), hard=hard)
    return _filled(found, facts.type) if hard else found


def showing(column: Column, *expressions: Expression) -> Column:
    """A column that shows expressions over other rows, with what is certain of its numbers and texts.

    Args:
        column: With its facts alone.
        expressions: What it shows; several where rows of several relations follow one another.
    """
    facts = column.facts
    if facts.type is Type.TEXT:
        return with_length(column, *expressions)
    if column.identifies or facts.bounded or not facts.type.numeric:  # nothing is computed from who it is
        return column
    return replace(column, reach=hull(tuple(range_of(own, hard=True) for own in expressions)))


def with_length(column: Shown, *expressions: Expression) -> Shown:
    """A column that shows expressions over other rows, with how long its texts are."""
    if column.facts.type is not Type.TEXT:
        return column
    times, plus = zip(*map(length_of, expressions), strict=True)
    found = max(times), max(plus)
    stand = found == (1, 0)  # they are texts of a table
    return replace(column, length=None if stand else found, letters=max(map(letters_of, expressions)))


def uncut(column: Column, expression: Expression) -> Column:
    """A released column that shows what has no noise as it is, also farther out than released numbers lie."""
    column = with_length(column, expression)
    if column.facts.type is not Type.INTEGER or (own := range_of(expression, hard=True)).within(SATURATION):
        return column
    return replace(column, reach=own.hull(Interval(-RELEASED[Type.INTEGER], RELEASED[Type.INTEGER])))


def reading(reach: Interval | None) -> int:
    """How far from 0 the worker without data reads whole numbers that lie there; None: where released ones lie."""
    ends = [abs(int(end)) for end in (reach.low, reach.high) if end is not None] if reach is not None else []
    return max(ends, default=SATURATION)


def released_reach(expression: Expression) -> Interval | None:
    """Where the numbers of an answer as a table lie; those of a column without noise are as large as there."""
    kind = expression.facts.type
    if not kind.numeric:
        return None
    own = Interval(-RELEASED[kind], RELEASED[kind])
    found: Interval = own.hull(range_of(expression, hard=True)) if isinstance(expression, Column) else own
    return found


def known_range(expression: Expression) -> Any:
    """The same for ``hard=False`` as the expression's own facts say it: nothing is worked out again."""
    facts = expression.facts
    if facts.type.numeric:
        low, high = facts.low, facts.high
        ends = low if isinstance(low, Fraction) else None, high if isinstance(high, Fraction) else None
        return Interval(*ends).settled
    if facts.type in DATED:
        return _moment(facts.low, facts.type), _moment(facts.high, facts.type)
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        return expression.value
    return EVERYTHING


def _moment(end: Any, kind: Type) -> Any:
    """A timestamp's bound may be written as a day."""
    if kind is Type.TIMESTAMP and isinstance(end, date) and not isinstance(end, datetime):
        return datetime.combine(end, time.min)
    return end


def hull_of(parts: list[Any], kind: Type) -> Any:
    """The smallest range that holds the results of a CASE that are not NULL."""
    if not kind.numeric and kind not in DATED:
        return EVERYTHING
    if not parts:  # all branches are NULL
        return Interval.point(0) if kind.numeric else (None, None)
    return hull(tuple(parts))


def _filled(found: Any, kind: Type) -> Any:
    """What the type itself says of values without other bounds."""
    if kind is Type.INTEGER:
        return Interval(LONG.low if found.low is None else found.low, LONG.high if found.high is None else found.high)
    if kind is Type.DATE:
        return FIRST.date() if found[0] is None else found[0], LAST.date() if found[1] is None else found[1]
    if kind is Type.TIMESTAMP:
        return found[0] or FIRST, found[1] or LAST
    return found


def is_null(expression: Expression) -> bool:
    """Whether it is a NULL that is written."""
    return isinstance(expression, Constant) and expression.value is None


def is_certain(expression: Expression) -> bool:
    """Whether it can never be NULL, whatever the data (declarations are not enough: data may break them)."""
    match expression:
        case Constant():
            return expression.value is not None
        case Apply(function=function):
            certain = map(is_certain, expression.arguments)
            match function.nulls:
                case Nulls.STRICT | Nulls.ONLY:
                    return all(certain)
                case Nulls.ALL:
                    return any(certain)
            return function.nulls is Nulls.NEVER
        case Case():
            return is_certain(expression.default) and all(is_certain(result) for _, result in expression.branches)
        case _:
            return False


def length_of(expression: Expression) -> Length:
    """How long a text can be: (a, b) for a times the longest text of the row, plus b characters."""
    return _length_of(expression, lambda column: column.length or (1, 0))


def letters_of(expression: Expression) -> int:
    """Letters of a text at most, by how long the texts of tables may be."""
    return _length_of(expression, lambda column: (0, column.letters))[1]


def _length_of(expression: Expression, standing: Callable[[Column], Length]) -> Length:
    """How long a text can be, from how long those of the row are."""
    match expression:
        case Column():
            return standing(expression) if expression.facts.type is Type.TEXT else (0, PRINTED)
        case Constant(value=value):
            return 0, len(value) if isinstance(value, str) else PRINTED
        case Apply(function=function):
            lengths = [_length_of(argument, standing) for argument in expression.arguments]
            return _length(function, lengths, [value_of(argument) for argument in expression.arguments])
        case Case():
            results = [*(result for _, result in expression.branches), expression.default]
            lengths = [_length_of(result, standing) for result in results]
            return max(times for times, _ in lengths), max(plus for _, plus in lengths)
        case Windowed(function=function) | Total(function=function):
            return _length(function, [_length_of(argument, standing) for argument in expression.arguments], [])


def _length(function: Function, lengths: list[Length], values: list[Value]) -> Length:
    if function.length is not None:
        return function.length(lengths, values)
    return max((times for times, _ in lengths), default=0), max((plus for _, plus in lengths), default=0)


def value_of(expression: Expression) -> Value:
    """The value of a constant, else None."""
    return expression.value if isinstance(expression, Constant) else None


def printed_size(
    expression: Expression, most: int, spelt: Callable[[Function], Spelt] = Spelt.as_written
) -> tuple[int, int]:
    """(nodes as the engine will read them, nesting); counting stops soon after ``most`` nodes.

    A guard names its argument twice, so guards inside guards multiply.

    Args:
        expression: What is read.
        most: Nodes.
        spelt: How often the engine's words for a function say its arguments.
    """
    nodes, deepest = 0, 0
    waiting: list[tuple[Expression, int, int]] = [(expression, 1, 1)]
    while waiting and nodes <= most:
        node, times, depth = waiting.pop()
        nodes += times
        deepest = max(deepest, depth)
        match node:
            case Apply(function=function, arguments=arguments):
                said = spelt(function).copies
                for index, argument in enumerate(arguments):
                    waiting.append((argument, times * said[min(index, len(said) - 1)], depth + 1))
            case Case():
                parts = (*(part for branch in node.branches for part in branch), node.default)
                waiting.extend((part, times, depth + 1) for part in parts)
            case Windowed(function=function):
                copies = max(function.sql.count("{over}"), 1)
                waiting.extend((part, times * copies, depth + 1) for part in node.parts)
            case Total(arguments=arguments, where=where):
                parts = arguments if where is None else (*arguments, where)
                waiting.extend((part, times, depth + 1) for part in parts)
            case _:
                pass
    return nodes, deepest


def with_bounds(facts: Facts, bounds: Any, step: Fraction | None) -> Facts:
    """The facts with bounds worked out, without hints that belong to bare columns."""
    if facts.type.numeric:
        return Facts(facts.type, bounds.low, bounds.high, facts.nullable, step)
    if facts.type in DATED:
        return Facts(facts.type, bounds[0], bounds[1], facts.nullable)
    return facts
