"""Sail as a cluster: a driver and two workers, which read a part of each table and send each other rows.

How rows are spread over workers is the cluster's own affair, and no answer may show it: the same bounded tables, the
same exact numbers and the same tour as over one process. SAIL_WORKERS=2 asks all of `test_spark_engine` of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import hospital
from examples.spark import Server, load, moved, running
from tests.doors.test_spark_engine import assert_bounded_alike
from tests.doors.twins import Twins, twins_on
from tests.sql.corpus import Block, blocks
from tests.unit.test_readme import ROOT

pytestmark = pytest.mark.doors
EVERY = 10  # One statement of so many of the corpus. It is a choice: they take half a minute.


@pytest.fixture(scope="module")
def workers() -> Iterator[Server]:
    pytest.importorskip("pysail", reason="pysail is not installed: pip install '.[sail]'")
    with running(workers=2) as server:
        yield server


@pytest.fixture(scope="module")
def spread(workers: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Twins]]:
    with twins_on(workers, load, moved, tmp_path_factory.mktemp("spread")) as pairs:
        yield pairs


def test_the_bounded_tables_are_the_same_however_rows_were_spread(spread: dict[str, Twins], workers: Server) -> None:
    assert assert_bounded_alike(spread, workers) > 5_000


@pytest.mark.parametrize("block", blocks("accepted.sql")[::EVERY], ids=str)
def test_a_statement_has_the_same_exact_numbers_over_workers(block: Block, spread: dict[str, Twins]) -> None:
    spread[block.policy].assert_the_same(block, "Spark")


def test_two_workers_did_the_work(spread: dict[str, Twins], workers: Server) -> None:
    with workers.asked() as session:
        standing = session.rows("SELECT port FROM system.cluster.workers WHERE status = 'RUNNING'").to_pylist()
        tasks = session.rows("SELECT max(partition) AS last FROM system.execution.tasks").to_pylist()
        stages = session.rows("SELECT max(stage) AS last FROM system.execution.stages").to_pylist()
    assert len({worker["port"] for worker in standing}) == 2
    assert tasks[0]["last"] >= 1  # some stage ran in two parts
    assert stages[0]["last"] >= 1  # some rows went from one stage to another


def test_the_tour_runs_over_workers(tmp_path: Path) -> None:
    hospital.build(tmp_path / "hospital.duckdb", patients=2_000, visits=8_000)
    shutil.copy(ROOT / "policies" / "hospital.yaml", tmp_path)
    state = os.environ | {"SAIL_WORKERS": "2", "XDG_STATE_HOME": str(tmp_path / "state")}
    state.pop("SPARK_HOME", None)
    tour = [sys.executable, str(ROOT / "examples" / "spark.py"), str(tmp_path)]
    ran = subprocess.run(tour, env=state, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "with 2 workers" in ran.stdout and "\n10. " in ran.stdout
