"""From names and calls to typed expressions: which overload, which bounds, or why not."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from dpsql.errors import UnsupportedQuery
from dpsql.plan import syntax
from dpsql.plan.functions import FUNCTIONS, GROWING, INTEGER_LIMIT, REAL_LIMIT, Function, Nulls, overloads
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.literals import read_date, read_timestamp
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type, Value

__all__ = ["Lookup", "Resolver", "as_constant", "columns_of", "nearest", "range_of", "substituted"]

SATURATION = 2**53  # grid steps at which a column without bounds saturates in its view
RELEASED = {Type.INTEGER: Fraction(2**60), Type.REAL: Fraction(10**30)}  # ends at which released values saturate
LONG = 2**63
EXACT = Context(prec=1_000, traps=[])  # more digits than doubles can tell apart, whatever their exponents
DECIMALS = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}

Lookup = Callable[[syntax.Expr], Expression | None]
"""What a node stands for where the context decides (names, aggregates, keys); None where it does not."""

CASTS = {
    **dict.fromkeys(("int", "integer", "bigint", "int4", "int8", "long", "signed", "hugeint"), "cast:integer"),
    **dict.fromkeys(("double", "real", "float", "float8", "float4", "numeric", "decimal"), "cast:real"),
    **dict.fromkeys(("varchar", "text", "string", "char"), "cast:text"),
    "date": "cast:date",
    **dict.fromkeys(("timestamp", "datetime"), "cast:timestamp"),
}
NAMES = sorted({function.name for function in FUNCTIONS if function.name.isidentifier()})
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "in", "is_distinct_from")
INTERVALS = {
    "year": ("add:months", 12), "quarter": ("add:months", 3), "month": ("add:months", 1),
    "week": ("add:days", 7), "day": ("add:days", 1),
    "hour": ("add:seconds", 3600), "minute": ("add:seconds", 60), "second": ("add:seconds", 1),
}  # fmt: skip
WIDEN = {(Type.INTEGER, Type.REAL): "cast:real", (Type.DATE, Type.TIMESTAMP): "cast:timestamp"}


def nearest(name: str, names: Sequence[str]) -> str:
    """``Did you mean ...?`` for a misspelt name, or the empty text."""
    close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.65)
    return f"Did you mean {' or '.join(close)}?" if close else ""


def as_constant(value: Value) -> Constant:
    """A constant with its type and bounds.

    >>> as_constant(3).facts.type
    <Type.INTEGER: 'integer'>
    """
    match value:
        case None:
            return Constant(None, Facts(Type.NULL))
        case bool():
            return Constant(value, Facts(Type.BOOLEAN, nullable=False))
        case int() if -LONG <= value < LONG:
            return Constant(value, Facts(Type.INTEGER, Fraction(value), Fraction(value), False, Fraction(1)))
        case int() | float() | Decimal():
            number = Fraction(value)
            return Constant(value, Facts(Type.REAL, number, number, False))
        case str():
            return Constant(value, Facts(Type.TEXT, nullable=False))
        case datetime():
            return Constant(value, Facts(Type.TIMESTAMP, value, value, False))
        case date():
            return Constant(value, Facts(Type.DATE, value, value, False))


def columns_of(expression: Expression) -> tuple[Column, ...]:
    """The distinct columns an expression reads, in order of first appearance."""
    match expression:
        case Column():
            return (expression,)
        case Constant():
            return ()
        case Apply():
            parts: tuple[Expression, ...] = expression.arguments
        case Case():
            parts = (*(part for branch in expression.branches for part in branch), expression.default)
    return tuple(dict.fromkeys(column for part in parts for column in columns_of(part)))


def _unknown(_: Column) -> Interval | None:
    return None


def substituted(expression: Expression, columns: Mapping[str, Expression]) -> Expression:
    """The expression with columns replaced by what they stand for, by name; others stay."""
    match expression:
        case Column():
            return columns.get(expression.name, expression)
        case Constant():
            return expression
        case Apply():
            return replace(expression, arguments=tuple(substituted(a, columns) for a in expression.arguments))
        case Case():
            branches = tuple(
                (substituted(when, columns), substituted(then, columns)) for when, then in expression.branches
            )
            return replace(expression, branches=branches, default=substituted(expression.default, columns))


def range_of(expression: Expression, *, hard: bool, known: Callable[[Column], Interval | None] = _unknown) -> Any:
    """Bounds of an expression: an `Interval` for numbers, a pair for dates, else the unbounded interval.

    Args:
        expression: Over one row.
        hard: Whether columns without declared bounds take the ends at which the engine saturates them. The hard
            range proves that nothing overflows; the declared one is what a sensitivity may rest on.
        known: Ranges of columns that are known better than their facts say.
    """
    facts = expression.facts
    match expression:
        case Column():
            own = known(expression)
            if own is not None:
                return own
            if facts.type in (Type.DATE, Type.TIMESTAMP):
                return (facts.low, facts.high)
            if not facts.type.numeric:
                return EVERYTHING
            if hard and not facts.bounded:
                released = expression.alias == "released"
                end = RELEASED[facts.type] if released else Fraction(SATURATION * (facts.step or 1))
                return Interval(-end, end)
            return _numeric(facts)
        case Constant():
            if facts.type in (Type.DATE, Type.TIMESTAMP):
                return (facts.low, facts.high)
            return _numeric(facts) if facts.type.numeric else EVERYTHING
        case Apply():
            if facts.type in (Type.DATE, Type.TIMESTAMP):
                return (None, None)
            ranges = tuple(range_of(argument, hard=hard, known=known) for argument in expression.arguments)
            certain = tuple(_certain(argument) for argument in expression.arguments)
            return expression.function.bounds(ranges, certain)
        case Case():
            if not facts.type.numeric:
                return (None, None) if facts.type in (Type.DATE, Type.TIMESTAMP) else EVERYTHING
            results = [result for _, result in expression.branches] + [expression.default]
            parts = [range_of(result, hard=hard, known=known) for result in results if not _is_null(result)]
            if not parts:
                return Interval.point(0)
            hull: Interval = parts[0]
            for part in parts[1:]:
                hull = hull.hull(part)
            return hull


def _numeric(facts: Facts) -> Interval:
    """The declared bounds of a number."""
    low, high = facts.low, facts.high
    return Interval(low if isinstance(low, Fraction) else None, high if isinstance(high, Fraction) else None)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _certain(expression: Expression) -> bool:
    """Whether it can never be NULL, whatever the data (declarations are not enough: data may break them)."""
    match expression:
        case Constant():
            return expression.value is not None
        case Apply(function=function):
            strict = function.nulls is Nulls.STRICT and all(map(_certain, expression.arguments))
            return strict or function.nulls is Nulls.NEVER
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves scalar syntax in one context.

    Attributes:
        lookup: What names, and in select lists aggregates and keys, stand for.
        parameters: Values of the statement's parameters.
    """

    lookup: Lookup
    parameters: tuple[Value, ...]

    def resolve(self, node: syntax.Expr) -> Expression:
        """The typed expression of a node.

        Raises:
            UnsupportedQuery: Unknown name, function or type; the message says what to write instead.
        """
        found = self.lookup(node)
        if found is not None:
            return found
        match node:
            case syntax.Literal():
                return as_constant(node.value)
            case syntax.Parameter():
                return as_constant(self._parameter(node))
            case syntax.Call():
                return self._call(node)
            case syntax.Case():
                return self._case(node)
            case syntax.InList():
                found = self.apply("in", (self.resolve(node.operand), *map(self.resolve, node.values)), node.position)
                return self.apply("not", (found,), node.position) if node.negated else found
            case syntax.Cast():
                return self._cast(node)
            case syntax.Star():
                raise UnsupportedQuery(
                    "a star stands for rows, and rows are never shown.",
                    construct="*", position=node.position, hint="Ask for aggregates, such as COUNT(*).",
                )  # fmt: skip
            case syntax.ScalarQuery():
                raise UnsupportedQuery(
                    "a sub-query as a value is an answer of its own.",
                    construct="scalar sub-query", position=node.position,
                    hint="Ask it first, then write its answer as a constant or a parameter (?). Where it depends on "
                    "the row outside, join a sub-query in FROM that is grouped by what they share.",
                )  # fmt: skip
            case _:
                raise UnsupportedQuery(
                    "this expression is not supported here.",
                    construct=_spoken(node), position=node.position, hint="See the accepted SQL in the README.",
                )  # fmt: skip

    def constant(self, node: syntax.Expr, what: str) -> Value:
        """The value of a literal or parameter (a sign in front is fine)."""
        resolved = self.resolve(node)
        if isinstance(resolved, Apply) and resolved.function.name == "negate":
            inner = resolved.arguments[0]
            if isinstance(inner, Constant) and isinstance(inner.value, int | float | Decimal):
                return -inner.value
        if not isinstance(resolved, Constant):
            raise UnsupportedQuery(
                f"{what} must be a constant.", construct=_spoken(node), position=node.position, hint="Write a literal."
            )
        return resolved.value

    def _parameter(self, node: syntax.Parameter) -> Value:
        if node.index >= len(self.parameters):
            raise UnsupportedQuery(
                f"the statement has parameter {node.index + 1}, but {len(self.parameters)} values came with it.",
                construct="parameter", position=node.position, hint="Pass one value for each ?.",
            )  # fmt: skip
        return self.parameters[node.index]

    def _case(self, node: syntax.Case) -> Expression:
        branches = []
        for when, then in node.branches:
            condition = self.resolve(when)
            if node.operand is not None:
                condition = self.apply("=", (self.resolve(node.operand), condition), when.position)
            branches.append((self.boolean(condition, when), self.resolve(then)))
        default = self.resolve(node.default) if node.default is not None else as_constant(None)
        results = self._unify([*(result for _, result in branches), default], node)
        facts = Facts(results[0].facts.type, nullable=any(result.facts.nullable for result in results))
        return _with_bounds(
            Case(tuple((when, then) for (when, _), then in zip(branches, results, strict=False)), results[-1], facts)
        )

    def _unify(self, expressions: list[Expression], node: syntax.Expr) -> list[Expression]:
        types = list(dict.fromkeys(e.facts.type for e in expressions if e.facts.type is not Type.NULL))
        for target in types or [Type.INTEGER]:
            converted = [_convert(expression, target) for expression in expressions]
            if all(expression is not None for expression in converted):
                return [expression for expression in converted if expression is not None]
        raise UnsupportedQuery(
            f"the branches have types {' and '.join(t.value for t in types)}.",
            construct="CASE", position=node.position, hint="Make every branch the same type.",
        )  # fmt: skip

    def boolean(self, expression: Expression, node: syntax.Expr) -> Expression:
        """The expression itself if it is a condition."""
        converted = _convert(expression, Type.BOOLEAN)
        if converted is None:
            raise UnsupportedQuery(
                f"a condition is needed here, not a value of type {expression.facts.type.value}.",
                construct=_spoken(node), position=node.position, hint="Compare it with something.",
            )  # fmt: skip
        return converted

    def _cast(self, node: syntax.Cast) -> Expression:
        operand = self.resolve(node.operand)
        name = CASTS.get(node.type_name.lower().split("(")[0].strip())
        if name in ("cast:date", "cast:timestamp") and isinstance(operand, Constant) and isinstance(operand.value, str):
            converted = _convert(operand, Type.DATE if name == "cast:date" else Type.TIMESTAMP)
            if converted is not None:
                return converted
        if name is None or not any(_convert(operand, f.parameters[0]) is not None for f in overloads(name)):
            raise UnsupportedQuery(
                f"a cast from {operand.facts.type.value} to {node.type_name} could fail on some row.",
                construct="CAST", position=node.position,
                hint="Casts between numbers, from dates to timestamps, and to text are fine.",
            )  # fmt: skip
        return self.apply(name, (operand,), node.position)

    def _call(self, node: syntax.Call) -> Expression:
        name = {"date_part": "extract", "datepart": "extract"}.get(node.name, node.name)
        if name in AGGREGATES and not overloads(name):
            raise _no_function(name, node.position)
        if node.named or node.distinct or node.where is not None or node.order or node.star:
            raise UnsupportedQuery(
                "named arguments, DISTINCT, FILTER, ORDER BY and * belong to aggregates.",
                construct=node.name, position=node.position, hint="Remove them here.",
            )  # fmt: skip
        if name in ("+", "-") and len(node.arguments) == 2 and isinstance(node.arguments[1], syntax.IntervalLiteral):
            span = node.arguments[1]
            function, factor = INTERVALS[span.unit]
            count = as_constant(span.count * factor * (1 if name == "+" else -1))
            return self.apply(function, (self.resolve(node.arguments[0]), count), node.position)
        if name == "extract" and len(node.arguments) == 2:
            part = self.constant(node.arguments[0], "the part to extract")
            return self.apply(str(part).lower(), (self.resolve(node.arguments[1]),), node.position)
        if name == "if" and len(node.arguments) == 3:
            when, then, otherwise = node.arguments
            return self._case(syntax.Case(None, ((when, then),), otherwise, position=node.position))
        if not overloads(name):
            raise _no_function(name, node.position)
        return self.apply(name, tuple(map(self.resolve, node.arguments)), node.position)

    def apply(self, name: str, arguments: tuple[Expression, ...], position: tuple[int, int] | None) -> Expression:
        """A function over resolved arguments: the first overload that fits and cannot overflow."""
        exact = _exact(name, arguments)
        if exact is not None:
            return exact
        candidates = overloads(name)
        _refuse_unit(name, arguments, position)
        if not candidates:
            raise _no_function(name, position)
        too_large = False
        for function in candidates:
            if not function.takes(len(arguments)):
                continue
            converted = [_convert(argument, function.parameter(i)) for i, argument in enumerate(arguments)]
            if any(argument is None for argument in converted):
                continue
            taken = tuple(argument for argument in converted if argument is not None)
            _check_constants(function, taken, position)
            result = _with_bounds(Apply(function, taken, Facts(function.result, nullable=_nullable(function, taken))))
            if _fits(result):
                return result
            too_large = True
        raise _no_overload(name, candidates, arguments, position, too_large=too_large)


