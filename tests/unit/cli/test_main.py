"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import dpsql
from tests.unit.cli.clinic import POLICY, Clinic, assert_one_clear_error


def test_help_lists_the_commands_that_exist(clinic: Clinic) -> None:
    ran = clinic.dpsql("--help")
    assert ran.code == 0
    for command in (
        "init",
        "check",
        "refresh",
        "explain",
        "query",
        "budget",
        "log",
        "ledger",
        "release",
        "schema",
        "shell",
        "audit",
    ):
        assert f"\n  {command} " in ran.out


def test_the_version_is_the_packages(clinic: Clinic) -> None:
    ran = clinic.dpsql("--version")
    assert (ran.code, ran.out) == (0, f"dpsql {dpsql.__version__}\n")


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


@pytest.mark.every(2, 1)
@pytest.mark.parametrize(
    ("closed", "out", "err"), [("<&-", 1, 1), (">&-", 0, 1), ("2>&-", 1, 0), ("<&- >&- 2>&-", 0, 0)]
)
def test_a_command_runs_where_a_standard_stream_is_closed(open_clinic: Clinic, closed: str, out: int, err: int) -> None:
    ran = without(closed, open_clinic, "budget", "clinic.yaml")
    assert (ran.returncode, int("ana" in ran.stdout)) == (0, out)
    wrong = without(closed, open_clinic, "budget", "none.yaml")
    assert (wrong.returncode, wrong.stderr.count("no such file"), "Traceback" in wrong.stderr) == (1, err, False)
    assert (open_clinic.folder / "ledger" / "clinic.ledger.db").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.slow
def test_a_closed_input_holds_nothing(open_clinic: Clinic) -> None:
    ran = without("<&-", open_clinic, "query", "clinic.yaml", "-f", "-", "--analyst", "ana")
    assert (ran.returncode, ran.stderr) == (1, "- holds no statement.\n")
    ran = without("<&-", open_clinic, "shell", "clinic.yaml", "--analyst", "ana")
    assert (ran.returncode, ran.stderr) == (0, "")


def without(closed: str, clinic: Clinic, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command whose standard streams are closed as a POSIX shell writes it."""
    command = ["sh", "-c", f'exec "$0" -m dpsql.cli "$@" {closed}', sys.executable, *arguments]
    return subprocess.run(command, cwd=clinic.folder, capture_output=True, text=True, timeout=60)


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dpsql.cli", "schema"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=20)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (1, "")
