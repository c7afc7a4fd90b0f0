"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from dpsql.cli import main
from dpsql.policy.schema import schema_text

POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: ledger/clinic.ledger.db
  mark: mark
  composition: basic
  total: {epsilon: 3}
  analysts: {ana: {epsilon: 2}}
  per_query: {epsilon: 0.5}
tables:
  visits:
    unit: patient_id
    rows_per_unit: ROWS
    rows_about: 1000
    columns: {cost: {type: integer, bounds: [0, 400]}}
"""


@dataclass(frozen=True)
class Ran:
    """How one command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Clinic:
    """A folder with a database of 1,000 visits by 100 patients, a policy, and a command line."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def dpsql(self, *arguments: str) -> Ran:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        captured = self.capture.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    def with_rows_per_unit(self, rows: int) -> Clinic:
        (self.folder / "clinic.yaml").write_text(POLICY.replace("ROWS", str(rows)))
        return self


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS "
            "SELECT i AS visit_id, i % 100 AS patient_id, (i * 7) % 401 AS cost FROM range(1000) t(i)"
        )
    return path


@pytest.fixture
def clinic(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Clinic:
    (tmp_path / "clinic.duckdb").write_bytes(database.read_bytes())
    (tmp_path / "ledger").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Clinic(tmp_path, capsys).with_rows_per_unit(10)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, database: Path) -> Path:
    """A clinic's folder, shared by tests that spend nothing."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "clinic.duckdb").write_bytes(database.read_bytes())
    (folder / "ledger").mkdir()
    return folder


