"""``= ANY`` of a list is IN, ``<> ALL`` is NOT IN, in every way that drivers write the list."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.any_of import elements
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a = ANY (ARRAY[1, 2])", "a IN (1, 2)"), ("a = any([1])", "a IN (1)"), ("a = SOME (array['x'])", "a IN ('x')"),
        ("a = ANY('{1,-2}')", "a IN (1, -2)"), ("a = ANY('{x, \"y, z\",NULL}')", "a IN ('x', 'y, z', NULL)"),
        ("a = ANY ('{1, x}'::text[])", "a IN ('1', 'x')"), ("NOT a != ALL ((ARRAY[1]))", "NOT a NOT IN (1)"),
        ("a + 1 = ANY (CAST(ARRAY[1] AS INTEGER[])) AND b", "a + 1 IN (1) AND b"),
        ("lower(a) = ANY ('{it''s}') OR b = ANY ('{1}')", "lower(a) IN ('it''s') OR b IN (1)"),
    ],
)  # fmt: skip
def test_it_is_the_same_condition(written: str, meant: str) -> None:
    asked, own = (parse(f"SELECT count(*) FROM t WHERE {condition}") for condition in (written, meant))
    assert asked == own


@pytest.mark.parametrize(
    "condition", ["a = ANY (?)", "a = ANY ($1::int[])", "a = SOME (CAST($1 AS text[]))", "a <> ALL (($1))"]
)
def test_a_parameter_is_a_list_and_its_normal_text_says_so(condition: str) -> None:
    asked = parse(f"SELECT count(*) FROM t WHERE {condition}")
    assert "ANY ($1)" in normal(asked) or "ALL ($1)" in normal(asked)
    assert parse(normal(asked)) == asked
    assert asked != parse("SELECT count(*) FROM t WHERE a IN ($1)")


@pytest.mark.parametrize(
    "condition",
    ["a = ANY (1)", "a = ANY ()", "a > ANY (ARRAY[1])", "a = ALL (ARRAY[1])", "a <> ANY (?)",
     "a = ANY ('{}')", "a = ANY (ARRAY[])", "a = ANY ('x')", "a = ANY ('{{1},{2}}')", "a = ANY (?", "= ANY (?)",
     "a = ANY (ARRAY[(1, 2])", "a = ANY (?, ?)", "a = ANY", "a = ANY (? + 1)"],
)  # fmt: skip
def test_what_is_no_list_is_refused(condition: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(f"SELECT count(*) FROM t WHERE {condition}")


@pytest.mark.parametrize("text", ["{1,}", "{,1}", "{1", "1}", "{a b{}", '{"a}', "{{1}}", "{1 2,}", '{"a"b}'])
def test_what_is_no_array_has_no_elements(text: str) -> None:
    assert elements(text) is None
