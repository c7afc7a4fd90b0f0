"""The SQL of the bounded tables: values put inside what is declared, rows capped per unit.

Every expression is total: there is no row that makes it fail. Its Python twin, slow and obvious, is in the tests.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction

from dpsql.errors import PolicyError
from dpsql.limits import FARTHEST_STEP
from dpsql.owner.shape import NUMERIC, ColumnShape, TableShape
from dpsql.owner.sources import SourceTable, quote, text
from dpsql.plan.types import Value

__all__ = [
    "ColumnReading",
    "family",
    "first_rows",
    "grid_limits",
    "identity",
    "listed",
    "literal",
    "reading",
]

BIGINT = 2**63 - 1
HUGEINT = 2**127 - 1
FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)  # days that every tool around can hold

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
_FAMILIES = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(_WIDE, "wide"),
    "FLOAT": "real",
    "DOUBLE": "real",
    "BOOLEAN": "boolean",
    "VARCHAR": "text",
    "UUID": "text",
    "DATE": "date",
}
_READABLE = {
    "integer": {"integer", "wide", "real", "decimal", "text"},
    "real": {"integer", "wide", "real", "decimal", "text"},
    "decimal": {"integer", "wide", "real", "decimal", "text"},
    "boolean": {"boolean", "integer", "text"},
    "text": {"integer", "wide", "real", "decimal", "boolean", "text", "date", "timestamp"},
    "date": {"date", "timestamp", "text"},
    "timestamp": {"date", "timestamp", "text"},
}


def family(source_type: str) -> str:
    """What kind of values an engine's type holds: integer, wide, real, decimal, boolean, text, date, timestamp,
    nested or other.

    >>> family("DECIMAL(10,2)"), family("TIMESTAMP WITH TIME ZONE"), family("INTEGER[]")
    ('decimal', 'timestamp', 'nested')
    """
    if source_type.endswith("]") or source_type.startswith(("STRUCT", "MAP", "UNION")):
        return "nested"
    if source_type.startswith("DECIMAL"):
        return "decimal"
    if source_type.startswith("TIMESTAMP"):
        return "timestamp"
    if source_type.startswith("ENUM"):
        return "text"
    return _FAMILIES.get(source_type, "other")


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
    """

    raw: str
    parsed: str
    value: str
    grid: str | None
    outside: str
    nan: str


