"""Most tests get their locked workers as forks of one process that has loaded what they need: a start is free then.

A fork runs `dpsql.worker.__main__.main` as a worker does that was started anew. What a fresh start is (its environment,
its flags, its stderr, its end) is tested with real ones, in the files of `tests.building.FRESH`, and by every
command that a test runs.
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
import json, os, signal, socket
from dpsql.worker import __main__ as worker
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
        sys.argv[1:] = [str(descriptors[0]), options.decode()]
        try:
            worker.main()
        finally:
            os._exit(0)
    os.close(descriptors[0])
    control.sendall(json.dumps(child).encode())
"""
"""What the process does after the boot of a worker's own: one fork for each message, whose number it sends back."""


@cache
def _loaded(owner: int) -> socket.socket:
    """The connection to the process that forks, one for each process that runs tests."""
    ours, theirs = socket.socketpair()
    boot = process._SHUT + _LOADED
    arguments = [process._PACKAGE, "dpsql.worker", str(theirs.fileno())]
    subprocess.Popen(
        [sys.executable, "-I", "-c", boot, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        cwd="/",
        env=process._ENVIRONMENT,
    ).returncode = 0  # it ends with the connection, and nobody waits for it
    theirs.close()
    return ours


class Forked(Child):
    """A worker that was forked. To its client it is a child process as any other."""

    def __init__(self, module: str, options: Mapping[str, Any]) -> None:
        assert module == "dpsql.worker"
        control = _loaded(os.getpid())
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
