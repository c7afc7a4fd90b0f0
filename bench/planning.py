"""Writes docs/benchmarks.md, "Planning": how long TPC-H's 22 statements take before anything is charged or read.

    python bench/planning.py [--rounds N] [--keep FOLDER] [--only-print]

The price of each is asked for (`Session.price`), warm, by an analyst who is new in each round: the text is read,
planned and priced anew, and the ledger says that no answer is stored. Where a statement is refused, it is the one that
took its place (bench/tpch.sql). Planning looks at no data: the tables are those of a small scale factor.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from asked import statements
from page import ROOT, circumstances, kept, table, write
from tpch import POLICY, QUERIES, generate

import dpsql
from dpsql.errors import Error

SCALE = 0.01  # A choice: nothing of it is read.
WARM_UP = 2  # Rounds that are not counted.
PRICE = 1  # In epsilon.


def asked(proxy: dpsql.Proxy) -> dict[str, str]:
    """Of each of the 22, the first form that is not refused."""
    session, found = proxy.session(analyst="first"), dict[str, str]()
    for statement in statements(QUERIES):
        number = statement.name.split()[0]
        if number not in found:
            try:
                session.price(statement.sql, epsilon=PRICE)
            except Error:
                continue
            found[number] = statement.sql
    return found


def times(proxy: dpsql.Proxy, sql: str, rounds: int) -> tuple[float, float]:
    """Milliseconds at a price that was asked for before, and at new ones: medians of so many rounds."""
    known, new = list[float](), list[float]()
    for number in range(WARM_UP + rounds):
        for found, price in ((known, PRICE), (new, PRICE + (number + 1) / 1000)):
            session = proxy.session(analyst=f"planner {number} {time.time()}")
            start = time.perf_counter()
            session.price(sql, epsilon=price)
            found.append((time.perf_counter() - start) * 1000)
    return statistics.median(known[WARM_UP:]), statistics.median(new[WARM_UP:])


def lines(told: str, found: dict[str, tuple[float, float]], rounds: int) -> list[str]:
    """The section of the page."""
    rows = [(name, *(f"{one:.1f}" for one in own)) for name, own in sorted(found.items(), key=lambda pair: pair[1])]
    least, most = rows[0], rows[-1]
    half, new = (statistics.median(own[kind] for own in found.values()) for kind in (0, 1))
    return [
        told,
        "",
        f"{len(rows)} of TPC-H's 22, at a price that was asked for before: median {half:.1f} ms, from {least[1]} "
        f"({least[0]}) to {most[1]} ({most[0]}); at a new price {new:.1f} ms. Medians of {rounds} rounds.",
        "",
        *table(("statement", "ms", "at a new price"), rows),
    ]


def main() -> None:
    """Plans, and writes."""
    arguments = argparse.ArgumentParser(description="Times planning of TPC-H's statements.")
    arguments.add_argument("--rounds", type=int, default=15, metavar="N", help="counted rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen, told = arguments.parse_args(), circumstances()
    with kept(chosen.keep) as folder:
        generate(folder, SCALE)
        text = (ROOT / "policies" / POLICY.name).read_text()
        text = text.replace("epsilon: 50, delta: 1.0e-5", "epsilon: 1000000, delta: 0.5")
        (folder / POLICY.name).write_text(text)
        with dpsql.open(folder / POLICY.name) as proxy:
            found = {name: times(proxy, sql, chosen.rounds) for name, sql in asked(proxy).items()}
    write("planning", lines(told, found, chosen.rounds), only_print=chosen.only_print)


if __name__ == "__main__":
    main()
