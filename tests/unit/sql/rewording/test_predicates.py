"""Conditions in other words are read as the same condition; a pattern that databases read differently is refused."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import parse


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("x ISNULL", "x IS NULL"),
        ("NOT x NOTNULL AND y NOT NULL", "NOT (x IS NOT NULL) AND y IS NOT NULL"),
        ("f(x) ISNULL OR 'a' ISNULL", "f(x) IS NULL OR 'a' IS NULL"),
        ("x ~ '^a'", "regexp_matches(x, '^a')"),
        ("x !~ '^a' AND y", "NOT regexp_matches(x, '^a') AND y"),
        ("x ~* 'a' OR x !~* 'it''s'", "regexp_matches(x, '(?i)a') OR NOT regexp_matches(x, '(?i)it''s')"),
        ("x ~~ 'a%' AND x !~~ 'b%'", "x LIKE 'a%' AND x NOT LIKE 'b%'"),
        ("x ~~* 'a%' AND x !~~* 'b%'", "x ILIKE 'a%' AND x NOT ILIKE 'b%'"),
        ("x ~ ? AND x ~~ ?", "regexp_matches(x, ?) AND x LIKE ?"),
        ("x GLOB 'a*' OR x NOT GLOB '*b'", "x LIKE 'a%' OR x NOT LIKE '%b'"),
        ("x SIMILAR TO '(a|b)c+'", "regexp_full_match(x, '(a|b)c+')"),
        ("x NOT SIMILAR TO '[a-z]{2}'", "NOT regexp_full_match(x, '[a-z]{2}')"),
        ("x BETWEEN ASYMMETRIC 1 AND 2", "x BETWEEN 1 AND 2"),
        ("x BETWEEN SYMMETRIC 2 AND 1", "(x BETWEEN 2 AND 1) OR (x BETWEEN 1 AND 2)"),
        ("x IN [1, -2]", "x IN (1, -2)"),
        ("x NOT IN ['a']", "x NOT IN ('a')"),
        ("x IN UNNEST([1, NULL]) OR x IN UNNEST(?)", "x IN (1, NULL) OR x = ANY(?)"),
        ("x = ANY (SELECT y FROM b)", "x IN (SELECT y FROM b)"),
        ("x <> ALL (VALUES (1), (2))", "x NOT IN (VALUES (1), (2))"),
        ("list_contains([1, 2], x)", "x IN (1, 2)"),
    ],
)
def test_a_condition_in_other_words_is_the_same_condition(written: str, plain: str) -> None:
    assert parse(f"SELECT COUNT(*) FROM a WHERE {written}") == parse(f"SELECT COUNT(*) FROM a WHERE {plain}")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("x ~ 'a' || y", "its pattern is one constant"),
        ("x ~ lower('a')", "its pattern is one constant"),
        ("x ~", "its pattern is one constant"),
        ("x ~* ?", r"Write x ~ \?, and"),
        ("x SIMILAR TO '(a|b)%'", r"Write regexp_full_match\(x, '\(a\|b\)\.\*'\)"),
        ("x NOT SIMILAR TO 'a.'", r"Write NOT regexp_full_match\(x, 'a\.'\)"),
        ("x SIMILAR TO ?", "regular expression"),
        ("x GLOB 'a?'", "Write LIKE"),
        ("x GLOB ?", "Write LIKE"),
        ("x IN [1, NULL]", "Write IN"),
        ("x IN [?]", "Write IN"),
        ("list_contains([1, NULL], x)", "Write x IN"),
        ("(x > 1) XOR (y > 1)", r"\(a\) <> \(b\)"),
        ("xor(x > 1, y > 1)", r"\(a\) <> \(b\)"),
        ("symmetric > 1", "Write the smaller bound first"),
        ("~ x > 1", "no value before it"),
    ],
)
def test_a_condition_that_means_several_things_is_refused_with_what_to_write(written: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        parse(f"SELECT COUNT(*) FROM a WHERE {written}")
    assert caught.match(hint)
