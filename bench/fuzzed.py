"""Runs the fuzzers at size: statements, their partitions, policy files, and messages at every door.

    python bench/fuzzed.py [STATEMENTS [SEED]]

Nothing may be wrong; what was tried is written on the page.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # the fuzzers live with the tests, outside the package

from page import ROOT, circumstances, table, write

from dpsql.server.doors import DOORS
from tests.attacks import fuzzed, random_files, random_messages
from tests.sql import partitions
from tests.sql.databases import POLICIES, open_proxy
from tests.sql.meaning import Bench
from tests.unit.server.clinic import open_clinic, write_clinic

PAGE = ROOT / "docs" / "under_fire.md"
STATEMENTS = 100_000
SHARES = {"partitions": 100, "files": 25, "messages": 20, "lines": 100}
"""Of how many statements there is one of these: conditions that part rows, policy files, messages at each door, lines
to an agent's own process."""

Tried = tuple[str, Counter[str], float]
"""What was tried, what became of it, and seconds."""


def main(arguments: Sequence[str]) -> None:
    """Prints and writes the table."""
    count = int(arguments[0]) if arguments else STATEMENTS
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().randrange(2**31)
    print(f"seed {seed}", file=sys.stderr, flush=True)
    started = time.monotonic()
    jobs: list[tuple[Callable[..., Tried], str]] = [(_statements, name) for name in POLICIES]
    jobs += [(_partitions, name) for name in POLICIES]
    jobs += [(_files, ""), *((_messages, kind.name) for kind in DOORS), (_lines, "")]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = [job.result() for job in [pool.submit(do, name, count, seed) for do, name in jobs]]
    rows = [
        [what, f"{sum(number for _, number in _counts(seen)):,}", _told(seen), f"{seconds:.0f}"]
        for what, seen, seconds in found
    ]
    lines = table(["tried", "how many", "what became of them", "s"], rows)
    said = f"Nothing was wrong. Seed {seed}; {time.monotonic() - started:.0f} s, two processes at a time."
    write("fuzzed", [circumstances(), "", said, "", *lines], page=PAGE, only_print=count < STATEMENTS)


NO_PART = ("answered", "refused when asked", "longest, ms")
"""What is counted beside the number of things tried."""


def _counts(seen: Counter[str]) -> list[tuple[str, int]]:
    """What each thing tried became."""
    return [(word, number) for word, number in seen.items() if word not in NO_PART]


def _told(seen: Counter[str]) -> str:
    return ", ".join(f"{word} {number:,}" for word, number in sorted(seen.items()))


def _statements(name: str, count: int, seed: int) -> Tried:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, fuzzed.opened(name, Path(folder), seed) as session:
        seen = fuzzed.explained(session, name, seed, count // len(POLICIES))
    return f"statements under `{name}`", seen, time.monotonic() - started


def _partitions(name: str, count: int, seed: int) -> Tried:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(open_proxy(name, Path(folder)))
        try:
            seen = partitions.tried(bench, count // SHARES["partitions"] // len(POLICIES), seed)
        finally:
            bench.close()
    return f"conditions that part rows of `{name}`", seen, time.monotonic() - started


def _files(_: str, count: int, seed: int) -> Tried:
    started = time.monotonic()
    seen, wrong = random_files.tried(count // SHARES["files"], seed)
    assert not wrong, wrong
    return "policy files", seen, time.monotonic() - started


def _messages(name: str, count: int, seed: int) -> Tried:
    started = time.monotonic()
    (kind,) = (kind for kind in DOORS if kind.name == name)
    with tempfile.TemporaryDirectory() as folder, open_clinic(Path(folder)) as clinic:
        _, wrong = random_messages.tried(kind, clinic, count // SHARES["messages"], seed)
    assert not wrong, wrong
    seen = Counter({"taken or refused": count // SHARES["messages"]})
    return f"messages at the door `{name}`", seen, time.monotonic() - started


def _lines(_: str, count: int, seed: int) -> Tried:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = random_messages.over_stdio(write_clinic(Path(folder)), count // SHARES["lines"], seed)
    assert not wrong, wrong
    return (
        "lines to an agent's own process",
        Counter({"taken or refused": count // SHARES["lines"]}),
        time.monotonic() - started,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
