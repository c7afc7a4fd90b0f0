"""Most tests get their child processes as forks of one that has loaded what they need: a start is free then.

A fork runs the `main` of the locked worker, or of the owner's process, as one does that was started anew. What a fresh
start is (its environment, its flags, its stderr, its end) is tested with real ones, in the files of
`tests.building.FRESH`, and by every command that a test runs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from dpsql.worker import process, wire
from dpsql.worker.process import Child

__all__ = ["Forked"]

_LOADED = """
import importlib, json, os, signal, socket
import duckdb
loaded = importlib.import_module(sys.argv[2])
opened = getattr(loaded, "open_database", None)
if opened is not None:
    import numpy, dpsql.worker.cutting, dpsql.worker.counting, dpsql.worker.repeats, dpsql.worker.whole_keys
    held = duckdb.connect(config=loaded.limits.LOCKED | {"enable_external_access": "true", "threads": 1})
    def in_place(database, memory, threads):
        if database is not None:
            name, file = os.path.basename(database).partition(".")[0], database.replace("'", "''")
            held.execute(f"ATTACH '{file}' AS " + f'"{name}" (READ_ONLY)')
        held.execute("SET enable_external_access = false")
        for name, value in loaded.settings(memory, threads).items():
            held.execute(f"SET {name} = '{value}'")
        return held
    loaded.open_database = in_place
control = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    options, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 1)
    if not options:
        os._exit(0)
    child = os.fork()
    if child == 0:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        sys.argv[1:] = [str(descriptors[0]), options.decode()]
        try:
            loaded.main()
        finally:
            os._exit(0)
    os.close(descriptors[0])
    control.sendall(json.dumps(child).encode())
"""
"""What the process does after the boot of a worker's own: one fork for each message, whose number it sends back.

An engine is open already, for opening one takes 15 ms of a processor, and what a worker loads for its first count is
loaded, which takes 60 ms: numpy above all. The fork attaches the worker's file, read-only and
by the name that it has as a worker opens it, and then sets what a worker sets: no file can be opened after that.
"""


_MAIN = {"dpsql.worker": "dpsql.worker.__main__", "dpsql.owner.process": "dpsql.owner.process"}
"""Of what a child runs: the module whose `main` it is."""


@cache
def _loaded(owner: int, module: str) -> socket.socket:
    """The connection to the process that forks, one for each process that runs tests, and each kind of child."""
    ours, theirs = socket.socketpair()
    boot = process._SHUT + _LOADED
    arguments = [process._PACKAGE, module, str(theirs.fileno()), _MAIN[module]]
    subprocess.Popen(
        [sys.executable, "-I", "-c", boot, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        cwd="/",
        env=process._ENVIRONMENT | process.narrow(),
    ).returncode = 0  # it ends with the connection, and nobody waits for it
    theirs.close()
    return ours


class Forked(Child):
    """A worker, or the owner's process, that was forked. To its client it is a child process as any other."""

    def __init__(self, module: str, options: Mapping[str, Any]) -> None:
        control = _loaded(os.getpid(), module)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(control, [wire.encode(options)], [theirs.fileno()])
            self._end = os.pidfd_open(json.loads(control.recv(64)))
            self.connection = Connection(ours.detach())
        self.owner = os.getpid()

    @property
    def alive(self) -> bool:
        return self.owner == os.getpid() and self._end >= 0 and not select.select([self._end], [], [], 0)[0]

    def stop(self) -> str:
        if self.owner == os.getpid() and self._end >= 0:
            if self.alive:
                signal.pidfd_send_signal(self._end, signal.SIGKILL)
            select.select([self._end], [], [])
            os.close(self._end)
            self._end = -1
        self.connection.close()
        return ""
