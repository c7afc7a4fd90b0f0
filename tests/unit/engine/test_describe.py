"""Reading a database's schema: names and types, never values."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.describe import describe
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


@pytest.mark.parametrize("name", ["visits.parquet", "visits.csv"])
def test_a_file_of_one_table_is_told_where_it_belongs(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("patient_id,cost")
    with pytest.raises(OperationalError, match=f"with source: {name} at its table"):
        describe(tmp_path / name)
