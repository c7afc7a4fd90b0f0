"""Several files are one table, and another file is a change of it."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb import files
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.files import matching
from dpsql.engine.duckdb.sources import contents, fingerprint
from dpsql.errors import OperationalError, PolicyError


def rows(pattern: Path) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        database = DuckDBDatabase(connection)
        return database.rows(f"SELECT * FROM {database.table('rides', str(pattern)).sql} ORDER BY ALL")


def parquet(file: Path, select: str) -> None:
    duckdb.execute(f"COPY ({select}) TO '{file}' (FORMAT parquet)")


def test_the_files_of_a_pattern_are_one_table(tmp_path: Path) -> None:
    parquet(tmp_path / "jan.parquet", "SELECT 1 AS rider")
    parquet(tmp_path / "feb.parquet", "SELECT 2 AS rider")
    assert rows(tmp_path / "*.parquet") == [(1,), (2,)]
    (tmp_path / "a.csv").write_text("rider,fare\n1,2.5\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"rider,fare\n2,\n"))
    assert rows(tmp_path / "*.csv*") == [("1", "2.5"), ("2", None)]


def test_a_compressed_file_that_is_none_or_cut_short_is_told(tmp_path: Path) -> None:
    for content in (b"rider,fare\n", gzip.compress(b"rider,fare")[:-12]):
        (tmp_path / "a.csv.gz").write_bytes(content)
        with pytest.raises(PolicyError, match=r"a\.csv\.gz is no gzip file, or only part of one\. Compress it anew"):
            rows(tmp_path / "a.csv.gz")


def test_a_first_line_without_an_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 20)
    (tmp_path / "a.csv").write_text(f"rider,{'x' * 14}\n1,2\n")
    with pytest.raises(PolicyError, match=r"The first line of .*a\.csv has more than 20 characters"):
        rows(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(f"rider,{'x' * 13}\n1,2\n")
    assert rows(tmp_path / "a.csv") == [("1", "2")]


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir, lambda name: name.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, made: Callable[[Path], object]) -> None:
    made(tmp_path / "a.csv")
    name = str(tmp_path / "a.csv")
    assert contents({}, {"rides": name}) == [[name, None]]
    with pytest.raises(PolicyError, match=r"There is no file .*a\.csv"):
        rows(tmp_path / "a.csv")


def test_a_file_of_that_very_name_is_no_pattern(tmp_path: Path) -> None:
    parquet(tmp_path / "r[12].parquet", "SELECT 1 AS rider")
    parquet(tmp_path / "r1.parquet", "SELECT 2 AS rider")
    assert matching(str(tmp_path / "r[12].parquet")) == [str(tmp_path / "r[12].parquet")]
    assert rows(tmp_path / "r[12].parquet") == [(1,)]


def test_files_of_different_columns_types_or_kinds_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "jan.parquet", "SELECT 1 AS rider")
    parquet(tmp_path / "feb.parquet", "SELECT 1.5::DOUBLE AS rider")
    with pytest.raises(PolicyError, match=r"jan.parquet has other columns or types than the first"):
        rows(tmp_path / "*.parquet")
    (tmp_path / "a.csv").write_text("rider\n1\n")
    (tmp_path / "b.csv").write_text("driver\n1\n")
    with pytest.raises(PolicyError, match=r"b.csv does not start with the same line"):
        rows(tmp_path / "*.csv")
    with pytest.raises(PolicyError, match="is no Parquet or CSV file by its name"):
        rows(tmp_path / "*")
    with pytest.raises(PolicyError, match="There is no file"):
        rows(tmp_path / "*.tsv")
    with pytest.raises(PolicyError, match=r"or main\.rides_v for a table or view of engine\.database\.$"):
        rows(tmp_path / "rides_v")


@pytest.mark.parametrize(
    "content",
    [
        "räder,fare\n1,2\n".encode("latin-1"),
        "rider,fare\n1,é\n".encode("latin-1"),
        ("rider,fare\n" + "1,2\n" * 60_000 + "1,é\n").encode("latin-1"),
        "rider,fare\n1,é\n".encode("utf-16"),
        "rider,fare\n1,é\n".encode("utf-16-le"),
    ],
    ids=["Latin-1 in the first line", "Latin-1", "Latin-1 far below", "UTF-16", "UTF-16 without a mark"],
)
def test_a_file_in_another_encoding_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "rides (old).csv"
    file.write_bytes(content)
    with pytest.raises((PolicyError, OperationalError)) as told:
        rows(file)
    assert str(told.value) == f"{file} is no UTF-8 text. Save it as UTF-8."


@pytest.mark.parametrize(
    "content", ['rider,fare\n1,"2\n', "rider,fare\n1\n", "rider,fare\n1,2,3\n", "rider,fare\n1,2\n3,4\r5,6\n"]
)
def test_a_line_that_is_no_row_is_told_as_that(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.csv").write_bytes(content.encode())
    with pytest.raises(OperationalError, match="A CSV file has a line that is no row"):
        rows(tmp_path / "a.csv")


def test_another_file_under_the_pattern_is_a_change(tmp_path: Path) -> None:
    parquet(tmp_path / "jan.parquet", "SELECT 1 AS rider")
    pattern = {"rides": os.fsencode(tmp_path / "*.parquet").decode()}
    before, held = fingerprint({}, pattern), contents({}, pattern)
    assert fingerprint({}, pattern) == before
    parquet(tmp_path / "feb.parquet", "SELECT 2 AS rider")
    assert fingerprint({}, pattern) != before
    assert contents({}, pattern) != held
