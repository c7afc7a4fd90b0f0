"""The SQL of the bounded tables' columns: values put inside what is declared.

Every expression is total: there is no row that makes it fail. Its Python twin, slow and obvious, is in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.engine.dialect import WIRE, Dialect
from dpsql.errors import PolicyError
from dpsql.limits import FARTHEST_STEP, LONGEST_IDENTITY
from dpsql.owner.shape import NUMERIC, ColumnShape, TableShape
from dpsql.plan.types import DECLARED

if TYPE_CHECKING:
    from dpsql.engine.database import SourceTable, SourceType

__all__ = [
    "READABLE",
    "ColumnReading",
    "Domain",
    "grid_limits",
    "identity",
    "listed",
    "reading",
    "wire_of",
]

BIGINT = 2**63 - 1  # The largest signed 64-bit integer: the largest BIGINT.
FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
"""The days that every tool around can hold: those of Python's `date`."""

READABLE = {
    "integer": {"integer", "wide", "real", "decimal", "text"},
    "real": {"integer", "wide", "real", "decimal", "text"},
    "decimal": {"integer", "wide", "real", "decimal", "text"},
    "boolean": {"boolean", "integer", "text"},
    "text": {"integer", "wide", "real", "decimal", "boolean", "text", "date", "timestamp"},
    "date": {"date", "timestamp", "text"},
    "timestamp": {"date", "timestamp", "text"},
}
"""Of each declared type, the kinds of values in the data that can be read as it."""

Domain = Callable[[str], str]
"""From SQL of a value to SQL of whether it is one of a column's own; NULL for NULL."""


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """How one declared column is read: SQL over a row of the source.

    Attributes:
        raw: The source's own value.
        parsed: The value in the declared type before bounds and domain; NULL where there is none.
        value: The value inside its bounds and domain.
        grid: Its grid integer, or None where none is stored.
        outside: Whether the parsed value is outside its bounds or domain.
        nan: Whether the source's value is NaN.
        cut: Whether a text is longer than is kept of it.
    """

    raw: str
    parsed: str
    value: str
    grid: str | None
    outside: str
    nan: str
    cut: str = "FALSE"


@dataclass(frozen=True, slots=True)
class _Raw:
    """A value of the source.

    Attributes:
        source: Its table.
        name: Its column.
        type: Its type there.
    """

    source: SourceTable
    name: str
    type: SourceType

    @property
    def dialect(self) -> Dialect:
        """The database's words."""
        return self.source.dialect

    @property
    def sql(self) -> str:
        """It as it stands there."""
        return f"s.{self.dialect.quoted(self.name)}"

    def made(self, primitive: str, *arguments: str) -> str:
        """What a primitive makes of it."""
        ready = None if arguments else self.source.ready.get((self.name, primitive))
        return f"s.{self.dialect.quoted(ready)}" if ready else self.dialect.call(primitive, self.sql, *arguments)

    def read(self, wire: str) -> str:
        """It as one of a wire type; NULL where it is none."""
        return self.made(f"{wire.lower()}_of_{self.type.family}")

    @property
    def real(self) -> str:
        """It as a DOUBLE."""
        return self.read("DOUBLE")

    @property
    def nan(self) -> str:
        """Whether it is NaN; NULL where it is no number."""
        return self.dialect.call("isnan", self.real)

    def double(self, number: Fraction) -> str:
        """A number as a DOUBLE."""
        return self.dialect.constant(number, "DOUBLE")

    def whole(self, number: int) -> str:
        """A number as a BIGINT."""
        return self.dialect.constant(number, "BIGINT")


