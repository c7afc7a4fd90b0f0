"""The standard's words in a call mean what DuckDB says they mean, and values for ? stay with the mark they are for."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("substring(x FROM 2)", "substring(x, 2)"),
        ("SUBSTRING(x FROM 2 FOR 3)", "substring(x, 2, 3)"),
        ("substring(x FOR 3)", "substring(x, 1, 3)"),
        ("trim(BOTH 'a' FROM x)", "trim(x, 'a')"),
        ("trim(LEADING FROM x)", "ltrim(x)"),
        ("trim(TRAILING 'a' FROM x)", "rtrim(x, 'a')"),
        ("trim('a' FROM x)", "trim(x, 'a')"),
        ("trim(FROM x)", "trim(x)"),
        ("trim(BOTH x)", "trim(x)"),
        ("strpos(trim(BOTH ' ' FROM substring(x FROM 1 FOR length(trim(FROM y)))), 'a')",
         "strpos(trim(substring(x, 1, length(trim(y))), ' '), 'a')"),
        ("substring(CASE WHEN a IS DISTINCT FROM b THEN x ELSE y END FROM 2)",
         "substring(CASE WHEN a IS DISTINCT FROM b THEN x ELSE y END, 2)"),
        ("substring(x FROM extract(day FROM d) FOR 2)", "substring(x, extract(day FROM d), 2)"),
    ],
)  # fmt: skip
def test_it_is_the_same_call(written: str, meant: str) -> None:
    assert normal(parse(f"SELECT {written} FROM t")) == normal(parse(f"SELECT {meant} FROM t"))


def test_position_is_a_function_whose_arguments_are_the_other_way_round() -> None:
    read = normal(parse("SELECT position('a' IN trim(x)), b IN ('c') FROM t"))
    assert read == 'SELECT position(\'a\' IN trim("x")), ("b" IN (\'c\')) FROM "t"'
    assert normal(parse(read)) == read


@pytest.mark.parametrize("text", ["position(a, b)", "position(a)", "position('a' IN b IN c)"])
def test_position_without_in_is_refused_with_both_ways_to_write_it(text: str) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        parse(f"SELECT {text} FROM t")
    assert "strpos(text, part)" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "text", ["substring(x FROM)", "substring(FROM 2)", "trim('a' FROM)",
             "substring(x FOR 2 FROM 1)", "position(IN x)", "trim(", "substring(x FROM 2"],
)  # fmt: skip
def test_what_duckdb_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(f"SELECT {text} FROM t")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("FROM (FROM t SELECT a WHERE b > ?) SELECT a + ?", "SELECT a + $2 FROM (SELECT a FROM t WHERE b > $1)"),
        ("SELECT strpos(trim(? FROM x), ?) FROM t", "SELECT strpos(trim(x, $1), $2) FROM t"),
        ("FROM t SELECT a WHERE a = ANY (?) AND b = ?", "SELECT a FROM t WHERE a = ANY ($1) AND b = $2"),
    ],
)
def test_values_keep_the_order_in_which_their_marks_are_written(written: str, meant: str) -> None:
    assert normal(parse(written)) == normal(parse(meant))
