"""What the plan is told of private columns: what may stand where, and what the bounded table holds beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.owner.catalog import build_catalog
from dpsql.plan.catalog import ColumnInfo
from tests.connected import connected
from tests.unit.owner.clinic import policy

COST = {"type": "real", "bounds": [0, 100]}
TOWN = {"age": {"type": "integer", "bounds": [0, 110]}}
DRUGS = {"unit": {"via": "visits", "on": "visit"}, "rows_per_unit": 2, "columns": {"grams": COST}}


def columns(table: str, **changes: Any) -> dict[str, ColumnInfo]:
    """The columns of a table of the clinic, without its public table."""
    changed = policy(Path("/nowhere"), patients={"columns": TOWN}, **changes)
    private = {name: own for name, own in changed.tables.items() if not own.public}
    catalog = build_catalog(changed.model_copy(update={"tables": private}), {}, 1)
    return dict(catalog.tables[table].columns)


def test_a_key_and_what_refers_to_it_share_a_link() -> None:
    assert columns("visits")["visit_id"].link == "visits.visit_id"
    drugs = columns("drugs", drugs=DRUGS)
    assert list(drugs) == ["patient_id", "visit", "grams"]
    assert (drugs["visit"].link, drugs["visit"].unit) == ("visits.visit_id", False)
    assert (drugs["patient_id"].link, drugs["patient_id"].unit) == (None, True)


def test_a_reference_to_the_unit_is_the_unit() -> None:
    drugs = columns("drugs", drugs=DRUGS | {"unit": {"via": "patients", "on": "patient"}})
    assert [(name, column.unit, column.link) for name, column in drugs.items()] == [
        ("patient_id", True, None),
        ("patient", True, None),
        ("grams", False, None),
    ]


def test_a_declared_key_is_a_column_like_others() -> None:
    declared = {"cost": COST, "visit_id": {"type": "integer", "bounds": [0, 9]}}
    visit = columns("visits", visits={"columns": declared})["visit_id"]
    assert visit.link is None
    assert visit.facts.high == 9


def test_grid_integers_are_known_where_they_are_stored() -> None:
    kinds: dict[str, dict[str, Any]] = {
        "bounded": {"type": "integer", "bounds": [0, 9]},
        "open": {"type": "integer"},
        "coarse": {"type": "integer", "bounds": [0, 90], "grid": 10},
        "real": {"type": "real"},
        "text": {"type": "text"},
    }
    found = columns("visits", visits={"columns": kinds})
    assert {name: found[name].stored_grid for name in kinds} == {
        "bounded": False,
        "open": True,
        "coarse": True,
        "real": True,
        "text": False,
    }


def test_listed_numbers_are_bounds_and_have_no_grid_integers_beside_them() -> None:
    kinds: dict[str, dict[str, Any]] = {
        "flag": {"type": "integer", "values": [1, 0]},
        "tens": {"type": "integer", "values": [30, 10, 20], "grid": 10},
        "letter": {"type": "text", "values": ["a", "b"]},
    }
    found = columns("visits", visits={"columns": kinds})
    assert [(found[name].facts.low, found[name].facts.high) for name in kinds] == [(0, 1), (10, 30), (None, None)]
    assert not any(found[name].stored_grid for name in kinds)


LISTED = """
version: 1
name: listed
engine: {kind: duckdb, database: listed.duckdb}
neighbours: add_remove
budget:
  ledger: listed.ledger.db
  composition: basic
  total: {epsilon: 100}
  analysts: {ana: {epsilon: 100}}
  per_query: {epsilon: 1}
tables:
  people: {unit: pid, rows_per_unit: 1, columns: {flag: {type: integer, values: [0, 1], GRID}}}
"""


@pytest.mark.parametrize("grid", ["grid: 1", "grid: 2"])
def test_what_the_source_rounds_otherwise_counts_as_the_listed_number_that_it_became(tmp_path: Path, grid: str) -> None:
    with connected(tmp_path / "listed.duckdb") as data:  # -0.5 rounds to -1, and becomes the integer 0
        data.execute("CREATE TABLE people AS SELECT i AS pid, -0.5::DOUBLE AS flag FROM range(40) AS t(i)")
    file = tmp_path / "listed.yaml"
    file.write_text(LISTED.replace("GRID", grid))
    with dpsql.testing.open(file, sampler=dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query("SELECT SUM(flag), AVG(flag) FROM people", epsilon=1).rows == [(0, 0.0)]
        assert session.describe("people").rows[1][2] == "0, 1"
