"""Ctrl-C while a table is made: the charge stays, nobody sees anything, and the same statement goes on for nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dpsql
from dpsql.errors import ProgrammingError
from tests.unit.releasing.test_creating import build, rows, spent

SQL = "CREATE SYNTHETIC TABLE few WITH (method = 'mwem', workload = 'marginals(1)') AS SELECT age, sex FROM people"
SCRIPT = """
import sys, time
import dpsql
from dpsql.cli import app, main

@app.command()
def make(policy: str, sql: str, until: float) -> None:
    def progress(step: str, done: float) -> None:
        if done >= until:
            print(step, flush=True)
            for _ in range(6000):
                time.sleep(0.01)
    with dpsql.open(policy) as proxy:
        proxy.session(analyst="ana").query(sql, progress=progress, epsilon=0.5)

main(sys.argv[1:])
"""


def interrupt(policy: Path, until: float) -> str:
    """The step of that share done, at which the whole group of processes got what a terminal sends.

    It waits there in many short sleeps: Python looks at signals between them, and sleeps one whole that came after its
    last look and before the sleep began (1 in 6,000 long sleeps on a busy machine).
    """
    command = [sys.executable, "-c", SCRIPT, "make", str(policy), SQL, str(until)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        step = process.stdout.readline().strip()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "Interrupted. What was charged stays charged; `dpsql budget` shows it.\n"
    return step


STEPS = {0.0: "counting rows", 0.3: "releasing by mwem", 0.9: "keeping it in the ledger"}


@pytest.mark.chance(0, "asserts nothing of the draws")
@pytest.mark.parametrize("places", [[0.3], pytest.param(list(STEPS), marks=pytest.mark.slow)])
def test_ctrl_c_leaves_one_charge_and_the_same_statement_goes_on_for_nothing(
    tmp_path: Path, places: list[float]
) -> None:
    policy = build(tmp_path)
    assert [interrupt(policy, until) for until in places] == [STEPS[until] for until in places]
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert spent(session) == 0.5
        with pytest.raises(ProgrammingError, match="few was paid for, but its process was lost"):
            session.query("SELECT COUNT(*) FROM few")
        made = session.query(SQL, epsilon=0.5)
        assert (made.rows[0][-1], made.cost.epsilon, spent(session)) == ("nothing", 0, 0.5)
        assert rows(session, "SELECT COUNT(*) FROM few") == [(made.rows[0][2],)]
