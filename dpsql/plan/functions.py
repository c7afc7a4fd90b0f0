"""The allow-list of functions over one row: every one is total, and nothing outside this table can run.

Each row says what an analyst may write, what types it takes, which bounds follow (its interval rule), when it is
NULL, and how the engine spells it so that no value of any row can raise an error. Operators are functions too.

Departures from DuckDB, all towards NULL instead of an error or an infinity: division and remainder by zero,
logarithms and roots outside their domain, dates that do not exist.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.types import Type

__all__ = ["FUNCTIONS", "GROWING", "INTEGER_LIMIT", "REAL_LIMIT", "Function", "Nulls", "overloads"]

INTEGER_LIMIT = 2**62  # results beyond could overflow BIGINT: such integers are computed as reals instead
REAL_LIMIT = 10**300  # results beyond could become infinite: refused
GROWING = frozenset({"+", "-", "*", "exp", "pow", "power"})  # the functions whose results need that proof

INTEGER, REAL, TEXT, BOOLEAN = Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN
DATE, TIMESTAMP = Type.DATE, Type.TIMESTAMP
ORDERED = (INTEGER, REAL, TEXT, DATE, TIMESTAMP, BOOLEAN)


class Nulls(enum.Enum):
    """When a function is NULL."""

    STRICT = "NULL when an argument is"
    NEVER = "never NULL"
    ALL = "NULL when all arguments are"
    MAY = "NULL when an argument is, and where it has no value"


@dataclass(frozen=True, slots=True)
class Function:
    """One row of the allow-list: one function at one signature.

    Attributes:
        name: How the analyst writes it, lower case.
        parameters: Types of its arguments; the last repeats when ``variadic``.
        result: Type of its value.
        sql: The engine's spelling: ``{0}`` the first argument, ``{*}`` all, ``{rest}`` all but the first.
        engine: Function names that the engine's own parser will report for this spelling.
        variadic: Whether the last parameter may repeat.
        constants: Arguments that must be constants.
        choices: Arguments that must be one of a few texts.
        interval: Bounds of the value from the ranges of the arguments; None bounds nothing. A function that is NULL
            only when all arguments are takes ``(ranges, certain)``: any argument that is not certain may be NULL.
        nulls: When it is NULL.
        integral: Whether its real value is always whole.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    sql: str
    engine: frozenset[str] = frozenset()
    variadic: bool = False
    constants: frozenset[int] = frozenset()
    choices: Mapping[int, tuple[str, ...]] = field(default_factory=dict, hash=False)
    interval: Callable[..., Interval] | None = None
    nulls: Nulls = Nulls.STRICT
    integral: bool = False

    def takes(self, count: int) -> bool:
        """Whether it can have this many arguments."""
        return count >= len(self.parameters) if self.variadic else count == len(self.parameters)

    def parameter(self, index: int) -> Type:
        """Type of one argument."""
        return self.parameters[min(index, len(self.parameters) - 1)]

    def bounds(self, ranges: tuple[Any, ...], certain: tuple[bool, ...]) -> Interval:
        """Bounds of its value from the ranges of its arguments; ``certain`` says which can never be NULL."""
        if self.interval is None:
            return EVERYTHING
        return self.interval(ranges, certain) if self.nulls is Nulls.ALL else self.interval(*ranges)


Range = tuple[date | None, date | None]


def _row(
    name: str, parameters: tuple[Type, ...], result: Type, sql: str, *engine: str, **options: Any
) -> tuple[Function, ...]:
    names = name.split()
    constants = frozenset(options.pop("constants", ()))
    return tuple(
        Function(alias, parameters, result, sql, frozenset(engine), constants=constants, **options) for alias in names
    )


def _each(types: tuple[Type, ...], name: str, sql: str, *engine: str, arity: int = 2, **options: Any) -> list[Function]:
    return [row for type_ in types for row in _row(name, (type_,) * arity, BOOLEAN, sql, *engine, **options)]


# ---------------------------------------------------------------- interval rules


def _floor_quotient(a: Interval, b: Interval) -> Interval:
    return (a / b).rounded(math.trunc) if 0 not in b else a.absolute().hull(-a.absolute())


def _remainder(a: Interval, b: Interval) -> Interval:
    reach = b.absolute().high
    most = Interval(None if reach is None else -reach, reach)
    sign = Interval(Fraction(0) if a.low is not None and a.low >= 0 else most.low, most.high)
    return sign.clipped(
        None if a.low is None else min(a.low, Fraction(0)), None if a.high is None else max(a.high, Fraction(0))
    )


def _half_away(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2)) if value >= 0 else -math.floor(-value + Fraction(1, 2))


def _round_digits(x: Interval, digits: Interval) -> Interval:
    if digits.low is None:
        return EVERYTHING
    unit = Fraction(10) ** -int(digits.low)
    return Interval(None if x.low is None else x.low - unit, None if x.high is None else x.high + unit)


