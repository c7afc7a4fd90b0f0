"""MEDIAN of ten million rows beside DuckDB's own, asked in turns.

python bench/median.py [--rows 10000000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import dpsql.testing

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

QUERIES = ("SELECT MEDIAN(cost) FROM visits", "SELECT sex, MEDIAN(age) FROM patients GROUP BY sex")


def milliseconds(task: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    task()
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    """Builds the data, asks in turns, writes the table at full size."""
    arguments = argparse.ArgumentParser(description="Times MEDIAN beside DuckDB's own.")
    arguments.add_argument("--rows", type=int, default=10_000_000, help="visits")
    arguments.add_argument("--rounds", type=int, default=7)
    given = arguments.parse_args()
    specification = importlib.util.spec_from_file_location("hospital", ROOT / "examples" / "hospital.py")
    assert specification is not None and specification.loader is not None
    hospital = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(hospital)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        hospital.build(place / "speed.duckdb", given.rows // 6, given.rows)
        policy = (ROOT / "policies" / "hospital.yaml").read_text().replace("hospital.duckdb", "speed.duckdb")
        policy = policy.replace("total:     {epsilon: 20", "total:     {epsilon: 1000000")
        (place / "speed.yaml").write_text(policy.replace("ana:     {epsilon: 8", "ana:     {epsilon: 1000000"))
        lines = []
        with (
            dpsql.testing.open(place / "speed.yaml", sampler=dpsql.testing.ExactSampler()) as proxy,
            duckdb.connect(str(place / "speed.duckdb"), read_only=True) as raw,
        ):
            session = proxy.session(analyst="ana")
            for query in QUERIES:
                times = []
                for number in range(given.rounds + 1):
                    price = 0.5 + number / 10**6  # a new statement each time: nothing is replayed
                    once = milliseconds(lambda q=query: raw.execute(q).fetchall())
                    times.append((once, milliseconds(lambda q=query, e=price: session.query(q, epsilon=e))))
                own, ours = zip(*times[1:], strict=True)
                ratio = min(ours) / min(own)
                shown = [f"{min(t):.0f} ({statistics.median(t):.0f})" for t in (own, ours)]
                lines.append([f"`{query}`", *shown, f"{ratio:.2f}"])
        text = table(["query", "raw, ms", "whole, ms", "whole / raw"], lines)
        write("median", [circumstances(), "", *text], only_print=given.rows < 10_000_000)


if __name__ == "__main__":
    main()
