"""DuckLake: the rows of each snapshot as DuckDB's own extension reads them, and what is not read is refused.

The lakes were made by that extension: see ducklake/README.md.
"""

from __future__ import annotations

import atexit
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.engine.database import Parts
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.describe import describe
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.duckdb.ducklake import Address, address_of, newest, state
from dpsql.engine.duckdb.files import rows_of
from dpsql.engine.duckdb.ranges import Range
from dpsql.engine.duckdb.sources import apart, contents, fingerprint, may_be_equal, number, opens, versions
from dpsql.engine.log import overheard
from dpsql.errors import OperationalError, PolicyError
from dpsql.policy import load_policy
from dpsql.proxy import cache_directory, open_ledger, refresh
from tests.unit.cli.clinic import Clinic

pytestmark = pytest.mark.doors

POLICY = """\
version: 1
name: lake
engine: {kind: duckdb}
neighbours: add_remove
budget: {ledger: lake.db, composition: basic, total: {epsilon: 3000}, per_query: {epsilon: 400},
         analysts: {"*": {epsilon: 2000}}}
tables:
  visits:
    source: lake/catalogue.ducklake
    unit: person
    rows_per_unit: 2
    columns:
      unit: {type: text, values: [large, moved, unit, W1]}
  stays:
    source: lake/catalogue.ducklake#archive.stays
    unit: nights
    rows_per_unit: 1
    columns:
      ward: {type: text, values: [a b]}
"""
NEWEST = 54  # The last snapshot of both lakes.
VISITS = "ducklake_inlined_data_1_8"
"""Where the lakes keep small inserts into visits."""
LESS = (
    "INSERT INTO ducklake_inlined_delete_1 SELECT max(data_file_id), 0, {} FROM ducklake_data_file WHERE table_id = 1"
)
"""Deletes the person 300."""


@cache
def made(kind: str) -> Path:
    """A folder with a lake, which lies there until the process ends and is only read."""
    folder = Path(mkdtemp(prefix="dpsql-lake-"))
    atexit.register(shutil.rmtree, folder)
    with zipfile.ZipFile(Path(__file__).parent / "ducklake" / f"{kind}.zip") as packed:
        packed.extractall(folder)
    written(folder / "catalogue.ducklake", kind, (folder / "catalogue.sql").read_text())
    return folder


def written(catalogue: Path, kind: str, statements: str) -> None:
    """Has statements write to a catalogue."""
    if kind == "sqlite":
        with closing(sqlite3.connect(catalogue)) as connection:
            connection.executescript(statements)
    else:
        with duckdb.connect(str(catalogue)) as connection:
            connection.execute(statements)


class Lake:
    """A lake in a folder of any name.

    Attributes:
        folder: Where.
        file: Its catalogue.
        expected: The rows of each table by name, from each snapshot on that changes them; names of columns
            first.
    """

    def __init__(self, folder: Path, kind: str = "duckdb") -> None:
        self.folder, self.file, self._kind = folder, folder / "catalogue.ducklake", kind
        shutil.copytree(made(kind), folder, dirs_exist_ok=True)
        self.expected: dict[str, dict[str, list[Any]]] = json.loads((folder / "expected.json").read_text())

    def write(self, statements: str) -> None:
        """Writes to the catalogue."""
        written(self.file, self._kind, statements)

    def snapshot(self, statements: str = "") -> None:
        """One more snapshot, {} in the statements, beside what they write."""
        now = newest({"": self.address("visits")})[""].rpartition("@")[2]
        later = int(now) + 1
        self.write(
            f"INSERT INTO ducklake_snapshot SELECT {later}, snapshot_time, schema_version, next_catalog_id, "
            f"next_file_id FROM ducklake_snapshot WHERE snapshot_id = {now};" + statements.format(later)
        )

    def address(self, table: str, snapshot: int | None = None) -> Address:
        schema, _, name = table.rpartition(".")
        return Address(str(self.file), schema or "main", name, snapshot)

    def rows(self, table: str, snapshot: int | None = None) -> list[Any]:
        """The rows as text, names of columns first."""
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            sql = DuckDBDatabase(connection).table("visits", str(self.address(table, snapshot))).sql
            found = connection.execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {sql} ORDER BY ALL")
            return [[own[0] for own in found.description], *map(list, found.fetchall())]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("sqlite", marks=pytest.mark.slow)])
