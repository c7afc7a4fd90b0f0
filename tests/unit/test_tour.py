"""The tour of `make demo`, on a small hospital."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


pytestmark = [
    pytest.mark.doors,
    pytest.mark.chance(0, "another process draws, and nothing of the draws is asserted"),
]


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the tour prints."""
    home = tmp_path_factory.mktemp("tour")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    examples = ROOT / "examples"
    built = [str(examples / "hospital.py"), str(home / "hospital.duckdb"), "--patients", "2000", "--visits", "8000"]
    subprocess.run([sys.executable, *built], check=True, capture_output=True)
    run = subprocess.run(
        [sys.executable, str(examples / "tour.py"), str(home / "hospital.yaml")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"XDG_STATE_HOME": str(home / "state")},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def test_the_tour_asks_ten_questions_and_each_is_answered(tour: str) -> None:
    assert all(f"\n{number}. " in tour for number in range(1, 11))
    assert "\n11. " not in tour
    assert tour.count("Cost: epsilon 0.5") == 14  # ten of Ana's, two of the guests', two releases


def test_the_tour_shows_errors_and_a_free_replay(tour: str) -> None:
    assert " ± " in tour
    assert tour.count("Cost: nothing, this was released before.") == 2  # the same again, and a query over an answer


def test_the_tour_asks_ten_thousand_questions_of_its_releases(tour: str) -> None:
    assert "10,000 such questions, asked of the two tables, cost nothing." in " ".join(tour.split())


def test_the_tour_shows_refusals_and_a_budget_that_runs_out(tour: str) -> None:
    assert "UnsupportedQuery: SELECT * at 1:8" in tour
    assert "Did you mean weight?" in " ".join(tour.split())
    assert "BudgetExceeded: This query costs epsilon 0.5" in tour


def test_the_tour_ends_with_what_is_left(tour: str) -> None:
    assert "left for one query" in tour.strip().splitlines()[-6]
    assert tour.strip().endswith("The delta left is of the quarter for queries.")


def test_the_tour_is_told_as_private_answers_only(tour: str) -> None:
    assert "NOT PRIVATE" not in tour
    assert "Traceback" not in tour
