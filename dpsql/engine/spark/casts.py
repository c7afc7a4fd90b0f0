"""How Spark spells casts, and how it reads values of the source: NULL where there is no value, never an error.

Tests: tests/doors/test_spark_dialect.py, tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import CLOCK_AND_OFFSET, FAMILIES, OFFSET
from dpsql.engine.spark.words import LOCAL, MICROS, half_away, within
from dpsql.plan.types import INTEGERS

__all__ = ["CASTS", "READING", "number_of", "text_of"]

SPACE = r"[ \\t\\n\\r\\x0B\\f]+"
"""What casts of texts pass over at their ends: a pattern, for a line's end in a constant would break the lines of the
plan that is looked at."""
_NUMBER = r"'^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$'"
_PLAIN = r"'^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$'"
_DIGITS = r"'^[+-]?[0-9]{1,19}$'"
_SINGLE = "CAST('3.4028235677973366e38' AS DOUBLE)"  # From here on a double is nearer to 2^128 than to a 32-bit number.
_DAY = r"'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}$'"
_CLOCK = r"'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{2,2}(:[0-9]{2,2}([.][0-9]{1,6})?)?$'"
_ENDS = "CAST('-9.3e18' AS DOUBLE)", "CAST('9.3e18' AS DOUBLE)"


def _trimmed(text: str) -> str:
    return f"regexp_replace({text}, '^{SPACE}|{SPACE}$', '')"


def number_of(text: str, then: str) -> str:
    """What is made of a text that says a number; NULL where it says none. ``{n}`` is the text, without blanks."""
    trimmed = _trimmed(text)
    return f"CASE WHEN {trimmed} RLIKE {_NUMBER} THEN {then.replace('{n}', trimmed)} END"


def _even(x: str) -> str:
    """The nearest whole number, halves to even, of a real one within 64 bits."""
    return f"CAST(bround({x}) AS BIGINT)"


def _whole_of(value: str, kind: str, name: str) -> str:
    low, high = (str(end) for end in INTEGERS[name])
    match kind:
        case "integer":
            return within(value, low, high, f"CAST({value} AS BIGINT)")
        case "real":
            last = f"CAST('{float(high) if int(high) < 2**53 else 2.0**63 - 1024!r}' AS DOUBLE)"
            first = f"CAST('{float(low)!r}' AS DOUBLE)"
            return within(f"bround({value})", first, last, _even(value))
        case "decimal":
            return within(f"round({value}, 0)", low, high, f"CAST(round({value}, 0) AS BIGINT)")
    trimmed = _trimmed(value)
    exact = f"TRY_CAST(round(TRY_CAST({trimmed} AS DECIMAL(38, 18)), 0) AS BIGINT)"
    near = f"TRY_CAST({trimmed} AS DOUBLE)"
    wide = f"CASE WHEN {near} BETWEEN {_ENDS[0]} AND {_ENDS[1]} THEN TRY_CAST({half_away(near)} AS BIGINT) END"
    read = (
        f"CASE WHEN {trimmed} RLIKE {_DIGITS} THEN TRY_CAST({trimmed} AS BIGINT) "
        f"WHEN {trimmed} RLIKE {_PLAIN} THEN {exact} WHEN {trimmed} RLIKE {_NUMBER} THEN {wide} END"
    )
    return read if name == "bigint" else within(f"({read})", low, high, f"({read})")


def _decimal_of(number: str, sure: str) -> str:
    """Rounded to {2} places where {1} digits hold it."""
    return f"CAST({sure}CAST({number} AS DECIMAL({{1}},{{2}})) AS DOUBLE)"


def _day_of(text: str) -> str:
    return f"CASE WHEN {text} RLIKE {_DAY} THEN TRY_CAST({text} AS DATE) END"


def _moment_of(text: str) -> str:
    trimmed = _trimmed(text)
    return (
        f"CASE WHEN {trimmed} RLIKE {_DAY} THEN CAST(TRY_CAST({trimmed} AS DATE) AS {LOCAL}) "
        f"WHEN {trimmed} RLIKE {_CLOCK} THEN TRY_CAST({trimmed} AS {LOCAL}) END"
    )


_ZONED = f"({_trimmed('{0}')} RLIKE '{CLOCK_AND_OFFSET}')"


def _in_utc() -> str:
    """The moment that a text says; in UTC, where it has an offset."""
    trimmed = _trimmed("{0}")
    offset = f"regexp_extract({trimmed}, '{OFFSET}', 1)"
    digits = f"rpad(regexp_replace({offset}, '[^0-9]', ''), 4, '0')"
    hours, minutes = (f"CAST(substring({digits}, {first}, 2) AS BIGINT)" for first in (1, 3))
    ahead = f"({hours} * 60 + {minutes}) * CASE WHEN startswith({offset}, '-') THEN -1 ELSE 1 END"
    local = MICROS.format(of=_moment_of(f"regexp_replace({trimmed}, '{OFFSET}', '')"))
    moved = f"CAST(timestamp_micros({local} - {ahead} * 60000000) AS {LOCAL})"
    return f"CASE WHEN {_ZONED} THEN {moved} ELSE {_moment_of('{0}')} END"


def _single_of(double: str) -> str:
    return f"CASE WHEN abs({double}) < {_SINGLE} THEN CAST(CAST({double} AS FLOAT) AS DOUBLE) END"


_TRUE, _FALSE = "('true', 't', '1', 'yes', 'y')", "('false', 'f', '0', 'no', 'n')"
_BOOLEAN = f"CASE WHEN lower({{0}}) IN {_TRUE} THEN TRUE WHEN lower({{0}}) IN {_FALSE} THEN FALSE END"
CASTS = {
    "bigint": "CAST({0} AS BIGINT)",
    "nearest": _even("{0}"),
    **{
        f"try_{name}_from_{kind}": _whole_of("{0}", kind, name)
        for name in INTEGERS
        for kind in ("integer", "real", "text")
    },
    "bigint_from_boolean": "CAST({0} AS BIGINT)",
    "double_from_integer": "CAST({0} AS DOUBLE)",
    "double_from_boolean": "CAST(CAST({0} AS INT) AS DOUBLE)",
    "try_double_from_text": number_of("{0}", "TRY_CAST({n} AS DOUBLE)"),
    "try_float_from_real": _single_of("{0}"),
    "try_float_from_text": number_of("{0}", _single_of("TRY_CAST({n} AS DOUBLE)")),
    "decimal_from_integer": _decimal_of("{0}", ""),
    **{f"try_decimal_from_{kind}": _decimal_of("{0}", "TRY_") for kind in ("integer", "real")},
    "try_decimal_from_text": number_of(
        "{0}",
        f"CASE WHEN {{n}} RLIKE {_PLAIN} THEN {_decimal_of('{n}', 'TRY_')} "
        f"WHEN abs(TRY_CAST({{n}} AS DOUBLE)) < CAST('1e38' AS DOUBLE) "
        f"THEN {_decimal_of('TRY_CAST({n} AS DOUBLE)', 'TRY_')} END",
    ),
    "try_boolean_from_text": _BOOLEAN,
    **{f"text_from_{kind}": "CAST({0} AS STRING)" for kind in ("integer", "date", "timestamp", "boolean")},
    "date_from_timestamp": "CAST({0} AS DATE)",
    "timestamp_from_date": f"CAST({{0}} AS {LOCAL})",
    "try_date_from_text": _day_of(_trimmed("{0}")),
    "try_timestamp_from_text": _moment_of("{0}"),
}


def text_of(value: str) -> str:
    """A value's text as DuckDB has it. Spark and Sail write doubles otherwise: 1.0E16 and 1e16 are 1e+16."""
    text = f"CAST({value} AS STRING)"
    few = f"split_part(replace(upper({text}), '.0E', 'E'), 'E', 1)"
    times = f"TRY_CAST(split_part(upper({text}), 'E', 2) AS INT)"
    sign = f"CASE WHEN {times} < 0 THEN 'e-' ELSE 'e+' END"
    power = f"{sign} || CASE WHEN abs({times}) < 10 THEN '0' ELSE '' END || CAST(abs({times}) AS STRING)"
    plain = f"trim(TRAILING '0' FROM CAST(TRY_CAST({text} AS DECIMAL(38, 20)) AS STRING))"
    ended = f"CASE WHEN endswith({plain}, '.') THEN {plain} || '0' ELSE {plain} END"
    return (
        f"CASE WHEN typeof({value}) <> 'double' OR NOT contains(upper({text}), 'E') THEN {text} "
        f"WHEN {times} BETWEEN -4 AND 15 THEN {ended} ELSE {few} || {power} END"
    )


