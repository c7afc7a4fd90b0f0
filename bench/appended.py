"""What a refresh takes where a file came to those of a table, beside a whole build and a refresh of nothing new.

    python bench/appended.py [--rows N] [--rounds N] [--keep FOLDER] [--only-print]

Made-up visits (ten a person, in no order) lie in ten Parquet files; a file of one per cent more comes, of the same
people. Writes a table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import duckdb
from growth import EACH, VISIT
from page import circumstances, kept, table, write
from scale import HEAD, watched

import dpsql
from dpsql.proxy import refresh

FILES = 10
MORE = 100  # The new file holds one row for so many that were there. Both are a choice, as is all of the made-up data.
ENGINE = "{kind: duckdb, deadline: 600s, memory: 4GiB, cache: cache}"
MADE = f"{VISIT} FROM range($low, $high) AS numbers(i)"
VISITS = """\
  visits:
    source: visits/*.parquet
    unit: person
{key}    rows_per_unit: {most}
    rows_about: {rows}
    columns:
      cost: {{type: integer, bounds: [0, 1000]}}
      day: {{type: date, bounds: [2020-01-01, 2025-12-31]}}
      open_day: {{type: date}}
      kind: {{type: text, values: [a, b, c, d]}}
"""
TABLES: Mapping[str, tuple[str, int]] = {
    "up to 30 rows a person, with a key": ("    key: visit\n", 30),
    "up to 30 rows a person, without": ("", 30),
    "one row a person": ("", 1),
}
"""What is said of the key, and the cap."""
WAYS = ("whole", "appended", "unchanged")

Took = tuple[float, float, float]
"""Seconds on the clock, seconds of the processors, and bytes of memory."""


def file_of(folder: Path, name: str, rows: int, low: int, high: int) -> None:
    """Visits of these numbers, in a file."""
    values = {"people": rows // EACH, "low": low, "high": high}
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({MADE}) TO '{folder / 'visits' / name}.parquet'", values)


def timed(work: Callable[[], object]) -> Took:
    """What some work took, with all its processes."""
    start = time.perf_counter()
    with watched(os.getpid()) as found:
        work()
    return time.perf_counter() - start, found[0], found[1]


def measured(folder: Path, rows: int, key: str, most: int) -> dict[str, Took]:
    """What each way took, once: of a version before, of nothing new, and of a new file."""
    policy = folder / "appended.yaml"
    for left in ("cache", "mark"):
        shutil.rmtree(folder / left, ignore_errors=True)
    for file in (*folder.glob("appended.db*"), folder / "visits" / "new.parquet"):
        file.unlink(missing_ok=True)
    policy.write_text(HEAD.format(name="appended", engine=ENGINE) + VISITS.format(key=key, most=most, rows=rows))
    dpsql.open(policy).close()
    found = {"unchanged": timed(lambda: refresh(policy))}
    file_of(folder, "new", rows, rows, rows + rows // MORE)
    found["appended"] = timed(lambda: refresh(policy))
    with suppress(FileNotFoundError):
        shutil.rmtree(folder / "cache")
    found["whole"] = timed(lambda: refresh(policy))
    return found


def lines(found: Mapping[str, list[dict[str, Took]]], rows: int) -> list[str]:
    """The section of docs/benchmarks.md."""
    texts = []
    for what, rounds in found.items():
        took = {
            way: [statistics.median(own) for own in zip(*(one[way] for one in rounds), strict=True)] for way in WAYS
        }
        cells = [f"{took[way][0]:.1f} ({took[way][1]:.1f})" for way in WAYS]
        texts.append([what, *cells, f"{took['appended'][1] / took['whole'][1]:.2f}"])
    many = statistics.median([len(rounds) for rounds in found.values()])
    return [
        circumstances(),
        "",
        f"{rows:,} rows in {FILES} files, and one file of {rows // MORE:,} more: seconds on the clock, of the",
        f"processors in brackets, whose ratio it is; medians of {many:.0f} rounds.",
        "",
        *table(("a table of", "whole build", "refresh with a new file", "refresh of nothing new", "ratio"), texts),
    ]


def main() -> None:
    """Makes, builds, writes."""
    arguments = argparse.ArgumentParser(description="What a refresh takes where a file came to those of a table.")
    arguments.add_argument("--rows", type=int, default=10_000_000, metavar="N", help="rows before the new file")
    arguments.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of each table")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are made, and stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    found: dict[str, list[dict[str, Took]]] = {what: [] for what in TABLES}
    with kept(chosen.keep) as folder:
        (folder / "visits").mkdir(exist_ok=True)
        for number in range(FILES):
            ends = (chosen.rows * at // FILES for at in (number, number + 1))
            file_of(folder, f"m{number}", chosen.rows, *ends)
        for _ in range(chosen.rounds):
            for what, (key, most) in TABLES.items():
                found[what].append(measured(folder, chosen.rows, key, most))
                print(what, found[what][-1], file=sys.stderr, flush=True)
    write("appended", lines(found, chosen.rows), only_print=chosen.only_print)


if __name__ == "__main__":
    main()
