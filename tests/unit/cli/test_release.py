"""The owner's synthetic tables on the command line."""

from __future__ import annotations

import csv

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error

COSTS = "CREATE SYNTHETIC TABLE costs WITH (epsilon = 0.25) AS SELECT cost // 10 AS tens FROM visits"


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_an_owner_makes_lists_grants_writes_and_drops_a_table(clinic: Clinic) -> None:
    text = (clinic.folder / "clinic.yaml").read_text()
    (clinic.folder / "clinic.yaml").write_text(
        text.replace("{ana: {epsilon: 2}", "{ana: {epsilon: 2}, bob: {epsilon: 1}")
    )
    quote = clinic.dpsql("release", "create", "clinic.yaml", COSTS, "--readers", "ana", "--quote")
    assert "Nothing is spent" in quote.out
    made = clinic.dpsql("release", "create", "clinic.yaml", COSTS, "--readers", "ana")
    assert (made.code, made.err) == (0, "")
    assert "costs" in made.out
    assert "epsilon 0.25" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out
    count = ("query", "clinic.yaml", "SELECT COUNT(*) AS n FROM costs", "--analyst")
    assert "Cost: nothing: it tells of costs." in clinic.dpsql(*count, "ana").out
    assert_one_clear_error(clinic.dpsql(*count, "bob"), "no such table")
    granted = clinic.dpsql("release", "grant", "clinic.yaml", "costs", "bob").out
    assert "bob may read costs, and pays epsilon 0.25" in granted
    assert "Cost: epsilon 0.25, for the first reading: it tells of costs." in clinic.dpsql(*count, "bob").out
    listed = clinic.dpsql("release", "list", "clinic.yaml").out
    assert all(word in listed for word in ("costs", "the owner", "ana, bob"))
    wrote = clinic.dpsql("release", "export", "clinic.yaml", "costs", "costs.csv").out
    rows = list(csv.DictReader((clinic.folder / "costs.csv").read_text().splitlines()))
    assert f"Wrote {len(rows):,} rows of costs" in wrote
    assert all(row["tens"].isdigit() for row in rows)
    assert "dropped for all" in clinic.dpsql("release", "drop", "clinic.yaml", "costs").out
    kinds = clinic.dpsql("log", "clinic.yaml").out
    assert all(kind in kinds for kind in ("shared", "grant", "read", "drop"))
    assert_one_clear_error(clinic.dpsql("release", "drop", "clinic.yaml", "costs"), "no release 'costs'")
