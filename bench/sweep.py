"""Where dpsql is farthest from the raw query: many statements over a million visits, the widest ratios first.

    python bench/sweep.py [--rows N] [--rounds N] [--keep FOLDER] [--only-print]

Every aggregate of a list is asked by every key of another, of all rows, of some, and of a join, over the made-up visits
of `growth.py`, as an analyst asks it who names nothing. Writes a table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from itertools import product
from pathlib import Path

import duckdb
from growth import DATABASE, MIDDLE, made
from page import circumstances, kept, table, write
from pairs import timed

import dpsql

AGGREGATES = (
    "COUNT(*)",
    "COUNT(DISTINCT person)",
    "COUNT(DISTINCT cost)",
    "SUM(cost)",
    "SUM(cost * 2)",
    "AVG(cost)",
    "AVG(cost) FILTER (WHERE kind = 'a')",
    "VAR_POP(cost)",
    "MEDIAN(cost)",
    "QUANTILE_CONT(cost, 0.9)",
    "MAX(cost)",
    "MODE(cost)",
    "COUNT(*), SUM(cost), AVG(cost)",
)
KEYS = (
    (),
    ("kind",),
    ("year(day)",),
    ("kind", "year(day)"),
    ("date_trunc('month', day)",),
    ("floor(cost / 25)",),
    ("day",),
    ("open_day",),
)
"""None, four listed values, six years, both, 72 months, 41 whole reals, 2,192 listed days, and as many open ones."""
ROWS = (
    "visits",
    "visits WHERE day >= DATE '2023-01-01'",
    "visits JOIN homes USING (person) WHERE homes_x < 25",
)
WIDEST = 15  # Lines of the table.

Found = tuple[str, float, float]
"""A statement, and the least milliseconds of DuckDB itself and of dpsql."""


def statements() -> list[str]:
    """All of them."""
    found = []
    for rows, keys, aggregate in product(ROWS, KEYS, AGGREGATES):
        by = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
        found.append(f"SELECT {', '.join([*keys, aggregate])} FROM {rows}{by}")
    return found


def asked(proxy: dpsql.Proxy, database: Path, rounds: int) -> list[Found]:
    """Each statement, asked of both in turns; the first of each does not count."""
    found = []
    with duckdb.connect(str(database), read_only=True) as beside:
        for sql in statements():
            pairs = []
            for number in range(rounds + 1):
                session = proxy.session(analyst=f"{number} {time.time()}")  # nothing is replayed
                raw = timed(lambda text=sql: beside.sql(text).fetchall()).wall
                pairs.append((raw, timed(lambda own=session, text=sql: own.query(text)).wall))
            raw, own = (min(times) * 1e3 for times in zip(*pairs[1:], strict=True))
            found.append((sql, raw, own))
            print(f"{own / raw:.1f} {sql}", file=sys.stderr, flush=True)
    return found


def lines(found: list[Found], rows: int) -> list[str]:
    """The section of docs/benchmarks.md."""
    widest = sorted(found, key=lambda own: own[1] / own[2])[:WIDEST]
    ratios = [own / raw for _, raw, own in found]
    middle = statistics.median(ratios)
    within = [sum(ratio <= most for ratio in ratios) for most in (3, 5, 10)]
    slow = sum(own > 250 for *_, own in found)
    shown = [[f"`{sql}`", f"{raw:.1f}", f"{own:.0f}", f"{own / raw:.0f}"] for sql, raw, own in widest]
    return [
        circumstances(),
        "",
        f"{len(found)} statements over {rows:,} rows, least times; the median ratio is {middle:.1f}.",
        f"{within[0]} are within 3 times the raw query, {within[1]} within 5, {within[2]} within 10; {slow} take more",
        f"than a quarter of a second. The {WIDEST} widest:",
        "",
        *table(("statement", "raw, ms", "dpsql, ms", "ratio"), shown),
    ]


def main() -> None:
    """Makes, asks, writes."""
    arguments = argparse.ArgumentParser(description="Where dpsql is farthest from the raw query.")
    arguments.add_argument("--rows", type=int, default=MIDDLE, metavar="N", help="visits")
    arguments.add_argument("--rounds", type=int, default=3, metavar="N", help="counted rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are made, and stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder, dpsql.open(made(folder, chosen.rows, more=True)) as proxy:
        found = asked(proxy, folder / DATABASE, chosen.rounds)
    write("sweep", lines(found, chosen.rows), only_print=chosen.only_print)


if __name__ == "__main__":
    main()
