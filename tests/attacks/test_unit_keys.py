"""A key that is the unit: what the plan relies on, the bounded view enforces, whatever rows_per_unit says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.testing import Noiseless, TestProxy
from tests.connected import connected

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
  waves:
    unit: patient
    key: [patient, wave]
    rows_per_unit: 4
    columns: {wave: {type: integer, bounds: [1, 3]}, score: {type: integer, bounds: [0, 9]}}
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
    "SELECT COUNT(*) FROM waves": 3,
    "SELECT COUNT(*) FROM waves a JOIN waves b USING (patient, wave)": 3,
    "SELECT MAX(n) FROM (SELECT wave, COUNT(*) AS n FROM waves GROUP BY wave)": 1,
}
"""Statements, and how far the third patient, who has 5 rows, 4 visits, 3 bills and 3 waves, may move them."""


def written(folder: Path, patients: Collection[int]) -> Path:
    """The policy of the clinic with these patients, beside its data."""
    folder.mkdir()
    (folder / "clinic.yaml").write_text(POLICY)
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE patients (patient INTEGER, age INTEGER)")
        connection.execute("CREATE TABLE visits (patient INTEGER, visit INTEGER, cost INTEGER)")
        connection.execute("CREATE TABLE waves (patient INTEGER, wave INTEGER, score INTEGER)")
        connection.execute("CREATE TABLE bills (patient INTEGER, amount INTEGER)")
        for patient in patients:
            rows, visits, bills = (5, 4, 3) if patient == 3 else (1, 1, 1)
            connection.execute(f"INSERT INTO patients SELECT {patient}, 110 FROM range({rows})")
            connection.execute(f"INSERT INTO visits SELECT {patient}, range, 9 FROM range({visits})")
            connection.execute(f"INSERT INTO waves SELECT {patient}, 1 + range // 2, 9 FROM range({2 * bills})")
            connection.execute(f"INSERT INTO waves SELECT {patient}, 3 + range, range FROM range({bills})")
            connection.execute(f"INSERT INTO waves VALUES ({patient}, NULL, 9)")
            connection.execute(f"INSERT INTO bills SELECT {patient}, 9 FROM range({bills})")
    return folder / "clinic.yaml"


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestProxy, TestProxy]]:
    folder = tmp_path_factory.mktemp("keys")
    policies = written(folder / "everybody", (1, 2, 3)), written(folder / "without", (1, 2))
    with (
        dpsql.testing.open(policies[0], Noiseless()) as everybody,
        dpsql.testing.open(policies[1], Noiseless()) as without,
    ):
        yield everybody, without


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", MOVES)
def test_a_join_on_a_key_that_is_the_unit_meets_one_row(sides: tuple[TestProxy, TestProxy], sql: str) -> None:
    with_third, without = (side.session(analyst="ana").query(sql).rows[0][0] for side in sides)
    assert abs(with_third - without) == MOVES[sql]


def test_no_two_rows_of_a_unit_are_alike_in_a_key_of_several_columns(sides: tuple[TestProxy, TestProxy]) -> None:
    session = sides[0].session(analyst="ana")
    assert session.query("SELECT wave, COUNT(*) AS n FROM waves GROUP BY wave ORDER BY 1").rows == [
        (1, 3),
        (2, 1),
        (3, 3),
    ]


def test_a_key_of_several_columns_that_are_all_grouped_by_caps_the_rows_of_a_group(
    sides: tuple[TestProxy, TestProxy],
) -> None:
    session = sides[0].session(analyst="ana")
    by_wave = session.explain("SELECT wave, COUNT(*) AS n FROM waves GROUP BY wave").columns[-1]
    capped = session.explain("SELECT wave, COUNT(*) AS n FROM waves GROUP BY wave", max_rows_per_group=1).columns[-1]
    without = session.explain("SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost").columns[-1]
    assert by_wave.scale == capped.scale
    assert by_wave.scale is not None
    assert without.scale is not None
    assert by_wave.scale == without.scale * 3 / 4  # at most 3 waves of a patient, and 4 visits
