"""The policy's min_units: groups of fewer units never appear, listed or not; what would list them is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.privacy.sampling import Integers
from dpsql.session import Session
from tests.connected import connected

POLICY = """
version: 1
name: small
engine: {kind: duckdb, database: small.duckdb}
neighbours: add_remove
budget:
  ledger: small.ledger.db
  composition: basic
  total: {epsilon: 10000, delta: 1.0e-1}
  analysts: {"*": {epsilon: 10000, delta: 1.0e-1}}
  per_query: {epsilon: 20, delta: 1.0e-6}
metrics:
  home:
    table: patients
    combine: sum
    presence: 1.0
    attributes: {city: {kind: discrete, epsilon: 0.5}}
    limit: {city: 100, presence: 100}
tables:
  patients:
    unit: pid
    key: pid
    rows_per_unit: 1
    min_units: 10
    columns:
      city: {type: text, values: [a, b, c, d]}
      town: {type: text}
      age:  {type: integer, bounds: [0, 110]}
  visits:
    unit: pid
    rows_per_unit: 2
    columns:
      ward: {type: text, values: [x, y]}
"""
SIZES = {"a": 40, "b": 14, "c": 9}


class Upward(dpsql.testing.Noiseless):
    """Noise that is always 1000 upward: whatever can appear does."""

    def laplace(self, scale: Any, size: int) -> Integers:
        """(size,) of it."""
        return super().laplace(scale, size) + 1000


def opened(folder: Path, sampler: Any) -> dpsql.testing.TestProxy:
    values = ", ".join(
        f"({who}, '{city}', '{city * 2}', 30)"
        for who, city in enumerate(city for city, size in SIZES.items() for _ in range(size))
    )
    with connected(folder / "small.duckdb") as database:
        database.execute(f"CREATE TABLE patients AS FROM (VALUES {values}) AS t(pid, city, town, age)")
        database.execute("CREATE TABLE visits AS SELECT pid, 'x' AS ward FROM patients WHERE pid < 8 OR pid > 50")
    (folder / "small.yaml").write_text(POLICY)
    return dpsql.testing.open(folder / "small.yaml", sampler=sampler)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("small"), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize("key", ["city", "town", "city || town"])
@pytest.mark.parametrize("what", ["COUNT(DISTINCT pid)", "COUNT(*)", "AVG(age)", "SUM(age), COUNT(age)"])
def test_small_groups_are_hidden_listed_or_not(session: Session, key: str, what: str) -> None:
    shown = session.query(f"SELECT {key}, {what} FROM patients GROUP BY 1").rows
    assert [str(row[0])[0] for row in shown] == ["a", "b"]


@pytest.mark.parametrize("sql", ["SELECT DISTINCT town FROM patients", "SELECT DISTINCT town, age FROM patients"])
def test_names_of_groups_alone_are_hidden_too(session: Session, sql: str) -> None:
    assert [row[0] for row in session.query(sql).rows] == ["aa", "bb"]


def test_no_noise_shows_a_group_that_is_too_small(tmp_path: Path) -> None:
    with opened(tmp_path, Upward()) as proxy:
        session = proxy.session(analyst="ana")
        assert [row[0] for row in session.query("SELECT city, COUNT(*) FROM patients GROUP BY 1").rows] == ["a", "b"]


def test_the_threshold_is_raised_and_the_price_is_not(session: Session) -> None:
    sql = "SELECT ward, COUNT(DISTINCT pid) FROM {} GROUP BY 1"
    joined = sql.format("visits JOIN patients USING (pid)")
    plain, least = (
        session.explain(text, group_selection_strategy="LAPLACE_THRESHOLD", epsilon=1)
        for text in (sql.format("visits"), joined)
    )
    assert plain.cost == least.cost
    appears = [int(str(quote).split("from about ")[1].split()[0]) for quote in (plain, least)]
    assert appears[1] == appears[0] + 9
    assert "fewer than 10 units are never shown" in str(least)


def test_tables_without_it_list_their_groups(session: Session) -> None:
    assert len(session.query("SELECT ward, COUNT(*) FROM visits GROUP BY ward").rows) == 2


def test_a_number_without_groups_is_answered(session: Session) -> None:
    assert session.query("SELECT COUNT(*) FROM patients WHERE city = 'c'").rows == [(9,)]


@pytest.mark.parametrize(
    ("sql", "options"),
    [
        ("SELECT city, COUNT(*) FROM patients GROUP BY city", {"group_selection_strategy": "PUBLIC_GROUPS"}),
        ("SELECT city, COUNT(*) FROM patients GROUP BY city", {"metric": "home", "multiple": 1}),
        ("SELECT city, COUNT(*) FROM patients GROUP BY ROLLUP (city)", {}),
        ("SELECT city, COUNT(*) FROM patients GROUP BY GROUPING SETS ((), (city))", {}),
        ("SELECT city, COUNT(*) FROM (SELECT DISTINCT city FROM patients) GROUP BY city", {}),
    ],
)
def test_what_would_list_every_group_is_refused(session: Session, sql: str, options: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedQuery, match="min_units"):
        session.explain(sql, **options)


def test_without_delta_it_is_refused_with_what_to_write(tmp_path: Path) -> None:
    opened(tmp_path, dpsql.testing.Noiseless()).close()
    text = POLICY.replace("per_query: {epsilon: 20, delta: 1.0e-6}", "per_query: {epsilon: 20}")
    (tmp_path / "small.yaml").write_text(text)
    with dpsql.testing.open(tmp_path / "small.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        with pytest.raises(UnsupportedQuery, match=r"min_units.*delta = 1e-8"):
            session.explain("SELECT city, COUNT(*) FROM patients GROUP BY city")