def reading(table: TableShape, column: ColumnShape, source: SourceTable, domain: str | None) -> ColumnReading:
    """How to read a column of a private table.

    Args:
        table: Its table, for messages.
        column: What is declared.
        source: Where it comes from.
        domain: SQL of a list of its values, or None where the domain is open.

    Raises:
        PolicyError: If the source has no such column, or one that cannot hold the declared type.
    """
    where = f"{table.name}.{column.name}"
    kind = source.type_of(column.name)
    if kind is None:
        raise PolicyError(f"{where} is in the policy but not in the data. Remove it, or write the data's own name.")
    if family(kind) not in _READABLE[column.type]:
        able = [declared for declared, families in _READABLE.items() if family(kind) in families]
        cure = f"Declare {' or '.join(able)}." if able else "Cast it in a view of the data, or leave the column out."
        raise PolicyError(f"{where} is declared {column.type}, but the data hold {kind}. {cure}")
    raw = f"s.{quote(column.name)}"
    if column.type in NUMERIC:
        return _number(column, raw, kind, domain)
    sql_type = {"boolean": "BOOLEAN", "text": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP"}[column.type]
    parsed = f"TRY_CAST({raw} AS {sql_type})"
    inside = []
    if column.type in ("date", "timestamp"):
        low, high = (literal(bound, column.type) for bound in _days(column))
        inside.append(f"{parsed} BETWEEN {low} AND {high}")  # infinite days are outside too
    if domain is not None:
        inside.append(f"{parsed} IN ({domain})")
    condition = " AND ".join(inside) or "TRUE"
    return ColumnReading(
        raw=raw,
        parsed=parsed,
        value=f"CASE WHEN {condition} THEN {parsed} END" if inside else parsed,
        grid=None,
        outside=f"{parsed} IS NOT NULL AND NOT ({condition})",
        nan="FALSE",
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


def _number(column: ColumnShape, raw: str, kind: str, domain: str | None) -> ColumnReading:
    double = f"TRY_CAST({raw} AS DOUBLE)"
    nan = f"coalesce(isnan({double}), FALSE)"
    parsed, value = (_integer if column.type == "integer" else _real)(column, raw, kind, double)
    low, high = _limits(column)
    outside = (
        f"NOT {nan} AND ({double} < {_double(low)} OR {double} > {_double(high)})" if _bounded(column) else "FALSE"
    )
    if domain is not None:
        outside = f"{value} IS NOT NULL AND {value} NOT IN ({domain})"
        value = f"CASE WHEN {value} IN ({domain}) THEN {value} END"
    grid = _grid(column, raw, kind, double, value) if column.grid else None
    return ColumnReading(raw=raw, parsed=parsed, value=value, grid=grid, outside=outside, nan=nan)


def _bounded(column: ColumnShape) -> bool:
    return column.low is not None


def _limits(column: ColumnShape) -> tuple[Fraction, Fraction]:
    """The bounds; without, where infinities saturate."""
    if isinstance(column.low, Fraction) and isinstance(column.high, Fraction):
        return column.low, column.high
    return -FARTHEST_STEP * column.step, FARTHEST_STEP * column.step


def _integer(column: ColumnShape, raw: str, kind: str, double: str) -> tuple[str, str]:
    """(parsed, value) as BIGINT. What BIGINT cannot hold, infinities included, goes to the nearer limit.

    Without bounds the limits are those of the grid: the plan's proofs that no integer overflows start from them.
    """
    bounds = _limits(column)
    low, high = max(math.ceil(bounds[0]), -BIGINT), min(math.floor(bounds[1]), BIGINT)
    parsed = f"TRY_CAST({raw} AS BIGINT)"
    if kind not in _INTEGERS:
        edge = _double(Fraction(2**62))  # a number of this size has no fraction: BIGINT failed for its size alone
        parsed = (
            f"CASE WHEN {parsed} IS NOT NULL THEN {parsed} WHEN isnan({double}) THEN NULL "
            f"WHEN {double} >= {edge} THEN {_big(high)} WHEN {double} <= -{edge} THEN {_big(low)} END"
        )
    value = f"CASE WHEN {parsed} < {low} THEN {_big(low)} WHEN {parsed} > {high} THEN {_big(high)} ELSE {parsed} END"
    return parsed, value


def _real(column: ColumnShape, raw: str, kind: str, double: str) -> tuple[str, str]:
    """(parsed, value) as DOUBLE. A bound is its nearest double; without bounds the limits are those of the grid, as for
    integers: no cast and no product of such numbers can fail or become infinite.
    """
    low, high = (_double(limit) for limit in _limits(column))
    value = (
        f"CASE WHEN isnan({double}) THEN NULL WHEN {double} < {low} THEN {low} WHEN {double} > {high} THEN {high} "
        f"ELSE {double} + 0.0 END"  # + 0.0 makes -0.0 the 0.0 that it equals
    )
    return f"CASE WHEN NOT isnan({double}) THEN {double} END", value


def grid_limits(column: ColumnShape) -> tuple[int, int]:
    """Smallest and largest grid integer of a column: its bounds rounded outward, at most 2^53 steps from 0."""
    low, high = (limit / column.step for limit in _limits(column))
    return max(math.floor(low), -FARTHEST_STEP), min(math.ceil(high), FARTHEST_STEP)


def _grid(column: ColumnShape, raw: str, kind: str, double: str, value: str) -> str:
    """round(clamped value / step) as BIGINT: exact where the source is, otherwise as close as a double gets."""
    low, high = grid_limits(column)
    limits = [min(max(limit, -FARTHEST_STEP * column.step), FARTHEST_STEP * column.step) for limit in _limits(column)]
    first, last = (min(max(_rounded(limit / column.step), low), high) for limit in limits)
    number = f"{double} * {_double(Fraction(column.step.denominator))} / {_double(Fraction(column.step.numerator))}"
    near = (
        f"CASE WHEN {value} IS NULL THEN NULL WHEN {double} <= {_double(limits[0])} THEN {_big(first)} "
        f"WHEN {double} >= {_double(limits[1])} THEN {_big(last)} "
        f"ELSE CAST(least(greatest(round({number}), {low}), {high}) AS BIGINT) END"
    )
    exact = _unscaled(column, raw, kind)
    if exact is None:
        return near
    unscaled, digits = exact
    ratio = 1 / (column.step * 10**digits)  # grid steps per unit of the last digit
    if 2 * (FARTHEST_STEP + 1) * ratio.denominator >= HUGEINT:
        return near
    edges = [max(math.ceil(limits[0] * 10**digits), -HUGEINT), min(math.floor(limits[1] * 10**digits), HUGEINT)]
    inner = f"least(greatest({unscaled}, {_huge(edges[0])}), {_huge(edges[1])})"
    doubled = f"(2 * abs({inner}) * {_huge(ratio.numerator)} + {_huge(ratio.denominator)})"
    rounded = f"CAST(sign({inner}) * ({doubled} // {_huge(2 * ratio.denominator)}) AS BIGINT)"
    return (
        f"CASE WHEN {value} IS NULL THEN NULL WHEN {unscaled} IS NULL THEN {near} "
        f"WHEN {unscaled} < {_huge(edges[0])} THEN {_big(first)} WHEN {unscaled} > {_huge(edges[1])} THEN {_big(last)} "
        f"ELSE least(greatest({rounded}, {_big(low)}), {_big(high)}) END"
    )


def _unscaled(column: ColumnShape, raw: str, kind: str) -> tuple[str, int] | None:
    """(the source's value times 10^digits as HUGEINT, digits) for sources that are exact; None for others."""
    match family(kind):
        case "integer" | "wide":
            return f"TRY_CAST({raw} AS HUGEINT)", 0
        case "decimal":
            digits = int(re.findall(r"\d+", kind)[1])
            return f"CAST(replace(CAST({raw} AS VARCHAR), '.', '') AS HUGEINT)", digits
        case "text" if column.type != "real":
            digits = _digits(column.step) + 6  # so many beyond the grid decide how a number rounds
            if digits > 20:
                return None
            number = f"TRY_CAST({raw} AS DECIMAL(38, {digits}))"
            return f"CAST(replace(CAST({number} AS VARCHAR), '.', '') AS HUGEINT)", digits
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


def _double(number: Fraction) -> str:
    return f"CAST('{float(number)!r}' AS DOUBLE)"


def _big(number: int) -> str:
    return f"CAST({number} AS BIGINT)"


def _huge(number: int) -> str:
    return f"CAST('{number}' AS HUGEINT)"


def literal(value: Value, kind: str) -> str:
    """SQL of a value of a declared type, which is not a number with decimals."""
    match kind:
        case "date":
            return f"DATE {text(str(value))}"
        case "timestamp":
            moment = value if isinstance(value, datetime) else datetime.combine(value, time.min)  # type: ignore[arg-type]  # a date
            return f"TIMESTAMP {text(moment.isoformat(sep=' '))}"
        case "text":
            return text(str(value))
    return str(value).upper()  # whole numbers, TRUE and FALSE


def listed(column: ColumnShape, values_of: str | None) -> str | None:
    """SQL of a column's domain for IN: its values, or the query that gives them; None where it is open."""
    if column.values is not None:
        return ", ".join(literal(value, column.type) for value in column.values)
    return values_of


def identity(table: TableShape, name: str, source: SourceTable, *, integer: bool) -> str:
    """SQL of a unit or key as BIGINT or VARCHAR, over a row ``s`` of the source.

    Args:
        table: Its table, for messages.
        name: The column.
        source: Where it comes from.
        integer: Whether as BIGINT.

    Raises:
        PolicyError: If the source has no such column, or one that cannot name anything.
    """
    kind = source.type_of(name)
    if kind is None:
        raise PolicyError(f"{table.name}.{name} is in the policy but not in the data. Write the data's own name.")
    if family(kind) in ("nested", "real") or _has_places(kind):
        raise PolicyError(
            f"{table.name}.{name} holds {kind}, which names nobody. Make it an integer, a UUID or a text."
        )
    return f"TRY_CAST(s.{quote(name)} AS {'BIGINT' if integer else 'VARCHAR'})"


def _has_places(kind: str) -> bool:
    """Whether a type is a decimal with places: as texts 1.0 and 1.00 would be two people."""
    return kind.upper().startswith("DECIMAL") and not kind.replace(" ", "").endswith(",0)")


def first_rows(relation: str, columns: list[str], partition: list[str], limit: int) -> str:
    """SQL of at most ``limit`` rows per partition, chosen by what the rows say, never by where they stand.

    The first are taken by (keyed hash of the row, then every column, NULLS FIRST). The hash is SHA-256 of the secret
    (the session variable ``key``) and an encoding of the row in which no two different rows are alike: each value
    with its length before it, or N. Only partitions above the limit are hashed.

    Args:
        relation: A table, quoted.
        columns: All its columns.
        partition: Some of them, without NULLs.
        limit: At least 1.
    """
    names = ", ".join(quote(name) for name in columns)
    parts = ", ".join(quote(name) for name in partition)
    encoded = " || ".join(
        f"coalesce(strlen(CAST({quote(name)} AS VARCHAR)) || ':' || CAST({quote(name)} AS VARCHAR), 'N')"
        for name in columns
    )
    order = ", ".join(f"{quote(name)} NULLS FIRST" for name in columns)
    return f"""
        WITH crowded AS (SELECT {parts} FROM {relation} GROUP BY {parts} HAVING count(*) > {limit}),
        hashed AS (
            SELECT {names}, sha256(getvariable('key') || {encoded}) AS "$hash"
            FROM {relation} SEMI JOIN crowded USING ({parts})
        )
        SELECT {names} FROM {relation} ANTI JOIN crowded USING ({parts})
        UNION ALL
        SELECT {names} FROM (
            SELECT *, row_number() OVER (PARTITION BY {parts} ORDER BY "$hash", {order}) AS "$place" FROM hashed
        ) WHERE "$place" <= {limit}
    """
