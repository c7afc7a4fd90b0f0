"""Processes in which one step after another fails: run as a script under the shim, which forks for each round.

victims.py SCENE FOLDER    then, for each line of its input, one line of what came of that round

{"kinds": ..., "fails": ..., "first": ..., "last": ...}   puts the scene back, and plays it while steps fail
{}                                                        looks, by what is done afterwards, what is left
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.scenes import SCENES, Say, Scene, told
from tests.faults.shim import Shim, compiled

__all__ = ["Round", "Victims", "victims"]

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
"""Seconds until a round that does not end is a failure of its own."""


@dataclass(frozen=True, slots=True)
class Round:
    """What came of one.

    Attributes:
        said: What the child said before it ended.
        code: How it ended; -9 where it was killed.
        printed: What the child wrote elsewhere.
        steps: How many were counted.
    """

    said: list[dict[str, Any]]
    code: int
    printed: str
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Victims:
    """A process that plays a scene whenever it is told to.

    Attributes:
        scene: What it plays.
        process: The process.
        shim: What fails in it.
        journal: Where the shim writes what was done.
    """

    scene: Scene
    process: subprocess.Popen[str]
    shim: Shim
    journal: Path

    def play(
        self, kinds: int, *, fails: int = 0, first: int = 0, last: int | None = None, journal: bool = False
    ) -> Round:
        """Plays the scene once, while the steps of these kinds from ``first`` to ``last``, by default it alone, fail.

        Without an error that they fail with, it only counts them.
        """
        self.journal.write_bytes(b"")
        last = first if last is None else last
        return self._asked({"kinds": kinds, "fails": fails, "first": first, "last": last, "journal": journal})

    def look(self) -> Round:
        """What is left."""
        return self._asked({})

    def _asked(self, asked: dict[str, int]) -> Round:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return Round(**json.loads(self.process.stdout.readline()))


@contextmanager
def victims(scene: str, folder: Path) -> Iterator[Victims]:
    """A process for a scene of that name, in a folder of its own."""
    shim, journal = Shim(folder / "state"), folder / "journal"
    watched = shim.environment(compiled(folder), folder / "place", journal)
    command = [sys.executable, __file__, scene, str(folder)]
    environment = {**os.environ, **watched, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "home")}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield Victims(SCENES[scene](folder), process, shim, journal)
        process.communicate(timeout=PATIENCE)


def played(play: Callable[[Say], None], begin: Callable[[], None]) -> Round:
    """What a child says that does it, how it ends, and what it writes elsewhere."""
    reader, writer = os.pipe()
    printed = os.memfd_create("printed")
    child = os.fork()
    if child == 0:
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        begin()

        def say(said: dict[str, Any]) -> None:
            os.write(writer, json.dumps(said).encode() + b"\n")

        told(play, say)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = [json.loads(line) for line in lines if line.endswith("\n")]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(printed, "rb") as file:
        file.seek(0)
        return Round(said, code, file.read().decode(errors="replace"))


def main(name: str, folder: str) -> None:
    """Plays rounds until its input ends."""
    scene, shim = SCENES[name](Path(folder)), Shim(Path(os.environ["FAULT_STATE"]))
    scene.build()
    print("ready", flush=True)
    for line in sys.stdin:
        if asked := json.loads(line):
            scene.put_back()
            found = played(scene.act, partial(shim.arm, **asked))
        else:
            found = played(scene.afterwards, lambda: None)
        print(json.dumps({**asdict(found), "steps": shim.disarm()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
