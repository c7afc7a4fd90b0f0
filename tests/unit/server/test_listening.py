"""Unix sockets: none is taken from a program that answers there, and a server removes its own alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dpsql.errors import OperationalError
from dpsql.server import running
from dpsql.server.core import Server
from dpsql.server.listening import Listen, SocketFile, refuse_taken
from tests.unit.server.clinic import Clinic, open_clinic

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")]
DOORS = ["postgres", "page", "mcp", "flight"]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with open_clinic(tmp_path_factory.mktemp("listening")) as clinic:
        yield clinic


async def begun(clinic: Clinic, door: str, path: Path) -> asyncio.Task[None]:
    """A server that listens there."""
    told = asyncio.Event()
    server = Server(clinic.proxy, clinic.server.users)
    runs = asyncio.ensure_future(running.run(server, {door: Listen(path=path)}, None, lambda _: told.set()))
    waits = asyncio.ensure_future(told.wait())
    await asyncio.wait({runs, waits}, return_when=asyncio.FIRST_COMPLETED)
    if runs.done():
        waits.cancel()
        await runs
    return runs


async def end(runs: asyncio.Task[None]) -> None:
    runs.cancel()
    with suppress(asyncio.CancelledError):
        await runs


@pytest.mark.every(2)
@pytest.mark.parametrize("door", DOORS)
def test_a_socket_is_not_taken_from_who_answers_there_and_is_removed_at_the_end(
    clinic: Clinic, door: str, tmp_path: Path
) -> None:
    path = tmp_path / "door"

    async def twice() -> None:
        first = await begun(clinic, door, path)
        was = SocketFile.of(path)
        for other in DOORS:
            with pytest.raises(OperationalError, match=f"--{other} cannot listen .* another program answers there"):
                await begun(clinic, other, path)
        assert SocketFile.of(path) == was
        await end(first)

    asyncio.run(twice())
    assert not path.exists()


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("door", ["postgres", "page"])
def test_what_was_left_behind_is_replaced_and_anothers_is_left(clinic: Clinic, door: str, tmp_path: Path) -> None:
    path = tmp_path / "door"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))

    async def once() -> None:
        runs = await begun(clinic, door, path)
        path.rename(tmp_path / "aside")
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
            await end(runs)

    asyncio.run(once())
    assert path.is_socket()


def test_who_is_slow_to_answer_is_there_and_a_port_is_not_looked_at(tmp_path: Path) -> None:
    refuse_taken(Listen.read("127.0.0.1:1"))
    refuse_taken(Listen(path=tmp_path / "nothing"))
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waits:
        busy.bind(str(tmp_path / "busy"))
        busy.listen(0)
        waits.connect(str(tmp_path / "busy"))
        with pytest.raises(OSError, match="another program answers"):
            refuse_taken(Listen(path=tmp_path / "busy"))
