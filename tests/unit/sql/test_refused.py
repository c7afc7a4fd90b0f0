"""What the dialect lacks is refused with its name in SQL, its place, and what to write instead."""

from __future__ import annotations

import re

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import parse


def refusal(text: str) -> UnsupportedQuery:
    with pytest.raises(UnsupportedQuery) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "construct", "column"),
    [
        ("SELECT sum(a) OVER w FROM t", "OVER", 15),
        ("SELECT a FROM t WINDOW w AS ()", "WINDOW", 17),
        ("SELECT DISTINCT * FROM t QUALIFY a > 1", "QUALIFY", 34),
        ("SELECT a FROM t TABLESAMPLE 10", "TABLESAMPLE", 17),
        ("SELECT a FROM t USING SAMPLE 10", "USING SAMPLE", 17),
        ("SELECT a FROM t PIVOT (sum(a) FOR b IN (1))", "PIVOT", 35),
        ("SELECT a INTO leak FROM t", "SELECT INTO", 10),
        ("SELECT a FROM t FOR UPDATE", "FOR", 17),
        ("SELECT a COLLATE nocase FROM t", "COLLATE", 10),
        ("SELECT max(COLLATE(city, 'x, (SELECT 1)')) FROM t", "COLLATE", 12),
        ("SELECT a SIMILAR TO 'x%'", "SIMILAR TO", 10),
        ("SELECT a GLOB 'x?'", "GLOB", 10),
        ("SELECT isnull", "ISNULL", 8),
        ("SELECT a = ANY (1)", "ANY", 12),
        ("SELECT a = ALL (SELECT 1)", "ALL", 12),
        ("SELECT ARRAY(SELECT 1)", "ARRAY", 8),
        ("SELECT lambda x: 1", ":", 16),
        ("SELECT a AT TIME ZONE 'UTC'", "AT", 10),
        ("SELECT current_date", "CURRENT_DATE", 8),
        ("SELECT now()", "now", 8),
        ("SELECT a FROM t FETCH FIRST 1 ROW WITH TIES", "FETCH", 17),
        ("SELECT a FROM t INTERSECT SELECT 1", "INTERSECT", 17),
        ("SELECT a FROM t EXCEPT SELECT 1", "EXCEPT", 17),
        ("WITH RECURSIVE x AS (SELECT 1) SELECT 1", "WITH RECURSIVE", 6),
        ("SELECT a FROM t, LATERAL (SELECT 1)", "LATERAL", 18),
        ("SELECT a FROM t ASOF JOIN u ON a", "ASOF JOIN", 17),
        ("SELECT a FROM t POSITIONAL JOIN u", "POSITIONAL JOIN", 17),
        ("SELECT a FROM t SEMI JOIN u ON a", "SEMI JOIN", 17),
        ("SELECT a FROM t ANTI JOIN u ON a", "ANTI JOIN", 17),
        ("SELECT a FROM t NATURAL JOIN u ON a", "NATURAL JOIN", 30),
        ("SELECT a FROM (VALUES (1), (1, 2)) t", "VALUES", 24),
        ("SELECT d FROM generate_series(1, 3) AS t(d)", "generate_series", 15),
        ("SELECT d FROM range(3) AS t(d)", "range", 15),
        ("SELECT a FROM read_csv('/etc/passwd')", "table function", 15),
        ("SELECT a FROM 'x.csv'", "file as a table", 15),
        ("SELECT a FROM (t JOIN u ON a)", "JOIN in parentheses", 18),
        ("SELECT a FROM (FROM t WHERE b SELECT c)", "FROM-first query", 16),
        ("SELECT COLUMNS('x') FROM t", "COLUMNS", 8),
        ("SELECT * REPLACE (1) FROM t", "* REPLACE", 19),
        ("SELECT * RENAME (a) FROM t", "* RENAME", 18),
        ("SELECT DISTINCT ON a, b FROM t", "DISTINCT ON", 8),
        ("SELECT ARRAY_AGG(a ORDER BY ALL) FROM t", "ORDER BY ALL", 29),
        ("SELECT SUM(a) OVER (PARTITION BY ALL) FROM t", "PARTITION BY ALL", 34),
        ("SELECT DATE(a, b) FROM t", "DATE", 8),
        ('SELECT "sum"(x) FROM t', "quoted name before a parenthesis", 8),
        ("SELECT x.lower() FROM t", "function behind a point", 10),
        ("SELECT 'a' 'b'", "value after value", 12),
        ("SELECT f('a' 'b')", "value after value", 14),
        ("SELECT a 'x' FROM t", "value after value", 10),
        ("SELECT e'x'", "e'...'", 8),
        ("SELECT COUNT(*) EXPORT_STATE FROM t", "EXPORT_STATE", 17),
        ("SELECT a year FROM t", "YEAR", 10),
        ("SELECT a FROM t JOIN u USING (t.v)", "syntax", 31),
        ("SELECT (42,)", ")", 12),
        ("SELECT f(, 1)", ",", 10),
        ("SELECT a,, FROM t", "FROM", 12),
        ("SELECT a AS FROM t", "FROM", 13),
        ("SELECT +a", "+", 8),
        ("SELECT a BETWEEN 1 2 AND 3", "value after value", 20),
        ("SELECT a < b < c", "comparison of a comparison", 8),
        ("SELECT a = NOT b", "comparison of a comparison", 16),
        ("SELECT a IS DISTINCT FROM b < c", "comparison of a comparison", 27),
        ("SELECT a FROM t LIMIT 5, 3", ", after LIMIT", 24),
        ("SELECT a FROM t WHERE a, b", ", after WHERE", 24),
        ("SELECT a FROM t GROUP BY a HAVING a, b", ", after HAVING", 36),
        ("SELECT a ORDER BY 1 UNION SELECT b", "UNION after ORDER", 21),
        ("SELECT a ORDER BY a ASC DESC", "DESC", 25),
        ("SELECT a IS NULL::int", "::", 17),
        ("SELECT extract(union FROM a)", "EXTRACT", 8),
        ("SELECT a::precision", "type", 11),
        ("SELECT a FROM t LIMIT 1 + 1", "LIMIT", 23),
        ("SELECT a FROM t LIMIT 1 WHERE a", "WHERE", 25),
        ("SELECT a FROM t WHERE a JOIN u ON b", "JOIN", 25),
        ("SELECT a FROM t, u JOIN v ON a", "comma and JOIN in one FROM", 15),
        ("SELECT a FROM t JOIN u", "INNER JOIN", 22),
        ("SELECT a FROM t AS x(b)", "TABLE ALIAS with COLUMNS", 20),
        ("SELECT f(*, a)", "* in a function", 8),
        ("SELECT f(DISTINCT *)", "* in a function", 8),
        ("SELECT f(x => 1, a)", "argument after a named one", 18),
        ("SELECT f(x => 1, X => 2)", "x twice", 18),
        ("SELECT x => 1", "=>", 10),
        ("SELECT * AS a FROM t", "alias of *", 8),
        ("SELECT a FROM t GROUP BY (a, b)", "tuple in GROUP BY", 27),
        ("SELECT CAST(a AS TIMESTAMP WITH TIME ZONE)", "time zone", 18),
        ("SELECT r 'x'", "value after value", 10),
        ("SELECT a RLIKE 'x'", "RLIKE", 10),
        ("SELECT a NOT REGEXP ?", "REGEXP", 14),
        ("SELECT TIMESTAMP WITH TIME ZONE a", "WITH", 18),
        ("SELECT a day", "DAY", 10),
        ("SELECT d FROM range(3) t(d)", "range", 15),
        ("SELECT INTERVAL (a) DAY", "INTERVAL", 8),
        ("SELECT DATE '2024-06-01' + INTERVAL '2 months ago'", "INTERVAL", 28),
        ("SELECT position(a, b)", "POSITION", 8),
        ("SELECT substring(a FROM 2 FROM 3)", "FROM", 20),
        ("SELECT int(a)", "INT", 8),
        ("SELECT negate(a)", "negate", 8),
        ("SELECT", "SELECT", 1),
        ("SELECT FROM t", "SELECT", 8),
        ("SELECT (a FROM t", "FROM", 11),
        ("SELECT a)", ")", 9),
        ("SELECT a FROM t WHERE", "the end of the statement", 17),
        ("SELECT a FROM t GROUP BY", "the end of the statement", 23),
    ],
)
def test_what_the_dialect_lacks_is_refused_in_sql_words(text: str, construct: str, column: int) -> None:
    error = refusal(text)
    assert (error.construct, error.position) == (construct, (1, column))
    assert error.hint


