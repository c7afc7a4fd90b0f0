"""Many analysts at once at the doors of `dpsql serve`, some of them hostile: does it live, leak, and count right?

    python bench/soak.py --minutes 10

A server is a process of its own, over a made-up clinic. Each analyst is a thread that asks what was stored before (two
times of three) or something new, and thinks in between. One action of twenty is hostile: a wrong token, bytes that are
no message, a statement that is refused, one that is too long, a client that vanishes while it is answered. Afterwards

- the server has not crashed, and ends with status 0 when it is told to stop;
- the epsilon in the ledger is, for every analyst, the sum of the prices of the different statements that they asked;
- its file handles are as many as before; its memory has grown by no more than the limits below say.

The times go to docs/server.md.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import grpc
from page import ROOT, circumstances, table, write

from dpsql.policy import load_policy
from dpsql.server.doors import DOORS
from dpsql.server.flight.messages import Ticket
from dpsql.server.flight.wire import field as wire_field
from dpsql.server.users import Users, users_file

sys.path.insert(0, str(ROOT))  # the client lives outside the package

from tests.attacks.doors import Turned, by_flight, by_postgres
from tests.unit.server.flight.client import Client

HOSTILE = 0.05  # The share of actions that are hostile.
PRICE = Decimal("0.001")  # Epsilon of a statement.
PEOPLE = 20_000  # Rows of the clinic.
STORED = 5  # Statements of an analyst that are asked again and again.
MEGABYTE = 2**20  # Bytes.
GROWS = 40 * MEGABYTE
"""What memory may grow by after the first fifth, beside what stored answers take. A choice: allocators keep some."""
ANSWER = 4096  # Bytes that the server may keep of each statement that is in its ledger.
HANDLES = 8  # File handles that may be more at the end: connections that the system has not yet closed.
MCP_PATH, PROTOCOL = "/mcp", "2025-06-18"  # Where agents ask, and the version of their protocol that is spoken.
PATIENCE = 60.0  # Seconds for the server to begin, and to end.
DOORS_TRIED = ("flight", "postgres", "mcp")
PAGE = ROOT / "docs" / "server.md"

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  mark: mark
  composition: basic
  total: {epsilon: 1000000}
  analysts: {ACCOUNTS}
  per_query: {epsilon: 0.001}
server: {connections: 200, statements_per_minute: 60000}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 20000
    columns:
      age: {type: integer, bounds: [0, 99]}
      sex: {type: text, values: [F, M]}
"""

Ask = Callable[[str], Any]


@dataclass
class Analyst:
    """What one analyst has done.

    Attributes:
        name: Theirs.
        token: Theirs.
        asked: The different statements that were asked and may have been charged.
        unsure: Those of them whose answer was not waited for.
        times: Seconds of each statement, by whether it was new.
        hostile: What else was done.
        odd: What should not have happened.
    """

    name: str
    token: str
    asked: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    hostile: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)


