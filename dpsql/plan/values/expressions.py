"""From names and calls to typed expressions: which function, which bounds, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS
from dpsql.plan.functions import Function, overloads
from dpsql.plan.functions.casts import DECIMALS, DIGITS, cast_name, decimal_cast, decimal_text
from dpsql.plan.functions.dates import PARTS
from dpsql.plan.functions.refused import REFUSED
from dpsql.plan.functions.rules import hull
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Total, Windowed
from dpsql.plan.types import Facts, Passed, Type, Value
from dpsql.plan.values.applied import applied, nearest, no_function, refuse_large
from dpsql.plan.values.conversions import as_constant, computed, converted, met, recast
from dpsql.plan.values.identities import refuse_unit
from dpsql.plan.values.multiples import multiple_of_all, within
from dpsql.plan.values.partners import refuse_as_value
from dpsql.plan.values.people_windows import refused_elsewhere
from dpsql.plan.values.ranges import known_range, range_of, with_bounds
from dpsql.plan.values.rounded import rounded
from dpsql.plan.values.spans import in_other_words
from dpsql.sql import naming, syntax
from dpsql.sql.elements import SUBSCRIPT
from dpsql.sql.refused import QUARTERS, SINCE_1970

__all__ = [
    "Lookup",
    "Resolver",
    "all_of",
    "arguments_of",
    "as_constant",
    "columns_of",
    "nearest",
    "range_of",
    "refuse_large",
    "substituted",
    "where_true",
]

Lookup = Callable[[syntax.Expr], Expression | None]
"""What a node stands for where the context decides (names, aggregates, keys); None where it does not."""

INTERVALS = {
    "year": ("add:months", 12), "quarter": ("add:months", 3), "month": ("add:months", 1),
    "week": ("add:days", 7), "day": ("add:days", 1),
    "hour": ("add:seconds", 3600), "minute": ("add:seconds", 60), "second": ("add:seconds", 1),
}  # fmt: skip
"""Each unit of an INTERVAL: the primitive that adds it, and how many months, days or seconds it has."""
SIZED = ("decimal", "text")  # Casts that may carry a size: DECIMAL(18, 3), VARCHAR(10).


def arguments_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is directly made of."""
    match expression:
        case Column() | Constant():
            return ()
        case Apply():
            return expression.arguments
        case Case():
            return (*(part for branch in expression.branches for part in branch), expression.default)
        case Windowed():
            return expression.parts
        case Total(arguments=arguments, where=where):
            return arguments if where is None else (*arguments, where)


