"""Statements over TPC-H beside the same statements without privacy, asked of DuckDB itself, in turns.

    python bench/pairs.py [--scale S] [--rounds N] [--keep FOLDER] [--only-print] [NAME ...]

Customers are the protected people (policies/tpch.yaml); `open_orders` are its orders with days that nobody declared.
DuckDB reads tables of its own in the order of the files. Processor time is that of this process and its workers. The
data come from tpchgen-cli (`.venv/bin/pip install -e '.[bench]'`). Writes a table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from page import ROOT, circumstances, kept, table, write
from tpch import generate

import dpsql

DATABASE = "raw.duckdb"
OPEN_ORDERS = """
  open_orders:
    source: orders.parquet
    unit: o_custkey
    key: o_orderkey
    rows_per_unit: 45
    rows_about: 1500000
    columns: {o_orderdate: {type: date}}

  part:"""
CAP = "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_{}_contributed = {})"
NAMED = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace')"
LATE = "WHERE l_shipdate >= DATE '1994-01-01'"
TICK = 1 / os.sysconf("SC_CLK_TCK")  # Seconds of the clock by which Linux counts a process's time.

PAIRS = {
    "count": "SELECT COUNT(*) FROM lineitem",
    "filtered count": f"SELECT COUNT(*) FROM lineitem {LATE} AND l_quantity < 24",
    "variance": "SELECT VAR_POP(l_quantity) FROM lineitem",
    "persons": "SELECT COUNT(DISTINCT o_custkey) FROM orders",
    "six groups": "SELECT l_returnflag, l_linestatus, COUNT(*), SUM(l_quantity) FROM lineitem GROUP BY 1, 2",
    "four aggregates": f"SELECT COUNT(*), SUM(l_quantity), AVG(l_discount), SUM(l_extendedprice) FROM lineitem {LATE}",
    "the same by laplace": f"SELECT {NAMED} COUNT(*), SUM(l_quantity), AVG(l_discount), SUM(l_extendedprice) "
    f"FROM lineitem {LATE}",
    "years": "SELECT year(l_shipdate), COUNT(*), SUM(l_quantity) FROM lineitem GROUP BY 1",
    "join": "SELECT COUNT(*), SUM(l_quantity) FROM lineitem JOIN orders ON l_orderkey = o_orderkey "
    "WHERE o_orderpriority = '1-URGENT'",
    "median": "SELECT MEDIAN(l_extendedprice) FROM lineitem",
    "35 medians": "SELECT o_orderpriority, year(o_orderdate), MEDIAN(o_totalprice) FROM orders GROUP BY 1, 2",
    "80 open months": "SELECT date_trunc('month', o_orderdate), COUNT(*) FROM open_orders GROUP BY 1",
    "2,406 open days": "SELECT o_orderdate, COUNT(*) FROM open_orders GROUP BY 1",
    "10 rows each": f"SELECT {CAP.format('rows', 10)} COUNT(*), SUM(l_quantity) FROM lineitem",
    "10 rows each, filtered": f"SELECT {CAP.format('rows', 10)} COUNT(*), SUM(l_quantity) FROM lineitem {LATE}",
    "2 groups each": f"SELECT {CAP.format('groups', 2)} l_shipmode, COUNT(*), SUM(l_quantity) FROM lineitem GROUP BY 1",
    "2 open days each": f"SELECT {CAP.format('groups', 2)} o_orderdate, COUNT(*) FROM open_orders GROUP BY 1",
    "totals within bounds": "SELECT l_shipmode, SUM(l_quantity, contribution_bounds_per_group => (0, 300)) "
    f"FROM lineitem {LATE} GROUP BY l_shipmode",
}
"""Each statement by a name; `raw` says what DuckDB is asked beside it."""


def raw(sql: str) -> str:
    """The same statement without what only dpsql reads.

    >>> raw("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 1) COUNT(*) FROM open_orders")
    'SELECT COUNT(*) FROM orders'
    """
    sql = re.sub(r"WITH DIFFERENTIAL_PRIVACY OPTIONS \([^)]*\) ", "", sql).replace("open_orders", "orders")
    return re.sub(r", contribution_bounds_per_group => \([^)]*\)", "", sql)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one call: on the clock, and of the processors."""

    wall: float
    processor: float


