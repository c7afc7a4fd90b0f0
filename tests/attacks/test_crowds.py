"""Ten thousand connections at each door of a server that runs: who was in goes on, and all is as before afterwards.

The server is a process of its own with as many file handles as systems give by default. Two crowds come: one says
nothing, one sends what is no message.
"""

from __future__ import annotations

import http.client
import json
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from dpsql.policy import load_policy
from dpsql.server.doors import DoorKind
from dpsql.server.events import FILE
from dpsql.server.users import Users, users_file
from tests.attacks.doors import KINDS, Way, by_flight, by_postgres
from tests.unit.server.clinic import COUNT, POLICY, write_clinic

pytestmark = [pytest.mark.slow, pytest.mark.chance(0, "only counts of connections are asserted")]

CROWD = 10_000  # Connections.
BESIDE = 500  # File handles that this process needs beside the crowd's.
HANDLES = 1024  # Those of the server: what most systems give a process that does not ask for more.
LINES = 500
"""Lines of the owner's log for one crowd and who asks meanwhile: strangers leave 60 a minute of a kind."""
FEW = 3  # File handles that may be more afterwards: connections that the system has not yet closed.
PAUSE = 0.3  # Seconds between two statements of who was in.
PATIENCE = 60.0  # Seconds, for the server's beginning and end and for what a crowd leaves behind.
NOISE = b"\x00\xff no message of any protocol \r\n\r\n"
CONNECTING = 500  # Connections of a crowd that begin at a time.


@dataclass(frozen=True)
class Served:
    """A server.

    Attributes:
        process: Its number.
        where: Its doors.
        token: Ana's.
        log: The owner's.
    """

    process: int
    where: dict[str, str]
    token: str
    log: Path

    @property
    def handles(self) -> int:
        """File handles that are open."""
        return len(list(Path(f"/proc/{self.process}/fd").iterdir()))

    @property
    def lines(self) -> int:
        """Lines of the log; a crowd is to leave too few for it to become another file."""
        return len(self.log.read_text().splitlines())


@pytest.fixture(scope="module")
def handles() -> Iterator[None]:
    """As many file handles in this process as a crowd needs, where the system gives them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = CROWD + BESIDE
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"a process may have {hard} file handles here, and the crowd needs {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def served(handles: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not tell a process's file handles in /proc")
    folder = tmp_path_factory.mktemp("clinic")
    text = POLICY.replace("composition: zcdp", "composition: zcdp\n  mark: mark")
    file = write_clinic(folder, re.sub(r"connections: \d+, ", "", text))
    (folder / "mark").mkdir(mode=0o700)
    policy = load_policy(file)
    token = Users(users_file(policy)).add("ana", policy)
    options = [word for kind in KINDS for word in (f"--{kind.name}", "127.0.0.1:0")]
    command = [sys.executable, "-m", "dpsql.cli", "serve", str(file), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (HANDLES, hard))
            assert server.stdout is not None
            where = dict(server.stdout.readline().strip().split(": ", 1) for _ in KINDS)
            (log,) = folder.rglob(FILE)
            yield Served(server.pid, where, token, log)
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(PATIENCE) == 0


@contextmanager
def by_mcp(where: str, _: str, token: str) -> Iterator[Way]:
    """An agent whose one connection stays open."""
    host, port = re.findall(r"//([^:]+):(\d+)", where)[0]
    connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
    version, names = "2026-07-28", "io.modelcontextprotocol/"
    headers = {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/call", "Mcp-Name": "query",
    }  # fmt: skip

    def ask(sql: str) -> list[tuple[Any, ...]]:
        meta = {names + "protocolVersion": version, names + "clientCapabilities": {}}
        parameters = {"name": "query", "arguments": {"sql": sql, "epsilon": 0.1}, "_meta": meta}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
        connection.request("POST", "/mcp", json.dumps(call), headers)
        told = json.loads(connection.getresponse().read())
        return [tuple(row) for row in told["result"]["structuredContent"]["rows"]]

    try:
        yield ask
    finally:
        connection.close()


BY: dict[str, Callable[[str, str, str], Any]] = {"flight": by_flight, "mcp": by_mcp, "postgres": by_postgres}


@contextmanager
def crowd(where: str, says: bytes) -> Iterator[list[socket.socket]]:
    """Ten thousand connections, each held open until all are there, and until the caller goes on."""
    host, port = re.findall(r"([^@/:]+):(\d+)", where.partition("://")[2].rpartition("@")[2])[0]
    found, opening = list[socket.socket](), dict[int, socket.socket]()
    poll = select.poll()
    try:
        while len(found) < CROWD or opening:
            while len(found) < CROWD and len(opening) < CONNECTING:
                one = socket.socket()
                found.append(one)
                one.setblocking(False)
                one.connect_ex((host, int(port)))
                opening[one.fileno()] = one
                poll.register(one, select.POLLOUT)
            for number, _ in poll.poll(1000 * PATIENCE):
                poll.unregister(number)
                own = opening.pop(number)
                if own.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0 and says:
                    said(own, says)
        yield found
    finally:
        for one in found:
            one.close()


def said(one: socket.socket, text: bytes) -> None:
    """Sends it, unless the server has hung up."""
    try:
        one.send(text)
    except OSError:
        return


@contextmanager
def asking(way: Way) -> Iterator[list[object]]:
    """Asks the same again and again meanwhile, in a thread; what went wrong is in the list, which is to stay empty."""
    rows, wrong, ends = way(COUNT), list[object](), Event()

    def go_on() -> None:
        try:
            while not ends.wait(PAUSE):
                if way(COUNT) != rows:
                    wrong.append("another answer")
        except Exception as error:  # noqa: BLE001 - none is expected
            wrong.append(error)

    thread = Thread(target=go_on)
    thread.start()
    try:
        yield wrong
    finally:
        ends.set()
        thread.join()


@pytest.mark.parametrize("says", [pytest.param(b"", id="silent"), pytest.param(NOISE, id="noise")])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_ten_thousand_connections_hold_up_nobody_who_was_in(served: Served, kind: DoorKind, says: bytes) -> None:
    where, by = served.where[kind.name], BY[kind.name]
    with by(where, "ana", served.token) as before:
        rows = before(COUNT)
        handles, lines = served.handles, served.lines
        with asking(before) as wrong, crowd(where, says) as strangers:
            assert len(strangers) == CROWD
            assert served.handles < HANDLES
        assert wrong == []
        assert before(f"{COUNT} WHERE age > {len(kind.name) + len(says)}")  # what is new, too
        until = time.monotonic() + PATIENCE
        while (held := served.handles) > handles + FEW and time.monotonic() < until:
            time.sleep(0.1)
        assert held <= handles + FEW  # once is enough: what is never closed is there each time
    with by(where, "ana", served.token) as after:
        assert after(COUNT) == rows
    assert served.lines - lines <= LINES
