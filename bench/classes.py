"""What a sensitivity for each class of units gains, and what it costs: docs/classes.md.

    python bench/classes.py [--patients 20000] [--rounds 200] [--only-print]

The hospital of the examples under policies/consent.yaml, with more and more strict patients. Each question is asked
many times with noise of its own, at the strictest class's price and with a sensitivity for each class.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from page import ROOT, circumstances, table, write

import dpsql.testing

sys.path.insert(0, str(ROOT))
from examples import hospital

PAGE = ROOT / "docs" / "classes.md"
EPSILON = 0.5
STRICT = (0.01, 0.1, 0.5)
QUESTIONS = (
    ("COUNT(*) of patients", "SELECT COUNT(*) FROM patients", "laplace", None),
    ("COUNT(*) by sex", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "laplace", None),
    ("SUM(age)", "SELECT SUM(age) FROM patients", "laplace", None),
    ("SUM(cost) of visits", "SELECT SUM(cost) FROM visits", "laplace", None),
    ("MAX(weight), Delta 5", "SELECT MAX(weight) FROM patients", "exponential", 5),
)
"""Name, statement, mechanism at the strictest class's price, sensitivity."""


def answers(proxy: dpsql.testing.TestProxy, sql: str, mechanism: str, sensitivity: int | None, rounds: int) -> list:
    """The rows of so many answers; every round is another analyst, since an answer is replayed to the same one."""
    options = {} if mechanism != "preprocessing" else {"sensitivity": sensitivity}
    return [
        proxy.session(analyst=f"{mechanism}{i}").query(sql, epsilon=EPSILON, mechanism=mechanism, **options).rows
        for i in range(rounds)
    ]


def exactly(proxy: dpsql.testing.TestProxy, sql: str) -> list:
    """DuckDB's rows over the same bounded tables: which rows of a patient they keep differs from ledger to ledger."""
    bounded = next(proxy._cache.rglob("bounded.duckdb"))
    with duckdb.connect(str(bounded), read_only=True) as connection:
        return connection.execute(sql + (" ORDER BY 1" if "GROUP" in sql else "")).fetchall()


def error(found: list, truth: list) -> float:
    """Root mean squared error, the mean over the groups."""
    errors = [[row[-1] - true[-1] for row, true in zip(rows, truth, strict=True)] for rows in found]
    groups = list(zip(*errors, strict=True))
    return sum(math.sqrt(sum(e * e for e in own) / len(own)) for own in groups) / len(groups)


def measured(folder: Path, patients: int, rounds: int) -> list[list[str]]:
    """One row for each question and share of strict patients."""
    database = folder / "hospital.duckdb"
    hospital.build(database, patients=patients, visits=6 * patients)
    text = (ROOT / "policies" / "consent.yaml").read_text()
    for old, new in (
        ("epsilon: 12, ", "epsilon: 1000000, "),
        ('"*":     {epsilon: 1, ', '"*":     {epsilon: 999999, '),
    ):
        assert old in text
        text = text.replace(old, new)
    text = text.replace("rows_about: 100000", f"rows_about: {patients}").replace("300000", f"{6 * patients}")
    (folder / "consent.yaml").write_text(text)
    rows = []
    for strict in STRICT:
        with duckdb.connect(str(database)) as connection:
            connection.execute(
                "UPDATE patients SET consent = CASE WHEN hash(patient_id) % 1000 < ? THEN 'strict' ELSE 'normal' END",
                [round(1000 * strict)],
            )
        with (
            dpsql.testing.open(folder / "consent.yaml") as proxy,
            dpsql.testing.open(folder / "consent.yaml", dpsql.testing.Noiseless()) as quiet,
        ):
            for name, sql, plain, sensitivity in QUESTIONS:
                truth = exactly(proxy, sql)
                alike = error(answers(proxy, sql, plain, None, rounds), truth)
                own = error(answers(proxy, sql, "preprocessing", sensitivity, rounds), truth)
                bias = error(answers(quiet, sql, "preprocessing", sensitivity, 1), exactly(quiet, sql))
                chosen = proxy.session(analyst="ana").explain(sql, epsilon=EPSILON).columns[0].mechanism
                cells = [name, f"{strict:.0%}", *(f"{x:.3g}" if x > 1e-3 else "0" for x in (alike, own, bias)), chosen]
                print(cells)
                rows.append(cells)
    return rows


def speed(folder: Path) -> str:
    """How long one question takes beside the plain one, in a sentence."""
    with dpsql.testing.open(folder / "consent.yaml", dpsql.testing.Noiseless()) as proxy:
        took = {}
        for mechanism in ("laplace", "preprocessing"):
            best = math.inf
            for i in range(5):
                began = time.perf_counter()
                proxy.session(analyst=f"a{i}").query("SELECT SUM(cost) FROM visits", mechanism=mechanism, epsilon=1)
                best = min(best, time.perf_counter() - began)
            took[mechanism] = best
    return (
        f"SUM(cost) takes {1000 * took['preprocessing']:.0f} ms with a sensitivity for each class, which groups the "
        f"rows by patient, and {1000 * took['laplace']:.0f} ms without (best of 5, over all visits)."
    )


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patients", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only-print", action="store_true")
    asked = parser.parse_args()
    told = circumstances()
    folder = Path(tempfile.mkdtemp())
    try:
        rows = measured(folder, asked.patients, asked.rounds)
        took = speed(folder)
    finally:
        shutil.rmtree(folder)
    titles = ["question", "strict", "strictest price", "own sensitivities", "of it bias", "chosen unasked"]
    lines = [
        f"{asked.patients:,} patients, {6 * asked.patients:,} visits, epsilon {EPSILON}, shares 0.25 and 1; "
        f"{asked.rounds} answers each. {took}",
        "",
        *table(titles, rows),
        "",
        told,
    ]
    write("classes", lines, page=PAGE, only_print=asked.only_print)


if __name__ == "__main__":
    main()