def test_rows_are_what_the_extension_reads_at_each_snapshot(tmp_path: Path, kind: str) -> None:
    lake = Lake(tmp_path / "a 'b' [c]*", kind)  # which is no pattern
    assert versions({}, {"visits": str(lake.file)})["visits"] == str(lake.address("visits", NEWEST))
    for table, every in lake.expected.items():
        told = dict(list(every.items())[-1 if kind == "duckdb" else 0 :])  # SQLite is fast enough for all of them
        states = [state(lake.address(table, int(snapshot))) for snapshot in told]
        assert len(set(states)) == len(told)
        for snapshot, rows in told.items():
            assert lake.rows(table, int(snapshot)) == rows, (table, snapshot)
        assert lake.rows(table) == rows, table


@pytest.mark.parametrize(("table", "by", "end"), [("merged", "n", 30), ("kinds", "i", 0)])
def test_rows_are_read_in_ranges_by_several_connections(
    lake: Lake, tmp_path: Path, table: str, by: str, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DuckDBDatabase, "_ranges", lambda *_: [Range(None, end, 0), Range(end, None, 0)])
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{tmp_path}/made.duckdb' AS bounded")
        database = DuckDBDatabase(connection)
        sql = database.table(table, str(lake.address(table))).sql
        assert "lakes.main" in sql  # beside the files there are rows, or deletions
        rows = f"SELECT * FROM {sql} AS r WHERE {by} IS NOT NULL"
        within = f"SELECT * FROM ({rows}) AS r WHERE {DUCKDB.call('within', by)} ORDER BY {by}"
        database.create("made", within, [by], "", Parts(rows, by, 2, None))
        differ = (
            f"(FROM ({rows}) EXCEPT ALL FROM bounded.main.made) UNION ALL (FROM bounded.main.made EXCEPT ALL {rows})"
        )
        assert database.rows(f"SELECT (SELECT count(*) > 1 FROM bounded.main.made), count(*) FROM ({differ})") == [
            (True, 0)
        ]


def test_types_are_those_of_the_table_and_nested_ones_are_left_out(lake: Lake) -> None:
    (table,) = describe(f"{lake.file}#kinds").values()
    assert {name: kind.name for name, kind in table.columns} == {
        "b": "BOOLEAN", "i": "TINYINT", "u": "UBIGINT", "f": "FLOAT", "d": "DOUBLE", "m": "DECIMAL(38,9)",
        "day": "DATE", "noon": "TIMESTAMP", "zoned": "TIMESTAMP WITH TIME ZONE", "bytes": "BLOB", "id": "UUID",
    }  # fmt: skip


def test_a_path_with_a_table_is_one_only_where_there_is_a_catalogue(lake: Lake, tmp_path: Path) -> None:
    assert address_of("visits", str(lake.file)) == lake.address("visits")
    assert address_of("visits", f"{lake.file}#archive.stays@21") == lake.address("archive.stays", 21)
    assert address_of("visits", f"{lake.file}#a b") is None
    assert address_of("visits", str(tmp_path / "none.ducklake")) is None
    strange = tmp_path / "visits#a.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS person) TO '{strange}'")
        connection.execute(f"COPY (SELECT 2 AS person) TO '{lake.file}#visits' (FORMAT parquet)")
        assert connection.execute(f"FROM {rows_of('visits', str(strange))[0]}").fetchall() == [(1,)]
    assert address_of("visits", f"{lake.file}#visits") is None  # that is a file of its own
    for none in ("none.ducklake#visits", "ducklake:postgres:dbname=lake"):
        with pytest.raises(PolicyError, match=r"no such DuckLake.*a DuckDB or SQLite file.*: lake\.ducklake#visits"):
            rows_of("visits", str(tmp_path / none))


