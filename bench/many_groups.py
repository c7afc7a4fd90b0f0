"""Many groups of an open key: where the time goes, from the worker to `answer.rows`.

    python bench/many_groups.py [--groups N ...] [--rounds N] [--keep FOLDER] [--only-print]

A table of units that have one row each, four of them with the same key: a whole number, or a text of some ten
characters in no order. At epsilon 20 all groups appear. Each round is another analyst's first question. ``worker`` is
the engine's exact numbers, read; ``release`` puts them in order and noises them, of which ``draws`` is the exact
sampler; ``stored`` is the answer in the ledger; ``finish`` makes its rows. ``all`` is the whole question, its charge
included; ``intervals`` comes on top where they are asked for. Writes a table of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
from page import circumstances, kept, table, write

import dpsql
import dpsql.buying
from dpsql.engine.guarded import GuardedEngine
from dpsql.ledger.ledger import Ledger
from dpsql.privacy.sampling import ExactSampler

SIZES = (10_000, 100_000, 1_000_000)
UNITS = 4  # In each group.
KEYS = {"number": "code", "text": "name"}
POLICY = """
version: 1
name: many
engine: {{kind: duckdb, memory: 3GiB, deadline: 5min}}
neighbours: add_remove
budget:
  ledger: many{groups}.ledger.db
  composition: basic
  total: {{epsilon: 1000000, delta: 0.5}}
  analysts: {{"*": {{epsilon: 1000000, delta: 0.5}}}}
  per_query: {{epsilon: 20, delta: 1.0e-2}}
tables:
  visits:
    source: visits{groups}.parquet
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: {rows}
    columns: {{code: {{type: integer}}, name: {{type: text}}}}
"""
STEPS: dict[str, tuple[Any, str]] = {
    "worker": (GuardedEngine, "run"),
    "draws": (ExactSampler, "laplace"),
    "release": (dpsql.buying, "release"),
    "written": (dpsql.buying, "write_released"),
    "ledger": (Ledger, "store"),
    "finish": (dpsql.buying, "finish"),
}
"""What is timed while a question is asked: functions by the name of their step."""
SHOWN = ("worker", "release", "draws", "stored", "finish", "all", "intervals")
TITLES = ("groups", "key", *SHOWN, "bytes a group")


@contextmanager
def watched(spent: dict[str, float]) -> Iterator[None]:
    """Adds up how long each of the `STEPS` takes, in seconds; ``bytes`` is how many were written."""

    def around(step: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            found = own(*arguments, **named)
            spent[step] = spent.get(step, 0.0) + time.perf_counter() - start
            if isinstance(found, bytes):
                spent["bytes"] = len(found)
            return found

        return timed

    with ExitStack() as stack:
        for step, (owner, name) in STEPS.items():
            own = getattr(owner, name)
            stack.callback(setattr, owner, name, own)
            setattr(owner, name, around(step, own))
        yield


def opened(folder: Path, groups: int) -> dpsql.Proxy:
    """A proxy over so many groups."""
    rows, source = groups * UNITS, folder / f"visits{groups}.parquet"
    if not source.exists():
        key = f"(i % {groups})::BIGINT"
        name = f"'name ' || (({key} * 7919) % {groups})"
        duckdb.sql(f"COPY (SELECT i AS person, {key} AS code, {name} AS name FROM range({rows}) r(i)) TO '{source}'")
    policy = folder / f"many{groups}.yaml"
    policy.write_text(POLICY.format(groups=groups, rows=rows))
    return dpsql.open(policy)


def asked(proxy: dpsql.Proxy, key: str) -> tuple[dict[str, float], int]:
    """Seconds of each step of one question, and how many rows it had."""
    session, spent = proxy.session(analyst=f"{key} {time.time()}"), dict[str, float]()
    with watched(spent):
        start = time.perf_counter()
        answer = session.query(f"SELECT {key}, COUNT(*) AS n FROM visits GROUP BY {key}")
        rows = len(answer.rows)
        spent["all"] = time.perf_counter() - start
    start = time.perf_counter()
    answer.interval("n")
    spent["intervals"] = time.perf_counter() - start
    return spent, rows


def lines(folder: Path, sizes: list[int], rounds: int) -> Iterator[list[str]]:
    """A row for each number of groups and kind of key: milliseconds, medians of the rounds."""
    for groups in sizes:
        with opened(folder, groups) as proxy:
            for kind, key in KEYS.items():
                found = [asked(proxy, key) for _ in range(rounds + 1)][1:]
                shown = min(rows for _, rows in found)
                if shown < groups * 0.99:
                    raise SystemExit(f"only {shown} of {groups} groups appeared")
                own = {step: statistics.median(spent[step] for spent, _ in found) for step in found[0][0]}
                own["stored"], size = own["written"] + own["ledger"], own.pop("bytes") / shown
                ms = [f"{own[step] * 1000:.1f}" for step in SHOWN]
                yield [f"{groups:,}", kind, *ms, f"{size:.1f}"]
                print(groups, kind, *ms, file=sys.stderr, flush=True)


def main() -> None:
    """Asks, and writes."""
    arguments = argparse.ArgumentParser(description="Times many groups of an open key, step by step.")
    arguments.add_argument("--groups", type=int, nargs="*", default=list(SIZES), metavar="N", help="how many")
    arguments.add_argument("--rounds", type=int, default=5, metavar="N", help="counted questions of each kind")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        rows = list(lines(folder, chosen.groups, chosen.rounds))
    told = f"Milliseconds, medians of {chosen.rounds} first questions."
    write("many_groups", [circumstances(), "", told, "", *table(TITLES, rows)], only_print=chosen.only_print)


if __name__ == "__main__":
    main()
