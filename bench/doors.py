"""What a door of a server costs over a session in the same process: the same statements, taking turns.

    python bench/doors.py [--rounds N]

The server is a process of its own, over a clinic as the soak's; the session has another such clinic in this process. A
third process answers the same calls with a constant (`floors.py`): what the libraries of a door take by themselves.
Times grow with whatever else the machine does; the processor's time of the process that answers does not, so much.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from page import circumstances, table, write
from soak import BY, MCP_PATH, PAGE, PROTOCOL, Agent, served, set_up, statement

import dpsql

ROUNDS = 300
"""Statements of each kind. It is a choice: a minute, and medians good to a tenth of a millisecond."""
WARM_UP = 10  # Statements that are not counted.
STATELESS = "2026-07-28"  # The version of MCP whose calls need no session; `PROTOCOL` is one whose do.
META = "io.modelcontextprotocol/"  # What the names of a call's own facts begin with, there.


class StatelessAgent(Agent):
    """An agent that speaks `STATELESS`, and opens no session."""

    def _begin(self) -> None:
        self._headers |= {"MCP-Protocol-Version": STATELESS}

    def send(self, method: str, parameters: dict[str, Any] | None) -> None:
        """Sends a call, whose answer `read` is to be."""
        own = dict(parameters or {})
        headers = self._headers | {"Mcp-Method": method, "Mcp-Name": own["name"]}
        own["_meta"] = {META + "protocolVersion": STATELESS, META + "clientCapabilities": {}}
        call = {"jsonrpc": "2.0", "id": next(self._calls), "method": method, "params": own}
        self.connection.request("POST", MCP_PATH, json.dumps(call), headers)


@contextmanager
def by_stateless_mcp(where: str, _: str, token: str) -> Iterator[Callable[[str], Any]]:
    """As `soak.by_mcp`, without a session."""
    agent = StatelessAgent(where, token)
    try:
        yield agent.ask
    finally:
        agent.connection.close()


WAYS = {
    "postgres": ("postgres", BY["postgres"]),
    "flight": ("flight", BY["flight"]),
    f"mcp {STATELESS}": ("mcp", by_stateless_mcp),
    f"mcp {PROTOCOL}": ("mcp", BY["mcp"]),
}
"""By which door each way goes, and how to ask by it."""
OWN = "nothing behind it: "  # What the name of a way to a constant begins with.


@dataclass
class Way:
    """One way to ask.

    Attributes:
        ask: A statement.
        process: The number of the process that answers.
        times: Milliseconds of each statement, by whether it was stored.
        used: Milliseconds of the processor for a stored statement.
    """

    ask: Callable[[str], Any]
    process: int
    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    used: float = 0

    def median(self, kind: str) -> float:
        """Milliseconds of a statement of a kind."""
        return statistics.median(self.times[kind])

    @property
    def quick(self) -> float:
        """Milliseconds of a stored statement that little else held up: nine of ten took longer."""
        return statistics.quantiles(self.times["stored"], n=10)[0]


@contextmanager
def floors() -> Iterator[tuple[int, dict[str, str]]]:
    """The process that answers with a constant, and where its doors are."""
    command = [sys.executable, "-c", "from floors import serve; serve()"]
    with subprocess.Popen(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.pid, dict(server.stdout.readline().strip().split(": ", 1) for _ in range(2))
        finally:
            server.kill()


def timed(ask: Callable[[str], Any], sql: str) -> float:
    """Milliseconds of one statement."""
    began = time.perf_counter()
    ask(sql)
    return 1000 * (time.perf_counter() - began)


def processor(process: int) -> float:
    """Milliseconds of the processor that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def opened(folder: Path, stack: ExitStack) -> dict[str, Way]:
    """All ways to ask, by their names; the first is a session's."""
    for name in ("here", "there"):
        (folder / name).mkdir()
    (_, (there,)) = (set_up(folder / "here", 1), set_up(folder / "there", 1))
    proxy = stack.enter_context(dpsql.open(folder / "here" / "clinic.yaml"))
    server, where = stack.enter_context(served(folder / "there"))
    constant, places = stack.enter_context(floors())
    ways = {"session": Way(proxy.session(analyst="analyst0").query, os.getpid())}
    for name, (door, by) in WAYS.items():
        ways[name] = Way(stack.enter_context(by(where[door], there.name, there.token)), server.pid)
        if door in places:
            ways[OWN + name] = Way(stack.enter_context(by(places[door], there.name, there.token)), constant)
    return ways


def measured(folder: Path, rounds: int) -> list[list[str]]:
    """For each way to ask the median of new and of stored statements, and what it is over the session's."""
    with ExitStack() as stack:
        ways = opened(folder, stack)
        for number in range(WARM_UP + rounds):
            for place, way in enumerate(ways.values()):
                sql = statement(number + place * 1000)
                new, stored = timed(way.ask, sql), timed(way.ask, sql)
                if number >= WARM_UP:
                    way.times["new"].append(new)
                    way.times["stored"].append(stored)
        for way in ways.values():
            sql = statement(1)
            way.ask(sql)
            before = processor(way.process)
            for _ in range(4 * rounds):
                way.ask(sql)
            way.used = (processor(way.process) - before) / (4 * rounds)
    rows, session = [], ways["session"]
    for name, way in ways.items():
        row = [name]
        for kind in ("new", "stored"):
            row.append("" if name.startswith(OWN) and kind == "new" else f"{way.median(kind):.1f}")
        for kind in ("new", "stored"):
            row.append("" if name.startswith(OWN) else f"{way.median(kind) - session.median(kind):+.1f}")
        over = "" if name.startswith(OWN) else f"{way.quick - session.quick:+.1f}"
        rows.append([*row, f"{way.quick:.1f}", over, f"{way.used:.2f}"])
    return rows


def main() -> None:
    """Measures, and writes the table of docs/server.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), given.rounds)
    titles = ["asked through", "new, ms", "stored, ms", "new, over a session", "stored, over a session",
              "stored, quickest tenth", "over a session", "processor, stored"]  # fmt: skip
    lines = [f"{circumstances()} Medians.", "", *table(titles, rows)]
    write("doors", lines, page=PAGE, only_print=given.rounds < ROUNDS)


if __name__ == "__main__":
    main()
