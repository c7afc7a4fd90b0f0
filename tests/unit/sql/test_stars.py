"""What a star chooses, and COLUMNS written out."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("* EXCLUDE a", '* EXCLUDE ("a")'),
        ("* EXCEPT (a, b)", '* EXCLUDE ("a", "b")'),
        ("t.* REPLACE (f(a, 1) AS a, b + 1 AS B), 2", '"t".* REPLACE (f("a", 1) AS "a", ("b" + 1) AS "B"), 2'),
        ("* RENAME (a AS x, b AS y)", '* RENAME ("a" AS "x", "b" AS "y")'),
        (
            "* EXCLUDE (c) REPLACE (1 AS a) RENAME (b AS y), 2 AS z",
            '* EXCLUDE ("c") REPLACE (1 AS "a") RENAME ("b" AS "y"), 2 AS "z"',
        ),
        ("2 * replace(a, 'x', 'y') AS b", "(2 * replace(\"a\", 'x', 'y')) AS \"b\""),
        ("AVG(COLUMNS(['a', 'b']))", 'avg("a") AS "a", avg("b") AS "b"'),
        ("1, round(AVG(COLUMNS(['a', 'b'])), 2) AS m, 3", '1, round(avg("a"), 2) AS "m", round(avg("b"), 2) AS "m", 3'),
        ("DISTINCT COLUMNS(['a'])", 'DISTINCT "a" AS "a"'),
    ],
)
def test_a_star_is_read_with_what_it_chooses(written: str, read: str) -> None:
    text = normal(parse(f"SELECT {written} FROM t"))
    assert text == f'SELECT {read} FROM "t"'
    assert normal(parse(text)) == text


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("* EXCLUDE (1)", r"Write SELECT \* EXCLUDE"),
        ("* RENAME (a b)", r"Write SELECT \* RENAME"),
        ("* REPLACE (a + 1)", r"Write SELECT \* REPLACE"),
        ("* REPLACE ()", "Name the columns"),
        ("COLUMNS(*)", r"COLUMNS\(\['a', 'b'\]\)"),
        ("AVG(COLUMNS('a.*'))", r"COLUMNS\(\['a', 'b'\]\)"),
        ("COLUMNS(['a']) + COLUMNS(['b'])", "one stands in each entry"),
        ("1 FROM t WHERE COLUMNS(['a']) > 1 AND (1 = 1) OR 1 IN (SELECT 1", "it stands in a select list"),
        (f"COLUMNS([{', '.join(['1'] * 9)}])", "COLUMNS"),
        (f"COLUMNS([{', '.join(repr('abc') for _ in range(90))}]) + {'1 + ' * 90} 1", "written out"),
    ],
)
def test_what_it_does_not_choose_by_names_is_refused(written: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        parse(f"SELECT {written} FROM t")
    assert caught.match(hint)
