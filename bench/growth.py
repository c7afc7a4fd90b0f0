"""How building and asking grow: over rows, groups, columns and joins, beside the same of DuckDB itself.

    python bench/growth.py [--most N] [--rounds N] [--keep FOLDER] [--only-print] [--only-build N]

Made-up visits (ten a person), with three tables more of the same people, one row each. Each number of rows is a policy
of its own: its tables are copied by DuckDB, and built by dpsql; then statements are asked of both in turns. Over
groups, columns and joins there are a million visits. Writes a table of docs/benchmarks.md and docs/figures/growth.svg.
``--only-build`` builds one number of rows, such as 10^9, and writes what that took: memory, and the disk, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from page import ROOT, circumstances, kept, table, write
from pairs import timed
from scale import HEAD, highest, made_up, watched

import dpsql

DATABASE = "growth.duckdb"
FIGURE = ROOT / "docs" / "figures" / "growth.svg"
EACH = 10  # Visits of a person, on average. It is a choice, as is all of the made-up data.
MIDDLE = 1_000_000  # Visits where something else grows.
COLUMNS = tuple(f"c{number}" for number in range(1, 9))
GROUPS = (2, 10, 100, 1_000, 10_000)
VISIT = f"""
SELECT CAST({made_up(1, "$people")} AS BIGINT) AS person, i AS visit, CAST({made_up(2, 1001)} AS INTEGER) AS cost,
       DATE '2020-01-01' + CAST({made_up(3, 2192)} AS INTEGER) AS day,
       chr(CAST(97 + {made_up(4, 4)} AS INTEGER)) AS kind,
       DATE '2020-01-01' + CAST({made_up(5, 2192)} AS INTEGER) AS open_day
"""
MADE = f"CREATE TABLE visits AS {VISIT} FROM range($rows) AS numbers(i)"
WIDE = f"""
CREATE TABLE wide AS
SELECT *, {", ".join(f"CAST(hash(visit, {10 + g}) % {g} AS INTEGER) AS g{g}" for g in GROUPS)},
       {", ".join(f"CAST(hash(visit, '{name}') % 1001 AS INTEGER) AS {name}" for name in COLUMNS)}
FROM visits
"""
BESIDE = """
CREATE TABLE {name} AS
SELECT person, CAST(hash(person, '{name}') % 50 AS INTEGER) AS {name}_x FROM (SELECT DISTINCT person FROM visits)
"""
ENGINE = "{kind: duckdb, database: growth.duckdb, deadline: 600s, memory: 4GiB, cache: cache}"
VISITS = """\
  visits:
    unit: person
    key: visit
    rows_per_unit: 30
    rows_about: {rows}
    columns:
      cost: {{type: integer, bounds: [0, 1000]}}
      day: {{type: date, bounds: [2020-01-01, 2025-12-31]}}
      open_day: {{type: date}}
      kind: {{type: text, values: [a, b, c, d]}}
"""
MORE = """\
  {name}:
    unit: person
    key: {key}
    rows_per_unit: {most}
    rows_about: {rows}
    columns: {{{columns}}}
