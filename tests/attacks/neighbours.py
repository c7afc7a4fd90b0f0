"""Small databases made to break a sum, and their neighbours: the same tables without one unit.

Twelve units are as awkward as rows can be; a dozen ordinary ones give thresholds something to show. A seed moves the
ordinary values and the order in which rows lie, which nothing may depend on.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from dpsql.policy import Policy, load_policy
from tests.connected import connected

__all__ = ["AWKWARD", "policy_in", "policy_text", "units", "write_database"]

Rows = dict[str, list[tuple[Any, ...]]]
"""Table to rows, without the unit in front."""

TABLES = {
    "patients": "patient_id BIGINT, age INTEGER, sex VARCHAR, city VARCHAR, weight DOUBLE",
    "visits": "patient_id BIGINT, visit_id BIGINT, cost DOUBLE, score BIGINT, visited_on DATE, ward VARCHAR, "
    "diagnosis VARCHAR",
    "notes": "patient_id BIGINT, grade INTEGER, reading DOUBLE, amount BIGINT, seen DATE",
    "treatments": "visit_id BIGINT, drug VARCHAR, dose INTEGER",
}
CITIES = [("Delft", "south", 10.0), ("Leiden", "south", 20.0), ("Zwolle", "east", 130.0)]
BEDS = [("A", 1, 10), ("A", 2, 20), ("B", 1, 30), ("C", 1, 5), ("C", 2, 5), ("C", 3, 6), (None, 9, 9)]
WARDS = ("A", "B", "C", None)
FIRST = date(2024, 1, 1)


def policy_text(neighbours: str, composition: str) -> str:
    """The policy over them: caps of 4 rows and 3 groups, and a budget that never runs out."""
    whole = "every_unit: true" if neighbours == "replace_one" else "rows_about: 20"
    return f"""
version: 1
name: clinic
engine: {{kind: duckdb, database: clinic.duckdb, memory: 2GiB, deadline: 60s}}
neighbours: {neighbours}
budget:
  ledger: clinic.ledger.db
  composition: {composition}
  total: {{epsilon: 100000, delta: 0.9, gamma: 0.9}}
  analysts: {{ana: {{epsilon: 100000, delta: 0.9, gamma: 0.9}}, poor: {{epsilon: 1, delta: 1.0e-6}}}}
  per_query: {{epsilon: 1, delta: 1.0e-6}}
tables:
  patients:
    unit: patient_id
    key: patient_id
    rows_per_unit: 1
    {whole}
    columns:
      age:    {{type: integer, bounds: [0, 110]}}
      sex:    {{type: text, values: [F, M, X]}}
      city:   {{type: text, values_from: cities.name, nullable: true}}
      weight: {{type: real, bounds: [2, 250], grid: 0.1, nullable: true}}
  visits:
    unit: patient_id
    key: visit_id
    rows_per_unit: 4
    max_groups_per_unit: 3
    rows_about: 60
    columns:
      cost:       {{type: real, bounds: [0, 200], centre: 50, spread: 30, grid: 0.01}}
      score:      {{type: integer, bounds: [-5, 20]}}
      visited_on: {{type: date, bounds: [2024-01-01, 2024-12-31]}}
      ward:       {{type: text, values: [A, B, C], nullable: true}}
      diagnosis:  {{type: text, nullable: true}}
  notes:
    unit: patient_id
    rows_per_unit: 3
    rows_about: 40
    columns:
      grade:   {{type: integer, bounds: [0, 9]}}
      reading: {{type: real}}
      amount:  {{type: integer}}
      seen:    {{type: date}}
  treatments:
    unit: {{via: visits, on: visit_id}}
    rows_per_unit: 5
    rows_about: 40
    columns:
      drug: {{type: text, values: [a, b, c]}}
      dose: {{type: integer, bounds: [0, 10]}}
  cities: {{public: true, key: name}}
  beds: {{public: true}}
random_dp:
  patients: {{assume: exchangeable, base_partition: [sex], gamma_limit: 0.5, row_floor: 12}}
