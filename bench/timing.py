"""Writes docs/under_fire.md, "Timing": what somebody learns who sees times alone, with `answer_times` and without.

    python bench/timing.py                    --runs N and --grid TIMES for a trial, which is printed alone

Two neighbouring databases are asked the same new questions in turn, in random order: in one of them there is a person
more, who has as many rows as the policy admits. A classifier that sees the seconds of each answer alone says which.

How two processes happen to run differs from one pair of them to the next, and is no knowledge of data. So there are
several pairs, each opened anew, and the classifier is asked about pairs that it did not learn on.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from multiprocessing import get_context
from pathlib import Path

import duckdb
import numpy as np

import dpsql
from dpsql.errors import Error
from dpsql.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.page import ROOT, circumstances, table, write

RUNS = 850
"""Questions to each database of a pair."""
PAIRS = 8
"""Of databases, for each line of the table; even. Both are a choice: where times tell nothing, an AUC of all of them is
then within 0.01 of 0.5, 95%, and it takes 40 minutes."""
AT_ONCE = 2
"""Pairs that are asked for answers at the same time, and as many for refusals. With more they wait for each other."""
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


Pair = tuple[np.ndarray, np.ndarray]
"""Seconds of each answer, without the person and with."""


def opened(folder: Path, is_there: bool, times: str, ends: ExitStack) -> Session:
    """A session over 20,000 rows of 2,000 people, and perhaps those of one more."""
    (folder / "data").mkdir(parents=True)
    with duckdb.connect(str(folder / "clinic.duckdb")) as database:
        database.execute("CREATE TABLE visits AS SELECT range % 2000 AS patient, range % 997 AS cost FROM range(20000)")
        if is_there:
            database.execute(f"INSERT INTO visits SELECT 2000, range % 997 FROM range({MOST})")
    (folder / "clinic.yaml").write_text(POLICY.format(rows=MOST, times=times))
    return ends.enter_context(dpsql.open(folder / "clinic.yaml")).session(analyst="ana")


def seconds(session: Session, sql: str) -> float:
    """How long one statement takes to be answered, or refused."""
    began = time.perf_counter()
    with suppress(Error):
        session.query(sql)
    return time.perf_counter() - began


def measured(what: str, grid: str, runs: int) -> Pair:
    """Seconds of each answer of a new pair of databases, without the person and with."""
    times = f"answer_times: {grid}" if grid else ""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        sessions = [opened(Path(folder, str(is_there)), is_there, times, ends) for is_there in (False, True)]
        found: tuple[list[float], list[float]] = ([], [])
        for turn in range(runs):
            for which in random.sample((0, 1), 2):
                found[which].append(seconds(sessions[which], ASKED[what].format(turn)))
        return np.array(found[0]), np.array(found[1])


def auc(without: np.ndarray, with_: np.ndarray) -> float:
    """How likely a score with the person is above one without; a tie counts half.

    >>> auc(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    below = np.searchsorted(np.sort(without), with_, "left"), np.searchsorted(np.sort(without), with_, "right")
    return float((below[0] + below[1]).mean() / 2 / len(without))


def learnt(known: Sequence[Pair], asked: Sequence[Pair]) -> float:
    """The mean AUC on some pairs of a classifier that learnt on others how likely the person is at which times."""
    without, with_ = (np.concatenate(side) for side in zip(*known, strict=True))
    edges = np.quantile(np.concatenate([without, with_]), np.linspace(0, 1, BINS + 1)[1:-1])
    counts = [np.bincount(np.digitize(own, edges), minlength=BINS) + 1 for own in (without, with_)]
    score = counts[1] / (counts[0] + counts[1])
    return float(np.mean([auc(*(score[np.digitize(own, edges)] for own in pair)) for pair in asked]))


def row(what: str, grid: str, pairs: Sequence[Pair]) -> list[str]:
    """A line of the table."""
    both = [np.concatenate(side) for side in zip(*pairs, strict=True)]
    middle, late = ([f"{1000 * np.quantile(own, share):.1f}" for own in both] for share in (0.5, 0.99))
    told = [what, f"`{grid or 'none'}`", *(" and ".join(own) for own in (middle, late))]
    own = [auc(*pair) for pair in pairs]
    print(what, grid, [f"{each:.3f}" for each in own], file=sys.stderr)
    halves = pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]
    return [*told, f"{np.mean(own):.3f}", f"{(learnt(*halves) + learnt(*reversed(halves))) / 2:.3f}"]


def main() -> None:
    """Measures, and writes the page."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--runs", type=int, default=RUNS)
    reader.add_argument("--grid", default=GRID)
    asked = reader.parse_args()
    said, cells = circumstances(), [(what, grid) for grid in (asked.grid, "") for what in ASKED]
    with ExitStack() as ends:
        pools = {what: ends.enter_context(ProcessPoolExecutor(AT_ONCE, get_context("spawn"))) for what in ASKED}
        found = [[pools[what].submit(measured, what, grid, asked.runs) for _ in range(PAIRS)] for what, grid in cells]
        rows = [row(*cell, [pair.result() for pair in pairs]) for cell, pairs in zip(cells, found, strict=True)]
    titles = ["what leaves", "answer_times", "median ms, without and with", "99 of 100 within", "AUC, later", "learnt"]
    noise = 1.96 / (6 * asked.runs * PAIRS) ** 0.5
    lines = [
        *table(titles, rows),
        "",
        f"{asked.runs:,} new questions to each of two databases, in turn: 20,000 rows of 2,000 people, and the same "
        f"with a person more, who has {MOST:,} rows; and so with {PAIRS} such pairs in each line, each opened anew, "
        f"{2 * AT_ONCE} of them at once. *AUC, later*: how likely what comes with the person leaves later than what "
        "comes without; 0.5 tells nothing. *learnt*: of a classifier that learnt on half of the pairs which times "
        "speak for the person, on the other half, both ways round. Both are means of the pairs. Where times tell "
        f"nothing, chance moves each by {noise:.3f}, 19 times of 20.",
        "",
        said,
    ]
    trial = (asked.runs, asked.grid) != (RUNS, GRID)
    write("timing", lines, page=ROOT / "docs" / "under_fire.md", only_print=trial)


if __name__ == "__main__":
    main()
