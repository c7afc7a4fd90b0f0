"""How often unasked 95% intervals hold the truth, on data that the policies describe badly: docs/audits.md.

    python bench/coverage.py [--draws 100] [--only-print]

Each statement of `ill_described.py` names no mechanism and is drawn many times at two prices, with real noise. The
truth is DuckDB's own answer to it over the same bounded tables: not the deterministic part of whatever mechanism was
taken, which may be off itself. Each statement counts alike, however many groups it has. Empty groups, where DuckDB has
no value but for a COUNT or a SUM of 0, count nothing; an answer of NULL holds nothing. An end that is not known
holds whatever lies beyond it: it promises nothing.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from ill_described import CLASSES, DATA, DataSet, Question
from page import ROOT, circumstances, table, write

import dpsql
import dpsql.testing
from dpsql.audit.remembering import Remembering
from dpsql.session import Session
from dpsql.sql.parse import parse

PAGE = ROOT / "docs" / "audits.md"
PRICES = (0.1, 1.0)
CHANCE = 1e-3  # that a class's true coverage is below the limit that is printed


@dataclass(frozen=True)
class Covered:
    """One statement at one price.

    Attributes:
        data, kind, sql, epsilon: Which.
        mechanisms: What answered.
        shares: For each draw the share of its intervals that hold the truth; a draw without any is left out.
    """

    data: str
    kind: str
    sql: str
    epsilon: float
    mechanisms: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def share(self) -> float:
        """The mean."""
        return sum(self.shares) / max(1, len(self.shares))


def covered(data: DataSet, draws: int) -> Iterator[Covered]:
    """Every statement of a data set, at every price."""
    home = Path(tempfile.mkdtemp(prefix="dpsql-coverage-"))
    try:
        data.make(home / f"{data.name}.duckdb")
        (home / f"{data.name}.yaml").write_text(data.policy)
        with dpsql.testing.open(home / f"{data.name}.yaml") as proxy:
            bounded = next(proxy._cache.rglob("bounded.duckdb"))
            backend = replace(proxy._backend, engine=Remembering(proxy._backend.engine))
            with duckdb.connect(str(bounded), read_only=True) as connection:
                for question in data.questions:
                    truth = exact(connection, question)
                    for epsilon in PRICES:
                        mechanisms, shares = drawn(Session(backend, "ana"), question, epsilon, truth, draws)
                        yield Covered(data.name, question.kind, question.sql, epsilon, mechanisms, shares)
    finally:
        shutil.rmtree(home)


def exact(connection: duckdb.DuckDBPyConnection, question: Question) -> dict[tuple[Any, ...], Any]:
    """Each group's true value."""
    rows = connection.execute(question.sql).fetchall()
    return {row[: question.keys]: row[-1] for row in rows}


def drawn(
    session: Session, question: Question, epsilon: float, truth: dict[tuple[Any, ...], Any], draws: int
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """What answers, and for each draw the share of intervals that hold the truth."""
    statement = parse(f"{question.sql} {question.picks}")
    options = {"epsilon": epsilon} | ({} if question.delta is None else {"delta": question.delta})
    prepared = session._prepare(session._plan(statement.select, ()), options)
    additive = any(f"{name}(" in question.sql for name in ("COUNT", "SUM")) and "/" not in question.sql
    shares = []
    for _ in range(draws):
        answer = session._finish(prepared, session._release(prepared), replayed=False)
        held = []
        for row, (low, high) in zip(answer.rows, answer.interval("x", 0.95) if answer.rows else (), strict=True):
            true = truth.get(row[: question.keys])
            true = 0 if true is None and additive else true
            if true is not None and math.isfinite(true):
                slack = 1e-9 * abs(float(true))  # DuckDB adds up floats
                below, above = low is None or low - slack <= true, high is None or true <= high + slack
                held.append(row[-1] is not None and below and above)
        if held:
            shares.append(sum(held) / len(held))
    return tuple(dict.fromkeys(m.choice.release.mechanism for m in prepared.measured)), tuple(shares)


def summary(found: list[Covered]) -> list[str]:
    """A row for each class of statement, and one for all."""
    classes: dict[str, list[Covered]] = defaultdict(list)
    for one in found:
        if one.shares:
            classes[one.kind].append(one)
    rows = [_row(kind, classes[kind]) for kind in CLASSES if classes[kind]]
    rows.append(_row("**all**", [one for own in classes.values() for one in own]))
    return table(("class", "statements and prices", "draws", "coverage", "at least", "worst statement"), rows)


def _row(kind: str, own: list[Covered]) -> list[str]:
    draws = sum(len(one.shares) for one in own)
    mean = sum(one.share for one in own) / len(own)
    # Hoeffding, each draw being one number between 0 and 1 with weight 1 / (statements x its own draws).
    weight = math.sqrt(sum((1 / (len(own) * len(one.shares))) ** 2 * len(one.shares) for one in own))
    least = mean - weight * math.sqrt(math.log(1 / CHANCE) / 2)
    return [kind, str(len(own)), str(draws), *(f"{x:.1%}" for x in (mean, least, min(one.share for one in own)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--data", help="one data set alone")
    parser.add_argument("--only-print", action="store_true")
    parser.add_argument("--below", type=float, default=0.0, help="also print statements with less coverage")
    given = parser.parse_args()
    made = circumstances()
    found = [one for data in DATA if given.data in (None, data.name) for one in covered(data, given.draws)]
    for one in found:
        if one.shares and one.share < given.below:
            print(f"{one.share:.1%}  {one.data}  epsilon {one.epsilon}  {', '.join(one.mechanisms)}  {one.sql}")
    taken = Counter(mechanism for one in found for mechanism in one.mechanisms)
    lines = [
        f"{len({(one.data, one.sql) for one in found})} statements over {len({one.data for one in found})} data sets, "
        f"each at epsilon {' and '.join(f'{x:g}' for x in PRICES)}, {given.draws} draws each. Answered by: "
        f"{', '.join(f'{name} {count}' for name, count in taken.most_common())}. *At least*: the true coverage is "
        f"below it with a chance of {CHANCE:g} (Hoeffding).",
        "",
        *summary(found),
        "",
        made,
    ]
    write("coverage", lines, page=PAGE, only_print=given.only_print)


if __name__ == "__main__":
    main()
