"""How PostgreSQL spells our SQL. It raises where DuckDB gives infinity, zero or NULL, so most spellings guard.

*Underflow* is an error to PostgreSQL, and no guard sees it coming for the price of a product. So every real number is
kept a whole multiple of 2^-498: what is nearer to 0 than that counts as 0. The product of two such numbers is 0 or at
least 2^-996, which a double holds. `kept` rounds to such multiples by adding 2^-445 and taking it away again: numbers
beyond 2^-391 (10^-118) stay what they are, to the last bit.

What is left out (regular expressions, whose time may explode there; remainders of reals; formats of dates) is refused
by name, before the charge.

Tests: tests/doors/test_postgres_dialect.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.engine.dialect import FAMILIES, Dialect

__all__ = ["NEAREST_TO_ZERO", "PostgresDialect", "kept", "postgres"]

NEAREST_TO_ZERO = 2.0**-391
"""Numbers nearer to 0 than this, 10^-118, may be rounded to multiples of 2^-498."""

_ADDED = "CAST('1.1006568214637918e-134' AS double precision)"  # 2^-445.
_NAN = "CAST('NaN' AS double precision)"
_SPACE = "E' \\t\\n\\r\\x0b\\x0c'"  # What casts of texts pass over at their ends.
_UNICODE = 'COLLATE "C.utf8"'  # By which letters have a case; comparing goes by bytes everywhere.
_BYTES = 'COLLATE "C"'


def kept(text: str) -> str:
    """SQL of a real number, as a multiple of 2^-498."""
    return f"(({text} + {_ADDED}) - {_ADDED})"


def _part(field: str) -> str:
    return f"CAST(extract({field} FROM {{0}}) AS bigint)"


def _within(value: str, low: str, high: str, then: str) -> str:
    """What stands behind THEN where a value lies between two ends; NULL elsewhere."""
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {then} END"


def _half_away(x: str) -> str:
    """The nearest whole number. What is behind the point, doubled, is 1 or more: exact, unlike adding a half."""
    return f"(trunc({x}) + trunc(({x} - trunc({x})) * 2))"


def _digits(rounding: str) -> str:
    """A rounding of 10^n times a number, taken back; ``{x}`` is where that stands."""
    power = "power(CAST(10 AS double precision), abs({1}))"
    many, few = rounding.replace("{x}", f"({{0}} * {power})"), rounding.replace("{x}", f"({{0}} / {power})")
    return f"CASE WHEN {{1}} >= 0 THEN {many} / {power} ELSE {few} * {power} END"


PLAIN = """
    abs acos asin atan atan2 bit_length cbrt ceil char_length character_length concat concat_ws cos floor gcd greatest
    least length ltrim pi replace reverse rtrim sin sqrt starts_with strpos tan tanh translate degrees
