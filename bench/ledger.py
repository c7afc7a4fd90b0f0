"""Durable charges a second, and the time to open a ledger of a hundred thousand records.

    python bench/ledger.py [--records N]

A charge is one transaction with a synced write-ahead log, and one synced high-water mark outside. The long ledger is
made of the same records, written in one transaction: only reading it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from page import circumstances, table, write

from dpsql.ledger.file import LedgerFile
from dpsql.ledger.ledger import Ledger, Pinned
from dpsql.ledger.opening import KEY_IN_MEMORY, write_opening
from dpsql.ledger.state import LedgerState
from dpsql.privacy.accounting import Limits, PolicyLimits
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import encode

RECORDS = 100_000
CHARGES = 500
LOSS = Pure(Fraction(1, 10))
LIMITS = PolicyLimits(Limits(Fraction(10**9), Fraction(1, 1000)), {"*": Limits(Fraction(10**9), Fraction(1, 1000))})
STATEMENT = 'SELECT "city", count(*) FROM "patients" GROUP BY "city"'


def pinned() -> Pinned:
    """What the ledger's numbers mean."""
    return Pinned(unit="patient_id", neighbours="add_remove", composition="zcdp")


def charges(folder: Path) -> list[float]:
    """Milliseconds of each of many charges, with the answer stored after each."""
    times = []
    with Ledger.open(folder / "charges.db", pinned=pinned(), limits=LIMITS, mark=folder / "mark") as ledger:
        for i in range(CHARGES):
            start = time.perf_counter()
            charge = ledger.charge("ana", LOSS, statement=STATEMENT, fingerprint=f"{i:064}")
            ledger.store(charge, f"{i:064}", b'{"groups": [], "tables": {}}')
            times.append((time.perf_counter() - start) * 1e3)
    return times


def synced(folder: Path) -> float:
    """Milliseconds of one synced write of 4 KiB: what the disk itself takes."""
    with (folder / "synced").open("wb", buffering=0) as file:
        times = []
        for _ in range(CHARGES):
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def opening(records: int) -> float:
    """Seconds to read, check and add up a ledger of so many records."""
    file = LedgerFile(None)
    write_opening(file, pinned(), LIMITS, KEY_IN_MEMORY)
    with file.transaction():
        for i in range(records):
            detail = {"statement": STATEMENT, "fingerprint": f"{i:064}"}
            file.append("charge", analyst="ana", account="*", loss=json.dumps(encode(LOSS)), detail=detail)
    start = time.perf_counter()
    LedgerState.of(file)
    return time.perf_counter() - start


def main() -> None:
    """Times, prints, and writes the table into docs/benchmarks.md."""
    arguments = argparse.ArgumentParser(description="Times the ledger.")
    arguments.add_argument("--records", type=int, default=RECORDS, metavar="N", help="of the ledger that is opened")
    records = arguments.parse_args().records
    lines = [circumstances(), ""]
    with tempfile.TemporaryDirectory(prefix="dpsql-ledger-", dir=Path.cwd()) as folder:  # /tmp may be no disk at all
        times = charges(Path(folder))
        disk = synced(Path(folder))
    rows = [
        ["charge, and store its answer", f"{statistics.median(times):.2f} ms"],
        ["charges a second, one after the other", f"{1e3 * len(times) / sum(times):.0f}"],
        ["one synced write of the same disk", f"{disk:.2f} ms"],
        [f"open a ledger of {records:,} records", f"{opening(records):.2f} s"],
    ]
    write("ledger", [*lines, *table(("ledger", "median"), rows)], only_print=records != RECORDS)


if __name__ == "__main__":
    main()
