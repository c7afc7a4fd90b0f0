"""What starts cost: processor time of a process and all that it starts, from its beginning to its end.

    python bench/starting.py [--rounds N]

Wall time depends on whatever else the machine does, processor time less so. The demo is that of `make demo` with 1,000
patients, its tables built before; every question is a new one. The shell is asked to leave at its first prompt.
"""

from __future__ import annotations

import argparse
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from page import ROOT, circumstances, table, write

ROUNDS = 9
"""Starts of each kind. It is a choice: medians that move by a few hundredths of a second."""
PATIENTS, VISITS = 1_000, 6_000
DPSQL = [sys.executable, "-m", "dpsql.cli"]


def used(process: int) -> float:
    """Seconds of the processor that a process and those it started have taken, once it has ended."""
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"a start failed with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def started(command: Sequence[str], folder: Path) -> float:
    """Seconds of the processor of one command."""
    return used(subprocess.Popen(command, stdout=subprocess.DEVNULL, env=surroundings(folder), cwd=folder).pid)


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a start: modules are compiled once and for all, as an installer leaves them."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | {"XDG_STATE_HOME": str(folder / "state")}


def shell(folder: Path) -> float:
    """Seconds of the processor of a shell on a terminal that is left at its first prompt."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(sys.executable, [*DPSQL, "shell", "hospital.yaml", "--analyst", "ana"], surroundings(folder))
    os.write(terminal, b".exit\n")
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # how Linux says that the other end is closed
        pass
    return used(process)


def demo(folder: Path) -> None:
    """The demo's data and policy, with the tables built."""
    shutil.copy(ROOT / "policies" / "hospital.yaml", folder)
    made = [sys.executable, str(ROOT / "examples" / "hospital.py"), str(folder / "hospital.duckdb")]
    started([*made, "--patients", str(PATIENTS), "--visits", str(VISITS)], folder)
    started([*DPSQL, "query", "hospital.yaml", "SELECT COUNT(*) FROM visits", "--analyst", "ana"], folder)


def main() -> None:
    """Measures, prints, and writes the table into docs/benchmarks.md."""
    arguments = argparse.ArgumentParser(description="Measures what starts cost.")
    arguments.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="starts of each kind")
    rounds, lines = arguments.parse_args().rounds, [circumstances(), ""]
    with tempfile.TemporaryDirectory(prefix="dpsql-starting-") as scratch:
        folder = Path(scratch)
        demo(folder)

        def asked(sql: str) -> Callable[[int], float]:
            words = [*DPSQL, "query", "hospital.yaml", "--analyst", "ana", "--epsilon", "0.01"]
            return lambda number: started([*words, sql.format(number)], folder)

        kinds: dict[str, tuple[Callable[[int], float], str]] = {
            "`python -c pass`": (lambda _: started([sys.executable, "-c", "pass"], folder), ""),
            "`import dpsql`": (lambda _: started([sys.executable, "-c", "import dpsql"], folder), "0.05"),
            "`dpsql --help`": (lambda _: started([*DPSQL, "--help"], folder), "0.15"),
            "`dpsql query`, a count": (asked("SELECT COUNT(*) AS n FROM patients WHERE age > {}"), "0.70"),
            "`dpsql query`, a count and a mean by sex": (
                asked("SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM patients WHERE age > {} GROUP BY sex"),
                "",
            ),
            "`dpsql query`, an answer that is stored": (asked("SELECT COUNT(*) FROM visits"), ""),
            "`dpsql shell`, to its first prompt": (lambda _: shell(folder), "1.00"),
        }
        asked("SELECT COUNT(*) FROM visits")(0)
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for number in range(rounds):  # in turns: a slow minute of the machine is everybody's
            for name, (start, _) in kinds.items():
                times[name].append(start(number))
    rows = [
        [name, f"{statistics.median(times[name]):.2f}", f"{min(times[name]):.2f}", aim]
        for name, (_, aim) in kinds.items()
    ]
    titles = ("seconds of the processor", "median", "least", "aim")
    write("starting", [*lines, *table(titles, rows)], only_print=rounds < ROUNDS)


if __name__ == "__main__":
    main()
