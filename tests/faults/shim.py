"""The shim of shim.c: compiled, and told from outside what is to fail."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

__all__ = ["DIES", "NAME", "ROOM", "SPEAK", "SYNC", "Shim", "compiled", "needs_compiler"]

ROOM, SYNC, NAME, SPEAK = 1, 2, 4, 8
"""What a step does, as in shim.c: it takes room on the disk, waits for it, changes a name, or speaks to a process."""
DIES = -1  # In the place of an error's number: the process is killed.
FIELDS = struct.Struct("6q")  # Count, from, until, fails, kinds, journal: 64 bits each, as in shim.c.

needs_compiler = pytest.mark.skipif(
    not (shutil.which("cc") and os.uname().sysname == "Linux"), reason="the shim needs a C compiler and Linux"
)


def compiled(folder: Path) -> Path:
    """The library, made of shim.c."""
    made = folder / "shim.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True, capture_output=True)
    return made


class Shim:
    """What processes below it share: how many steps were done, and which of them fail.

    Args:
        state: The file that they share.
    """

    def __init__(self, state: Path) -> None:
        state.write_bytes(bytes(FIELDS.size))
        with state.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), FIELDS.size)
        self.state = state

    def environment(self, library: Path, root: Path, journal: Path) -> Mapping[str, str]:
        """What a process needs to be watched while it changes files below a folder."""
        found = {"STATE": self.state, "ROOT": root, "JOURNAL": journal}
        return {"LD_PRELOAD": str(library)} | {f"FAULT_{name}": str(path) for name, path in found.items()}

    def arm(self, kinds: int, *, fails: int = 0, first: int = 0, last: int = 0, journal: bool = False) -> None:
        """Counts steps of these kinds from now on; those from ``first`` to ``last``, from 1, fail with this number."""
        self._shared[:] = FIELDS.pack(0, first, last, fails, kinds, journal)

    def disarm(self) -> int:
        """Lets everything pass from now on; how many steps were counted."""
        (count, *_) = FIELDS.unpack(self._shared[:])
        self._shared[:] = bytes(FIELDS.size)
        return int(count)
