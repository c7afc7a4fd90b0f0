"""The example of metrics: the policy opens, and slow questions are answered better than under plain noise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpsql.testing
from examples import homes, hospital

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy beside a small hospital."""
    home = tmp_path_factory.mktemp("homes")
    shutil.copy(ROOT / "policies" / "homes.yaml", home)
    hospital.build(home / "hospital.duckdb", patients=3000, visits=9)
    return home / "homes.yaml"


@pytest.fixture(scope="module")
def table(home: Path) -> str:
    """What the example prints, without noise: an interval ends at the bounds of an average wherever noise puts it."""
    with dpsql.testing.open(home, dpsql.testing.Noiseless()) as proxy:
        return homes.told(proxy.session(analyst="ana"))


@pytest.mark.doors
@pytest.mark.chance(0, "another process draws, and nothing of the draws is asserted")
def test_the_example_runs(home: Path, tmp_path: Path) -> None:
    for file in home.parent.iterdir():
        shutil.copy(file, tmp_path)
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "homes.py"), str(tmp_path / home.name)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count(" ± ") == 15


def test_help_is_what_the_file_says_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        homes._arguments(["--help"])
    assert left.value.code == 0
    assert "python examples/homes.py DIRECTORY/homes.yaml" in capsys.readouterr().out


def errors(table: str, question: str) -> list[float]:
    """The half widths of one line: metric, plain for the closest, plain for 500 km."""
    (line,) = (line for line in table.splitlines() if line.startswith(question))
    return [float(found) for found in re.findall(r"± ([0-9.e+]+)", line)]


@pytest.mark.slow
def test_the_metric_beats_plain_noise_that_hides_the_closest_move_as_well(table: str) -> None:
    for question in ("average elevation", "patients in California", "patients west"):
        metric, closest, _ = errors(table, question)
        assert metric < closest / 3


def test_what_varies_slowly_over_the_map_needs_less_noise_than_any(table: str) -> None:
    metric, closest, apart = errors(table, "kilometres from the middle")
    assert metric < apart / 5 < closest / 5


def test_both_kinds_of_loss_are_added_up_for_one_row(table: str) -> None:
    assert re.search(r"epsilon 0\.626, .*city 1\.1", table)
    assert re.search(r"a change of one row from i to j loses at most epsilon 0\.626 \+ 1\.1\d* d_city\(i, j\)", table)
