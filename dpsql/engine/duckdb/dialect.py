"""How DuckDB spells our SQL. Most primitives are its own functions, under its own names.

Tests: tests/sql/test_dialects.py, tests/unit/plan/test_functions.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.engine.dialect import CLOCK_AND_OFFSET, FAMILIES, Dialect
from dpsql.plan.types import INTEGERS

__all__ = ["DUCKDB"]

PLAIN = """
    abs acos asin atan atan2 bit_length cbrt ceil century char_length character_length concat concat_ws contains cos
    date_diff date_sub date_trunc datediff datesub day dayname dayofmonth dayofweek dayofyear decade degrees ends_with
    epoch exp floor gcd greatest hour ilike_escape instr isnan isodow isoyear last_day lcase least left len length
    length_grapheme like_escape ln log log10 log2 lower ltrim microsecond millisecond minute month monthname
    not_ilike_escape not_like_escape pi pow prefix quarter radians regexp_extract regexp_full_match regexp_matches
    regexp_replace replace reverse right round rtrim second sin split_part sqrt starts_with strftime strip_accents
    strlen strpos substr substring suffix tan tanh translate trim trunc ucase upper week weekday weekofyear year
    yearweek
"""
SPELLED = {
    "whole_quotient": "({0} // {1})",
    "whole_remainder": "({0} % {1})",
    "real_product": "({0} * {1})",
    "real_quotient": "({0} / {1})",
    "real_remainder": "({0} % {1})",
    "round/2": "round({0}, CAST({1} AS INTEGER))",
    "trunc/2": "trunc({0}, CAST({1} AS INTEGER))",
    "sign": "CAST(sign({0}) AS BIGINT)",
    "like": "({0} LIKE {1})",
    "ilike": "({0} ILIKE {1})",
    "lpad": "lpad({0}, CAST({1} AS INTEGER), {2})",
    "rpad": "rpad({0}, CAST({1} AS INTEGER), {2})",
    "chr": "chr(CAST({0} AS INTEGER))",
    **{name: f"CAST({name}({{0}}) AS BIGINT)" for name in ("ascii", "unicode", "ord")},
    "regexp_extract/3": "regexp_extract({0}, {1}, CAST({2} AS INTEGER))",
}
CALENDAR = {
    "microseconds_between": "(epoch_us({0}) - epoch_us({1}))",
    "days_between": "({0} - {1})",
    "add_days": "({0} + CAST({1} AS INTEGER))",
    "subtract_days": "({0} - CAST({1} AS INTEGER))",
    "moved_by_months": "({0} + to_months(CAST({1} AS INTEGER)))",
    "moved_by_days": "({0} + to_days(CAST({1} AS INTEGER)))",
    "moved_by_seconds": "({0} + to_seconds(CAST({1} AS DOUBLE)))",
    "moment_of_microseconds": "make_timestamp({0})",
    "day_in_calendar": "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    "in_calendar": "{0} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'",
    "try_date": "TRY_CAST(CAST({0} AS VARCHAR) || '-' || CAST({1} AS VARCHAR) || '-' || CAST({2} AS VARCHAR) AS DATE)",
}
CASTS = {
    "bigint": "CAST({0} AS BIGINT)",
    "nearest": "CAST({0} AS BIGINT)",
    **{
        f"try_{name}_from_{kind}": f"CAST(TRY_CAST({{0}} AS {name.upper()}) AS BIGINT)"
        for name in INTEGERS
        for kind in ("integer", "real", "text")
    },
    "bigint_from_boolean": "CAST({0} AS BIGINT)",
    "double_from_integer": "CAST({0} AS DOUBLE)",
    "double_from_boolean": "CAST({0} AS DOUBLE)",
    "try_double_from_text": "CAST(TRY_CAST({0} AS DOUBLE) AS DOUBLE)",
    "try_float_from_real": "CAST(TRY_CAST({0} AS FLOAT) AS DOUBLE)",
    "try_float_from_text": "CAST(TRY_CAST({0} AS FLOAT) AS DOUBLE)",
    "decimal_from_integer": "CAST(CAST({0} AS DECIMAL({1},{2})) AS DOUBLE)",
    **{
        f"try_decimal_from_{kind}": "CAST(TRY_CAST({0} AS DECIMAL({1},{2})) AS DOUBLE)"
        for kind in ("integer", "real", "text")
    },
    "text_from_decimal": "CAST(TRY_CAST({0} AS DECIMAL(38,{1})) AS VARCHAR)",
    "try_boolean_from_text": "TRY_CAST({0} AS BOOLEAN)",
    **{f"text_from_{kind}": "CAST({0} AS VARCHAR)" for kind in ("integer", "date", "timestamp", "boolean")},
    "date_from_timestamp": "CAST({0} AS DATE)",
    "timestamp_from_date": "CAST({0} AS TIMESTAMP)",
    "try_date_from_text": "TRY_CAST({0} AS DATE)",
    "try_timestamp_from_text": "TRY_CAST({0} AS TIMESTAMP)",
}
OWN = {
    "sum_of_integers": "SUM({0})",
    "sum_of_bounded": "SUM({0})",
    "sum_within": "SUM({0}) OVER (PARTITION BY {1})",
    "try_sum_of_integers": "TRY_CAST(SUM({0}) AS BIGINT)",
    "avg_of_integers": "AVG({0})",
    "median_of_reals": "MEDIAN({0})",
    "row_offset": "{0}",
    "try_sum_of_reals": "TRY_CAST(SUM({0}) AS DOUBLE)",
    "all_true": "min({0})",
    "any_true": "max({0})",
    "with_length": "concat(length(CAST({0} AS VARCHAR)), ':', CAST({0} AS VARCHAR))",
    "hash": "sha256(concat({*}))",
    "out_of_order": "error('the rows do not lie in order')",
    "key_number": "hash({*})",
    "place_of_text": "enum_code(TRY_CAST({0} AS ENUM({rest})))",
}
"""Sums, exact for integers of at most 63 bits (``sum_of_bounded``: if their magnitudes add up to no more), the secret
order of rows, what ends a statement that relies on the order in which a table lies, and one number for values that
GROUP BY takes for the same."""

OVER_LEFT_JOINS = {
    "sum_of_integers": "SUM(xor({0}, 0))",
    "sum_of_bounded": "SUM(xor({0}, 0))",
    "try_sum_of_integers": "TRY_CAST(SUM(xor({0}, 0)) AS BIGINT)",
}
"""Sums of whole numbers of which the optimiser of DuckDB knows no ends. It takes it that such a sum lies within them,
times how many rows there are at most, and that a left join has no row where its right side has none by the least and
largest values that are stored: then it takes every sum for 0, leaves conditions on it out, and cuts it to one byte. So
one person's value would decide what all others add up to."""

