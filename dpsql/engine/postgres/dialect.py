"""How PostgreSQL spells our SQL. It raises where DuckDB gives infinity, zero or NULL, so most spellings guard.

What is left out (regular expressions, whose time may explode there; remainders of reals; formats of dates) is refused
by name, before the charge.

Tests: tests/doors/test_postgres_dialect.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.engine.dialect import Dialect
from dpsql.engine.postgres.casts import CASTS, READING, double_of, number_of, short_enough, text_of
from dpsql.engine.postgres.words import BYTES, LAST_OF_MONTH, NAN, ONCE, kept, within
from dpsql.plan.functions.text import LETTER_BY_LETTER

__all__ = ["postgres"]

_UNICODE = 'COLLATE "C.utf8"'  # By which letters have a case; comparing goes by bytes everywhere.


def _part(field: str) -> str:
    return f"CAST(extract({field} FROM {{0}}) AS bigint)"


def _half_away(x: str) -> str:
    """The nearest whole number. What is behind the point, doubled, is 1 or more: exact, unlike adding a half."""
    return f"(trunc({x}) + trunc(({x} - trunc({x})) * 2))"


def _digits(rounding: str) -> str:
    """A rounding of 10^n times a number, taken back; ``{x}`` is where that stands."""
    power = "power(CAST(10 AS double precision), abs({1}))"
    many, few = rounding.replace("{x}", f"({{0}} * {power})"), rounding.replace("{x}", f"({{0}} / {power})")
    return f"CASE WHEN {{1}} >= 0 THEN {many} / {power} ELSE {few} * {power} END"


PLAIN = """
    abs acos asin atan cbrt ceil concat concat_ws cos floor gcd greatest least ltrim pi replace reverse rtrim sin sqrt
    starts_with tan tanh translate
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
    "degrees": kept("degrees({0})"),
    "atan2": kept("atan2({0}, {1})"),
    "isnan": f"({{0}} = {NAN})",
}
_LENGTH = "char_length({0})"
_START = f"CASE WHEN {{1}} < 0 THEN {_LENGTH} + {{1}} + 1 ELSE {{1}} END"
TEXTS = {
    **{name: f"CAST({word}({{0}}) AS bigint)"
       for name, word in {"length": "char_length", "len": "char_length", "char_length": "char_length",
                          "character_length": "char_length", "strlen": "octet_length",
                          "bit_length": "bit_length"}.items()},
    **{name: f"({word}({{0}} {_UNICODE}) {BYTES})"
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
    "split_part": "CASE WHEN {2} = 0 THEN left({0}, 0) "
                  "WHEN {1} <> '' THEN split_part({0}, {1}, CAST({2} AS integer)) "
                  f"ELSE substr({{0}}, CAST({_START.replace('{1}', '{2}')} AS integer), 1) END",
    "chr": "chr(CAST({0} AS integer))",
    "ascii": "CAST(ascii({0}) AS bigint)",
    **dict.fromkeys(("unicode", "ord"), "CASE WHEN {0} = '' THEN -1 ELSE CAST(ascii({0}) AS bigint) END"),
    **dict.fromkeys(("strpos", "instr", "position"), "CAST(strpos({0}, {1}) AS bigint)"),
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
    "last_day": f"CAST({LAST_OF_MONTH.format(of='CAST({0} AS timestamp)')} AS date)",
    "date_trunc": "date_trunc({0}, CAST({1} AS timestamp))",
    **dict.fromkeys(("date_diff", "datediff"), _boundaries()),
    "microseconds_between": f"({_micros('{0}')} - {_micros('{1}')})",
    "days_between": "CAST({0} - {1} AS bigint)",
    "add_days": "({0} + CAST({1} AS integer))",
    "subtract_days": "({0} - CAST({1} AS integer))",
    "moved_by_months": _moved("months", _MONTHS),
    "moved_by_days": _moved("days", (-1_500_000, 4_000_000)),
    "moved_by_seconds": "(CAST({0} AS timestamp) + make_interval(secs => CAST({1} AS double precision)))",
    "moment_of_microseconds": (
        "(TIMESTAMP '1970-01-01 00:00:00' + {0} / 1000000 * interval '1 second' "
        "+ {0} % 1000000 * interval '1 microsecond')"
    ),
    "day_in_calendar": "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "in_calendar": "{0} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'",
    "try_date": (
        f"CASE WHEN {{2}} <= extract(day FROM {LAST_OF_MONTH.format(of=f'CAST({_FIRST} AS timestamp)')}) "
        "THEN make_date(CAST({0} AS integer), CAST({1} AS integer), CAST({2} AS integer)) END"
    ),
}
"""Parts of days and times, moments moved, days made of numbers."""

OWN = {
    "sum_of_integers": "SUM({0})",
    "sum_of_bounded": "SUM({0})",
    "sum_within": "SUM({0}) OVER (PARTITION BY {1})",
    "try_sum_of_integers": within("SUM({0})", str(-(2**63)), str(2**63 - 1), "CAST(SUM({0}) AS bigint)"),
    "avg_of_integers": double_of("AVG({0})"),
    "median_of_reals": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {0})",
    "row_offset": "CAST({0} AS integer)",
    "try_sum_of_reals": double_of("SUM(CAST(CAST({0} AS text) AS numeric))"),
    "all_true": "bool_and({0})",
    "any_true": "bool_or({0})",
    "with_length": f"(char_length({text_of('{0}')}) || ':' || {text_of('{0}')})",
    "hash": "encode(sha256(convert_to(concat({*}), 'UTF8')), 'hex')",
}
"""Sums, exact for integers (``sum_of_bounded``: if their magnitudes add up to 63 bits at most), and the secret order of
rows."""
TYPES: Mapping[str, str] = {
    "BIGINT": "bigint",
    "HUGEINT": "numeric",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "BOOLEAN": "boolean",
}


