"""What a start does not load. `bench/starting.py` measures how long starts take."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dpsql.cli import SURROUNDINGS
from dpsql.cli.app import app, of_one
from tests.unit.cli.clinic import Clinic

LIBRARIES = {"duckdb", "numpy", "pydantic", "rich", "scipy", "sqlglot"}
FAMILIES = {"capped", "friendly_core", "located", "metric", "preprocessing", "random_dp", "releases"}


def loaded(code: str) -> set[str]:
    """The modules that a process holds in the end, in which the code ran."""
    told = f"import sys\ntry:\n    {code}\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(ran.stderr.split())


def of_dpsql(modules: set[str], room: str) -> set[str]:
    """Those of a room of dpsql, without the room."""
    return {name for name in modules if name.startswith(f"dpsql.{room}.")}


def test_importing_dpsql_loads_nothing_that_takes_time() -> None:
    modules = loaded("import dpsql")
    assert {name for name in modules if name.startswith("dpsql")} == {"dpsql"}
    assert not modules & LIBRARIES


def test_help_loads_neither_the_engine_nor_any_mathematics() -> None:
    modules = loaded("from dpsql.cli import main; main(['--help'])")
    assert not modules & LIBRARIES
    assert (
        not of_dpsql(modules, "plan")
        | of_dpsql(modules, "mechanisms")
        | of_dpsql(modules, "answers") - {"dpsql.answers.shown", "dpsql.answers.shown.extras"}
    )


def test_plain_questions_load_no_family_of_mechanisms_and_no_scipy(open_clinic: Clinic) -> None:
    (open_clinic.folder / "plain.sql").write_text("SELECT COUNT(*) FROM visits; SELECT SUM(cost) FROM visits")
    asked = "main(['query', 'clinic.yaml', '-f', 'plain.sql', '--analyst', 'ana'])"
    modules = loaded(f"from dpsql.cli import main; {asked}")
    assert not modules & {"duckdb", "rich", "scipy"}
    assert not {name for name in of_dpsql(modules, "mechanisms") if name.split(".")[2] in FAMILIES}
    unasked = {"owner.advise", "engine.duckdb.ducklake_catalogue", "worker.lying"}
    assert not modules & {f"dpsql.{name}" for name in unasked}


def test_libraries_are_told_before_they_are_loaded_unless_the_environment_says_otherwise() -> None:
    own = {"OPENBLAS_THREAD_TIMEOUT": "9"}
    told = {**SURROUNDINGS, **own}
    last = f"import atexit, os; atexit.register(lambda: print(*map(os.environ.get, {list(told)})))"
    command = [sys.executable, "-c", f"{last}\nfrom dpsql.cli import main\nmain(['--version'])"]
    surroundings = {name: value for name, value in os.environ.items() if name not in SURROUNDINGS} | own
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    assert ran.stdout.splitlines()[-1].split() == list(told.values())


@pytest.mark.slow
def test_a_command_alone_says_of_itself_what_it_says_among_all() -> None:
    whole, runner = get_command(app), CliRunner()
    assert {"query", "ledger", "user", "shell"} <= set(whole.commands)  # type: ignore[attr-defined]  # it is a group
    for name in whole.commands:  # type: ignore[attr-defined]  # as above
        alone, told = of_one([name, "--help"]), [name, "--help"]
        assert list(get_command(alone).commands) == [name]  # type: ignore[attr-defined]  # as above
        assert runner.invoke(alone, told).output == runner.invoke(app, told).output


@pytest.mark.parametrize("begun", [(), ("--version",), ("--help", "query"), ("quer",), ("",)])
def test_what_begins_with_no_command_is_for_the_whole_table(begun: tuple[str, ...]) -> None:
    assert of_one(begun) is app


@pytest.mark.parametrize(("held", "looked_through"), [("sys", False), ("duckdb", True)])
def test_what_stands_at_the_end_is_looked_through_only_where_the_database_asks_for_it(
    held: str, looked_through: bool
) -> None:
    last = "atexit.register(lambda: print('frozen' if gc.get_freeze_count() > before else 'not'))"
    first = f"import atexit, gc, {held}\nbefore = gc.get_freeze_count()"  # Python 3.12 itself freezes some objects
    code = f"{first}\n{last}\nfrom dpsql.cli import main\nmain(['--version'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ("not" if looked_through else "frozen")
    assert ran.stderr == ""
