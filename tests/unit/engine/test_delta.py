"""Delta tables: the rows of the newest version, whatever its files are called, and what tells of another."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import dpsql
from dpsql.engine.duckdb import delta
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.describe import describe
from dpsql.engine.duckdb.sources import contents, fingerprint, may_be_equal, number, versions
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
    source: lake/visits
    unit: person
    rows_per_unit: 2
    columns:
      ward: {type: text, values: [A, B]}
"""


def visits(**columns: Any) -> pa.Table:
    return pa.table(columns)


def rows(folder: Path) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        database = DuckDBDatabase(connection)
        return database.rows(f"SELECT * FROM {database.table('visits', str(folder)).sql} ORDER BY ALL")


def mark(folder: Path) -> list[list[Any]]:
    return fingerprint({}, {"visits": str(folder)})


def test_the_rows_are_those_of_the_newest_version(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    write_deltalake(folder, visits(person=[1, 2, 3], ward=["A", "B", "A"]))
    first = mark(folder), contents({}, {"visits": str(folder)})
    DeltaTable(folder).delete("person = 2")
    write_deltalake(folder, visits(person=[4], ward=["B"], paid=[1.5]), mode="append", schema_mode="merge")
    assert rows(folder) == [(1, "A", None), (3, "A", None), (4, "B", 1.5)]
    assert not may_be_equal(mark(folder), first[0])
    assert contents({}, {"visits": str(folder)}) != first[1]
    assert number(versions({}, {"visits": str(folder), "other": None})["visits"]) == 2
    folder.rename(tmp_path / "visits [new]*")  # which is no pattern
    assert rows(tmp_path / "visits [new]*") == [(1, "A", None), (3, "A", None), (4, "B", 1.5)]


def test_a_version_has_its_rows_whatever_comes_later(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    write_deltalake(folder, visits(person=[1, 2], ward=["A", "B"]))
    told = versions({}, {"visits": str(folder)})
    before = fingerprint({}, told), contents({}, told)
    assert before[0] == mark(folder)
    DeltaTable(folder).delete("person = 2")
    assert rows(Path(told["visits"])) == [(1, "A"), (2, "B")]
    assert (fingerprint({}, told), contents({}, told)) == before
    assert before[0] != mark(folder)


def test_its_files_are_no_table_by_themselves(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "visits", visits(person=[1], ward=["A"]), partition_by=["ward"])
    with pytest.raises(PolicyError, match=rf"Write {tmp_path}/visits at tables\.visits\.source"):
        rows(tmp_path / "visits" / "**" / "*.parquet")


def test_columns_of_the_folders_are_those_of_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    days = [date(2024, 2, 29), None, date(2024, 3, 1)]
    paid = pa.array([Decimal("1.50"), Decimal("2.25"), None], pa.decimal128(9, 2))
    told = visits(
        person=[1, 2, 3], ward=["a b", "x/y=é'", None], day=pa.array(days), paid=paid, sure=[True, None, False]
    )
    write_deltalake(folder, told, partition_by=["ward", "day", "paid", "sure"])
    assert rows(folder) == list(zip(*(told[name].to_pylist() for name in told.column_names), strict=True))
    (table,) = describe(folder).values()
    assert {name: kind.name for name, kind in table.columns} == {
        "person": "BIGINT", "ward": "VARCHAR", "day": "DATE", "paid": "DECIMAL(9,2)", "sure": "BOOLEAN",
    }  # fmt: skip


def test_a_table_without_a_file_has_its_columns_and_no_row(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    schema = pa.schema([("person", pa.int32()), ("at", pa.timestamp("us")), ("tags", pa.list_(pa.string()))])
    DeltaTable.create(folder, schema=schema)
    assert rows(folder) == []
    (table,) = describe(folder).values()
    assert [(name, kind.name) for name, kind in table.columns] == [("person", "INTEGER"), ("at", "TIMESTAMP")]


@pytest.mark.parametrize(
    "configuration", [{"delta.enableDeletionVectors": "true"}, {"delta.columnMapping.mode": "name"}]
)
def test_what_the_files_alone_do_not_show_is_refused(tmp_path: Path, configuration: dict[str, str]) -> None:
    write_deltalake(tmp_path / "visits", visits(person=[1]))
    (commit,) = (tmp_path / "visits" / "_delta_log").glob("*.json")
    names = [own.partition(".")[2].removeprefix("enable").partition(".")[0] for own in configuration]
    feature = names[0][0].lower() + names[0][1:]
    protocol = (
        f'"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["{feature}"],"writerFeatures":["{feature}"]'
    )
    text = commit.read_text()
    begins = text.index('"protocol":{') + len('"protocol":{')
    commit.write_text(text[:begins] + protocol + text[text.index("}", begins) :])
    with pytest.raises(PolicyError, match=f"do not show: {feature}"):
        rows(tmp_path / "visits")


def test_a_broken_log_and_a_missing_library_are_clear_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "visits" / "_delta_log").mkdir(parents=True)
    with pytest.raises(PolicyError, match="does not open as a Delta table"):
        rows(tmp_path / "visits")
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)
    with pytest.raises(OperationalError, match=r"pip install '\.\[delta\]'"):
        rows(tmp_path / "visits")


@pytest.mark.chance(1e-30, "the noise on a count of 6 at epsilon 400 is below a half, but for a chance of e^-200")
def test_a_policy_over_a_delta_table_answers_and_sees_its_commits(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    write_deltalake(tmp_path / "lake" / "visits", visits(person=[1, 1, 1, 2, 3, 4], ward=list("AAABAB")))
    policy = tmp_path / "lake.yaml"
    policy.write_text(POLICY)
    asked = "SELECT COUNT(*) AS n FROM visits"
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query(asked).rows == [(5,)]  # two rows of each person
    write_deltalake(tmp_path / "lake" / "visits", visits(person=[5], ward=["A"]), mode="append")
    with pytest.raises(OperationalError, match="The data changed"):
        dpsql.open(policy)
    refresh(policy)
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query(asked).rows == [(6,)]


@pytest.mark.slow
def test_a_build_reads_one_version_and_the_owner_is_told_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "lake" / "visits"
    folder.mkdir(parents=True)
    write_deltalake(folder, visits(person=[1, 2], ward=["A", "B"]))
    policy, shell = tmp_path / "lake.yaml", Clinic(tmp_path, capsys)
    policy.write_text(POLICY)
    assert f"visits is at version 0 of {folder}.\n" in shell.dpsql("check", "lake.yaml").out

    def commit(step: str, share: float) -> None:
        if step == "building visits":
            write_deltalake(folder, visits(person=[3], ward=["A"]), mode="append")

    assert refresh(policy, progress=commit) == 1
    with open_ledger(load_policy(policy)) as ledger:
        (file,) = cache_directory(load_policy(policy), ledger).glob("v1/*.duckdb")
    with duckdb.connect(str(file), read_only=True) as built:
        assert built.execute("SELECT count(*) FROM visits").fetchall() == [(2,)]
    told = f"visits was built from version 0 of {folder}, which is at 1 now"
    assert f"{told}.\n" in shell.dpsql("check", "lake.yaml").out
    with overheard() as said, pytest.raises(OperationalError, match="The data changed") as changed:
        dpsql.open(policy)
    assert said == [told] and str(folder) not in str(changed.value)
    assert f"visits was built from version 1 of {folder}.\n" in shell.dpsql("refresh", "lake.yaml").out


def test_init_names_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_deltalake("visits", visits(person=[77], ward=["Mallory"]))
    told = Clinic(tmp_path, capsys).dpsql("init", "visits", "--unit", "person", "--output", "-").out
    assert '  visits:\n    source: "visits"\n    unit: person\n' in told
    assert "Mallory" not in told and "77" not in told
    shutil.rmtree("visits/_delta_log")
    assert not delta.is_delta("visits")