BUILDING = {
    **READING,
    "unscaled_decimal": (
        f"CASE WHEN {short_enough('CAST({0} AS text)')} THEN CAST(replace(CAST({{0}} AS text), '.', '') AS numeric) END"
    ),
    "unscaled_text": number_of(
        "{0}",
        "CASE WHEN abs(round({n}, CAST({1} AS integer))) < power(CAST(10 AS numeric), 38 - {1}) "
        "THEN round(round({n}, CAST({1} AS integer)) * power(CAST(10 AS numeric), {1})) END",
    ),
    "wide_quotient": "div({0}, {1})",
    "secret": "current_setting('dpsql.key')",
    "told_apart": f"coalesce(octet_length({text_of('{0}')}) || ':' || {text_of('{0}')}, 'N')",
    "quantile": "percentile_cont({1}) WITHIN GROUP (ORDER BY {0})",
    "among": "{0} IN (SELECT {1} FROM {2} WHERE {1} IS NOT NULL)",
}
"""What reads the owner's tables and builds the bounded ones, by the family of the source's type."""


SPELLINGS: Mapping[str, str] = (
    {name: f"{name}({{*}})" for name in PLAIN.split()} | NUMBERS | TEXTS | CALENDAR | CASTS | OWN | BUILDING
)
"""Every primitive that PostgreSQL has, without ever failing."""


def postgres(schema: str, prefix: str) -> Dialect:
    """PostgreSQL's words for the bounded tables of one build.

    Args:
        schema: Where they stand.
        prefix: What stands before each of their names.
    """
    return Dialect(
        name="PostgreSQL",
        quote='"',
        types=TYPES,
        parameter="CAST(${number} AS {type})",
        table=f'"{schema}".{{name}}',
        escapes={"'": "''"},
        widest=10**131_000,
        spellings=SPELLINGS,
        works=LETTER_BY_LETTER,
        prefix=prefix,
        exact=True,
        once=ONCE,
    )