def test_a_catalogue_beside_the_policy_is_no_table_of_the_database(lake: Lake) -> None:
    policy = lake.folder / "lake.yaml"
    policy.write_text(POLICY.replace("lake/catalogue", "catalogue"))
    tables = load_policy(policy).tables
    assert {name: str(table.file) for name, table in tables.items()} == {
        "visits": "catalogue.ducklake",
        "stays": "catalogue.ducklake#archive.stays",
    }


def test_tables_of_a_lake_are_read_at_one_snapshot(lake: Lake) -> None:
    tables = {"visits": str(lake.file), "stays": f"{lake.file}#archive.stays", "other": None}
    assert opens(tables) and not opens({"other": None})
    told = versions({}, tables)
    assert {name: number(version) for name, version in told.items()} == {"visits": NEWEST, "stays": NEWEST}
    assert versions({}, told) == {}  # they are not the newest by name
    assert apart(tables, contents({}, tables)) == {}
    with pytest.raises(ValueError, match="catalogue"):
        number(str(lake.file))


def test_a_later_snapshot_is_a_change_of_the_tables_that_it_changes(lake: Lake) -> None:
    tables = {"visits": f"{lake.file}#visits", "stays": f"{lake.file}#archive.stays"}
    told = versions({}, tables)
    seen, held = fingerprint({}, tables), contents({}, tables)
    fixed = fingerprint({}, told)
    assert contents({}, told) == held and may_be_equal(fixed, seen)
    lake.snapshot()
    assert fingerprint({}, tables) != seen
    assert may_be_equal(fingerprint({}, tables), seen)
    assert contents({}, tables) == held
    lake.snapshot(LESS)
    visits, stays = contents({}, tables)[::-1]
    assert visits != held[1] and stays == held[0]
    assert fingerprint({}, told) == fixed
    assert lake.rows("visits", NEWEST) == list(lake.expected["visits"].values())[-1]
    assert lake.rows("visits") == [row for row in list(lake.expected["visits"].values())[-1] if row[0] != "300"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("UPDATE ducklake_metadata SET value = '1.1' WHERE key = 'version'", "version 1.1 of the format"),
        ("DELETE FROM ducklake_metadata WHERE key = 'version'", "version None of the format"),
        ("ALTER TABLE ducklake_delete_file ADD COLUMN masks BIGINT", "ducklake_delete_file.masks"),
        ("DROP TABLE ducklake_metadata", "is not the catalogue of a DuckLake"),
        ("UPDATE ducklake_metadata SET value = 'true' WHERE key = 'encrypted'", "read in a DuckLake: encryption"),
        ("UPDATE ducklake_data_file SET encryption_key = 'AAAA'", "read in a DuckLake: encryption"),
        ("UPDATE ducklake_delete_file SET encryption_key = 'AAAA'", "read in a DuckLake: encryption"),
        ("UPDATE ducklake_delete_file SET format = 'puffin'", "deletion vectors"),
        ("UPDATE ducklake_data_file SET file_format = 'vortex'", "files that are not Parquet"),
        ("UPDATE ducklake_data_file SET mapping_id = 1", "columns are told by their names"),
        ("UPDATE ducklake_metadata SET value = 's3://lake/' WHERE key = 'data_path'", "not on this machine"),
        ("UPDATE ducklake_data_file SET path = 's3://lake/a.parquet', path_is_relative = false", "not on this machine"),
        ("UPDATE ducklake_delete_file SET path = 'x', path_is_relative = false", "not on this machine"),
        ("UPDATE ducklake_delete_file SET path = 'one' WHERE table_id = 1", "listed twice"),
        ("UPDATE ducklake_delete_file SET data_file_id = 0 WHERE table_id = 1", "listed twice"),
        (f"ALTER TABLE {VISITS} RENAME COLUMN unit TO unite", "does not have ducklake_inlined_data_1_8 as"),
        (f"DROP TABLE {VISITS}", "does not have ducklake_inlined_data_1_8 as"),
        ("ALTER TABLE ducklake_inlined_delete_1 ADD COLUMN until BIGINT", "does not have ducklake_inlined_delete_1 as"),
        ("UPDATE ducklake_schema_versions SET schema_version = 8 WHERE table_id = 1", "twice"),
        ("UPDATE ducklake_column SET column_type = 'variant'", "no column of a type that dpsql reads"),
        (f"ALTER TABLE {VISITS} RENAME COLUMN begun TO File_Row_Number; "
         "UPDATE ducklake_column SET column_name = 'File_Row_Number' WHERE column_name = 'begun'", "a name that dpsql"),
        ("UPDATE ducklake_data_file SET record_count = record_count + 1", "has other rows than the catalogue"),
        ("UPDATE ducklake_data_file SET path = 'gone.parquet' WHERE data_file_id = 0", "files that do not open"),
    ],
)  # fmt: skip
def test_what_dpsql_does_not_read_is_refused(tmp_path: Path, written: str, told: str) -> None:
    lake = Lake(tmp_path, "sqlite")
    lake.write(written)
    with pytest.raises(PolicyError, match=told):
        lake.rows("visits")