def columns_of(expression: Expression) -> tuple[Column, ...]:
    """The distinct columns an expression reads, in order of first appearance."""
    if isinstance(expression, Column):
        return (expression,)
    return tuple(dict.fromkeys(column for part in arguments_of(expression) for column in columns_of(part)))


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
        case Windowed(arguments=arguments, partition=partition, order=order):
            return replace(
                expression,
                arguments=tuple(substituted(part, columns) for part in arguments),
                partition=tuple(substituted(part, columns) for part in partition),
                order=tuple(replace(term, expression=substituted(term.expression, columns)) for term in order),
            )
        case Total(arguments=arguments, where=where):
            return replace(
                expression,
                arguments=tuple(substituted(part, columns) for part in arguments),
                where=None if where is None else substituted(where, columns),
            )


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves scalar syntax in one context.

    Attributes:
        lookup: What names, and in select lists aggregates and keys, stand for.
        parameters: Values of the statement's parameters.
    """

    lookup: Lookup
    parameters: tuple[Passed, ...]

    def resolve(self, node: syntax.Expr) -> Expression:
        """The typed expression of a node.

        Raises:
            UnsupportedQuery: Unknown name, function or type; the message says what to write instead.
        """
        found = self.lookup(node)
        if isinstance(found, Apply | Case):
            refuse_large(found, _spoken(node), node.position)
        if found is not None:
            return found
        if (other := in_other_words(node, self.resolve)) is not None:
            return self.resolve(other)
        match node:
            case syntax.Literal() | syntax.Parameter():
                return as_constant(node.value if isinstance(node, syntax.Literal) else self._parameter(node))
            case syntax.Call():
                return self._call(node)
            case syntax.CaseExpression():
                return self._case(node)
            case syntax.InList():
                values = [value for own in node.values for value in self._listed(own)]
                found = self.apply("in", (self.resolve(node.operand), *values), node.position)
                return self.apply("not", (found,), node.position) if node.negated else found
            case syntax.Cast():
                return self._cast(node)
            case syntax.AllColumns():
                raise UnsupportedQuery(
                    "a star stands for rows, and rows are never shown.",
                    construct="*", position=node.position, hint="Ask for aggregates, such as COUNT(*).",
                )  # fmt: skip
            case syntax.ScalarQuery():
                raise UnsupportedQuery(
                    "a sub-query as a value is an answer of its own.",
                    construct="scalar sub-query", position=node.position,
                    hint="Ask it first, then write its answer as a constant or a parameter (?). Where it depends on "
                    "the row outside, join a sub-query in FROM that is grouped by what they share. Of an answer that "
                    "is named in WITH and stands in FROM it may be one aggregate: n / (SELECT SUM(n) FROM a) FROM a.",
                )  # fmt: skip
            case syntax.Window():
                raise refused_elsewhere(node, self.lookup)
            case syntax.InQuery() | syntax.Exists():
                raise refuse_as_value(node, self.resolve)
            case syntax.IntervalLiteral():
                raise UnsupportedQuery(
                    "an interval is added to a day or a moment, and is no value of its own.",
                    construct="INTERVAL", position=node.position,
                    hint="Write x + INTERVAL 15 MINUTE, and date_diff('minute', a, b) for a length. "
                    f"{QUARTERS} {SINCE_1970}",
                )  # fmt: skip
            case _:
                raise UnsupportedQuery(
                    "this expression is not supported here.",
                    construct=_spoken(node), position=node.position, hint="See the accepted SQL in the README.",
                )  # fmt: skip

    def constant(self, node: syntax.Expr, what: str) -> Value:
        """The value of a literal or parameter (a sign in front is fine)."""
        resolved = self.resolve(node)
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
        value = self.parameters[node.index]
        if isinstance(value, tuple):
            raise UnsupportedQuery(
                f"parameter {node.index + 1} is a list, and a value here.",
                construct="parameter", position=node.position, hint="Pass a list for = ANY (?) alone.",
            )  # fmt: skip
        return value

    def _listed(self, node: syntax.Expr) -> Sequence[Expression]:
        """What a member of IN's list stands for: a parameter of = ANY stands for all values of its list."""
        value = self.parameters[node.index] if isinstance(node, syntax.Parameter) and node.many else None
        return [as_constant(own) for own in value] if isinstance(value, tuple) else [self.resolve(node)]

    def _case(self, node: syntax.CaseExpression) -> Expression:
        branches = []
        for when, then in node.branches:
            condition = self.resolve(when)
            if node.operand is not None:
                condition = self.apply("=", (self.resolve(node.operand), condition), when.position)
            branches.append((self.boolean(condition, when), self.resolve(then)))
        default = self.resolve(node.default) if node.default is not None else as_constant(None)
        results = self._unify([*(result for _, result in branches), default], node)
        facts = Facts(results[0].facts.type, nullable=any(result.facts.nullable for result in results))
        known = [result for result in results if not (isinstance(result, Constant) and result.value is None)]
        if known:
            steps = {result.facts.step for result in known} if facts.type is Type.REAL else {Fraction(1)}
            step = steps.pop() if len(steps) == 1 else None
            facts = with_bounds(facts, hull(tuple(map(known_range, known))), step) if _has_range(facts.type) else facts
            step = within(multiple_of_all(known), facts) if facts.type.numeric else None
            facts = facts if step is None else replace(facts, step=step)
        taken = tuple((when, then) for (when, _), then in zip(branches, results, strict=False))
        return Case(taken, results[-1], facts)

    def _unify(self, expressions: list[Expression], node: syntax.Expr) -> list[Expression]:
        found = met(expressions)
        if found is not None:
            return found
        types = list(dict.fromkeys(e.facts.type for e in expressions if e.facts.type is not Type.NULL))
        raise UnsupportedQuery(
            f"the branches have types {' and '.join(t.value for t in types)}.",
            construct="CASE", position=node.position, hint="Make every branch the same type.",
        )  # fmt: skip

    def boolean(self, expression: Expression, node: syntax.Expr) -> Expression:
        """The expression itself if it is a condition."""
        found = converted(expression, Type.BOOLEAN)
        if found is None:
            raise UnsupportedQuery(
                f"a condition is needed here, not a value of type {expression.facts.type.value}.",
                construct=_spoken(node), position=node.position, hint="Compare it with something.",
            )  # fmt: skip
        return found

    def _cast(self, node: syntax.Cast) -> Expression:
        operand = self.resolve(node.operand)
        name, sizes = _sized(node)
        source = operand.facts.type
        if isinstance(operand, Constant) and isinstance(operand.value, str) and name in ("date", "timestamp"):
            found = converted(operand, Type(name))
            if found is not None:
                return found
        same = recast(operand, name) if isinstance(operand, Constant) else None
        if same is not None:
            return same
        candidates = overloads(f"cast:{name}") + (overloads(f"try:{name}") if node.safe else [])
        if name == "decimal":
            rows = _decimal(node, sizes)
            candidates = [row for row in rows if node.safe or row.name == "cast:decimal"]
        if name == "text" and (decimals := decimals_of(operand)) is not None:
            candidates = [decimal_text(decimals)]
        known = any(source in (row.parameters[0], Type.NULL) for row in candidates)
        if name in ("real", "float", "decimal", "timestamp") and source in (Type.INTEGER, Type.DATE):
            known = known or any(converted(operand, row.parameters[0]) is not None for row in candidates)
        if not known:
            reason = f"a cast from {source.value} to {node.type_name} could fail on some row."
            if not candidates and not overloads(f"try:{name}"):
                reason = f"dpsql has no type {node.type_name}."
            hint = _other_cast(source, name or node.type_name)
            raise UnsupportedQuery(reason, construct="CAST", position=node.position, hint=hint)
        refuse_unit("cast", (operand,), node.position)
        return applied("CAST", candidates, (operand,), node.position)

    def _call(self, node: syntax.Call) -> Expression:
        name = {"date_part": "extract", "datepart": "extract", "date_add": "+"}.get(node.name, node.name)
        if name in CALLS and not overloads(name):
            raise no_function(name, node.position)
        if name in REFUSED and name != SUBSCRIPT:
            raise no_function(name, node.position, node.arguments)
        if node.named or node.distinct or node.where is not None or node.order or node.star:
            raise UnsupportedQuery(
                "named arguments, DISTINCT, FILTER, ORDER BY and * belong to aggregates.",
                construct=node.name, position=node.position, hint="Remove them here.",
            )  # fmt: skip
        arguments = node.arguments
        if name == "+" and len(arguments) == 2 and isinstance(arguments[0], syntax.IntervalLiteral):
            arguments = arguments[::-1]
        if name in ("+", "-") and len(arguments) == 2 and isinstance(arguments[1], syntax.IntervalLiteral):
            span = arguments[1]
            function, factor = INTERVALS[span.unit]
            count = as_constant(span.count * factor * (1 if name == "+" else -1))
            return self.apply(function, (self.resolve(arguments[0]), count), node.position)
        if name == SUBSCRIPT and (own := self.resolve(arguments[0])).facts.type is Type.TEXT:
            return self.apply("substr", (own, self.resolve(arguments[1]), as_constant(1)), node.position)
        if name == "extract" and len(arguments) == 2:
            return self._extract(node)
        if name == "if" and len(arguments) == 3:
            when, then, otherwise = arguments
            return self._case(syntax.CaseExpression(None, ((when, then),), otherwise, position=node.position))
        if not overloads(name):
            raise no_function(name, node.position)
        return self.apply(name, tuple(map(self.resolve, arguments)), node.position)

    def _extract(self, node: syntax.Call) -> Expression:
        part = str(self.constant(node.arguments[0], "the part to extract")).lower()
        if part not in PARTS:
            raise UnsupportedQuery(
                "there is no such part of a date here.", construct=part, position=node.position,
                hint=nearest(part, list(PARTS)) or f"Write one of {', '.join(dict.fromkeys(PARTS.values()))}.",
            )  # fmt: skip
        return self.apply(PARTS[part], (self.resolve(node.arguments[1]),), node.position)

    def apply(self, name: str, arguments: tuple[Expression, ...], position: tuple[int, int] | None) -> Expression:
        """A function of the table over resolved arguments.

        Raises:
            UnsupportedQuery: There is none of this name, or none for these arguments.
        """
        candidates = overloads(name)
        refuse_unit(name, arguments, position)
        if not candidates:
            raise no_function(name, position)
        whole = rounded(name, arguments, lambda own, parts: self.apply(own, parts, position))
        return computed(name, arguments) or whole or applied(name, candidates, arguments, position)


