"""Keys of one public table are listed as they stand together there, and everything else is combined freely."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.plan.measured.combined import listed_groups, most_groups_listed
from dpsql.plan.plans import Plan
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from tests.connected import connected
from tests.unit.mechanisms.shop import policy

TABLES = """
  sales:
    unit: person
    rows_per_unit: 20
    rows_about: 3000
    columns:
      item: {type: integer, bounds: [0, 700]}
      paid: {type: boolean}
      amount: {type: integer, bounds: [0, 9]}
  items: {public: true, key: id}
"""
ITEMS = (
    "CREATE TABLE items AS SELECT i AS id, 'item ' || i AS title, 'kind ' || i % 7 AS kind, i * 0.5::DOUBLE AS price, "
    "CASE WHEN i % 5 > 0 THEN i % 3 = 0 END AS fresh, DATE '2020-01-01' + (i % 50)::INTEGER AS since, "
    "CASE WHEN i % 4 > 0 THEN TIMESTAMP '2020-01-01' + to_hours(i % 9) END AS seen FROM range(500) AS t(i)"
)
SALES = (
    "CREATE TABLE sales AS SELECT (i % 200)::VARCHAR AS person, (hash(i) % 650)::INTEGER AS item, i % 3 = 0 AS paid, "
    "i % 10 AS amount FROM range(3000) AS t(i)"
)
INNER, LEFT = "sales JOIN items AS p ON item = p.id", "sales LEFT JOIN items AS p ON item = p.id"
COLUMNS = ("title", "kind", "price", "fresh", "since", "seen")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("combined")
    with connected(folder / "shop.duckdb") as connection:
        connection.execute(ITEMS)
        connection.execute(SALES)
    (folder / "shop.yaml").write_text(policy(TABLES, delta=True))
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    with dpsql.testing.open(folder / "shop.yaml", dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.fixture(scope="module")
def exact(folder: Path, session: Session) -> Iterator[duckdb.DuckDBPyConnection]:
    with connected() as connection:
        connection.execute(ITEMS)
        connection.execute(SALES)
        yield connection


def plan_of(session: Session, sql: str) -> Plan:
    statement = parse(sql)
    assert isinstance(statement, QueryStatement)
    plan = session._plan(statement.select, ())
    assert isinstance(plan, Plan)
    return plan


def rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    return session.query(sql, mechanism="laplace").rows


def test_only_pairs_of_the_public_table_are_listed(session: Session) -> None:
    found = rows(session, f"SELECT p.title, p.kind, COUNT(*) FROM {INNER} GROUP BY p.title, p.kind")
    assert {row[:2] for row in found} == {(f"item {i}", f"kind {i % 7}") for i in range(500)} and len(found) == 500


def test_a_left_join_adds_the_one_group_of_rows_without_a_partner(session: Session) -> None:
    found = rows(session, f"SELECT p.title, p.kind, COUNT(*) FROM {LEFT} GROUP BY p.title, p.kind")
    assert len(found) == 501 and found[-1][:2] == (None, None) and found[-1][2] > 0


def test_pairs_cost_no_delta_however_many_values_each_key_has(session: Session) -> None:
    quote = session.explain(f"SELECT p.id, p.title, p.price, COUNT(*) FROM {INNER} GROUP BY p.id, p.title, p.price")
    assert "All 500 groups of the declared domain are listed, empty ones included." in quote.notes
    assert len(rows(session, f"SELECT p.id, p.title, p.price, COUNT(*) FROM {INNER} GROUP BY ALL")) == 500


@pytest.mark.parametrize(
    "aggregate", ["COUNT(*)", "COUNT(DISTINCT person)", "SUM(amount)", "AVG(amount)", "MEDIAN(amount)"]
)
def test_each_way_of_reading_finds_the_groups_of_long_lists(session: Session, aggregate: str) -> None:
    found = session.query(f"SELECT p.id, p.title, p.price, paid, {aggregate} FROM {INNER} GROUP BY ALL")
    assert len(found) == 1000


def test_columns_of_the_private_table_and_of_two_public_ones_are_combined_freely(session: Session) -> None:
    assert len(rows(session, f"SELECT amount, p.kind, COUNT(*) FROM {INNER} GROUP BY amount, p.kind")) == 70
    two = f"{INNER} JOIN items AS q ON amount = q.id"
    assert len(rows(session, f"SELECT p.kind, q.fresh, COUNT(*) FROM {two} GROUP BY p.kind, q.fresh")) == 21
    assert len(rows(session, f"SELECT p.id, p.kind, paid, COUNT(*) FROM {INNER} GROUP BY ALL")) == 1000


def test_what_is_made_of_one_public_column_is_listed_once_for_each_of_its_values(session: Session) -> None:
    assert len(rows(session, f"SELECT p.kind, upper(p.kind) AS k, COUNT(*) FROM {INNER} GROUP BY ALL")) == 7
    assert (
        len(rows(session, f"SELECT p.kind || p.fresh::TEXT AS k, COUNT(*) FROM {INNER} GROUP BY ALL")) == 15
    )  # NULL is one


def test_what_a_unit_may_hold_is_bounded_as_before(session: Session) -> None:
    def sensitivity(keys: str) -> object:
        asked = f"SELECT {keys}, COUNT(*) AS n FROM {INNER} GROUP BY {keys}"
        return session.explain(asked, mechanism="laplace").columns[-1].sensitivity

    assert sensitivity("p.title, p.kind") == sensitivity("p.title") == sensitivity("amount, p.kind")


def test_conditions_on_the_keys_narrow_the_pairs(session: Session) -> None:
    keys = f"SELECT p.title, p.kind, COUNT(*) FROM {LEFT} WHERE {{}} GROUP BY p.title, p.kind"
    assert len(rows(session, keys.format("p.kind = 'kind 3'"))) == 71
    assert len(rows(session, keys.format("p.title LIKE '%9' AND p.kind > 'kind 4'"))) == len(
        [i for i in range(500) if i % 10 == 9 and i % 7 > 4]
    )
    assert len(rows(session, keys.format("length(p.title) = length(p.kind)"))) == 10
    assert rows(session, keys.format("p.title IS NULL AND p.kind IS NULL"))[0][:2] == (None, None)
    none = keys.format("p.title = 'item 1' AND p.kind = 'kind 2'")
    with pytest.raises(UnsupportedQuery, match="no group meets the conditions, so that the answer would have no row"):
        session.explain(none)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("rows_of", "where"),
    [
        (INNER, "WHERE p.kind = 'kind 3'"),
        ("sales, items AS p", "WHERE item = p.id AND p.kind = 'kind 3' AND paid"),
        ("sales JOIN (SELECT * FROM items WHERE kind = 'kind 3') AS p ON item = p.id", ""),
        ("sales JOIN (SELECT id AS item FROM items WHERE kind = 'kind 3') AS p USING (item)", ""),
        ("sales", "WHERE item IN (SELECT id FROM items WHERE kind = 'kind 3')"),
        ("sales", "WHERE EXISTS (SELECT 1 FROM items AS p WHERE p.id = item AND p.kind = 'kind 3')"),
        (f"(SELECT person, item, COUNT(*) AS k FROM {INNER} WHERE p.kind = 'kind 3' GROUP BY person, item)", ""),
    ],
)
def test_what_equals_a_public_column_has_the_values_of_the_rows_that_meet_the_conditions(
    session: Session, exact: duckdb.DuckDBPyConnection, rows_of: str, where: str
) -> None:
    asked = f"SELECT item, COUNT(*) AS n FROM {rows_of} {where} GROUP BY item"
    found = rows(session, asked)
    assert [row[0] for row in found] == [i for i in range(500) if i % 7 == 3]
    assert sorted(row for row in found if row[-1]) == sorted(exact.execute(asked).fetchall())
    first = session.explain(f"{asked} ORDER BY n LIMIT 3", mechanism="top_k")
    assert "of 71 groups" in str(first)


@pytest.mark.parametrize(
    ("rows_of", "where"),
    [
        (LEFT, "AND p.kind = 'kind 3'"),
        ("sales", "WHERE item NOT IN (SELECT id FROM items WHERE kind = 'kind 3')"),
        ("sales", "WHERE item + 0 IN (SELECT id FROM items WHERE kind = 'kind 3')"),
        ("sales LEFT JOIN (SELECT * FROM items WHERE kind = 'kind 3') AS p ON item = p.id", ""),
    ],
)
def test_what_need_not_equal_a_public_column_keeps_its_values(
    session: Session, exact: duckdb.DuckDBPyConnection, rows_of: str, where: str
) -> None:
    asked = f"SELECT item, COUNT(*) AS n FROM {rows_of} {where} GROUP BY item"
    found = rows(session, asked)
    assert [row[0] for row in found] == list(range(701))
    assert sorted(row for row in found if row[-1]) == sorted(exact.execute(asked).fetchall())


def test_a_key_that_a_left_join_may_leave_without_a_value_is_not_the_other_sides(
    session: Session, exact: duckdb.DuckDBPyConnection
) -> None:
    asked = (
        "SELECT b.item, COUNT(*) AS n FROM (SELECT person, item FROM sales JOIN items AS p ON item = p.id "
        "WHERE p.kind = 'kind 3') AS a LEFT JOIN (SELECT person, item FROM sales WHERE amount > 3) AS b "
        "ON a.person = b.person AND a.item = b.item GROUP BY b.item"
    )
    found = dict(rows(session, asked))
    assert {item: n for item, n in found.items() if n} == dict(exact.execute(asked).fetchall())


def test_grouping_sets_have_the_values_of_an_equal_public_column(
    session: Session, exact: duckdb.DuckDBPyConnection
) -> None:
    asked = f"SELECT item, paid, COUNT(*) FROM {INNER} WHERE p.kind = 'kind 3' GROUP BY ROLLUP (item, paid)"
    found = {row[:-1]: row[-1] for row in rows(session, asked)}
    true = {row[:-1]: row[-1] for row in exact.execute(asked).fetchall()}
    assert true == {group: n for group, n in found.items() if n} and len(found) == 71 * 3 + 1


def test_a_condition_inside_a_left_join_does_not_drop_the_rows_without_a_partner(session: Session) -> None:
    few = "(SELECT * FROM items WHERE kind = 'kind 1' AND fresh) AS p"
    found = rows(session, f"SELECT p.id, p.kind, COUNT(*) FROM sales LEFT JOIN {few} ON item = p.id GROUP BY ALL")
    listed = [i for i in range(500) if i % 7 == 1 and i % 5 and i % 3 == 0]
    assert [row[0] for row in found] == [*listed, None]


def test_the_first_groups_of_an_order_are_of_those_that_exist(session: Session) -> None:
    asked = f"SELECT p.id, p.kind, COUNT(*) AS n FROM {INNER} GROUP BY ALL ORDER BY n DESC LIMIT 5"
    found = session.query(asked, mechanism="top_k").rows
    assert len(found) == 5 and all(kind == f"kind {i % 7}" for i, kind, _ in found)
    assert "of 500 groups" in str(session.explain(asked, mechanism="top_k"))


def test_chosen_groups_are_found_as_before(session: Session) -> None:
    asked = f"SELECT p.kind, p.fresh, COUNT(*) FROM {INNER} GROUP BY ALL"
    chosen = session.query(asked, group_selection_strategy="laplace_threshold", epsilon=50).rows
    assert chosen and {row[:2] for row in chosen} <= {row[:2] for row in rows(session, asked)}


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(16))
def test_answers_are_those_of_duckdb_and_the_empty_groups_that_exist(
    seed: int, session: Session, exact: duckdb.DuckDBPyConnection
) -> None:
    chance = random.Random(seed)
    keys = chance.sample(COLUMNS, chance.randint(2, 3))
    own = [*(f"p.{key}" for key in keys), *(["paid"] if chance.random() < 0.5 else [])]
    joined, where = chance.choice([INNER, LEFT]), chance.choice(["", " WHERE p.kind < 'kind 4'", " WHERE amount > 3"])
    own += ["item"] if joined == INNER and chance.random() < 0.5 else []  # the join makes it the public table's own
    chance.shuffle(own)
    asked = f"SELECT {', '.join(own)}, COUNT(*) AS n, SUM(amount) AS s FROM {joined}{where} GROUP BY {', '.join(own)}"
    found = session.query(asked, mechanism="laplace").rows
    true = {row[:-2]: row[-2:] for row in exact.execute(asked).fetchall()}
    missing = " UNION ALL BY NAME SELECT NULL AS id" if joined == LEFT else ""
    narrowed = where if "kind" in where else ""
    public = f"(SELECT *, id AS item FROM items{missing}) AS p, (VALUES (true), (false)) AS t(paid)"
    listed = set(exact.execute(f"SELECT DISTINCT {', '.join(own)} FROM {public}{narrowed}").fetchall())
    assert {row[:-2] for row in found} == listed and len(found) == len(listed)
    for *group, n, s in found:
        assert (n, s) == true.get(tuple(group), (0, 0)), group


@pytest.mark.every(2)
@pytest.mark.parametrize("keys", [("p.kind", "p.fresh"), ("p.fresh", "paid", "p.kind"), ("paid", "p.since", "p.kind")])
@pytest.mark.parametrize("sets", ["ROLLUP", "CUBE", "pairs"])
def test_grouping_sets_list_what_their_keys_have_together(
    session: Session, exact: duckdb.DuckDBPyConnection, keys: Sequence[str], sets: str
) -> None:
    listed = ", ".join(keys)
    pairs = ", ".join(f"({', '.join(pair)})" for pair in combinations(keys, 2))
    grouped = f"GROUPING SETS ({pairs}, ({keys[-1]}), ())" if sets == "pairs" else f"{sets} ({listed})"
    asked = f"SELECT GROUPING({listed}), {listed}, COUNT(*) FROM {LEFT} GROUP BY {grouped}"
    found = {row[:-1]: row[-1] for row in session.query(asked, mechanism="laplace").rows}
    true = {row[:-1]: row[-1] for row in exact.execute(asked).fetchall()}
    assert true.items() <= found.items()
    assert all(found[group] == 0 for group in found.keys() - true.keys())


@pytest.mark.chance(0, "noise is drawn from fixed words")
@pytest.mark.parametrize("grouped", ["ROLLUP (p.kind, paid, p.fresh)", "ROLLUP (p.fresh, p.kind)"])
def test_totals_are_the_sums_of_the_pairs_that_exist(folder: Path, grouped: str) -> None:
    keys = grouped[len("ROLLUP (") : -1]
    asked = f"SELECT GROUPING({keys}) AS g, {keys}, COUNT(*) AS n FROM {LEFT} GROUP BY {grouped}"
    with dpsql.testing.open(folder / "shop.yaml", dpsql.testing.FixedSampler(7)) as proxy:
        found = proxy.session(analyst="ana").query(asked, mechanism="laplace").rows
    width = keys.count(",") + 1
    finest = [row for row in found if row[0] == 0]
    for bits, *group, total in found:
        kept = [place for place in range(width) if not bits >> (width - 1 - place) & 1]
        assert total == sum(row[-1] for row in finest if all(row[1 + place] == group[place] for place in kept))


def test_the_number_of_groups_is_that_of_the_list(session: Session) -> None:
    plan = plan_of(session, f"SELECT p.kind, paid, p.fresh, p.title, COUNT(*) FROM {LEFT} GROUP BY ALL")
    for size in range(5):
        for places in combinations(range(4), size):
            groups = listed_groups(plan, places)
            assert groups is not None and len(groups) == len({*groups}) == most_groups_listed(plan, places)
            ranks = [
                [(plan.keys[at].domain or ()).index(v) for at, v in zip(places, own, strict=True)] for own in groups
            ]
            assert ranks == sorted(ranks)
            for given in product([False, True], repeat=size):
                known = [place for place, own in zip(places, given, strict=True) if own]
                at = [places.index(place) for place in known]
                held = [sum(all(a[i] == b[i] for i in at) for b in groups[:60]) for a in groups[:60]]
                assert max(held) <= most_groups_listed(plan, places, known) <= len(groups)


def test_answers_of_pairs_are_joined_though_their_values_would_be_too_many(session: Session) -> None:
    both = f"SELECT p.title, p.kind, COUNT(*) AS n FROM {INNER} WHERE {{}} GROUP BY ALL"
    joined = f"SELECT a.title, a.n - b.n FROM ({both.format('paid')}) AS a JOIN ({both.format('NOT paid')}) AS b"
    assert len(session.query(f"{joined} ON a.title = b.title AND a.kind = b.kind")) == 500
    wide = f"SELECT p.id, p.title, p.kind, p.price, MEDIAN(amount) FROM {INNER} GROUP BY ALL"
    assert len(session.query(wide)) == 500


def test_what_is_released_first_is_not_read_when_a_statement_is_planned(session: Session) -> None:
    some = "(SELECT title, kind, id FROM items WHERE price < (SELECT AVG(amount) * 10 FROM sales)) AS p"
    asked = f"SELECT p.title, p.kind, COUNT(*) FROM sales JOIN {some} ON item = p.id GROUP BY ALL"
    try:
        found = session.query(asked)
    except UnsupportedQuery:
        return
    assert len(found) == 3500


def test_rows_of_a_synthetic_table_are_not_read_when_a_statement_is_planned(session: Session) -> None:
    session.query("CREATE SYNTHETIC TABLE made WITH (epsilon = 1) AS SELECT amount, paid FROM sales")
    with pytest.raises(UnsupportedQuery, match="synthetic rows are nobody's"):
        session.query(
            "SELECT m.amount, m.paid, COUNT(*) FROM sales JOIN made AS m ON sales.amount = m.amount GROUP BY ALL"
        )


def test_the_same_statement_is_answered_again_for_nothing(session: Session) -> None:
    asked = f"SELECT p.kind, p.fresh, SUM(amount) FROM {LEFT} GROUP BY ALL"
    first, again = session.query(asked), session.query(asked)
    assert again.replayed and first.rows == again.rows


@pytest.mark.parametrize(
    ("order", "deciding"), [("kind, paid, n", 2), ("n, kind, paid, 3 DESC", 3), ("kind, n, n + 1", 3), ("ALL", 2)]
)
def test_nothing_decides_an_order_of_groups_behind_all_of_their_keys(
    session: Session, order: str, deciding: int
) -> None:
    """So that LIMIT keeps no row for its noise, and intervals stay as they are."""
    sql = f"SELECT kind, paid, COUNT(*) AS n FROM {INNER} GROUP BY kind, paid"
    assert len(plan_of(session, f"{sql} ORDER BY {order} LIMIT 3").order_by) == deciding
    rolled = sql.replace("GROUP BY kind, paid", "GROUP BY ROLLUP (kind, paid)")
    assert len(plan_of(session, f"{rolled} ORDER BY kind, paid, n LIMIT 3").order_by) == 3