def statement(number: int) -> str:
    """One of many different statements."""
    low = number % 90
    high = min(99, low + number // 90)
    return f"SELECT sex, COUNT(*) AS n FROM people WHERE age >= {low} AND age <= {high} GROUP BY sex"


# ---------------------------------------------------------------------------------------------------------- ways to ask


class Agent:
    """An agent at the MCP door in a few lines: the SDK's own client takes more time than the server.

    Args:
        where: The door.
        token: The analyst's.
    """

    def __init__(self, where: str, token: str) -> None:
        self.connection = http.client.HTTPConnection(*address(where), timeout=PATIENCE)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._calls = itertools.count(1)
        self._begin()

    def _begin(self) -> None:
        """Opens a session."""
        begun = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        answer, _ = self._post("initialize", begun)
        self._headers |= {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": PROTOCOL}
        self._post("notifications/initialized", None)

    def ask(self, sql: str) -> list[Any]:
        """The rows of an answer."""
        _, told = self._post("tools/call", {"name": "query", "arguments": {"sql": sql}})
        if told.get("isError"):
            raise Turned(told["content"][0]["text"])
        return list(told["structuredContent"]["rows"])

    def send(self, method: str, parameters: dict[str, Any] | None) -> None:
        """Sends a message, whose answer `read` is to be."""
        call = {"jsonrpc": "2.0", "method": method}
        call |= {} if parameters is None else {"params": parameters, "id": next(self._calls)}
        self.connection.request("POST", MCP_PATH, json.dumps(call), self._headers)

    def _post(self, method: str, parameters: dict[str, Any] | None) -> tuple[http.client.HTTPResponse, dict[str, Any]]:
        try:
            self.send(method, parameters)
            answer = self.connection.getresponse()
        except (OSError, http.client.HTTPException):  # the server hung up on what was hostile: on a new one, then
            self.connection.close()
            self.send(method, parameters)
            answer = self.connection.getresponse()
        body = answer.read().decode()
        if answer.status >= 300:
            raise Turned(body)
        data = next((line[6:] for line in body.splitlines() if line.startswith("data: {")), body or "{}")
        told = json.loads(data)
        if "error" in told:
            raise Turned(told["error"]["message"])
        return answer, told.get("result", {})


@contextmanager
def by_mcp(where: str, _: str, token: str) -> Iterator[Ask]:
    """An agent whose human cannot be asked, and need not: its statements cost less than ``approve_above``."""
    agent = Agent(where, token)
    try:
        yield agent.ask
    finally:
        agent.connection.close()


BY = {"flight": by_flight, "postgres": by_postgres, "mcp": by_mcp}
"""How to ask through a door; a refusal raises `Turned`."""


def address(where: str) -> tuple[str, int]:
    """Host and port of a door."""
    found = re.search(r"([^@/:]+):(\d+)(?:[/?]|$)", where.partition("://")[2].rpartition("@")[2])
    if found is None:
        raise ValueError(where)
    return found[1], int(found[2])


def hostile(kind: str, where: str, door: str, own: Analyst, ask: Ask, draws: random.Random) -> None:
    """Something hostile; the server is to refuse it, or to live through it."""
    own.hostile[kind] += 1
    try:
        match kind:
            case "a wrong token":
                with BY[door](where, "eve", f"wrong{draws.random()}"):
                    own.odd.append("a wrong token opened the door")
            case "bytes that are no message":
                with socket.create_connection(address(where), timeout=5) as raw:
                    raw.sendall(draws.randbytes(draws.randrange(1, 2000)))
            case "a client that vanishes":
                sql = statement(draws.randrange(4000))
                own.asked.add(sql)
                own.unsure.add(sql)
                vanish(where, door, own, sql)
            case "a refused statement":
                ask("SELECT person FROM people")
                own.odd.append("a statement about one person was answered")
            case "a huge statement":
                ask("SELECT COUNT(*) FROM people -- " + "x" * draws.randrange(100_001, 1_000_000))
                own.odd.append("a huge statement was answered")
    except (Turned, grpc.RpcError, OSError, AssertionError):
        pass
    except Exception as error:  # noqa: BLE001 - none is expected
        own.odd.append(f"{kind}: {type(error).__name__}: {error}"[:500])


def vanish(where: str, door: str, own: Analyst, sql: str) -> None:
    """Begins to ask, and is gone."""
    if door == "mcp":
        agent = Agent(where, own.token)
        agent.send("tools/call", {"name": "query", "arguments": {"sql": sql}})
        time.sleep(0.005)
        agent.connection.close()
        return
    if door == "flight":
        client = Client(where, f"Bearer {own.token}")
        client.start("DoGet", wire_field(1, Ticket(sql).written()))
        time.sleep(0.005)
        client.__exit__()
        return
    with BY[door](where, own.name, own.token) as ask, suppress(Exception):
        Thread(target=lambda: _quietly(ask, sql), daemon=True).start()
        time.sleep(0.005)


def _quietly(ask: Ask, sql: str) -> None:
    with suppress(Exception):
        ask(sql)


KINDS = (
    "a wrong token", "bytes that are no message", "a client that vanishes", "a refused statement", "a huge statement",
)  # fmt: skip


def works(own: Analyst, door: str, where: str, until: float, thinks: float, seed: int) -> None:
    """What one analyst does until the end."""
    draws = random.Random(seed)
    stored = [statement(seed * 10 + i) for i in range(STORED)]
    with BY[door](where, own.name, own.token) as ask:
        while time.monotonic() < until:
            time.sleep(draws.expovariate(1 / thinks))
            if draws.random() < HOSTILE:
                hostile(draws.choice(KINDS), where, door, own, ask, draws)
                continue
            sql = draws.choice(stored) if draws.random() < 2 / 3 else statement(draws.randrange(4000))
            kind = "stored" if sql in own.asked else "new"
            own.asked.add(sql)
            began = time.monotonic()
            try:
                rows = ask(sql)
            except Exception as error:  # noqa: BLE001 - none is expected
                own.odd.append(f"{type(error).__name__}: {error}"[:500])
                continue
            own.times[f"{door}, {kind}"].append(time.monotonic() - began)
            if len(rows) != 2:
                own.odd.append(f"{len(rows)} rows")


# ----------------------------------------------------------------------------------------------------------- the server


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """The server's process, and where its doors are."""
    names = [kind.name for kind in DOORS if kind.name in DOORS_TRIED]
    options = [word for name in names for word in (f"--{name}", "127.0.0.1:0")]
    command = [sys.executable, "-m", "dpsql.cli", "serve", str(folder / "clinic.yaml"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            lines = [server.stdout.readline().strip() for _ in names]
            yield server, dict(line.split(": ", 1) for line in lines)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(PATIENCE)


def memory_and_handles(process: int) -> tuple[int, int]:
    """Bytes and file handles that a process holds (Linux)."""
    resident = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert resident is not None
    return int(resident[1]) * 1024, len(list(Path(f"/proc/{process}/fd").iterdir()))


def set_up(folder: Path, analysts: int) -> list[Analyst]:
    """The clinic, and a token for each analyst."""
    names = [f"analyst{i}" for i in range(analysts)]
    accounts = ", ".join(f"{name}: {{epsilon: 10000}}" for name in names)
    (folder / "clinic.yaml").write_text(POLICY.replace("ACCOUNTS", accounts))
    (folder / "mark").mkdir()
    with duckdb.connect(str(folder / "clinic.duckdb")) as database:
        database.execute(
            "CREATE TABLE people AS SELECT i AS person, i % 90 AS age, ['F', 'M'][1 + i % 2] AS sex "
            f"FROM range({PEOPLE}) t(i)"
        )
    policy = load_policy(folder / "clinic.yaml")
    users = Users(users_file(policy))
    return [Analyst(name, users.add(name, policy)) for name in names]


def spent(where: str, own: Analyst) -> Decimal:
    """An analyst's epsilon in the ledger, after each statement of theirs is surely charged: stored ones are free."""
    with by_flight(where, own.name, own.token) as ask:
        for sql in sorted(own.unsure):
            ask(sql)
        ((told, *_),) = ask("SHOW BUDGET")
    found = re.search(r"epsilon ([0-9.]+)", told)
    return Decimal(found[1]) if found else Decimal(0)


def wrong_sums(where: str, analysts: Sequence[Analyst]) -> list[str]:
    """Who was not charged the sum of their prices."""
    found = []
    for own in analysts:
        has, due = spent(where, own), PRICE * len(own.asked)
        if has != due:
            found.append(f"{own.name} was charged {has}, and asked for {due}")
    return found


def soak(folder: Path, count: int, minutes: float, thinks: float) -> tuple[list[Analyst], list[str], list[str]]:
    """Lets them in.

    Returns:
        The analysts; what was seen of the server, line by line; and what is wrong.
    """
    analysts = set_up(folder, count)
    with served(folder) as (server, where):
        doors = list(where)
        _, handles = memory_and_handles(server.pid)
        until = time.monotonic() + 60 * minutes
        threads = [
            Thread(target=works, args=(own, doors[i % len(doors)], where[doors[i % len(doors)]], until, thinks, i))
            for i, own in enumerate(analysts)
        ]
        for thread in threads:
            thread.start()
        seen = list[tuple[int, int]]()
        while any(thread.is_alive() for thread in threads) and server.poll() is None:
            seen.append(memory_and_handles(server.pid))
            time.sleep(max(1.0, 60 * minutes / 60))
        for thread in threads:
            thread.join()
        wrong = [f"{own.name}: {odd}" for own in analysts for odd in own.odd]
        if server.poll() is not None:
            return analysts, [], [*wrong, f"the server ended with status {server.returncode}"]
        wrong += wrong_sums(where["flight"], analysts)
        time.sleep(2)
        last = memory_and_handles(server.pid)
    memory = [resident for resident, _ in seen]
    fifth = statistics.median(memory[len(memory) // 5 : 2 * len(memory) // 5] or memory)
    charged = sum(len(own.asked) for own in analysts)
    if last[0] - fifth > GROWS + ANSWER * charged:
        wrong.append(f"memory grew from {fifth / MEGABYTE:.0f} to {last[0] / MEGABYTE:.0f} MB")
    if last[1] > handles + HANDLES:
        wrong.append(f"file handles grew from {handles} to {last[1]}")
    if server.returncode:
        wrong.append(f"the server ended with status {server.returncode}")
    lines = [
        f"Memory: {fifth / MEGABYTE:.0f} MB in the second fifth, {last[0] / MEGABYTE:.0f} MB at the end. File handles: "
        f"{handles} before, {max(own for _, own in seen)} at most, {last[1]} afterwards. {charged:,} statements were "
        "charged, and the ledger is their sum."
    ]
    return analysts, lines, wrong


def times(analysts: Sequence[Analyst]) -> list[str]:
    """A table of the times, in milliseconds."""
    every = defaultdict[str, list[float]](list)
    for own in analysts:
        for kind, found in own.times.items():
            every[kind] += found
    rows = []
    for kind, found in sorted(every.items()):
        cuts = statistics.quantiles(found, n=100) if len(found) > 1 else found * 99
        rows.append([kind, f"{len(found):,}", f"{1000 * cuts[49]:.1f}", f"{1000 * cuts[98]:.1f}"])
    return table(["door, statement", "statements", "p50, ms", "p99, ms"], rows)


def main() -> None:
    """Runs it; status 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--analysts", type=int, default=64)
    parser.add_argument("--thinks", type=float, default=2.0, help="seconds between two statements of one, on average")
    parser.add_argument("--only-print", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        analysts, lines, wrong = soak(Path(folder), given.analysts, given.minutes, given.thinks)
    bad = sum((own.hostile for own in analysts), Counter())
    told = ", ".join(f"{number} times {kind}" for kind, number in sorted(bad.items()))
    lines = [
        f"{circumstances()} {given.analysts} analysts, {given.minutes:g} minutes, {given.thinks:g} s between two "
        f"statements of one. Hostile: {told}. {' '.join(lines)}",
        "",
        *times(analysts),
    ]
    write("soak", lines, page=PAGE, only_print=given.only_print or bool(wrong))
    print("\n".join(wrong[:20] or ["Nothing is wrong."]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
