"""CSV files that write days, numbers, booleans and NULL in their own way: read text by text, and nothing fails."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.shape import Shape, shape_of
from dpsql.policy.csv_file import CsvPolicy
from dpsql.worker import wire
from tests.unit.owner.clinic import KEY, data, policy

BILLS = """\
patient_id;sum;day;seen;paid;town
1;1.234,50;31.12.2024;31.12.2024 23:59;ja;NULL
2;7,25;01.02.2024;01.02.2024 00:00;nein;Bern
3;-;NULL;-;-;-
NULL;1,0;01.02.2024;-;ja;Bern
4;1,2,3;2024-12-31;31.02.2024 10:00;yes;') OR 1=1 --
5;9;31.12.24;gestern;Ja;Bern
"""
COLUMNS = {
    "sum": {"type": "real", "bounds": [0, 9999]}, "day": {"type": "date"}, "seen": {"type": "timestamp"},
    "paid": {"type": "boolean"}, "town": {"type": "text"},
}  # fmt: skip
CSV = {
    "nullstr": ["NULL", "-"], "dateformat": "%d.%m.%Y", "timestampformat": "%d.%m.%Y %H:%M",
    "decimal_separator": ",", "thousands": ".", "true_values": ["ja"], "false_values": ["nein"],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data(tmp_path)
    (tmp_path / "bills.csv").write_text(BILLS)
    return tmp_path


def bills(folder: Path, **more: Any) -> dict[str, Any]:
    source = str(folder / "bills.csv")
    return {"source": source, "unit": "patient_id", "rows_per_unit": 1, "columns": COLUMNS, "csv": CSV} | more


def built(folder: Path, **more: Any) -> dict[int, tuple[Any, ...]]:
    build(policy(folder, bills=bills(folder, **more)), key=KEY, version=1, directory=folder / "cache")
    with duckdb.connect(str(version_directory(folder / "cache", 1) / FILE), read_only=True) as connection:
        names = ", ".join(COLUMNS)
        return {row[0]: row[1:] for row in connection.execute(f"SELECT patient_id, {names} FROM bills").fetchall()}


def test_texts_are_read_as_the_policy_says_and_others_are_null(folder: Path) -> None:
    assert built(folder) == {
        1: (1234.5, date(2024, 12, 31), datetime(2024, 12, 31, 23, 59), True, None),
        2: (7.25, date(2024, 2, 1), datetime(2024, 2, 1), False, "Bern"),
        3: (None, None, None, None, None),
        4: (None, None, None, True, "') OR 1=1 --"),
        5: (9.0, date(24, 12, 31), None, None, "Bern"),  # the year as it is written: bounds of the policy leave it out
    }


def test_a_point_is_no_part_of_a_number_with_a_decimal_comma_unless_it_stands_between_thousands(folder: Path) -> None:
    found = built(folder, csv={"decimal_separator": ","})
    assert [found[unit][0] for unit in (1, 2, 5)] == [None, 7.25, 9.0]


def test_constants_of_a_policy_are_data_and_no_sql(folder: Path) -> None:
    hostile = {"nullstr": ["') OR 1=1 --"], "true_values": ["' OR '1'='1"], "dateformat": "%d.%m.%Y' OR '"}
    found = built(folder, csv=hostile)
    assert (found[4][4], found[2][3], found[1][1]) == (None, None, None)


def test_whatever_format_a_policy_takes_is_one_of_duckdb() -> None:
    for sign in filter(str.isalpha, map(chr, range(128))):
        for part in (f"%{sign}", f"%-{sign}"):
            with suppress(ValidationError):
                (_, (format_,)), *_ = CsvPolicy(timestampformat=f"%Y-%m-%d {part}").options
                read = DUCKDB.call("moment_by_format", "$1", DUCKDB.text(format_))
                duckdb.execute(f"SELECT {read}", ["x"]).fetchall()


@given(st.text(max_size=30) | st.from_regex(r"-?[0-9]{1,12}[.][0-9]{1,2}[.]-?[0-9]{1,20}( [0-9:]+)?", fullmatch=True))
def test_no_text_makes_a_format_fail(text: str) -> None:
    for primitive in ("day_by_format", "moment_by_format"):
        for format_ in ("%d.%m.%Y", "%d.%m.%y %H:%M:%S.%f", "%B %-d, %Y %I %p", "%j%Y"):
            read = DUCKDB.call(primitive, "$1", DUCKDB.text(format_))
            ((found,),) = duckdb.execute(f"SELECT {read}", [text]).fetchall()
            assert found is None or isinstance(found, str)


def test_a_public_table_is_read_so_too(folder: Path) -> None:
    columns = {"town": {"type": "text"}, "day": {"type": "date"}}
    towns = {"source": str(folder / "bills.csv"), "public": True, "columns": columns, "csv": CSV}
    build(policy(folder, towns=towns), key=KEY, version=1, directory=folder / "cache")
    with duckdb.connect(str(version_directory(folder / "cache", 1) / FILE), read_only=True) as connection:
        assert connection.execute("SELECT town, day FROM towns LIMIT 2").fetchall() == [
            (None, date(2024, 12, 31)),
            ("Bern", date(2024, 2, 1)),
        ]


def test_another_way_of_reading_asks_for_a_refresh_and_none_for_nothing(folder: Path) -> None:
    plain, so = (shape_of(policy(folder, bills=bills(folder, csv=csv))) for csv in ({"decimal_separator": "."}, CSV))
    assert plain.digest != so.digest
    assert not plain.table("bills").csv
    assert Shape.received(wire.decode(wire.encode(so.message()))) == so


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"dateformat": "%d.%m"}, "names no whole day"),
        ({"dateformat": "%d.%m.%Y %H"}, "is no format of days or times"),
        ({"timestampformat": "%d.%m.%Y %Z"}, "is no format of days or times"),
        ({"dateformat": "%d.%m.%Y%"}, "is no format of days or times"),
        ({"dateformat": "%d.%m.%-Y"}, "is no format of days or times"),
        ({"timestampformat": "%d.%M.%Y %H:%M"}, "names no whole day"),
        ({"nullstr": []}, "at least 1"),
        ({"nullstr": [""]}, "no text of 1 to 100 characters"),
        ({"true_values": ["x"], "false_values": ["x"]}, "stands here for two values"),
        ({"decimal_separator": ",", "thousands": ","}, "thousands and decimals have one sign"),
        ({"delim": ";"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_meant_is_refused(option: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        CsvPolicy.model_validate(option)


def test_only_a_csv_file_is_written_in_some_way(folder: Path) -> None:
    with pytest.raises(ValidationError, match="csv says how a CSV file is written"):
        policy(folder, bills=bills(folder, source=str(folder / "bills.parquet")))
