"""Reading a database's schema: names and types, never values."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.describe import describe, keys
from dpsql.errors import OperationalError


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_tables_and_views_come_with_their_columns_in_order_those_of_main_first(tmp_path: Path) -> None:
    file = database(
        tmp_path / "clinic.duckdb",
        "CREATE TABLE visits (visit_id INTEGER, cost DECIMAL(10, 2))",
        "CREATE VIEW cheap AS SELECT cost FROM visits WHERE cost < 10",
        "CREATE SCHEMA before",
        "CREATE TABLE before.hidden (x INTEGER)",
    )
    tables = {name: [(column, kind.name) for column, kind in columns] for name, columns in describe(file).items()}
    assert list(tables.items()) == [
        ("cheap", [("cost", "DECIMAL(10,2)")]),
        ("visits", [("visit_id", "INTEGER"), ("cost", "DECIMAL(10,2)")]),
        ("before.hidden", [("x", "INTEGER")]),
    ]


def test_a_missing_file_is_one_clear_error_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(OperationalError, match="is not a file"):
        describe(tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


def test_a_file_that_is_no_database_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 1000)
    with pytest.raises(OperationalError, match="cannot be read as a DuckDB database"):
        describe(tmp_path / "notes.txt")


def test_a_database_without_tables_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(OperationalError, match="holds no table"):
        describe(database(tmp_path / "empty.duckdb"))


def test_a_parquet_file_is_a_table_of_its_name_with_types(tmp_path: Path) -> None:
    file = tmp_path / "visits.2024.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS patient_id, 2.50 AS cost) TO '{file}' (FORMAT parquet)")
    assert {name: [(c, kind.family) for c, kind in columns] for name, columns in describe(file).items()} == {
        "visits": [("patient_id", "integer"), ("cost", "decimal")]
    }
    assert keys(str(file)) == {}


def test_a_csv_file_has_names_alone(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("patient_id;cost\n1;2.5\n")
    (columns,) = describe(tmp_path / "visits.csv").values()
    assert [(name, kind.family) for name, kind in columns] == [("patient_id", "untyped"), ("cost", "untyped")]


@pytest.mark.parametrize(("name", "content"), [("visits.parquet", b"patient_id"), ("visits.csv", b"a,a\n1,2\n")])
def test_a_file_that_is_not_what_its_name_says_is_one_clear_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OperationalError, match=name):
        describe(tmp_path / name)
