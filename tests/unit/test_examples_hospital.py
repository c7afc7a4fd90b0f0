"""The example hospital is the same every time, and breaks the promises that its docstring says it breaks."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospital.py"
PATIENTS, VISITS = 20_000, 120_000


@pytest.fixture(scope="module")
def build() -> Callable[..., None]:
    function: Callable[..., None] = runpy.run_path(str(EXAMPLE))["build"]
    return function


@pytest.fixture(scope="module")
def hospital(
    build: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    file = tmp_path_factory.mktemp("hospital") / "hospital.duckdb"
    build(file, PATIENTS, VISITS)
    with duckdb.connect(str(file), read_only=True) as connection:
        yield connection


def one(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The first row of the result, or its only value."""
    row = connection.execute(sql).fetchall()[0]
    return row[0] if len(row) == 1 else row


def test_a_second_build_is_identical(build: Callable[..., None], tmp_path: Path) -> None:
    contents = []
    for name in ("a.duckdb", "b.duckdb"):
        build(tmp_path / name, 500, 3000)
        build(tmp_path / name, 500, 3000)  # in place of the first
        with duckdb.connect(str(tmp_path / name), read_only=True) as connection:
            tables = ("cities", "patients", "visits")
            contents.append([connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables])
    assert contents[0] == contents[1]
    assert [len(rows) for rows in contents[0]] == [827, 500, 3000]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.duckdb", "b.duckdb"]


def test_the_tables_have_the_promised_columns(hospital: duckdb.DuckDBPyConnection) -> None:
    columns = {
        table: [row[0] for row in hospital.execute(f"DESCRIBE {table}").fetchall()]
        for table in ("cities", "patients", "visits")
    }
    assert columns == {
        "cities": ["name", "state", "x_km", "y_km", "population", "elevation_m"],
        "patients": ["patient_id", "age", "sex", "city", "weight", "consent"],
        "visits": ["visit_id", "patient_id", "cost", "visited_on", "diagnosis", "department"],
    }


def test_keys_are_unique_and_every_city_is_known(hospital: duckdb.DuckDBPyConnection) -> None:
    assert one(hospital, "SELECT count(DISTINCT name), count(*) FROM cities") == (827, 827)
    assert one(hospital, "SELECT count(DISTINCT patient_id), count(*) FROM patients") == (PATIENTS, PATIENTS)
    assert one(hospital, "SELECT count(DISTINCT visit_id), count(*) FROM visits") == (VISITS, VISITS)
    assert one(hospital, "SELECT count(*) FROM patients WHERE city NOT IN (SELECT name FROM cities)") == 0
    assert one(hospital, "SELECT count(*) FROM visits WHERE patient_id NOT BETWEEN 1 AND 20000") == 0


def test_the_shares_of_missing_values_are_as_promised(hospital: duckdb.DuckDBPyConnection) -> None:
    missing = "avg((x IS NULL)::INTEGER)"
    assert one(hospital, f"SELECT {missing} FROM (SELECT weight AS x FROM patients)") == pytest.approx(0.04, rel=0.15)
    assert one(hospital, f"SELECT {missing} FROM (SELECT cost AS x FROM visits)") == pytest.approx(0.02, rel=0.15)
    assert one(hospital, f"SELECT {missing} FROM (SELECT diagnosis AS x FROM visits)") == pytest.approx(0.05, rel=0.1)
    assert 0 < one(hospital, f"SELECT {missing} FROM (SELECT patient_id AS x FROM visits)") < 0.001


def test_a_few_rows_break_the_sample_policy(hospital: duckdb.DuckDBPyConnection) -> None:
    for table, outside in [
        ("patients", "age > 110"),
        ("visits", "cost > 20000"),
        ("visits", "cost < 0"),
        ("visits", "visited_on > DATE '2025-12-31'"),
    ]:
        assert 0 < one(hospital, f"SELECT avg(({outside})::INTEGER) FROM {table}") < 0.003
    over = "SELECT avg((n > 12)::INTEGER) FROM (SELECT count(*) AS n FROM visits GROUP BY patient_id)"
    assert 0.02 < one(hospital, over) < 0.1


def test_costs_are_skewed_and_diagnoses_have_a_long_tail(hospital: duckdb.DuckDBPyConnection) -> None:
    median, mean, largest = one(hospital, "SELECT median(cost), avg(cost), max(cost) FROM visits")
    assert 200 < median < 300 < 1.5 * median < mean < 800
    assert largest > 50_000
    rare, all_of_them = one(
        hospital,
        "SELECT count(*) FILTER (WHERE n = 1), count(*) FROM (SELECT count(*) AS n FROM visits GROUP BY diagnosis)",
    )
    assert rare > 500 and all_of_them > 1000
    assert one(hospital, "SELECT count(*) FROM visits WHERE diagnosis IN ('flu', 'cold')") > 1000


def test_larger_cities_have_more_patients(hospital: duckdb.DuckDBPyConnection) -> None:
    largest = "SELECT avg((city = 'New York City, NY')::INTEGER) FROM patients"
    fair = "SELECT max(population) / sum(population) FROM cities"
    assert one(hospital, largest) == pytest.approx(one(hospital, fair), rel=0.1)


def test_impossible_sizes_are_refused(build: Callable[..., None], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give at least 1 and 0"):
        build(tmp_path / "x.duckdb", 0, 10)
    assert list(tmp_path.iterdir()) == []


def test_a_hospital_without_visits_is_a_hospital(build: Callable[..., None], tmp_path: Path) -> None:
    build(tmp_path / "x.duckdb", 1, 0)
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as connection:
        assert one(connection, "SELECT count(*) FROM visits") == 0
