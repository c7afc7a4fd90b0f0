"""Groups of computed keys: all that occur are listed, and conditions on the key leave those alone that meet them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.session import Session
from tests.connected import connected
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  stays:
    unit: patient
    rows_per_unit: 3
    columns:
      came: {type: timestamp, bounds: [2023-01-01 00:00:00, 2024-12-31 23:59:59]}
      left_on: {type: date, bounds: [2023-01-01, 2024-12-31], nullable: true}
      cost: {type: real, bounds: [0, 9000], grid: 0.01, nullable: true}
      nights: {type: integer, bounds: [0, 40]}
"""
MADE = (
    "CREATE TABLE stays AS SELECT i // 3 AS patient, "
    "TIMESTAMP '2023-01-01' + INTERVAL 1 SECOND * ((i * 7919) % 63158400) AS came, "
    "CASE WHEN i % 11 > 0 THEN DATE '2023-01-01' + (i * 37 % 731)::INTEGER END AS left_on, "
    "CASE WHEN i % 7 > 0 THEN (i * 131 % 900000) / 100 END AS cost, i % 41 AS nights FROM range(9000) AS t(i)"
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("listing"), MADE, policy(TABLES))


@pytest.fixture(scope="module")
def raw() -> Iterator[duckdb.DuckDBPyConnection]:
    with connected() as connection:
        connection.execute(MADE)
        yield connection


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("key", "condition", "many"),
    [
        ("year(came)", "year(came) BETWEEN 2024 AND 2030", 1),
        ("year(came)", "year(came) >= 2024", 1),
        ("date_trunc('month', came)", "year(came) = 2024", 12),
        ("date_trunc('month', came)", "year(came) = 2024 AND month(came) IN (2, 3)", 2),
        ("came::DATE", "came::DATE BETWEEN '2024-03-01' AND '2024-03-07'", 7),
        (
            "(came - INTERVAL 5 HOUR)::DATE",
            "came >= '2024-03-01' AND came < TIMESTAMP '2024-03-01' + INTERVAL 2 DAY",
            3,
        ),
        ("date_trunc('hour', came - INTERVAL 90 MINUTE)", "came BETWEEN '2024-03-01' AND '2024-03-01 02:00:00'", 3),
        (
            "dayname(came + INTERVAL 1 MONTH)",
            "(came + INTERVAL 1 MONTH)::DATE BETWEEN '2024-03-01' AND '2024-03-03'",
            3,
        ),
        ("floor(cost / 1000)", "floor(cost / 1000) < 5", 5),
        ("floor(cost / 1000)", "cost < 5000", 7),  # with 5 and NULL, which such rows have not
        ("nights // 7", "nights // 7 <> 2", 5),
        ("month(left_on)", "quarter(left_on) = 2", 3),
        ("cost > 1000", "cost > 1000", 1),
        ("date_trunc('hour', came)", "came::DATE = DATE '2024-07-04'", 24),
        ("date_trunc('hour', came)", "came::DATE BETWEEN DATE '2024-07-04' AND DATE '2024-07-05'", 48),
        ("date_trunc('hour', came)", "date_trunc('day', came) = DATE '2024-07-04'", 24),
        ("date_trunc('hour', came)", "date_trunc('day', came)::DATE >= '2024-12-31'", 24),
        ("date_trunc('hour', came)", "came + INTERVAL 1 DAY < '2023-01-02 03:00:00'", 3),
        ("date_trunc('hour', came)", "came::DATE IN ('2024-07-04', '2024-07-05') OR came::DATE = '2024-07-06'", 72),
        (
            "date_trunc('hour', came)",
            "NOT (came::DATE < '2024-07-04' OR date_trunc('month', came) > '2024-07-01')",
            28 * 24,
        ),
        ("left_on", "year(left_on) = 2024 AND last_day(left_on) <= '2024-02-29'", 31 + 29),
        ("date_trunc('month', came)", "hour(came) = 14", 24),  # which days have such an hour is not looked at
    ],
)
def test_a_condition_on_the_key_leaves_the_groups_that_meet_it(
    session: Session, key: str, condition: str, many: int
) -> None:
    found = session.query(f"SELECT {key} AS k, COUNT(*) AS n FROM stays WHERE {condition} GROUP BY k", epsilon=1)
    assert len(found.rows) == many