def _power(x: Interval, exponent: Interval) -> Interval:
    if exponent.low is None or exponent.low != exponent.high:
        return EVERYTHING
    result = Interval.point(1)
    base = x.absolute() if int(exponent.low) % 2 == 0 else x
    for _ in range(int(exponent.low)):
        result = result * base
    return result


def _year(d: Range) -> Interval:
    return Interval(None if d[0] is None else Fraction(d[0].year), None if d[1] is None else Fraction(d[1].year))


def _days_between(a: Range, b: Range) -> Interval:
    """a - b in days."""
    if None in a or None in b:
        return EVERYTHING
    low, high = a[0].toordinal() - b[1].toordinal(), a[1].toordinal() - b[0].toordinal()  # type: ignore[union-attr]  # no None
    return Interval(Fraction(low), Fraction(high))


def _units_between(per_day: int) -> Callable[..., Interval]:
    """date_diff(unit, a, b) for units of which a day holds at most ``per_day``, however boundaries fall."""

    def rule(_: Any, a: Range, b: Range) -> Interval:
        days = _days_between(b, a)
        slack = Interval(Fraction(-1), Fraction(1))
        return (days + slack).hull(slack) * Interval.point(per_day)

    return rule


def _fixed(low: int, high: int) -> Callable[..., Interval]:
    bounds = Interval(Fraction(low), Fraction(high))
    return lambda *_: bounds


def _hull(parts: tuple[Interval, ...]) -> Interval:
    result = parts[0]
    for part in parts[1:]:
        result = result.hull(part)
    return result


def _first_of(parts: tuple[Interval, ...], certain: tuple[bool, ...]) -> Interval:
    """coalesce: any argument up to the first that is never NULL."""
    reached = certain.index(True) + 1 if True in certain else len(parts)
    return _hull(parts[:reached])


def _greatest(parts: tuple[Interval, ...], certain: tuple[bool, ...]) -> Interval:
    """The largest of all certain arguments and any of the others."""
    result = _hull(parts)
    for part, sure in zip(parts, certain, strict=True):
        if sure:
            result = result.greatest(Interval(part.low, result.high))
    return result


def _least(parts: tuple[Interval, ...], certain: tuple[bool, ...]) -> Interval:
    return -_greatest(tuple(-part for part in parts), certain)


# ------------------------------------------------------------------------ rows

TINY = "CAST('-5e-324' AS DOUBLE)"  # the negative number nearest zero stands for "outside the domain"
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
DATE_UNITS = UNITS[:5]
PARTS = {
    "year": _year,
    "quarter": _fixed(1, 4),
    "month": _fixed(1, 12),
    "week": _fixed(1, 53),
    "day": _fixed(1, 31),
    "dayofweek": _fixed(0, 6),
    "isodow": _fixed(1, 7),
    "dayofyear": _fixed(1, 366),
}
CLOCK_PARTS = {"hour": _fixed(0, 23), "minute": _fixed(0, 59), "second": _fixed(0, 59)}

_DIFFERENCES = {DATE: _units_between(1), TIMESTAMP: _units_between(86_400)}

_rows: list[Function] = []

# arithmetic: integers first; the resolver moves on to reals where an integer could overflow
for _type in (INTEGER, REAL):
    for _name, _rule in {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
    }.items():
        _rows += _row(_name, (_type, _type), _type, f"({{0}} {_name} {{1}})", _name, interval=_rule)
    _rows += _row("negate", (_type,), _type, "(-{0})", "-", interval=lambda a: -a)
    _rows += _row("abs", (_type,), _type, "abs({0})", "abs", interval=lambda a: a.absolute())
    _rows += _row(
        "least", (_type, _type), _type, "least({*})", "least", variadic=True, interval=_least, nulls=Nulls.ALL
    )
    _rows += _row(
        "greatest",
        (_type, _type),
        _type,
        "greatest({*})",
        "greatest",
        variadic=True,
        interval=_greatest,
        nulls=Nulls.ALL,
    )
