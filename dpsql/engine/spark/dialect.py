"""How Spark spells our SQL: Apache Spark 4, Databricks and Sail, under ANSI, in UTC.

What raises there (a divisor 0, a cast that does not fit) is guarded or goes by a TRY form. What is left out (regular
expressions, whose time may explode; formats of dates; signs by their code) is refused by name, before the charge.

Tests: tests/doors/test_spark_dialect.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpsql.engine.dialect import Dialect
from dpsql.engine.spark.casts import CASTS, READING, number_of, text_of
from dpsql.engine.spark.words import LOCAL, MICROS, ceiling, floored, half_away, truncated, whole, within
from dpsql.plan.functions.text import LETTER_BY_LETTER

__all__ = ["SparkDialect", "spark"]


def _digits(rounding: str) -> str:
    """A rounding of 10^n times a number, taken back; ``{x}`` is where that stands."""
    power = "power(CAST(10 AS DOUBLE), CAST(abs({1}) AS DOUBLE))"
    many, few = rounding.replace("{x}", f"({{0}} * {power})"), rounding.replace("{x}", f"({{0}} / {power})")
    return f"CASE WHEN {{1}} >= 0 THEN {many} / {power} ELSE {few} * {power} END"


PLAIN = """
    abs acos asin atan atan2 cbrt concat_ws contains cos degrees exp greatest isnan least ln log10 log2 pi radians
    replace reverse sin sqrt tan tanh translate
