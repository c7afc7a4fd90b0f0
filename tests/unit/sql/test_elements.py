"""Subscripts: which element of a list they ask for."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "place"),
    [("[OFFSET(1)]", 2), ("[ SAFE_OFFSET ( 0 ) ]", 1), ("[ordinal(1)]", 1), ("[SAFE_ORDINAL(5)]", 5)],
)
def test_words_count_from_where_bigquery_counts(written: str, place: int) -> None:
    read = normal(parse(f"SELECT f(APPROX_QUANTILES(g(x), 4, epsilon => 1){written}) FROM t"))
    assert read == f'SELECT f(approx_quantiles(g("x"), 4, epsilon => 1)[ORDINAL({place})]) FROM "t"'
    assert normal(parse(read)) == read


def test_a_plain_number_counts_from_one_as_in_duckdb() -> None:
    read = normal(parse("SELECT QUANTILE_CONT(x, [0.25, 0.75])[2] + t.q[1] AS n FROM t"))
    assert (
        read
        == 'SELECT (quantile_cont("x", list_value(25e-2, 75e-2))[ORDINAL(2)] + "t"."q"[ORDINAL(1)]) AS "n" FROM "t"'
    )
    assert normal(parse(read)) == read


@pytest.mark.parametrize(
    "written", ["[1]", "[OFFSET(-1)]", "[OFFSET(1.5)]", "[ORDINAL(0)]", "[OFFSET(1), 2]", "[", "[]", "[x]", "[?]"]
)
def test_what_says_no_element_is_refused_at_its_place(written: str) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        parse(f"SELECT APPROX_QUANTILES(x, 4){written} FROM t")
    assert refused.value.position == (1, 30)
    assert "OFFSET(1)" in (refused.value.hint or "")


def test_parentheses_around_the_list_change_nothing() -> None:
    plain, around = (parse(f"SELECT {text}[OFFSET(1)] FROM t") for text in ("f(x)", "((f(x)))"))
    assert normal(plain) == normal(around)
    with pytest.raises(UnsupportedQuery) as refused:
        parse("SELECT ((APPROX_QUANTILES(x, 4)))[1] FROM t")
    assert "OFFSET(1)" in (refused.value.hint or "")


def test_a_list_is_read_as_before_with_and_without_its_word() -> None:
    assert "list_value" not in normal(parse("SELECT x FROM UNNEST([1, 2]) AS t(x)"))
    plain, worded = (f"SELECT QUANTILE_CONT(x, {word}[0.5]) FROM t" for word in ("", "ARRAY"))
    assert normal(parse(plain)) == normal(parse(worded))
