"""10^8 rows on Sail's cluster of two workers and on DuckDB, and what follows for more rows and more machines.

    python bench/scale.py [--rows N ...] [--rounds N] [--keep FOLDER] [--only-print] [--model]

Made-up visits (ten a person, no order in the files) are Parquet. Each engine builds its bounded tables, and is then
asked the same statements as dpsql over it, in turns. What was measured stays in FOLDER: ``--model`` measures nothing
and writes the page anew. `scale_model` makes a forecast of it. Writes the table and the forecast of docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import duckdb
from page import ROOT, circumstances, kept, table, write
from pairs import TICK
from scale_model import Costs, forecast, picture

import dpsql
from dpsql.engine.spark.connecting import SparkFailed

sys.path.insert(0, str(ROOT))  # the server lives with the examples, outside the package

from examples import spark

PAGE = ROOT / "docs" / "scale.md"
FIGURE = ROOT / "docs" / "figures" / "scale.svg"
EACH = 10  # Rows of a person, on average. It is a choice, as is all of the made-up data.
FILES = 8
POOL = 3 << 30  # Bytes that Sail's operators may hold: beyond them it writes sorted runs to disk.
BLINK = 0.2  # Seconds between two looks at the memory in use.
ASKED = {
    "count": "SELECT COUNT(*) FROM visits",
    "persons": "SELECT COUNT(DISTINCT person) FROM visits",
    "four groups": "SELECT kind, COUNT(*), SUM(cost) FROM visits GROUP BY kind",
    "filtered mean": "SELECT AVG(cost) FROM visits WHERE day >= DATE '2023-01-01'",
    "median": "SELECT MEDIAN(cost) FROM visits",
}
HEAD = """\
version: 1
name: {name}
engine: {engine}
neighbours: add_remove
budget:
  ledger: {name}.db
  mark: mark
  composition: zcdp
  total: {{epsilon: 1000000, delta: 0.5}}
  analysts: {{"*": {{epsilon: 1000000, delta: 0.5}}}}
  per_query: {{epsilon: 1, delta: 1.0e-9}}
tables:
"""
"""Of a policy whose budget is as good as endless."""
POLICY = (
    HEAD
    + """\
  visits:
    source: {source}
    unit: person
    rows_per_unit: 30
    rows_about: {rows}
    columns:
      day: {{type: date, bounds: [2020-01-01, 2025-12-31]}}
      cost: {{type: integer, bounds: [0, 1000]}}
      kind: {{type: text, values: [a, b, c, d]}}
"""
)


def made_up(column: int, below: int | str) -> str:
    """SQL of a whole number of the row ``i``, from 0 on: of another column it is another, as by chance."""
    return f"hash(xor(hash(i), {column}::UBIGINT)) % {below}"


VISITS = f"""
SELECT CAST({made_up(1, "{units}")} AS BIGINT) AS person,
       DATE '2020-01-01' + CAST({made_up(2, 2192)} AS INTEGER) AS day,
       CAST({made_up(3, 1001)} AS INTEGER) AS cost, chr(CAST(97 + {made_up(4, 4)} AS INTEGER)) AS kind