_rows += _row(
    "/", (REAL, REAL), REAL, "({0} / NULLIF({1}, 0))", "/", "nullif", interval=lambda a, b: a / b, nulls=Nulls.MAY
)
_rows += _row(
    "//",
    (INTEGER, INTEGER),
    INTEGER,
    "({0} // NULLIF({1}, 0))",
    "//",
    "nullif",
    interval=_floor_quotient,
    nulls=Nulls.MAY,
)
_rows += _row(
    "% mod", (INTEGER, INTEGER), INTEGER, "({0} % NULLIF({1}, 0))", "%", "nullif", interval=_remainder, nulls=Nulls.MAY
)
_rows += _row("sign", (INTEGER,), INTEGER, "CAST(sign({0}) AS BIGINT)", "sign", interval=_fixed(-1, 1))
_rows += _row("sign", (REAL,), INTEGER, "CAST(sign({0}) AS BIGINT)", "sign", interval=_fixed(-1, 1))
_rows += _row("floor", (REAL,), REAL, "floor({0})", "floor", interval=lambda a: a.rounded(math.floor), integral=True)
_rows += _row(
    "ceil ceiling", (REAL,), REAL, "ceil({0})", "ceil", interval=lambda a: a.rounded(math.ceil), integral=True
)
_rows += _row("trunc", (REAL,), REAL, "trunc({0})", "trunc", interval=lambda a: a.rounded(math.trunc), integral=True)
_rows += _row("round", (INTEGER,), INTEGER, "{0}", interval=lambda a: a)
_rows += _row("round", (REAL,), REAL, "round({0})", "round", interval=lambda a: a.rounded(_half_away), integral=True)
_rows += _row(
    "round", (REAL, INTEGER), REAL, "round({0}, CAST({1} AS INTEGER))", "round", constants={1}, interval=_round_digits
)
_rows += _row(
    "sqrt",
    (REAL,),
    REAL,
    f"sqrt(nullif(greatest({{0}}, {TINY}), {TINY}))",
    "sqrt",
    "nullif",
    "greatest",
    interval=lambda a: a.clipped(Fraction(0), None).rising(math.sqrt),
    nulls=Nulls.MAY,
)
for _names, _log in {"ln": math.log, "log10 log": math.log10, "log2": math.log2}.items():
    _rows += _row(
        _names,
        (REAL,),
        REAL,
        f"{_names.split()[0]}(nullif(greatest({{0}}, 0.0), 0.0))",
        _names.split()[0],
        "nullif",
        "greatest",
        interval=lambda a, _log=_log: a.clipped(Fraction(0), None).rising(_log),
        nulls=Nulls.MAY,
    )
_rows += _row("exp", (REAL,), REAL, "exp({0})", "exp", interval=lambda a: a.rising(math.exp).clipped(Fraction(0), None))
_rows += _row("pow power", (REAL, INTEGER), REAL, "pow({0}, {1})", "pow", constants={1}, interval=_power)

# comparison and logic
for _name in ("=", "<>", "<", "<=", ">", ">="):
    _rows += _each(ORDERED, _name, f"({{0}} {_name} {{1}})")
_rows += _each(ORDERED, "is_distinct_from", "({0} IS DISTINCT FROM {1})", nulls=Nulls.NEVER)
_rows += _each(ORDERED, "in", "({0} IN ({rest}))", variadic=True)
_rows += _each(ORDERED, "is_null", "({0} IS NULL)", arity=1, nulls=Nulls.NEVER)
_rows += _row("and", (BOOLEAN, BOOLEAN), BOOLEAN, "({0} AND {1})")
_rows += _row("or", (BOOLEAN, BOOLEAN), BOOLEAN, "({0} OR {1})")
_rows += _row("not", (BOOLEAN,), BOOLEAN, "(NOT {0})")

# choice
for _type in ORDERED:
    _rows += _row(
        "coalesce ifnull",
        (_type, _type),
        _type,
        "COALESCE({*})",
        variadic=True,
        interval=_first_of if _type.numeric else None,
        nulls=Nulls.ALL,
    )
    _rows += _row(
        "nullif",
        (_type, _type),
        _type,
        "NULLIF({0}, {1})",
        "nullif",
        interval=(lambda a, _: a) if _type.numeric else None,
        nulls=Nulls.MAY,
    )

# text; patterns are constants
_rows += _row("like", (TEXT, TEXT), BOOLEAN, "({0} LIKE {1})", "~~", constants={1})
_rows += _row("ilike", (TEXT, TEXT), BOOLEAN, "({0} ILIKE {1})", "~~*", constants={1})
for _name in ("upper", "lower", "trim", "ltrim", "rtrim", "reverse"):
    _rows += _row(_name, (TEXT,), TEXT, f"{_name}({{0}})", _name)
_rows += _row("length len", (TEXT,), INTEGER, "length({0})", "length", interval=_fixed(0, 2**32))
for _name in ("contains", "starts_with", "prefix", "suffix", "ends_with"):
    _rows += _row(_name, (TEXT, TEXT), BOOLEAN, f"{_name}({{0}}, {{1}})", _name, constants={1})
