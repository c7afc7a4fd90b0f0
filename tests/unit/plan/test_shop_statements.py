"""Statements along keys, over public sub-queries and with shared conditions mean what they say."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.session import Session

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("shop")
    shutil.copy(ROOT / "policies" / "shop.yaml", folder)
    runpy.run_path(str(ROOT / "examples" / "shop.py"))["build"](folder / "shop.duckdb", 300, 900)
    with dpsql.testing.open(folder / "shop.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def value(session: Session, sql: str, *parameters: object) -> object:
    return session.query(sql, parameters).rows[0][0]  # type: ignore[arg-type]  # constants of SQL


def sensitivity(session: Session, sql: str) -> object:
    return session.explain(sql, mechanism="laplace").columns[-1].sensitivity


def test_a_condition_that_all_branches_of_or_share_joins_tables(shop: Session) -> None:
    joined = "SELECT COUNT(*) FROM lineitems l, products p WHERE l.product = p.name AND {}"
    either = "(l.product = p.name AND quantity > 5) OR (l.product = p.name AND p.category = 'paper')"
    assert value(shop, "SELECT COUNT(*) FROM lineitems l, products p WHERE " + either) == value(
        shop, joined.format("(quantity > 5 OR p.category = 'paper')")
    )
    one = (
        "SELECT COUNT(*) FROM lineitems l, products p WHERE l.product = p.name OR (l.product = p.name AND quantity > 5)"
    )
    assert value(shop, one) == value(shop, joined.removesuffix(" AND {}"))


def test_exists_along_a_key_is_about_the_same_person(shop: Session) -> None:
    asked = "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM lineitems l WHERE l.order_id = o.order_id{})"
    unit = " AND l.customer_id = o.customer_id"
    assert value(shop, asked.format("")) == value(shop, asked.format(unit))
    for written in ("", unit):
        assert shop.explain(asked.format(written), mechanism="laplace").sql.count("customer_id") == 2


def test_a_bare_name_means_the_column_that_the_data_have(shop: Session) -> None:
    bare = "SELECT COUNT(DISTINCT customer_id) FROM orders o, lineitems l WHERE o.order_id = l.order_id"
    assert value(shop, bare) == value(shop, bare.replace("DISTINCT customer_id", "DISTINCT o.customer_id"))
    with pytest.raises(UnsupportedQuery, match="the name stands in several tables"):
        shop.explain(
            "SELECT COUNT(DISTINCT customer_id) FROM orders o, customers c WHERE o.customer_id = c.customer_id"
        )


def test_columns_are_named_behind_a_query(shop: Session) -> None:
    inside = "(SELECT customer_id AS c, COUNT(*) AS n FROM orders GROUP BY customer_id)"
    plain = value(shop, f"SELECT SUM(n) FROM {inside} AS t")
    named = inside.replace(" AS c", "").replace(" AS n", "")
    for written in (f"SELECT SUM(n) FROM {named} AS t (c, n)", f"WITH t (c, n) AS {named} SELECT SUM(n) FROM t"):
        assert value(shop, written) == plain
    with pytest.raises(UnsupportedQuery, match="not as many as columns"):
        shop.explain(f"SELECT SUM(n) FROM {named} AS t (c)")


def test_a_public_sub_query_is_grouped_and_joined_on_its_group(shop: Session) -> None:
    cheapest = "(SELECT category, MIN(list_price) AS least FROM products GROUP BY category)"
    exact = shop.query(
        f"SELECT name FROM products p, {cheapest} AS c WHERE p.category = c.category AND list_price = least"
    )
    assert sorted(name for (name,) in exact.rows) == ["cable", "lamp", "pen", "scissors"]
    assert exact.measurements == ()
    dear = "(SELECT name AS product_name, MAX(list_price) AS most FROM products GROUP BY name)"
    alone = sensitivity(shop, "SELECT COUNT(*) FROM lineitems")
    assert sensitivity(shop, f"SELECT COUNT(*) FROM lineitems, {dear} AS d WHERE product = product_name") == alone
    wide = "(SELECT category, name, MAX(list_price) AS most FROM products GROUP BY category, name)"
    assert sensitivity(shop, f"SELECT COUNT(*) FROM lineitems, {wide} AS d WHERE product = name") == 40 * 12


def test_columns_of_one_public_table_are_listed_as_they_stand_in_its_rows(shop: Session) -> None:
    joined = "FROM lineitems JOIN products p ON product = p.name GROUP BY p.name, p.category"
    quote = shop.explain(f"SELECT p.name, p.category, COUNT(*) AS n {joined}")
    assert "All 12 groups of the declared domain are listed, empty ones included." in quote.notes
    each = shop.query(f"SELECT p.name, p.category, COUNT(*) AS n {joined}").rows
    assert [row[:2] for row in each] == shop.query("SELECT name, category FROM products ORDER BY name").rows


def test_a_key_of_days_between_two_dates_that_goes_far_below_0_is_told_what_to_write(shop: Session) -> None:
    days = "date_diff('day', ordered_on, DATE '2023-03-01')"
    notes, others = (
        " ".join(shop.explain(f"SELECT {key} AS days, COUNT(*) AS n FROM orders GROUP BY days").notes)
        for key in (f"LEAST({days}, 14)", f"GREATEST(0, LEAST({days}, 14))")
    )
    assert "values of a key lie below 0, from -" in notes
    assert ": GREATEST(0, ..) around it makes one group of them." in notes
    assert "GREATEST" not in others


def test_distinct_values_of_public_tables_are_counted(shop: Session) -> None:
    assert shop.query("SELECT COUNT(DISTINCT category), COUNT(category) FROM products").rows == [(4, 12)]


def test_a_join_of_joins_on_a_key_multiplies_nothing(shop: Session) -> None:
    chain = "SELECT COUNT(*) FROM customers c, orders o, lineitems l WHERE c.customer_id = o.customer_id AND {}"
    assert sensitivity(shop, chain.format("o.order_id = l.order_id")) == 40
    assert sensitivity(shop, chain.format("o.customer_id = l.customer_id")) == 10 * 40


def test_a_total_for_each_group_of_a_person_is_one_row(shop: Session) -> None:
    asked = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2) product, "
        "SUM(quantity, contribution_bounds_per_group => (0, 50)) AS n FROM lineitems GROUP BY product"
    )
    assert sensitivity(shop, asked) == 2 * 50
    again = (
        "SELECT channel, COUNT(*) FROM (SELECT customer_id, channel, ordered_on FROM orders "
        "GROUP BY customer_id, channel, ordered_on) AS t GROUP BY channel"
    )
    assert sensitivity(shop, again) == 10  # grouped by one thing more than the answer: many rows in a group


def test_written_decimals_are_added_as_decimals(shop: Session) -> None:
    exact = shop.explain("SELECT COUNT(*) FROM orders WHERE shipping <= 0.06 + 0.01").sql
    assert exact == shop.explain("SELECT COUNT(*) FROM orders WHERE shipping <= 0.07").sql
    assert value(shop, "SELECT SUM(list_price) * 0.5 FROM products WHERE name = 'pen'") == 1.25


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) COUNT(*) FROM orders", "WITH DIFFERENTIAL_PRIVACY"),
        ("SELECT COUNT(*) FROM orders WHERE shipping > (SELECT COUNT(*) FROM products)", "Ask it first"),
    ],
)
def test_a_refusal_proposes_what_works(sql: str, hint: str, shop: Session) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        shop.explain(sql)
    assert hint in str(refused.value)


def test_that_a_unit_is_there_is_said_for_nothing(shop: Session) -> None:
    plain = shop.explain("SELECT COUNT(*) FROM orders WHERE channel = 'web'")
    cautious = shop.explain("SELECT COUNT(*) FROM orders WHERE channel = 'web' AND customer_id IS NOT NULL")
    assert cautious.sql == plain.sql
    with pytest.raises(UnsupportedQuery):  # nothing but a mistake: rows of nobody are in no answer
        shop.explain("SELECT COUNT(*) FROM orders WHERE customer_id IS NULL")


@pytest.mark.parametrize(
    ("condition", "groups"),
    [
        ("(region, segment) IN (('north', 'office'), ('south', 'school'))", 4),
        ("(region = 'north' AND segment = 'office') OR (region = 'south' AND segment <> 'school')", 4),
        ("(region = 'north' AND segment = 'office') OR region = 'south'", 6),
        ("region = 'north' OR segment = 'office'", 12),
        ("(region, segment) NOT IN (('north', 'office'), ('south', 'school'))", 12),
    ],
)
def test_what_a_condition_says_of_a_key_alone_narrows_its_values(shop: Session, condition: str, groups: int) -> None:
    quote = shop.explain(
        f"SELECT region, segment, COUNT(*) AS n FROM customers WHERE {condition} GROUP BY region, segment"
    )
    assert f"All {groups} groups of the declared domain are listed, empty ones included" in " ".join(quote.notes)
