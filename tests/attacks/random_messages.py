"""Random messages at every door, in the door's own protocol: broken, huge, too early, too many, of strangers and users.

None of them asks for anything that costs. A door must refuse them in a line of the owner's log, without a traceback,
hold up nobody, keep nothing, and answer the next honest client as before.
"""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread, Timer
from typing import IO, Any

import grpc
import httpx2 as httpx

from dpsql.server.doors import DoorKind
from dpsql.server.events import EVENTS
from dpsql.server.flight.messages import METHODS, any_message
from dpsql.server.flight.wire import field
from tests.attacks.doors import BY_DOOR
from tests.attacks.random_bytes import STATEMENTS, arrow, call, command, form, http, later, startups, texts
from tests.unit.server.clinic import COUNT, Clinic
from tests.unit.server.flight.client import Client
from tests.unit.server.opening import opened
from tests.unit.server.postgres.raw import Raw

__all__ = ["SPEAKERS", "START", "listened", "over_stdio", "tried"]

PATIENCE = 20.0  # Seconds for a door to hang up on who has nothing more to say.
AT_ONCE = 0.1  # Seconds for a web server to answer what is whole; what is not, it waits for.
GROWTH = 256 << 20  # Bytes of memory that a process may grow by: caches fill, and libraries are loaded.
PAGE = os.sysconf("SC_PAGE_SIZE")

Speaker = Callable[[str, Clinic, random.Random], Iterator[str]]
"""What somebody says at an address: for each message '' where it ended well, or what is wrong."""


def by_postgres(where: str, clinic: Clinic, rng: random.Random) -> Iterator[str]:
    """Connections, half of them let in; each says something and then no more."""
    port = int(where.rpartition(":")[2].partition("/")[0])
    while True:
        with closing(Raw(port)) as raw:
            raw.socket.settimeout(PATIENCE)
            with suppress(ConnectionError):  # it hung up while something was said
                if rng.random() < 0.5:
                    raw.send(startups(rng))
                else:
                    assert not raw.enter("ana", clinic.tokens["ana"]).errors
                    raw.send(later(rng))
                raw.socket.shutdown(socket.SHUT_WR)
            yield _to_the_end(raw.socket)


def _to_the_end(connection: socket.socket) -> str:
    try:
        with suppress(ConnectionError):
            while connection.recv(1 << 16):
                pass
    except TimeoutError:
        return "it never hung up"
    return ""