def test_nothing_escapes_to_the_terminal() -> None:
    for text in ("SELECT a b c d", "SELECT CASE a END", "SELECT a FROM t GROUP a", "SELECT f(a b)"):
        message = str(refusal(text))
        assert "\x1b" not in message
        assert "Line" not in message


@pytest.mark.parametrize(
    "nest", ["({})", "f({})", "(SELECT {})", "CASE WHEN a THEN {} END", "a IN (SELECT {})", "(a + {})"]
)
def test_thirty_levels_are_read_and_one_more_is_refused(nest: str) -> None:
    def nested(levels: int) -> str:
        text = "a"
        for _ in range(levels):
            text = nest.format(text)
        return f"SELECT {text} FROM t"

    parse(nested(30))
    assert refusal(nested(31)).construct == "nesting"


@pytest.mark.parametrize("chain", [" + a", " OR a = 1", " AND a", " UNION SELECT a"])
def test_long_chains_are_refused(chain: str) -> None:
    parse("SELECT a" + chain * 90)
    assert refusal("SELECT a" + chain * 300).construct == "nesting"


@pytest.mark.parametrize("prefix", ["NOT ", "- "])
def test_long_prefixes_are_refused(prefix: str) -> None:
    assert refusal("SELECT " + prefix * 900 + "a").construct == "nesting"


