"""Reading a database's schema: names and types, never values."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.describe import describe, keys, left_out
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
    tables = {
        name: [(column, kind.name) for column, kind in columns]
        for name, found in describe(file).items()
        for columns in [found.columns]
    }
    assert list(tables.items()) == [
        ("cheap", [("cost", "DECIMAL(10,2)")]),
        ("visits", [("visit_id", "INTEGER"), ("cost", "DECIMAL(10,2)")]),
        ("before_hidden", [("x", "INTEGER")]),
    ]
    assert [table.stored for table in describe(file).values()] == [None, None, "before.hidden"]


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
    assert {
        name: [(c, kind.family) for c, kind in columns]
        for name, found in describe(file).items()
        for columns in [found.columns]
    } == {"visits": [("patient_id", "integer"), ("cost", "decimal")]}
    assert keys(str(file), tmp_path) == {}


def test_a_csv_file_has_the_types_of_its_first_lines(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("patient_id;cost\n1;2.5\n")
    (table,) = describe(tmp_path / "visits.csv").values()
    assert [(name, kind.family) for name, kind in table.columns] == [("patient_id", "integer"), ("cost", "real")]


@pytest.mark.parametrize(("name", "content"), [("visits.parquet", b"patient_id"), ("visits.csv", b"a,a\n1,2\n")])
def test_a_file_that_is_not_what_its_name_says_is_one_clear_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OperationalError, match=name):
        describe(tmp_path / name)


def test_declared_keys_and_references_are_told_primary_keys_first(tmp_path: Path) -> None:
    file = database(
        tmp_path / "panel.duckdb",
        "CREATE TABLE people (mail VARCHAR UNIQUE, person INTEGER PRIMARY KEY)",
        "CREATE TABLE waves (person INTEGER REFERENCES people (person), year INTEGER, PRIMARY KEY (person, year))",
    )
    tables = describe(file)
    assert tables["people"].keys == (("person",), ("mail",))
    assert tables["waves"].keys == (("person", "year"),)
    assert tables["waves"].references == {"person": ("people", "person")}


def test_a_schema_never_takes_the_name_of_another_table(tmp_path: Path) -> None:
    file = database(tmp_path / "x.duckdb", "CREATE TABLE a_b (x INT)", "CREATE SCHEMA a", "CREATE TABLE a.b (y INT)")
    assert list(describe(file)) == ["a_b", "a_b_"]


def parts(folder: Path, *files: str) -> Path:
    """A folder with Parquet files; one whose name begins with odd has another column."""
    folder.mkdir()
    for file in files:
        column = "other" if file.startswith("odd") else "rider"
        duckdb.execute(f"COPY (SELECT 1 AS {column}) TO '{folder / file}' (FORMAT parquet)")
    return folder


def test_files_with_the_same_columns_are_one_table_called_as_their_folder(tmp_path: Path) -> None:
    folder = parts(tmp_path / "rides", "jan.parquet", "feb.parquet")
    for source in (folder, folder / "*.parquet"):
        ((name, table),) = describe(source).items()
        assert name == "rides"
        assert table.file == folder / "*.parquet"


def test_files_of_a_folder_that_are_not_read_are_told(tmp_path: Path) -> None:
    folder = parts(tmp_path / "rides", "jan.parquet", "feb.parquet")
    assert left_out(folder) == []
    (folder / "old.csv").write_text("rider\n1\n")
    (folder / "notes.txt").write_text("rider")
    parts(folder / "more", "dec.parquet")
    assert left_out(folder) == [folder / "more" / "dec.parquet", folder / "old.csv"]
    assert left_out(folder / "old.csv") == left_out(folder / "*.parquet") == []


def test_files_with_different_columns_are_a_table_each(tmp_path: Path) -> None:
    folder = parts(tmp_path / "rides", "jan.parquet", "odd.parquet")
    assert {name: table.file for name, table in describe(folder).items()} == {
        "jan": folder / "jan.parquet",
        "odd": folder / "odd.parquet",
    }


@pytest.mark.parametrize(("source", "told"), [("rides", "holds no Parquet or CSV"), ("rides/*.csv", "no pattern of")])
def test_a_folder_or_pattern_without_files_is_one_clear_error(tmp_path: Path, source: str, told: str) -> None:
    parts(tmp_path / "rides")
    with pytest.raises(OperationalError, match=told):
        describe(tmp_path / source)


def test_comments_on_tables_views_and_columns_are_read(tmp_path: Path) -> None:
    file = database(
        tmp_path / "clinic.duckdb",
        "CREATE TABLE visits (visit_id INTEGER, wait INTEGER)",
        "CREATE VIEW long AS SELECT wait FROM visits",
        "CREATE SCHEMA before",
        "CREATE TABLE before.visits (wait INTEGER)",
        "COMMENT ON TABLE visits IS 'One row a visit'",
        "COMMENT ON COLUMN visits.wait IS 'In minutes'",
        "COMMENT ON VIEW long IS 'Long ones'",
        "COMMENT ON COLUMN before.visits.wait IS 'In hours'",
    )
    found = {name: (table.comment, table.comments) for name, table in describe(file).items()}
    assert found == {
        "long": ("Long ones", {}),
        "visits": ("One row a visit", {"wait": "In minutes"}),
        "before_visits": ("", {"wait": "In hours"}),
    }