AGGREGATES = ("count", "sum", "avg", "min", "max", "median", "quantile_cont", "stddev", "variance", "mode", "count_if")


def _no_overload(
    name: str,
    candidates: list[Function],
    arguments: tuple[Expression, ...],
    position: tuple[int, int] | None,
    *,
    too_large: bool,
) -> UnsupportedQuery:
    types = [argument.facts.type for argument in arguments]
    if too_large:
        reason = "the result could be too large for the engine."
        hint = "Declare or narrow the bounds of its columns, or keep it within constants: LEAST(x, 500)."
    elif name in COMPARISONS and Type.TEXT in types and len(set(types)) > 1:
        reason = f"it compares {' with '.join(dict.fromkeys(t.value for t in types))}."
        hint = "Write a value of the column's own type: numbers without quotes, text and dates in single quotes."
    else:
        reason = f"it does not take ({', '.join(t.value for t in types) or 'no arguments'})."
        hint = _signatures(candidates)
    return UnsupportedQuery(reason, construct=name, position=position, hint=hint)


def _no_function(name: str, position: tuple[int, int] | None) -> UnsupportedQuery:
    if name in AGGREGATES:
        return UnsupportedQuery(
            "an aggregate cannot stand here.", construct=name.upper(), position=position,
            hint="Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.",
        )  # fmt: skip
    if name == "row":
        return UnsupportedQuery(
            "tuples are not supported.",
            construct="(a, b)",
            position=position,
            hint="Compare column by column, with AND.",
        )
    return UnsupportedQuery(
        "there is no such function here.", construct=name, position=position,
        hint=nearest(name, (*NAMES, *AGGREGATES)) or "See the list of functions in the documentation.",
    )  # fmt: skip


