"""Columns whose names are none in SQL: a table of them is that of plain names, to the bit, and mistakes are told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import ValidationError

import dpsql.testing
from dpsql.engine.duckdb import FILE
from dpsql.errors import PolicyError, UnsupportedQuery
from dpsql.owner.building import appended, views
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.shape import shape_of
from tests.connected import connected
from tests.unit.owner.clinic import KEY, data, policy

PLAIN = {"patient_id": "Patient No.", "visit_id": 'a "visit"', "cost": "Cost (CHF), total", "city": "Größe; Ort"}
RENAMED = {name: PLAIN[name] for name in ("patient_id", "visit_id", "cost")}
RENAMED_TWO = {name: PLAIN[name] for name in ("patient_id", "cost")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The clinic's database, its tables as files, and once more under names of their own."""
    with connected(data(tmp_path)) as connection:
        for table, columns in {
            "visits": ("patient_id", "visit_id", "cost"),
            "patients": ("patient_id", "city"),
        }.items():
            names = ", ".join('{} AS "{}"'.format(one, PLAIN[one].replace('"', '""')) for one in columns)
            for kind in ("parquet", "csv"):
                for select, name in (("*", table), (names, f"odd_{table}")):
                    connection.execute(f"COPY (SELECT {select} FROM {table}) TO '{tmp_path}/{name}.{kind}'")
            connection.execute(f"CREATE TABLE odd_{table} AS SELECT {names} FROM {table}")
    return tmp_path


def built(folder: Path, cache: str, **visits: Any) -> list[Any]:
    """What the bounded visits hold, and their types."""
    build(policy(folder, visits=visits), key=KEY, version=1, directory=folder / cache)
    with connected(version_directory(folder / cache, 1) / FILE, read_only=True) as connection:
        types = connection.execute("DESCRIBE visits").fetchall()
        return [*types, *connection.execute("FROM visits").fetchall()]


@pytest.mark.every(2)
@pytest.mark.parametrize("source", ["visits.parquet", "visits.csv", "main.visits"])
def test_a_table_under_other_names_is_the_same_table(folder: Path, source: str) -> None:
    def found(source: str) -> str:
        return source if source.startswith("main.") else str(folder / source)

    plain = built(folder, "plain", source=found(source))
    odd = built(folder, "odd", source=found(source.replace("visits", "odd_visits")), rename=RENAMED)
    assert odd == plain
    assert [name for name, *_ in odd[:3]] == ["patient_id", "visit_id", "cost"]


def test_whoever_is_led_to_by_a_renamed_key_is_found(folder: Path) -> None:
    bills = "COPY (SELECT 10 AS \"visit #\", 5.0 AS amount) TO '{}/bills.parquet'"
    duckdb.execute(bills.format(folder))
    columns = {"amount": {"type": "real", "bounds": [0, 9]}}
    owned = {"unit": {"via": "visits", "on": "visit_no"}, "rows_per_unit": 2, "columns": columns}
    own = owned | {"rename": {"visit_no": "visit #"}, "source": str(folder / "bills.parquet")}
    visits = {"source": "main.odd_visits", "rename": RENAMED}
    build(policy(folder, visits=visits, bills=own), key=KEY, version=1, directory=folder / "cache")
    with connected(version_directory(folder / "cache", 1) / FILE, read_only=True) as connection:
        assert connection.execute("SELECT patient_id, amount FROM bills").fetchall() == [(1, 5.0)]


def test_a_public_table_is_copied_under_the_names_to_use(folder: Path) -> None:
    public = {"public": True, "source": "main.odd_patients", "key": None, "rename": {"city": PLAIN["city"]}}
    columns = {"cost": {"type": "real", "bounds": [0, 100]}}
    of_visits = {"columns": columns}
    own = policy(folder, places=public, visits=of_visits)
    build(own, key=KEY, version=1, directory=folder / "cache")
    with connected(version_directory(folder / "cache", 1) / FILE, read_only=True) as connection:
        assert [name for name, *_ in connection.execute("DESCRIBE places").fetchall()] == ["Patient No.", "city"]


