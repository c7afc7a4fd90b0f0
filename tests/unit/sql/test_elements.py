"""One element of a list of quantiles, read as an argument of the call that would make it."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "element"),
    [("[OFFSET(1)]", 1), ("[ SAFE_OFFSET ( 0 ) ]", 0), ("[ordinal(1)]", 0), ("[SAFE_ORDINAL(5)]", 4)],
)
def test_words_count_from_where_bigquery_counts(written: str, element: int) -> None:
    read = normal(parse(f"SELECT f(APPROX_QUANTILES(g(x), 4, epsilon => 1){written}) FROM t"))
    assert read == f'SELECT f(approx_quantiles(g("x"), 4, epsilon => 1, element => {element})) FROM "t"'
    assert normal(parse(read)) == read


def test_several_elements_are_several_calls() -> None:
    read = normal(parse("SELECT APPROX_QUANTILES(x, 2)[OFFSET(0)] + APPROX_QUANTILES(x, 2)[OFFSET(2)] FROM t"))
    assert "element => 0" in read
    assert "element => 2" in read


@pytest.mark.parametrize(
    "written", ["[1]", "[OFFSET(-1)]", "[OFFSET(1.5)]", "[ORDINAL(0)]", "[OFFSET(1), 2]", "[", "[]"]
)
def test_what_says_no_element_is_refused_at_its_place(written: str) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        parse(f"SELECT APPROX_QUANTILES(x, 4){written} FROM t")
    assert refused.value.position == (1, 30)
    assert "OFFSET(1)" in (refused.value.hint or "")


def test_brackets_elsewhere_are_read_as_before() -> None:
    with pytest.raises(UnsupportedQuery, match="Name a column for each value"):
        parse("SELECT x[1] FROM t")
    assert "list_value" not in normal(parse("SELECT x FROM UNNEST([1, 2]) AS t(x)"))
