"""Columns of a public CSV file are texts until the policy says otherwise, which the owner is told."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.owner.checking.check import check
from dpsql.owner.finding import verdict
from tests.unit.owner.clinic import data, policy

CITIES = """\
city,people,area,founded,seen,code,empty
Bern,134000,51.6,1191-01-01,2024-05-31 10:00:00,3000A,
Bonn,330000,,,,53111,
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data(tmp_path)
    (tmp_path / "towns.csv").write_text(CITIES)
    return tmp_path


def told(folder: Path, **more: object) -> list[str]:
    towns = {"source": str(folder / "towns.csv"), "public": True} | more
    return [finding.what for finding in check(policy(folder, towns=towns)) if finding.table == "towns"]


def test_the_types_that_columns_of_a_csv_file_could_have_are_named(folder: Path) -> None:
    (what,) = told(folder)
    assert "people: {type: integer}, area: {type: real}, founded: {type: date}, seen: {type: timestamp}" in what
    assert "code" not in what


def test_nothing_is_said_where_the_policy_declares_columns(folder: Path) -> None:
    columns = {"city": {"type": "text"}, "people": {"type": "integer"}}
    assert told(folder, columns=columns) == []


def test_decimal_commas_and_days_with_points_are_named_with_what_reads_them(tmp_path: Path) -> None:
    data(tmp_path)
    file = tmp_path / "bills.csv"
    file.write_text("patient_id;sum;day\n1;1.234,50;31.12.2024\n2;7,25;01.02.2024\n")
    columns = {"sum": {"type": "real", "bounds": [0, 9999]}, "day": {"type": "date"}}
    bills = {"source": str(file), "unit": "patient_id", "rows_per_unit": 1, "columns": columns}
    found = [one for one in check(policy(tmp_path, bills=bills)) if one.read_as == "NULL" and one.table == "bills"]
    number, day = (one.what for one in found)
    assert "2 are written like 1.234,50." in number
    assert "2 are written like 31.12.2024." in day
    said = verdict(found, refused=False)
    assert said.startswith("The policy opens, but nothing can be asked of bills.sum, bills.day: all values are NULL.")
    options = "{decimal_separator: ',', thousands: '.'}", "{dateformat: '%d.%m.%Y'}"
    for what, written in zip((number, day), options, strict=True):
        assert f"Write csv: {written} at the table in the policy." in what
    csv = {"decimal_separator": ",", "thousands": ".", "dateformat": "%d.%m.%Y"}
    assert not [one for one in check(policy(tmp_path, bills=bills | {"csv": csv})) if one.table == "bills"]


def test_times_with_points_are_named_with_what_reads_them_and_what_it_leaves_unread(tmp_path: Path) -> None:
    data(tmp_path)
    (tmp_path / "bills.csv").write_text(
        "patient_id;seen;paid\n1;31.12.2024 23:59;1,5\n2;01.02.2024 08:00;2\n3;2024-02-01 08:00;2.5\n4;-;\n5;;3,0\n"
    )
    columns = {"seen": {"type": "timestamp"}, "paid": {"type": "real", "bounds": [0, 9]}}
    bills = {"source": str(tmp_path / "bills.csv"), "unit": "patient_id", "rows_per_unit": 1, "columns": columns}

    def found(**csv: object) -> dict[str | None, tuple[str, int | None]]:
        told = check(policy(tmp_path, bills=bills | {"csv": csv} if csv else bills))
        return {one.column: (one.what, one.count) for one in told if one.table == "bills" and one.read_as == "NULL"}

    what, count = found()["seen"]
    assert count == 3
    assert "2 are written like 31.12.2024 23:59. Write csv: {timestampformat: '%d.%m.%Y %H:%M'} at the table" in what
    written = {"timestampformat": "%d.%m.%Y %H:%M", "decimal_separator": ",", "nullstr": ["-"]}
    only = found(**written)
    assert only["seen"][0] == (
        "values are no timestamp. They read as NULL. By csv: {timestampformat: '%d.%m.%Y %H:%M'} no other way is read: "
        "write all of a file in one way."
    )
    assert (only["seen"][1], only["paid"][1]) == (1, 1)