def _exact(name: str, arguments: tuple[Expression, ...]) -> Constant | None:
    """``0.06 + 0.01`` is 0.07, as decimals have it: what is computed from written decimals alone, else None."""
    values = [argument.value for argument in arguments if isinstance(argument, Constant)]
    numbers = [Decimal(v) for v in values if isinstance(v, int | Decimal) and not isinstance(v, bool)]
    if (
        name not in DECIMALS
        or not len(arguments) == len(numbers) == 2
        or not any(isinstance(v, Decimal) for v in values)
    ):
        return None
    result = DECIMALS[name](*numbers)
    return as_constant(result) if result.is_finite() else None


def _refuse_unit(name: str, arguments: tuple[Expression, ...], position: tuple[int, int] | None) -> None:
    """Nothing is computed from the privacy unit; it may only equal itself, which is a join."""
    units = [argument for argument in arguments if isinstance(argument, Column) and argument.identifies]
    if units and not (name == "=" and len(units) == 2) and name != "is_null":
        raise UnsupportedQuery(
            "the privacy unit stands beside nothing but itself: anything else could single out a person.",
            construct=units[0].name, position=position,
            hint=f"It may stand in joins and in COUNT(DISTINCT {units[0].name}).",
        )  # fmt: skip


def _signatures(candidates: list[Function]) -> str:
    shown = dict.fromkeys(
        f"({', '.join(p.value for p in f.parameters)}{', ...' if f.variadic else ''})" for f in candidates
    )
    return "It takes " + " or ".join(list(shown)[:4]) + "."


