"""A function over its arguments: the first row of the table that fits and is proved total there, or why none is."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS
from dpsql.plan.functions import FUNCTIONS, INTEGER_LIMIT, REAL_LIMIT, Function, Nulls
from dpsql.plan.functions.refused import REFUSED, refusal
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.conversions import as_null, as_text, converted
from dpsql.plan.values.hints import hinted
from dpsql.plan.values.multiples import step_of_call, within
from dpsql.plan.values.ranges import is_certain, known_range, length_of, printed_size, range_of, with_bounds
from dpsql.sql import syntax
from dpsql.sql.naming import column_name

__all__ = ["KEPT_WITHIN", "NoSuchValue", "Position", "applied", "nearest", "no_function", "refuse_large"]

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "in", "is_distinct_from")
EQUALITIES = ("=", "<>", "in", "is_distinct_from")
NAMES = sorted({function.name for function in FUNCTIONS if function.name.isidentifier()})

MOST_PRINTED = 5_000
"""Nodes of one expression as the engine reads it. It is a choice: DuckDB plans that many in a quarter of a second."""
MOST_NAMED = 8  # Values of a column in one message. It is a choice: more are a list that nobody reads.
LONG_VALUE = 60  # Characters of a value in a message; the rest is cut. It is a choice: about half a line.
DEEPEST = 150
"""Levels of nesting, after sub-queries are put in their place. It is a choice: every pass is plain recursion."""
LONGEST = (200, 20_000)
"""Of a text: times the longest text in the row, and characters more. It is a choice between use and the engine's
memory."""

KEPT_WITHIN = "CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END"
"""How an expression is kept within constants. LEAST and GREATEST alone pass over NULL: they would make it an end."""
RELEASED_WITHIN = "GREATEST(0, LEAST(COUNT(*), 500))"
"""The same of a released count, which is never NULL."""
BELOW = {"exp": "exp(least(AVG(ln(x)), 50))", "power": "power(10, least(AVG(log10(x)), 50))"}
"""The same for what a released mean of logarithms is taken back by: a geometric mean."""

Position = tuple[int, int] | None


ABOUT = 0.05
"""How much less like a misspelt name another one may be than the nearest, of 1, and be proposed beside it. A guess."""


class NoSuchValue(UnsupportedQuery):
    """A column is compared with what is none of its declared values."""


def applied(
    name: str, candidates: Sequence[Function], arguments: tuple[Expression, ...], position: Position
) -> Expression:
    """The function applied: the first row that takes these arguments and provably cannot fail on any row.

    Args:
        name: For messages.
        candidates: Rows of the table, in the order in which they are tried.
        arguments: Resolved.
        position: For messages.

    Raises:
        UnsupportedQuery: No row fits; the message says what the function takes.
    """
    complaint: tuple[str, str] | None = None
    unproved = False
    for function in candidates:
        taken = _taken(function, arguments)
        if taken is None:
            continue
        wrong = _wrong_constant(function, taken)
        if wrong is not None:
            complaint = complaint or wrong
        elif _proved(function, taken):
            _refuse_strangers(function, taken, position)
            return _checked(function, taken, name, position)
        elif function.nulls in (Nulls.STRICT, Nulls.ONLY, Nulls.MAY) and any(map(_is_null, taken)):
            return as_null(function.result)  # of NULL nothing can be too large
        else:
            unproved = True
    if complaint is not None and not unproved:
        raise UnsupportedQuery(complaint[0], construct=name, position=position, hint=complaint[1])
    raise _no_overload(name, candidates, arguments, position, unproved=unproved)


def _taken(function: Function, arguments: tuple[Expression, ...]) -> tuple[Expression, ...] | None:
    """The arguments at the types that a row takes, or None where it does not take them."""
    if not function.takes(len(arguments)):
        return None
    taken = []
    for index, argument in enumerate(arguments):
        kind = function.parameter(index)
        found = as_text(argument) if function.texts and kind is Type.TEXT else converted(argument, kind)
        if found is None:
            return None
        taken.append(found)
    return tuple(taken)


def _is_null(argument: Expression) -> bool:
    return isinstance(argument, Constant) and argument.value is None


def _proved(function: Function, arguments: tuple[Expression, ...]) -> bool:
    """Whether the ranges prove what this row asks; the declared ones where they do, else those of the engine."""
    if function.needs is None and not function.grows:
        return True
    certain = tuple(map(is_certain, arguments))
    if _holds(function, tuple(map(known_range, arguments)), certain, hard=False):
        return True
    return _holds(function, tuple(range_of(argument, hard=True) for argument in arguments), certain, hard=True)


def _holds(function: Function, ranges: tuple[object, ...], certain: tuple[bool, ...], *, hard: bool) -> bool:
    if function.needs is not None and not function.needs(*ranges):
        return False
    if not function.grows:
        return True
    bounds = function.bounds(ranges, certain, hard=hard)
    if isinstance(bounds, tuple):
        return None not in bounds
    return bool(bounds.within(INTEGER_LIMIT if function.result is Type.INTEGER else REAL_LIMIT))


def _refuse_strangers(function: Function, arguments: tuple[Expression, ...], position: Position) -> None:
    """Refuses a column's comparison with what is none of its values: misspelt, most likely, and paid for nothing.

    The empty text is let through, which no row equals: so tools ask whether a value is there. So is what stands in IN
    beside a known value: lists are written for more than one table, and TPC-H's own has one such word.
    """
    columns = [argument for argument in arguments if isinstance(argument, Column)]
    if function.name not in EQUALITIES or len(columns) != 1 or not columns[0].declared:
        return
    (column,) = columns
    known = set(column.values or ())
    named = [a.value for a in arguments if isinstance(a, Constant) and a.value is not None]
    if named and len(named) == len(arguments) - 1 and known.isdisjoint(named) and set(named) != {""}:
        value, names = str(named[0])[:LONG_VALUE], sorted(map(str, known))
        few = (
            "DESCRIBE table.column lists them."
            if len(names) > MOST_NAMED
            else f"They are {', '.join(map(repr, names))}."
        )
        raise NoSuchValue(
            f"{value!r} is none of its values.", construct=column.name, position=position,
            hint=nearest(value, names) or few,
        )  # fmt: skip


def _checked(function: Function, arguments: tuple[Expression, ...], name: str, position: Position) -> Expression:
    """The application with its facts, unless it is too large for the engine."""
    bounds = function.bounds(tuple(map(known_range, arguments)), tuple(map(is_certain, arguments)))
    step = Fraction(1) if function.result is Type.INTEGER else function.step
    facts = with_bounds(Facts(function.result, nullable=_nullable(function, arguments)), bounds, step)
    known = within(step_of_call(function.name, arguments), facts) if facts.type.numeric else None
    facts = facts if known is None else replace(facts, step=known)
    facts = hinted(facts, function.name, arguments)
    result = Apply(function, arguments, facts)
    if max(function.copies, default=1) > 1:
        refuse_large(result, name, position)
    if function.length is not None:
        times, plus = length_of(result)
        if times > LONGEST[0] or plus > LONGEST[1]:
            raise UnsupportedQuery(
                "the text could become too long for the engine.", construct=name, position=position,
                hint=f"It may be at most {LONGEST[0]} times as long as the texts it is made of.",
            )  # fmt: skip
    return result


def refuse_large(
    expression: Expression,
    name: str,
    position: Position,
    measured: Callable[[Expression, int], tuple[int, int]] = printed_size,
) -> None:
    """Refuses what sub-queries inside sub-queries, or guards inside guards, have blown up.

    Args:
        expression: What is measured.
        name: For the message.
        position: For the message.
        measured: Its nodes and its nesting; it need not count beyond so many nodes.

    Raises:
        UnsupportedQuery: It would take too long to read.
    """
    size, depth = measured(expression, MOST_PRINTED)
    if size > MOST_PRINTED or depth > DEEPEST:
        raise UnsupportedQuery(
            "the expression is too large once everything in it is written out.", construct=name, position=position,
            hint="Name fewer expressions in terms of each other, and nest fewer divisions, roots and logarithms.",
        )  # fmt: skip


def _nullable(function: Function, arguments: tuple[Expression, ...]) -> bool:
    match function.nulls:
        case Nulls.NEVER:
            return False
        case Nulls.ALL:
            return all(argument.facts.nullable for argument in arguments)
        case Nulls.MAY | Nulls.OPEN:
            return True
        case Nulls.STRICT | Nulls.ONLY:
            return any(argument.facts.nullable for argument in arguments)


def _wrong_constant(function: Function, arguments: tuple[Expression, ...]) -> tuple[str, str] | None:
    """What is wrong with the constants that a row asks for, and what to write instead."""
    for index, check in function.constants.items():
        argument, what = arguments[index], f"argument {index + 1}"
        if not isinstance(argument, Constant) or argument.value is None:
            return f"{what} must be a constant.", "Write a literal there."
        if callable(check):
            wrong = check(argument.value)
            if wrong:
                return f"{what} {wrong}.", "Write another constant there."
        elif str(argument.value).lower() not in check:
            hint = nearest(str(argument.value), check) or f"Write '{check[0]}', say."
            return f"{what} must be one of {', '.join(check)}.", hint
    return None


def _no_overload(
    name: str, candidates: Sequence[Function], arguments: tuple[Expression, ...], position: Position, *, unproved: bool
) -> UnsupportedQuery:
    types = [argument.facts.type for argument in arguments]
    if unproved:
        reason = "the result could be too large for the engine."
        hint = f"Declare or narrow the bounds of its columns, or keep it within constants: {KEPT_WITHIN}."
        if any(map(_is_released, arguments)):
            kept = BELOW.get(name, RELEASED_WITHIN)
            hint = f"A released number has no bounds. Keep it within constants, such as {kept}."
        if not any(function.grows for function in candidates):
            reason = "its arguments could lie where it fails."
    elif name.startswith("add:"):
        reason, name = (
            f"an interval is added to a day or a moment, not to a value of type {types[0].value}.",
            "INTERVAL",
        )
        hint = "Leave INTERVAL out beside a number. A text is a moment by CAST(x AS TIMESTAMP), if it is a constant."
    elif name in COMPARISONS and (strange := _no_moment(arguments)) is not None:
        reason, hint = strange
    elif name in COMPARISONS and Type.TEXT in types and len(set(types)) > 1:
        reason = f"it compares {' with '.join(dict.fromkeys(t.value for t in types))}."
        hint = "Write a value of the column's own type: numbers without quotes, text and dates in single quotes."
        hint = hint if Type.BOOLEAN not in types else _of_other_kinds({Type.BOOLEAN, Type.INTEGER})
    elif name in COMPARISONS and len(set(types)) == 2 and (instead := _of_other_kinds(set(types))):
        reason, hint = f"it compares {' with '.join(t.value for t in types)}.", instead
    elif name == "-" and Type.TIMESTAMP in types and set(types) <= {Type.DATE, Type.TIMESTAMP}:
        names = [own.shown for own in arguments if isinstance(own, Column)]
        reason = "the difference of two moments is an interval, which has no bounds."
        hint = refusal("age", names if len(names) == len(arguments) else [])[1]
    else:
        reason = f"it does not take ({', '.join(t.value for t in types) or 'no arguments'})."
        hint = "It takes " + " or ".join(list(dict.fromkeys(map(_signature, candidates)))[:4]) + "."
        hint += _text_as_number(candidates, arguments)
        if name in ("+", "-") and set(types) == {Type.DATE, Type.REAL}:
            hint += " Write CAST(x AS INTEGER) for a whole number of days."
        if name == "//":
            hint += " Write floor(x / y) for the whole part of another quotient."
        if name in ("concat", "||") and any(kind.numeric for kind in types):
            hint += " Write CAST(n AS VARCHAR) for a whole number, and CAST(round(x, 1) AS VARCHAR) for another."
    return UnsupportedQuery(reason, construct=name, position=position, hint=hint)


def _of_other_kinds(types: set[Type]) -> str:
    """What to write where a moment or a truth value is compared with a number; empty where they are others."""
    if not any(kind.numeric for kind in types):
        return ""
    if types & {Type.DATE, Type.TIMESTAMP}:
        return "Write a day, such as DATE '2024-05-31', or compare a part of it, such as year(x)."
    return "Write the condition itself, or NOT in front of it." if Type.BOOLEAN in types else ""


def _text_as_number(candidates: Sequence[Function], arguments: tuple[Expression, ...]) -> str:
    """What else to write where a column of texts stands in the place of a number; nothing elsewhere."""
    if any(Type.TEXT in function.parameters for function in candidates):
        return ""
    if not any(isinstance(own, Column) and own.facts.type is Type.TEXT for own in arguments):
        return ""
    return " For the number in a text write TRY_CAST(x AS DOUBLE), or the owner declares the column's type."


def _is_released(expression: Expression) -> bool:
    """Whether it is computed from released numbers."""
    match expression:
        case Column(alias=alias):
            return alias == "released"
        case Apply(arguments=arguments):
            return any(map(_is_released, arguments))
        case Case(branches=branches, default=default):
            return any(map(_is_released, (default, *(result for _, result in branches))))
    return False


def _no_moment(arguments: tuple[Expression, ...]) -> tuple[str, str] | None:
    """What is wrong where days or moments are compared with a text that is none, and what to write instead."""
    types = {argument.facts.type for argument in arguments} - {Type.TEXT}
    texts = [a for a in arguments if isinstance(a, Constant) and isinstance(a.value, str)]
    if len(types) != 1 or not texts or not types <= {Type.DATE, Type.TIMESTAMP}:
        return None
    (kind,) = types
    unread = next((str(text.value) for text in texts if converted(text, kind) is None), None)
    if unread is None:
        return None
    with_time = kind is Type.TIMESTAMP and ":" in unread
    what, example = ("moment", "'2024-05-31 12:00:00'") if with_time else ("day", "'2024-05-31'")
    return f"there is no {what} {unread[:LONG_VALUE]!r}.", f"Write it like {example}."


def _signature(function: Function) -> str:
    return f"({', '.join(_parameters(function))}{', ...' if function.variadic else ''})"


def _parameters(function: Function) -> Iterator[str]:
    for index, kind in enumerate(function.parameters):
        yield f"constant {kind.value}" if index in function.constants else kind.value


def no_function(name: str, position: Position, arguments: Sequence[syntax.Expr] = ()) -> UnsupportedQuery:
    """The refusal of a name that is not in the table, with its arguments in the hint."""
    if name in CALLS:
        return UnsupportedQuery(
            "an aggregate cannot stand here.", construct=name.upper(), position=position,
            hint="Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.",
        )  # fmt: skip
    if name == "row":
        return UnsupportedQuery(
            "a tuple is compared with tuples by =, <> and IN alone.", construct="(a, b)", position=position,
            hint="Write (a, b) IN ((1, 2), (3, 4)), or compare column by column, with AND. "
            "COUNT(DISTINCT (a, b)) counts pairs.",
        )  # fmt: skip
    if name in ("dp_interval_low", "dp_interval_high"):
        return UnsupportedQuery(
            "only a whole answer has intervals, which stand beside the column that they are of.",
            construct=name.upper(), position=position,
            hint="Write it in the SELECT that is answered: COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low.",
        )  # fmt: skip
    if name in REFUSED:
        reason, hint = refusal(name, [*map(column_name, arguments)])
        return UnsupportedQuery(reason, construct=name, position=position, hint=hint)
    return UnsupportedQuery(
        "there is no such function here.", construct=name, position=position,
        hint=nearest(name, (*NAMES, *CALLS)) or "See the list of functions in the documentation.",
    )  # fmt: skip


def nearest(name: str, names: Sequence[str]) -> str:
    """``Did you mean ...?`` for a misspelt name, with all names that are about as near; or the empty text.

    >>> nearest("cty", ["city", "age"])
    'Did you mean city?'
    >>> nearest("betrag (eur)", ["Betrag_EUR", "Kategorie"])
    'Did you mean Betrag_EUR?'
    """
    folded = {own.lower(): own for own in reversed(names)}
    close = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.65)
    apart = [difflib.SequenceMatcher(None, own, name.lower()).ratio() for own in close]
    near = [folded[own] for own, ratio in zip(close, apart, strict=True) if ratio > apart[0] - ABOUT]
    return f"Did you mean {' or '.join(near)}?" if near else ""