"""
COPY = "CREATE TABLE visits AS FROM source.visits"
SECRET = "0123456789abcdef" * 2  # As long as what a build hashes before each row.
SORT = f"""
{COPY} ORDER BY person, CAST('0x' || left(sha256(concat('{SECRET}', person, ':', visit)), 8) AS UINTEGER)
"""
"""What no build does without, and DuckDB does alone: rows by person, and within each by a hash that nobody foresees."""
TABLES = ("homes", "jobs", "bills")
OVER_ROWS = {
    "count": "SELECT COUNT(*) FROM visits",
    "four groups": "SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind",
    "filtered mean": "SELECT AVG(cost) FROM visits WHERE day >= DATE '2023-01-01'",
    "filtered sum": "SELECT SUM(cost) FROM visits WHERE day >= DATE '2023-01-01'",
    "median": "SELECT MEDIAN(cost) FROM visits",
    "open days": "SELECT open_day, COUNT(*) FROM visits GROUP BY open_day",
}


@dataclass(frozen=True)
class Built:
    """Seconds, processor seconds and the most bytes of memory: of DuckDB's plain copy, of its sorted one where that was
    made, and of the bounded tables."""

    copied: tuple[float, float, float]
    sorted: tuple[float, float, float] | None
    built: tuple[float, float, float]


Pairs = dict[int, tuple[float, float]]
"""Milliseconds of DuckDB itself and of dpsql, medians, by how much there is of what grows."""


def statements() -> dict[str, dict[int, str]]:
    """What grows at a million visits, and the statements by how much of it there is."""
    joined, sums = "SELECT COUNT(*), SUM(cost) FROM visits", [f"SUM({name})" for name in COLUMNS]
    joins = {0: joined}
    for number, name in enumerate(TABLES):
        joined += f" JOIN {name} USING (person)"
        joins[number + 1] = joined
    return {
        "groups": {g: f"SELECT g{g}, COUNT(*), SUM(cost) FROM wide GROUP BY g{g}" for g in GROUPS},
        "columns": {n: f"SELECT {', '.join(sums[:n])} FROM wide WHERE cost > 100" for n in (1, 2, 4, 8)},
        "joins": joins,
    }


def made(folder: Path, rows: int, *, more: bool) -> Path:
    """The policy, over a database that holds the visits, and the tables beside them."""
    for gone in (folder / "growth.duckdb", *folder.glob("growth.db*")):
        gone.unlink(missing_ok=True)
    for folders in ("mark", "cache"):
        shutil.rmtree(folder / folders, ignore_errors=True)
    policy = HEAD.format(name="growth", engine=ENGINE) + VISITS.format(rows=rows)
    with duckdb.connect(str(folder / "growth.duckdb")) as connection:
        connection.execute(MADE, {"rows": rows, "people": rows // EACH})
        if more:
            connection.execute(WIDE)
            ends = {f"g{g}": g - 1 for g in GROUPS} | dict.fromkeys((*COLUMNS, "cost"), 1000)
            columns = ", ".join(f"{name}: {{type: integer, bounds: [0, {end}]}}" for name, end in ends.items())
            policy += MORE.format(name="wide", key="visit", most=30, rows=rows, columns=columns)
            for name in TABLES:
                connection.execute(BESIDE.format(name=name))
                column = f"{name}_x: {{type: integer, bounds: [0, 49]}}"
                policy += MORE.format(name=name, key="person", most=1, rows=rows // EACH, columns=column)
    (folder / "growth.yaml").write_text(policy)
    return folder / "growth.yaml"


def copied(folder: Path, sql: str) -> tuple[float, float, float]:
    """DuckDB's own copy of the visits into a file, with as much memory as a build has."""
    copy, start = folder / "copy.duckdb", time.perf_counter()
    with watched(os.getpid()) as found, duckdb.connect(str(copy), config={"memory_limit": "2GiB"}) as connection:
        connection.execute(f"ATTACH '{folder / 'growth.duckdb'}' AS source (READ_ONLY)")
        connection.execute(sql)
    copy.unlink()
    return time.perf_counter() - start, found[0], found[1]


@contextmanager
def opened(policy: Path) -> Iterator[tuple[dpsql.Proxy, tuple[float, float, float]]]:
    """The proxy, once its tables are built, and what that took."""
    start = time.perf_counter()
    with watched(os.getpid()) as found:
        proxy = dpsql.open(policy)
    with proxy:
        yield proxy, (time.perf_counter() - start, found[0], found[1])


def held(folder: Path) -> int:
    """The bytes of all files of a folder; some may go meanwhile."""
    sizes = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            sizes += file.stat().st_size
    return sizes


def build_alone(folder: Path, rows: int) -> list[str]:
    """What copying and building so many rows took, and the disk beside the source."""
    policy = made(folder, rows, more=False)
    source = (folder / DATABASE).stat().st_size
    copy, before = copied(folder, COPY), held(folder)
    with highest(lambda: held(folder) - before) as most, opened(policy) as (_, took):
        pass
    stored = sum(file.stat().st_size for file in (folder / "cache").rglob("*.duckdb"))
    bytes_ = ", ".join(
        f"{what} {own / 2**30:.1f} GiB"
        for what, own in (("source", source), ("bounded tables", stored), ("most while building", most[0]))
    )
    return [circumstances(), "", *_buildings({rows: Built(copy, None, took)}), "", f"On disk: {bytes_}."]


def asked(proxy: dpsql.Proxy, database: Path, statements: Mapping[Any, str], rounds: int) -> dict[Any, Any]:
    """Milliseconds of DuckDB and of dpsql for each statement, in turns; the first of each does not count."""
    found = {}
    with duckdb.connect(str(database), read_only=True) as beside:
        for what, sql in statements.items():
            pairs = []
            for number in range(rounds + 1):
                session = proxy.session(analyst=f"{what} {number} {time.time()}")  # nothing is replayed
                raw = timed(lambda text=sql: beside.sql(text).fetchall()).wall
                pairs.append((raw, timed(lambda own=session, text=sql: own.query(text)).wall))
            found[what] = tuple(statistics.median(own) * 1e3 for own in zip(*pairs[1:], strict=True))
            print(what, *(f"{own:.1f}" for own in found[what]), file=sys.stderr, flush=True)
    return found


