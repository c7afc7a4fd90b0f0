"""A small clinic whose data break every promise a little, and its policy."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from dpsql.policy import Policy
from tests.connected import connected

KEY = bytes(range(32))


def policy(folder: Path, **changes: Any) -> Policy:
    """The clinic's policy over the data in a folder, with changes to the tables of the given names; without those that
    are None.
    """
    tables: dict[str, Any] = {
        "patients": {
            "unit": "patient_id",
            "key": "patient_id",
            "rows_per_unit": 1,
            "columns": {
                "age": {"type": "integer", "bounds": [0, 110]},
                "city": {"type": "text", "values_from": "cities.name"},
            },
        },
        "visits": {
            "unit": "patient_id",
            "key": "visit_id",
            "rows_per_unit": 2,
            "columns": {"cost": {"type": "real", "bounds": [0, 100], "grid": Decimal("0.01")}},
        },
        "cities": {"public": True, "key": "name"},
    }
    for name, change in changes.items():
        if change is None:
            del tables[name]
        else:
            tables[name] = tables.get(name, {}) | change
    return Policy.model_validate(
        {
            "version": 1,
            "name": "clinic",
            "engine": {"kind": "duckdb", "database": str(folder / "clinic.duckdb"), "deadline": "20s"},
            "neighbours": "add_remove",
            "budget": {
                "ledger": str(folder / "clinic.ledger.db"),
                "composition": "basic",
                "total": {"epsilon": 1},
                "analysts": {"ana": {"epsilon": 1}},
                "per_query": {"epsilon": Decimal("0.1")},
            },
            "tables": tables,
        }
    )


def data(folder: Path) -> Path:
    """The clinic's database."""
    file = folder / "clinic.duckdb"
    with connected(file) as connection:
        connection.execute(
            "CREATE TABLE cities AS SELECT * FROM (VALUES ('Basel', 1.5), ('Bern', NULL)) AS t(name, x_km)"
        )
        connection.execute(
            "CREATE TABLE patients AS SELECT * FROM (VALUES "
            "(1, 30, 'Basel'), (2, 200, 'Bern'), (3, NULL, 'Paris'), (3, 50, 'Bern'), (NULL, 60, 'Bern')) "
            "AS t(patient_id, age, city)"
        )
        connection.execute(
            "CREATE TABLE visits AS SELECT * FROM (VALUES "
            "(1, 10, 5.0::DOUBLE), (1, 11, 'nan'), (1, 12, 7.5), (1, 12, 8.5), (2, 12, 'inf'), (2, NULL, 1.0)) "
            "AS t(patient_id, visit_id, cost)"
        )
    return file
