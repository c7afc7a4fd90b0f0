"""A door that stops: statements at work are answered, and those that had not begun cost nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event
from typing import Any

import pytest

from dpsql.server.core import Guest, Server
from dpsql.server.listening import Listen
from dpsql.server.postgres.door import PostgresDoor
from tests.unit.server.clinic import Clinic
from tests.unit.server.postgres.raw import SYNC, Raw, Reply, bind, execute, message, parse

pytestmark = pytest.mark.chance(0, "keys and tokens are drawn; nothing of noise is asserted")


def older(than: int) -> str:
    """A statement that nobody asked before."""
    return f"SELECT COUNT(*) AS n FROM people WHERE age > {than}"


def spent(clinic: Clinic) -> float:
    return clinic.proxy.session(analyst="ana").budget().spent.epsilon


def told_while_stopping(clinic: Clinic, monkeypatch: pytest.MonkeyPatch, said: Sequence[bytes]) -> list[Reply]:
    """What a client is told that said something whose first statement is at work when the server is told to stop."""
    server, begun, may = Server(clinic.proxy, clinic.server.users), Event(), Event()
    query = Guest.query

    def held(self: Guest, *given: Any, **options: Any) -> Any:
        answer = query(self, *given, **options)
        begun.set()
        assert may.wait(60)
        return answer

    async def stopped() -> list[Reply]:
        door = PostgresDoor(server)
        where = await door.start(Listen.read("127.0.0.1:0"), None)
        raw = Raw(int(where.rpartition(":")[2].partition("/")[0]))
        assert not (await asyncio.to_thread(raw.enter, "ana", clinic.tokens["ana"])).errors
        raw.send(*said)
        assert await asyncio.to_thread(begun.wait, 60)
        server.stop_taking()
        stops = asyncio.ensure_future(door.stop())
        await asyncio.sleep(0)  # it has told whom it does not wait for
        may.set()
        found = [await asyncio.to_thread(raw.reply) for _ in range(2)]
        await stops
        raw.close()
        return found

    monkeypatch.setattr(Guest, "query", held)
    try:
        return asyncio.run(stopped())
    finally:
        server.close()


def test_of_many_statements_in_one_message_the_one_at_work_is_the_last(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, text = spent(clinic), "; ".join(older(than) for than in range(9))
    answered, ended = told_while_stopping(clinic, monkeypatch, [message(b"Q", text.encode() + b"\0")])
    assert (answered.tags, [error["C"] for error in answered.errors], answered.status) == (["SELECT 1"], ["57P01"], "I")
    assert [(error["S"], error["C"]) for error in ended.errors] == [("FATAL", "57P01")]
    assert spent(clinic) == before + 0.5


def test_an_extended_query_at_work_is_answered_to_its_end(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    before, one, other = spent(clinic), (parse(older(10)), bind()), (parse(older(11)), bind())
    said = [*one, execute(), SYNC, *other, execute(), SYNC]
    answered, ended = told_while_stopping(clinic, monkeypatch, said)
    assert (answered.tags, answered.errors, answered.status) == (["SELECT 1"], [], "I")
    assert [(error["S"], error["C"]) for error in ended.errors] == [("FATAL", "57P01")]
    assert spent(clinic) == before + 0.5
