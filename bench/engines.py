"""Statements over TPC-H on every engine, beside the same statements asked of that engine itself, in turns.

    python bench/engines.py [--scale S] [--rounds N] [--keep FOLDER] [--only-print] [ENGINE ...]

The same tables are moved into DuckDB, a PostgreSQL server, Sail, and an Apache Spark where SPARK_HOME names one. Each
is asked over a policy that differs in its engine alone. Where engines are named, the others' figures are those that
FOLDER keeps of the last time. Writes a table of docs/engines.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
from page import ROOT, circumstances, kept, table, write
from pairs import PAIRS
from tpch import TABLES, generate

import dpsql

sys.path.insert(0, str(ROOT))  # the servers live with the examples, outside the package

from examples import postgres, spark

NAMES = ("count", "filtered count", "variance", "persons", "six groups", "four aggregates", "join", "median")
DATABASE = "engines.duckdb"
POLICY = "engines.yaml"
MEDIAN = ("MEDIAN(l_extendedprice)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY l_extendedprice)")
"""What DuckDB and Spark call it, and what PostgreSQL does."""


@dataclass(frozen=True)
class Place:
    """An engine with the tables in it.

    Attributes:
        policy: A policy over it.
        asked: Has the engine itself answer a statement.
    """

    policy: Path
    asked: Callable[[str], object]


@contextmanager
def in_duckdb(folder: Path) -> Iterator[Place]:
    """The file itself."""
    with duckdb.connect(str(folder.parent / DATABASE), read_only=True) as raw:
        yield Place(folder / POLICY, lambda sql: raw.execute(sql).fetchall())


@contextmanager
def in_postgres(folder: Path) -> Iterator[Place]:
    """A PostgreSQL server of its own."""
    programs = postgres.programs()
    if programs is None:
        raise SystemExit("This machine has no PostgreSQL server.")
    with postgres.running(programs) as server:
        _copied(server, folder.parent / DATABASE)
        with server.connect("tpch") as raw:
            yield Place(
                postgres.moved(folder / POLICY, server, "tpch"),
                lambda sql: raw.execute(sql.replace(*MEDIAN).encode()).fetchall(),
            )


def _copied(server: postgres.Server, file: Path) -> None:
    """The tables of a DuckDB file, in a new database, by way of files that both read."""
    with server.connect("postgres") as connection:
        connection.execute("CREATE DATABASE tpch")
    with duckdb.connect(str(file), read_only=True) as here, server.connect("tpch") as there:
        for name in TABLES:
            columns = ", ".join(
                f'"{column}" {kind}' for column, kind, *_ in here.execute(f"DESCRIBE {name}").fetchall()
            )
            there.execute(f"CREATE TABLE {name} ({columns})".encode())
            written = server.folder / f"{name}.csv"
            here.execute(f"COPY {name} TO '{written}' (FORMAT csv, HEADER false)")
            there.execute(f"COPY {name} FROM '{written}' (FORMAT csv)".encode())
            written.unlink()
        there.execute("VACUUM ANALYZE")


def in_spark(home: Path | None) -> Callable[[Path], Any]:
    """A Sail server of its own, or an Apache Spark."""

    @contextmanager
    def place(folder: Path) -> Iterator[Place]:
        with spark.running(home) as server:
            spark.load(server, "tpch", folder.parent / DATABASE)
            with server.asked() as raw:
                raw.told("USE SCHEMA tpch")
                policy = spark.moved(folder / POLICY, server, "tpch")
                yield Place(policy, lambda sql: raw.rows(sql).to_pylist())

    return place


def engines() -> dict[str, Callable[[Path], Any]]:
    """Each engine that is here, by its name."""
    home = spark.apache()
    found = {"DuckDB": in_duckdb, "PostgreSQL": in_postgres, "Sail": in_spark(None)}
    return {**found, "Apache Spark": in_spark(home)} if home else found


def prepare(folder: Path, scale: float) -> None:
    """The tables in a DuckDB file, and a policy over it with a budget that is as good as endless."""
    generate(folder, scale)
    text = (ROOT / "policies" / "tpch.yaml").read_text()
    text = text.replace("epsilon: 50, delta: 1.0e-5", "epsilon: 1000000, delta: 0.5").replace("1.0e-8", "1.0e-6")
    text = re.sub(r"source: \w+\.parquet,?", "", text)
    text = text.replace("kind: duckdb,", f"kind: duckdb, database: ../{DATABASE},").replace(
        "tpch.ledger.db", "engines.ledger.db\n  mark: mark"
    )
    (folder / POLICY).write_text(text)
    if not (folder / DATABASE).exists():
        with duckdb.connect(str(folder / DATABASE)) as connection:
            for name in TABLES:
                connection.execute(f"CREATE TABLE {name} AS FROM '{folder / name}.parquet'")


@dataclass(frozen=True)
class Found:
    """What came of one engine.

    Attributes:
        rounds: Counted pairs of each statement.
        load: Of the machine, at the start.
        building: Seconds that its bounded tables took.
        seconds: Of each statement, by the engine itself and by dpsql: medians, and that of the ratios.
        quoted: Of each statement: its mechanisms, and the error that is expected of each column, as they are written.
    """

    rounds: int
    load: float
    building: float
    seconds: Mapping[str, Sequence[float]]
    quoted: Mapping[str, str]


def found_in(place: Place, rounds: int) -> Found:
    """Builds, and asks in turns."""
    start, load = time.perf_counter(), os.getloadavg()[0]
    seconds, quoted = {}, {}
    with dpsql.open(place.policy) as proxy:
        building = time.perf_counter() - start
        for name in NAMES:
            pairs = []
            for number in range(rounds + 1):
                own = proxy.session(analyst=f"{name} {number} {time.time()}")  # nothing is replayed
                start = time.perf_counter()
                place.asked(PAIRS[name])
                between = time.perf_counter()
                own.query(PAIRS[name])
                pairs.append((between - start, time.perf_counter() - between))
            theirs, ours = ([pair[which] for pair in pairs[1:]] for which in (0, 1))
            ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
            seconds[name] = statistics.median(theirs), statistics.median(ours), ratio
            quoted[name] = repr(own.explain(PAIRS[name]).columns)
            print(f"{name}: {seconds[name]}", file=sys.stderr, flush=True)
    return Found(rounds, load, building, seconds, quoted)


def lines(found: Mapping[str, Found], scale: float) -> list[str]:
    """The section of docs/engines.md."""
    titles = ["statement", *(f"{name}, ms | dpsql | ratio" for name in found)]
    rows = []
    for name in NAMES:
        cells = [own.seconds[name] for own in found.values()]
        rows.append([name, *(f"{raw * 1e3:,.0f} | {ours * 1e3:,.0f} | {ratio:.1f}" for raw, ours, ratio in cells)])
    width = len(found) * 3
    head, rule, *body = table(titles, rows)
    rule = f"| --- |{' ---: |' * width}"
    quoted = {name: own.quoted for name, own in found.items() if own.quoted}
    same = all(one == other for one, other in pairwise(quoted.values()))
    each = "; ".join(
        f"{name} {own.building:.0f} s ({own.rounds} pairs, load of the machine {own.load:.0f})"
        for name, own in found.items()
    )
    return [
        circumstances(),
        "",
        f"TPC-H at scale factor {scale:g}: each statement asked of the engine itself and of dpsql over it, in turns; "
        f"medians of the pairs. Building the bounded tables took: {each}. Mechanisms and expected errors are "
        f"{'the same' if same else 'NOT the same'} on {' and '.join(quoted)}.",
        "",
        *(head, rule, *body),
    ]


def main() -> None:
    """Generates, asks, writes."""
    here = engines()
    arguments = argparse.ArgumentParser(description="Times statements over TPC-H on every engine.")
    arguments.add_argument("names", nargs="*", help="which engines; all by default", metavar="ENGINE")
    arguments.add_argument("--scale", type=float, default=1, metavar="S", help="scale factor")
    arguments.add_argument("--rounds", type=int, default=5, metavar="N", help="counted rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        prepare(folder, chosen.scale)
        notes = folder / "engines.json"
        known = json.loads(notes.read_text()) if chosen.names and notes.exists() else {}
        for name in chosen.names or here:
            print(name, file=sys.stderr, flush=True)
            own = folder / name.lower().replace(" ", "_")
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir()
            shutil.copy(folder / POLICY, own)
            with here[name](own) as place:
                known[name] = asdict(found_in(place, chosen.rounds))
            notes.write_text(json.dumps(known, indent=1))
    found = {name: Found(**known[name]) for name in here if name in known}
    write("engines", lines(found, chosen.scale), page=ROOT / "docs" / "engines.md", only_print=chosen.only_print)


if __name__ == "__main__":
    main()
