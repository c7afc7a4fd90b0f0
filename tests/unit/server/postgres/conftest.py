"""One door for all tests of the protocol, in a loop of its own thread."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Thread

import pytest

from dpsql.server.listening import Listen
from dpsql.server.postgres import open_door
from tests.unit.server.clinic import Clinic, open_clinic
from tests.unit.server.postgres.raw import Raw


@dataclass(frozen=True)
class Open:
    """A clinic's open door."""

    clinic: Clinic
    port: int
    made: list[Raw] = field(default_factory=list)

    def raw(self) -> Raw:
        self.made.append(Raw(self.port))
        return self.made[-1]

    def ana(self, **more: str) -> Raw:
        raw = self.raw()
        assert not raw.enter("ana", self.clinic.tokens["ana"], **more).errors
        return raw

    def spent(self, analyst: str = "ana") -> float:
        return self.clinic.proxy.session(analyst=analyst).budget().spent.epsilon


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    with open_clinic(tmp_path_factory.mktemp("postgres")) as clinic:
        opened = open_door(clinic.server)
        url = asyncio.run_coroutine_threadsafe(opened.start(Listen.read("127.0.0.1:0"), None), loop).result()
        yield Open(clinic, int(url.split(":")[-1].split("/")[0]))
        asyncio.run_coroutine_threadsafe(opened.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def ana(door: Open) -> Raw:
    return door.ana()


@pytest.fixture(autouse=True)
def _closed(door: Open) -> Iterator[None]:
    """Hangs up after each test."""
    yield
    while door.made:
        door.made.pop().close()