WRONG = (
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
"""What a call may not end with: something failed that nobody refused."""
HEADERS = ("", "Basic", "Basic !", "Basic bm9ib2R5Ong=", "Bearer", "Bearer x", "Digest x", "Bearer " + "x" * 5000)


def by_flight(where: str, clinic: Clinic, rng: random.Random) -> Iterator[str]:
    """Calls of a user, and of strangers."""
    with Client(where) as ana, Client(where) as stranger:
        while True:
            if not ana.header:
                ana.login("ana", clinic.tokens["ana"])
            client = rng.choice((ana, ana, ana, stranger))
            stranger.header = rng.choice(HEADERS)
            method = rng.choice(list(METHODS))
            try:
                client.call(method, METHODS[method], _request(method, rng))
                yield ""
            except grpc.RpcError as refusal:
                if client is ana and refusal.code() is grpc.StatusCode.UNAUTHENTICATED:
                    ana.header = ""  # the session was closed by one of the messages
                yield f"{method}: {refusal.code()}: {refusal.details()}" if refusal.code() in WRONG else ""


def _request(method: str, rng: random.Random) -> Any:
    """What a call takes: one message, or several."""
    match method:
        case "DoPut":
            parts = arrow(rng)
            descriptor = field(1, field(1, 2) + field(2, command(rng)))
            return iter([descriptor + part if not at else part for at, part in enumerate(parts)] or [descriptor])
        case "Handshake":
            return iter([call(rng) for _ in range(rng.randrange(3))])
        case "GetFlightInfo" | "GetSchema":
            return rng.choice((field(1, 2) + field(2, command(rng)), call(rng)))
        case "DoAction":
            name = rng.choice(
                ("CreatePreparedStatement", "ClosePreparedStatement", "SetSessionOptions", "CloseSession", "")
            )
            return field(1, name) + field(2, command(rng))
        case "DoGet":
            ticket = any_message(
                "TicketStatementQuery", field(1, field(1, rng.choice(STATEMENTS)) + field(2, call(rng)))
            )
            return field(1, rng.choice((ticket, command(rng))))
    return call(rng)


START = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
ACCEPT = "application/json, text/event-stream"


def by_mcp(where: str, clinic: Clinic, rng: random.Random) -> Iterator[str]:
    """Requests with and without a token, in a session and without one."""
    token = {"Authorization": f"Bearer {clinic.tokens['ana']}"}
    with httpx.Client(timeout=PATIENCE) as http_client:
        begun = http_client.post(where, json=START, headers={**token, "Accept": ACCEPT})
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        while True:
            headers = {"Accept": rng.choice((ACCEPT, ACCEPT, ACCEPT, "*/*", "text/html", ""))}
            headers |= token if rng.random() < 0.9 else {"Authorization": rng.choice(HEADERS)}
            headers |= session if rng.random() < 0.6 else {"mcp-session-id": "x"} if rng.random() < 0.2 else {}
            headers["Content-Type"] = rng.choice(("application/json",) * 8 + ("text/plain", ""))
            method = rng.choice(("POST",) * 9 + ("PUT", "OPTIONS", "PATCH"))
            try:
                with http_client.stream(method, where, content=texts(rng), headers=headers) as answer:
                    answer.read()
                yield f"status {answer.status_code}" if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR else ""
            except httpx.TimeoutException:
                yield "no answer came"


def by_page(where: str, clinic: Clinic, rng: random.Random) -> Iterator[str]:
    """Requests as bytes, half of them with the owner's cookie and the form's own token."""
    port = int(where.rpartition(":")[2].strip("/"))
    with httpx.Client() as browser:
        entered = browser.post(f"{where}enter", data={"token": clinic.tokens[""]})
        cookie = entered.headers["set-cookie"].partition(";")[0]
        own = form(browser.get(where, headers={"Cookie": cookie}).text)
    while True:
        with socket.create_connection(("127.0.0.1", port), timeout=AT_ONCE) as connection:
            said = b""
            with suppress(ConnectionError):
                connection.sendall(http(rng, port, cookie, own))
                with suppress(TimeoutError):  # it waits for the rest
                    while more := connection.recv(1 << 16):
                        said += more
                connection.shutdown(socket.SHUT_WR)
            connection.settimeout(PATIENCE)
            hung = _to_the_end(connection)
            failed = [line for line in said.split(b"\r\n") if line.startswith(b"HTTP/1.1 5")]
            yield hung or (f"{failed[0]!r}" if failed else "")


SPEAKERS: Mapping[str, Speaker] = {"postgres": by_postgres, "flight": by_flight, "mcp": by_mcp, "page": by_page}
"""Who speaks at each door."""


class Log(logging.Handler):
    """Keeps what no message may bring about: errors, and whatever has a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.found = list[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Looks at one line of a log."""
        text = record.getMessage()
        own = record.name == EVENTS.name
        if text.startswith("Task was destroyed"):
            return  # of the loop of another test's door, which is closed
        if record.exc_info or (json.loads(text)["event"] == "bug" if own else record.levelno >= logging.ERROR):
            self.found.append(f"in the log of {record.name}: {text[:300]} {record.exc_info or ''}")


@contextmanager
def listened() -> Iterator[list[str]]:
    """What is wrong in the logs meanwhile."""
    log = Log()
    loggers = (logging.getLogger(), EVENTS)
    for logger in loggers:
        logger.addHandler(log)
    try:
        yield log.found
    finally:
        for logger in loggers:
            logger.removeHandler(log)


def tried(kind: DoorKind, clinic: Clinic, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many messages were said at a door, and what is wrong with how they ended."""
    rng, wrong = random.Random(f"{kind.name} {seed}"), list[str]()
    with listened() as logged, opened(kind.open(clinic.server)) as where:
        honest = _honest(kind, clinic, where)
        spent, memory = _spent(clinic), _memory()
        said = SPEAKERS[kind.name](where, clinic, rng)
        for number in range(count):
            before = len(logged)
            own = next(said)
            wrong += [
                f"message {number} at {kind.name}, seed {seed}: {found}" for found in (own, *logged[before:]) if found
            ]
        said.close()  # type: ignore[attr-defined]  # all of them are generators
        if _spent(clinic) != spent:
            wrong.append(f"{kind.name}, seed {seed}: something was charged")
        clinic.server.lockout = type(
            clinic.server.lockout
        )()  # strangers locked names out, and this is the same machine
        if _honest(kind, clinic, where) != honest:
            wrong.append(f"{kind.name}, seed {seed}: an honest client is answered otherwise")
        if _memory() - memory > GROWTH:
            wrong.append(f"{kind.name}, seed {seed}: it took {(_memory() - memory) >> 20} MiB more")
    return Counter({kind.name: count}), wrong + [found for found in logged if not any(found in own for own in wrong)]


def _honest(kind: DoorKind, clinic: Clinic, where: str) -> Any:
    """What an honest client is told: an answer that was released before, or the owner's page."""
    if kind.name == "page":
        with httpx.Client() as browser:
            return browser.get(f"{where}healthz").text, browser.post(
                f"{where}enter", data={"token": clinic.tokens[""]}
            ).text
    with BY_DOOR[kind.name](where, "ana", clinic.tokens["ana"]) as way:
        return way(COUNT)


def _spent(clinic: Clinic) -> list[Any]:
    return [clinic.proxy.session(analyst=name).budget().spent for name in ("ana", "bob")]


def _memory() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def over_stdio(policy: Path, count: int, seed: int) -> list[str]:
    """What is wrong with how an agent's own process takes lines of anything, and then an honest request."""
    rng = random.Random(f"stdio {seed}")
    lines = [texts(rng).replace(b"\n", b" ") for _ in range(count)]
    honest = {"jsonrpc": "2.0", "id": "honest", "method": "tools/list"}
    lines += [json.dumps(own).encode() for own in (START, {**START, "method": "notifications/initialized"}, honest)]
    call_ = [sys.executable, "-m", "dpsql.cli", "mcp", str(policy), "--analyst", "ana"]
    with subprocess.Popen(call_, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as agent:
        assert agent.stdin and agent.stdout and agent.stderr
        Thread(target=_written, args=(agent.stdin, lines), daemon=True).start()
        late = Timer(PATIENCE * 3, agent.kill)
        late.start()
        answered = any(b'"id":"honest"' in line and b'"tools"' in line for line in agent.stdout)
        late.cancel()
        agent.kill()
        errors = agent.stderr.read().decode(errors="replace")
    traces = ["a traceback on stderr: " + errors[-1500:]] if "Traceback" in errors else []
    return [*traces, *([] if answered else [f"no answer to an honest request, seed {seed}: {errors[-1500:]}"])]


def _written(pipe: IO[bytes], lines: list[bytes]) -> None:
    with suppress(OSError):  # it ended, which is seen elsewhere
        pipe.write(b"\n".join(lines) + b"\n")
        pipe.flush()