def picture(rows: Mapping[int, Mapping[str, tuple[float, float]]], more: Mapping[str, Pairs], file: Path) -> None:
    """Milliseconds over what grows: DuckDB's dashed, dpsql's drawn through."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "growth"  # the same file each time
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.5), layout="constrained")
    first, *others = figure.subplots(2, 2).flat
    for color, name in enumerate(OVER_ROWS):
        for place, style in enumerate(("--", "o-")):
            label = name if place else None
            first.plot([*rows], [own[name][place] for own in rows.values()], style, color=f"C{color}", label=label)
    first.set(xscale="log", yscale="log", xlabel="rows", ylabel="ms", title="rows")
    for axes, (title, pairs) in zip(others, more.items(), strict=True):
        for place, (style, label) in enumerate((("--", "DuckDB itself"), ("o-", "dpsql"))):
            axes.plot([*pairs], [own[place] for own in pairs.values()], style, color="C0", label=label)
        axes.set(xlabel=title, ylabel="ms", title=f"{title}, at 10^6 rows", ylim=(0, None))
        if title == "groups":
            axes.set(xscale="log")
    for axes in (first, *others):
        axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})


def _buildings(built: Mapping[int, Built]) -> list[str]:
    """The table of what building took."""
    buildings = []
    for size, own in built.items():
        sort = [] if own.sorted is None else [own.sorted]
        took = [f"{wall:.1f} ({used:.1f})" for wall, used, _ in (own.copied, *sort, own.built)]
        ratios = [f"{used / own.copied[1]:.1f}" if own.copied[1] else "" for _, used, _ in (*sort, own.built)]
        buildings.append(
            [f"{size:,}", *took, *ratios, *(f"{most / 2**30:.2f}" for *_, most in (own.copied, own.built))]
        )
    sorting = [] if any(own.sorted is None for own in built.values()) else ["sorting by a hash"]
    titles = [f"{what}, s" for what in ("copying", *sorting, "building")]
    titles += [f"{what} / copying" for what in (*sorting, "building")]
    return table(("rows", *titles, "copying, GiB", "building, GiB"), buildings)


def lines(
    rows: Mapping[int, Mapping[str, tuple[float, float]]],
    built: Mapping[int, Built],
    more: Mapping[str, Pairs],
    rounds: int,
) -> list[str]:
    """The section of docs/benchmarks.md."""
    texts = [[f"{size:,}", *(f"{raw:.0f} / {ours:.0f}" for raw, ours in own.values())] for size, own in rows.items()]
    grown = [
        [f"{many:,} {what}", f"{raw:.0f}", f"{ours:.0f}", f"{ours / raw:.1f}"]
        for what, pairs in more.items()
        for many, (raw, ours) in pairs.items()
    ]
    return [
        circumstances(),
        "",
        "Building: seconds on the clock, of the processors in brackets, whose ratio it is; memory is the most that all",
        "processes had. Sorting by a hash is what DuckDB takes for the rows in the order of a bounded table alone.",
        "",
        *_buildings(built),
        "",
        f"Milliseconds of DuckDB itself / dpsql, medians of {rounds} pairs:",
        "",
        *table(("rows", *OVER_ROWS), texts),
        "",
        *table(("at 10^6 rows", "DuckDB itself, ms", "dpsql, ms", "ratio"), grown),
        "",
        *(f"- {name}: `{sql}`" for name, sql in OVER_ROWS.items()),
    ]


def main() -> None:
    """Makes, builds, asks, writes."""
    arguments = argparse.ArgumentParser(description="How building and asking grow.")
    arguments.add_argument("--most", type=int, default=100_000_000, metavar="N", help="the largest number of rows")
    arguments.add_argument("--rounds", type=int, default=5, metavar="N", help="counted rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are made, and stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    arguments.add_argument("--only-build", type=int, metavar="N", help="build N rows, write what it took, ask nothing")
    chosen = arguments.parse_args()
    if chosen.only_build:
        with kept(chosen.keep) as folder:
            write("alone", build_alone(folder, chosen.only_build), only_print=chosen.only_print)
        return
    rows: dict[int, dict[str, tuple[float, float]]] = {}
    built: dict[int, Built] = {}
    more: dict[str, Pairs] = {}
    with kept(chosen.keep) as folder:
        for size in (10**5, 10**6, 10**7, 10**8):
            if size <= chosen.most:
                policy = made(folder, size, more=False)
                copies = copied(folder, COPY), copied(folder, SORT)
                with opened(policy) as (proxy, took):
                    built[size] = Built(*copies, took)
                    rows[size] = asked(proxy, folder / DATABASE, OVER_ROWS, chosen.rounds)
        with opened(made(folder, MIDDLE, more=True)) as (proxy, _):
            for what, own in statements().items():
                more[what] = asked(proxy, folder / DATABASE, own, chosen.rounds)
    write("growth", lines(rows, built, more, chosen.rounds), only_print=chosen.only_print)
    if not chosen.only_print:
        picture(rows, more, FIGURE)


if __name__ == "__main__":
    main()
