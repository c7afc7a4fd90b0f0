"""Time of a query beside the same query asked of DuckDB itself: ten million visits, ten million people.

    python bench/speed.py [--rows N] [--rounds N] [--keep FOLDER] [--check]

Raw query and proxy take turns, on the same file with as many threads, so that whatever else the machine does hits both
alike. The proxy is a real one: noise from the kernel, a durable ledger, both workers. Nobody's answer is replayed:
every round asks as another analyst.

``--check`` leaves the page as it is: it fails where a query takes more of its raw query's time than the page says, by
more than `SLACK`, three times one after the other. Seconds are not compared.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from page import PAGE, ROOT, circumstances, table, write

import dpsql
from dpsql.backend import Backend
from dpsql.engine.base import Engine, EngineStatement
from dpsql.privacy.tables import RawTable
from dpsql.session import Session

sys.path.insert(0, str(ROOT))  # the hospital lives outside the package

from examples import hospital

ROWS = 10_000_000
ROUNDS = 21
WARM_UP = 3  # rounds that are not counted
SLACK = 1.3  # A ratio may be so many times the page's. It is a choice: what ratios of least times move from run to run.
TRIES = 3  # A query is slower if it is so in each of so many measurements.
ROWS_PER_PATIENT = 6
DATABASE = "speed.duckdb"


@dataclass(frozen=True, slots=True)
class Questions:
    """Queries of one kind; the same text goes to both.

    Attributes:
        kind: What they have in common.
        most: How many times the raw query's time they may take, and 20 ms; None where nothing is promised.
        queries: The texts.
    """

    kind: str
    most: float | None
    queries: tuple[str, ...]


ASKED = (
    Questions(
        "One row a person",
        1.5,
        (
            "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
            "SELECT city, COUNT(*), SUM(age), AVG(age) FROM patients GROUP BY city",
            "SELECT COUNT(*), SUM(income), AVG(age) FROM people",
            "SELECT sex, COUNT(*), SUM(income), AVG(income) FROM people GROUP BY sex",
            "SELECT district, COUNT(*), SUM(income), AVG(age) FROM people GROUP BY district",
            "SELECT district, AVG(income) FROM people WHERE age BETWEEN 18 AND 65 GROUP BY district",
        ),
    ),
    Questions(
        "Several rows a person",
        2.0,
        (
            "SELECT COUNT(*), SUM(cost), AVG(cost) FROM visits",
            "SELECT year(visited_on), COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY 1",
            "SELECT visited_on, COUNT(*), SUM(cost) FROM visits GROUP BY visited_on",
            "SELECT COUNT(DISTINCT patient_id) FROM visits",
            "SELECT sex, SUM(cost), AVG(cost) FROM visits JOIN patients USING (patient_id) GROUP BY sex",
        ),
    ),
    Questions(
        "More work than the raw query",
        None,
        (
            "SELECT sex, AVG(income * 1.1) FROM people GROUP BY sex",
            "SELECT city, age, COUNT(*) FROM patients GROUP BY city, age",
            "SELECT diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis",
            "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
        ),
    ),
)

DISTRICTS = "CREATE TABLE districts AS SELECT 'district ' || i::VARCHAR AS name FROM range(50) AS numbers(i)"
PEOPLE = """
CREATE TABLE people AS
WITH drawn AS (
    SELECT i AS person_id, hash(i, 1) / 18446744073709551616 AS u, hash(i, 2) / 18446744073709551616 AS v
    FROM range(1, $rows + 1) AS numbers(i)
)
SELECT person_id, floor(105 * u)::INTEGER AS age, CASE WHEN v < 0.5 THEN 'F' ELSE 'M' END AS sex,
       round(10000 * exp(2 * u * v), 2) AS income, 'district ' || floor(50 * u * v)::INTEGER::VARCHAR AS district
FROM drawn
"""


class Stopwatch:
    """An engine that notes how long its statements take: ``seconds``, for whoever asks to set back."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.seconds = 0.0

    def run(self, statement: EngineStatement) -> RawTable:
        """The engine's own result."""
        (found,) = self.run_all([statement])
        return found

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The engine's own results."""
        start = time.perf_counter()
        results = self._engine.run_all(statements)
        self.seconds += time.perf_counter() - start
        return results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class Proxy:
    """Sessions whose engine time can be read."""

    def __init__(self, backend: Backend) -> None:
        self.watch = Stopwatch(backend.engine)
        self._backend = replace(backend, engine=self.watch)
        self._analysts = 0

    def session(self) -> Session:
        """A session of an analyst who never asked before."""
        self._analysts += 1
        return Session(self._backend, f"analyst {self._analysts}")