def test_nested_betweens_cannot_grow_without_end() -> None:
    text = "a"
    for _ in range(25):
        text = f"f({text} BETWEEN 1 AND 2)"
    assert refusal(f"SELECT {text}").construct == "BETWEEN of a BETWEEN"
    text = "a"
    for _ in range(25):
        text = f"f(1 BETWEEN {text} AND 2)"
    parse(f"SELECT {text}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT a FROM t SEMI JOIN u USING (id)", "WHERE id IN (SELECT id FROM ..)"),
        ("SELECT a FROM t ANTI JOIN u USING (id)", "WHERE id NOT IN (SELECT id FROM ..)"),
        ("SELECT a FROM t UNION BY NAME SELECT a FROM u", "in one order"),
        ("SELECT a FROM t UNION ALL BY NAME SELECT a FROM u", "in one order"),
        ("SELECT a FROM t LIMIT ALL", "Leave it out"),
        ("SELECT a FROM t WHERE b::TIME >= TIME '12:30'", "minute(x)"),
        ("SELECT a << 1 FROM t", "dpsql reads"),
        ("SELECT a <+ 1 FROM t", "Put a space"),
    ],
)
def test_the_hint_says_what_means_the_same(text: str, hint: str) -> None:
    assert hint in (refusal(text).hint or "")


@pytest.mark.parametrize("text", ["at", "min(at)", "at::date", "t.a + at", "user, 1", "a IN (at, 2)"])
def test_a_refused_word_in_the_place_of_a_name_is_told_to_be_quoted(text: str) -> None:
    word = "user" if "user" in text else "at"
    assert str(refusal(f"SELECT {text} FROM t")).endswith(
        f'this is a keyword, not a name. If it is a name, quote it: "{word}".'
    )
    quoted = re.sub(rf"\b{word}\b", f'"{word}"', text)
    parse(f"SELECT {quoted} FROM t")


@pytest.mark.parametrize("word", ["at", "order", "user", "select", "case", "left", "interval"])
def test_behind_a_point_every_word_is_a_name(word: str) -> None:
    assert parse(f"SELECT t.{word} FROM t WHERE t.{word} > 1") == parse(
        f'SELECT t."{word}" FROM t WHERE t."{word}" > 1'
    )
