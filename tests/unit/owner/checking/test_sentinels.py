"""Numbers that stand for no answer are told to the owner with what to write, and those of few people are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsql.owner.checking.check import check
from tests.connected import connected
from tests.unit.owner.clinic import data, policy

PAY = {"pay": {"type": "integer", "bounds": [0, 5000], "nullable": True}}
NONE = "CASE i % 10 WHEN 0 THEN -99 WHEN 1 THEN -98 ELSE i END"


def told(folder: Path, pay: str, file: str = "", **more: Any) -> str:
    """What is said of a column of 1,000 people: of a table, or of a file."""
    data(folder)
    rows = f"SELECT i AS person, {pay} AS pay FROM range(1000) AS r(i)"
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute(f"COPY ({rows}) TO '{folder / file}'" if file else f"CREATE TABLE staff AS {rows}")
    table = {"unit": "person", "rows_per_unit": 1, "columns": PAY, **({"source": str(folder / file)} if file else {})}
    found = check(policy(folder, patients=None, visits=None, staff=table | more))
    return " ".join(one.what for one in found if one.column == "pay")


@pytest.mark.parametrize("file", ["", "staff.parquet"])
def test_of_a_database_and_of_parquet_they_are_null_in_a_view(tmp_path: Path, file: str) -> None:
    assert told(tmp_path, NONE, file).endswith(
        "-99, -98 are 200 of them. If that stands for no answer, let it be NULL in the data, or in a view over them: "
        'CASE WHEN "pay" NOT IN (-99, -98) THEN "pay" END AS "pay"; and nullable: true at this one.'
    )


def test_of_a_csv_file_they_are_nullstr_and_with_it_nothing_is_said(tmp_path: Path) -> None:
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
    said = told(tmp_path / "before", NONE, "staff.csv", csv={"nullstr": ["-"]})
    assert 'write csv: {nullstr: ["-", "-98", "-99"]} at the table, which holds for all of its columns' in said
    assert not told(tmp_path / "after", NONE, "staff.csv", csv={"nullstr": ["-", "-98", "-99"]})


@pytest.mark.parametrize(
    "pay",
    [
        "CASE WHEN i < 19 THEN -99 ELSE i END",  # of few people
        "CASE WHEN i % 2 = 0 THEN 5000 + i ELSE i END",  # each has another one: the bounds are tight
        "CASE WHEN i < 20 THEN -99 WHEN i < 100 THEN -i ELSE i END",  # most of those outside are others
    ],
)
def test_of_few_people_or_among_many_others_they_are_not_named(tmp_path: Path, pay: str) -> None:
    said = told(tmp_path, pay)
    assert "outside the bounds" in said
    assert "no answer" not in said


@pytest.mark.parametrize("file", ["", "staff.csv"])
def test_within_the_bounds_they_are_the_only_values_below_0(tmp_path: Path, file: str) -> None:
    wide = {"columns": {"pay": {"type": "integer", "bounds": [-10, 5000], "nullable": True}}}
    said = told(tmp_path, "CASE i % 10 WHEN 0 THEN -1 WHEN 1 THEN -9 ELSE i END", file, **wide)
    values = "-1, -9" if file else "-9, -1"  # texts, and numbers, in their order
    assert said.startswith(f"values are {values}, and nothing else is below 0. If that stands for no answer, ")
    assert ('nullstr: ["-1", "-9"]' if file else f'CASE WHEN "pay" NOT IN ({values}) THEN "pay" END') in said


@pytest.mark.parametrize(
    "pay",
    [
        "CASE WHEN i < 9 THEN -1 ELSE i END",  # of few people
        "i - 500",  # others are below 0, too
        "i % 5 - 2",  # a scale
        "CASE WHEN i % 10 = 0 THEN 0 ELSE i END",
    ],
)
def test_what_is_within_the_bounds_is_an_answer_elsewhere(tmp_path: Path, pay: str) -> None:
    assert not told(tmp_path, pay, columns={"pay": {"type": "integer", "bounds": [-1000, 5000], "nullable": True}})
