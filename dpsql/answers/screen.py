"""Text that is safe and readable on a screen: values, values with their errors, tables."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

__all__ = ["Ends", "half_width", "number", "percent", "plain", "safe", "text_table", "with_error"]

Ends = tuple[Any, Any]
"""The two ends of an interval; None where there is no value."""

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]P^_X]|[\x9d\x90])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of controls, bidi overrides and other format characters."""
_EXACT = Context(prec=700)
"""In decimal digits: 700 hold any double beside any other without rounding before we mean to."""


def safe(text: str) -> str:
    """The text without terminal escapes, control characters and bidi overrides; line breaks become spaces.

    >>> safe("red\\x1b[31m alert\\nnext\\u202eline")
    'red alert nextline'
    """
    if text.isascii() and text.isprintable():
        return text
    spaced = re.sub(r"[\t\n\r]+", " ", _ESCAPE.sub("", text))
    return "".join(mark for mark in spaced if unicodedata.category(mark) not in _UNSAFE)


def plain(value: Any) -> str:
    """A value as the tables show it.

    >>> plain(None), plain(True), plain("Troy"), plain(2.5)
    ('NULL', 'true', 'Troy', '2.5')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case Fraction():
            return plain(value.numerator if value.denominator == 1 else float(value))
        case list():
            return f"[{', '.join(map(plain, value))}]"
        case _:
            return safe(str(value))


def percent(confidence: float) -> str:
    """A level as percent, never rounded to 100; levels are at most 1 - 1e-12.

    >>> percent(0.95), percent(0.999999999), percent(2 / 3)
    ('95', '99.9999999', '66.67')
    """
    digits = max(4, 2 - math.floor(math.log10(max(1 - confidence, 1e-12))))
    return number(100 * confidence, digits)


def number(value: Any, digits: int = 4, rounding: str = ROUND_HALF_EVEN) -> str:
    """A public quantity (a scale, a loss) with at most that many significant digits; ``-`` for None.

    >>> number(Fraction(1, 3)), number(400), number(None), number(1e-9)
    ('0.3333', '400', '-', '1e-09')
    >>> number(0.99999, rounding=ROUND_FLOOR)  # what is left of a budget is never shown as more
    '0.9999'
    """
    if value is None:
        return "-"
    exact = _decimal(value)
    if exact is None:
        return "infinite"
    shown = float(Context(prec=digits, rounding=rounding).plus(exact))
    return f"{shown:.0f}" if shown.is_integer() and abs(shown) < 1e9 else f"{shown:.{digits}g}"


def half_width(ends: Ends) -> float:
    """Half the width of an interval with two ends; of dates in days."""
    low, high = ends
    width: float = (high - low) / timedelta(days=1) if isinstance(low, date) else high - low
    return width / 2


def with_error(value: Any, ends: Ends) -> str:
    """A noised value beside its error, both rounded to two digits of the error.

    An interval that lies evenly around the value is written as its half width, any other by its ends; the unknown error
    of a number as a question mark.

    >>> with_error(12_347, (11_784, 12_910))
    '12350 ± 570'
    >>> with_error(412.34, (400.0, 418.9))
    '412.3 [400.0, 418.9]'
    >>> with_error([12_347, None], ([11_784, None], [12_910, None]))
    '[12350 ± 570, NULL]'
    """
    low, high = ends
    if isinstance(value, list) and low is not None:
        cells = (with_error(own, (first, last)) for own, first, last in zip(value, low, high, strict=True))
        return f"[{', '.join(cells)}]"
    if value is None or isinstance(value, list):
        return plain(value)
    if low is None or high is None:
        if _decimal(value) is None:
            return plain(value)
        return f"{plain(value) if isinstance(value, int) else number(value, 6)} ± ?"
    exact = [_decimal(part) for part in (value, low, high)]
    if any(part is None for part in exact):
        return f"{plain(value)} [{plain(low)}, {plain(high)}]"
    middle, left, right = (part for part in exact if part is not None)
    below, above = _EXACT.subtract(middle, left), _EXACT.subtract(right, middle)
    error = max(below, above)
    if error <= 0:
        return plain(value)
    finer = min(below, above) if min(below, above) > 0 else error  # of a lopsided interval, the nearer end
    place = Decimal(1).scaleb(max(finer.adjusted(), error.adjusted() - 2) - 1)
    if isinstance(value, int):
        place = max(place, Decimal(1))
    shown = _rounded(middle, place, ROUND_HALF_EVEN)
    if abs(above - below) <= error / 10:
        return f"{shown} ± {_rounded(error, place, ROUND_CEILING)}"
    return f"{shown} [{_rounded(left, place, ROUND_FLOOR)}, {_rounded(right, place, ROUND_CEILING)}]"


def _decimal(value: Any) -> Decimal | None:
    """The number exactly as written, or None for what is not a finite number."""
    match value:
        case bool() | str() | date():
            return None
        case Fraction():
            return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
        case _:
            exact = Decimal(str(value))
            return exact if exact.is_finite() else None


def _rounded(exact: Decimal, place: Decimal, rounding: str) -> str:
    nearest = exact.quantize(place, rounding, _EXACT)
    return format(nearest if nearest else abs(nearest), "f")


def text_table(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool] = (), widest: int | None = 60
) -> str:
    """An aligned table: names, a rule, one line a row.

    Args:
        names: Column names.
        rows: Cells, one sequence a row.
        right: Which columns are aligned to the right (numbers); none where absent.
        widest: Longer cells are cut to so many screen columns with ``…``, numbers never; None cuts nothing.

    >>> print(text_table(["city", "n"], [["Troy", "12 ± 4"], ["Rome", "7 ± 4"]], right=[False, True]))
    city       n
    ────  ──────
    Troy  12 ± 4
    Rome   7 ± 4
    """
    aligned = [*right, *[False] * (len(names) - len(right))]
    lines = [[safe(cell) for cell in row] for row in (names, *rows)]
    lines = [
        [cell if to_right and at else _cut(cell, widest) for cell, to_right in zip(line, aligned, strict=True)]
        for at, line in enumerate(lines)
    ]
    widths = [max(_width(line[i]) for line in lines) for i in range(len(names))]
    lines.insert(1, ["─" * width for width in widths])
    return "\n".join(
        "  ".join(
            " " * (width - _width(cell)) + cell if to_right else cell + " " * (width - _width(cell))
            for cell, width, to_right in zip(line, widths, aligned, strict=True)
        ).rstrip()
        for line in lines
    )


def _width(text: str) -> int:
    """Columns that a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(mark) else 2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text
    )


def _cut(text: str, widest: int | None) -> str:
    if widest is None or _width(text) <= widest:
        return text
    ends = [end for end in range(min(len(text), widest)) if _width(text[:end]) < widest]
    return text[: ends[-1]] + "…"
