"""Time of preprocessed statistics through the whole pipeline against the number of rows, beside the raw query.

    python bench/preprocessing.py [LARGEST]

One row a person: lognormal incomes exp(N(10.3, 0.9)) without bounds, in whole units and in cents; centre 40,000,
spread 20,000, epsilon 1, a sensitivity of 1,000 for MAX. *raw* is DuckDB's own statistic in the same process, *engine*
from sending the statement to the worker to having its integers, *whole* all of `session.query`, *proxy* the processor
time of that in the proxy's own process, without the engine; the least of three rounds counts. At full size the table
goes to docs/preprocessing.md, and with matplotlib a figure to docs/figures/preprocessing_time.svg.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb

import dpsql.testing
from dpsql.session import Session
from dpsql.sql.parse import parse

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

PAGE = ROOT / "docs" / "preprocessing.md"
FIGURE = ROOT / "docs" / "figures" / "preprocessing_time.svg"
FULL = 10**7
ROUNDS = 3
POLICY = """
version: 1
name: incomes
engine: {{kind: duckdb, database: incomes.duckdb, memory: 4GiB, deadline: 10min}}
neighbours: add_remove
budget:
  ledger: incomes.ledger.db
  composition: zcdp
  total: {{epsilon: 1000000, delta: 1.0e-3}}
  analysts: {{"*": {{epsilon: 1000000, delta: 1.0e-3}}}}
  per_query: {{epsilon: 1}}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: {rows}
    columns:
      whole: {{type: integer, centre: 40000, spread: 20000}}
      cents: {{type: real, grid: 0.01, centre: 40000, spread: 20000}}
"""
PEOPLE = """
CREATE TABLE people AS SELECT i AS person, floor(v)::BIGINT AS whole, round(v, 2) AS cents FROM
(SELECT i, exp(10.3 + 0.9 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) AS v FROM range({rows}) t(i))
"""
TRIMMED = (
    "SELECT avg(v) FROM (SELECT {column} AS v, row_number() OVER (ORDER BY {column}) AS r FROM people) "
    "WHERE r > floor({rows} * 0.1) AND r <= {rows} - floor({rows} * 0.1)"
)
STATISTICS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "MEDIAN": ("MEDIAN({column})", "SELECT median({column}) FROM people", {}),
    "AVG": ("AVG({column})", "SELECT avg({column}) FROM people", {}),
    "VAR_POP": ("VAR_POP({column})", "SELECT var_pop({column}) FROM people", {}),
    "TRIMMED_MEAN": ("TRIMMED_MEAN({column}, 0.1)", TRIMMED, {}),
    "MAX": ("MAX({column})", "SELECT max({column}) FROM people", {"mechanism": "preprocessing", "sensitivity": 1000}),
}
"""Ours, DuckDB's, and options."""

Times = tuple[float, float, float, float]
"""Seconds: raw, engine, whole, proxy."""


def seconds(task: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def one_round(
    session: Session, raw: duckdb.DuckDBPyConnection, ours: str, theirs: str, options: dict[str, Any]
) -> Times:
    """One statistic, asked each way."""
    statement: Any = parse(ours)
    prepared = session._prepare(session._plan(statement.select, ()), options)
    engine = session._backend.engine
    own = seconds(lambda: raw.execute(theirs).fetchall())
    counted = seconds(lambda: [engine.run(reading.statement) for reading in prepared.readings])
    before = time.process_time()
    whole = seconds(lambda: session.query(ours, **options))
    return own, counted, whole, time.process_time() - before


def of_size(rows: int) -> Iterator[tuple[str, str, int, Times]]:
    """Column, statistic, distinct values, and the least times."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "incomes.yaml").write_text(POLICY.format(rows=rows))
        distinct = {}
        with duckdb.connect(str(place / "incomes.duckdb")) as connection:
            connection.execute("SELECT setseed(0.5)")
            connection.execute(PEOPLE.format(rows=rows))
            for column in ("whole", "cents"):
                ((distinct[column],),) = connection.execute(f"SELECT count(DISTINCT {column}) FROM people").fetchall()
        with (
            dpsql.testing.open(place / "incomes.yaml", sampler=dpsql.testing.ExactSampler()) as proxy,
            duckdb.connect(str(place / "incomes.duckdb"), read_only=True) as raw,
        ):
            session = proxy.session(analyst="ana")
            for column in distinct:
                for name, (ours, theirs, options) in STATISTICS.items():
                    sql = f"SELECT {ours.format(column=column)} AS v FROM people"
                    query = theirs.format(column=column, rows=rows)
                    times = [  # a price of its own for each: nothing is replayed
                        one_round(session, raw, sql, query, {**options, "epsilon": 1 + number / 10**6})
                        for number in range(ROUNDS)
                    ]
                    own, engine, whole, proxy_time = map(min, zip(*times, strict=True))
                    yield column, name, distinct[column], (own, engine, whole, proxy_time)


def draw(sizes: list[int], found: dict[tuple[str, str], list[Times]]) -> None:
    """The figure: a line a statistic, raw and whole, both axes logarithmic; a panel for each column."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no figure: matplotlib is not installed")
        return
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, column in zip(panels, ("whole", "cents"), strict=True):
        for at, name in enumerate(STATISTICS):
            raw, _, whole, _ = zip(*found[column, name], strict=True)
            axes.loglog(sizes, whole, marker="o", markersize=3, color=f"C{at}", label=name)
            axes.loglog(sizes, raw, ls=":", color=f"C{at}", label=f"{name}, raw")
        axes.set_title("whole units" if column == "whole" else "cents", fontsize=10)
        axes.set_xlabel("rows")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("seconds")
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=7, loc="outside right upper")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE)
    print(f"figure: {FIGURE}")


def main(largest: int = FULL) -> None:
    """Prints the table; at full size writes it to the page, and draws the figure."""
    where = circumstances()
    sizes = [10**k for k in range(4, round(math.log10(largest)) + 1)]
    found: dict[tuple[str, str], list[Times]] = {}
    lines = []
    for rows in sizes:
        for column, name, distinct, times in of_size(rows):
            found.setdefault((column, name), []).append(times)
            lines.append([f"{name} of {column}", f"{rows:,}", f"{distinct:,}", *(f"{1000 * t:,.0f}" for t in times)])
    titles = ["statistic", "rows", "distinct values", "raw, ms", "engine, ms", "whole, ms", "proxy, ms"]
    trial = largest < FULL
    shown = [line for line in lines if trial or line[1] in ("1,000,000", "10,000,000")]
    write("time", [where, "", *table(titles, shown)], page=PAGE, only_print=trial)
    if not trial:
        draw(sizes, found)


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:2]))