def _check_constants(function: Function, arguments: tuple[Expression, ...], position: tuple[int, int] | None) -> None:
    for index in sorted(function.constants):
        argument = arguments[index]
        if not isinstance(argument, Constant) or argument.value is None:
            raise UnsupportedQuery(
                f"argument {index + 1} must be a constant.", construct=function.name, position=position,
                hint="Write a literal there.",
            )  # fmt: skip
        choices = function.choices.get(index)
        if choices and str(argument.value).lower() not in choices:
            raise UnsupportedQuery(
                f"argument {index + 1} must be one of {', '.join(choices)}.", construct=function.name,
                position=position, hint=nearest(str(argument.value), choices) or f"Write '{choices[0]}', say.",
            )  # fmt: skip
        if isinstance(argument.value, int) and not isinstance(argument.value, bool) and abs(argument.value) > 10**6:
            raise UnsupportedQuery(
                f"argument {index + 1} must lie within a million of 0.", construct=function.name, position=position,
                hint="Write a smaller number.",
            )  # fmt: skip


def _nullable(function: Function, arguments: tuple[Expression, ...]) -> bool:
    match function.nulls:
        case Nulls.NEVER:
            return False
        case Nulls.ALL:
            return all(argument.facts.nullable for argument in arguments)
        case Nulls.MAY:
            return True
        case Nulls.STRICT:
            return any(argument.facts.nullable for argument in arguments)


