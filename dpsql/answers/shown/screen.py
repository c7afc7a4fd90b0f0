"""Text that is safe and readable on a screen: values, values with their errors, tables."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

__all__ = ["WIDEST", "Ends", "half_width", "legend", "number", "percent", "plain", "safe", "text_table", "with_error"]

WIDEST = 60  # Screen columns of a cell of text, where nothing else is said. It is a choice.

Ends = tuple[Any, Any]
"""The two ends of an interval; None where there is no value."""

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]P^_X]|[\x9d\x90])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
)
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of controls, bidi overrides and other format characters."""
NARROWEST = 20  # Screen columns that a folded text keeps, however narrow the screen is. It is a choice.
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
    of a number as a question mark, and so an end of which nothing is known. Where the farther end of an uneven interval
    would leave no digit of the value, which is often nearer than its interval can show, it keeps some.

    >>> with_error(12_347, (11_784, 12_910))
    '12350 ± 570'
    >>> with_error(52_345.67, (49_871.2, None)), with_error(2000.0, (-8.9e15, 7.7e15))
    ('52300 [49800, ?]', '2000 [-8.9e+15, 7.7e+15]')
    >>> with_error(412.34, (400.0, 418.9))
    '412.3 [400.0, 418.9]'
    >>> with_error(14.73, (13.235, 35_000.0))
    '15 [13, 35000]'
    >>> with_error([12_347, None], ([11_784, None], [12_910, None]))
    '[12350 ± 570, NULL]'
    """
    low, high = ends
    if isinstance(value, list) and low is not None:
        cells = (with_error(own, (first, last)) for own, first, last in zip(value, low, high, strict=True))
        return f"[{', '.join(cells)}]"
    if value is None or isinstance(value, list):
        return plain(value)
    if low is high is None:
        return plain(value) if _decimal(value) is None else f"{_short(value, 6)} ± ?"
    middle, left, right = (None if part is None else _decimal(part) for part in (value, low, high))
    sides = [
        _EXACT.abs(_EXACT.subtract(middle, end)) for end in (left, right) if middle is not None and end is not None
    ]
    if middle is None or len(sides) < sum(end is not None for end in ends):
        return f"{plain(value)} [{', '.join('?' if end is None else plain(end) for end in ends)}]"
    error = max(sides)
    if error <= 0 and len(sides) == 2:
        return plain(value)
    place = _place(min(sides) or error, error, middle)
    if isinstance(value, int):
        place = max(place, Decimal(1))
    shown = _rounded(middle, place, ROUND_HALF_EVEN)
    if len(sides) == 2 and abs(sides[1] - sides[0]) <= error / 10:
        return f"{shown} ± {_rounded(error, place, ROUND_CEILING)}"
    both = ((left, ROUND_FLOOR), (right, ROUND_CEILING))
    if 0 < abs(middle) < place:
        return f"{_short(value, 4)} [{', '.join('?' if end is None else number(end, 2, way) for end, way in both)}]"
    return f"{shown} [{', '.join('?' if end is None else _rounded(end, place, way) for end, way in both)}]"


def _place(finer: Decimal, error: Decimal, middle: Decimal) -> Decimal:
    """The last digit that is shown: the second one of the nearer end, or the fourth of the farther.

    Where the farther end is very far, two digits of the value are kept, which is often nearer than the end can show.
    """
    place = max(finer.adjusted(), error.adjusted() - 2)
    if middle.adjusted() == place - 1:  # one digit is left
        place = max(finer.adjusted(), place - 1)
    return Decimal(1).scaleb(place - 1)


def _short(value: Any, digits: int) -> str:
    """A number of which no error says how many digits matter."""
    return plain(value) if isinstance(value, int) else number(value, digits)


def legend(level: str, cells: Iterable[tuple[Any, Ends]]) -> str:
    """What the errors beside these values are; empty where none has one.

    Args:
        level: Of the intervals, in percent.
        cells: Values, each with the ends of its interval.

    >>> legend("95", [(7, (6, 8))])
    '± is half the width of a 95% confidence interval; [low, high] is such an interval.'
    >>> legend("95", [(7, (6, None))])[-52:]
    'interval, and ? stands for what is not known of one.'
    >>> legend("95", [(7, (None, None))])
    '± ? stands for an error that is not known.'
    >>> legend("95", [("F", (None, None)), (None, (None, None))])
    ''
    """
    pairs = [pair for cell in cells for pair in _apart(*cell)]
    unknown = {end is None for value, ends in pairs for end in ends if ends != (None, None) or _is_number(value)}
    if unknown <= {True}:
        return "± ? stands for an error that is not known." if unknown else ""
    marks = ", and ? stands for what is not known of one" * (True in unknown)
    return f"± is half the width of a {level}% confidence interval; [low, high] is such an interval{marks}."


def _apart(value: Any, ends: Ends) -> list[tuple[Any, Ends]]:
    """Each value of a list with its own ends."""
    low, high = ends
    if isinstance(value, list) and low is not None:
        return list(zip(value, zip(low, high, strict=True), strict=True))
    return [] if value is None or isinstance(value, list) else [(value, ends)]


def _is_number(value: Any) -> bool:
    return value is not None and _decimal(value) is not None


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
    names: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool] = (), widest: int | None = WIDEST,
    screen: int | None = None,
) -> str:  # fmt: skip
    """An aligned table: names, a rule, one line a row.

    Args:
        names: Column names.
        rows: Cells, one sequence a row.
        right: Which columns are aligned to the right (numbers); none where absent.
        widest: Longer cells are cut to so many screen columns with ``…``, numbers never; None cuts nothing.
        screen: Screen columns of a whole line: the widest text goes on below itself where there are fewer; None has any
            number.

    >>> print(text_table(["city", "n"], [["Troy", "12 ± 4"], ["Rome", "7 ± 4"]], right=[False, True]))
    city       n
    ────  ──────
    Troy  12 ± 4
    Rome   7 ± 4
    >>> print(text_table(["where", "what"], [["patients", "rows have no unit. They are in no answer."]], screen=30))
    where     what
    ────────  ────────────────────
    patients  rows have no unit.
              They are in no
              answer.
    """
    aligned = [*right, *[False] * (len(names) - len(right))]
    lines = [[safe(cell) for cell in row] for row in (names, *rows)]
    lines = [
        [cell if to_right and at else _cut(cell, widest) for cell, to_right in zip(line, aligned, strict=True)]
        for at, line in enumerate(lines)
    ]
    widths = [max(_width(line[i]) for line in lines) for i in range(len(names))]
    if screen is not None and (spare := screen - sum(widths) - 2 * (len(names) - 1)) < 0 and not all(aligned):
        place = max((i for i, to_right in enumerate(aligned) if not to_right), key=widths.__getitem__)
        widths[place] = max(widths[place] + spare, min(widths[place], NARROWEST))
        lines = [own for line in lines for own in _folded(line, place, widths[place])]
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


def _folded(line: Sequence[str], place: int, width: int) -> Iterable[list[str]]:
    """A row as several: words of one of its cells that go on below, none wider than so many screen columns."""
    parts = [""]
    for word in line[place].split(" "):
        joined = f"{parts[-1]} {word}" if parts[-1] else word
        if _width(joined) <= width:
            parts[-1] = joined
            continue
        parts = [*filter(None, parts), word]
        while _width(parts[-1]) > width:
            end = max((end for end in range(1, width + 1) if _width(parts[-1][:end]) <= width), default=1)
            parts[-1:] = [parts[-1][:end], parts[-1][end:]]
    for below, part in enumerate(parts):
        yield [part if i == place else "" if below else cell for i, cell in enumerate(line)]


def _cut(text: str, widest: int | None) -> str:
    if widest is None or _width(text) <= widest:
        return text
    ends = [end for end in range(min(len(text), widest)) if _width(text[:end]) < widest]
    return text[: ends[-1]] + "…"