def build(folder: Path, rows: int) -> None:
    """The policy, and the database where there is none yet, in a folder without a ledger or bounded tables."""
    for made in ("cache", "mark"):
        shutil.rmtree(folder / made, ignore_errors=True)
    for ledger in folder.glob("speed.ledger.db*"):
        ledger.unlink()
    shutil.copy(ROOT / "bench" / "speed.yaml", folder)
    if not (folder / DATABASE).exists():
        hospital.build(folder / DATABASE, patients=max(1, rows // ROWS_PER_PATIENT), visits=rows)
        with duckdb.connect(str(folder / DATABASE)) as connection:
            connection.execute(DISTRICTS)
            connection.execute(PEOPLE, {"rows": rows})


def opened(policy: Path) -> tuple[dpsql.Proxy, str]:
    """The proxy, and how long each table took to build."""
    steps: list[tuple[str, float]] = []
    start = time.perf_counter()
    proxy = dpsql.open(policy, progress=lambda step, share: steps.append((step, time.perf_counter() - start)))
    whole = time.perf_counter() - start
    ends = [begun for _, begun in steps[1:]]
    timed = zip(steps, ends, strict=False)  # the last step is the end
    parts = [f"{step.removeprefix('building ')} {end - begun:.1f} s" for (step, begun), end in timed]
    return proxy, f"Building the bounded tables took {whole:.1f} s in all: {', '.join(parts)}."


def measured(sql: str, raw: duckdb.DuckDBPyConnection, proxy: Proxy, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every round: ``raw``, ``engine``, ``whole``, ``plan``, ``price`` (planning at a new price)."""
    times: dict[str, list[float]] = defaultdict(list)

    def ours() -> None:
        session, proxy.watch.seconds = proxy.session(), 0.0
        times["whole"].append(clocked(lambda: session.query(sql)))
        times["engine"].append(proxy.watch.seconds * 1e3)

    def theirs() -> None:
        times["raw"].append(clocked(lambda: raw.sql(sql).fetchall()))

    session = proxy.session()
    for i in range(WARM_UP + rounds):
        for ask in (ours, theirs) if i % 2 else (theirs, ours):
            ask()
        price = 0.5 + (i + 1) / 1000
        times["plan"].append(clocked(lambda: session.explain(sql)))
        times["price"].append(clocked(partial(session.explain, sql, epsilon=price)))
    return {name: values[WARM_UP:] for name, values in times.items()}


def clocked(call: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def row(sql: str, most: float | None, times: Mapping[str, list[float]]) -> list[str]:
    """One line of the table. Ratios are of least times: other work only ever adds."""
    least = {name: min(values) for name, values in times.items()}
    shown = {name: f"{least[name]:.1f} ({statistics.median(times[name]):.1f})" for name in times}
    ratio = f"{least['engine'] / least['raw']:.2f}"
    beyond = least["whole"] - (1 if most is None else most) * least["raw"]
    return [
        f"`{sql}`",
        shown["raw"],
        shown["engine"],
        ratio,
        shown["whole"],
        f"{beyond:.0f}",
        shown["plan"],
        shown["price"],
    ]


def on_page() -> dict[str, float]:
    """Each query's ratio as the page has it."""
    section = PAGE.read_text(encoding="utf-8").partition("<!-- speed:begin -->")[2].partition("<!-- speed:end -->")[0]
    found = re.findall(r"^\| `(.*?)` \| [^|]+ \| [^|]+ \| ([0-9.]+) \|", section, flags=re.MULTILINE)
    return {sql: float(ratio) for sql, ratio in found}


def slower(raw: duckdb.DuckDBPyConnection, proxy: Proxy, rounds: int) -> list[str]:
    """What is slower beside its raw query than the page says."""
    complaints, said = [], on_page()
    for sql in (sql for kind in ASKED for sql in kind.queries):
        ratios = list[float]()
        while len(ratios) < TRIES and (not ratios or ratios[-1] > SLACK * said[sql]):
            times = measured(sql, raw, proxy, rounds)
            ratios.append(min(times["engine"]) / min(times["raw"]))
        print(f"{ratios[-1]:.2f} (the page: {said[sql]:.2f})  {sql}", flush=True)
        if ratios[-1] > SLACK * said[sql]:
            complaints.append(f"{sql} takes {min(ratios):.2f} times its raw query; the page says {said[sql]:.2f}.")
    return complaints


def titles(most: float | None) -> tuple[str, ...]:
    """Of the table's columns."""
    multiple = "" if most is None else f"{most:g} "
    return ("query", "raw", "engine", "engine / raw", "whole", f"whole - {multiple}raw", "planning", "at a new price")


@contextmanager
def place(keep: Path | None) -> Iterator[Path]:
    """The folder to work in: a given one, with the database that an earlier run left there, or one that vanishes."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="dpsql-speed-") as folder:
            yield Path(folder)
    else:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep


def main() -> None:
    """Builds, asks, prints; at full size it also writes the tables into docs/benchmarks.md."""
    arguments = argparse.ArgumentParser(description="Times queries beside the raw query.")
    arguments.add_argument("--rows", type=int, default=ROWS, metavar="N", help="visits, and people")
    arguments.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="counted rounds of each query")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the database stays for another run")
    arguments.add_argument("--check", action="store_true", help="compare with the page, and leave it as it is")
    chosen = arguments.parse_args()
    lines = [circumstances(), ""]
    with place(chosen.keep) as folder:
        build(folder, chosen.rows)
        proxy, building = opened(folder / "speed.yaml")
        patients = chosen.rows // ROWS_PER_PATIENT
        lines += [f"{chosen.rows:,} visits of {patients:,} patients, and {chosen.rows:,} people. {building}", ""]
        lines += [f"Milliseconds, the least of {chosen.rounds} rounds, and the median in brackets.", ""]
        with proxy, duckdb.connect(str(folder / DATABASE), read_only=True) as raw:
            asked = Proxy(proxy._backend)
            if chosen.check:
                sys.exit("\n".join(slower(raw, asked, chosen.rounds)) or None)
            for kind in ASKED:
                rows = [row(sql, kind.most, measured(sql, raw, asked, chosen.rounds)) for sql in kind.queries]
                lines += [f"**{kind.kind}**", "", *table(titles(kind.most), rows), ""]
    write("speed", lines[:-1], only_print=chosen.rows != ROWS)


if __name__ == "__main__":
    main()