_rows += _row("replace", (TEXT, TEXT, TEXT), TEXT, "replace({0}, {1}, {2})", "replace", constants={1, 2})
_rows += _row("substr substring", (TEXT, INTEGER, INTEGER), TEXT, "substr({0}, {1}, {2})", "substr", constants={1, 2})
_rows += _row("left", (TEXT, INTEGER), TEXT, "left({0}, {1})", "left", constants={1})
_rows += _row("right", (TEXT, INTEGER), TEXT, "right({0}, {1})", "right", constants={1})
_rows += _row("||", (TEXT, TEXT), TEXT, "({0} || {1})", "||")
_rows += _row("concat", (TEXT, TEXT), TEXT, "concat({*})", "concat", variadic=True, nulls=Nulls.NEVER)

# dates and times; units and parts are constants from a fixed set
for _type, _units in ((DATE, DATE_UNITS), (TIMESTAMP, UNITS)):
    _rows += _row(
        "date_trunc datetrunc",
        (TEXT, _type),
        TIMESTAMP,
        "TRY(date_trunc({0}, {1}))",
        "date_trunc",
        constants={0},
        choices={0: _units},
    )
    _rows += _row(
        "date_diff datediff",
        (TEXT, _type, _type),
        INTEGER,
        "TRY(date_diff({0}, {1}, {2}))",
        "date_diff",
        constants={0},
        choices={0: _units},
        interval=_DIFFERENCES[_type],
        nulls=Nulls.MAY,
    )
    for _part, _bounds in PARTS.items():
        _rows += _row(_part, (_type,), INTEGER, f"{_part}({{0}})", _part, interval=_bounds)
for _part, _bounds in CLOCK_PARTS.items():
    _rows += _row(_part, (TIMESTAMP,), INTEGER, f"{_part}({{0}})", _part, interval=_bounds)
_rows += _row("-", (DATE, DATE), INTEGER, "TRY({0} - {1})", "-", interval=_days_between, nulls=Nulls.MAY)
_rows += _row("+", (DATE, INTEGER), DATE, "TRY({0} + CAST({1} AS INTEGER))", "+", constants={1}, nulls=Nulls.MAY)
_rows += _row("-", (DATE, INTEGER), DATE, "TRY({0} - CAST({1} AS INTEGER))", "-", constants={1}, nulls=Nulls.MAY)
for _name, _unit in {"months": "to_months", "days": "to_days"}.items():
    for _type in (DATE, TIMESTAMP):
        _rows += _row(
            f"add:{_name}",
            (_type, INTEGER),
            TIMESTAMP,
            f"TRY({{0}} + {_unit}(CAST({{1}} AS INTEGER)))",
            "+",
            _unit,
            constants={1},
            nulls=Nulls.MAY,
        )
for _type in (DATE, TIMESTAMP):
    _rows += _row(
        "add:seconds",
        (_type, INTEGER),
        TIMESTAMP,
        "TRY({0} + to_seconds(CAST({1} AS DOUBLE)))",
        "+",
        "to_seconds",
        constants={1},
        nulls=Nulls.MAY,
    )

# casts that cannot fail; the resolver uses the first two where types must meet
_rows += _row("cast:real", (INTEGER,), REAL, "CAST({0} AS DOUBLE)", interval=lambda a: a)
_rows += _row("cast:timestamp", (DATE,), TIMESTAMP, "TRY_CAST({0} AS TIMESTAMP)")
_rows += _row("cast:real", (REAL,), REAL, "{0}", interval=lambda a: a)
_rows += _row("cast:real", (BOOLEAN,), REAL, "CAST({0} AS DOUBLE)", interval=_fixed(0, 1))
_rows += _row("cast:integer", (INTEGER,), INTEGER, "{0}", interval=lambda a: a)
_rows += _row("cast:integer", (BOOLEAN,), INTEGER, "CAST({0} AS BIGINT)", interval=_fixed(0, 1))
_rows += _row(
    "cast:integer",
    (REAL,),
    INTEGER,
    "TRY_CAST({0} AS BIGINT)",
    interval=lambda a: a.rounded(_half_away),
    nulls=Nulls.MAY,
)
_rows += _row("cast:date", (TIMESTAMP,), DATE, "TRY_CAST({0} AS DATE)")
_rows += _row("cast:date", (DATE,), DATE, "{0}")
_rows += _row("cast:timestamp", (TIMESTAMP,), TIMESTAMP, "{0}")
_rows += _row("cast:text", (TEXT,), TEXT, "{0}")
for _type in (INTEGER, DATE, TIMESTAMP, BOOLEAN):
    _rows += _row("cast:text", (_type,), TEXT, "CAST({0} AS VARCHAR)")

FUNCTIONS: tuple[Function, ...] = tuple(_rows)
"""Every function at every signature, in the order in which overloads are tried."""

_BY_NAME: dict[str, list[Function]] = {}
for _function in FUNCTIONS:
    _BY_NAME.setdefault(_function.name, []).append(_function)


def overloads(name: str) -> list[Function]:
    """All signatures of one name, in the order in which they are tried; none where the name is not allowed."""
    return _BY_NAME.get(name, [])
