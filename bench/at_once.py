"""Statements a second, where several analysts ask at once: beside as many readers of DuckDB itself.

    python bench/at_once.py [--scale S] [--seconds N] [--keep FOLDER] [--only-print]

TPC-H as in `pairs.py`. Each thread asks one statement after the other, each time as an analyst who never asked before.
Beside it as many readers ask DuckDB the raw statement, over tables of its own; and as many locked workers, one for each
thread, run what the engine runs for it over the bounded tables, without a proxy: no charge, no noise, no waiting for a
worker. Threads share a proxy, or a DuckDB; each process has its own.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import secrets
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
from page import circumstances, kept, table, write
from pairs import DATABASE, PAIRS, opened, raw

import dpsql
from dpsql.engine.base import Engine, EngineStatement
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.worker.client import Worker

ASKED = ("filtered count", "six groups", "join")  # Statements of `pairs.py` that take 20 to 200 ms raw.
THREADS = (1, 2, 4, 8)
ROUNDS = 3  # Of each, in turns; the median counts.
DEADLINE = 60.0  # Seconds of one statement: none comes near it.
SECONDS = 0.25  # Of one measurement. It is a choice: three rounds of all of them within a minute and a half.

Ask = Callable[[], object]
"""Asks once more."""
Rates = dict[tuple[str, int, str], list[float]]
"""Statements a second of each round, by the statement's name, threads, and who was asked."""


class Listening:
    """An engine that notes what it runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.ran: list[EngineStatement] = []

    def run(self, statement: EngineStatement) -> RawTable:
        """The engine's own result."""
        self.ran.append(statement)
        return self._engine.run(statement)

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The engine's own results."""
        self.ran += statements
        return self._engine.run_all(statements)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def work(proxy: dpsql.Proxy, sql: str) -> list[EngineStatement]:
    """What the engine runs for a statement."""
    heard = Listening(proxy._backend.engine)
    Session(replace(proxy._backend, engine=heard), f"listening {time.time()}").query(sql)
    return heard.ran


def rate(asks: Sequence[Ask], seconds: float) -> float:
    """Statements a second of as many threads as there are to ask; what began in time counts, until its end."""
    ends, counts = time.perf_counter() + seconds, [0] * len(asks)

    def asking(place: int) -> None:
        while time.perf_counter() < ends:
            asks[place]()
            counts[place] += 1

    threads = [threading.Thread(target=asking, args=(place,)) for place in range(len(asks))]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def ours(proxy: dpsql.Proxy, sql: str) -> Ask:
    """Asks a proxy, as somebody new each time."""
    return lambda: proxy.session(analyst=secrets.token_hex(8)).query(sql)


def reader(connection: duckdb.DuckDBPyConnection, sql: str) -> Ask:
    """Asks DuckDB, over a connection of its own."""
    own = connection.cursor()
    return lambda: own.execute(sql).fetchall()


def worker(stack: ExitStack, options: Mapping[str, Any], statements: Sequence[EngineStatement]) -> Ask:
    """Has a worker of its own run what a proxy's would."""
    own = Worker(Path(options["database"]), options["memory"], options["threads"])
    stack.callback(own.close)
    return lambda: [own.run(statement, deadline=DEADLINE) for statement in statements]


def sides(stack: ExitStack, folder: Path, proxy: dpsql.Proxy) -> dict[str, Callable[[str, ExitStack], Ask]]:
    """Who is asked, by one thread: by a statement's name, and until when it may be asked."""
    options = proxy._backend.engine._workers.workers[0]._options  # type: ignore[attr-defined]
    tables = stack.enter_context(duckdb.connect(str(folder / DATABASE), read_only=True))
    works = {name: work(proxy, PAIRS[name]) for name in ASKED}
    return {
        "raw": lambda name, _: reader(tables, raw(PAIRS[name])),
        "workers": lambda name, until: worker(until, options, works[name]),
        "dpsql": lambda name, _: ours(proxy, PAIRS[name]),
    }


def measured(folder: Path, scale: float, threads: Sequence[int], seconds: float, waits: Any = None) -> Rates:
    """Statements a second: by statement, threads and side, in each round.

    Args:
        folder: Where the files are.
        scale: TPC-H's.
        threads: How many ask at once.
        seconds: Of each measurement.
        waits: A barrier of processes that measure the same at the same time.
    """
    found: Rates = {}
    with opened(folder, scale) as proxy, ExitStack() as stack:
        asked = sides(stack, folder, proxy)
        for name, number in itertools.product(ASKED, threads):
            with ExitStack() as until:
                asks = {side: [make(name, until) for _ in range(number)] for side, make in asked.items()}
                for ask in itertools.chain(*asks.values()):
                    ask()
                for _, (side, own) in itertools.product(range(ROUNDS), asks.items()):
                    if waits is not None:
                        waits.wait()
                    found.setdefault((name, number, side), []).append(rate(own, seconds))
    return found


def processes(folder: Path, scale: float, seconds: float, number: int = 2) -> Rates:
    """The sums of processes, of which each asks one statement after the other."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(number) as pool:
        waits = manager.Barrier(number)
        each = pool.starmap(measured, [(folder, scale, (1,), seconds, waits)] * number)
    return {key: [sum(rates) for rates in zip(*(own[key] for own in each), strict=True)] for key in each[0]}


def lines(threads: Rates, both: Rates, scale: float) -> list[str]:
    """The section of docs/benchmarks.md."""
    rows, ratios, gains = [], dict[str, list[float]](), dict[str, list[float]]()
    alone = {(name, side): statistics.median(threads[name, 1, side]) for name, _, side in threads}
    for rates, word in ((threads, "thread"), (both, "process")):
        for name, number, side in rates:
            if side != "dpsql":
                continue
            own = [statistics.median(rates[name, number, who]) for who in ("raw", "workers", "dpsql")]
            asking = f"{number} {word}{'' if number == 1 else 's'}" if word == "thread" else "2 processes"
            shares = [own[2] / own[1], own[2] / own[0], own[0] / alone[name, "raw"], own[2] / alone[name, "dpsql"]]
            ratios.setdefault(asking, []).append(shares[0])
            gains.setdefault(asking, []).append(shares[3] / shares[2])
            rows.append([f"{name}, {asking}", *(f"{one:.0f}" for one in own), *(f"{one:.2f}" for one in shares)])
    titles = ("asked at once", "raw", "workers alone", "dpsql", "dpsql / workers", "dpsql / raw", "raw gains", "gains")
    said = f"Statements a second over TPC-H at scale factor {scale:g}; medians of {ROUNDS} rounds in turns."
    gained = "Gains are how many times as many as one thread has answered, of raw readers and of dpsql."
    means = [_means("dpsql / workers", ratios), _means("gains of dpsql / of raw readers", gains)]
    return [circumstances(), "", said, gained, "", *table(titles, rows), "", *means]


def _means(what: str, found: Mapping[str, Sequence[float]]) -> str:
    """The geometric means over the statements."""
    means = ", ".join(f"{asking} {statistics.geometric_mean(own):.2f}" for asking, own in found.items())
    return f"{what}, geometric means: {means}."


def main() -> None:
    """Asks, prints, writes."""
    arguments = argparse.ArgumentParser(description="Counts statements that are answered at once.")
    arguments.add_argument("--scale", type=float, default=1, metavar="S", help="scale factor")
    arguments.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help="of each measurement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        threads = measured(folder, chosen.scale, THREADS, chosen.seconds)
        both = processes(folder, chosen.scale, chosen.seconds)
    write("at_once", lines(threads, both, chosen.scale), only_print=chosen.only_print)


if __name__ == "__main__":
    main()
