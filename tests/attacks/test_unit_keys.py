"""A key that is the unit: what the plan relies on, the bounded view enforces, whatever rows_per_unit says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
from dpsql.testing import Noiseless, TestProxy

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 1000}
  analysts: {ana: {epsilon: 1000}}
  per_query: {epsilon: 1}
tables:
  patients:
    unit: patient
    key: patient
    rows_per_unit: 5
    columns: {age: {type: integer, bounds: [0, 110]}}
  visits:
    unit: patient
    key: visit
    rows_per_unit: 4
    columns: {cost: {type: integer, bounds: [0, 9]}}
  bills:
    unit: {via: patients, on: patient}
    key: patient
    rows_per_unit: 3
    columns: {amount: {type: integer, bounds: [0, 9]}}
"""
MOVES = {
    "SELECT COUNT(*) FROM patients": 1,
    "SELECT COUNT(*) FROM visits JOIN patients USING (patient)": 4,
    "SELECT COUNT(*) FROM patients a JOIN patients b USING (patient)": 1,
    "SELECT SUM(p.age) FROM visits v JOIN patients p USING (patient)": 4 * 110,
    "SELECT COUNT(*) FROM visits v LEFT JOIN patients p USING (patient)": 4,
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (patient)": 4,
    "SELECT COUNT(*) FROM visits JOIN bills USING (patient)": 4,
    "SELECT COUNT(*) FROM bills": 1,
}
"""Statements, and how far the third patient, who has 5 rows, 4 visits and 3 bills, may move them."""


def proxy(folder: Path, patients: Collection[int]) -> TestProxy:
    """The clinic with these patients, and answers without noise."""
    folder.mkdir()
    (folder / "clinic.yaml").write_text(POLICY)
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients (patient INTEGER, age INTEGER)")
        connection.execute("CREATE TABLE visits (patient INTEGER, visit INTEGER, cost INTEGER)")
        connection.execute("CREATE TABLE bills (patient INTEGER, amount INTEGER)")
        for patient in patients:
            rows, visits, bills = (5, 4, 3) if patient == 3 else (1, 1, 1)
            connection.execute(f"INSERT INTO patients SELECT {patient}, 110 FROM range({rows})")
            connection.execute(f"INSERT INTO visits SELECT {patient}, range, 9 FROM range({visits})")
            connection.execute(f"INSERT INTO bills SELECT {patient}, 9 FROM range({bills})")
    return dpsql.testing.open(folder / "clinic.yaml", Noiseless())


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestProxy, TestProxy]]:
    folder = tmp_path_factory.mktemp("keys")
    with proxy(folder / "everybody", (1, 2, 3)) as everybody, proxy(folder / "without", (1, 2)) as without:
        yield everybody, without


@pytest.mark.parametrize("sql", MOVES)
def test_a_join_on_a_key_that_is_the_unit_meets_one_row(sides: tuple[TestProxy, TestProxy], sql: str) -> None:
    with_third, without = (side.session(analyst="ana").query(sql).rows[0][0] for side in sides)
    assert abs(with_third - without) == MOVES[sql]
