"""Columns of a public CSV file are texts until the policy says otherwise, which the owner is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.owner.check import check
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
