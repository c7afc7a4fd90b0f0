"""Joins on keys of several columns: no unit has more rows than the noise is for, tried with all tables of one unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
from dpsql.session import Session

YEARS, CAP = range(1, 6), 4
POLICY = """\
version: 1
name: panel
engine: {kind: duckdb, database: panel.duckdb}
neighbours: add_remove
budget:
  ledger: panel.ledger.db
  composition: basic
  total: {epsilon: 100, delta: 1.0e-3}
  analysts: {"*": {epsilon: 100, delta: 1.0e-3}}
  per_query: {epsilon: 1}
tables:
  waves:
    unit: person
    key: [person, year]
    rows_per_unit: 4
    columns:
      year: {type: integer, bounds: [1, 5]}
      next: {type: integer, bounds: [1, 9]}
      part: {type: real, bounds: [1, 5]}
"""
WAVES = "waves a JOIN waves b ON a.person = b.person"
AFTER = f"{WAVES} AND b.year = a.year + 1"
LEFT = "waves a LEFT JOIN waves b ON a.person = b.person"
CASES = {
    "the year after": (AFTER, CAP),
    "the other way round": (f"{WAVES} AND a.year + 1 = b.year", CAP),
    "in WHERE": (f"{WAVES} WHERE b.year = a.year + 1", CAP),
    "of both sides": (f"{WAVES} AND b.year - a.year = 1", CAP * CAP),
    "of no key": (f"{WAVES} AND b.next = a.year + 1", CAP * CAP),
    "of reals": (f"{WAVES} AND b.year = a.part + 1", CAP * CAP),
    "the middle": (f"{WAVES} AND b.year = (a.year + 3) // 2", CAP),
    "from the middle": (f"{WAVES} AND a.year // 2 = b.year // 2", CAP * CAP),
    "what stays": (f"{LEFT} AND b.year = a.year + 1", CAP),
    "what stays, seen from the right": (f"{LEFT} AND a.year = b.year // 2 + 1", 2 * CAP - 1),
    "what stays, filtered": (f"{LEFT} WHERE b.year = a.year + 1", CAP),
    "what has no partner": (f"{LEFT} AND b.year = a.year + 1 WHERE b.year IS NULL", CAP),
    "three waves": (f"{AFTER} JOIN waves c ON c.person = b.person AND c.year = b.year + 1", CAP),
    "by one who is joined later": (f"{WAVES} JOIN waves c ON c.person = b.person WHERE b.year = c.year + 1", CAP**3),
}  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("panel")
    (folder / "panel.yaml").write_text(POLICY)
    with duckdb.connect(str(folder / "panel.duckdb")) as connection:
        connection.execute("CREATE TABLE waves AS SELECT 1 AS person, 1 AS year, 2 AS next, 1.0 AS part")
    with dpsql.testing.open(Path(folder, "panel.yaml"), sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.fixture(scope="module")
def everybody() -> Iterator[duckdb.DuckDBPyConnection]:
    """One person for each choice of years, with each number in the other columns."""
    tables = chain.from_iterable(combinations(YEARS, n) for n in range(1, CAP + 1))
    people = enumerate(product(tables, YEARS))
    rows = [(person, year, other, other - 1) for person, (years, other) in people for year in years]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE waves (person INTEGER, year INTEGER, next INTEGER, part DOUBLE)")
        connection.executemany("INSERT INTO waves VALUES (?, ?, ?, ?)", rows)
        yield connection


@pytest.mark.parametrize(("rows", "bound"), CASES.values(), ids=CASES)
def test_no_unit_has_more_rows_than_the_noise_is_for(
    session: Session, everybody: duckdb.DuckDBPyConnection, rows: str, bound: int
) -> None:
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace')"
    (column,) = session.explain(f"SELECT {options} COUNT(*) AS n FROM {rows}").columns
    assert column.sensitivity == bound
    of_each = everybody.execute(f"SELECT count(*) FROM {rows} GROUP BY a.person").fetchall()
    assert 0 < max(n for (n,) in of_each) <= bound


@pytest.mark.parametrize("key", ["a.year", "b.year", "a.next", "a.year // 2"])
@pytest.mark.parametrize("rows", [rows for rows, _ in CASES.values()], ids=CASES)
def test_no_unit_has_more_rows_in_groups_than_the_noise_is_for(
    session: Session, everybody: duckdb.DuckDBPyConnection, rows: str, key: str
) -> None:
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM {rows} GROUP BY k"
    (column,) = session.explain(sql, epsilon=1, delta=1e-6, mechanism="gaussian").columns
    squares = everybody.execute(
        f"SELECT SUM(n * n) FROM (SELECT a.person, {key} AS k, COUNT(*) AS n FROM {rows} GROUP BY ALL) GROUP BY person"
    ).fetchall()
    assert column.sensitivity is not None
    assert 0 < max(square for (square,) in squares) <= column.sensitivity**2 * (1 + 1e-9)


def test_each_unit_is_once_in_a_group_by_the_year(session: Session) -> None:
    sql = f"SELECT a.year, COUNT(*) AS n FROM {AFTER} GROUP BY a.year"
    (column,) = session.explain(sql, epsilon=1, delta=1e-6, mechanism="gaussian").columns
    assert column.sensitivity == pytest.approx(CAP**0.5)