def _has_range(kind: Type) -> bool:
    return kind.numeric or kind in (Type.DATE, Type.TIMESTAMP)


def decimals_of(operand: Expression) -> int | None:
    """After how many decimals a real was rounded, from 1 to 9; None where it was not, or is no real."""
    if operand.facts.type is not Type.REAL or not isinstance(operand, Apply):
        return None
    if operand.function.name == "round" and len(operand.arguments) == 2:
        digits = operand.arguments[1]
        found = digits.value if isinstance(digits, Constant) else None
    else:
        found = next((n for n in range(1, 10) if operand.facts.step == Fraction(1, 10**n)), None)
    return found if isinstance(found, int) and 1 <= found <= 9 else None


def _sized(node: syntax.Cast) -> tuple[str, list[int]]:
    """Our word for the type of a cast, and the sizes written with it."""
    name = cast_name(node.type_name) or ""
    sizes = [int(size) for size in node.type_name.partition("(")[2].rstrip(")").split(",") if size.strip().isdecimal()]
    if sizes and name not in SIZED:
        name = ""
    return name, sizes


def _decimal(node: syntax.Cast, sizes: list[int]) -> tuple[Function, ...]:
    digits, decimals = (*sizes, 0)[:2] if sizes else (DIGITS, DECIMALS)
    try:
        return decimal_cast(digits, decimals)
    except ValueError:
        raise UnsupportedQuery(
            "there is no such type.", construct=node.type_name, position=node.position,
            hint="Write it like DECIMAL(18, 3): at most 38 digits, and no more decimals than digits.",
        ) from None  # fmt: skip