"""
NUMBERS = {
    "whole_quotient": "({0} / {1})",
    "whole_remainder": "({0} % {1})",
    "real_product": kept("{0} * {1}"),
    "real_quotient": kept("{0} / {1}"),
    "sign": "CAST(sign({0}) AS bigint)",
    "round": _half_away("{0}"),
    "round/2": _digits(_half_away("{x}")),
    "trunc": "trunc({0})",
    "trunc/2": _digits("trunc({x})"),
    "ln": "ln({0})",
    "log10": "log({0})",
    "log": "log({0})",
    "log/2": "(ln({1}) / ln({0}))",
    "log2": "(ln({0}) / ln(CAST(2 AS double precision)))",
    "exp": f"CASE WHEN {{0}} < -600 THEN {{0}} * 0 ELSE {kept('exp({0})')} END",
    "pow": (
        "CASE WHEN {0} <> 0 THEN CASE WHEN {1} * ln(abs({0})) < -600 THEN {0} * 0 * {1} "
        f"ELSE {kept('power({0}, {1})')} END ELSE power({{0}}, {{1}}) END"
    ),
    "radians": kept("radians({0})"),
    "isnan": f"({{0}} = {_NAN})",
}
_LENGTH = "char_length({0})"
_START = f"CASE WHEN {{1}} < 0 THEN {_LENGTH} + {{1}} + 1 ELSE {{1}} END"
TEXTS = {
    "len": _LENGTH,
    "strlen": "octet_length({0})",
    **{name: f"({word}({{0}} {_UNICODE}) {_BYTES})"
       for name, word in {"upper": "upper", "ucase": "upper", "lower": "lower", "lcase": "lower"}.items()},
    "trim": "btrim({0}, ' ')",
    "trim/2": "btrim({0}, {1})",
    "left": "left({0}, CAST({1} AS integer))",
    "right": "right({0}, CAST({1} AS integer))",
    **dict.fromkeys(("substr", "substring"), f"substr({{0}}, CAST({_START} AS integer))"),
    **dict.fromkeys(
        ("substr/3", "substring/3"),
        f"CASE WHEN {{2}} >= 0 THEN substr({{0}}, CAST({_START} AS integer), CAST({{2}} AS integer)) "
        f"WHEN {{1}} + {{2}} IS NOT NULL THEN substr({{0}}, CAST(greatest({_START} + {{2}}, 1) AS integer), "
        f"CAST(greatest(least({_START} - 1, {_LENGTH}) - greatest({_START} + {{2}}, 1) + 1, 0) AS integer)) END",
    ),
    "lpad": "lpad({0}, CAST({1} AS integer), {2})",
    "rpad": "rpad({0}, CAST({1} AS integer), {2})",
    "split_part": "CASE WHEN {1} <> '' AND {2} <> 0 THEN split_part({0}, {1}, CAST({2} AS integer)) ELSE {0} END",
    "chr": "chr(CAST({0} AS integer))",
    "ascii": "CAST(ascii({0}) AS bigint)",
    **dict.fromkeys(("unicode", "ord"), "CASE WHEN {0} = '' THEN -1 ELSE CAST(ascii({0}) AS bigint) END"),
    "instr": "strpos({0}, {1})",
    "contains": "(strpos({0}, {1}) > 0)",
    "prefix": "starts_with({0}, {1})",
    **dict.fromkeys(("ends_with", "suffix"), "(right({0}, char_length({1})) = {1})"),
    "like": "({0} LIKE {1} ESCAPE '')",
    "ilike": f"({{0}} {_UNICODE} ILIKE {{1}} ESCAPE '')",
    "like_escape": "({0} LIKE {1} ESCAPE {2})",
    "not_like_escape": "({0} NOT LIKE {1} ESCAPE {2})",
    "ilike_escape": f"({{0}} {_UNICODE} ILIKE {{1}} ESCAPE {{2}})",
    "not_ilike_escape": f"({{0}} {_UNICODE} NOT ILIKE {{1}} ESCAPE {{2}})",
}  # fmt: skip


def _micros(of: str) -> str:
    return f"CAST(extract(epoch FROM {of}) * 1000000 AS bigint)"


def _boundaries() -> str:
    """How many years, months, .. begin between two moments; weeks are whole ones."""
    start, end = "{1}", "{2}"
    months = {of: f"extract(year FROM {of}) * 12 + extract(month FROM {of})" for of in (start, end)}
    quarters = {of: f"extract(year FROM {of}) * 4 + extract(quarter FROM {of})" for of in (start, end)}
    days = f"(CAST({end} AS date) - CAST({start} AS date))"
    found = {
        "year": f"extract(year FROM {end}) - extract(year FROM {start})",
        "quarter": f"({quarters[end]}) - ({quarters[start]})",
        "month": f"({months[end]}) - ({months[start]})",
        "week": f"{days} / 7",
        "day": days,
    }
    fine = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
    found |= {
        unit: " - ".join(f"floor({_micros(of)} / CAST({length} AS numeric))" for of in (end, start))
        for unit, length in fine.items()
    }
    cases = " ".join(f"WHEN '{unit}' THEN CAST({sql} AS bigint)" for unit, sql in found.items())
    return f"CASE lower({{0}}) {cases} END"


def _moved(unit: str, furthest: tuple[int, int]) -> str:
    """A moment moved; no further than PostgreSQL's calendar goes, which is beyond the end of ours."""
    low, high = furthest
    count = f"CASE WHEN {{1}} < {low} THEN {low} WHEN {{1}} > {high} THEN {high} ELSE {{1}} END"
    return f"(CAST({{0}} AS timestamp) + make_interval({unit} => CAST({count} AS integer)))"


