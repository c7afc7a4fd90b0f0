"""What clients bring about in the libraries of doors is one line of the owner's log each, and no traceback."""

from __future__ import annotations

import json
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import httpx2 as httpx
import pytest

from dpsql.server.doors import DOORS
from dpsql.server.events import EVENTS, Seldom, told_by
from tests.attacks.random_messages import listened
from tests.unit.server.clinic import Clinic
from tests.unit.server.opening import opened

pytestmark = pytest.mark.chance(0, "tokens are drawn; nothing of noise is asserted")
MCP = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[dict[str, str]]]]:
    """The events of the owner's log; what reaches other logs has no traceback."""
    EVENTS.addHandler(caplog.handler)
    with listened() as wrong:
        yield lambda: [json.loads(own.getMessage()) for own in caplog.records if own.name == EVENTS.name]
    EVENTS.removeHandler(caplog.handler)
    assert wrong == []


def say(where: str, said: bytes) -> bytes:
    """What comes back at once to bytes after which nothing follows."""
    with socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2].strip("/"))), timeout=0.5) as connection:
        connection.sendall(said)
        with suppress(TimeoutError):
            return connection.recv(1 << 16)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1 << 16)


@pytest.mark.parametrize(
    "said",
    [
        b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 99\r\n\r\ntoken=",
        b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\nx=1\x00 / HTTP/1.1\r\n\r\n",
        b"HEAD /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
    ],
)
def test_a_broken_request_leaves_no_traceback(
    clinic: Clinic, log: Callable[[], list[dict[str, str]]], said: bytes
) -> None:
    (kind,) = (kind for kind in DOORS if kind.name == "page")
    with opened(kind.open(clinic.server)) as where:
        say(where, said)
        assert say(where, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_an_agent_that_asks_for_what_is_not_there_leaves_one_line(
    clinic: Clinic, log: Callable[[], list[dict[str, str]]]
) -> None:
    (kind,) = (kind for kind in DOORS if kind.name == "mcp")
    start = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    asked = {"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "x"}}
    token = {"Authorization": f"Bearer {clinic.tokens['ana']}", **MCP}
    with opened(kind.open(clinic.server)) as where, httpx.Client(headers=token) as client:
        session = {"mcp-session-id": client.post(where, json=start).headers["mcp-session-id"]}
        assert client.post(where, json=asked, headers=session).is_success
    (failure,) = (event for event in log() if event["event"] == "failure")
    assert set(failure) == {"at", "event", "of", "kind", "where"}


def test_of_a_failure_only_its_kind_and_place_are_written(log: Callable[[], list[dict[str, str]]]) -> None:
    told_by("a_library")
    library = logging.getLogger("a_library.part")
    try:
        raise ValueError("a patient's name")
    except ValueError:
        library.error("it failed", exc_info=sys.exc_info())
    library.warning("the client left")
    library.info("a client came")
    failed, warned = log()
    assert "patient" not in str(failed)
    assert (failed["event"], failed["of"], failed["kind"]) == ("failure", "a_library.part", "ValueError")
    assert (warned["event"], warned["why"]) == ("warning", "the client left")


def test_a_warning_is_written_whatever_another_library_wants_of_all_logs(
    log: Callable[[], list[dict[str, str]]], request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(logging.root.setLevel, logging.root.level))
    logging.root.setLevel(logging.ERROR)  # as the SDK of MCP does
    told_by("another_library")
    logging.getLogger("another_library.part").warning("the client left")
    assert [own["why"] for own in log()] == ["the client left"]


def test_a_crowd_leaves_few_lines_and_they_say_how_many_were_left_out(log: Callable[[], list[dict[str, str]]]) -> None:
    now = 0.0
    strangers = Seldom(2, lambda: now)
    for address in range(5):
        strangers.tell("silent", door="postgres", address=str(address))
    strangers.tell("silent", door="mcp")
    strangers.tell("wrong token", door="postgres")
    now = 60.0
    strangers.tell("silent", door="postgres")
    for _ in range(3):
        strangers.tell("wrong token", door="postgres")
    strangers.end()
    strangers.end()
    assert [(own["event"], own["door"], own.get("left_out")) for own in log()] == [
        ("silent", "postgres", None), ("silent", "postgres", None), ("silent", "mcp", None),
        ("wrong token", "postgres", None), ("silent", "postgres", 3), ("wrong token", "postgres", None),
        ("wrong token", "postgres", None), ("wrong token", "postgres", 1),
    ]  # fmt: skip


def test_what_a_library_says_without_end_is_a_few_lines(log: Callable[[], list[dict[str, str]]]) -> None:
    told_by("a_library")
    for _ in range(1000):
        logging.getLogger("a_library").warning("the client left")
    assert len(log()) < 100