FROM range({{first}}, {{last}}) AS numbers(i)
"""


@dataclass(frozen=True)
class Asked:
    """One statement: seconds of the engine itself and of dpsql, medians, and processor seconds of dpsql's.

    Sail's own median of many rows ends with an error of Sail: then there are no seconds of the engine itself.
    """

    raw: float | None
    ours: float
    processor: float


@dataclass(frozen=True)
class Measured:
    """One engine over one number of rows.

    Attributes:
        building: Seconds that the bounded table took.
        processor: Processor seconds of it.
        memory: The most bytes that the engine held meanwhile.
        stored: Bytes of the bounded table.
        files: How many it lies in.
        source: Bytes of the source.
        asked: Each statement.
    """

    building: float
    processor: float
    memory: int
    stored: int
    files: int
    source: int
    asked: dict[str, Asked]


@dataclass(frozen=True)
class Place:
    """An engine: a policy over it, how it is asked itself, where its bounded table lies, its process (None: ours)."""

    policy: Path
    raw: Callable[[str], object]
    stored: Path
    process: int | None


def visits(folder: Path, rows: int) -> Path:
    """A folder of Parquet files, where it is not there yet."""
    made = folder / f"visits_{rows}"
    if not made.exists():
        made.mkdir()
        with duckdb.connect() as connection:
            for number in range(FILES):
                first, last = (rows * place // FILES for place in (number, number + 1))
                text = VISITS.format(units=rows // EACH, first=first, last=last)
                connection.execute(f"COPY ({text}) TO '{made}/{number}.parquet' (FORMAT parquet)")
    return made


@contextmanager
def in_duckdb(folder: Path, source: Path, rows: int) -> Iterator[Place]:
    """DuckDB, over the same files."""
    engine = f"{{kind: duckdb, memory: 8GiB, deadline: 10min, cache: {folder}/cache}}"
    policy = folder / "scale.yaml"
    policy.write_text(POLICY.format(name="scale", engine=engine, source=f"{source}/*.parquet", rows=rows))
    with duckdb.connect() as raw:
        raw.execute(f"CREATE VIEW visits AS FROM '{source}/*.parquet'")
        yield Place(policy, lambda sql: raw.execute(sql).fetchall(), folder / "cache", None)


@contextmanager
def in_sail(folder: Path, source: Path, rows: int) -> Iterator[Place]:
    """Sail: a driver and two workers, which hold no more than `POOL` in sorts, and send each other rows by files."""
    os.environ |= {
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(POOL),
        "SAIL_RUNTIME__TEMPORARY_FILES__PATHS": f'["{folder}"]',
        "SAIL_CLUSTER__SHUFFLE_BACKEND__TYPE": "storage",
        "SAIL_CLUSTER__SHUFFLE_BACKEND__STORAGE__PATH": f"file://{folder}/shuffle",
    }
    with spark.running(workers=2) as server, server.asked() as raw:
        raw.view("visits", raw.parquet(str(source)))
        bounded = folder / "bounded"
        bounded.mkdir()
        engine = f'{{kind: spark, remote: "{server.remote}", bounded: "{bounded}", deadline: 10min}}'
        policy = folder / "scale.yaml"
        policy.write_text(POLICY.format(name="scale", engine=engine, source=source, rows=rows))
        yield Place(policy, lambda sql: raw.rows(sql).to_pylist(), bounded, server.process)


ENGINES = {"DuckDB": in_duckdb, "Sail, two workers": in_sail}


def family(process: int) -> list[int]:
    """A process and those below it."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents.setdefault(int((place / "stat").read_text().rpartition(")")[2].split()[1]), []).append(
                int(place.name)
            )
        except OSError:  # it ended meanwhile
            continue
    found = [process]
    for one in found:
        found += parents.get(one, [])
    return found


def used(process: int) -> tuple[float, int]:
    """Processor seconds, those of children that ended among them, and bytes held by a process and those below it."""
    seconds, held = 0.0, 0
    for one in family(process):
        try:
            parts = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds += sum(map(int, parts[11:15])) * TICK
        held += int(parts[21]) * os.sysconf("SC_PAGE_SIZE")
    return seconds, held


@contextmanager
def highest(look: Callable[[], float]) -> Iterator[list[float]]:
    """The most that a look, taken again and again, has found once the block is done; 0 at the least."""
    found, done = [0.0], threading.Event()

    def looking() -> None:
        while not done.wait(BLINK):
            found[0] = max(found[0], look())

    watcher = threading.Thread(target=looking)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


@contextmanager
def watched(process: int) -> Iterator[list[float]]:
    """Its processor seconds, and the most bytes it held, once the block is done."""
    found, before = [0.0, 0.0], used(process)[0]
    with highest(lambda: used(process)[1]) as most:
        yield found
    found[:] = used(process)[0] - before, most[0]