_MONTHS = (-50_000, 120_000)  # From any day of ours to before year 1 and after 9999, inside of 4713 BC to 294276 AD.
_LAST_OF_MONTH = "date_trunc('month', {of}) + make_interval(months => 1) - make_interval(days => 1)"
_FIRST = "make_date(CAST({0} AS integer), CAST({1} AS integer), 1)"
CALENDAR = {
    **{
        part: _part(part) for part in ("year", "quarter", "month", "week", "day", "isodow", "isoyear", "hour", "minute")
    },
    **{part: _part(part) for part in ("decade", "century")},
    "weekofyear": _part("week"),
    "dayofmonth": _part("day"),
    "dayofweek": _part("dow"),
    "weekday": _part("dow"),
    "dayofyear": _part("doy"),
    "yearweek": f"({_part('isoyear')} * 100 + {_part('week')})",
    "second": "CAST(floor(extract(second FROM {0})) AS bigint)",
    "millisecond": "CAST(floor(extract(millisecond FROM {0})) AS bigint)",
    "microsecond": _part("microsecond"),
    "epoch": "CAST(extract(epoch FROM {0}) AS double precision)",
    "dayname": "to_char({0}, 'FMDay')",
    "monthname": "to_char({0}, 'FMMonth')",
    "last_day": f"CAST({_LAST_OF_MONTH.format(of='CAST({0} AS timestamp)')} AS date)",
    "date_trunc": "date_trunc({0}, CAST({1} AS timestamp))",
    **dict.fromkeys(("date_diff", "datediff"), _boundaries()),
    "days_between": "CAST({0} - {1} AS bigint)",
    "add_days": "({0} + CAST({1} AS integer))",
    "subtract_days": "({0} - CAST({1} AS integer))",
    "moved_by_months": _moved("months", _MONTHS),
    "moved_by_days": _moved("days", (-1_500_000, 4_000_000)),
    "moved_by_seconds": "(CAST({0} AS timestamp) + make_interval(secs => CAST({1} AS double precision)))",
    "day_in_calendar": "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "in_calendar": "{0} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'",
    "try_date": (
        f"CASE WHEN {{2}} <= extract(day FROM {_LAST_OF_MONTH.format(of=f'CAST({_FIRST} AS timestamp)')}) "
        "THEN make_date(CAST({0} AS integer), CAST({1} AS integer), CAST({2} AS integer)) END"
    ),
}

WHOLE = {
    "tinyint": (-(2**7), 2**7 - 1),
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
    "utinyint": (0, 2**8 - 1),
    "usmallint": (0, 2**16 - 1),
    "uinteger": (0, 2**32 - 1),
}
"""The least and the largest number of each of the analyst's types of whole numbers."""
_NUMBER = r"'^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'"
_LARGEST = "CAST('1.7e308' AS numeric)"
_SINGLE = "CAST('3.4028235e38' AS double precision)"  # The largest 32-bit number.
_TINY = "CAST('1e-45' AS double precision)"  # Below it, a 32-bit number is 0.
_DAY = "'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}$'"
_CLOCK = r"'^[0-9]{4,4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{2,2}(:[0-9]{2,2}(\.[0-9]{1,6})?)?$'"


def _number_of(text: str, then: str) -> str:
    """What is made of the number that a text says; NULL where it says none. ``{n}`` is the number, a numeric."""
    trimmed = f"btrim({text}, {_SPACE})"
    return f"CASE WHEN {trimmed} ~ {_NUMBER} THEN {then.replace('{n}', f'CAST({trimmed} AS numeric)')} END"


def _whole_of(value: str, kind: str, name: str) -> str:
    low, high = WHOLE[name]
    match kind:
        case "integer":
            return _within(value, str(low), str(high), f"CAST({value} AS bigint)")
        case "real":  # to the even neighbour, as rint() does
            last = f"CAST('{float(high) if high < 2**53 else 2.0**63 - 1024!r}' AS double precision)"
            first = f"CAST('{float(low)!r}' AS double precision)"
            return _within(f"round({value})", first, last, f"CAST({value} AS bigint)")
        case "decimal":
            return _within(f"round({value})", str(low), str(high), f"CAST({value} AS bigint)")
    return _number_of(value, _within("round({n})", str(low), str(high), "CAST(round({n}) AS bigint)"))


