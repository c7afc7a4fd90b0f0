"""Takes the defences out of the code, one at a time, and shows that a test goes red for each.

    python bench/defences.py [WORDS OF A NAME]

It works in a copy of the tree. First all the tests must be green there as they stand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from queue import Queue

sys.path.insert(0, str(Path(__file__).parent.parent))  # the list lives with the tests, outside the package

from page import ROOT, circumstances, table, write

from tests.attacks.defences import DEFENCES, Defence

PAGE = ROOT / "docs" / "under_fire.md"
RED = 1  # What pytest leaves with where a test failed; anything else is no verdict.
GREEN = 0
SHOWN = 2_000  # Characters of what pytest said last. It is a choice: the names of what failed.
LONGEST = 1_800.0  # Seconds for one file of tests: some code without its defence goes on for ever. It is a choice.
ENDLESS = 124  # What stands for a run that took longer, as `timeout` says it: no verdict.
AT_ONCE = 2  # Defences that are out at a time, each in a tree of its own. It is a choice: a processor for each.
TIMES = count(10**9)  # Each change of a file gets a time of its own, so that no compiled file is taken for another's.


def main(words: Sequence[str]) -> bool:
    """Prints and writes the table; whether a test went red for every defence."""
    wanted = [defence for defence in DEFENCES if all(word in defence.name for word in words)]
    if not wanted:
        sys.exit(f"No defence has all of these words in its name: {' '.join(words)}.")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dpsql-defences-") as scratch:
        trees = Queue[Path]()
        for number in range(AT_ONCE):
            trees.put(_copied(Path(scratch) / str(number)))
        tests = sorted({test for defence in wanted for test in defence.tests})
        if (standing := _tested(trees.queue[0], tests, "-n", "2")).returncode != GREEN:
            sys.exit(f"The tests are not green as they stand:\n{standing.stdout[-SHOWN:]}")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(zip(wanted, pool.map(partial(_convicting, trees), wanted), strict=True))
    missed = [defence.name for defence, test in found if test is None]
    rows = [[defence.name, f"`{defence.file}`", f"`{test}`" if test else "none"] for defence, test in found]
    lines = table(["defence", "taken out of", "a test that goes red"], rows)
    lines[1] = "| --- | --- | --- |"
    caught = len(found) - len(missed)
    said = f"For {caught} of {len(found)} defences a test went red. {time.monotonic() - started:.0f} s."
    write("defences", [circumstances(), "", said, "", *lines], page=PAGE, only_print=bool(words))
    return not missed


def _copied(tree: Path) -> Path:
    """What git knows of the tree, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    return tree


def _convicting(trees: Queue[Path], defence: Defence) -> str | None:
    """The first of its files of tests that goes red without the defence, in a tree that nobody else uses meanwhile."""
    tree = trees.get()
    file = tree / defence.file
    text = file.read_text()
    _written(file, text.replace(defence.stands, defence.without))
    try:
        red = next(
            (test for test in defence.tests if _tested(tree, [test], "-x", most=LONGEST).returncode == RED), None
        )
    finally:
        _written(file, text)
        trees.put(tree)
    print(f"{'missed' if red is None else 'red'}: {defence.name}", file=sys.stderr, flush=True)
    return red


def _written(file: Path, text: str) -> None:
    file.write_text(text)
    moment = next(TIMES)
    os.utime(file, (moment, moment))


def _tested(
    tree: Path, tests: Sequence[str], *flags: str, most: float | None = None
) -> subprocess.CompletedProcess[str]:
    """What pytest leaves with, and what it said; `ENDLESS` after so many seconds."""
    marks = "not slow" if all(_is_of_doors(tree / test) for test in tests) else "not slow and not doors"
    call = [sys.executable, "-m", "pytest", "-q", "-m", marks, "-p", "no:cacheprovider", *flags]
    try:
        return subprocess.run([*call, *tests], cwd=tree, capture_output=True, text=True, check=False, timeout=most)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(call, ENDLESS, "", "")


def _is_of_doors(test: Path) -> bool:
    """Whether a file's tests are of doors, as those that take real sockets and time."""
    return test.is_file() and "pytest.mark.doors" in test.read_text()


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
