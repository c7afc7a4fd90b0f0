"""Missing values where the policy says that none is missing: their number must not come out.

Under replace_one a table with one row for every unit has a public number of rows. The number of values in a column is
public only if none is NULL or NaN, and nothing in the data is held to what the policy says of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.engine.base import EngineStatement
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from tests.connected import connected

POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb, deadline: 60s}
neighbours: replace_one
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 300, delta: 0.1}
  analysts: {ana: {epsilon: 200, delta: 0.1}}
  per_query: {epsilon: 5}
tables:
  people:
    unit: person
    rows_per_unit: 1
    every_unit: true
    rows_about: 1000
    columns:
      income: {type: real, centre: 1000, spread: 300, scale: [1, 5000]}
      age: {type: integer, bounds: [0, 110], centre: 40, spread: 20}
"""
QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "SELECT MEDIAN(income) FROM people": {"mechanism": "preprocessing"},
    "SELECT VAR_POP(income) FROM people": {"mechanism": "preprocessing"},
    "SELECT AVG(age), STDDEV(age) FROM people": {"mechanism": "preprocessing"},
    "SELECT AVG(income) FROM people": {"mechanism": "friendly_core", "delta": 1e-3},
}


class Counting(Session):
    """A session that keeps how many values the engine counted."""

    counted: int = 0

    def _run(self, statement: EngineStatement) -> RawTable:
        table = super()._run(statement)
        self.counted += int(sum(table.column("rows")))
        return table

    def _run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        return [self._run(statement) for statement in statements]  # each is seen


def written(folder: Path, missing: str) -> Path:
    """The policy over 1000 people, one of whom has this income, and a NULL age unless it is 1000; beside the data."""
    (folder / "clinic.yaml").write_text(POLICY)
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS person, CASE WHEN i = 0 THEN {missing} ELSE 900.0 + i % 200 END "
            f"AS income, CASE WHEN i > 0 OR '{missing[0]}' = '1' THEN i % 90 END AS age FROM range(1000) t(i)"
        )
    return folder / "clinic.yaml"


MISSING = ["NULL", "CAST('nan' AS DOUBLE)", "1000.0"]


@pytest.fixture(scope="module", params=MISSING)
def sessions(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Counting]]:
    policy = written(tmp_path_factory.mktemp("clinic"), request.param)
    with dpsql.testing.open(policy, dpsql.testing.Noiseless()) as proxy:
        yield lambda: Counting(proxy._backend, "ana")


@pytest.mark.parametrize("sql", QUESTIONS)
def test_every_row_counts_where_the_number_of_rows_is_taken_as_public(
    sessions: Callable[[], Counting], sql: str
) -> None:
    session = sessions()
    session.query(sql, **QUESTIONS[sql])
    assert session.counted == 1000


def test_an_interval_is_as_wide_whatever_is_missing(sessions: Callable[[], Counting]) -> None:
    answer = sessions().query("SELECT MEDIAN(income) AS m FROM people", mechanism="preprocessing", epsilon=4)
    ((low, high),) = answer.interval("m")
    assert low is not None
    assert high is not None
    assert high - low == pytest.approx(2 * 2 * 0.9 / 4 * 2.995732, rel=1e-5)  # twice ln 20 times 2 Delta / epsilon


def test_a_missing_value_stands_at_the_centre(sessions: Callable[[], Counting]) -> None:
    (answer,) = sessions().query("SELECT AVG(income) FROM people", mechanism="preprocessing").rows
    assert answer == (pytest.approx(sum(900 + i % 200 for i in range(1, 1000)) / 1000 + 1),)
