"""What a question takes whatever the size of its data, step by step: on the hospital with 1,000 patients.

    python bench/fixed.py [--rounds N] [--only-print]

The proxy is a real one: a durable ledger, both workers, noise from the kernel. Every question is asked by an analyst
who never asked before, at a price that others have asked for: it is planned, charged and answered anew.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from page import circumstances, table, write
from speed import ROWS_PER_PATIENT, build, opened

from dpsql.backend import Backend
from dpsql.session import Session

PATIENTS = 1_000  # As in bench/starting.py.
ROUNDS = 101
WARM_UP = 5  # Rounds that are not counted.
AIM = 5.0  # Milliseconds that a COUNT(*) may take. It is a choice.

PLANNED, VERIFIED, CHARGED = "read, planned and priced", "DuckDB's second look", "charged: synced log, synced mark"
RUN, NOISED, FINISHED, STORED = "the worker's round trip", "noise", "rows and intervals", "stored"
WHOLE, REST, LEAST = "whole", "all between", "least"
STEPS = (PLANNED, VERIFIED, CHARGED, RUN, NOISED, FINISHED, STORED)
QUESTIONS = {
    "`COUNT(*)`": "SELECT COUNT(*) FROM patients",
    "by sex": "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    "by an open key": "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
    "four aggregates": "SELECT sex, COUNT(*), SUM(income), AVG(income), AVG(age) FROM people GROUP BY sex",
}


class Clock:
    """Milliseconds of each step of one question: on the clock, and of the processor in the asking thread."""

    def __init__(self) -> None:
        self.wall, self.processor = defaultdict[str, float](float), defaultdict[str, float](float)

    def timed(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call that adds to a step."""

        def timed(*arguments: Any, **named: Any) -> Any:
            wall, processor = time.perf_counter(), time.thread_time()
            try:
                return call(*arguments, **named)
            finally:
                self.wall[step] += (time.perf_counter() - wall) * 1e3
                self.processor[step] += (time.thread_time() - processor) * 1e3

        return timed


class Watched:
    """An object of which some methods are steps."""

    def __init__(self, own: object, steps: Mapping[str, str], clock: Clock) -> None:
        self._own, self._steps, self._clock = own, steps, clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._own, name)
        return self._clock.timed(self._steps[name], found) if name in self._steps else found


def asked(backend: Backend, sql: str, number: int) -> Clock:
    """The steps of one question."""
    clock = Clock()
    engine: Any = Watched(backend.engine, {"verify": VERIFIED, "run": RUN, "run_all": RUN}, clock)
    ledger: Any = Watched(backend.ledger, {"charge": CHARGED, "store": STORED}, clock)
    session: Any = Session(replace(backend, engine=engine, ledger=ledger), f"analyst {number} of {sql}")
    for name, step in {"_ready": PLANNED, "_noised": NOISED, "_finish": FINISHED}.items():
        setattr(session, name, clock.timed(step, getattr(session, name)))
    clock.timed(WHOLE, session.query)(sql)
    for times in (clock.wall, clock.processor):
        times[REST] = times[WHOLE] - sum(times[step] for step in STEPS)
    return clock


def medians(backend: Backend, rounds: int) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Of each question: the median of each step, on the clock and of the processor."""
    found = {}
    for name, sql in QUESTIONS.items():
        clocks = [asked(backend, sql, number) for number in range(WARM_UP + rounds)][WARM_UP:]
        steps = (WHOLE, *STEPS, REST)
        wall = {step: statistics.median(clock.wall[step] for clock in clocks) for step in steps}
        wall[LEAST] = min(clock.wall[WHOLE] for clock in clocks)
        found[name] = wall, {step: statistics.median(clock.processor[step] for clock in clocks) for step in steps}
    return found


def lines(found: Mapping[str, tuple[dict[str, float], dict[str, float]]], rounds: int) -> list[str]:
    """The section of the page."""
    first, *others = found
    rows = [
        [
            step,
            *(f"{found[first][kind][step]:.2f}" for kind in (0, 1)),
            *(f"{found[own][0][step]:.2f}" for own in others),
        ]
        for step in (*STEPS, REST, WHOLE)
    ]
    whole, least = found[first][0][WHOLE], found[first][0][LEAST]
    told = (
        f"A `COUNT(*)` takes {whole:.1f} ms, the least of {rounds} {least:.1f} ms; the aim is {AIM:g}. Milliseconds on "
        "the clock, medians:"
    )
    return [told, "", *table(("step", first, "of them processor", *others), rows)]


def main() -> None:
    """Builds, asks, prints, and writes the table into docs/benchmarks.md."""
    arguments = argparse.ArgumentParser(description="Times the steps of a question over few rows.")
    arguments.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="counted questions of each kind")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen, told = arguments.parse_args(), circumstances()
    with tempfile.TemporaryDirectory(prefix="dpsql-fixed-", dir=Path.cwd()) as folder:  # /tmp may be no disk at all
        build(Path(folder), PATIENTS * ROWS_PER_PATIENT)
        proxy, _ = opened(Path(folder) / "speed.yaml")
        with proxy:
            found = medians(proxy._backend, chosen.rounds)
    write("fixed", [told, "", *lines(found, chosen.rounds)], only_print=chosen.only_print)


if __name__ == "__main__":
    main()