def test_a_table_that_is_none_and_a_snapshot_that_is_gone_are_clear_errors(lake: Lake) -> None:
    for name in ("shown", "none", "archive.visits"):  # the first is a view
        with pytest.raises(PolicyError, match=r"has no table .* write source: catalogue\.ducklake#SCHEMA\.TABLE"):
            lake.rows(name)
    lake.snapshot()
    lake.write(f"DELETE FROM ducklake_snapshot WHERE snapshot_id = {NEWEST}")
    with pytest.raises(PolicyError, match=rf"has no snapshot {NEWEST} any more"):
        lake.rows("visits", NEWEST)
    lake.file.write_bytes(lake.file.read_bytes()[:4096] + b"?" * 4096)
    with pytest.raises(PolicyError, match="does not open as the catalogue of a DuckLake"):
        lake.rows("visits")


def test_a_file_in_the_place_of_another_is_refused(lake: Lake) -> None:
    (path,) = (lake.folder / "data" / "main" / "filed").glob("*.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE filed AS FROM '{path}'")
        for numbers in ("", ", FIELD_IDS {b: 1, i: 2}"):
            connection.execute(f"COPY filed TO '{path}' (FORMAT parquet{numbers})")
            with pytest.raises(PolicyError, match="has no numbers of its columns"):
                lake.rows("filed")