@pytest.fixture
def open_clinic(built: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clinic:
    monkeypatch.chdir(built)
    monkeypatch.setenv("XDG_STATE_HOME", str(built / "state"))
    return Clinic(built, capsys).with_rows_per_unit(10)


def assert_one_clear_error(ran: Ran, *told: str) -> None:
    """Nothing on stdout, one message on stderr, exit code 1."""
    assert ran.code == 1
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for text in told:
        assert text in ran.err


# ------------------------------------------------------------------ usage


def test_help_lists_the_commands_that_exist(clinic: Clinic) -> None:
    ran = clinic.dpsql("--help")
    assert ran.code == 0
    for command in ("init", "check", "refresh", "explain", "query", "budget", "log", "ledger", "schema"):
        assert f"│ {command} " in ran.out
    for later in ("shell", "release", "audit"):
        assert f"│ {later} " not in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("query", "clinic.yaml"),
        ("query", "clinic.yaml", "SELECT 1"),
        ("query", "clinic.yaml", "SELECT 1", "--analyst", "ana", "--epsilon", "much"),
        ("query", "clinic.yaml", "SELECT 1", "--analyst", "ana", "--format", "xml"),
        ("budget", "clinic.yaml", "--reset"),
        ("budget", "clinic.yaml", "--reason", "none"),
        ("ledger", "restore", "clinic.yaml", "backup.db"),
        ("log",),
    ],
)
def test_wrong_usage_ends_with_code_2_and_no_traceback(clinic: Clinic, arguments: tuple[str, ...]) -> None:
    ran = clinic.dpsql(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err + ran.out


@pytest.mark.parametrize("command", ["check", "refresh", "budget", "log"])
def test_a_missing_policy_is_one_clear_error(clinic: Clinic, command: str) -> None:
    assert_one_clear_error(clinic.dpsql(command, "none.yaml"), "none.yaml", "no such file")


def test_a_faulty_policy_names_its_lines(clinic: Clinic) -> None:
    (clinic.folder / "clinic.yaml").write_text(POLICY.replace("ROWS", "many").replace("neighbours", "neighbors"))
    assert_one_clear_error(clinic.dpsql("check", "clinic.yaml"), "clinic.yaml:4:", "clinic.yaml:15:")


def test_terminal_escapes_in_arguments_do_not_reach_the_terminal(clinic: Clinic) -> None:
    assert "\x1b" not in clinic.dpsql("check", "\x1b[31mnone.yaml").err


# ------------------------------------------------------------------ init, check, schema


def test_init_writes_a_policy_beside_the_database_that_says_what_to_fill_in(clinic: Clinic) -> None:
    (clinic.folder / "clinic.yaml").unlink()
    ran = clinic.dpsql("init", "clinic.duckdb")
    assert ran == Ran(0, "Wrote clinic.yaml. Fill in what it marks FILL_IN, then: dpsql check clinic.yaml\n", "")
    assert "cost: {type: integer" in (clinic.folder / "clinic.yaml").read_text()
    assert_one_clear_error(clinic.dpsql("check", "clinic.yaml"), "still to be filled in")


def test_init_never_overwrites(clinic: Clinic) -> None:
    before = (clinic.folder / "clinic.yaml").read_text()
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb"), "clinic.yaml exists", "--output")
    assert (clinic.folder / "clinic.yaml").read_text() == before


def test_init_prints_on_request_and_names_the_database_from_where_the_policy_will_lie(clinic: Clinic) -> None:
    assert 'database: "clinic.duckdb"' in clinic.dpsql("init", "clinic.duckdb", "--output", "-").out
    (clinic.folder / "policies").mkdir()
    assert clinic.dpsql("init", "clinic.duckdb", "--output", "policies/new.yaml").code == 0
    assert 'database: "../clinic.duckdb"' in (clinic.folder / "policies" / "new.yaml").read_text()


def test_init_holds_no_value_of_the_data(clinic: Clinic) -> None:
    with duckdb.connect("named.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'Xanthippe' AS name, 918273 AS amount")
    text = clinic.dpsql("init", "named.duckdb", "--output", "-").out
    assert "amount" in text
    assert "Xanthippe" not in text
    assert "918273" not in text


def test_init_of_a_missing_database_or_folder_is_one_clear_error(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("init", "none.duckdb"), "none.duckdb is not a file")
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb", "--output", "no/p.yaml"), "No such file", "no/p.yaml")


def test_check_is_content_with_data_that_fit(clinic: Clinic) -> None:
    assert clinic.dpsql("check", "clinic.yaml") == Ran(0, "The policy is sound. The data fit it.\n", "")


def test_check_tells_the_owner_exact_shares(clinic: Clinic) -> None:
    ran = clinic.with_rows_per_unit(4).dpsql("check", "clinic.yaml")
    assert ran.code == 0
    assert "60.0000%" in ran.out
    assert ran.out.endswith("The policy is sound. It can be used as it is.\n")


def test_check_ends_with_code_1_where_the_policy_cannot_be_used(clinic: Clinic) -> None:
    (clinic.folder / "clinic.yaml").write_text(POLICY.replace("ROWS", "10").replace("cost:", "price:"))
    ran = clinic.dpsql("check", "clinic.yaml")
    assert ran.code == 1
    assert "price" in ran.out
    assert "do not fit the policy" in ran.err


def test_check_says_on_a_line_of_its_own_that_the_database_does_not_open(clinic: Clinic) -> None:
    (clinic.folder / "clinic.duckdb").unlink()
    assert_one_clear_error(clinic.dpsql("check", "clinic.yaml"), "There is no file")


def test_a_statement_in_the_place_of_the_policy_is_told_where_it_belongs(clinic: Clinic) -> None:
    ran = clinic.dpsql("query", "SELECT COUNT(*) FROM visits", "clinic.yaml", "--analyst", "ana")
    assert (ran.code, "the policy file comes first, then the statement" in ran.err) == (2, True)


def test_schema_prints_the_json_schema(clinic: Clinic) -> None:
    assert clinic.dpsql("schema") == Ran(0, schema_text(), "")


# ------------------------------------------------------------------ query, explain, refresh

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


# ------------------------------------------------------------------ budget, log, ledger


def test_budget_shows_all_together_and_each_analyst(clinic: Clinic) -> None:
    lines = clinic.dpsql("budget", "clinic.yaml").out.splitlines()
    assert lines[2].split() == ["all", "together", "nothing", "epsilon", "3", "epsilon", "3"]
    assert lines[3].split() == ["ana", "nothing", "epsilon", "2", "epsilon", "2"]
    assert lines[4] == "Losses add up by basic composition."


def test_budget_of_a_stranger_is_refused_also_for_a_reset(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("budget", "clinic.yaml", "--analyst", "bob"), "'bob' has no budget")
    assert_one_clear_error(
        clinic.dpsql("budget", "clinic.yaml", "--analyst", "bob", "--reset", "--reason", "try"), "'bob' has no account"
    )
    assert "reset" not in clinic.dpsql("log", "clinic.yaml").out


def test_a_reset_leaves_its_reason_in_the_log(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml", "--reset", "--reason", "new year").code == 0
    (line,) = [line for line in clinic.dpsql("log", "clinic.yaml").out.splitlines() if "reset" in line]
    assert line.endswith("new year")


def test_the_log_names_new_limits_and_versions(clinic: Clinic) -> None:
    assert clinic.dpsql("refresh", "clinic.yaml").code == 0
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("{ana: {epsilon: 2}}", "{ana: {epsilon: 2.5}, bob: {epsilon: 1}}"))
    lines = clinic.dpsql("log", "clinic.yaml").out.splitlines()
    (refreshed,) = [line for line in lines if " refresh " in line]
    assert refreshed.endswith("version 1")
    (limits,) = [line for line in lines if " limits " in line]
    assert limits.endswith("total: epsilon 3; ana: epsilon 2.5; bob: epsilon 1")


def test_a_backup_restores_as_fully_spent_until_a_reset(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    assert clinic.dpsql("ledger", "backup", "clinic.yaml", "copy.db").code == 0
    assert_one_clear_error(clinic.dpsql("ledger", "backup", "clinic.yaml", "copy.db"), "There is a file at copy.db")
    assert clinic.dpsql("ledger", "restore", "clinic.yaml", "copy.db", "--reason", "disk died").code == 0
    assert "epsilon 0\n" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out
    assert clinic.dpsql("budget", "clinic.yaml", "--reset", "--reason", "counted by hand").code == 0
    assert "epsilon 2\n" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out


def test_verify_is_content_with_a_sound_ledger_and_refuses_a_damaged_one(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    assert clinic.dpsql("ledger", "verify", "clinic.yaml").out.startswith("The ledger is sound: ")
    ledger = clinic.folder / "ledger" / "clinic.ledger.db"
    ledger.write_bytes(b"\0" * len(ledger.read_bytes()))
    assert_one_clear_error(clinic.dpsql("ledger", "verify", "clinic.yaml"), "ledger")
    assert_one_clear_error(clinic.dpsql("log", "clinic.yaml"), "ledger")


def test_a_ledger_that_went_missing_is_not_silently_made_anew(clinic: Clinic) -> None:
    assert clinic.dpsql("budget", "clinic.yaml").code == 0
    for file in (clinic.folder / "ledger").iterdir():
        file.unlink()
    assert_one_clear_error(clinic.dpsql("budget", "clinic.yaml"), "missing", "--reset")


# ------------------------------------------------------------------ interruption, bugs

SCRIPT = """
import sys, time
from dpsql.cli import app, main

@app.command()
def wait() -> None:
    print("ready", flush=True)
    time.sleep(60)

@app.command()
def stumble() -> None:
    raise ValueError("a row of private data")

main(sys.argv[1:])
"""


def test_ctrl_c_ends_with_code_130_and_says_that_charges_stay() -> None:
    command = [sys.executable, "-c", SCRIPT, "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "Interrupted. What was charged stays charged; `dpsql budget` shows it.\n"


def test_a_bug_is_told_by_kind_and_place_without_the_text_that_may_hold_data() -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, "stumble"], capture_output=True, text=True, timeout=20)
    assert ran.returncode == 1
    assert ran.stderr == "This is a bug in dpsql: ValueError at <string>:12. Please report it.\n"


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dpsql.cli", "schema"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=20)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (1, "")
