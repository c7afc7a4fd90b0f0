"""What naming a mechanism gains: the data of bench/accuracy.py through SQL, unasked and by every mechanism that offers.

    python bench/choosing.py [--data-sets 400]

Each data set is a group of one table; the policy declares bounds, centre, spread and rows_about, nothing else. A spread
of 20,000 is for both kinds of data what somebody might guess; half of the Pareto rows lie within 15,000 of the centre.

Each statistic is asked as the proxy chooses and by the name of every other mechanism that offers, with exact noise.
Shown are the chosen mechanism, its root mean squared error over that of the best one, and for both the expected half
width of a 95% interval over the distance from the truth that 95% of the answers keep ("expected / kept").
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from accuracy import DATA, EPSILONS, PAGE, SIZES
from page import circumstances, table, write

import dpsql.testing
from dpsql import Session
from dpsql.privacy.sampling import Sampler

POLICY = """
version: 1
name: choosing
engine: {{kind: duckdb, database: choosing.duckdb, memory: 2GiB, deadline: 120s, cache: cache}}
neighbours: add_remove
budget:
  ledger: choosing.ledger.db
  mark: mark
  composition: basic
  total: {{epsilon: 1000000, delta: 0}}
  analysts: {{"*": {{epsilon: 1000000, delta: 0}}}}
  per_query: {{epsilon: 1, delta: 0}}
tables:
  people:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: {rows}
    columns:
      sample: {{type: integer, values: {samples}}}
      x: {{type: integer, bounds: [0, 1000000], centre: 40000, spread: {spread}}}