def test_a_catalogue_that_is_being_written_to_is_one_clear_error(lake: Lake, tmp_path: Path) -> None:
    holds = f"import duckdb; c = duckdb.connect({str(lake.file)!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=-1, stdout=-1, text=True) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "open\n"
        with pytest.raises(PolicyError, match="is open in another program, which may write to it"):
            lake.rows("visits")
        writer.communicate("\n")
    other = Lake(tmp_path / "other", "sqlite")
    with closing(sqlite3.connect(other.file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(PolicyError, match="is open in another program"):
            other.rows("visits")


def test_its_files_are_no_table_by_themselves(lake: Lake, tmp_path: Path) -> None:
    for pattern in ("main/visits/*.parquet", "archive/**/*.parquet"):
        with pytest.raises(PolicyError, match=r"is a file of a DuckLake.*visits\.source: lake\.ducklake#visits"):
            rows_of("visits", str(lake.folder / "data" / pattern))
    (tmp_path / "lake" / "catalogue.ducklake.files").mkdir()
    plain = tmp_path / "lake" / "catalogue.ducklake.files" / "part.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS person) TO '{plain}'")
    with pytest.raises(PolicyError, match="is a file of a DuckLake"):
        rows_of("visits", str(plain))
    lake.file.unlink()
    assert rows_of("visits", str(plain))[1]


@pytest.mark.chance(2e-30, "the noise on counts of 17 and 8 at epsilon 400 is below a half, but for a chance of e^-200")
def test_a_policy_over_a_lake_answers_and_sees_its_snapshots(lake: Lake, tmp_path: Path) -> None:
    policy = tmp_path / "lake.yaml"
    policy.write_text(POLICY)
    asked = "SELECT COUNT(*) AS n FROM visits"
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query(asked).rows == [(17,)]
        assert session.query("SELECT COUNT(*) AS n FROM stays").rows == [(8,)]
    lake.snapshot()  # which changes no table
    dpsql.open(policy).close()
    lake.snapshot(f"INSERT INTO {VISITS} VALUES (99, {{}}, NULL, 400, 'unit', NULL, NULL, NULL, NULL)")
    told = f"visits was built from version {NEWEST} of {lake.file}, which is at {NEWEST + 2} now"
    with overheard() as said, pytest.raises(OperationalError, match="The data changed") as changed:
        dpsql.open(policy)
    assert told in said and str(lake.file) not in str(changed.value)
    refresh(policy)
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query(asked).rows == [(18,)]


@pytest.mark.slow
def test_a_build_reads_one_snapshot_and_the_owner_is_told_which(
    lake: Lake, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    policy, shell = tmp_path / "lake.yaml", Clinic(tmp_path, capsys)
    policy.write_text(POLICY)
    assert f"visits is at version {NEWEST} of {lake.file}.\n" in shell.dpsql("check", "lake.yaml").out
    done: list[str] = []

    def commit(step: str, share: float) -> None:
        if not done:  # the catalogue is not held open while rows are read
            lake.snapshot(LESS)
        done.append(step)

    assert refresh(policy, progress=commit) == 1
    with open_ledger(load_policy(policy)) as ledger:
        (file,) = cache_directory(load_policy(policy), ledger).glob("v1/*.duckdb")
    with duckdb.connect(str(file), read_only=True) as built:
        assert built.execute("SELECT count(*) FROM visits").fetchall() == [(17,)]
    told = f"visits was built from version {NEWEST} of {lake.file}, which is at {NEWEST + 1} now"
    assert f"{told}.\n" in shell.dpsql("check", "lake.yaml").out
    assert f"visits was built from version {NEWEST + 1} of {lake.file}.\n" in shell.dpsql("refresh", "lake.yaml").out


@pytest.mark.chance(1e-30, "the noise on a count of 16 at epsilon 400 is below a half, but for a chance of e^-200")
def test_a_policy_may_name_a_snapshot(lake: Lake, tmp_path: Path) -> None:
    policy = tmp_path / "lake.yaml"
    policy.write_text(POLICY.replace("catalogue.ducklake\n", "catalogue.ducklake#visits@16\n"))
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query("SELECT COUNT(*) AS n FROM visits").rows == [(16,)]


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_init_finds_the_tables_of_a_catalogue(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(tmp_path / "lake", kind)
    monkeypatch.chdir(tmp_path)
    source = "lake/catalogue.ducklake"
    if kind == "sqlite":
        source = shutil.move(source, "lake/catalogue.db")
    told = Clinic(tmp_path, capsys).dpsql("init", source, "--unit", "person", "--output", "-").out
    assert f'  visits:\n    source: "{source}#main.visits"\n    unit: person\n' in told
    assert f'  archive_stays:\n    source: "{source}#archive.stays"\n' in told
    assert "database:" not in told and "W1" not in told and "ducklake_" not in told
    alone = Clinic(tmp_path, capsys).dpsql("init", f"{source}#visits", "--unit", "person", "--output", "-").out
    assert f'  visits:\n    source: "{source}#main.visits"\n' in alone and "stays" not in alone
    if kind == "duckdb":
        lake.write("UPDATE ducklake_table SET end_snapshot = 1")
        with pytest.raises(OperationalError, match="holds no table"):
            describe(source)
        lake.write("UPDATE ducklake_metadata SET value = '0.9' WHERE key = 'version'")
        with pytest.raises(OperationalError, match=r"version 0\.9 of the format"):
            describe(source)
