"""Quotes and answers on the command line, and new data."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

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
def test_intervals_are_columns_of_every_format(clinic: Clinic) -> None:
    ask = ("query", "clinic.yaml", COUNT, "--analyst", "ana", "--intervals", "--format")
    names, row = clinic.dpsql(*ask, "csv").out.splitlines()
    assert names == "n,n_low,n_high"
    n, low, high = map(int, row.split(","))
    assert low < n < high
    assert json.loads(clinic.dpsql(*ask, "json").out)["rows"] == [[n, low, high]]
    assert clinic.dpsql(*ask, "table").out.split()[:3] == ["n", "n_low", "n_high"]


@pytest.mark.slow
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


def test_explain_looks_at_the_shared_account_where_the_policy_names_no_analyst(clinic: Clinic) -> None:
    file = clinic.folder / "clinic.yaml"
    file.write_text(file.read_text().replace("analysts: {ana:", 'analysts: {"*":'))
    ran = clinic.dpsql("explain", "clinic.yaml", COUNT)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("The budget is that of everybody without a line in the policy.\n")


def test_explain_shows_the_plan_and_spends_nothing(open_clinic: Clinic) -> None:
    ran = open_clinic.dpsql("explain", "clinic.yaml", COUNT, "--epsilon", "0.5")
    assert (ran.code, ran.err) == (0, "")
    for told in ("laplace", "Cost: epsilon 0.5.", "4 times", "The engine would run:", "The budget is that of ana."):
        assert told in ran.out
    assert "charge" not in open_clinic.dpsql("log", "clinic.yaml").out


def test_a_refresh_says_that_replays_end_where_there_was_a_version_before(clinic: Clinic) -> None:
    assert clinic.dpsql("refresh", "clinic.yaml").out.startswith("The tables are at version 1.\n")
    then = clinic.dpsql("refresh", "clinic.yaml").out
    assert then.startswith("The tables are at version 2. Earlier answers are no longer replayed free.\n")


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
        begins = f"The data could not be read: {clinic.folder / 'clinic.parquet'}. The owner's log is {log}."
        assert begins in told.err.splitlines()[0]
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


DASHBOARD = """-- Two counts; and a mean
SELECT COUNT(*) AS n FROM visits;
SELECT COUNT(*) AS n, ';' AS mark, AVG(cost) AS mean FROM visits;
"""


@pytest.fixture
def dashboard(clinic: Clinic) -> Clinic:
    (clinic.folder / "dashboard.sql").write_text(DASHBOARD)
    return clinic


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_file_is_quoted_and_bought_together_or_one_by_one(dashboard: Clinic) -> None:
    ask, by = ("clinic.yaml", "-f", "dashboard.sql"), ("--analyst", "ana")
    quote = dashboard.dpsql("explain", *ask)
    assert (quote.code, quote.err) == (0, "")
    assert "Bought once for statements 1 and 2: COUNT(*), at epsilon 0.5." in quote.out
    assert "Cost together: epsilon 0.75. One by one: epsilon 1." in quote.out
    ran = dashboard.dpsql("query", *ask, "--together", *by)
    assert (ran.code, ran.err) == (0, "")
    assert "1 row. Cost: epsilon 0.5." in ran.out
    assert "1 row. Cost: epsilon 0.25." in ran.out
    assert "epsilon 1.25\n" in dashboard.dpsql("budget", "clinic.yaml", *by).out
    log = dashboard.dpsql("log", "clinic.yaml").out
    assert log.count("charge") == 1
    assert "mark" in log
    again = dashboard.dpsql("query", *ask, *by, "--format", "json")
    first, second = json.loads(again.out)
    assert (first["replayed"], second["replayed"]) == (True, True)
    assert first["rows"][0][0] == second["rows"][0][0]


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_one_by_one_pays_for_each_and_names_the_one_that_is_refused(dashboard: Clinic) -> None:
    (dashboard.folder / "dashboard.sql").write_text(DASHBOARD + "SELECT * FROM visits")
    ran = dashboard.dpsql("query", "clinic.yaml", "-f", "dashboard.sql", "--analyst", "ana", "--epsilon", "0.25")
    assert ran.code == 1
    assert ran.out.count("1 row. Cost: epsilon 0.25.") == 2
    assert "Statement 3: SELECT * at 1:8" in ran.err
    together = ("query", "clinic.yaml", "-f", "dashboard.sql", "--analyst", "ana", "--together")
    assert_one_clear_error(dashboard.dpsql(*together), "Statement 3: SELECT *")


def test_statements_come_from_standard_input(open_clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DASHBOARD.encode())))
    ran = open_clinic.dpsql("explain", "clinic.yaml", "-f", "-", "--half-width", "n=60")
    assert ran.code == 0
    assert "Cost together" in ran.out


def test_files_that_cannot_be_read_and_options_that_do_not_fit_are_refused(open_clinic: Clinic) -> None:
    (open_clinic.folder / "empty.sql").write_text("-- nothing; here\n;")
    (open_clinic.folder / "other.sql").write_bytes(b"SELECT '\xff'")
    (open_clinic.folder / "open.sql").write_text("SELECT 1;\nSELECT 'x")
    for file, why in (
        ("empty.sql", "holds no statement"),
        ("other.sql", "no UTF-8 text"),
        ("missing.sql", "cannot be read"),
        ("open.sql", "string at 2:8: the string is not closed"),
    ):
        assert_one_clear_error(open_clinic.dpsql("explain", "clinic.yaml", "-f", file), why)
    ask = ("query", "clinic.yaml", "--analyst", "ana")
    for wrong in ((), (COUNT, "-f", "empty.sql"), (COUNT, "--together"), (COUNT, "--half-width", "n=5")):
        assert open_clinic.dpsql(*ask, *wrong).code == 2


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_an_answer_is_drawn_beside_its_table(clinic: Clinic) -> None:
    sql = "SELECT cost < 200 AS cheap, COUNT(*) AS n FROM visits GROUP BY 1"
    ran = clinic.dpsql("query", "clinic.yaml", sql, "--analyst", "ana", "--intervals", "--plot", "n.svg")
    assert (ran.code, ran.err) == (0, "")
    assert "n_low" in ran.out
    assert "Each whisker holds the noise-free value" in Path("n.svg").read_text()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("SELECT COUNT(*) FROM visits", "--plot", "n.pdf"), "n.pdf is no name of a picture."),
        (("SELECT COUNT(*) FROM visits", "--plot", "none/n.png"), "there is no folder none."),
        (("-f", "two.sql", "--plot", "n.png"), "A picture shows one answer."),
    ],
)
def test_a_picture_that_cannot_be_made_is_refused_before_anything_is_paid(
    open_clinic: Clinic, asked: tuple[str, ...], told: str
) -> None:
    Path("two.sql").write_text("SELECT COUNT(*) FROM visits; SELECT AVG(cost) FROM visits")
    before = open_clinic.dpsql("budget", "clinic.yaml").out
    assert_one_clear_error(open_clinic.dpsql("query", "clinic.yaml", "--analyst", "ana", *asked), told)
    assert open_clinic.dpsql("budget", "clinic.yaml").out == before


@pytest.mark.chance(0, "asserts nothing of the draws")
@pytest.mark.parametrize("asked", [("-",), ("-f", "-")])
def test_a_dash_is_standard_input(clinic: Clinic, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT COUNT(*) AS n FROM visits;")))
    ran = clinic.dpsql("query", "clinic.yaml", *asked, "--analyst", "ana", "--format", "csv")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("n\n")
