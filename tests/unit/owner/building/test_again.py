"""Of the version before stands again what did not change, and only that; it is what building it anew would make."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.errors import InvariantBroken
from dpsql.owner import process
from dpsql.owner.building.builder import build, version_directory
from dpsql.worker import wire
from tests.connected import connected
from tests.unit.owner.clinic import KEY, data, policy

OTHERS = ["cities", "patients", "patients$counts", "patients$sizes"]
VISITS = ["visits", "visits$counts", "visits$ranks", "visits$totals", "visits$totals$sizes"]
TABLES = (*OTHERS, *VISITS)
OWN = {name: {"source": f"{name}.parquet"} for name in ("cities", "patients", "visits")}
"""The clinic's tables, each in a file of its own."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clinic's database, and each of its tables as a file."""
    data(tmp_path)
    for name in OWN:
        written(tmp_path, name, f"FROM {name}")
    return tmp_path


def written(folder: Path, name: str, sql: str) -> None:
    """Writes a table's file from the database."""
    with connected(folder / "clinic.duckdb", read_only=True) as connection:
        connection.execute(f"COPY ({sql}) TO '{folder / name}.parquet'")


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tables that stood again, of builds in this process."""
    found: list[str] = []
    again = DuckDBDatabase.again

    def watched(database: DuckDBDatabase, names: Sequence[str], place: Path, make: Any) -> bool:
        stands = again(database, names, place, make)
        found.extend(names if stands else ())
        return stands

    monkeypatch.setattr(DuckDBDatabase, "again", watched)
    monkeypatch.setattr(
        "dpsql.owner.building.builder.in_owner_process",
        lambda request, _: process.answered(request, lambda *_: None)["result"],
    )
    return found


def built(folder: Path, version: int, key: bytes = KEY, **changes: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a new version's tables, as they lie."""
    tables = {name: {"source": str(folder / own["source"])} | changes.get(name, {}) for name, own in OWN.items()}
    build(policy(folder, **tables), key=key, version=version, directory=folder / "cache")
    with connected(version_directory(folder / "cache", version) / FILE, read_only=True) as connection:
        return {name: connection.execute(f'FROM "{name}"').fetchall() for name in TABLES}


def facts(folder: Path, version: int) -> dict[str, Any]:
    """What is kept beside a version."""
    found: dict[str, Any] = wire.decode((version_directory(folder / "cache", version) / "facts.json").read_bytes())
    return found


def test_what_did_not_change_stands_again(folder: Path, copied: list[str]) -> None:
    first = built(folder, 1)
    assert copied == []
    said = facts(folder, 1)
    assert built(folder, 2) == first
    assert sorted(copied) == sorted(TABLES)
    assert facts(folder, 2) == said | {"version": 2}


def test_a_table_whose_file_changed_is_built_anew_alone(folder: Path, copied: list[str]) -> None:
    first = built(folder, 1)
    written(folder, "visits", "FROM visits UNION ALL SELECT * REPLACE (visit_id + 100 AS visit_id) FROM visits")
    second = built(folder, 2)
    assert sorted(copied) == OTHERS
    assert second["patients"] == first["patients"]
    assert second["visits"] != first["visits"]
    copied.clear()
    written(folder, "visits", "FROM visits")
    assert built(folder, 3) == first
    assert sorted(copied) == OTHERS


def test_a_table_is_built_anew_with_what_it_rests_on(folder: Path, copied: list[str]) -> None:
    built(folder, 1)
    written(folder, "cities", "FROM cities WHERE name <> 'Basel'")
    assert {city for *_, city in built(folder, 2)["patients"]} == {"Bern", None}
    assert sorted(copied) == VISITS


@pytest.mark.slow
def test_a_chain_of_keys_is_among_what_a_table_rests_on(folder: Path, copied: list[str]) -> None:
    owned: dict[str, Any] = {"visits": {"unit": {"via": "patients", "on": "patient_id"}}}
    built(folder, 1, **owned)
    written(folder, "patients", "FROM patients WHERE patient_id <> 1")
    assert 1 not in {unit for unit, *_ in built(folder, 2, **owned)["visits"]}
    assert copied == ["cities"]


def test_a_table_whose_words_in_the_policy_changed_is_built_anew(folder: Path, copied: list[str]) -> None:
    cost = {"type": "real", "bounds": [0, 100], "grid": Decimal("0.1")}
    built(folder, 1)
    built(folder, 2, visits={"columns": {"cost": cost}})
    assert sorted(copied) == OTHERS


def test_another_secret_builds_all_anew(folder: Path, copied: list[str]) -> None:
    built(folder, 1)
    built(folder, 2, key=bytes(32))
    assert copied == []


@pytest.mark.slow
def test_tables_of_one_database_are_built_anew_together(folder: Path, copied: list[str]) -> None:
    for version in (1, 2):
        build(policy(folder), key=KEY, version=version, directory=folder / "cache")
    assert copied == []


def test_what_does_not_lie_in_order_does_not_stand_again(tmp_path: Path) -> None:
    """Statements rely on the order."""
    with connected(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1, 1), (1, 2), (2, 1), (2, 2)) AS v(u, r)")
        connection.execute("CREATE TABLE falls AS FROM t UNION ALL SELECT 1, 3")
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS bounded")
        database = DuckDBDatabase(connection)

        def copy(name: str) -> bool:
            own = ["u", "r"]
            return database.again([name], tmp_path, lambda of: database.create(name, f"FROM {of(name)}", own, first=""))

        assert copy("t")
        with pytest.raises(InvariantBroken, match="do not lie in order"):
            copy("falls")


def test_a_version_that_is_damaged_gives_nothing(folder: Path, copied: list[str]) -> None:
    first = built(folder, 1)
    file = version_directory(folder / "cache", 1) / FILE
    file.write_bytes(b"no database" + file.read_bytes()[11:])
    assert built(folder, 2) == first
    assert copied == []
    (version_directory(folder / "cache", 2) / "facts.json").write_bytes(b"nothing")
    file.unlink()
    assert built(folder, 3) == first
    assert copied == []


@pytest.mark.slow
def test_a_table_is_built_anew_where_the_words_on_its_domain_changed(folder: Path, copied: list[str]) -> None:
    """What a public table lists follows from the type in which it is read."""
    built(folder, 1)
    built(folder, 2, cities={"columns": {"name": {"type": "text"}, "x_km": {"type": "real"}}})
    assert sorted(copied) == VISITS


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("changed", ["dpsql.owner.building.caps.SHOWN", "dpsql.owner.building.again.version"])
def test_what_this_program_says_otherwise_is_built_anew(
    folder: Path, copied: list[str], monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """The SQL that chooses rows is of what a table is made of; only tables with a choice have any."""
    built(folder, 1)
    monkeypatch.setattr(changed, (lambda _: "another") if changed.endswith("version") else 7)
    built(folder, 2)
    assert sorted(copied) == (OTHERS if ".caps." in changed else [])
