"""What a power cut leaves of a folder, from the journal of what was done to it.

A file's content is safe once the file was synced, a name once its folder was: POSIX promises no more. A cut after any
step may leave any part of what was not safe yet; `CUTS` are four ways to choose it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

__all__ = ["CUTS", "Cut", "Disk", "Step", "put", "steps"]

HEAD = struct.Struct("<cQQIII")  # As in shim.c: what, number, offset, and the lengths of two names and of the data.
SECTOR = 512  # Bytes that a disk writes whole or not at all: what databases rely on (https://sqlite.org/psow.html).


class Step(NamedTuple):
    """One line of the journal; `what` is as in shim.c."""

    what: str
    number: int
    at: int
    one: str
    two: str
    data: bytes


def steps(journal: Path) -> Iterator[Step]:
    """What was done, in order."""
    read, at = journal.read_bytes(), 0
    while at < len(read):
        what, number, offset, *sizes = HEAD.unpack_from(read, at)
        at += HEAD.size
        parts = []
        for size in sizes:
            parts.append(read[at : at + size])
            at += size
        yield Step(what.decode(), number, offset, parts[0].decode(), parts[1].decode(), parts[2])


@dataclass(eq=False)
class File:
    """What is in a file now, what is safe of it, and the writes since: place and bytes, or a length alone."""

    now: bytearray = field(default_factory=bytearray)
    safe: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)

    def write(self, at: int, data: bytes) -> None:
        """Some bytes at a place."""
        _write(self.now, at, data)
        self.since.append((at, data))

    def cut(self, length: int) -> None:
        """To a length."""
        _cut(self.now, length)
        self.since.append((length, None))

    def sync(self) -> None:
        """All of it is safe."""
        self.safe, self.since = bytes(self.now), []

    def torn(self, chance: random.Random) -> bytes:
        """What is safe, with some of the sectors that were written since."""
        left = bytearray(self.safe)
        for at, data in self.since:
            if data is None:
                if chance.random() < 0.5:
                    _cut(left, at)
                continue
            end = at + len(data)
            while at < end:
                part = min(end, (at // SECTOR + 1) * SECTOR) - at
                if chance.random() < 0.5:
                    _write(left, at, data[len(data) - (end - at) :][:part])
                at += part
        return bytes(left)


@dataclass(eq=False)
class Folder:
    """The names in a folder now, and those that are safe."""

    now: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)

    def sync(self) -> None:
        """All names are safe."""
        self.safe = dict(self.now)


Cut = Callable[[File | Folder, random.Random], bytes | Mapping[str, File | Folder]]
"""What is left of a file, or of a folder's names."""

CUTS: Mapping[str, Cut] = {
    "all": lambda it, _: bytes(it.now) if isinstance(it, File) else it.now,
    "safe": lambda it, _: it.safe,
    "names": lambda it, _: it.safe if isinstance(it, File) else it.now,
    "torn": lambda it, chance: it.torn(chance) if isinstance(it, File) else chance.choice((it.now, it.safe)),
}
"""Lost is nothing (as where a process alone is killed), all that was not safe, its content alone, or some by chance."""


class Disk:
    """A folder as it was, to which steps are done again.

    Args:
        root: The folder, whose content is safe.
        place: Where it lay when the journal was written.
    """

    def __init__(self, root: Path, place: Path) -> None:
        self._place, self.root = place, _read(root)
        self._numbers: dict[int, File | Folder] = {}

    def do(self, step: Step) -> None:
        """One more step."""
        match step.what:
            case "C" | "D":
                made = File() if step.what == "C" else Folder()
                self._folder(step.one).now[Path(step.one).name] = self._numbers[step.number] = made
            case "W" | "T":
                found = self._known(step)
                assert isinstance(found, File)
                found.write(step.at, step.data) if step.what == "W" else found.cut(step.at)
            case "S":
                self._known(step).sync()
            case "R" | "L":
                kept = self._at(step.one)
                if step.what == "R":
                    del self._folder(step.one).now[Path(step.one).name]
                self._folder(step.two).now[Path(step.two).name] = kept
            case "U":
                del self._folder(step.one).now[Path(step.one).name]

    def left(self, cut: Cut, chance: random.Random) -> dict[str, bytes | None]:
        """What a power cut now would leave: path below the root to content, None for a folder."""
        found: dict[str, bytes | None] = {}

        def walk(folder: Folder, path: str) -> None:
            names = cut(folder, chance)
            assert not isinstance(names, bytes)
            for name, it in sorted(names.items()):
                content = None if isinstance(it, Folder) else cut(it, chance)
                assert content is None or isinstance(content, bytes)
                found[path + name] = content
                if isinstance(it, Folder):
                    walk(it, f"{path}{name}/")

        walk(self.root, "")
        return found

    def _known(self, step: Step) -> File | Folder:
        """A file by its number; by its name where it was there before."""
        if step.number not in self._numbers:
            self._numbers[step.number] = self._at(step.one)
        return self._numbers[step.number]

    def _folder(self, path: str) -> Folder:
        found = self._at(str(Path(path).parent))
        assert isinstance(found, Folder)
        return found

    def _at(self, path: str) -> File | Folder:
        it: File | Folder = self.root
        for name in Path(path).relative_to(self._place).parts:
            assert isinstance(it, Folder)
            it = it.now[name]
        return it


def put(left: Mapping[str, bytes | None], place: Path) -> None:
    """Writes what is left to a folder that is not there."""
    place.mkdir()
    for path, content in left.items():
        if content is None:
            (place / path).mkdir(mode=0o700)
        else:
            (place / path).write_bytes(content)
            (place / path).chmod(0o600)


def _read(root: Path) -> Folder:
    made = Folder()
    for path in root.iterdir():
        if path.is_dir():
            made.now[path.name] = _read(path)
        else:
            content = path.read_bytes()
            made.now[path.name] = File(bytearray(content), content)
    made.sync()
    return made


def _write(into: bytearray, at: int, data: bytes) -> None:
    if len(into) < at:
        into.extend(bytes(at - len(into)))
    into[at : at + len(data)] = data


def _cut(into: bytearray, length: int) -> None:
    del into[length:]
    into.extend(bytes(length - len(into)))
