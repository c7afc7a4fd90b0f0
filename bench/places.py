"""What AVG and STDDEV gain by finding each group's own place: docs/located.md.

    python bench/places.py [--draws 60] [--only-print]

Each statement is asked as it stands, by `laplace` (what answered it before), and by `laplace` within clamps chosen in
hindsight: 2^k to either side of each group's true median, and from 0 to 2^k, whichever errs least, of those that hold
nine tenths of the rows. Root mean squared errors from DuckDB's own answer over the same tables.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from coverage import Remembering
from ill_described import _store
from page import ROOT, circumstances, table, write

import dpsql.testing
from dpsql.session import Session
from dpsql.sql.parse import parse
from examples import hospital

PAGE = ROOT / "docs" / "located.md"
MOST = 1_000_000
JOBS = {"clerk": (9_000, 32_000, 5_000), "nurse": (8_000, 42_000, 5_000), "doctor": (2_700, 110_000, 20_000)}
JOBS["director"] = (300, 182_000, 40_000)
N = 10_000  # Rows of each family of data.
POLICY = f"""\
version: 1
name: places
engine: {{kind: duckdb, database: places.duckdb, memory: 2GiB, deadline: 60s}}
neighbours: add_remove
budget:
  ledger: places.ledger.db
  composition: zcdp
  total: {{epsilon: 1000000, delta: 0.1}}
  analysts: {{ana: {{epsilon: 1000000, delta: 0.1}}}}
  per_query: {{epsilon: 1}}
tables:
  staff:
    unit: id
    key: id
    rows_per_unit: 1
    columns:
      job: {{type: text, values: [{", ".join(JOBS)}]}}
      pay: {{type: integer, bounds: [0, {MOST}]}}
  data:
    unit: id
    key: id
    rows_per_unit: 1
    columns:
      family: {{type: text, values: [lognormal, Pareto, two modes]}}
      x:      {{type: integer, bounds: [0, {MOST}]}}
  visits:
    unit: patient_id
    key: visit_id
    rows_per_unit: 12
    columns:
      cost:      {{type: real, bounds: [0, 20000], grid: 0.01}}
      diagnosis: {{type: text, values: [flu, cold, injury, checkup, diabetes]}}
