"""Starting and stopping a child process that speaks over a socket pair."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dpsql.errors import OperationalError
from dpsql.worker import wire

__all__ = ["START_SECONDS", "Child", "WorkerFailed", "narrow"]

START_SECONDS = 60.0  # Seconds until a process has started. It is a choice: a start takes 0.3 s, and longer under load.

# The child runs modules of this very package, and otherwise only what is installed (-I): nothing from the current
# directory, the environment or the user's own site. The front doors of the packages around it stay shut: they would
# load all of dpsql, and a start would take three times as long. Garbage is seldom looked for: what a start makes stays.
_SHUT = """
import gc, runpy, sys, types
gc.set_threshold(100_000)
path, module = sys.argv[1:3]
del sys.argv[1:3]
package = "dpsql"
for room in module.split(".")[1:]:
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [path]
    package, path = f"{package}.{room}", f"{path}/{room}"
"""
_BOOT = f'{_SHUT}runpy.run_module(module, run_name="__main__", alter_sys=True)\n'
_PACKAGE = str(Path(__file__).resolve().parents[1])
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",  # each thread would reserve address space
    "MALLOC_ARENA_MAX": "2",  # likewise each arena
    # In bytes: blocks of a stream, and columns of 4 million rows that are made of it, are used again, and not asked of
    # the kernel anew. Four columns of 6 million rows stream by in 47 ms of processor time, and in 73 ms without; to
    # count 1.5 million values takes 47 ms, and with a tenth of it 50 (measured). What DuckDB frees of 40,000 groups
    # stays, too: with 64 MiB they took 60 ms in some processes, and 30 in others. A process keeps 128 MiB at most.
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    "MALLOC_TRIM_THRESHOLD_": "134217728",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",  # a timestamp with a zone reads the same on every machine
}
_INHERITED = ("LD_LIBRARY_PATH",)
CPUS = Path("/proc/cpuinfo")  # What Linux knows of the processors.
WIDE = ("AVX512", "X86_V4")  # How numpy's names of what works on 512 bits begin.


@cache
def narrow() -> dict[str, str]:
    """What keeps numpy in a child from instructions on 512 bits, of those that it finds here, on AMD's processors.

    Its sorting by them takes five times as long on Zen 4 as by 256 bits, where a store of some lanes is slow (measured:
    79 ms and 15 ms for 1.5 million numbers), and half as long on Intel's Sapphire Rapids (13 ms and 25 ms).
    """
    if not _by_amd():
        return {}
    import numpy as np  # here, for what starts no process need not load it

    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", ())  # of its baseline nothing can be left out
    wide = [name for name in found if name.startswith(WIDE)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)} if wide else {}


def _by_amd() -> bool:
    """Whether Linux says that AMD made the processor."""
    with contextlib.suppress(OSError):
        return b"AuthenticAMD" in CPUS.read_bytes()
    return False


class WorkerFailed(OperationalError):  # noqa: N818 - named like its sisters in dpsql.errors
    """A child process gave no answer. The text is fixed; `detail` is for the owner's log only.

    Attributes:
        detail: What happened, in the engine's words: it may speak of rows.
        overrun: Whether the deadline passed.
        answered: Whether the process stands: it said that the statement failed.
    """

    def __init__(self, detail: str, *, overrun: bool = False, answered: bool = False) -> None:
        super().__init__("The worker gave no answer.")
        self.detail = detail
        self.overrun = overrun
        self.answered = answered


class Child:
    """One child process running a module of this package, and the connection to it.

    Args:
        module: What to run, such as ``"dpsql.worker"``; it gets a descriptor and the options as JSON.
        options: Anything `wire.encode` takes. Every user of the machine can see it: no secrets, no data.
    """

    def __init__(self, module: str, options: Mapping[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            arguments = [_PACKAGE, module, str(theirs.fileno()), wire.encode(options).decode()]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env={**_ENVIRONMENT, **narrow(), **{k: os.environ[k] for k in _INHERITED if k in os.environ}},
            )
            self.connection = Connection(ours.detach())
        self.owner = os.getpid()

    @property
    def alive(self) -> bool:
        """Whether it runs, and belongs to this process (a fork of it must not speak on the same connection)."""
        return self.owner == os.getpid() and self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Returns when the child has said that it is ready.

        Raises:
            WorkerFailed: If it does not start; its stderr is the detail.
        """
        try:
            if self.connection.poll(START_SECONDS) and "ready" in wire.decode(self.connection.recv_bytes()):
                return
        except (EOFError, OSError):
            pass
        raise WorkerFailed(f"the process did not start: {self.stop()}")

    def stop(self) -> str:
        """Kills the child, waits for its end, closes everything; what it wrote to stderr. Harmless when repeated.

        A fork of the owner closes its ends alone: the child lives on, and what it writes would be waited for.
        """
        own, errors, written = self.owner == os.getpid(), self._process.stderr, b""
        if own:
            self._process.kill()
            self._process.wait()
        self.connection.close()
        if errors is not None and not errors.closed:
            with contextlib.suppress(OSError):
                written = errors.read() if own else b""
            errors.close()
        return written.decode(errors="replace")