def reading(table: TableShape, column: ColumnShape, source: SourceTable, domain: Domain | None) -> ColumnReading:
    """How to read a column of a private table.

    Args:
        table: Its table, for messages.
        column: What is declared.
        source: Where it comes from.
        domain: Its values, or None where the domain is open.

    Raises:
        PolicyError: If the source has no such column, or one that cannot hold the declared type.
    """
    where = f"{table.name}.{column.name}"
    kind = source.type_of(column.name)
    if kind is None:
        raise PolicyError(f"{where} is in the policy but not in the data. Remove it, or write the data's own name.")
    if kind.family not in READABLE[column.type]:
        able = [declared for declared, families in READABLE.items() if kind.family in families]
        cure = (
            f"Declare {' or '.join(able)}."
            if able
            else f"{kind.cure.capitalize()} of the data, or leave the column out."
        )
        raise PolicyError(f"{where} is declared {column.type}, but the data hold {kind.name}. {cure}")
    raw = _Raw(source, column.name, kind)
    if column.type in NUMERIC:
        return _number(column, raw, domain)
    parsed = raw.read(wire_of(column))
    if column.max_length is not None:
        return _text(parsed, column.max_length, raw)
    inside = []
    if column.type in ("date", "timestamp"):
        low, high = (source.dialect.constant(bound, wire_of(column)) for bound in _days(column))
        inside.append(f"{parsed} BETWEEN {low} AND {high}")  # infinite days are outside too
    if domain is not None:
        inside.append(domain(parsed))
    condition = " AND ".join(inside) or "TRUE"
    return ColumnReading(
        raw=raw.sql,
        parsed=parsed,
        value=f"CASE WHEN {condition} THEN {parsed} END" if inside else parsed,
        grid=None,
        outside=f"{parsed} IS NOT NULL AND NOT ({condition})",
        nan="FALSE",
    )


def _text(parsed: str, longest: int, raw: _Raw) -> ColumnReading:
    """A text of an open domain, cut: so what one unit's rows hold is bounded, and with it what is made of them."""
    words, limit = raw.dialect, raw.whole(longest)
    return ColumnReading(
        raw=raw.sql,
        parsed=parsed,
        value=words.call("left", parsed, limit),
        grid=None,
        outside="FALSE",
        nan="FALSE",
        cut=f"coalesce({words.call('length', parsed)} > {limit}, FALSE)",
    )


def _days(column: ColumnShape) -> tuple[date | datetime, date | datetime]:
    if column.type == "date":
        first: date = FIRST_DAY
        last: date = LAST_DAY
    else:
        first, last = datetime.combine(FIRST_DAY, time.min), datetime.combine(LAST_DAY, time.max)
    low = column.low if isinstance(column.low, date) else first
    high = column.high if isinstance(column.high, date) else last
    return low, high


def _number(column: ColumnShape, raw: _Raw, domain: Domain | None) -> ColumnReading:
    nan = f"coalesce({raw.nan}, FALSE)"
    parsed, value = (_integer if column.type == "integer" else _real)(column, raw)
    outside = "FALSE"
    if column.low is not None:
        low, high = map(raw.double, _limits(column))
        outside = f"NOT {nan} AND ({raw.real} < {low} OR {raw.real} > {high})"
    if domain is not None:
        outside = f"{value} IS NOT NULL AND NOT ({domain(value)})"
        value = f"CASE WHEN {domain(value)} THEN {value} END"
    grid = _grid(column, raw, value) if column.grid else None
    return ColumnReading(raw=raw.sql, parsed=parsed, value=value, grid=grid, outside=outside, nan=nan)


def _limits(column: ColumnShape) -> tuple[Fraction, Fraction]:
    """The bounds; without, where infinities saturate."""
    if isinstance(column.low, Fraction) and isinstance(column.high, Fraction):
        return column.low, column.high
    return -FARTHEST_STEP * column.step, FARTHEST_STEP * column.step