"""


@dataclass(frozen=True)
class Asked:
    """One statement: what is computed over which rows, by which key."""

    value: str
    column: str
    table: str
    key: str = ""
    where: str = ""

    def sql(self, clamp: tuple[float, float] | None = None) -> str:
        bounds = f", contribution_bounds_per_row => ({clamp[0]}, {clamp[1]})" if clamp else ""
        value = f"{self.value}({self.column}{bounds}) AS value"
        where = f" WHERE {self.where}" if self.where else ""
        if not self.key:
            return f"SELECT {value} FROM {self.table}{where}"
        return f"SELECT {self.key}, {value} FROM {self.table}{where} GROUP BY {self.key}"


STATEMENTS = (
    Asked("AVG", "pay", "staff", "job"),
    Asked("STDDEV", "pay", "staff", "job"),
    Asked("AVG", "x", "data", "family"),
    Asked("STDDEV", "x", "data", "family"),
    Asked("AVG", "cost", "visits"),
    Asked("AVG", "cost", "visits", "diagnosis"),
    Asked("AVG", "cost", "visits", where="cost > 2000"),
)


def make(path: Path) -> None:
    rng = np.random.default_rng(14)
    parts = {job: np.clip(rng.normal(mean, sd, n), 0, MOST) for job, (n, mean, sd) in JOBS.items()}
    hospital.build(path, patients=20_000, visits=100_000)
    families = {
        "lognormal": rng.lognormal(10.3, 0.9, N),
        "Pareto": 20_000 * rng.random(N) ** (-1 / 2.5),
        "two modes": np.where(rng.random(N) < 0.3, rng.normal(300_000, 10_000, N), rng.normal(40_000, 5_000, N)),
    }
    for name, key, column, own in (("staff", "job", "pay", parts), ("data", "family", "x", families)):
        values = np.rint(np.clip(np.concatenate(list(own.values())), 0, MOST)).astype(np.int64)
        labels = np.concatenate([[label] * len(rows) for label, rows in own.items()])
        _store(path, name, id=np.arange(len(values)), **{key: labels, column: values})


class Bench:
    """The bounded tables, and answers over them with real noise."""

    def __init__(self, home: Path, draws: int) -> None:
        make(home / "places.duckdb")
        (home / "places.yaml").write_text(POLICY)
        self.proxy = dpsql.testing.open(home / "places.yaml")
        bounded = next(self.proxy._cache.rglob("bounded.duckdb"))
        self.exact = duckdb.connect(str(bounded), read_only=True)
        backend = replace(self.proxy._backend, engine=Remembering(self.proxy._backend.engine))
        self.session, self.draws = Session(backend, "ana"), draws

    def answers(self, sql: str, **options: Any) -> Iterator[list[tuple[tuple[Any, ...], tuple[float, float]]]]:
        """Draws, each the rows and their 95% intervals."""
        prepared = self.session._prepare(self.session._plan(parse(sql).select, ()), {"epsilon": 1, **options})
        for _ in range(self.draws):
            answer = self.session._finish(prepared, self.session._release(prepared), replayed=False)
            yield list(zip(answer.rows, answer.interval("value", 0.95), strict=True))

    def errors(self, sql: str, truth: dict[Any, float], **options: Any) -> dict[Any, tuple[float, float, float]]:
        """To each group: root mean squared error, share of intervals that hold the truth, half their median width."""
        squares: dict[Any, list[float]] = {group: [] for group in truth}
        held: dict[Any, list[bool]] = {group: [] for group in truth}
        wide: dict[Any, list[float]] = {group: [] for group in truth}
        for rows in self.answers(sql, **options):
            for row, (low, high) in rows:
                if row[:-1] in truth:
                    true = truth[row[:-1]]
                    squares[row[:-1]].append((row[-1] - true) ** 2)
                    held[row[:-1]].append(low <= true <= high)
                    wide[row[:-1]].append((high - low) / 2)
        return {
            group: (math.sqrt(np.mean(own)), float(np.mean(held[group])), float(np.median(wide[group])))
            for group, own in squares.items()
        }

    def best(self, asked: Asked, group: tuple[Any, ...], truth: dict[Any, float]) -> float:
        """The least error of a clamp for this group, chosen in hindsight."""
        where = [asked.where] if asked.where else []
        where += [f"{asked.key} = '{group[0]}'"] if group else []
        of = f"FROM {asked.table}" + (f" WHERE {' AND '.join(where)}" if where else "")
        ((centre,),) = self.exact.execute(f"SELECT MEDIAN({asked.column}) {of}").fetchall()
        most = 20_000 if asked.table == "visits" else MOST
        clamps = [(0.0, 2.0**k) for k in range(6, 21)] + [(centre - 2.0**k, centre + 2.0**k) for k in range(6, 20)]
        errors = []
        for low, high in {(max(0.0, low), min(float(most), high)) for low, high in clamps}:
            inside = f"SELECT AVG(({asked.column} BETWEEN {low} AND {high})::INT) {of}"
            if self.exact.execute(inside).fetchall()[0][0] >= 0.9:
                found = self.errors(asked.sql((low, high)), {group: truth[group]}, mechanism="laplace")
                errors.append(found[group][0])
        return min(errors)


def rows_of(bench: Bench) -> Iterator[list[str]]:
    """A row for each group of each statement."""
    for asked in STATEMENTS:
        truth = {row[:-1]: row[-1] for row in bench.exact.execute(asked.sql()).fetchall()}
        listed = {group: value for group, value in truth.items() if group != (None,)}
        now, before = bench.errors(asked.sql(), listed), bench.errors(asked.sql(), listed, mechanism="laplace")
        for group in sorted(listed, key=str):
            best = bench.best(asked, group, listed)
            error, held, wide = now[group]
            name = ", ".join([f"{asked.value}({asked.column})", *group, *([asked.where] if asked.where else [])])
            figures = (f"{before[group][0]:.3g}", f"{error:.3g}", f"{best:.3g}", f"{error / best:.2f}")
            yield [name, f"{listed[group]:.6g}", *figures, f"{held:.0%}", f"{wide / error:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--only-print", action="store_true")
    given = parser.parse_args()
    made, home = circumstances(), Path(tempfile.mkdtemp(prefix="dpsql-places-"))
    try:
        rows = list(rows_of(Bench(home, given.draws)))
    finally:
        shutil.rmtree(home)
    head = ("statement", "truth", "before", "now", "best clamp", "now / best", "coverage", "half width / error")
    ratio = math.exp(float(np.mean([math.log(float(row[5])) for row in rows])))
    said = f"Geometric mean of now / best: {ratio:.2f}. {given.draws} draws, epsilon 1."
    lines = [made, "", *table(head, rows), "", said]
    write("places", lines, page=PAGE, only_print=given.only_print)


if __name__ == "__main__":
    main()
