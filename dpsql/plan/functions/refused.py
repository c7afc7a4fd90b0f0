"""Functions that people try and that stay refused: for each why, and what to write instead.

``{0:x}`` in a hint is the first argument as it was written, or x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dpsql.sql.pivot import UNLISTED
from dpsql.sql.refused import FIRST_ROW, LOCAL_TIME, QUARTERS, REGEXP, SINCE_1970
from dpsql.sql.tokens import JSON_VALUE

__all__ = ["REFUSED", "REFUSED_AGGREGATES", "refusal"]

LONGEST = 60  # In letters, of an argument that a hint repeats. It is a choice: about one line.
_ARGUMENT = re.compile(r"\{(\d):(\w+)\}")

_HASH = (
    "a hash makes names look anonymous without hiding anybody: every value can be tried.",
    "Group by the column itself; the noise is what protects.",
)
_FORMAT = (
    "it fails on formats and values that do not fit.",
    "Write CAST(round({1:x}, 1) AS VARCHAR) || ' days', or format the answer.",
)
_AGE = (
    "its result is an interval, which has no bounds.",
    "Write date_diff('minute', {1:start}, {0:end}), or 'second', 'day', 'month', and so on: numbers, as epoch({0:end} "
    "- {1:start}) is of seconds. To compare them write "
    "{0:end} <= {1:start} + INTERVAL 4 HOUR.",
)
_AGE_TODAY = (
    "of one day it is the age today, and an answer may not depend on when it was asked.",
    "Write date_sub('year', {0:x}, DATE '2024-12-31') for whole years on the day that you mean.",
)
_PARSED = (
    "texts of other forms than '2024-03-05 10:00:00' are read where they are constants alone.",
    "Write TRY_CAST({0:x} AS DATE) or TRY_CAST({0:x} AS TIMESTAMP) for texts of this form. For '05.03.2024' write "
    "make_date(TRY_CAST(right(x, 4) AS INTEGER), TRY_CAST(substr(x, 4, 2) AS INTEGER), "
    "TRY_CAST(left(x, 2) AS INTEGER)), and in WHERE between which days it lies: its groups are those.",
)
_JSON = ("dpsql reads no JSON.", JSON_VALUE)
_OBJECT = ("structs and maps are not supported.", "Write its values as columns of their own, with aliases.")
_SERVER = ("it tells of the engine, and not of the data.", "Leave it out; DESCRIBE table shows columns and types.")
_ZONE = ("dpsql keeps no time zones.", LOCAL_TIME)
_WRITTEN = ("databases differ in the parts of a format.", "Write strftime(x, '%Y-%m').")
_PIECES = ("lists are not supported.", "Write split_part({0:text}, {1:separator}, n).")
_RANDOM = ("an answer may not depend on chance outside the accounting.", "Leave it out.")
_CLOCK = ("an answer may not depend on when it was asked.", "Write the date: DATE '2024-05-31'.")
_ONE_ROW = (
    "it shows a value of one person's row.",
    f"Write SELECT key, AVG(x) .. GROUP BY key ORDER BY 2 DESC LIMIT 1, or MODE(key). {FIRST_ROW}",
)
_ANY_ROW = (
    "it shows a value of one person's row.",
    "Where each group has one, as of the columns of a public table, write that column in GROUP BY. Or MODE(x). "
    f"{FIRST_ROW}",
)
_LISTED = (
    "it puts the values of many rows into one: those of people are never shown, those of public tables as rows.",
    "Write SELECT {0:x}, COUNT(*) .. GROUP BY {0:x}, or SELECT {0:x} where the table is public.",
)
_BINS = ("its result is a map.", "Write SELECT width_bucket({0:x}, 0, 100, 10) AS bin, COUNT(*) .. GROUP BY bin.")
_SHAPE = (
    "third and fourth moments are not measured.",
    "Write QUANTILE_CONT({0:x}, 0.05) and QUANTILE_CONT({0:x}, 0.95), or GROUP BY width_bucket({0:x}, 0, 100, 10).",
)

_INTERCEPT = (
    "Write AVG({0:y}) FILTER (WHERE {1:x} IS NOT NULL) - REGR_SLOPE({0:y}, {1:x}) * AVG({1:x}) FILTER (WHERE {0:y} IS "
    "NOT NULL): each AVG over the rows of the slope, whose noised numbers they may share."
)
_GEOMEAN = (
    "it follows from a mean of logarithms.",
    "Write exp(AVG(ln({0:x}))) .. WHERE {0:x} >= 0.01: a logarithm needs numbers away from 0.",
)
_DISTANCE = (
    "it is a median of distances from a median, which must be released first.",
    "Write SELECT MEDIAN({0:x}), then SELECT MEDIAN(abs({0:x} - 5)) with the number that came; or STDDEV({0:x}).",
)
_ENTROPY = (
    "it follows from the counts of each value.",
    "Write SELECT {0:x}, COUNT(*) AS n .. GROUP BY {0:x}, and work it out from the answer.",
)

REFUSED_AGGREGATES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("geomean", "geometric_mean"), _GEOMEAN),
    "mad": _DISTANCE,
    "entropy": _ENTROPY,
    **dict.fromkeys(("arg_max", "arg_min", "max_by", "min_by"), _ONE_ROW),
    **dict.fromkeys(("any_value", "arbitrary", "first", "last"), _ANY_ROW),
    **dict.fromkeys(("list", "array_agg", "string_agg", "group_concat", "listagg", "json_group_array"), _LISTED),
    **dict.fromkeys(("histogram", "histogram_values", "histogram_exact"), _BINS),
    **dict.fromkeys(("kurtosis", "kurtosis_pop", "skewness"), _SHAPE),
    "regr_r2": ("it follows from another.", "Write POWER(CORR({0:y}, {1:x}), 2)."),
    "regr_intercept": ("it follows from others.", _INTERCEPT),
    "regr_count": ("it follows from another.", "Write COUNT_IF({0:y} IS NOT NULL AND {1:x} IS NOT NULL)."),
}
"""Of these the ones that would aggregate rows."""

REFUSED: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("md5", "md5_number", "sha1", "sha256", "hash", "crc32"), _HASH),
    **dict.fromkeys(("format", "printf"), _FORMAT),
    "age": _AGE,
    **dict.fromkeys(("string_split", "split", "str_split", "regexp_split_to_array", "string_to_array"), _PIECES),
    **dict.fromkeys(("random", "uuid", "gen_random_uuid", "setseed"), _RANDOM),
    **dict.fromkeys(("current_date", "current_timestamp", "get_current_timestamp", "localtimestamp"), _CLOCK),
    "repeat": ("its result could be too long for the engine.", "Write lpad or rpad with a constant length."),
    "list_value": (
        "lists are for UNNEST in FROM, and for quantiles that stand alone in the SELECT list.",
        "Write QUANTILE_CONT(x, [0.1, 0.5]), and QUANTILE_CONT(x, 0.1) for a number to compute with.",
    ),
    "[]": (
        "only a text has characters, and a list of quantiles elements.",
        "Write QUANTILE_CONT(x, [0.25, 0.75])[1]. Of a text split_part(x, ',', 1) is the first piece.",
    ),
    "initcap": ("DuckDB has no such function.", "Write upper(left({0:x}, 1)) || lower(substr({0:x}, 2)) for one word."),
    **dict.fromkeys(("strptime", "try_strptime", "parse_date", "parse_datetime", "parse_timestamp"), _PARSED),
    **dict.fromkeys(("str_to_date", "date_parse", "to_date", "try_to_date"), _PARSED),
    **dict.fromkeys(("json_extract_string", "json_extract", "json_value", "json_query", "json_extract_scalar"), _JSON),
    **dict.fromkeys(("json_extract_path_text", "json_extract_path", "get_json_object", "parse_json"), _JSON),
    **dict.fromkeys(("convert_timezone", "timezone", "from_utc_timestamp", "to_utc_timestamp", "convert_tz"), _ZONE),
    **dict.fromkeys(("regexp_like", "regexp", "rlike"), REGEXP),
    **dict.fromkeys(("date_format", "format_date", "format_datetime", "format_timestamp"), _WRITTEN),
    "to_timestamp": ("its result has a time zone.", SINCE_1970),
    "to_seconds": ("an interval is no value of its own.", SINCE_1970),
    "from_unixtime": ("DuckDB calls it otherwise.", SINCE_1970),
    "time_bucket": (
        "periods are those of the calendar here.",
        f"Write date_trunc('week', {{1:x}}), or date_diff('day', DATE '2020-01-01', {{1:x}}) // 10 for every ten "
        f"days. {QUARTERS}",
    ),
    **dict.fromkeys(("json_object", "json_build_object", "to_json", "row_to_json", "object_construct"), _OBJECT),
    **dict.fromkeys(("version", "current_database", "current_setting", "pg_typeof", "typeof"), _SERVER),
    "factorial": ("it fails on all but a few numbers.", "Write the constant."),
    **REFUSED_AGGREGATES,
    UNLISTED: ("of the rows of one unit it lists its values.", "Write PIVOT t ON sex IN ('F', 'M') USING COUNT(*)."),
    "try": ("nothing here can fail, so there is nothing to try.", "Leave TRY out."),
}


def refusal(name: str, arguments: Sequence[str] = ()) -> tuple[str, str]:
    """Why a function is refused, and what to write instead, with the arguments that it was given.

    >>> refusal("regr_r2", ["cost", "age"])[1]
    'Write POWER(CORR(cost, age), 2).'
    """

    def named(found: re.Match[str]) -> str:
        place, default = int(found[1]), found[2]
        return arguments[place] if place < len(arguments) and len(arguments[place]) <= LONGEST else default

    reason, hint = _AGE_TODAY if name == "age" and len(arguments) == 1 else REFUSED[name]
    return reason, _ARGUMENT.sub(named, hint)
