"""A server from its start to its end: all doors in one loop, until the owner stops it."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from dpsql.engine.log import keep_in
from dpsql.errors import OperationalError
from dpsql.proxy import Proxy, owners_folder
from dpsql.server.core import Server
from dpsql.server.doors import DOORS, Door
from dpsql.server.events import EVENTS, FILE, LAYOUT, tell, told_by
from dpsql.server.listening import Listen, SocketFile, Tls, refuse_in_the_clear, refuse_taken
from dpsql.server.users import Users, users_file

__all__ = ["run", "serve"]

MADE = (2_000, 10, 10)
"""Objects that are made before garbage is looked for, and how often before it is among older ones. It is a choice: a
handshake of TLS that does not come about leaves 20 objects behind, with 300 KB."""


def serve(
    proxy: Proxy,
    listening: Mapping[str, Listen],
    tls: Tls | None,
    *,
    insecure: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Opens doors, and returns when SIGTERM or SIGINT came and the statements at work are done.

    Args:
        proxy: Open; the caller closes it.
        listening: Names of doors, and where each is to be.
        tls: The certificate, or None.
        insecure: Whether a door may speak over the network without TLS.
        told: Told where each door can be reached.

    Raises:
        OperationalError: A door may not, or cannot, be opened there.
    """
    for listen in listening.values():
        refuse_in_the_clear(listen, tls, insecure=insecure)
    if tls is not None:
        tls.context()
    end_log = keep_in(owners_folder(proxy.policy), FILE, EVENTS, LAYOUT)
    server = Server(proxy, Users(users_file(proxy.policy)))
    try:
        asyncio.run(run(server, listening, tls, told))
    finally:
        server.close()
        end_log()


async def run(
    server: Server, listening: Mapping[str, Listen], tls: Tls | None, told: Callable[[str], None] = lambda _: None
) -> None:
    """The doors, open until a signal comes or this is cancelled."""
    told_by("asyncio")
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    opened, files = list[Door](), list[SocketFile]()
    server.watch()
    try:
        for kind in DOORS:
            if kind.name not in listening:
                continue
            door, listen = kind.open(server), listening[kind.name]
            try:
                await loop.run_in_executor(None, refuse_taken, listen)
                where = await door.start(listen, tls)
                files += [SocketFile.of(listen.path)] if listen.path is not None else []
            except OSError as error:
                raise OperationalError(f"--{kind.name} cannot listen at {listen}: {error.strerror or error}.") from None
            opened.append(door)
            tell("open", door=kind.name, address=where)
            told(f"{kind.name}: {where}")
        with _tidy():
            await stop.wait()
        tell("stopping")
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(ValueError):
                loop.remove_signal_handler(number)
        server.stop_taking()  # before the doors stop: whoever is in would go on asking while one of them waits
        await asyncio.gather(*(door.stop() for door in opened))
        for file in files:
            file.remove()
        await loop.run_in_executor(None, server.close)
        tell("stopped")


@contextmanager
def _tidy() -> Iterator[None]:
    """Looks for garbage often, for strangers can make much of it; but not among what has stood since the start.

    The command line looks for it hardly ever, which makes a start quicker.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*MADE)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
