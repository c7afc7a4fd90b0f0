"""``= ANY`` of a list is IN, ``<> ALL`` is NOT IN, in every way that drivers write the list."""

from __future__ import annotations

from random import Random

import duckdb
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse
from dpsql.sql.rewording.any_of import elements


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


def test_comparisons_with_any_and_all_mean_what_duckdb_means() -> None:
    """At random, with numbers of either sign, decimals and days."""
    random = Random(5)
    days = [f"DATE '20{random.randrange(10, 30)}-0{random.randrange(1, 10)}-11'" for _ in range(20)]
    numbers = [str(random.choice([-7, 0, 3, 2.5, -0.5, 12])) for _ in range(20)]
    with duckdb.connect() as engine:
        engine.execute(
            "CREATE TABLE t AS SELECT i AS a, DATE '2009-12-01' + (i * 300)::INTEGER AS d FROM range(-15, 30) AS s(i)"
        )
        engine.execute("INSERT INTO t VALUES (NULL, NULL)")
        for _ in range(200):
            column, values = random.choice([("a", numbers), ("d", days)])
            listed = ", ".join(random.choices(values, k=random.randrange(1, 4)))
            sign, word = random.choice(["<", "<=", ">", ">="]), random.choice(["ANY", "all"])
            condition = (
                f"{random.choice(['', 'NOT '])}{column} {sign} {word} ({random.choice(['', 'ARRAY'])}[{listed}])"
            )
            written = f"SELECT count(*) FROM t WHERE {condition}"
            assert engine.sql(written).fetchall() == engine.sql(normal(parse(written))).fetchall(), written


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
    ["a = ANY (1)", "a = ANY ()", "a > ANY (ARRAY['1'])", "a = ALL (ARRAY[1])", "a <> ANY (?)",
     "a = ANY ('{}')", "a = ANY (ARRAY[])", "a = ANY ('x')", "a = ANY ('{{1},{2}}')", "a = ANY (?", "= ANY (?)",
     "a = ANY (ARRAY[(1, 2])", "a = ANY (?, ?)", "a = ANY", "a = ANY (? + 1)", "a > ALL ([])", "a > ALL ([1, NULL])",
     "a > ANY ([1, DATE '2024-01-01'])", "a > ANY ([DATE '2024-02-30'])", "a > ANY ([1, 1e999999999])",
     "a < ALL ([1 2])", "a < ALL ([1,])", "a < ALL (1, 2)", "a < ANY (SELECT 1)", "a < ANY (?)", "a > ANY",
     "a > ALL ([b])"],
)  # fmt: skip
def test_what_is_no_list_is_refused(condition: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(f"SELECT count(*) FROM t WHERE {condition}")


@pytest.mark.parametrize("text", ["{1,}", "{,1}", "{1", "1}", "{a b{}", '{"a}', "{{1}}", "{1 2,}", '{"a"b}'])
def test_what_is_no_array_has_no_elements(text: str) -> None:
    assert elements(text) is None
