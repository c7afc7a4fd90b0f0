"""What analysts, and who watches over a server, are told while its ledger cannot be written; and that it goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

import dpsql
from dpsql.errors import LedgerError
from dpsql.ledger.file import LedgerFile
from dpsql.ledger.refusals import ChargeStands
from dpsql.server.core import Guest, Server
from dpsql.server.events import EVENTS
from dpsql.server.page.door import Page
from dpsql.server.refusals import NO_ANSWER, UNUSABLE, without_the_owners_places
from dpsql.server.users import Users
from tests.unit.ledger.accounts import full_disk
from tests.unit.server.clinic import COUNT, POLICY, write_clinic

pytestmark = pytest.mark.chance(0, "nothing of the draws is asserted")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One over a ledger that is a file."""
    (tmp_path / "marks").mkdir(mode=0o700)
    policy = POLICY.replace("ledger: clinic.ledger.db", "ledger: clinic.ledger.db\n  mark: marks")
    with dpsql.open(write_clinic(tmp_path, policy)) as proxy:
        server = Server(proxy, Users(tmp_path / "clinic.users"))
        try:
            yield server
        finally:
            server.close()


@pytest.fixture
def ana(server: Server) -> Guest:
    server.users.add("ana", server.policy)
    user = server.users.named("ana")
    assert user is not None
    return server.guest(user, "test", "here")


def health(server: Server) -> int:
    """The status of the word on the server's health."""

    async def asked() -> int:
        transport = httpx.ASGITransport(app=Page(server, secure=False).app())
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as browser:
            return (await browser.get("/healthz")).status_code

    return asyncio.run(asked())


def test_a_full_disk_is_told_in_a_fixed_text_and_ends_by_itself(
    server: Server, ana: Guest, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ana.query(COUNT)
    caplog.set_level(logging.INFO, EVENTS.name)
    EVENTS.addHandler(caplog.handler)
    try:
        with full_disk():
            for sql in (f"{COUNT} WHERE age > 30", "SHOW BUDGET", COUNT):
                with pytest.raises(LedgerError) as refused:
                    ana.query(sql)
                assert str(refused.value) == UNUSABLE
            assert ana.left() == "not known now"  # it stands beside what was answered, and refuses nothing
            assert health(server) == 503
    finally:
        EVENTS.removeHandler(caplog.handler)
    assert health(server) == 200
    assert str(tmp_path / "marks") in json.dumps([record.getMessage() for record in caplog.records])
    assert len(ana.query(f"{COUNT} WHERE age > 30")) == 1
    assert [entry.kind for entry in server.proxy.ledger.log()].count("charge") == 2


def test_an_answer_that_did_not_fit_is_told_until_one_does(
    server: Server, ana: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LedgerError("database or disk is full")

    assert health(server) == 200
    monkeypatch.setattr(LedgerFile, "store", full)
    with pytest.raises(LedgerError) as refused:
        ana.query(COUNT)
    assert str(refused.value) == NO_ANSWER
    assert [health(server) for _ in range(2)] == [503, 503], (
        "the ledger stands, for a record fits, and an answer does not"
    )
    with pytest.raises(LedgerError):
        ana.query(COUNT)
    monkeypatch.undo()
    assert health(server) == 503
    assert len(ana.query(COUNT)) == 1
    assert health(server) == 200


def test_who_was_charged_and_has_no_answer_is_told_so() -> None:
    with pytest.raises(LedgerError) as told, without_the_owners_places():
        raise ChargeStands("Nothing fits into /home/owner/marks.")
    assert str(told.value) == NO_ANSWER
    assert "stays charged" in NO_ANSWER
    assert "/home" not in NO_ANSWER