READING = {
    "bigint_of_integer": "CAST({0} AS BIGINT)",
    "bigint_of_boolean": "CAST({0} AS BIGINT)",
    **{f"bigint_of_{family}": _whole_of("{0}", "decimal", "bigint") for family in ("wide", "decimal")},
    **{f"bigint_of_{family}": _whole_of("{0}", family, "bigint") for family in ("real", "text")},
    "hugeint_of_integer": "CAST({0} AS DECIMAL(38, 0))",
    "hugeint_of_wide": "CAST({0} AS DECIMAL(38, 0))",
    "identity_of_wide": "CAST({0} AS STRING)",
    **{f"double_of_{family}": "CAST({0} AS DOUBLE)" for family in ("integer", "real", "wide", "decimal")},
    "double_of_boolean": "CAST(CAST({0} AS INT) AS DOUBLE)",
    "double_of_text": number_of("{0}", "TRY_CAST({n} AS DOUBLE)"),
    "boolean_of_boolean": "{0}",
    "boolean_of_integer": "({0} <> 0)",
    "boolean_of_text": f"CASE {{0}} WHEN '1.0' THEN TRUE WHEN '0.0' THEN FALSE ELSE {_BOOLEAN} END",  # pandas' 1 and 0
    **{f"varchar_of_{family}": "CAST({0} AS STRING)" for family in FAMILIES},
    "varchar_of_real": text_of("CAST({0} AS DOUBLE)"),
    "varchar_of_timestamp": f"CAST(CAST({{0}} AS {LOCAL}) AS STRING)",
    "date_of_date": "{0}",
    "date_of_timestamp": f"CAST(CAST({{0}} AS {LOCAL}) AS DATE)",
    "date_of_text": f"CAST({_in_utc()} AS DATE)",
    "timestamp_of_date": f"CAST({{0}} AS {LOCAL})",
    "timestamp_of_timestamp": f"CAST({{0}} AS {LOCAL})",
    "timestamp_of_text": _in_utc(),
    "has_offset": _ZONED,
}