"""
STATISTICS = {"AVG": np.mean, "MEDIAN": np.median, "VAR_POP": np.var}
CASES = (
    ("lognormal", 20_000, tuple(STATISTICS)),
    ("Pareto", 20_000, tuple(STATISTICS)),
    ("Pareto", 15_000, ("MEDIAN",)),
)
ROUNDS = {100: 4, 1000: 4, 10_000: 8}  # answers for each data set


Facts = tuple[str, str, int, int, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """One mechanism's errors over all data sets and rounds, in the answer's unit.

    Attributes:
        expected: Half width of a 95% interval that it promised beforehand.
        root: Root mean squared error.
        kept: Distance from the truth that 95% of the answers keep.
    """

    expected: float
    root: float
    kept: float


@dataclass(frozen=True, slots=True)
class Row:
    """One statistic of one kind of data, n and epsilon.

    Attributes:
        facts: Statistic, data, declared spread, n and epsilon.
        chosen: The mechanism that the proxy chose.
        measured: By mechanism.
    """

    facts: Facts
    chosen: str
    measured: Mapping[str, Measured]

    @property
    def best(self) -> str:
        """The mechanism with the least root mean squared error."""
        return min(self.measured, key=lambda name: self.measured[name].root)

    @property
    def regret(self) -> float:
        """The chosen mechanism's error over the best one's."""
        return self.measured[self.chosen].root / self.measured[self.best].root


def rows(data_sets: int, sizes: tuple[int, ...] = SIZES, sampler: Sampler | None = None) -> Iterator[Row]:
    """Every case, n, statistic and epsilon.

    Args:
        data_sets: How many of 100 values; half as many of 1,000, an eighth of 10,000.
        sizes: Which n.
        sampler: Where the noise is from; by default the kernel.
    """
    sampler = sampler or dpsql.testing.ExactSampler()
    parts = dict(zip(SIZES, (1, 2, 8), strict=True))
    for (kind, spread, statistics), n in product(CASES, sizes):
        sets, random = max(2, data_sets // parts[n]), np.random.default_rng(n)
        drawn = np.array([DATA[kind](n, random) for _ in range(sets)])
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder) / "choosing.yaml"
            policy.write_text(POLICY.format(rows=drawn.size, samples=list(range(sets)), spread=spread))
            store(Path(folder) / "choosing.duckdb", drawn)
            with dpsql.testing.open(policy, sampler=sampler) as proxy:
                session = proxy.session(analyst="ana")
                for statistic, epsilon in product(statistics, map(float, EPSILONS)):
                    truth = STATISTICS[statistic](drawn, axis=1)
                    yield _asked(session, (statistic, kind, spread, n, epsilon), truth)


def store(path: Path, drawn: np.ndarray) -> None:
    """A table of people with one value each, in as many groups as there are data sets."""
    sets, n = drawn.shape
    people = pa.table(
        {"person": np.arange(drawn.size), "sample": np.repeat(np.arange(sets), n), "x": drawn.reshape(-1)}
    )
    with duckdb.connect(str(path)) as database:
        database.register("drawn", people)
        database.execute("CREATE TABLE people AS SELECT * FROM drawn")


def _asked(session: Session, facts: Facts, truth: np.ndarray) -> Row:
    statistic, _, _, n, epsilon = facts
    sql = f"SELECT sample, {statistic}(x) AS answer FROM people GROUP BY sample ORDER BY sample"
    (column,) = session.explain(sql, epsilon=epsilon).columns
    offered = [column.mechanism, *(name for name, reason in column.others if reason.startswith("±"))]
    measured = {}
    for name in offered:
        (own,) = session.explain(sql, epsilon=epsilon, mechanism=name).columns
        errors = []
        for number in range(ROUNDS[n]):
            price = epsilon * (1 + number / 10**9)  # a new statement each time: nothing is replayed
            answer = session.query(sql, epsilon=price, mechanism=name)
            errors.append(np.array([float(value) for _, value in answer.rows]) - truth)
        far = np.abs(np.concatenate(errors))
        measured[name] = Measured(own.half_width, math.sqrt(np.mean(far**2)), float(np.quantile(far, 0.95)))
    return Row(facts, column.mechanism, measured)


def lines_of(found: list[Row]) -> list[str]:
    """One line a row; errors to two digits."""
    lines = []
    for row in found:
        statistic, kind, spread, n, epsilon = row.facts
        own, best = row.measured[row.chosen], row.measured[row.best]
        second = [f"{row.best}", f"{best.root:.2g}", f"{best.expected / best.kept:.2g}"]
        lines.append(
            [
                statistic,
                kind,
                f"{spread:,}",
                f"{n:,}",
                f"{epsilon:g}",
                row.chosen,
                f"{own.root:.2g}",
                f"{own.expected / own.kept:.2g}",
            ]
            + (second if row.best != row.chosen else ["", "", ""])
            + [f"{row.regret:.2f}"]
        )
    titles = ["statistic", "data", "spread", "n", "epsilon", "chosen", "error", "expected / kept"]
    return table([*titles, "best", "error", "expected / kept", "chosen / best"], lines)


def summary(found: list[Row]) -> list[str]:
    """How often the choice is the best, or within 1.25 of it."""
    lines = []
    for kinds in ({"lognormal": 20_000, "Pareto": 20_000}, {"lognormal": 20_000, "Pareto": 15_000}):
        for statistic in STATISTICS:
            own = [row for row in found if row.facts[0] == statistic and kinds[row.facts[1]] == row.facts[2]]
            good = sum(row.regret <= 1.25 for row in own)
            if len(own) == len(kinds) * len(SIZES) * len(EPSILONS):
                spreads = " and ".join(f"{spread:,}" for spread in dict.fromkeys(kinds.values()))
                lines.append(
                    f"- {statistic}, spread {spreads}: the best or within 1.25 of it in {good} rows of {len(own)}."
                )
    return lines


def main() -> None:
    """Asks, counts, writes the table."""
    arguments = argparse.ArgumentParser(description="Compares the chosen mechanism with the best one.")
    arguments.add_argument("--data-sets", type=int, default=400)
    given = arguments.parse_args()
    found = list(rows(given.data_sets))
    lines = [circumstances(), "", f"{given.data_sets} data sets of 100 values, fewer of more.", "", *lines_of(found)]
    write("choosing", [*lines, "", *summary(found)], page=PAGE, only_print=given.data_sets < 400)


if __name__ == "__main__":
    main()