def _with_bounds(expression: Apply | Case) -> Expression:
    facts = expression.facts
    if not facts.type.numeric:
        return expression
    bounds = range_of(expression, hard=False)
    whole = facts.type is Type.INTEGER or (isinstance(expression, Apply) and expression.function.integral)
    known = Facts(facts.type, bounds.low, bounds.high, facts.nullable, Fraction(1) if whole else None)
    if isinstance(expression, Case):
        return Case(expression.branches, expression.default, known)
    return Apply(expression.function, expression.arguments, known)


def _fits(expression: Expression) -> bool:
    if not expression.facts.type.numeric:
        return True
    if isinstance(expression, Apply) and expression.function.name not in GROWING:
        return True
    limit = INTEGER_LIMIT if expression.facts.type is Type.INTEGER else REAL_LIMIT
    return bool(range_of(expression, hard=True).within(limit))


def _convert(expression: Expression, target: Type) -> Expression | None:
    """The expression at another type where nothing can be lost or fail, else None."""
    source = expression.facts.type
    if source is target:
        return expression
    if isinstance(expression, Constant):
        value = expression.value
        if value is None:
            return Constant(None, Facts(target))
        if isinstance(value, str) and target in (Type.DATE, Type.TIMESTAMP):
            return _moment(value, target)
        if isinstance(value, int) and target is Type.REAL and not isinstance(value, bool):
            number = Fraction(value)
            return Constant(value, Facts(Type.REAL, number, number, False, Fraction(1)))
        if isinstance(value, date) and not isinstance(value, datetime) and target is Type.TIMESTAMP:
            return as_constant(datetime.combine(value, time()))
        return None
    name = WIDEN.get((source, target))
    if name is None:
        return None
    function = next(f for f in overloads(name) if f.parameters == (source,))
    return _with_bounds(Apply(function, (expression,), Facts(target, nullable=expression.facts.nullable)))


def _moment(text: str, target: Type) -> Expression | None:
    """A text beside a date or timestamp, where it spells one."""
    for read in (read_date, read_timestamp) if target is Type.TIMESTAMP else (read_date,):
        try:
            return _convert(as_constant(read(text).value), target)
        except UnsupportedQuery:
            continue
    return None


def _spoken(node: syntax.Expr) -> str:
    match node:
        case syntax.Call():
            return node.name
        case syntax.ScalarQuery():
            return "scalar sub-query"
        case syntax.InQuery() | syntax.Exists():
            return "sub-query in a condition"
        case syntax.IntervalLiteral():
            return "INTERVAL"
        case syntax.Name():
            return ".".join(node.parts)
        case _:
            return type(node).__name__
