"""The pages that the benchmarks write: docs/benchmarks.md mostly, each table between markers of its own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
STEPS = 1_000_000
"""Of a loop whose time says how fast the machine is. It is a choice: it takes a tenth of a second."""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; the first column is text, the others are numbers.

    >>> print("\\n".join(table(["query", "ms"], [["COUNT", "1.5"]])))
    | query | ms |
    | --- | ---: |
    | COUNT | 1.5 |
    """
    lines = [titles, ["---"] + ["---:"] * (len(titles) - 1), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def circumstances() -> str:
    """Machine, software, date, commit and command: what a timing means nothing without."""
    commit = _git("rev-parse", "--short=10", "HEAD")
    changed = " and uncommitted changes" if _git("status", "--porcelain", "--untracked-files=no", "dpsql") else ""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]  # no folders of a machine
    command = " ".join(["python", str(Path(sys.argv[0]).resolve().relative_to(ROOT)), *words])
    return (
        f"{_processor()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, DuckDB {duckdb.__version__}; {datetime.now(UTC):%Y-%m-%d}, "
        f"commit {commit or 'unknown'}{changed}; load of the machine at the start {os.getloadavg()[0]:.1f}, "
        f"{STEPS:,} steps of Python in {_speed() * 1000:.0f} ms. Command: `{command}`."
    )


def _speed() -> float:
    """Seconds of the processor for a loop of `STEPS`: how fast a shared machine is in this hour."""
    took = []
    for _ in range(3):
        total, start = 0, time.process_time()
        for number in range(STEPS):
            total += number * number
        took.append(time.process_time() - start)
    return min(took)


@contextmanager
def kept(folder: Path | None) -> Iterator[Path]:
    """Where a benchmark's files are: the folder that was named, which then stays, or one that goes."""
    with tempfile.TemporaryDirectory(prefix="dpsql-bench-") as scratch:
        found = folder or Path(scratch)
        found.mkdir(parents=True, exist_ok=True)
        yield found


def write(section: str, lines: Sequence[str], *, page: Path = PAGE, only_print: bool = False) -> None:
    """Prints the lines, and puts them on the page between ``<!-- section:begin -->`` and ``<!-- section:end -->``.

    Args:
        section: Which of the page's tables.
        lines: Markdown.
        page: On which page.
        only_print: Leaves the page as it is: a trial on fewer rows is no benchmark.

    Raises:
        ValueError: If the page has no such markers.
    """
    print("\n".join(lines))
    if only_print:
        return
    text = page.read_text()
    begin, end = f"<!-- {section}:begin -->\n", f"<!-- {section}:end -->"
    if begin not in text or end not in text:
        raise ValueError(f"{page} has no markers of the section {section}")
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(before + begin + "\n".join(["", *lines, "", ""]) + end + after)


def _processor() -> str:
    """The processor's own name where the system tells it."""
    known = Path("/proc/cpuinfo")
    names = known.read_text().splitlines() if known.exists() else []
    return next((line.partition(":")[2].strip() for line in names if line.startswith("model name")), platform.machine())


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