@pytest.mark.parametrize(
    ("visits", "message"),
    [
        ({"rename": {"price": "Fee"}}, "visits has no column 'Fee' in the data"),
        ({"rename": {"cost": "visit_id"}, "key": None}, "visits has a column cost beside 'visit_id'"),
    ],
)
def test_what_cannot_be_renamed_is_told(folder: Path, visits: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        built(folder, "cache", **visits)


def test_another_name_is_another_table_and_none_is_as_before(folder: Path) -> None:
    plain, odd = (shape_of(policy(folder, visits=visits)) for visits in ({}, {"rename": {"cost": "Cost"}}))
    assert plain.digest != odd.digest
    assert plain.digest_of("visits") != odd.digest_of("visits")
    assert plain.digest_of("patients") == odd.digest_of("patients")
    assert type(odd).received(odd.message()) == odd


def test_new_files_under_other_names_are_appended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = list[str]()

    def told(stored: str, *others: Any) -> str:
        joined.append(stored)
        return appended.appended(stored, *others)

    monkeypatch.setattr(views, "appended", told)
    (folder / "days").mkdir()
    for version, name in enumerate(("a", "b"), 1):
        rows = f'SELECT i AS "Patient No.", i AS "Cost (CHF), total" FROM range({version}, 5) AS r(i)'
        duckdb.execute(f"COPY ({rows}) TO '{folder}/days/{name}.parquet'")
        days = {"source": str(folder / "days" / "*.parquet"), "key": None, "rename": RENAMED_TWO}
        build(policy(folder, visits=days), key=KEY, version=version, directory=folder / "cache")
    assert len(joined) == 1
    with connected(version_directory(folder / "cache", 2) / FILE, read_only=True) as connection:
        found = connection.execute("SELECT patient_id, cost FROM visits ORDER BY ALL").fetchall()
    assert found == sorted([(i, float(i)) for i in (1, 2, 2, 3, 3, 4, 4)])


@pytest.mark.parametrize("place", ["unit", "key", "columns"])
def test_the_data_s_own_name_in_the_policy_is_told_as_the_name_here(folder: Path, place: str) -> None:
    own = PLAIN["cost"]
    value = {own: {"type": "real", "bounds": [0, 9]}} if place == "columns" else own
    with pytest.raises(ValidationError, match=r"'Cost \(CHF\), total' is called cost here, by rename; write cost"):
        policy(folder, visits={"rename": RENAMED, place: value})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            'AVG("Cost (CHF), total")',
            '"Cost (CHF), total" at 1:12: there is no such column (or the policy does not name',
        ),
        (
            'AVG(v."COST (CHF), Total")',
            'v."COST (CHF), Total" at 1:12: there is no such column (or the policy does not',
        ),
        ("AVG(CostTotal)", "CostTotal at 1:12: there is no such column"),
        ('COUNT(DISTINCT "Patient No.")', "The policy calls it patient_id."),
    ],
)
def test_the_data_s_own_name_in_a_statement_is_told_as_the_name_here(folder: Path, asked: str, message: str) -> None:
    file, visits = folder / "clinic.yaml", {"source": "main.odd_visits", "rename": RENAMED}
    text = policy(folder, visits=visits).model_dump_json(exclude_unset=True)
    file.write_text(re.sub(r'"(\d+(?:\.\d+)?)"', r"\1", text))  # numbers of a policy stand without quotes
    with dpsql.testing.open(file) as proxy, pytest.raises(UnsupportedQuery) as refused:
        proxy.session(analyst="ana").explain(f"SELECT {asked} FROM visits v")
    assert message in str(refused.value)
    assert "The policy calls it" in str(refused.value) or "CostTotal" in asked
