"""The canonical text: the same for two spellings of one statement, different for different statements."""

from __future__ import annotations

import pytest

from dpsql.sql.parse import normal, parse


def test_normal_forgets_spelling_alone() -> None:
    one = parse("select Sum( COST ) as N from Visits where a!=1.50 -- mine")
    two = parse('SELECT sum("cost") "N"\nFROM "visits" /* yours */ WHERE a <> 1.5')
    assert normal(one) == normal(two)
    assert normal(parse("SELECT sum(cost) AS n FROM visits WHERE a <> 1.5")) != normal(one)  # another column name


@pytest.mark.parametrize(
    "pair",
    [
        ("SELECT 'a'", "SELECT a"),
        ("SELECT 1", "SELECT 1.0"),
        ("SELECT 1", "SELECT '1'"),
        ("SELECT 1", "SELECT TRUE"),
        ("SELECT DATE '2024-01-01'", "SELECT TIMESTAMP '2024-01-01'"),
        ("SELECT DATE '2024-01-01'", "SELECT '2024-01-01'"),
        ("SELECT a - (b - c)", "SELECT a - b - c"),
        ("SELECT f(a, x => 1)", "SELECT f(a, y => 1)"),
        ("SELECT f(DISTINCT a)", "SELECT f(a)"),
        ("SELECT a FROM t, u", "SELECT a FROM u, t"),
        ("SELECT a FROM t UNION SELECT b", "SELECT a FROM t UNION ALL SELECT b"),
        ("SELECT 'a''b'", "SELECT 'a' || 'b'"),
        ("SELECT ?", "SELECT 1"),
        ("SELECT a", "EXPLAIN SELECT a"),
    ],
)
def test_normal_tells_different_statements_apart(pair: tuple[str, str]) -> None:
    assert normal(parse(pair[0])) != normal(parse(pair[1]))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, scale = (0.1, 100)) DISTINCT p.city AS x FROM v p",
        "SELECT COUNT(*, epsilon => 0.1), SUM(DISTINCT a) FILTER (WHERE b), f(a ORDER BY b DESC NULLS FIRST)",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t GROUP BY GROUPING SETS ((a), (a, b), ())",
        "WITH x AS (SELECT 1) SELECT a FROM x UNION (SELECT b UNION ALL SELECT c)",
        "SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CASE WHEN a THEN 1 END, a::decimal(3,1), TRY_CAST(b AS date)",
        "SELECT a FROM t LEFT JOIN u ON a = b CROSS JOIN v FULL JOIN w USING (a, b) WHERE NOT EXISTS (SELECT 1)",
        "SELECT INTERVAL '-3' DAY, DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00.5', 1e300, -0.5, NULL, 'it''s', ?",
        'SELECT "a""b", t.* FROM "x y"."z" AS "Q" ORDER BY 1 LIMIT 3 OFFSET 4',
        "EXPLAIN SELECT a",
        "SET x = 'it''s'",
        "DESCRIBE a.b",
    ],
)
def test_normal_reads_back_as_the_same_statement(text: str) -> None:
    statement = parse(text)
    again = normal(statement)
    assert normal(parse(again)) == again