def timed(call: Callable[[], object]) -> Times:
    """How long a call takes."""
    start, before = time.perf_counter(), _processor()
    call()
    return Times(time.perf_counter() - start, _processor() - before)


def _processor() -> float:
    """Seconds that this process and those it started have used."""
    total = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parts = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(place.name) == os.getpid() or int(parts[1]) == os.getpid():
            total += (int(parts[11]) + int(parts[12])) * TICK
    return total


def opened(folder: Path, scale: float) -> dpsql.Proxy:
    """The proxy over TPC-H's files; DuckDB's own tables are made beside them."""
    generate(folder, scale)
    text = (ROOT / "policies" / "tpch.yaml").read_text().replace("\n  part:", OPEN_ORDERS, 1)
    text = text.replace("epsilon: 50, delta: 1.0e-5", "epsilon: 1000000, delta: 0.5").replace("1.0e-8", "1.0e-6")
    (folder / "pairs.yaml").write_text(text.replace("tpch.ledger.db", "pairs.ledger.db"))
    if not (folder / DATABASE).exists():
        with duckdb.connect(str(folder / DATABASE)) as connection:
            for name in ("lineitem", "orders", "customer"):
                connection.execute(f"CREATE TABLE {name} AS FROM '{folder / name}.parquet'")
    return dpsql.open(folder / "pairs.yaml")


def row(name: str, proxy: dpsql.Proxy, beside: duckdb.DuckDBPyConnection, rounds: int) -> list[str]:
    """One line: times of both, and their ratios, pair by pair."""
    ours, theirs = [], []
    for number in range(rounds + 1):
        session = proxy.session(analyst=f"{name} {number} {time.time()}")  # nothing is replayed
        theirs.append(timed(lambda: beside.sql(raw(PAIRS[name])).fetchall()))
        ours.append(timed(lambda own=session: own.query(PAIRS[name])))
    ours, theirs = ours[1:], theirs[1:]
    ratio = statistics.median(own.wall / other.wall for own, other in zip(ours, theirs, strict=True))
    used = sum(own.processor for own in ours), sum(other.processor for other in theirs)
    shown = [f"{statistics.median(own.wall for own in both) * 1000:.0f}" for both in (theirs, ours)]
    each = [f"{total / rounds * 1000:.0f}" for total in (used[1], used[0])]
    return [name, *shown, f"{ratio:.1f}", *each, f"{used[0] / used[1]:.1f}" if used[1] else ""]


TITLES = ("statement", "raw, ms", "dpsql, ms", "ratio", "raw, processor ms", "dpsql, processor ms", "ratio")


def lines(rows: Sequence[Sequence[str]], scale: float, rounds: int) -> list[str]:
    """The section of docs/benchmarks.md."""
    texts = [f"`{PAIRS[name]}`" for name, *_ in rows]
    return [
        circumstances(),
        "",
        f"TPC-H at scale factor {scale:g}; medians of {rounds} pairs on the clock, means of processor time.",
        "",
        *table(TITLES, rows),
        "",
        *(f"- {name}: {text}" for (name, *_), text in zip(rows, texts, strict=True)),
    ]


def main() -> None:
    """Generates, asks in turns, writes."""
    arguments = argparse.ArgumentParser(description="Times statements over TPC-H beside DuckDB's own.")
    arguments.add_argument("names", nargs="*", choices=[*PAIRS, []], help="which; all by default", metavar="NAME")
    arguments.add_argument("--scale", type=float, default=1, metavar="S", help="scale factor")
    arguments.add_argument("--rounds", type=int, default=5, metavar="N", help="counted rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    names = chosen.names or list(PAIRS)
    rows = []
    with (
        kept(chosen.keep) as folder,
        opened(folder, chosen.scale) as proxy,
        duckdb.connect(str(folder / DATABASE), read_only=True) as beside,
    ):
        for name in names:
            rows.append(row(name, proxy, beside, chosen.rounds))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    write("pairs", lines(rows, chosen.scale, chosen.rounds), only_print=chosen.only_print or bool(chosen.names))


if __name__ == "__main__":
    main()
