"""The bounded view in plain Python: slow, obvious, and written from its description alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
FARTHEST = 2**53


def half_away(number: Fraction) -> int:
    """The nearest integer, halves away from zero."""
    return int(math.copysign(math.floor(abs(number) + Fraction(1, 2)), number))


def clamp(value: Any, low: Any, high: Any) -> Any:
    """The value, or the nearer end."""
    return low if value < low else high if value > high else value


def integer(low: int | None, high: int | None) -> Callable[[Any], Row]:
    """A declared integer on grid 1 from any numeric source."""

    def read(value: Any) -> int | None:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        first, last = (-FARTHEST, FARTHEST) if low is None or high is None else (low, high)
        if not -(2**63) <= value < 2**63:
            return first if value < 0 else last
        inside: int = clamp(int(value), first, last)
        return inside

    def columns(value: Any) -> Row:
        inside = read(value)
        if low is not None:
            return {"": inside}
        return {"": inside, "$grid": inside}

    return columns


def real(low: Fraction | None, high: Fraction | None, step: Fraction) -> Callable[[Any], Row]:
    """A declared real: exact on the grid from a Decimal, as close as a double gets from a float."""

    def columns(value: Any) -> Row:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return {"": None, "$grid": None}
        first, last = (-FARTHEST * step, FARTHEST * step) if low is None or high is None else (low, high)
        inside = clamp(float(value), float(first), float(last))
        if isinstance(value, Decimal):
            steps = clamp(Fraction(value), first, last) / step
        else:
            near = clamp(float(value), float(first), float(last))
            steps = Fraction(near * step.denominator / step.numerator)
            if near in (float(first), float(last)):
                steps = (first if near == float(first) else last) / step
        grid = clamp(half_away(steps), math.floor(first / step), math.ceil(last / step))
        return {"": inside + 0.0, "$grid": grid}

    return columns


def among(inside: Callable[[Any], bool]) -> Callable[[Any], Row]:
    """A declared text, boolean, date or timestamp: what is not inside reads as NULL."""
    return lambda value: {"": value if value is not None and inside(value) else None}


def spoken(value: Any) -> str:
    """The engine's text of a value."""
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            text = value.isoformat(sep=" ")
            return text.rstrip("0") if "." in text else text
        case date():
            return value.isoformat()
        case float():
            return repr(value)
    return str(value)


def keyed_hash(secret: str, values: Iterable[Any]) -> str:
    """SHA-256 of the secret and some values, every one with its length in bytes before it."""
    parts = ("N" if value is None else f"{len(spoken(value).encode())}:{spoken(value)}" for value in values)
    return hashlib.sha256((secret + "".join(parts)).encode()).hexdigest()


def grouped(rows: Iterable[Row], by: tuple[str, ...]) -> list[list[Row]]:
    """The rows by what they hold in some columns."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return list(groups.values())


def bounded_view(
    rows: Iterable[Row],
    readers: Mapping[str, Callable[[Any], Row]],
    *,
    unit: str,
    key_column: str | None,
    cap: int,
    key: bytes,
    rank: str,
) -> list[Row]:
    """The rows that the view holds, in any order, each with its place within its unit.

    Keys of a unit stand in the order of the first eight digits of a keyed hash, and each has the row of the least
    hash; without a key, rows stand in the order of a hash of what they say. Of a cap of one row there are no places.
    """
    cleaned = []
    for row in rows:
        if row[unit] is None or (key_column is not None and row[key_column] is None):
            continue
        clean = {unit: row[unit]} | ({} if key_column is None else {key_column: row[key_column]})
        for name, read in readers.items():
            clean |= {name + suffix: value for suffix, value in read(row[name]).items()}
        cleaned.append(clean)
    if cap == 1:
        return [min(own, key=lambda row: keyed_hash(key.hex(), row.values())) for own in grouped(cleaned, (unit,))]

    def order(row: Row) -> tuple[str, str]:
        said = [value for name, value in row.items() if f"{name}$grid" not in row]
        told = [row[unit], row[key_column]] if key_column is not None else said
        return keyed_hash(key.hex()[:32], told)[:8], "" if key_column is None else str(row[key_column])

    kept = []
    for own in grouped(cleaned, (unit,)):
        keys = (
            grouped(sorted(own, key=order), (key_column,))
            if key_column is not None
            else [[row] for row in sorted(own, key=order)]
        )
        for place, alike in enumerate(keys[:cap], 1):
            kept.append(min(alike, key=lambda row: keyed_hash(key.hex(), row.values())) | {rank: place})
    return kept
