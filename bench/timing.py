"""Writes docs/under_fire.md, "Timing": what somebody learns who sees times alone, with `answer_times` and without.

    python bench/timing.py                    --runs N and --grid TIMES for a trial, which is printed alone

Two neighbouring databases are asked the same new questions in turn, in random order: in one of them there is a person
more, who has as many rows as the policy admits. A classifier that sees the seconds of each answer alone says which.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import duckdb
import numpy as np

import dpsql
from dpsql.errors import Error
from dpsql.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.page import ROOT, circumstances, table, write

RUNS = 1_500
"""Questions to each database. It is a choice: where times tell nothing, an AUC is then within 0.021 of 0.5, 95%."""
GRID = "[250ms, 1s, 10s]"
BINS = 20  # Of times, each with as many answers, for the classifier that learns. It is a choice.
POLICY = """
version: 1
name: clinic
neighbours: add_remove
engine: {{kind: duckdb, database: clinic.duckdb, cache: cache}}
budget:
  ledger: data/ledger.db
  mark: marks
  composition: basic
  total: {{epsilon: 1000}}
  analysts: {{ana: {{epsilon: 1000}}}}
  per_query: {{epsilon: 0.01}}
tables:
  visits:
    unit: patient
    rows_per_unit: {rows}
    columns: {{cost: {{type: integer, bounds: [0, 1000000]}}}}
{times}
"""
MOST = 3_000_000
"""Rows of the person, all of them within the cap: the worst neighbour that this policy admits."""
ASKED = {
    "an answer": "SELECT SUM(cost) AS n FROM visits WHERE cost * 3 > {}",
    "a refusal": "SELECT SUM(cost) AS n FROM visits WHERE patient > {}",
}


def opened(folder: Path, rows: int, is_there: bool, times: str, ends: ExitStack) -> Session:
    """A session over 20,000 rows of 2,000 people, and perhaps those of one more."""
    (folder / "data").mkdir(parents=True)
    with duckdb.connect(str(folder / "clinic.duckdb")) as database:
        database.execute("CREATE TABLE visits AS SELECT range % 2000 AS patient, range % 997 AS cost FROM range(20000)")
        if is_there:
            database.execute(f"INSERT INTO visits SELECT 2000, range % 997 FROM range({rows})")
    (folder / "clinic.yaml").write_text(POLICY.format(rows=rows, times=times))
    return ends.enter_context(dpsql.open(folder / "clinic.yaml")).session(analyst="ana")


def seconds(session: Session, sql: str) -> float:
    """How long one statement takes to be answered, or refused."""
    began = time.perf_counter()
    with suppress(Error):
        session.query(sql)
    return time.perf_counter() - began


def measured(rows: int, sql: str, times: str, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of each answer, without the person and with."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        sessions = [opened(Path(folder, str(is_there)), rows, is_there, times, ends) for is_there in (False, True)]
        found: tuple[list[float], list[float]] = ([], [])
        for turn in range(runs):
            for which in random.sample((0, 1), 2):
                found[which].append(seconds(sessions[which], sql.format(turn)))
        return np.array(found[0]), np.array(found[1])


def auc(without: np.ndarray, with_: np.ndarray) -> float:
    """How likely a score with the person is above one without; a tie counts half.

    >>> auc(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    below = np.searchsorted(np.sort(without), with_, "left"), np.searchsorted(np.sort(without), with_, "right")
    return float((below[0] + below[1]).mean() / 2 / len(without))


def learnt(without: np.ndarray, with_: np.ndarray) -> float:
    """The AUC on the second half of a classifier that learnt on the first how likely the person is at which times."""
    half = len(without) // 2
    edges = np.quantile(np.concatenate([without[:half], with_[:half]]), np.linspace(0, 1, BINS + 1)[1:-1])
    counts = [np.bincount(np.digitize(own[:half], edges), minlength=BINS) + 1 for own in (without, with_)]
    score = counts[1] / (counts[0] + counts[1])
    return auc(score[np.digitize(without[half:], edges)], score[np.digitize(with_[half:], edges)])


def row(what: str, grid: str, runs: int) -> list[str]:
    """A line of the table."""
    found = measured(MOST, ASKED[what], f"answer_times: {grid}" if grid else "", runs)
    middle, late = ([f"{1000 * np.quantile(own, share):.1f}" for own in found] for share in (0.5, 0.99))
    told = [what, f"`{grid or 'none'}`", *(" and ".join(own) for own in (middle, late))]
    return [*told, f"{auc(*found):.3f}", f"{learnt(*found):.3f}"]


def main() -> None:
    """Measures, and writes the page."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=RUNS)
    reader.add_argument("--grid", default=GRID)
    asked = reader.parse_args()
    said, cells = circumstances(), [(what, grid) for grid in (asked.grid, "") for what in ASKED]
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(row, *zip(*cells, strict=True), [asked.runs] * len(cells)))
    titles = ["what leaves", "answer_times", "median ms, without and with", "99 of 100 within", "AUC, later", "learnt"]
    noise = 1.96 / (6 * asked.runs) ** 0.5
    lines = [
        *table(titles, rows),
        "",
        f"{asked.runs:,} new questions to each of two databases, in turn: 20,000 rows of 2,000 people, and the same "
        f"with a person more, who has {MOST:,} rows. *AUC, later*: how likely what comes with the person leaves later "
        "than what comes without; 0.5 tells nothing. *learnt*: of a classifier that learnt on the first half which "
        "times speak for the person, on the second. Where times tell nothing, chance moves the first by "
        f"{noise:.3f} and the second by {noise * 2**0.5:.3f}, 19 times of 20.",
        "",
        said,
    ]
    trial = (asked.runs, asked.grid) != (RUNS, GRID)
    write("timing", lines, page=ROOT / "docs" / "under_fire.md", only_print=trial)


if __name__ == "__main__":
    main()
