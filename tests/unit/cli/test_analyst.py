"""Quotes and answers on the command line, and new data."""

from __future__ import annotations

import json
import subprocess
import sys

import duckdb
import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_query_prints_the_answer_its_error_and_its_cost_and_is_free_the_second_time(clinic: Clinic) -> None:
    ran = clinic.dpsql("query", "clinic.yaml", COUNT, "--analyst", "ana", "--epsilon", "0.25")
    assert (ran.code, ran.err) == (0, "")
    assert " ± " in ran.out
    assert "1 row. Cost: epsilon 0.25." in ran.out
    again = clinic.dpsql("query", "clinic.yaml", COUNT, "--analyst", "ana", "--epsilon", "0.25")
    assert again.out.splitlines()[2] == ran.out.splitlines()[2]
    assert "Cost: nothing, this was released before." in again.out
    assert "epsilon 1.75\n" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out
    assert clinic.dpsql("log", "clinic.yaml").out.count("charge") == 1


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_csv_and_json_hold_the_same_number(clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", COUNT, "--analyst", "ana", "--format")
    name, count = clinic.dpsql(*ask, "csv").out.splitlines()
    assert name == "n"
    assert json.loads(clinic.dpsql(*ask, "json").out)["rows"] == [[int(count)]]


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_parquet_goes_to_a_pipe_as_it_is(clinic: Clinic) -> None:
    arguments = ["query", "clinic.yaml", COUNT, "--analyst", "ana", "--format", "parquet"]
    ran = subprocess.run([sys.executable, "-m", "dpsql.cli", *arguments], capture_output=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout[:4] == ran.stdout[-4:] == b"PAR1"


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_costs_are_told_in_what_the_ledger_adds_up(clinic: Clinic) -> None:
    least = ("clinic.yaml", "SELECT MIN(cost) FROM visits")  # of a mechanism whose rho is less than epsilon implies
    told = [clinic.dpsql("explain", *least), clinic.dpsql("query", *least, "--analyst", "ana")]
    told += [clinic.dpsql("log", "clinic.yaml"), clinic.dpsql("budget", "clinic.yaml")]
    for ran in told:
        assert (ran.code, "epsilon 0.5" in ran.out, "rho" in ran.out) == (0, True, False)


def test_a_refused_query_says_what_to_write_and_spends_nothing(open_clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", "SELECT * FROM visits", "--analyst", "ana")
    assert_one_clear_error(open_clinic.dpsql(*ask), "SELECT *", "1:8", "COUNT(*)")
    assert "charge" not in open_clinic.dpsql("log", "clinic.yaml").out


def test_a_query_beyond_the_budget_says_what_is_left(open_clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", COUNT, "--analyst", "ana", "--epsilon", "2.5")
    assert_one_clear_error(open_clinic.dpsql(*ask), "costs epsilon 2.5", "has 2 of 2 left", "Nothing was read")


def test_an_unnamed_analyst_is_refused(open_clinic: Clinic) -> None:
    assert_one_clear_error(open_clinic.dpsql("query", "clinic.yaml", COUNT, "--analyst", "bob"), "'bob' has no budget")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--epsilon", "0"), ("--epsilon", "-1"), ("--max-groups-per-unit", "0"), ("--confidence", "2"), ("--rho", "0.1")],
)
def test_an_option_out_of_its_range_is_one_clear_error(open_clinic: Clinic, option: str, value: str) -> None:
    ask = ("query", "clinic.yaml", COUNT, "--analyst", "ana", option, value)
    assert_one_clear_error(open_clinic.dpsql(*ask), option.strip("-").replace("-", "_"))


def test_explain_shows_the_plan_and_spends_nothing(open_clinic: Clinic) -> None:
    ran = open_clinic.dpsql("explain", "clinic.yaml", COUNT, "--epsilon", "0.5")
    assert (ran.code, ran.err) == (0, "")
    for told in ("laplace", "Cost: epsilon 0.5.", "4 times", "The engine would run:", "The budget is that of ana."):
        assert told in ran.out
    assert "charge" not in open_clinic.dpsql("log", "clinic.yaml").out


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_refresh_makes_a_new_version_and_changed_data_ask_for_it(clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", COUNT, "--analyst", "ana")
    assert clinic.dpsql(*ask).code == 0
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("DELETE FROM visits WHERE visit_id < 500")
    assert_one_clear_error(clinic.dpsql(*ask), "dpsql refresh POLICY")
    assert clinic.dpsql("refresh", "clinic.yaml").out.startswith("The tables are at version 2.")
    assert "Cost: epsilon 0.5." in clinic.dpsql(*ask).out


def test_the_owner_is_told_why_the_data_cannot_be_read_and_an_analyst_is_not(clinic: Clinic) -> None:
    (clinic.folder / "clinic.parquet").write_bytes(b"")
    file = clinic.folder / "clinic.yaml"
    file.write_text(file.read_text().replace("  visits:\n", "  visits:\n    source: clinic.parquet\n"))
    asked = clinic.dpsql("query", "clinic.yaml", COUNT, "--analyst", "ana")
    assert_one_clear_error(asked, "The data could not be read. The data owner's log (dpsql.operator) has the details.")
    (log,) = clinic.folder.rglob("operator.log")
    assert "too small to be a Parquet file" in log.read_text()
    for command in ("refresh", "check"):
        told = clinic.dpsql(command, "clinic.yaml")
        assert told.code == 1
        assert "too small to be a Parquet file" in told.err
        assert f"The owner's log is {log}." in told.err
        assert "dpsql.operator" not in told.err


def test_a_database_that_does_not_open_tells_an_analyst_nothing_of_what_is_in_it(clinic: Clinic) -> None:
    crash = "INSERT INTO visits SELECT * FROM visits LIMIT 1"
    code = f"import duckdb, os; c = duckdb.connect('clinic.duckdb'); c.execute('{crash}'); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], cwd=clinic.folder, check=True)
    log = clinic.folder / "clinic.duckdb.wal"
    log.write_bytes(log.read_bytes()[:-1] + b"?")  # the change that was not yet in the file no longer has its checksum
    fixed = "does not open as a DuckDB database"
    for command in (("query", "clinic.yaml", COUNT, "--analyst", "ana"), ("explain", "clinic.yaml", COUNT)):
        refused = clinic.dpsql(*command)
        assert_one_clear_error(refused, fixed)
        assert "checksum" not in refused.err
    for owners in (("refresh", "clinic.yaml"), ("check", "clinic.yaml"), ("init", "clinic.duckdb", "--output", "new")):
        told = clinic.dpsql(*owners)
        assert (told.code, "checksum" in told.err) == (1, True), owners
