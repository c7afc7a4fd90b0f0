"""Functions of other databases are read as those that are here, and never turned round where a column may be meant."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse


def read(expression: str) -> syntax.Expr:
    statement = parse(f"SELECT {expression} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    return statement.select.items[0].expression


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("DATE_TRUNC(ts, MONTH)", "date_trunc('month', ts)"),
        ("DATE_TRUNC(CAST(ts AS DATE), ISOWEEK)", "date_trunc('week', CAST(ts AS DATE))"),
        ("TIMESTAMP_TRUNC(ts, HOUR)", "date_trunc('hour', ts)"),
        ("date_trunc(month, ts)", "date_trunc('month', ts)"),
        ("DATE_DIFF(a, b, DAY)", "date_diff('day', b, a)"),
        ("DATE_DIFF(DATE '2024-01-01', b, MONTH)", "date_diff('month', b, DATE '2024-01-01')"),
        ("DATETIME_DIFF(a, b, SECOND)", "date_diff('second', b, a)"),
        ("DATEDIFF(day, a, b)", "date_diff('day', a, b)"),
        ("DATEDIFF(a, b)", "date_diff('day', b, a)"),
        ("DATE_SUB(ts, INTERVAL 3 DAY)", "ts - INTERVAL 3 DAY"),
        ("TIMESTAMP_ADD(ts, INTERVAL 3 DAY)", "ts + INTERVAL 3 DAY"),
        ("DATEADD(month, -3, ts)", "ts + INTERVAL '-3' MONTH"),
        ("SAFE_DIVIDE(a, b)", "a / b"),
        ("DATE(ts)", "CAST(ts AS DATE)"),
        ("DIV0(a, b)", "CASE WHEN b = 0 THEN 0 ELSE a / b END"),
        ("TO_CHAR(ts, 'YYYY-MM')", "strftime(ts, '%Y-%m')"),
        ("to_char(ts, 'dd.mm.yyyy HH24:MI:SS')", "strftime(ts, '%d.%m.%Y %H:%M:%S')"),
        ("mode() WITHIN GROUP (ORDER BY a DESC)", "mode(a)"),
        ("mode() WITHIN GROUP (ORDER BY a) FILTER (WHERE b)", "mode(a) FILTER (WHERE b)"),
        ("REGEXP_CONTAINS(a, 'x')", "regexp_matches(a, 'x')"),
        ("SAFE_CAST(a AS BIGINT)", "TRY_CAST(a AS BIGINT)"),
    ],
)
def test_a_function_of_another_database_is_the_one_that_is_here(theirs: str, ours: str) -> None:
    assert read(theirs) == read(ours)


@pytest.mark.parametrize(
    "own",
    ["date_trunc('month', day)", "date_trunc(?, day)", "date_trunc(?::VARCHAR, month)", "date_diff('day', a, month)",
     "date_diff(?, a, day)", "date_diff(day, a, month)", "date_trunc(day, month)", "date_sub('day', a, b)"],
)  # fmt: skip
def test_what_may_name_a_column_stays_as_it_is(own: str) -> None:
    name, _, rest = own.partition("(")
    call = read(own)
    assert isinstance(call, syntax.Call)
    assert call.name == name
    assert call == syntax.Call(name, tuple(read(part.strip()) for part in rest.removesuffix(")").split(",")))


@pytest.mark.parametrize(
    ("theirs", "hint"),
    [
        ("DATE_TRUNC(ts, WEEK)", r"date_trunc\('week', x\)"),
        ("TIMESTAMP_TRUNC(ts, MONTH, 'UTC')", "the unit in quotes, first"),
        ("DATE_DIFF(a, b, WEEK)", r"date_diff\('week', start, end\)"),
        ("DATEDIFF(week, a, b)", r"date_diff\('week', start, end\)"),
        ("DATETIME_DIFF(a, b)", "the later moment last"),
        ("TIMESTAMP_DIFF(a, b, HOUR)", "date_sub"),
        ("DATEADD(day, n, ts)", "INTERVAL 3 DAY"),
        ("DATETIME_ADD(ts, 3)", "INTERVAL 3 DAY"),
        ("SAFE_DIVIDE(a)", "x / y"),
        ("DIV0(a)", "CASE WHEN y = 0"),
    ],
)
def test_what_means_something_else_there_is_told_what_to_write(theirs: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        read(theirs)
    assert caught.match(hint)


@pytest.mark.parametrize(
    "template",
    ["'YYYY-Mon'", "'SSSS'", "'DDD'", "'DDTHH24'", "'YYYY\"x\"'", "'%YYYY'", "'YYYY9'", "''", "?"],
)
def test_a_template_with_other_parts_is_refused_naming_the_format(template: str) -> None:
    with pytest.raises(UnsupportedQuery, match=r"once each at most YYYY, MM, DD.* Write strftime\(x, '%Y-%m'\)"):
        read(f"TO_CHAR(x, {template})")


@pytest.mark.parametrize("template", ["'999.99'", "'999,999'", "'FM999G990D00'", "'$0000'", "'9.99MI'"])
def test_a_template_of_numbers_is_not_sent_to_the_format_of_dates(template: str) -> None:
    with pytest.raises(UnsupportedQuery, match=r"templates of numbers.*Write CAST\(round\(x, 2\) AS VARCHAR\)"):
        read(f"TO_CHAR(x, {template})")


def test_functions_with_another_name_are_read_as_these() -> None:
    text = "SELECT {}(a, 0), {}(a > 1, 2, 3), {}(a > 1) FILTER (WHERE b) FROM t"
    assert normal(parse(text.format("NVL", "IFF", "EVERY"))) == normal(parse(text.format("coalesce", "if", "bool_and")))


def test_unknown_is_null_behind_is() -> None:
    text = "SELECT a IS {0}, b IS NOT {0} FROM t WHERE (a > 1) IS {0}"
    assert normal(parse(text.format("UNKNOWN"))) == normal(parse(text.format("NULL")))
    assert normal(parse("SELECT unknown FROM t")) != normal(parse("SELECT NULL FROM t"))


def test_digits_are_grouped_by_underscores() -> None:
    assert normal(parse("SELECT a > 1_000, b < 12_345.5, 1_0e2 FROM t")) == normal(
        parse("SELECT a > 1000, b < 12345.5, 10e2 FROM t")
    )