def _double_of(numeric: str) -> str:
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
    return f"CASE WHEN abs({rounded}) < {limit} THEN {_double_of(rounded)} END"


def _day_of(text: str) -> str:
    """The day that a text says, year-month-day."""
    parts = [f"CAST(split_part({text}, '-', {place}) AS integer)" for place in (1, 2, 3)]
    year, month, day = parts
    possible = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND 31"
    last = _LAST_OF_MONTH.format(of=f"CAST(make_date({year}, {month}, 1) AS timestamp)")
    made = f"CASE WHEN {day} <= extract(day FROM {last}) THEN make_date({year}, {month}, {day}) END"
    return f"CASE WHEN {text} ~ {_DAY} THEN CASE WHEN {possible} THEN {made} END END"


def _moment_of(text: str) -> str:
    trimmed = f"btrim({text}, {_SPACE})"
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


_TRUE, _FALSE = "('true', 't', '1', 'yes', 'y')", "('false', 'f', '0', 'no', 'n')"
_BOOLEAN = f"CASE WHEN lower({{0}}) IN {_TRUE} THEN TRUE WHEN lower({{0}}) IN {_FALSE} THEN FALSE END"
_SHORTEST = "CAST({0} AS text)"  # The shortest text that gives the double again.
CASTS = {
    "bigint": "CAST({0} AS bigint)",
    "nearest": "CAST({0} AS bigint)",
    **{
        f"try_{name}_from_{kind}": _whole_of("{0}", kind, name)
        for name in WHOLE
        for kind in ("integer", "real", "text")
    },
    "bigint_from_boolean": "CAST(CAST({0} AS integer) AS bigint)",
    "double_from_integer": "CAST({0} AS double precision)",
    "double_from_boolean": "CAST(CAST({0} AS integer) AS double precision)",
    "try_double_from_text": _number_of("{0}", _double_of("{n}")),
    "float_from_real": kept(_single_of("{0}")),
    "try_float_from_real": kept(_single_of("{0}")),
    "try_float_from_text": kept(_single_of(_number_of("{0}", _double_of("{n}")))),
    **{f"{sure}decimal_from_integer": _decimal_of("CAST({0} AS numeric)") for sure in ("", "try_")},
    **{f"{sure}decimal_from_real": _decimal_of(f"CAST({_SHORTEST} AS numeric)") for sure in ("", "try_")},
    "try_decimal_from_text": _number_of("{0}", _decimal_of("{n}")),
    "try_boolean_from_text": _BOOLEAN,
    **{f"text_from_{kind}": f"CAST({{0}} AS text) {_BYTES}" for kind in ("integer", "date", "timestamp", "boolean")},
    "date_from_timestamp": "CAST({0} AS date)",
    "timestamp_from_date": "CAST({0} AS timestamp)",
    "try_date_from_text": _day_of(f"btrim({{0}}, {_SPACE})"),
    "try_timestamp_from_text": _moment_of("{0}"),
}
OWN = {
    "sum_of_integers": "SUM({0})",
    "sum_within": "SUM({0}) OVER (PARTITION BY {1})",
    "try_sum_of_integers": _within("SUM({0})", str(-(2**63)), str(2**63 - 1), "CAST(SUM({0}) AS bigint)"),
    "try_sum_of_reals": _double_of("SUM(CAST(CAST({0} AS text) AS numeric))"),
    "all_true": "bool_and({0})",
    "any_true": "bool_or({0})",
    "with_length": "concat(char_length(CAST({0} AS text)), ':', CAST({0} AS text))",
    "hash": "encode(sha256(convert_to(concat({*}), 'UTF8')), 'hex')",
}
"""Sums, exact for integers, and the secret order of rows."""
TYPES: Mapping[str, str] = {
    "BIGINT": "bigint",
    "HUGEINT": "numeric",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "BOOLEAN": "boolean",
}


def _text_of(value: str) -> str:
    """A value's text as DuckDB has it: a double that is whole ends with .0."""
    text = f"CAST({value} AS text)"
    is_double = f"pg_typeof({value}) = CAST('double precision' AS regtype)"
    return f"CASE WHEN {is_double} AND {text} ~ '^-?[0-9]+$' THEN {text} || '.0' ELSE {text} END"