def _integer(column: ColumnShape, raw: _Raw) -> tuple[str, str]:
    """(parsed, value) as BIGINT. What BIGINT cannot hold, infinities included, goes to the nearer limit.

    Without bounds the limits are those of the grid: the plan's proofs that no integer overflows start from them.
    """
    bounds = _limits(column)
    low, high = max(math.ceil(bounds[0]), -BIGINT), min(math.floor(bounds[1]), BIGINT)
    parsed = raw.read("BIGINT")
    if raw.type.family != "integer":
        # A number of this size has no fraction: BIGINT failed for its size alone.
        below, above = raw.double(Fraction(-(2**62))), raw.double(Fraction(2**62))
        known = f"{parsed} IS NOT NULL"
        if raw.type.family == "text":  # DuckDB reads 0x10 as a whole number alone
            known = f"{known} AND {raw.real} IS NOT NULL"
        parsed = (
            f"CASE WHEN {known} THEN {parsed} WHEN {raw.nan} THEN NULL "
            f"WHEN {raw.real} >= {above} THEN {raw.whole(high)} WHEN {raw.real} <= {below} THEN {raw.whole(low)} END"
        )
    value = (
        f"CASE WHEN {parsed} < {low} THEN {raw.whole(low)} WHEN {parsed} > {high} THEN {raw.whole(high)} "
        f"ELSE {parsed} END"
    )
    return parsed, value


def _real(column: ColumnShape, raw: _Raw) -> tuple[str, str]:
    """(parsed, value) as DOUBLE. A bound is its nearest double; without bounds the limits are those of the grid, as for
    integers: no cast and no product of such numbers can fail or become infinite.
    """
    low, high = map(raw.double, _limits(column))
    value = (
        f"CASE WHEN {raw.nan} THEN NULL WHEN {raw.real} < {low} THEN {low} WHEN {raw.real} > {high} THEN {high} "
        f"ELSE {raw.real} + 0.0 END"  # + 0.0 makes -0.0 the 0.0 that it equals
    )
    return f"CASE WHEN NOT {raw.nan} THEN {raw.real} END", value


def grid_limits(column: ColumnShape) -> tuple[int, int]:
    """Smallest and largest grid integer of a column: its bounds rounded outward, at most 2^53 steps from 0."""
    low, high = (limit / column.step for limit in _limits(column))
    return max(math.floor(low), -FARTHEST_STEP), min(math.ceil(high), FARTHEST_STEP)


def _grid(column: ColumnShape, raw: _Raw, value: str) -> str:
    """round(clamped value / step) as BIGINT: exact where the source is, otherwise as close as a double gets. Of a real
    that is read as an integer it is the integer's: both round halves, and not alike.
    """
    words, (low, high) = raw.dialect, grid_limits(column)
    limits = [min(max(limit, -FARTHEST_STEP * column.step), FARTHEST_STEP * column.step) for limit in _limits(column)]
    first, last = (raw.whole(min(max(_rounded(limit / column.step), low), high)) for limit in limits)
    times, parts = (raw.double(Fraction(part)) for part in (column.step.denominator, column.step.numerator))
    read_whole = column.type == "integer" and raw.type.family == "real"
    real = words.cast(value, "DOUBLE") if read_whole else raw.real
    number = words.call("round", f"{real} * {times} / {parts}")
    near = (
        f"CASE WHEN {value} IS NULL THEN NULL WHEN {real} <= {raw.double(limits[0])} THEN {first} "
        f"WHEN {real} >= {raw.double(limits[1])} THEN {last} "
        f"ELSE {words.cast(_within(words, number, str(low), str(high)), 'BIGINT')} END"
    )
    exact = _unscaled(column, raw)
    if exact is None:
        return near
    unscaled, digits = exact
    ratio = 1 / (column.step * 10**digits)  # grid steps per unit of the last digit
    if 2 * (FARTHEST_STEP + 1) * ratio.denominator >= words.widest:
        return near
    least = max(math.ceil(limits[0] * 10**digits), -words.widest)
    most = min(math.floor(limits[1] * 10**digits), words.widest)
    lower, upper, times, half, parts = (
        words.constant(number, "HUGEINT")
        for number in (least, most, ratio.numerator, ratio.denominator, 2 * ratio.denominator)
    )
    inner = _within(words, unscaled, lower, upper)
    doubled = f"(2 * {words.call('abs', inner)} * {times} + {half})"
    rounded = words.cast(f"{words.call('sign', inner)} * {words.call('wide_quotient', doubled, parts)}", "BIGINT")
    return (
        f"CASE WHEN {value} IS NULL THEN NULL WHEN {unscaled} IS NULL THEN {near} "
        f"WHEN {unscaled} < {lower} THEN {first} WHEN {unscaled} > {upper} THEN {last} "
        f"ELSE {_within(words, rounded, raw.whole(low), raw.whole(high))} END"
    )


