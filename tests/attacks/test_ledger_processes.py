"""Processes that spend one budget at once, and processes killed while they spend it.

Haeberlen, Pierce, Narayan 2011, on budgets as attack surface; SQLite's own crash tests, for the method.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsql.ledger.owner import verify
from tests.attacks.ledger_victims import LOSS, opened

ROOT = Path(__file__).parent.parent.parent
SIGKILL = 9


def run(place: Path, *job: object) -> dict[str, list[int]]:
    script = Path(__file__).with_name("ledger_victims.py")
    done = subprocess.run(
        [sys.executable, str(script), str(place / "data" / "ledger.db"), str(place / "marks"), *map(str, job)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr == ""
    outcome: dict[str, list[int]] = json.loads(done.stdout)
    return outcome


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path


def charges(place: Path, limit: int) -> list[int]:
    with opened(place / "data" / "ledger.db", place / "marks", limit) as ledger:
        entries = ledger.log()
        assert ledger.budget(None).spent.epsilon == float(LOSS.epsilon * sum(e.kind == "charge" for e in entries))
    return [entry.sequence for entry in entries if entry.kind == "charge"]


@pytest.mark.parametrize(
    ("processes", "attempts", "limit"), [(8, 25, 120), pytest.param(8, 200, 1000, marks=pytest.mark.slow)]
)
def test_processes_fill_one_budget_exactly_and_never_overspend(
    place: Path, processes: int, attempts: int, limit: int
) -> None:
    outcome = run(place, "spend", processes, attempts, limit)
    assert outcome["codes"] == [0] * processes
    assert len(outcome["answered"]) == len(set(outcome["answered"])) == limit
    assert len(outcome["refused"]) == processes * attempts - limit
    assert sorted(outcome["answered"]) == charges(place, limit)
    assert verify(place / "data" / "ledger.db", mark=place / "marks").problems == ()


@pytest.mark.parametrize(("rounds", "seed"), [(28, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_a_killed_process_loses_no_charge(place: Path, rounds: int, seed: int) -> None:
    outcome = run(place, "kill", rounds, seed)
    assert outcome["codes"] == [SIGKILL] * rounds
    charged = charges(place, 10**6)
    assert len(outcome["answered"]) > rounds // 4  # else nothing was tested
    assert set(outcome["answered"]) <= set(charged)
    assert len(charged) <= len(outcome["answered"]) + rounds  # each process dies with at most one charge unanswered
    assert verify(place / "data" / "ledger.db", mark=place / "marks").problems == ()


def test_a_child_cannot_use_its_parents_ledger(place: Path) -> None:
    assert run(place, "fork")["codes"] == [7]
    assert charges(place, 10) == []