KEYS = (
    "year(came)", "date_trunc('month', came)", "came::DATE", "dayname(came)", "hour(came)", "strftime(came, '%Y-%m')",
    "(came - INTERVAL 5 HOUR)::DATE", "date_trunc('month', came + INTERVAL 1 MONTH - INTERVAL 90 MINUTE)",
    "dayname(came - INTERVAL 1 SECOND)", "strftime(came + INTERVAL 1 YEAR, '%Y-%m')", "hour(came - INTERVAL 5 HOUR)",
    "floor(cost / 1000)", "cost > 4000", "nights // 7", "quarter(left_on)", "year(left_on) * 100 + month(left_on)",
    "CASE WHEN cost < 100 THEN 'low' WHEN cost < 5000 THEN 'mid' END", "left_on IS NULL", "nights % 2 = 0",
)  # fmt: skip
CONDITIONS = (
    "(came - INTERVAL 5 HOUR)::DATE > '2024-02-28'", "came - INTERVAL 1 MONTH < '2023-06-15 12:00:00'",
    "year(came) >= 2024", "month(came) IN (1, 7)", "came < '2023-06-15 12:00:00'", "came::DATE > '2024-02-28'",
    "hour(came) < 3", "NOT (hour(came) BETWEEN 2 AND 20)", "dayname(came) LIKE 'S%'", "cost < 5000", "cost > 4000",
    "floor(cost / 1000) IN (2, 4)", "cost IS NULL", "floor(cost / 1000) IS NULL OR cost > 8000", "nights // 7 <> 2",
    "nights < 9", "nights % 2 = 0", "left_on >= '2024-01-01'", "quarter(left_on) = 2 OR nights < 3",
    "quarter(left_on) = 2 OR left_on IS NULL", "year(left_on) * 100 + month(left_on) > 202406",
    "CASE WHEN cost < 100 THEN 'low' WHEN cost < 5000 THEN 'mid' END = 'mid'",
    "came::DATE IN ('2024-03-01', '2024-02-28')", "NOT (date_trunc('month', came) < '2024-03-01')",
    "last_day(left_on) = '2024-02-29' OR left_on IS NULL", "NOT (year(left_on) <> 2024)",
)  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(40))
def test_every_group_that_occurs_is_listed(session: Session, raw: duckdb.DuckDBPyConnection, seed: int) -> None:
    dice = random.Random(seed)
    keys = dice.sample(KEYS, dice.randint(1, 2))
    where = " AND ".join(dice.sample(CONDITIONS, dice.randint(1, 2)))
    shown = ", ".join(f"{key} AS k{at}" for at, key in enumerate(keys))
    asked = f"SELECT {shown}, COUNT(*) AS n FROM stays WHERE {where} GROUP BY ALL"
    found = session.query(asked, epsilon=1, mechanism="laplace").rows
    assert sorted(map(str, (row for row in found if row[-1]))) == sorted(map(str, raw.execute(asked).fetchall()))


def test_real_branches_of_a_key_are_its_values_as_databases_compute_them(session: Session) -> None:
    """However they are written; and the answer is stored, and found again."""
    key = "CASE WHEN cost < 100 THEN 0.1 WHEN cost < 5000 THEN nights // 21 WHEN cost < 6000 THEN 1e-1 + 0 END"
    for asked in (key, key.replace("0.1", "?")):
        sql, values = f"SELECT {asked} AS k, COUNT(*) AS n FROM stays GROUP BY k", (0.1,) if "?" in asked else ()
        found = session.query(sql, values, epsilon=1, mechanism="laplace")
        assert [row[0] for row in found.rows] == [0.0, 0.1, 1.0, None]
        assert all(row[1] > 0 for row in found.rows)
        assert session.query(sql, values, epsilon=1, mechanism="laplace").rows == found.rows