OWN |= {"with_length": f"(char_length({_text_of('{0}')}) || ':' || {_text_of('{0}')})"}


def _saturated(numeric: str) -> str:
    """A numeric as a double; infinite where it is, or is beyond the largest of them."""
    ends = " ".join(
        f"WHEN {numeric} {sign} CAST('{ends}1.7e308' AS numeric) THEN CAST('{ends}Infinity' AS double precision)"
        for sign, ends in ((">", ""), ("<", "-"))
    )
    return f"CASE WHEN {numeric} = CAST('NaN' AS numeric) THEN {_NAN} {ends} ELSE {_double_of(numeric)} END"


_TEXT = f"CAST({{0}} AS text) {_BYTES}"
READING = {
    "bigint_of_integer": "CAST({0} AS bigint)",
    "bigint_of_boolean": "CAST(CAST({0} AS integer) AS bigint)",
    **{f"bigint_of_{family}": _whole_of("{0}", "decimal", "bigint") for family in ("wide", "decimal")},
    **{f"bigint_of_{family}": _whole_of("{0}", family, "bigint") for family in ("real", "text")},
    "hugeint_of_integer": "CAST({0} AS numeric)",
    "hugeint_of_wide": "CAST({0} AS numeric)",
    "double_of_integer": "CAST({0} AS double precision)",
    "double_of_boolean": "CAST(CAST({0} AS integer) AS double precision)",
    "double_of_real": kept("CAST({0} AS double precision)"),
    **{f"double_of_{family}": _saturated("{0}") for family in ("wide", "decimal")},
    "double_of_text": _number_of("{0}", _double_of("{n}")),
    "boolean_of_boolean": "{0}",
    "boolean_of_integer": "({0} <> 0)",
    "boolean_of_text": _BOOLEAN,
    **{f"varchar_of_{family}": _TEXT for family in FAMILIES},
    "varchar_of_real": f"({_text_of('CAST({0} AS double precision)')}) {_BYTES}",
    "date_of_date": "{0}",
    "date_of_timestamp": "CAST({0} AS date)",
    "date_of_text": CASTS["try_date_from_text"],
    "timestamp_of_date": "CAST({0} AS timestamp)",
    "timestamp_of_timestamp": "CAST({0} AS timestamp)",
    "timestamp_of_text": CASTS["try_timestamp_from_text"],
}  # fmt: skip
BUILDING = {
    **READING,
    "unscaled_decimal": "CAST(replace(CAST({0} AS text), '.', '') AS numeric)",
    "unscaled_text": _number_of(
        "{0}",
        "CASE WHEN abs(round({n}, CAST({1} AS integer))) < power(CAST(10 AS numeric), 38 - {1}) "
        "THEN round(round({n}, CAST({1} AS integer)) * power(CAST(10 AS numeric), {1})) END",
    ),
    "wide_quotient": "div({0}, {1})",
    "secret": "current_setting('dpsql.key')",
    "told_apart": f"coalesce(octet_length({_text_of('{0}')}) || ':' || {_text_of('{0}')}, 'N')",
    "quantile": "percentile_cont({1}) WITHIN GROUP (ORDER BY {0})",
}
"""What reads the owner's tables and builds the bounded ones, by the family of the source's type."""


@dataclass(frozen=True, slots=True)
class PostgresDialect(Dialect):
    """PostgreSQL's words for the bounded tables of one build.

    Attributes:
        schema: Where they stand.
        prefix: What stands before each of their names.
    """

    schema: str = ""
    prefix: str = ""

    def bounded(self, name: str) -> str:
        """The bounded table of this name."""
        return f"{self.quoted(self.schema)}.{self.quoted(self.prefix + name)}"


def postgres(schema: str, prefix: str) -> PostgresDialect:
    """The dialect for the bounded tables of one build."""
    return PostgresDialect(
        name="PostgreSQL",
        quote='"',
        types=TYPES,
        parameter="CAST(${number} AS {type})",
        table="",
        escapes={"'": "''"},
        widest=10**131_000,
        spellings=SPELLINGS,
        schema=schema,
        prefix=prefix,
    )


SPELLINGS: Mapping[str, str] = (
    {name: f"{name}({{*}})" for name in PLAIN.split()} | NUMBERS | TEXTS | CALENDAR | CASTS | OWN | BUILDING
)