def test_that_decimals_are_rounded_is_said_where_whole_numbers_are_declared(tmp_path: Path) -> None:
    data(tmp_path)
    (tmp_path / "bills.csv").write_text("patient_id,paid,days\n1,1.25,1.0\n2,2.0,2.0\n3,,\n4,x,1e300\n")
    columns = {"paid": {"type": "integer", "bounds": [0, 9]}, "days": {"type": "integer", "bounds": [0, 9]}}
    bills = {"source": str(tmp_path / "bills.csv"), "unit": "patient_id", "rows_per_unit": 1, "columns": columns}
    found = [one for one in check(policy(tmp_path, bills=bills)) if "decimals" in one.what]
    assert [(one.column, one.count, one.read_as) for one in found] == [("paid", 1, "the nearest whole number")]


def test_of_texts_in_a_database_it_is_named_what_reads_the_file_anew(tmp_path: Path) -> None:
    data(tmp_path)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE bills AS SELECT 1 AS patient_id, '31.12.2024' AS day")
    bills = {"unit": "patient_id", "rows_per_unit": 1, "columns": {"day": {"type": "date"}}}
    (what,) = (one.what for one in check(policy(tmp_path, bills=bills)) if one.table == "bills" and one.read_as)
    assert "read_csv('FILE.csv', dateformat = '%d.%m.%Y')" in what


def test_what_is_read_as_a_boolean_is_said_where_texts_are_none(tmp_path: Path) -> None:
    data(tmp_path)
    (tmp_path / "bills.csv").write_text("patient_id,paid,sent\n1,1.0,2.0\n2,0.0,0.0\n3,,1.0\n")
    columns = {"paid": {"type": "boolean"}, "sent": {"type": "boolean"}}
    bills = {"source": str(tmp_path / "bills.csv"), "unit": "patient_id", "rows_per_unit": 1, "columns": columns}
    found = [one for one in check(policy(tmp_path, bills=bills)) if one.table == "bills" and one.read_as == "NULL"]
    (sent,) = (one for one in found if "no boolean" in one.what)
    assert (sent.column, sent.count) == ("sent", 1)
    assert "1 and 1.0 are read, and false, f, no, n, 0 and 0.0. For others write type: text" in sent.what


@pytest.mark.parametrize(
    ("number", "day", "csv"),
    [
        ("1\u202f234,50", "31/12/2024", {"decimal_separator": ",", "thousands": " ", "dateformat": "%d/%m/%Y"}),
        ("1234,5", "20241231", {"decimal_separator": ",", "dateformat": "%Y%m%d"}),
        ("1\u00a0234", "31/12/2024", {"decimal_separator": ",", "thousands": " ", "dateformat": "%d/%m/%Y"}),
        ("1\u2019234.50", "31-12-2024", {"thousands": "'", "dateformat": "%d-%m-%Y"}),
        ('"1,234.50"', "12/31/2024", {"thousands": ",", "dateformat": "%m/%d/%Y"}),
    ],
)
def test_other_countries_numbers_and_days_are_named_and_read(
    tmp_path: Path, number: str, day: str, csv: dict[str, str]
) -> None:
    data(tmp_path)
    (tmp_path / "bills.csv").write_text(f"patient_id;sum;day\n1;{number};{day}\n2;7;\n")
    columns = {"sum": {"type": "real", "bounds": [0, 9999]}, "day": {"type": "date"}}
    bills = {"source": str(tmp_path / "bills.csv"), "unit": "patient_id", "rows_per_unit": 1, "columns": columns}
    found = [one.what for one in check(policy(tmp_path, bills=bills)) if one.read_as == "NULL" and one.table == "bills"]
    for what, names in zip(found, (("decimal_separator", "thousands"), ("dateformat",)), strict=True):
        written = ", ".join(f"{name}: {csv[name]!r}" for name in names if name in csv)
        assert f"Write csv: {{{written}}} at the table in the policy." in what
    assert not [
        one for one in check(policy(tmp_path, bills=bills | {"csv": csv})) if one.table == "bills" and "no " in one.what
    ]
