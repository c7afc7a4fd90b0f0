"""What may stand before a table: the policy's name, the schema of all tables, or both; and columns behind one."""

from __future__ import annotations

import pytest

from dpsql.sql.parse import normal, parse


def test_the_name_of_this_database_may_stand_before_the_schema() -> None:
    plain = parse("SELECT t.a FROM t JOIN u USING (b)")
    assert parse('SELECT "Shop".public.t.a FROM shop.main.t JOIN SHOP.public.u USING (b)', "shop") == plain
    for text in ("SELECT a FROM other.public.t", "SELECT x.shop.public.a FROM t"):
        assert parse(text, "shop") == parse(text)


@pytest.mark.parametrize("owner", ["", "shop.", "SHOP.", '"shop".', "public.", "main.", "shop.public.", "Shop.main."])
def test_a_table_may_stand_behind_the_database_and_the_schema(owner: str) -> None:
    text = f"SELECT {owner}visits.cost FROM {owner}visits"
    assert normal(parse(text, "Shop")) == normal(parse("SELECT visits.cost FROM visits"))
    assert parse(f"DESCRIBE {owner}visits", "Shop") == parse("DESCRIBE visits")


def test_the_name_of_the_database_is_an_ordinary_name_elsewhere() -> None:
    for text in ("SELECT shop.cost FROM visits AS shop", "SELECT cost FROM shop", "SELECT shop FROM visits"):
        assert normal(parse(text, "shop")) == normal(parse(text))
    for text in (
        "SELECT cost FROM other.visits",
        "SELECT cost FROM public.shop.visits",
        "SELECT cost FROM visits.shop",
    ):
        assert normal(parse(text, "shop")) == normal(parse(text))
    assert normal(parse("SELECT cost FROM shop.visits")) != normal(parse("SELECT cost FROM visits"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('SELECT * FROM (VALUES (1)) AS "v" ("a")', "SELECT * FROM (VALUES (1)) AS v (a)"),
        ('SELECT * FROM t, (VALUES (1, 2)) "v"("a", "b")', "SELECT * FROM t, (VALUES (1, 2)) AS v (a, b)"),
        ('WITH "v" ("a") AS (SELECT 1) SELECT * FROM "v"', "WITH v (a) AS (SELECT 1) SELECT * FROM v"),
    ],
)
def test_a_name_in_quotes_takes_columns_as_one_without(written: str, meant: str) -> None:
    assert normal(parse(written)) == normal(parse(meant))
    assert normal(parse(normal(parse(written)))) == normal(parse(written))