"""
NUMBERS = {
    "whole_quotient": "({0} DIV nullif({1}, 0))",
    "whole_remainder": "({0} % nullif({1}, 0))",
    "real_product": "({0} * {1})",
    "real_quotient": "({0} / nullif({1}, CAST(0 AS DOUBLE)))",
    "real_remainder": "({0} % nullif({1}, CAST(0 AS DOUBLE)))",
    "floor": floored("{0}"),
    "ceil": ceiling("{0}"),
    "round": half_away("{0}"),
    "round/2": _digits(half_away("{x}")),
    "trunc": truncated("{0}"),
    "trunc/2": _digits(truncated("{x}")),
    "sign": whole("sign({0})"),
    "log": "log10({0})",
    "log/2": "(ln({1}) / ln({0}))",
    "pow": "power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))",
}
_LENGTH = "char_length({0})"
_START = f"CASE WHEN {{1}} < 0 THEN {_LENGTH} + {{1}} + 1 ELSE {{1}} END"


def _cut(start: str, length: str = "") -> str:
    return f"substr({{0}}, CAST({start} AS INT){f', CAST({length} AS INT)' if length else ''})"


_PATTERN = r"replace({1}, '\\', '\\\\')"
_ESCAPED = r"replace(replace(replace(replace(replace({1}, '\\', '\\\\'), {2} || {2}, chr(1)), {2} || '%', '\\%'), {2} || '_', '\\_'), chr(1), {2})"  # noqa: E501
TEXTS = {
    **{name: whole(f"{word}({{0}})")
       for name, word in {"length": "char_length", "len": "char_length", "char_length": "char_length",
                          "character_length": "char_length", "strlen": "octet_length", "bit_length": "bit_length",
                          "ascii": "ascii"}.items()},
    **dict.fromkeys(
        ("unicode", "ord"), f"CASE WHEN {{0}} = '' THEN {whole('-1')} ELSE {whole('ascii({0})')} END"
    ),
    **{name: f"{word}({{0}})"
       for name, word in {"upper": "upper", "ucase": "upper", "lower": "lower", "lcase": "lower"}.items()},
    "trim": "trim(BOTH ' ' FROM {0})",
    "trim/2": "trim(BOTH {1} FROM {0})",
    "ltrim": "trim(LEADING ' ' FROM {0})",
    "ltrim/2": "trim(LEADING {1} FROM {0})",
    "rtrim": "trim(TRAILING ' ' FROM {0})",
    "rtrim/2": "trim(TRAILING {1} FROM {0})",
    "left": f"CASE WHEN {{1}} >= 0 THEN left({{0}}, CAST({{1}} AS INT)) "
            f"WHEN {{1}} < 0 THEN left({{0}}, CAST(greatest({_LENGTH} + {{1}}, 0) AS INT)) END",
    "right": f"CASE WHEN {{1}} >= 0 THEN right({{0}}, CAST({{1}} AS INT)) "
             f"WHEN {{1}} < 0 THEN right({{0}}, CAST(greatest({_LENGTH} + {{1}}, 0) AS INT)) END",
    **dict.fromkeys(("substr", "substring"), f"CASE WHEN {{1}} IS NOT NULL THEN {_cut(f'greatest({_START}, 1)')} END"),
    **dict.fromkeys(
        ("substr/3", "substring/3"),
        "CASE WHEN {1} + {2} IS NULL THEN NULL WHEN {2} >= 0 THEN "
        + _cut(f"greatest({_START}, 1)", f"greatest({_START} + {{2}} - greatest({_START}, 1), 0)")
        + " ELSE "
        + _cut(f"greatest({_START} + {{2}}, 1)",
               f"greatest(least({_START} - 1, {_LENGTH}) - greatest({_START} + {{2}}, 1) + 1, 0)")
        + " END",
    ),
    "lpad": "lpad({0}, CAST({1} AS INT), {2})",
    "rpad": "rpad({0}, CAST({1} AS INT), {2})",
    "split_part": "CASE WHEN {2} = 0 THEN left({0}, 0) "
                  "WHEN {1} <> '' THEN split_part({0}, {1}, CAST({2} AS INT)) "
                  f"WHEN {{2}} > 0 OR {_LENGTH} + {{2}} >= 0 THEN "
                  f"substr({{0}}, CAST({_START.replace('{1}', '{2}')} AS INT), 1) "
                  "ELSE left({0}, 0) END",
    "concat": "concat_ws('', {*})",
    **dict.fromkeys(("strpos", "instr", "position"), whole("instr({0}, {1})")),
    **dict.fromkeys(("prefix", "starts_with"), "startswith({0}, {1})"),
    **dict.fromkeys(("ends_with", "suffix"), "endswith({0}, {1})"),
    "like": f"({{0}} LIKE {_PATTERN})",
    "ilike": f"({{0}} ILIKE {_PATTERN})",
    "like_escape": f"({{0}} LIKE {_ESCAPED})",
    "not_like_escape": f"({{0}} NOT LIKE {_ESCAPED})",
    "ilike_escape": f"({{0}} ILIKE {_ESCAPED})",
    "not_ilike_escape": f"({{0}} NOT ILIKE {_ESCAPED})",
}  # fmt: skip


def _micros(of: str) -> str:
    return MICROS.replace("{of}", of)


def _part(name: str, of: str = "{0}") -> str:
    return whole(f"{name}({of})")


def _boundaries() -> str:
    """How many years, months, .. begin between two moments; weeks are whole ones."""
    start, end = "{1}", "{2}"
    months = {of: f"{_part('year', of)} * 12 + {_part('month', of)}" for of in (start, end)}
    quarters = {of: f"{_part('year', of)} * 4 + {_part('quarter', of)}" for of in (start, end)}
    days = whole(f"datediff(CAST({end} AS DATE), CAST({start} AS DATE))")
    found = {
        "year": f"{_part('year', end)} - {_part('year', start)}",
        "quarter": f"({quarters[end]}) - ({quarters[start]})",
        "month": f"({months[end]}) - ({months[start]})",
        "week": f"{days} DIV 7",
        "day": days,
    }
    for unit, length in FINE.items():  # since before year 1, so that a quotient towards 0 is one downwards
        parts = [f"({_micros(of)} + {FIRST}) DIV {length}" for of in (end, start)]
        found[unit] = " - ".join(parts)
    cases = " ".join(f"WHEN '{unit}' THEN CAST({sql} AS BIGINT)" for unit, sql in found.items())
    return f"CASE lower({{0}}) {cases} END"


FIRST = 366 * 86_400_000_000 * 2000
"""Microseconds, a whole number of days: more than from year 1 to 1970."""
FINE = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
"""Units below a day, in microseconds."""


def _counted(furthest: tuple[int, int]) -> str:
    """How far a moment moves; no further than beyond both ends of our calendar."""
    low, high = furthest
    return f"CASE WHEN {{1}} < {low} THEN {low} WHEN {{1}} > {high} THEN {high} ELSE {{1}} END"


def _moved(day: str, count: tuple[int, int]) -> str:
    """A moment on another day, at its own time."""
    moved = day.replace("{n}", f"CAST({_counted(count)} AS INT)").replace("{day}", "CAST({0} AS DATE)")
    since = f"({_micros('{0}')} - {_micros('CAST({0} AS DATE)')})"
    return f"CAST(timestamp_micros({_micros(moved)} + {since}) AS {LOCAL})"


_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


def _named(number: str, names: tuple[str, ...]) -> str:
    return f"CASE {number} {' '.join(f'WHEN {place} THEN {name!r}' for place, name in enumerate(names, 1))} END"


_ISODOW = whole("(dayofweek({0}) + 5) % 7 + 1")


def _truncated_to() -> str:
    """The beginning of a moment's year, month, .. Sail's own date_trunc knows the years 1677 to 2262 alone."""
    day, moment = "CAST({1} AS DATE)", _micros("{1}")
    month = f"date_add({day}, CAST(1 - day({day}) AS INT))"
    days = {
        "year": f"date_add({day}, CAST(1 - dayofyear({day}) AS INT))",
        "quarter": f"add_months({month}, CAST(-((month({day}) - 1) % 3) AS INT))",
        "month": month,
        "week": f"date_add({day}, CAST(1 - {_ISODOW.replace('{0}', day)} AS INT))",
        "day": day,
    }
    fine = {unit: f"timestamp_micros({moment} - pmod({moment}, {length}))" for unit, length in FINE.items()}
    cases = " ".join(f"WHEN '{unit}' THEN CAST({sql} AS {LOCAL})" for unit, sql in (days | fine).items())
    return f"CASE lower({{0}}) {cases} END"


_ISOYEAR = _part("year", f"date_add(CAST({{0}} AS DATE), CAST(4 - {_ISODOW} AS INT))")
CALENDAR = {
    **{part: _part(part) for part in ("year", "quarter", "month", "day", "hour", "minute", "second", "dayofyear")},
    "week": _part("weekofyear"),
    "weekofyear": _part("weekofyear"),
    "dayofmonth": _part("day"),
    "dayofweek": whole("dayofweek({0}) - 1"),
    "weekday": whole("dayofweek({0}) - 1"),
    "isodow": _ISODOW,
    "isoyear": _ISOYEAR,
    "yearweek": f"({_ISOYEAR} * 100 + {_part('weekofyear')})",
    "decade": f"({_part('year')} DIV 10)",
    "century": f"(({_part('year')} - 1) DIV 100 + 1)",
    "microsecond": f"pmod({_micros('{0}')}, 60000000)",
    "millisecond": f"(pmod({_micros('{0}')}, 60000000) DIV 1000)",
    "epoch": f"(CAST({_micros('{0}')} AS DOUBLE) / 1000000)",
    "dayname": _named("dayofweek({0})", _DAYS),
    "monthname": _named("month({0})", _MONTHS),
    "last_day": "last_day(CAST({0} AS DATE))",
    "date_trunc": _truncated_to(),
    **dict.fromkeys(("date_diff", "datediff"), _boundaries()),
    "microseconds_between": f"({_micros('{0}')} - {_micros('{1}')})",
    "days_between": whole("datediff({0}, {1})"),
    "add_days": "date_add({0}, CAST({1} AS INT))",
    "subtract_days": "date_add({0}, CAST(-{1} AS INT))",
    "moved_by_months": _moved("add_months({day}, {n})", (-50_000, 120_000)),
    "moved_by_days": _moved("date_add({day}, {n})", (-1_500_000, 4_000_000)),
    "moved_by_seconds": f"CAST(timestamp_micros({_micros('{0}')} + {{1}} * 1000000) AS {LOCAL})",
    "moment_of_microseconds": f"CAST(timestamp_micros({{0}}) AS {LOCAL})",
    "day_in_calendar": "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "in_calendar": "CAST({0} AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "try_date": (
        "TRY_CAST(lpad(CAST({0} AS STRING), 4, '0') || '-' || lpad(CAST({1} AS STRING), 2, '0') "
        "|| '-' || lpad(CAST({2} AS STRING), 2, '0') AS DATE)"
    ),
}
"""Parts of days and times, moments moved, days made of numbers."""

_WIDE = "CAST({0} AS DECIMAL(38, 0))"
OWN = {
    "sum_of_integers": f"SUM({_WIDE})",
    "sum_of_bounded": "SUM({0})",
    "sum_within": f"SUM({_WIDE}) OVER (PARTITION BY {{1}})",
    "try_sum_of_integers": within(f"SUM({_WIDE})", str(-(2**63)), str(2**63 - 1), f"CAST(SUM({_WIDE}) AS BIGINT)"),
    "avg_of_integers": "AVG({0})",
    "median_of_reals": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {0})",
    "row_offset": "CAST({0} AS INT)",
    "try_sum_of_reals": "CASE WHEN abs(SUM({0})) <= CAST('1.7976931348623157e308' AS DOUBLE) THEN SUM({0}) END",
    "all_true": "min({0})",
    "any_true": "max({0})",
    "with_length": f"concat(CAST(char_length({text_of('{0}')}) AS STRING), ':', {text_of('{0}')})",
    "hash": "sha2(concat_ws('', {*}), 256)",
}
"""Sums, exact for integers (``sum_of_bounded``: if their magnitudes add up to 63 bits at most), and the secret order of
rows."""
TYPES: Mapping[str, str] = {
    "BIGINT": "BIGINT",
    "HUGEINT": "DECIMAL(38, 0)",
    "DOUBLE": "DOUBLE",
    "VARCHAR": "STRING",
    "DATE": "DATE",
    "TIMESTAMP": LOCAL,
    "BOOLEAN": "BOOLEAN",
}
BUILDING = {
    **READING,
    "unscaled_decimal": "CAST(replace(CAST({0} AS STRING), '.', '') AS DECIMAL(38, 0))",
    "unscaled_text": number_of(
        "{0}", "CAST(replace(CAST(TRY_CAST({n} AS DECIMAL(38, {1})) AS STRING), '.', '') AS DECIMAL(38, 0))"
    ),
    "wide_quotient": "({0} DIV {1})",
    "secret": ":key",
    "told_apart": f"coalesce(CAST(octet_length({text_of('{0}')}) AS STRING) || ':' || {text_of('{0}')}, 'N')",
    "quantile": "percentile({0}, {1})",
    "among": "CASE WHEN {0} IS NOT NULL THEN EXISTS (SELECT 1 FROM (SELECT {1} AS `$value` FROM {2}) AS `$listed` "
    "WHERE `$listed`.`$value` = {0}) END",  # a join: a list of 10,000 would be gone through for each row
}
"""What reads the owner's tables and builds the bounded ones, by the family of the source's type."""
SPELLINGS: Mapping[str, str] = (
    {name: f"{name}({{*}})" for name in PLAIN.split()} | NUMBERS | TEXTS | CALENDAR | CASTS | OWN | BUILDING
)
"""Every primitive that Spark has, without ever failing."""


class SparkDialect(Dialect):
    """Spark's words: views for bounded tables, under names of letters, digits and _ alone, which need no quotes."""

    def whole(self, number: int) -> str:
        """A whole number as a BIGINT: Sail gives a CASE the type of its first branch, and 0 is an INT."""
        return f"{number}L"

    def numbers(self, numbers: Iterable[int], name: str) -> str:
        """The same; each SELECT without a table would be a task of its own."""
        return f"(VALUES {', '.join(f'({number})' for number in numbers)}) AS k({name})"

    def windowed(self, text: str, wire: str) -> str:
        """What a window function gives: places are INT there."""
        return self.cast(text, wire) if wire == "BIGINT" else text

    def bounded(self, name: str) -> str:
        """The bounded table of this name: no two names have the same.

        >>> spark("b12_").bounded("my_visits"), spark("b12_").bounded("$classes")
        ('b12_my__visits', 'b12__Sclasses')
        """
        return self.prefix + name.replace("_", "__").replace("$", "_S")


def spark(prefix: str) -> SparkDialect:
    """Spark's words for the bounded tables of one build.

    Args:
        prefix: What stands before each of their names.
    """
    return SparkDialect(
        name="Spark",
        quote="`",
        types=TYPES,
        parameter="CAST(:p{number} AS {type})",
        table="{name}",
        escapes={"\\": "\\\\", "'": "\\'"},
        widest=10**33,  # Sail's DIV multiplies by 10^4 first, and decimals end at 10^38
        spellings=SPELLINGS,
        works=LETTER_BY_LETTER,
        prefix=prefix,
        exact=True,
    )
