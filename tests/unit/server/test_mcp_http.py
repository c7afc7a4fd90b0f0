"""Agents over HTTP, by the SDK's own client: whose account a token leads to, and what no token leads to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import mcp_types
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from dpsql.server import mcp_http
from dpsql.server.doors import DOORS
from dpsql.server.events import EVENTS
from dpsql.server.listening import Listen
from dpsql.server.mcp_http import McpDoor
from dpsql.server.users import User
from tests.unit.server.clinic import COUNT, Clinic, open_clinic

pytestmark = pytest.mark.chance(0, "tokens and the protocol's keys are drawn; nothing of noise is asserted")
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
START = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
ACCEPTS = {"Accept": "application/json, text/event-stream"}


def at_the_door(clinic: Clinic, what: Callable[[str], Awaitable[Any]]) -> Any:
    """Opens the door, does something with its address, and closes it."""

    async def open_and_close() -> Any:
        (kind,) = (kind for kind in DOORS if kind.name == "mcp")
        door = kind.open(clinic.server)
        where = await door.start(Listen("127.0.0.1", 0), None)
        try:
            return await what(where)
        finally:
            await door.stop()

    return asyncio.run(open_and_close())


async def talk(
    where: str, token: str, what: Callable[[Client], Awaitable[Any]], mode: str = "auto", human: bool | None = None
) -> Any:
    """What a client with a token gets; ``human`` is whether its human agrees, None where it cannot be asked."""

    async def answer(context: Any, params: Any) -> mcp_types.ElicitResult:
        return mcp_types.ElicitResult(action="accept", content={"ask": human})

    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        transport = streamable_http_client(where, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=None if human is None else answer) as client:
            return await what(client)


def call(tool: str, **arguments: Any) -> Callable[[Client], Awaitable[Any]]:
    return lambda client: client.call_tool(tool, arguments)


@MODES
def test_the_token_is_the_analyst(clinic: Clinic, mode: str) -> None:
    async def limits(where: str) -> list[str]:
        found = [await talk(where, clinic.tokens[name], call("budget"), mode) for name in ("ana", "bob")]
        return [one.structured_content["limit"] for one in found]

    assert at_the_door(clinic, limits) == [f"epsilon {most}, delta 1e-07 (queries: delta 2.5e-08)" for most in (40, 1)]
    assert clinic.server.gate.inside == 0


@MODES
def test_the_human_is_asked_and_where_there_is_none_it_is_refused_uncharged(clinic: Clinic, mode: str) -> None:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {len(mode)}"

    async def asked(where: str) -> list[Any]:
        ask, ana = call("query", sql=sql), clinic.tokens["ana"]
        before = await talk(where, ana, call("budget"), mode)
        refused = [await talk(where, ana, ask, mode, human) for human in (None, False)]
        after = await talk(where, ana, call("budget"), mode)
        return [before, after, *refused, await talk(where, ana, ask, mode, True), await talk(where, ana, ask, mode)]

    before, after, cannot, no, yes, again = at_the_door(clinic, asked)
    assert before.structured_content == after.structured_content
    assert "this client cannot ask one" in cannot.content[0].text
    assert "the human did not agree" in no.content[0].text
    assert yes.structured_content["cost"] == "epsilon 0.5"
    assert again.structured_content["cost"] == "nothing, this was released before"


def test_several_statements_are_priced_and_bought_together_and_each_counts(
    clinic: Clinic, events: list[dict[str, object]]
) -> None:
    statements = [f"SELECT COUNT(*) AS n, SUM(age + {place}) AS s FROM people" for place in range(3)]

    async def asked(where: str) -> list[Any]:
        ana, named = clinic.tokens["ana"], {"statements": statements, "epsilon": 0.02}
        first = [await talk(where, ana, call(tool, **named)) for tool in ("quote_all", "query_all", "quote_all")]
        alone = await talk(where, ana, call("query", sql=statements[1], epsilon=0.02))
        return [*first, alone]

    counted, free = (clinic.server.gate._asked["ana", free] for free in (False, True))
    before, before_free = len(counted), len(free)
    quote, told, again, alone = (one.structured_content for one in at_the_door(clinic, asked))
    assert len(counted) == before + 4
    assert len(free) == before_free + 3 * 3 + 1  # two quotes of three statements and their price; that of one alone
    assert 0 < quote["epsilon"] < 0.06 and quote["one_by_one"] == "epsilon 0.06" and quote["shared"]
    assert len(told["answers"]) == 3 and len({answer["rows"][0][0] for answer in told["answers"]}) == 1
    assert (again["cost"], [one["stored"] for one in again["statements"]]) == ("nothing", [True] * 3)
    assert alone["cost"] == "nothing, this was released before"
    assert alone["rows"] == told["answers"][1]["rows"]
    costs = [event["cost"] for event in events if event["event"] == "statement" and "cost" in event]
    assert costs == ["epsilon 0.02; epsilon 0.01; epsilon 0.01", "nothing: released before"]


def test_the_limits_of_the_server_hold(clinic: Clinic) -> None:
    async def asked(where: str) -> Any:
        long = "SELECT COUNT(*) AS n FROM people -- " + "x" * 100_000
        return [
            await talk(where, clinic.tokens["ana"], call("query", sql=sql, epsilon=0.1))
            for sql in (long, "SELECT age, COUNT(*) AS n FROM people GROUP BY age")
        ]

    long, many = at_the_door(clinic, asked)
    assert "Ask in smaller queries" in long.content[0].text
    assert len(many.structured_content["rows"]) == 50
    assert any("the first 50 of 100 rows" in note for note in many.structured_content["notes"])


def test_what_is_left_is_told_without_a_question_or_a_line_of_its_own(
    clinic: Clinic, caplog: pytest.LogCaptureFixture
) -> None:
    async def asked(where: str) -> Any:
        sql = "SELECT COUNT(*) AS n FROM people WHERE age > 31"
        return [await talk(where, clinic.tokens["ana"], call("query", sql=sql, epsilon=0.1)) for _ in range(2)]

    EVENTS.addHandler(caplog.handler)
    first, again = at_the_door(clinic, asked)
    EVENTS.removeHandler(caplog.handler)
    assert first.structured_content["left"] == again.structured_content["left"]
    told = [json.loads(own.getMessage()) for own in caplog.records if own.name == EVENTS.name]
    assert [own["event"] for own in told if "text" in own] == ["free", "statement"] * 2


def test_without_a_users_token_nothing_is_heard(clinic: Clinic) -> None:
    async def tried(where: str) -> list[httpx.Response]:
        async with httpx.AsyncClient() as http:
            tokens = ["-", "nobody-x", clinic.tokens["ana"][:-1] + "!", clinic.tokens[""]]
            headers = [{}, *({"Authorization": f"Bearer {token}"} for token in tokens), {"Authorization": "Basic YTpi"}]
            found = [await http.post(where, json=PING, headers=one) for one in headers]
            return [*found, await http.get(where.removesuffix("/mcp") + "/")]

    *refused, other = at_the_door(clinic, tried)
    assert [one.status_code for one in refused] == [401] * 6
    assert all(one.headers["www-authenticate"].startswith("Bearer") for one in refused)
    assert len({one.text for one in refused[2:4]}) == 1  # whether there is such a user is not told
    assert other.status_code == 404


def test_a_session_of_one_analyst_is_none_for_another(clinic: Clinic) -> None:
    async def tried(where: str) -> list[int]:
        async with httpx.AsyncClient(headers=ACCEPTS) as http:
            ana, bob = ({"Authorization": f"Bearer {clinic.tokens[name]}"} for name in ("ana", "bob"))
            begun = await http.post(where, json=START, headers=ana)
            session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
            own = await http.post(where, json=PING, headers={**ana, **session})
            return [own.status_code, (await http.post(where, json=PING, headers={**bob, **session})).status_code]

    assert at_the_door(clinic, tried) == [200, 404]


def test_a_request_under_a_foreign_name_is_refused_on_loopback(clinic: Clinic) -> None:
    async def tried(where: str) -> int:
        headers = {"Authorization": f"Bearer {clinic.tokens['ana']}", "Host": "evil.example"}
        async with httpx.AsyncClient(headers=headers) as http:
            return (await http.post(where, json=PING)).status_code

    assert at_the_door(clinic, tried) in (403, 421)


def test_who_is_silent_or_removed_gives_the_place_up(clinic: Clinic) -> None:
    now = [0.0]

    async def tried() -> list[int]:
        door = McpDoor(clinic.server, Listen("127.0.0.1", 0), lambda: now[0])
        user = clinic.server.users.named("ana")
        assert user is not None
        await door._opened(user, "here").ready.wait()
        found = [clinic.server.gate.inside]
        await door.sweep()
        found.append(clinic.server.gate.inside)
        now[0] += clinic.server.limits.idle_seconds + 1
        await door.sweep()
        return [*found, clinic.server.gate.inside]

    assert asyncio.run(tried()) == [1, 1, 0]


def test_a_file_of_users_that_cannot_be_used_for_a_while_ends_no_look_after_who_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_http, "LOOK", 0.001)
    now, looks = [0.0], list[int]()

    async def tried(clinic: Clinic) -> int:
        door = McpDoor(clinic.server, Listen("127.0.0.1", 0), lambda: now[0])
        user, stands = clinic.server.users.named("ana"), clinic.server.stands
        assert user is not None
        await door._opened(user, "here").ready.wait()

        def looked(user: User) -> bool:
            looks.append(1)
            return stands(user)

        monkeypatch.setattr(clinic.server, "stands", looked)
        (tmp_path / "clinic.users").chmod(0o644)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=door.app()), base_url="http://mcp") as http:
            told = await http.post("/mcp", json=PING, headers={"Authorization": f"Bearer {clinic.tokens['ana']}"})
        assert (told.status_code, "Nobody can be let in now" in told.text) == (503, True)
        async with asyncio.timeout(60), door._lifespan(door.app()):
            while len(looks) < 3:
                await asyncio.sleep(0.001)
            (tmp_path / "clinic.users").chmod(0o600)
            now[0] += clinic.server.limits.idle_seconds + 1
            while clinic.server.gate.inside:
                await asyncio.sleep(0.001)
        return len(looks)

    with open_clinic(tmp_path) as clinic:
        assert asyncio.run(tried(clinic)) >= 3


def test_asking_without_end_gains_nothing_here_too(clinic: Clinic) -> None:
    async def many(client: Client) -> set[str]:
        asked = [await client.call_tool("query", {"sql": COUNT, "epsilon": 0.125}) for _ in range(5)]
        return {str(one.structured_content["rows"]) for one in asked}

    answers = at_the_door(clinic, lambda where: talk(where, clinic.tokens["bob"], many))
    assert len(answers) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_the_first_requests_of_an_analyst_may_come_at_once(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, events: list[dict[str, object]], fails: bool
) -> None:
    known, many, user, run = list[User](), 4, McpDoor._user, StreamableHTTPSessionManager.run

    async def counted(self: McpDoor, token: str, address: str) -> User:
        known.append(await user(self, token, address))
        return known[-1]

    @asynccontextmanager
    async def late(self: StreamableHTTPSessionManager) -> AsyncIterator[None]:
        """Begins when all of them have found where they are to be answered."""
        while len(known) < many:
            await asyncio.sleep(0.001)
        if fails and len(known) == many:
            raise RuntimeError("it cannot begin")
        async with run(self):
            yield

    async def tried(where: str) -> list[int]:
        headers = {**ACCEPTS, "Authorization": f"Bearer {clinic.tokens['ana']}"}
        async with httpx.AsyncClient(headers=headers) as http:
            at_once = await asyncio.gather(*(http.post(where, json=START) for _ in range(many)))
            return [one.status_code for one in (*at_once, await http.post(where, json=START))]

    monkeypatch.setattr(McpDoor, "_user", counted)
    monkeypatch.setattr(StreamableHTTPSessionManager, "run", late)
    assert at_the_door(clinic, tried) == [*([503 if fails else 200] * many), 200]
    assert [event["kind"] for event in events if event["event"] == "bug"] == ["RuntimeError"] * fails
    assert clinic.server.gate.inside == 0


async def begun(http: httpx.AsyncClient, where: str) -> dict[str, str]:
    """The headers of a new session."""
    answer = await http.post(where, json=START)
    assert answer.status_code == 200
    return {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}


def test_of_too_many_sessions_the_most_silent_ends(clinic: Clinic, events: list[dict[str, object]]) -> None:
    most = clinic.server.limits.connections

    async def tried(where: str) -> list[int]:
        async with httpx.AsyncClient(headers={**ACCEPTS, "Authorization": f"Bearer {clinic.tokens['ana']}"}) as http:
            first, second, third, *others = [await begun(http, where) for _ in range(most)]
            await http.post(where, json=PING, headers=first)  # it is not silent any more
            new = await begun(http, where)
            await http.delete(where, headers=others[0])
            newest = await begun(http, where)  # in the place of the one that said that it leaves
            sessions = (first, second, third, others[0], new, newest)
            return [(await http.post(where, json=PING, headers=one)).status_code for one in sessions]

    assert at_the_door(clinic, tried) == [200, 404, 200, 404, 200, 200]
    assert [event["analyst"] for event in events if event["event"] == "session ended"] == ["ana"]


def test_one_analysts_requests_without_an_end_leave_half_of_all_to_others(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_http, "STRANGERS", 4 - clinic.server.limits.connections)
    bob = {"Authorization": f"Bearer {clinic.tokens['bob']}"}

    async def tried(where: str) -> list[int]:
        async with httpx.AsyncClient(headers={**ACCEPTS, "Authorization": f"Bearer {clinic.tokens['ana']}"}) as http:
            first, second = await begun(http, where), await begun(http, where)
            async with http.stream("GET", where, headers=first):
                async with http.stream("GET", where, headers=second):
                    full = await http.post(where, json=PING, headers=first)
                    other = await http.post(where, json=START, headers=bob)
                again = full
                while again.status_code == 429:  # until the server has seen that a stream ended
                    again = await http.post(where, json=PING, headers=first)
        assert "at work" in full.json()["error"]
        return [full.status_code, other.status_code, again.status_code]

    assert at_the_door(clinic, tried) == [429, 200, 200]


def test_a_stream_without_an_end_ends_when_the_door_stops(clinic: Clinic, events: list[dict[str, object]]) -> None:
    async def tried() -> bytes:
        (kind,) = (kind for kind in DOORS if kind.name == "mcp")
        door = kind.open(clinic.server)
        where = await door.start(Listen("127.0.0.1", 0), None)
        async with httpx.AsyncClient(headers={**ACCEPTS, "Authorization": f"Bearer {clinic.tokens['ana']}"}) as http:
            async with http.stream("GET", where, headers=await begun(http, where)) as stream:
                stops = asyncio.ensure_future(door.stop())
                told = await stream.aread()  # to its end: it is not cut off
            await stops
        return told

    assert b"data" not in asyncio.run(tried())
    assert not [event for event in events if event["event"] in ("failure", "warning", "bug")]
