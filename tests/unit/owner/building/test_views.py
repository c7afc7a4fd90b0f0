"""The rows of a table as a metric sees them: every row of the source once, at one of the declared values."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.duckdb import FILE
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.shape import Shape, shape_of
from dpsql.policy import Policy
from dpsql.worker import wire
from tests.connected import connected
from tests.unit.owner.clinic import KEY, policy

AGE = {"kind": "chain", "epsilon": Decimal("0.1")}
CITY = {"kind": "discrete", "epsilon": Decimal(1)}


def clinic(folder: Path, nullable: bool = False, **attributes: dict[str, Any]) -> Policy:
    """The clinic with a metric on its patients."""
    columns = {
        "age": {"type": "integer", "bounds": [18, 110], "nullable": nullable},
        "city": {"type": "text", "values_from": "cities.name", "nullable": nullable},
    }
    plain = policy(folder, patients={"columns": columns})
    metric = {
        "table": "patients",
        "combine": "sup",
        "presence": Decimal(1),
        "attributes": {"age": AGE, "city": CITY} | attributes,
        "limit": Decimal(4),
    }
    return Policy.model_validate(plain.model_dump(exclude_unset=True) | {"metrics": {"home": metric}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A database in which one patient has several rows, one row has no patient, and many values are none."""
    with connected(tmp_path / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE patients (patient_id INTEGER, age INTEGER, city VARCHAR)")
        connection.execute(
            "INSERT INTO patients VALUES (1, 30, 'Basel'), (1, 31, 'Basel'), (1, 31, 'Basel'), "
            "(NULL, 44, 'Bern'), (2, 300, 'Paris'), (3, NULL, NULL)"
        )
        connection.execute("CREATE TABLE visits (visit_id INTEGER, patient_id INTEGER, cost DOUBLE)")
        connection.execute("CREATE TABLE cities AS FROM (VALUES ('Bern'), ('Basel')) AS t(name)")
    return tmp_path


def universe(policy: Policy, folder: Path) -> list[tuple[Any, ...]]:
    """The rows that the metric sees."""
    build(policy, key=KEY, version=1, directory=folder / "cache")
    file = version_directory(folder / "cache", 1) / FILE
    with connected(file, read_only=True) as connection:
        return connection.execute('SELECT * FROM bounded.main."patients$as$home" ORDER BY ALL').fetchall()


def test_every_row_is_there_whoever_owns_it_and_however_often(folder: Path) -> None:
    assert universe(clinic(folder), folder) == [
        (18, "Basel"),  # NULL, and a city that is none: the first of the declared values
        (30, "Basel"),
        (31, "Basel"),
        (31, "Basel"),
        (44, "Bern"),
        (110, "Basel"),  # 300 is clamped, Paris is no city
    ]


def test_values_outside_count_as_the_declared_one(folder: Path) -> None:
    rows = universe(clinic(folder, age=AGE | {"outside": 40}, city=CITY | {"outside": "Bern"}), folder)
    assert (40, "Bern") in rows
    assert (110, "Bern") in rows


def test_null_may_be_a_value_of_its_own(folder: Path) -> None:
    rows = universe(clinic(folder, nullable=True, age=AGE | {"missing": Decimal(9)}), folder)
    assert (None, None) in rows
    assert (110, None) in rows


def test_its_shape_survives_the_journey_and_decides_whether_to_build_anew(folder: Path) -> None:
    shape = shape_of(clinic(folder))
    assert Shape.received(wire.decode(bytes(wire.encode(shape.message())))) == shape
    assert shape.universes[0].name == "patients$as$home"
    assert shape.digest != shape_of(clinic(folder, age=AGE | {"outside": 40})).digest
    # How far apart values are is no matter of the file.
    assert shape.digest == shape_of(clinic(folder, age=AGE | {"epsilon": Decimal(2)})).digest