def measured(place: Place, rounds: int, source: Path) -> Iterator[Measured]:
    """Builds, and asks in turns: what is known after the build, and after each statement."""
    process = place.process or os.getpid()
    start = time.perf_counter()
    with watched(process) as build:
        proxy = dpsql.open(place.policy)
    building = time.perf_counter() - start
    print(f"built in {building:.0f} s, {build[0]:.0f} s of processors, {build[1] / 2**30:.1f} GiB", file=sys.stderr)
    asked: dict[str, Asked] = {}
    stored = [file for file in place.stored.rglob("*") if file.is_file() and file.suffix in (".parquet", ".duckdb")]
    sizes = [file.stat().st_size for file in stored]
    of_source = sum(file.stat().st_size for file in source.iterdir())
    found = Measured(building, build[0], int(build[1]), sum(sizes), len(sizes), of_source, asked)
    with proxy:
        yield found
        for name, sql in ASKED.items():
            raw, ours, processor = [], [], []
            for number in range(rounds):
                own = proxy.session(analyst=f"{name} {number} {time.time()}")  # nothing is replayed
                start = time.perf_counter()
                with suppress(SparkFailed):
                    place.raw(sql)
                    raw.append(time.perf_counter() - start)
                start, before = time.perf_counter(), used(process)[0]
                own.query(sql)
                ours.append(time.perf_counter() - start)
                processor.append(used(process)[0] - before)
            own_seconds = statistics.median(raw) if raw else None
            asked[name] = Asked(own_seconds, statistics.median(ours), statistics.median(processor))
            print(name, asked[name], file=sys.stderr, flush=True)
            yield found


def shown(one: Asked) -> str:
    """A statement's cell in the table."""
    return f"{'fails' if one.raw is None else f'{one.raw:.2f}'} / {one.ours:.2f}"


def lines(found: dict[str, dict[str, Measured]], rounds: int, told: list[str]) -> list[str]:
    """The table, below the circumstances of each run."""
    titles = ["engine", "rows", "building, s", "processors, s", "memory, GiB", "bounded table, MB",
              *(f"{name}: raw / dpsql, s" for name in ASKED)]  # fmt: skip
    rows = [
        [engine, f"{int(count):,}", f"{own.building:.0f}", f"{own.processor:.0f}", f"{own.memory / 2**30:.1f}",
         f"{own.stored / 1e6:,.0f}", *map(shown, own.asked.values())]
        for engine, counts in found.items() for count, own in sorted(counts.items(), key=lambda one: int(one[0]))
    ]  # fmt: skip
    medians = f"Seconds on the clock; statements in turns with the engine's own, medians of {rounds} of each."
    texts = [f"- {name}: `{sql}`" for name, sql in ASKED.items()]
    return [*(f"- {one}" for one in told), "", medians, "", *table(titles, rows), "", *texts]


def main() -> None:
    """Makes data, builds, asks, forecasts, writes."""
    arguments = argparse.ArgumentParser(description="Times 10^8 rows on Sail and DuckDB, and forecasts more.")
    arguments.add_argument("--rows", type=int, nargs="+", default=[10**7, 10**8], metavar="N")
    arguments.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of each statement")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    arguments.add_argument("--model", action="store_true", help="measure nothing: only the forecast, from FOLDER")
    arguments.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        notes = folder / "measured.json"
        known = json.loads(notes.read_text()) if notes.exists() else {"told": [], "found": {}}
        if not chosen.model:
            known["told"].append(circumstances())
            for engine in chosen.engines:
                for rows in chosen.rows:
                    print(engine, f"{rows:,}", file=sys.stderr, flush=True)
                    source, own = visits(folder, rows), folder / "own"
                    shutil.rmtree(own, ignore_errors=True)
                    own.mkdir()
                    with ENGINES[engine](own.resolve(), source.resolve(), rows) as place:
                        for so_far in measured(place, chosen.rounds, source):
                            known["found"].setdefault(engine, {})[str(rows)] = asdict(so_far)
                            notes.write_text(json.dumps(known, indent=1))
                    shutil.rmtree(own)
    found = {
        engine: {rows: Measured(**{**own, "asked": {name: Asked(**one) for name, one in own["asked"].items()}})
                 for rows, own in counts.items()}
        for engine, counts in known["found"].items()
    }  # fmt: skip
    write("scale", lines(found, chosen.rounds, known["told"]), page=PAGE, only_print=chosen.only_print)
    on_sail = {int(rows): own for rows, own in found["Sail, two workers"].items()}
    most = max(on_sail)
    memory = max(own.memory / rows for rows, own in on_sail.items())  # of the fewest: of more, some go to disk
    costs = replace(Costs.of(most, EACH, on_sail[most]), memory=memory)
    write("forecast", forecast(costs), page=PAGE, only_print=chosen.only_print)
    if not chosen.only_print:
        picture(costs, FIGURE)


if __name__ == "__main__":
    main()
