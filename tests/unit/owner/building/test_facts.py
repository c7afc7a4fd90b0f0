"""The values that public tables list for private columns: which are written down as if the policy listed them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.engine.duckdb import FILE
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.building.facts import MOST_LETTERS, with_lists
from dpsql.owner.shape import MOST_PLACED, ColumnShape, TableShape
from dpsql.plan.types import Type, Value
from tests.connected import connected
from tests.unit.owner.clinic import KEY, data, policy


@pytest.mark.parametrize(
    ("declared", "kind", "values", "places"),
    [
        ("text", Type.TEXT, ("b", "a"), ("a", "b")),
        ("integer", Type.INTEGER, (3, 1), (1, 3)),
        ("date", Type.DATE, (date(2024, 5, 1), date(2024, 1, 1)), (date(2024, 1, 1), date(2024, 5, 1))),
        ("integer", Type.INTEGER, tuple(range(MOST_PLACED)), tuple(range(MOST_PLACED))),
        ("integer", Type.INTEGER, tuple(range(MOST_PLACED + 1)), ()),
        ("integer", Type.TEXT, ("1", "2"), ()),  # the column of a public table has its own type
        ("text", Type.INTEGER, (1, 2), ()),
        ("text", Type.TEXT, ("a" * MOST_LETTERS,), ("a" * MOST_LETTERS,)),
        ("text", Type.TEXT, ("a" * (MOST_LETTERS + 1),), ()),
        ("text", Type.TEXT, ("a", "b\0"), ()),
        ("text", Type.TEXT, (), ()),
        ("text", Type.TEXT, None, ()),
    ],
)
def test_few_listed_values_have_places(
    declared: str, kind: Type, values: tuple[Value, ...] | None, places: tuple[Value, ...]
) -> None:
    column = ColumnShape("ward", declared, values_from=("wards", "name"))
    table = TableShape("stays", None, False, "patient", None, 9, (column, ColumnShape("other", "text")))
    listing = PublicTable("wards", 3, {"name": PublicColumn("name", kind, None, None, values, True, 1)})
    found, other = with_lists(table, {"wards": listing}).columns
    assert found.places == places
    assert found.values_from == ("wards", "name")
    assert other == table.columns[1]


def test_another_list_of_a_public_table_gives_other_places(tmp_path: Path) -> None:
    data(tmp_path)
    stays = {"city": {"type": "text", "values_from": "cities.name"}}
    tables: Any = {"visits": {"columns": stays}}
    with connected(tmp_path / "clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN city VARCHAR DEFAULT 'Bern'")
    for version, names in enumerate((["Basel", "Bern"], ["Bern"], ["Aarau", "Basel", "Bern"], ["Basel"]), 1):
        with connected(tmp_path / "clinic.duckdb") as connection:
            connection.execute("CREATE OR REPLACE TABLE cities AS SELECT unnest($1) AS name", [names])
        build(policy(tmp_path, **tables), key=KEY, version=version, directory=tmp_path / "cache")
        file = version_directory(tmp_path / "cache", version) / FILE
        with connected(file, read_only=True) as connection:
            found = set(connection.execute('SELECT city, "city$place" FROM visits').fetchall())
        known = "Bern" in names
        assert found == {("Bern", names.index("Bern")) if known else (None, len(names))}
