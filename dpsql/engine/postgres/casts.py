"""How PostgreSQL spells casts, and how it reads values of the source: NULL where there is no value, never an error.

Tests: tests/doors/test_postgres_dialect.py, tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import CLOCK_AND_OFFSET, FAMILIES, OFFSET
from dpsql.engine.postgres.words import BYTES, LAST_OF_MONTH, NAN, kept, within
from dpsql.plan.types import INTEGERS

__all__ = ["CASTS", "READING", "double_of", "number_of", "short_enough", "text_of"]

SPACE = "E' \\t\\n\\r\\x0b\\x0c'"
"""What casts of texts pass over at their ends."""
_NUMBER = r"'^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'"
_MOST_SIGNS = 10_000
"""Signs of a text that says a number; a longer one says none. A numeric has 131,072 digits before the point and 16,383
behind it, to which an exponent adds 999, and a cast of more is an error. It is a choice: far more than people write."""
_LONGEST_NAME = "CAST('1e250' AS numeric)"  # Digits by which people are told apart: no more than letters of a text.
_LARGEST = "CAST('1.7e308' AS numeric)"
_SINGLE = "CAST('3.4028235e38' AS double precision)"  # The largest 32-bit number.
_TINY = "CAST('1e-45' AS double precision)"  # Below it, a 32-bit number is 0.
_DAY = "'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}$'"
_CLOCK = r"'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{2,2}(:[0-9]{2,2}(\.[0-9]{1,6})?)?$'"


def number_of(text: str, then: str) -> str:
    """What is made of the number that a text says; NULL where it says none. ``{n}`` is the number, a numeric."""
    trimmed = f"btrim({text}, {SPACE})"
    number = then.replace("{n}", f"CAST({trimmed} AS numeric)")
    return f"CASE WHEN {short_enough(trimmed)} AND {trimmed} ~ {_NUMBER} THEN {number} END"


def short_enough(text: str) -> str:
    """Whether a text, if it says a number, says one that a numeric holds."""
    return f"char_length({text}) <= {_MOST_SIGNS}"


def _whole_of(value: str, kind: str, name: str) -> str:
    low, high = INTEGERS[name]
    match kind:
        case "integer":
            return within(value, str(low), str(high), f"CAST({value} AS bigint)")
        case "real":  # to the even neighbour, as rint() does
            last = f"CAST('{float(high) if high < 2**53 else 2.0**63 - 1024!r}' AS double precision)"
            first = f"CAST('{float(low)!r}' AS double precision)"
            return within(f"round({value})", first, last, f"CAST({value} AS bigint)")
        case "decimal":
            return within(f"round({value})", str(low), str(high), f"CAST({value} AS bigint)")
    return number_of(value, within("round({n})", str(low), str(high), "CAST(round({n}) AS bigint)"))


def double_of(numeric: str) -> str:
    """A numeric as a double: beyond the largest of them NULL, near to 0 it is 0."""
    double = kept(f"CAST({numeric} AS double precision)")
    near = f"CASE WHEN abs({numeric}) < CAST('1e-140' AS numeric) THEN 0 ELSE {double} END"
    return f"CASE WHEN abs({numeric}) <= {_LARGEST} THEN {near} END"


def _single_of(double: str) -> str:
    near = f"CASE WHEN abs({double}) < {_TINY} THEN 0 ELSE CAST(CAST({double} AS real) AS double precision) END"
    return f"CASE WHEN abs({double}) <= {_SINGLE} THEN {near} END"


def _decimal_of(numeric: str) -> str:
    """Rounded to {2} places where {1} digits hold it."""
    rounded = f"round({numeric}, CAST({{2}} AS integer))"
    limit = "power(CAST(10 AS numeric), {1} - {2})"
    return f"CASE WHEN abs({rounded}) < {limit} THEN {double_of(rounded)} END"


def _day_of(text: str) -> str:
    """The day that a text says, year-month-day."""
    parts = [f"CAST(split_part({text}, '-', {place}) AS integer)" for place in (1, 2, 3)]
    year, month, day = parts
    possible = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND 31"
    last = LAST_OF_MONTH.format(of=f"CAST(make_date({year}, {month}, 1) AS timestamp)")
    made = f"CASE WHEN {day} <= extract(day FROM {last}) THEN make_date({year}, {month}, {day}) END"
    return f"CASE WHEN {text} ~ {_DAY} THEN CASE WHEN {possible} THEN {made} END END"


def _moment_of(text: str) -> str:
    trimmed = f"btrim({text}, {SPACE})"
    date = f"split_part(replace({trimmed}, 'T', ' '), ' ', 1)"
    time = f"split_part(replace({trimmed}, 'T', ' '), ' ', 2)"
    hour, minute = (f"CAST(split_part({time}, ':', {place}) AS integer)" for place in (1, 2))
    second = f"CAST('0' || split_part({time}, ':', 3) AS numeric)"
    span = " + ".join(
        f"make_interval({unit} => {value})"
        for unit, value in (("hours", hour), ("mins", minute), ("secs", f"CAST({second} AS double precision)"))
    )
    fits = f"{hour} < 24 AND {minute} < 60 AND {second} < 60"
    whole = f"CASE WHEN {fits} THEN CAST({_day_of(date)} AS timestamp) + {span} END"
    return (
        f"CASE WHEN {trimmed} ~ {_DAY} THEN CAST({_day_of(trimmed)} AS timestamp) "
        f"WHEN {trimmed} ~ {_CLOCK} THEN {whole} END"
    )


_TRIMMED = f"btrim({{0}}, {SPACE})"
_ZONED = f"({_TRIMMED} ~ '{CLOCK_AND_OFFSET}')"


def _in_utc() -> str:
    """The moment that a text says; in UTC, where it has an offset."""
    offset = f"substring({_TRIMMED} FROM '{OFFSET}')"
    digits = f"rpad(regexp_replace({offset}, '[^0-9]', '', 'g'), 4, '0')"
    sign = f"CASE WHEN left({offset}, 1) = '-' THEN 1 ELSE -1 END"
    hours, minutes = (f"{sign} * CAST({end}({digits}, 2) AS integer)" for end in ("left", "right"))
    local = _moment_of(f"regexp_replace({_TRIMMED}, '{OFFSET}', '')")
    moved = f"{local} + make_interval(hours => {hours}, mins => {minutes})"
    return f"CASE WHEN {_ZONED} THEN {moved} ELSE {_moment_of('{0}')} END"


_TRUE, _FALSE = "('true', 't', '1', 'yes', 'y')", "('false', 'f', '0', 'no', 'n')"
_BOOLEAN = f"CASE WHEN lower({{0}}) IN {_TRUE} THEN TRUE WHEN lower({{0}}) IN {_FALSE} THEN FALSE END"
_SHORTEST = "CAST({0} AS text)"  # The shortest text that gives the double again.
CASTS = {
    "bigint": "CAST({0} AS bigint)",
    "nearest": "CAST({0} AS bigint)",
    **{
        f"try_{name}_from_{kind}": _whole_of("{0}", kind, name)
        for name in INTEGERS
        for kind in ("integer", "real", "text")
    },
    "bigint_from_boolean": "CAST(CAST({0} AS integer) AS bigint)",
    "double_from_integer": "CAST({0} AS double precision)",
    "double_from_boolean": "CAST(CAST({0} AS integer) AS double precision)",
    "try_double_from_text": number_of("{0}", double_of("{n}")),
    "try_float_from_real": kept(_single_of("{0}")),
    "try_float_from_text": kept(_single_of(number_of("{0}", double_of("{n}")))),
    **{f"{sure}decimal_from_integer": _decimal_of("CAST({0} AS numeric)") for sure in ("", "try_")},
    "try_decimal_from_real": _decimal_of(f"CAST({_SHORTEST} AS numeric)"),
    "try_decimal_from_text": number_of("{0}", _decimal_of("{n}")),
    "try_boolean_from_text": _BOOLEAN,
    **{f"text_from_{kind}": f"CAST({{0}} AS text) {BYTES}" for kind in ("integer", "date", "timestamp", "boolean")},
    "date_from_timestamp": "CAST({0} AS date)",
    "timestamp_from_date": "CAST({0} AS timestamp)",
    "try_date_from_text": _day_of(f"btrim({{0}}, {SPACE})"),
    "try_timestamp_from_text": _moment_of("{0}"),
}


def text_of(value: str) -> str:
    """A value's text as DuckDB has it: a double that is whole ends with .0."""
    text = f"CAST({value} AS text)"
    is_double = f"pg_typeof({value}) = CAST('double precision' AS regtype)"
    return f"CASE WHEN {is_double} AND {text} ~ '^-?[0-9]+$' THEN {text} || '.0' ELSE {text} END"


