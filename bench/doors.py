"""What a door of a server costs over a session in the same process: the same statements, taking turns.

    python bench/doors.py [--rounds N]

The server is a process of its own, over a clinic as the soak's; the session has another such clinic in this process.
Times grow with whatever else the machine does; the processor's time of the process that answers does not, so much.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from page import circumstances, table, write
from soak import BY, PAGE, served, set_up, statement

import dpsql

ROUNDS = 300
"""Statements of each kind. It is a choice: a minute, and medians good to a tenth of a millisecond."""
WARM_UP = 10  # Statements that are not counted.


def timed(ask: Callable[[str], Any], sql: str) -> float:
    """Milliseconds of one statement."""
    began = time.perf_counter()
    ask(sql)
    return 1000 * (time.perf_counter() - began)


def processor(process: int) -> float:
    """Milliseconds of the processor that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(folder: Path, rounds: int) -> list[list[str]]:
    """For each way to ask the median of new and of stored statements, and what it is over the session's."""
    for name in ("here", "there"):
        (folder / name).mkdir()
    (_, (there,)) = (set_up(folder / "here", 1), set_up(folder / "there", 1))
    with ExitStack() as opened:
        proxy = opened.enter_context(dpsql.open(folder / "here" / "clinic.yaml"))
        session = proxy.session(analyst="analyst0")
        server, where = opened.enter_context(served(folder / "there"))
        ways = {"session": session.query} | {
            name: opened.enter_context(BY[name](address, there.name, there.token)) for name, address in where.items()
        }
        times = defaultdict[tuple[str, str], list[float]](list)
        for number in range(WARM_UP + rounds):
            for place, (name, ask) in enumerate(ways.items()):
                sql = statement(number + place * 1000)
                new, stored = timed(ask, sql), timed(ask, sql)
                if number >= WARM_UP:
                    times[name, "new"].append(new)
                    times[name, "stored"].append(stored)
        used = dict[str, float]()
        for name, ask in ways.items():
            process, sql = os.getpid() if name == "session" else server.pid, statement(1)
            ask(sql)
            before = processor(process)
            for _ in range(4 * rounds):
                ask(sql)
            used[name] = (processor(process) - before) / (4 * rounds)
    rows = []
    for name in ways:
        new, stored = (statistics.median(times[name, kind]) for kind in ("new", "stored"))
        base = [statistics.median(times["session", kind]) for kind in ("new", "stored")]
        rows.append(
            [
                name,
                f"{new:.1f}",
                f"{stored:.1f}",
                f"{new - base[0]:+.1f}",
                f"{stored - base[1]:+.1f}",
                f"{used[name]:.2f}",
            ]
        )
    return rows


def main() -> None:
    """Measures, and writes the table of docs/server.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), given.rounds)
    titles = ["asked through", "new, ms", "stored, ms", "new, over a session", "stored, over a session",
              "processor, stored, ms"]  # fmt: skip
    lines = [f"{circumstances()} Medians.", "", *table(titles, rows)]
    write("doors", lines, page=PAGE, only_print=given.rounds < ROUNDS)


if __name__ == "__main__":
    main()