def _within(words: Dialect, number: str, low: str, high: str) -> str:
    """The number, or the end that it is beyond."""
    return words.call("least", words.call("greatest", number, low), high)


def _unscaled(column: ColumnShape, raw: _Raw) -> tuple[str, int] | None:
    """(the source's value times 10^digits as HUGEINT, digits) for sources that are exact; None for others."""
    match raw.type.family:
        case "integer" | "wide":
            return raw.read("HUGEINT"), 0
        case "decimal":
            return raw.made("unscaled_decimal"), raw.type.places
        case "text" if column.type != "real":
            digits = _digits(column.step) + 6  # so many beyond the grid decide how a number rounds
            return None if digits > 20 else (raw.made("unscaled_text", str(digits)), digits)
    return None


def _digits(step: Fraction) -> int:
    """Decimals of a step, which is a decimal number: 2 for 0.25."""
    digits = 0
    while (step * 10**digits).denominator != 1 and digits < 38:
        digits += 1
    return digits


def _rounded(number: Fraction) -> int:
    """Nearest integer, halves away from zero, as SQL rounds.

    >>> _rounded(Fraction(5, 2)), _rounded(Fraction(-5, 2))
    (3, -3)
    """
    magnitude = math.floor(abs(number) + Fraction(1, 2))
    return magnitude if number >= 0 else -magnitude


def wire_of(column: ColumnShape) -> str:
    """The wire type of a declared column's values in the bounded table."""
    return WIRE[DECLARED[column.type]]


def listed(column: ColumnShape, values_of: tuple[str, str] | None, words: Dialect) -> Domain | None:
    """A column's domain; None where it is open.

    Args:
        column: What is declared.
        values_of: The column that gives its values, and what to write after FROM for its table; None without one.
        words: The database's.
    """
    if column.values is not None:
        values = ", ".join(words.constant(value, wire_of(column)) for value in column.values)
        return lambda value: f"{value} IN ({values})"
    if values_of is not None:
        return lambda value: words.call("among", value, *values_of)
    return None


def identity(table: TableShape, name: str, source: SourceTable, *, integer: bool) -> str:
    """SQL of a unit or key as BIGINT or VARCHAR, over a row ``s`` of the source.

    A text of more than `LONGEST_IDENTITY` letters names nobody: cut, it might be the name of somebody else.

    Args:
        table: Its table, for messages.
        name: The column.
        source: Where it comes from.
        integer: Whether as BIGINT, which holds all that the source can.

    Raises:
        PolicyError: If the source has no such column, or one that cannot name anything.
    """
    kind = source.type_of(name)
    if kind is None:
        raise PolicyError(f"{table.name}.{name} is in the policy but not in the data. Write the data's own name.")
    if kind.family in ("nested", "real") or kind.places:  # as texts 1.0 and 1.00 would be two people
        raise PolicyError(
            f"{table.name}.{name} holds {kind.name}, which names nobody. Make it an integer, a UUID or a text."
        )
    if kind.alike:
        raise PolicyError(
            f"{table.name}.{name} holds {kind.name} whose values can be equal in the database although their texts "
            f"differ: one person would be several. {kind.alike}"
        )
    raw = _Raw(source, name, kind)
    if integer:
        return raw.read("BIGINT")
    if kind.family == "wide":
        return raw.made("identity_of_wide")
    text, words = raw.read("VARCHAR"), source.dialect
    if kind.family != "text":  # an integer or a UUID: it is short
        return text
    return f"CASE WHEN {words.call('length', text)} <= {raw.whole(LONGEST_IDENTITY)} THEN {text} END"