def _other_cast(source: Type, name: str) -> str:
    if name == "time":
        return "Write hour(x) and minute(x) of a timestamp, TRY_CAST(left(x, 2) AS INTEGER) of a text such as '08:30'."
    if source is Type.TEXT and overloads(f"try:{name}"):
        return "Write TRY_CAST: it is NULL where the text spells no such value."
    if source is Type.REAL and name == "text":
        return "The digits of a real depend on how it is stored: write CAST(round(x, 1) AS VARCHAR), or cast to BIGINT."
    return "Casts between numbers, between dates and timestamps, to text, and TRY_CAST from text are fine."


def _spoken(node: syntax.Expr) -> str:
    match node:
        case syntax.Call():
            return node.name
        case syntax.ScalarQuery():
            return "scalar sub-query"
        case syntax.IntervalLiteral():
            return "INTERVAL"
        case syntax.Name():
            return naming.as_written(node)
        case syntax.CaseExpression():
            return "CASE"
        case _:
            return type(node).__name__


def all_of(conditions: Sequence[Expression], rows: Resolver, position: syntax.Position) -> Expression:
    """Whether all these conditions are true; there is at least one."""
    return reduce(lambda a, b: rows.apply("and", (a, b), position), conditions)


def where_true(condition: Expression, value: Expression) -> Expression:
    """The value where a condition is true, else NULL."""
    facts = replace(value.facts, nullable=True)
    return Case(((condition, value),), Constant(None, Facts(value.facts.type)), facts)
