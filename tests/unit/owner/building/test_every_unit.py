"""A table that promises one row for every unit has it, or nothing is built and the old version stays."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql.errors import PolicyError
from dpsql.owner.checking.check import check
from dpsql.policy import load_policy
from dpsql.proxy import refresh
from tests.connected import connected

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb, cache: cache}
neighbours: replace_one
budget:
  ledger: clinic.ledger.db
  mark: clinic.mark
  composition: basic
  total: {epsilon: 10}
  analysts: {ana: {epsilon: 10}}
  per_query: {epsilon: 1}
tables:
  patients:
    unit: patient
    key: patient
    rows_per_unit: 1
    every_unit: true
    columns: {age: {type: integer, bounds: [0, 110]}}
  visits:
    unit: patient
    key: visit
    rows_per_unit: 2
    columns: {cost: {type: integer, bounds: [0, 9]}}
  plans:
    unit: {via: visits, on: visit}
    rows_per_unit: 1
    columns: {paid: {type: boolean}}
"""
COUNT = "SELECT COUNT(*) FROM patients"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The clinic: patients 1 to 3 with one row each, and a visit of patient 1; some rows are nobody's."""
    file = tmp_path / "clinic.yaml"
    file.write_text(POLICY)
    run(file, "CREATE TABLE patients (patient INTEGER, age INTEGER)")
    run(file, "INSERT INTO patients VALUES (1, 20), (2, 30), (3, NULL), (NULL, 40), (NULL, 50)")
    run(file, "CREATE TABLE visits (patient INTEGER, visit INTEGER, cost INTEGER)")
    run(file, "INSERT INTO visits VALUES (1, 10, 5), (NULL, 11, 5)")
    run(file, "CREATE TABLE plans (visit INTEGER, paid BOOLEAN)")
    run(file, "INSERT INTO plans VALUES (10, TRUE), (99, FALSE)")
    return file


def run(policy: Path, sql: str) -> None:
    with connected(policy.parent / "clinic.duckdb") as connection:
        connection.execute(sql)


BROKEN = {
    "INSERT INTO visits VALUES (4, 12, 5)": ("units have no row here", 1, 4),
    "INSERT INTO visits VALUES (4, NULL, 5)": ("units have no row here", 1, 4),  # a row that no bounded table holds
    "INSERT INTO patients VALUES (2, 31)": ("units repeat, though they are the key", 1, 3),
    "DELETE FROM patients WHERE patient = 1": ("units have no row here", 1, 3),
}
"""What breaks the promise, and what `dpsql check` says of it: the words, how many units, of how many."""


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", BROKEN)
def test_a_first_build_is_refused_and_names_the_table_and_no_number(policy: Path, sql: str) -> None:
    run(policy, sql)
    with pytest.raises(
        PolicyError, match=r"^patients says every_unit: true, but not every unit .* No tables were built"
    ):
        dpsql.open(policy)
    with pytest.raises(PolicyError):  # nothing is left of it that a second opening would find
        dpsql.open(policy)
    assert not list((policy.parent / "cache").rglob("*.duckdb"))


def test_check_finds_no_error_where_the_promise_is_kept(policy: Path) -> None:
    assert [finding for finding in check(load_policy(policy)) if finding.severity == "error"] == []


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("sql", BROKEN)
def test_check_counts_the_units(policy: Path, sql: str) -> None:
    run(policy, sql)
    words, count, units = BROKEN[sql]
    found = [finding for finding in check(load_policy(policy)) if words in finding.what]
    assert [(finding.table, finding.count, finding.severity) for finding in found] == [("patients", count, "error")]
    assert found[0].share == pytest.approx(count / units)


def test_a_refused_refresh_keeps_the_old_version_and_tells_its_analysts_nothing(policy: Path) -> None:
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query(COUNT).rows == [(3,)]
        run(policy, "INSERT INTO visits VALUES (4, 12, 5)")
        with pytest.raises(PolicyError, match="every_unit"):
            proxy.refresh()
        assert proxy.ledger.version() == 1
        assert session.query("SELECT COUNT(*) AS n FROM patients").rows == [(3,)]
        assert proxy.session(analyst="ana").query(COUNT).rows == [(3,)]
        run(policy, "INSERT INTO patients VALUES (4, 40)")
        assert proxy.refresh() == 2
        assert proxy.session(analyst="ana").query(COUNT).rows == [(4,)]


def test_a_promise_that_is_made_later_asks_for_a_new_build(policy: Path) -> None:
    policy.write_text(POLICY.replace("    every_unit: true\n", ""))
    run(policy, "INSERT INTO visits VALUES (4, 12, 5)")
    dpsql.open(policy).close()
    policy.write_text(POLICY)
    with pytest.raises(dpsql.OperationalError, match="The policy's tables changed since version 1 was built"):
        dpsql.open(policy)


def test_a_row_that_a_chain_of_keys_gives_to_two_people_is_neithers_own(policy: Path) -> None:
    text, promise = POLICY.replace("    every_unit: true\n", ""), "    every_unit: true\n    columns: {paid"
    policy.write_text(text.replace("    columns: {paid", promise))
    run(policy, "DELETE FROM patients WHERE patient > 1")
    dpsql.open(policy).close()
    run(policy, "INSERT INTO patients VALUES (2, 30)")
    run(policy, "INSERT INTO visits VALUES (2, 10, 5)")
    with pytest.raises(PolicyError, match="plans says every_unit"):
        refresh(policy)
    assert ("plans", 1) in [
        (f.table, f.count) for f in check(load_policy(policy)) if "belong to several units, though" in f.what
    ]
