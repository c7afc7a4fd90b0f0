"""Iceberg tables: the rows of the newest snapshot, whatever its files are called, and what tells of another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.table import DataScan, FileScanTask, Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType

import dpsql
from dpsql.engine.duckdb import iceberg
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.describe import describe
from dpsql.engine.duckdb.iceberg import newest_metadata
from dpsql.engine.duckdb.sources import contents, fingerprint, may_be_equal, number, versions
from dpsql.errors import OperationalError, PolicyError
from dpsql.proxy import refresh
from tests.unit.cli.clinic import Clinic
from tests.unit.engine.test_delta import POLICY

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "asserts nothing of the draws: they name Iceberg's files")]


class Lake:
    """A warehouse in a folder, with one table.

    Attributes:
        folder: That of the table.
        made: The table.
    """

    def __init__(self, where: Path) -> None:
        self._catalog = InMemoryCatalog("test", warehouse=where.as_uri())
        self._catalog.create_namespace("lake")
        self.folder = where / "lake" / "visits"
        self.made: Table

    def create(self, schema: pa.Schema) -> Table:
        self.made = self._catalog.create_table("lake.visits", schema=schema)
        return self.made

    def rows(self, version: str = "") -> list[tuple[object, ...]]:
        with duckdb.connect() as connection:
            database = DuckDBDatabase(connection)
            return database.rows(
                f"SELECT * FROM {database.table('visits', version or str(self.folder)).sql} ORDER BY ALL"
            )

    def types(self) -> dict[str, str]:
        (table,) = describe(self.folder).values()
        return {name: kind.name for name, kind in table.columns}

    def close(self) -> None:
        self._catalog.close()


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with closing(Lake(tmp_path)) as lake:
        yield lake


VISITS = pa.schema([("person", pa.int64()), ("ward", pa.string())])


def visits(**columns: Any) -> pa.Table:
    return pa.table(columns)


def test_the_rows_are_those_of_the_newest_snapshot(lake: Lake) -> None:
    lake.create(VISITS).append(visits(person=[1, 2, 3], ward=["A", "B", "A"]))
    told = {"visits": str(lake.folder)}
    first = fingerprint({}, told), contents({}, told)
    lake.made.delete("person = 2")
    assert lake.rows() == [(1, "A"), (3, "A")]
    assert not may_be_equal(fingerprint({}, told), first[0])
    assert contents({}, told) != first[1]


def test_a_version_has_its_rows_whatever_comes_later(lake: Lake) -> None:
    lake.create(VISITS).append(visits(person=[1, 2, 3], ward=["A", "B", "A"]))
    told = versions({}, {"visits": str(lake.folder)})
    before = fingerprint({}, told), contents({}, told)
    lake.made.delete("person = 2")
    newer = versions({}, {"visits": str(lake.folder)})
    assert number(newer["visits"]) == number(told["visits"]) + 1
    assert lake.rows() == lake.rows(newer["visits"]) == [(1, "A"), (3, "A")]
    assert lake.rows(told["visits"]) == [(1, "A"), (2, "B"), (3, "A")]
    assert (fingerprint({}, told), contents({}, told)) == before


def test_a_column_is_told_by_its_number(lake: Lake) -> None:
    lake.create(VISITS).append(visits(person=[1], ward=["A"]))
    with lake.made.update_schema() as changed:
        changed.rename_column("ward", "unit")
    with lake.made.update_schema() as changed:
        changed.add_column("ward", DoubleType())  # which no old file has, whatever it calls another one
    lake.made.append(pa.table({"person": [2], "unit": ["B"], "ward": [1.5]}))
    assert lake.rows() == [(1, "A", None), (2, "B", 1.5)]
    with lake.made.update_schema() as changed:
        changed.delete_column("unit")
    assert lake.rows() == [(1, None), (2, 1.5)]


def test_types_and_partitions_are_those_of_the_table(lake: Lake) -> None:
    schema = pa.schema([
        ("person", pa.int32()), ("ward", pa.string()), ("day", pa.date32()), ("paid", pa.decimal128(9, 2)),
        ("sure", pa.bool_()), ("at", pa.timestamp("us")), ("zoned", pa.timestamp("us", "UTC")),
        ("tags", pa.list_(pa.string())),
    ])  # fmt: skip
    lake.create(schema)
    with lake.made.update_spec() as spec:
        spec.add_field("ward", IdentityTransform(), "ward")
    columns = {
        "person": [1, 2, 3], "ward": ["a b", "x/y=é'", None], "day": [date(2024, 2, 29), None, date(2024, 3, 1)],
        "paid": [Decimal("1.50"), Decimal("2.25"), None], "sure": [True, None, False], "at": [None] * 3,
        "zoned": [None] * 3,
    }  # fmt: skip
    lake.made.append(pa.table({**columns, "tags": [["x"], None, []]}, schema=schema))
    assert lake.rows() == list(zip(*columns.values(), strict=True))
    assert lake.types() == {
        "person": "INTEGER", "ward": "VARCHAR", "day": "DATE", "paid": "DECIMAL(9,2)", "sure": "BOOLEAN",
        "at": "TIMESTAMP", "zoned": "TIMESTAMP WITH TIME ZONE",
    }  # fmt: skip


def test_a_wider_type_holds_for_old_files(lake: Lake) -> None:
    schema = pa.schema([("person", pa.int32())])
    lake.create(schema).append(pa.table({"person": [1]}, schema=schema))
    with lake.made.update_schema() as changed:
        changed.update_column("person", LongType())
    lake.made.append(pa.table({"person": [2**40]}))
    assert lake.rows() == [(1,), (2**40,)]


def test_a_table_without_a_snapshot_has_its_columns_and_no_row(lake: Lake) -> None:
    lake.create(VISITS)
    assert lake.rows() == []
    assert lake.types() == {"person": "BIGINT", "ward": "VARCHAR"}


def test_its_files_are_no_table_by_themselves(lake: Lake) -> None:
    lake.create(VISITS).append(visits(person=[1], ward=["A"]))
    with (
        duckdb.connect() as connection,
        pytest.raises(PolicyError, match=r"lies in an Iceberg table.*Write .*visits at"),
    ):
        DuckDBDatabase(connection).table("visits", str(lake.folder / "**" / "*.parquet"))


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/a/b c%20d?e.parquet", "/a/b c%20d?e.parquet"), ("file:/a/b", "/a/b"), ("file:///a/b", "/a/b"),
        ("file://localhost/a/b", "/a/b"), ("file://other/a/b", None), ("s3://bucket/a", None), ("relative/a", None),
    ],
)  # fmt: skip
def test_only_files_of_this_machine_are_read(address: str, path: str | None) -> None:
    assert iceberg._local(address) == path


def test_a_path_may_be_quoted(tmp_path: Path) -> None:
    (tmp_path / "a b").touch()
    assert iceberg._local(f"{tmp_path.as_uri()}/a%20b") == str(tmp_path / "a b")


def test_the_newest_metadata_have_the_highest_number(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    for name in ("v9.metadata.json", "v10.gz.metadata.json", "00002-1a.metadata.json", "vx.metadata.json"):
        (tmp_path / "metadata" / name).touch()
    assert Path(newest_metadata(str(tmp_path))).name == "v10.gz.metadata.json"


def test_files_that_were_only_added_have_no_numbers(lake: Lake, tmp_path: Path) -> None:
    lake.create(VISITS)
    pq.write_table(visits(person=[1], ward=["A"]), tmp_path / "added.parquet")
    lake.made.add_files([str(tmp_path / "added.parquet")])
    with pytest.raises(PolicyError, match="do not show: files whose columns have no numbers"):
        lake.rows()


def test_rows_that_are_deleted_elsewhere_are_refused(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.create(VISITS).append(visits(person=[1], ward=["A"]))
    whole = DataScan.plan_files

    def with_deletes(scan: DataScan) -> Iterator[FileScanTask]:
        for task in whole(scan):
            task.delete_files.add(task.file)
            yield task

    monkeypatch.setattr(DataScan, "plan_files", with_deletes)
    with pytest.raises(PolicyError, match="do not show: delete files"):
        lake.rows()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format-version": 3, "next-row-id": 0}, "version 3 of the format"),
        ({"manifest-list": "s3://bucket/list.avro"}, "files that are not on this machine"),
    ],
)
def test_what_dpsql_does_not_read_is_refused(lake: Lake, change: dict[str, Any], told: str) -> None:
    lake.create(VISITS).append(visits(person=[1], ward=["A"]))
    file = Path(newest_metadata(str(lake.folder)))
    metadata = json.loads(file.read_text())
    changed = metadata if "format-version" in change else metadata["snapshots"][0]
    changed |= change
    file.write_text(json.dumps(metadata))
    with pytest.raises(PolicyError, match=f"do not show: {told}"):
        lake.rows()


def test_broken_metadata_lost_files_and_a_missing_library_are_clear_errors(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create(VISITS).append(visits(person=[1], ward=["A"]))
    (file,) = (lake.folder / "data").glob("**/*.parquet")
    file.rename(file.with_suffix(".gone"))
    with pytest.raises(PolicyError, match="names files that do not open"):
        lake.rows()
    Path(newest_metadata(str(lake.folder))).write_text("{}")
    with pytest.raises(PolicyError, match="does not open as an Iceberg table"):
        lake.rows()
    monkeypatch.setitem(__import__("sys").modules, "pyiceberg.table", None)
    with pytest.raises(OperationalError, match=r"pip install '\.\[iceberg\]'"):
        lake.rows()


@pytest.mark.chance(1e-30, "the noise on a count of 6 at epsilon 400 is below a half, but for a chance of e^-200")
def test_a_policy_over_an_iceberg_table_answers_and_sees_its_snapshots(lake: Lake, tmp_path: Path) -> None:
    lake.create(VISITS).append(visits(person=[1, 1, 1, 2, 3, 4], ward=list("AAABAB")))
    policy = tmp_path / "lake.yaml"
    policy.write_text(POLICY)
    asked = "SELECT COUNT(*) AS n FROM visits"
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query(asked).rows == [(5,)]  # two rows of each person
    lake.made.append(visits(person=[5], ward=["A"]))
    with pytest.raises(OperationalError, match="The data changed"):
        dpsql.open(policy)
    refresh(policy)
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query(asked).rows == [(6,)]


def test_init_names_its_folder(lake: Lake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lake.create(VISITS).append(visits(person=[77], ward=["Mallory"]))
    monkeypatch.chdir(lake.folder.parent)
    told = Clinic(lake.folder.parent, capsys).dpsql("init", "visits", "--unit", "person", "--output", "-").out
    assert '  visits:\n    source: "visits"\n    unit: person\n' in told
    assert "Mallory" not in told and "77" not in told
