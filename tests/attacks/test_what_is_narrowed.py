"""What conditions say of a column, and of what is computed from it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.types import Facts, Type
from tests.attacks.test_narrowed_bounds import CATALOG, PERSON, column_info, plan_of

ENDS = {
    "x > 0": (1, 3),
    "x >= 0.5 AND x < 2": (1, 1),
    "0 < x": (1, 3),
    "x BETWEEN -1 AND 2": (-1, 2),
    "x IN (2, 0)": (0, 2),
    "x = 1 OR x = 2": (1, 2),
    "x = 1 OR y = 2": (-3, 3),  # a branch that does not name the column leaves all of it
    "NOT (x < 0 OR x > 1)": (0, 1),
    "NOT (x <> 2)": (2, 2),
    "x NOT BETWEEN -5 AND 1": (2, 3),
    "x < 2 AND (y > 1 OR x > -2)": (-3, 1),
    "x < 100": (-3, 3),
    # no row passes, or the column is NULL: nothing is narrowed
    "x > 100": (-3, 3),
    "x IN (NULL)": (-3, 3),
    "FALSE": (-3, 3),
    "x IS NULL": (-3, 3),
    "x + 1e16 <= 1e16 + 1": (-3, 3),
    "x < y": (-3, 3),
    # what holds for a partner does not hold for the row
    "EXISTS (SELECT 1 FROM t u WHERE u.person = t.person AND u.x > 1)": (-3, 3),
    "person IN (SELECT person FROM t u WHERE u.x > 1)": (-3, 3),
}


@pytest.mark.parametrize("where", ENDS)
def test_what_a_condition_says_of_acolumn_info(where: str) -> None:
    assert ends(f"SELECT SUM(x) FROM t WHERE {where}") == ENDS[where]


SOURCES = {
    "SELECT SUM(a.x) FROM t a LEFT JOIN t b ON a.person = b.person AND a.x > 1 AND b.x > 1": (-3, 3),
    "SELECT SUM(b.x) FROM t a LEFT JOIN t b ON a.person = b.person AND a.x > 1 AND b.x > 1": (2, 3),
    "SELECT SUM(a.x) FROM t a LEFT JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person": (-3, 3),
    "SELECT SUM(COALESCE(b.x, -2)) FROM t a LEFT JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person": (-2, 3),
    "SELECT SUM(b.x) FROM t a JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person WHERE b.x < 3": (2, 2),
    "SELECT SUM(x) FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x FROM t WHERE x = 0) u": (0, 3),
    "SELECT SUM(x) FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x FROM t) u": (-3, 3),
    "SELECT SUM(x) FROM (SELECT DISTINCT person, x FROM t WHERE x > 1) u": (2, 3),
    "SELECT SUM(s) FROM (SELECT person, SUM(x) AS s FROM t WHERE x < 2 GROUP BY person) u": (-9, 3),
    "SELECT SUM(s) FROM (SELECT person, SUM(x) AS s FROM t GROUP BY person HAVING SUM(x) > 5) u": (6, 9),
    "SELECT SUM(s) FROM (SELECT person, MAX(x) AS s FROM t WHERE x > 0 GROUP BY person) u": (1, 3),
    # branches of CASE and FILTER: their own argument, and ELSE where a condition is FALSE or NULL
    "SELECT SUM(x) FILTER (WHERE x > 1) FROM t": (2, 3),
    "SELECT SUM(CASE WHEN x > 1 THEN x ELSE 0 END) FROM t": (0, 3),
    "SELECT SUM(CASE WHEN x > 1 THEN 0 ELSE x END) FROM t": (-3, 1),
    "SELECT SUM(CASE WHEN x < 0 THEN -1 WHEN x < 2 THEN x ELSE 0 END) FROM t": (-1, 1),
    # NULL reaches ELSE though no number does
    "SELECT SUM(CASE WHEN big > 5 THEN 1 WHEN big <= 5 THEN 2 ELSE x END) FROM t": (-3, 3),
    "SELECT SUM(CASE WHEN x IN (1, NULL) THEN 0 ELSE x END) FROM t": (-3, 3),
    "SELECT SUM(CASE WHEN NOT (x IN (1, NULL)) THEN x END) FROM t": (-3, 3),
    # integers are compared with reals as doubles
    "SELECT SUM(big) FROM t WHERE big >= 0 AND big <= 38.99999999999999999999": (0, 39),
    "SELECT SUM(big) FROM t WHERE big BETWEEN 1 AND 6": (1, 6),
    # an expression as it is written, and what is computed from it
    "SELECT SUM(CASE WHEN big // 7 BETWEEN 0 AND 60 THEN big // 7 END) FROM t": (0, 60),
    "SELECT SUM(CASE WHEN big // 7 BETWEEN 0 AND 60 THEN big // 8 END) FROM t": (None, None),
    "SELECT SUM(big // 7) FROM t WHERE big // 7 >= 0 AND 59.5 > big // 7": (0, 59),
    "SELECT SUM(abs(big // 7) + 1) FROM t WHERE big // 7 BETWEEN -2 AND 1": (1, 3),
    # what an argument is made of may lie beyond the places that are looked at: such a side says nothing
    "SELECT SUM(big) FROM t WHERE big + 1 >= 5": (4, None),
    "SELECT SUM(x) FROM t WHERE x * 9007199254740993 + 5 >= 0": (0, 3),
    "SELECT SUM(x) FROM t WHERE (x - 9007199254740993) + -7 <= 25": (-3, 3),
    "SELECT SUM(x) FROM t WHERE (x + 9007199254740993) + 7 > 25": (-3, 3),
    "SELECT SUM(q) FROM (SELECT big // 7 AS q FROM t) u WHERE q IN (3, 5)": (3, 5),
    "SELECT SUM(b.big // 7) FROM t a LEFT JOIN t b ON a.person = b.person AND b.big // 7 IN (3, 5)": (None, None),
}


@pytest.mark.parametrize("sql", SOURCES)
def test_what_is_known_of_an_argument(sql: str) -> None:
    assert ends(sql) == SOURCES[sql]


MILLISECONDS = {
    "k * 1000 + 5 > 160000000000000000": (0, 2 * 10**14),  # it is compared as a double
    "k * 1000 + 5 > 1600000000000000": (1600000000000, 2 * 10**14),
    "year(make_timestamp(k * 1000)) >= 2020": (1577836800000, 2 * 10**14),
    "year(make_timestamp(k * 1000)) = 2020": (1577836800000, 1609459199999),
    "make_timestamp(k * 1000) < TIMESTAMP '1970-01-01 00:00:01'": (0, 999),
}


@pytest.mark.parametrize("where", MILLISECONDS)
def test_what_a_condition_says_of_numbers_of_which_more_is_made_than_is_looked_at(where: str) -> None:
    column = column_info("k", Type.INTEGER, Fraction(0), Fraction(2 * 10**14), Fraction(1))
    table = TableInfo("t", {"person": PERSON, "k": column}, unit="person", rows_per_unit=1)
    catalog = Catalog({"t": table}, "add_remove", "p.yaml", 1)
    assert ends(f"SELECT SUM(k) FROM t WHERE {where}", catalog) == MILLISECONDS[where]


def ends(sql: str, catalog: Catalog = CATALOG) -> tuple[Any, Any]:
    plan = plan_of(sql, catalog)
    argument = plan.aggregates[0].argument
    assert argument is not None
    facts = facts_on(argument, plan.relation)
    return facts.low, facts.high


def test_a_comparison_with_a_real_number_that_no_integer_meets_exactly_narrows_nothing() -> None:
    assert ends("SELECT SUM(big) FROM t WHERE big >= 0 AND big <= 9007199254740992.0") == (0, None)


def test_a_centre_lies_within_the_narrowed_bounds_and_a_spread_is_no_wider() -> None:
    hinted = Facts(Type.REAL, Fraction(-3), Fraction(3), step=Fraction(1, 4), centre=Fraction(1), spread=Fraction(2))
    table = TableInfo("t", {"person": PERSON, "y": ColumnInfo("y", hinted)}, unit="person", rows_per_unit=1)
    plan = plan_of("SELECT AVG(y) FROM t WHERE y > 1.5 AND y < 2.5", Catalog({"t": table}, "add_remove", "p.yaml", 1))
    argument = plan.aggregates[0].argument
    assert argument is not None
    facts = facts_on(argument, plan.relation)
    assert (facts.low, facts.high, facts.centre, facts.spread) == (
        Fraction(3, 2),
        Fraction(5, 2),
        Fraction(3, 2),
        Fraction(1),
    )