TYPES: Mapping[str, str] = {
    name: name for name in ("BIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")
}
LENGTHS = ", ".join(f"'{length}:'" for length in range(1, 37))
"""What stands before texts of so many bytes where values are told apart: a whole number, a time or a UUID has at most
36. It is read from a list faster than it is made."""
_PLAIN = r"regexp_matches(CAST({0} AS VARCHAR), '^[^:]*(:[0-9:.]+\s*)?$')"
"""Nothing stands behind the time of day, if there is one. What else stands there TRY_CAST passes over in silence."""
_ZONED = f"regexp_matches(rtrim(CAST({{0}} AS VARCHAR)), '{CLOCK_AND_OFFSET}')"
_CLOSED_UP = "replace(upper(rtrim(CAST({0} AS VARCHAR))), 'UTC', 'Z')"
for _sign in "+-Z":  # before which TRY_CAST takes no blank
    _CLOSED_UP = f"replace({_CLOSED_UP}, ' {_sign}', '{_sign}')"
_IN_UTC = f"make_timestamp(epoch_us(TRY_CAST({_CLOSED_UP} AS TIMESTAMPTZ)))"
BUILDING = {
    **{f"{wire.lower()}_of_{family}": f"TRY_CAST({{0}} AS {wire})" for wire in TYPES for family in FAMILIES},
    "boolean_of_text": "CASE CAST({0} AS VARCHAR) WHEN '1.0' THEN TRUE WHEN '0.0' THEN FALSE "
    "ELSE TRY_CAST({0} AS BOOLEAN) END",  # as pandas writes 1 and 0 where some are missing
    "timestamp_of_text": f"CASE WHEN {_PLAIN} THEN TRY_CAST({{0}} AS TIMESTAMP) WHEN {_ZONED} THEN {_IN_UTC} END",
    "date_of_text": f"CASE WHEN {_PLAIN} THEN TRY_CAST({{0}} AS DATE) WHEN {_ZONED} THEN CAST({_IN_UTC} AS DATE) END",
    "day_by_format": "CAST(CAST(try_strptime({0}, {1}) AS DATE) AS VARCHAR)",
    "moment_by_format": "CAST(CAST(try_strptime({0}, {1}) AS TIMESTAMP) AS VARCHAR)",
    "has_offset": _ZONED,
    "unscaled_decimal": "CAST(replace(CAST({0} AS VARCHAR), '.', '') AS HUGEINT)",
    "unscaled_text": "CAST(replace(CAST(TRY_CAST({0} AS DECIMAL(38, {1})) AS VARCHAR), '.', '') AS HUGEINT)",
    "wide_quotient": "({0} // {1})",
    "identity_of_wide": "CAST({0} AS VARCHAR)",
    "secret": "getvariable('key')",
    "within": "((getvariable('low') IS NULL OR {0} >= getvariable('low')) "
    "AND (getvariable('high') IS NULL OR {0} < getvariable('high')))",
    "numbered": "coalesce(getvariable('numbered'), 0)",
    "at_place": "[{rest}][{0} + 1]",
    "place_among": "list_position([{rest}], {0}) - 1",
    "of_hexadecimal": "CAST('0x' || {0} AS UINTEGER)",
    "parts_told_apart": f"coalesce([{LENGTHS}][strlen(CAST({{0}} AS VARCHAR))], "
    "strlen(CAST({0} AS VARCHAR)) || ':', 'N'), CAST({0} AS VARCHAR)",
    "told_apart": "coalesce(strlen(CAST({0} AS VARCHAR)) || ':' || CAST({0} AS VARCHAR), 'N')",
    "quantile": "quantile_cont({0}, {1})",
    "among": "{0} IN (SELECT {1} FROM {2} WHERE {1} IS NOT NULL)",
}
"""What reads the owner's tables and builds the bounded ones. In DuckDB a cast goes by the type that it finds."""

DUCKDB = Dialect(
    name="DuckDB",
    quote='"',
    types=TYPES,
    parameter="CAST(${number} AS {type})",
    table='"bounded"."main".{name}',
    escapes={"'": "''"},
    widest=2**127 - 1,
    spellings={name: f"{name}({{*}})" for name in PLAIN.split()} | SPELLED | CALENDAR | CASTS | OWN | BUILDING,
    counts=True,
    narrow=(("TINYINT", 7), ("SMALLINT", 15), ("INTEGER", 31)),
    over_left_joins=OVER_LEFT_JOINS,
)
"""How DuckDB spells each primitive. Its widest whole number is HUGEINT's largest, 2^127 - 1."""