"""


def policy_in(folder: Path, neighbours: str, composition: str) -> Policy:
    """The policy, as if its file lay in the folder; its text is read once for all folders."""
    policy = _policy(neighbours, composition).model_copy()
    policy._file = folder / "clinic.yaml"
    return policy


@cache
def _policy(neighbours: str, composition: str) -> Policy:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "clinic.yaml"
        file.write_text(policy_text(neighbours, composition))
        return load_policy(file)


def _day(month: int, day: int = 1) -> date:
    return date(2024, month, day)


AWKWARD: Mapping[str, Rows] = {
    "the heaviest": {
        "patients": [(10**6, "F", "Delft", 1e300)],
        "visits": [(100 + i, 1e9, 10**12, _day(i + 1), WARDS[i % 4], f"rare {i}") for i in range(12)],
        "notes": [(10**6, 1e300, 2**63 - 1, date.max)] * 9,
        "treatments": [(100 + i, "abc"[i % 3], 10**6) for i in range(12)],
    },
    "NULLs alone": {
        "patients": [(None, None, None, None)],
        "visits": [(200 + i, None, None, None, None, None) for i in range(3)],
        "notes": [(None, None, None, None)] * 2,
        "treatments": [(200, None, None)] * 2,
    },
    "NaN and infinities": {
        "patients": [(-1, "?", "Atlantis", math.nan)],
        "visits": [
            (300, math.nan, 0, _day(3), "A", "flu"),
            (301, math.inf, 20, _day(4), "B", "flu"),
            (302, -math.inf, -5, _day(5), "C", "flu"),
            (303, -0.0, 0, date(1900, 1, 1), "Z", ""),
        ],
        "notes": [(0, math.nan, -(2**63), date.min), (9, math.inf, 2**53 + 1, _day(2)), (9, -math.inf, 0, _day(2))],
        "treatments": [(300, "?", -5)],
    },
    "alone in its group": {
        "patients": [(100, "X", "Zwolle", 250.0)],
        "visits": [(400 + i, 200.0, 20, _day(12, 31), "C", "unheard of") for i in range(4)],
        "notes": [(9, 5.0, 77, date(1999, 9, 9))],
        "treatments": [(400, "c", 10)] * 5,
    },
    "in all groups": {
        "patients": [(50, "F", "Delft", 70.0)],
        "visits": [(500 + i, 200.0, 20, _day(3 * i + 1), ward, f"flu {i}") for i, ward in enumerate(WARDS)],
        "notes": [(9, 1.0, 5, _day(1))] * 3,
        "treatments": [(500 + i, drug, 10) for i, drug in enumerate("abc")],
    },
    "exactly at the caps": {
        "patients": [(110, "M", "Leiden", 2.0)],
        "visits": [(600 + i, 200.0, -5, _day(2 + min(i, 2)), WARDS[min(i, 2)], "cold") for i in range(4)],
        "notes": [(9, -1.0, -5, _day(2))] * 3,
        "treatments": [(600 + i % 4, "a", 10) for i in range(5)],
    },
    "one above the caps": {
        "patients": [(0, "M", "Leiden", 249.95)],
        "visits": [(700 + i, 199.999, 20, _day(2 + i), WARDS[i % 4], f"cold {i}") for i in range(5)],
        "notes": [(9, 2.0, 6, _day(3))] * 4,
        "treatments": [(700 + i % 5, "b", 10) for i in range(6)],
    },
    "duplicate rows": {
        "patients": [(80, "F", "Delft", 65.5)] * 3,
        "visits": [(800, 150.0, 7, _day(7), "B", "flu")] * 6,
        "notes": [(4, 0.5, 1, _day(4))] * 6,
        "treatments": [(800, "b", 4)] * 3,
    },
    "duplicate keys": {
        "patients": [(30, "X", "Leiden", 80.0), (31, "M", "Delft", 90.0)],
        "visits": [
            (1, 200.0, 20, _day(9), "A", "flu"),
            (1, 0.0, -5, _day(10), "C", "cold"),
            (2, 9.0, 3, None, "B", ""),
        ],
        "notes": [(1, 1.0, 0, _day(5)), (2, 1.0, 0, _day(5))],
        "treatments": [(1, "a", 3), (2, "c", 10), (3, "a", 1)],  # of several units: visits 0 to 4 are many people's
    },
}
"""Nine kinds of unit, each of which is removed, or put in another's place, in a neighbour."""


def units(seed: int) -> dict[str, Rows]:
    """Every unit's rows, by name: the awkward ones and twelve ordinary ones."""
    chance = random.Random(seed)
    ordinary = {f"ordinary {i}": _ordinary(i, chance) for i in range(12)}
    return {**AWKWARD, **ordinary}


def _ordinary(number: int, chance: random.Random) -> Rows:
    patient = (chance.randrange(111), chance.choice("FMX"), chance.choice(CITIES)[0], chance.uniform(2, 250))
    visits = [
        (
            chance.randrange(5),
            chance.uniform(-20, 260),
            chance.randrange(-9, 25),
            date.fromordinal(FIRST.toordinal() + chance.randrange(366)),
            chance.choice(WARDS),
            chance.choice(("flu", "flu", "cold", None)),
        )
        for _ in range(chance.randrange(1, 6))
    ]
    notes = [
        (chance.randrange(10), chance.gauss(0, 3), chance.randrange(9), _day(chance.randrange(1, 13)))
        for _ in range(chance.randrange(4))
    ]
    treatments = [(chance.randrange(5), chance.choice("abc"), chance.randrange(12)) for _ in range(chance.randrange(3))]
    return {"patients": [patient], "visits": visits, "notes": notes, "treatments": treatments}


def write_database(path: Path, seed: int, present: Collection[str]) -> None:
    """A DuckDB file with the rows of the units that are present, in an order of its own.

    A treatment names no unit but a visit, and stays when nobody has that visit: it is then nobody's.
    """
    everybody = units(seed)
    shuffled = random.Random(f"{seed} {sorted(present)}")
    with connected(path) as connection:
        connection.begin()
        connection.execute("CREATE TABLE beds (ward VARCHAR, floor INTEGER, beds INTEGER)")
        _insert(connection, "beds", BEDS)
        connection.execute("CREATE TABLE cities (name VARCHAR, region VARCHAR, km DOUBLE)")
        _insert(connection, "cities", CITIES)
        for table, columns in TABLES.items():
            owned = table != "treatments"
            rows = [
                (number, *row) if owned else row
                for number, (name, tables) in enumerate(everybody.items())
                if name in present or not owned
                for row in tables[table]
            ]
            shuffled.shuffle(rows)
            connection.execute(f"CREATE TABLE {table} ({columns})")
            _insert(connection, table, rows)
        connection.commit()


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        row = f"({', '.join('?' * len(rows[0]))})"
        flat = [value for values in rows for value in values]
        connection.execute(f"INSERT INTO {table} VALUES {', '.join([row] * len(rows))}", flat)