def _saturated(numeric: str) -> str:
    """A numeric as a double; infinite where it is, or is beyond the largest of them."""
    ends = " ".join(
        f"WHEN {numeric} {sign} CAST('{ends}1.7e308' AS numeric) THEN CAST('{ends}Infinity' AS double precision)"
        for sign, ends in ((">", ""), ("<", "-"))
    )
    return f"CASE WHEN {numeric} = CAST('NaN' AS numeric) THEN {NAN} {ends} ELSE {double_of(numeric)} END"


_TEXT = f"CAST({{0}} AS text) {BYTES}"
READING = {
    "bigint_of_integer": "CAST({0} AS bigint)",
    "bigint_of_boolean": "CAST(CAST({0} AS integer) AS bigint)",
    **{f"bigint_of_{family}": _whole_of("{0}", "decimal", "bigint") for family in ("wide", "decimal")},
    **{f"bigint_of_{family}": _whole_of("{0}", family, "bigint") for family in ("real", "text")},
    "hugeint_of_integer": "CAST({0} AS numeric)",
    "hugeint_of_wide": "CAST({0} AS numeric)",
    "identity_of_wide": f"CASE WHEN abs({{0}}) < {_LONGEST_NAME} THEN CAST(round({{0}}) AS text) {BYTES} END",
    "double_of_integer": "CAST({0} AS double precision)",
    "double_of_boolean": "CAST(CAST({0} AS integer) AS double precision)",
    "double_of_real": kept("CAST({0} AS double precision)"),
    **{f"double_of_{family}": _saturated("{0}") for family in ("wide", "decimal")},
    "double_of_text": number_of("{0}", double_of("{n}")),
    "boolean_of_boolean": "{0}",
    "boolean_of_integer": "({0} <> 0)",
    "boolean_of_text": f"CASE {{0}} WHEN '1.0' THEN TRUE WHEN '0.0' THEN FALSE ELSE {_BOOLEAN} END",  # pandas' 1 and 0
    **{f"varchar_of_{family}": _TEXT for family in FAMILIES},
    "varchar_of_real": f"({text_of('CAST({0} AS double precision)')}) {BYTES}",
    "date_of_date": "{0}",
    "date_of_timestamp": "CAST({0} AS date)",
    "date_of_text": f"CAST({_in_utc()} AS date)",
    "timestamp_of_date": (
        "CASE WHEN {0} > DATE '294276-12-31' THEN CAST('infinity' AS timestamp) ELSE CAST({0} AS timestamp) END"
    ),  # there are later days than moments
    "timestamp_of_timestamp": "CAST({0} AS timestamp)",
    "timestamp_of_text": _in_utc(),
    "has_offset": _ZONED,
}  # fmt: skip
