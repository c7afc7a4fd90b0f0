"""More groups than are read at once are read in parts, and what is released of them has the law that it always has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from scipy.stats import binom

import dpsql.testing
from dpsql.engine import lower
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_for
from dpsql.privacy.sampling import Integers
from dpsql.session import Session
from dpsql.testing import Noiseless
from dpsql.worker import client

AT_ONCE = 7  # Groups that are read at once here, far fewer than there are.
SINGLES, FIVES = 4000, 400
P = 1e-10  # Of each tail.

POLICY = """
version: 1
name: rides
engine: {kind: duckdb, database: rides.duckdb}
neighbours: add_remove
budget:
  ledger: rides.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 0.5}
  analysts: {"*": {epsilon: 1000, delta: 0.5}}
  per_query: {epsilon: 5, delta: 1.0e-4}
tables:
  rides:
    unit: rider
    rows_per_unit: 4
    columns:
      moment: {type: timestamp, nullable: true}
      km: {type: real, bounds: [-10, 100000], grid: 0.1, nullable: true}
      town: {type: text, nullable: true}
      day: {type: date}
      number: {type: integer, nullable: true}
      paid: {type: boolean, nullable: true}
      kind: {type: text, values: [bike, boat]}
  alone:
    unit: rider
    rows_per_unit: 1
    columns: {key: {type: integer}}
"""
STATEMENTS = [
    "SELECT moment, COUNT(*) AS n FROM rides GROUP BY moment",
    "SELECT km, COUNT(*) AS n FROM rides GROUP BY km",
    "SELECT DISTINCT km FROM rides",
    "SELECT town, COUNT(DISTINCT rider) AS n FROM rides GROUP BY town",
    "SELECT day, number, kind, COUNT(*) AS n FROM rides GROUP BY day, number, kind",
    "SELECT number, AVG(km) AS a, SUM(km) AS s, COUNT(*) AS n, COUNT(DISTINCT rider) AS u FROM rides GROUP BY number",
    "SELECT town, paid, SUM(km) AS s, AVG(km) AS a FROM rides WHERE kind = 'bike' GROUP BY town, paid",
    "SELECT town, MEDIAN(km) AS m, VAR_POP(km) AS v FROM rides GROUP BY town",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'capped') town, COUNT(DISTINCT rider) AS u FROM rides "
    "GROUP BY town",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'gaussian_threshold') town, COUNT(DISTINCT rider) AS u "
    "FROM rides GROUP BY town",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rest = true, min_privacy_units_per_group = 140) town, SUM(km) AS s, "
    "COUNT(*) AS n FROM rides GROUP BY town",
    "SELECT town, COUNT(*) AS n FROM rides GROUP BY town ORDER BY n DESC LIMIT 3",
    "SELECT COUNT(*) AS n FROM (SELECT town, COUNT(*) AS k FROM rides GROUP BY town HAVING COUNT(*) > 60)",
]


@dataclass
class Asked(Noiseless):
    """No noise, and a list of what was asked for.

    Attributes:
        calls: The scale or variance, and how many draws.
    """

    calls: list[tuple[Fraction, int]] = field(default_factory=list)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.calls.append((scale, size))
        return super().laplace(scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        self.calls.append((variance, size))
        return super().gaussian(variance, size)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rides with many keys of each type, NULL among them, and keys of one rider, or of five."""
    home: Path = tmp_path_factory.mktemp("parts")
    with duckdb.connect(str(home / "rides.duckdb")) as data:
        data.execute(
            "CREATE TABLE rides AS SELECT i % 1500 AS rider, "
            "CASE WHEN i % 29 <> 0 THEN TIMESTAMP '1969-12-31 23:59:00' + to_seconds(i % 29) END AS moment, "
            "CASE WHEN i % 31 <> 0 THEN (i % 31 - 1) / 10 * (i % 2 - 0.5) END::DOUBLE AS km, "
            "CASE WHEN i % 37 <> 0 THEN repeat('ä', i % 3) || i % 37 END AS town, "
            "DATE '2024-01-01' + (i % 3)::INTEGER AS day, CASE WHEN i % 11 <> 0 THEN i % 11 END AS number, "
            "CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN TRUE ELSE FALSE END AS paid, "
            "CASE i % 2 WHEN 0 THEN 'bike' ELSE 'boat' END AS kind FROM range(5000) AS t(i)"
        )
        data.execute(
            f"CREATE TABLE alone AS SELECT i AS rider, "
            f"CASE WHEN i < {SINGLES} THEN i ELSE {SINGLES} + (i - {SINGLES}) // 5 END AS key "
            f"FROM range({SINGLES + 5 * FIVES}) AS t(i)"
        )
    (home / "rides.yaml").write_text(POLICY)
    return home


@pytest.fixture(scope="module")
def sides(home: Path) -> Iterator[list[tuple[Session, Asked]]]:
    """Two proxies over the same data: neither stores what the other released."""
    samplers = [Asked(), Asked()]
    with (
        dpsql.testing.open(home / "rides.yaml", samplers[0]) as plain,
        dpsql.testing.open(home / "rides.yaml", samplers[1]) as parts,
    ):
        yield list(zip([plain.session(analyst="ana"), parts.session(analyst="ana")], samplers, strict=True))


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", STATEMENTS)
def test_in_parts_the_same_is_drawn_and_released(
    sides: list[tuple[Session, Asked]], sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain, drawn), (parts, drawn_in_parts) = sides
    read = list[int]()
    part = client.Worker._part

    def counted(self: client.Worker, request: client.Statement, parts: int, at: int, seconds: float) -> object:
        read.append(parts)
        return part(self, request, parts, at, seconds)

    whole, charged = plain.query(sql), len(parts._backend.ledger.log())
    monkeypatch.setattr(client.Worker, "_part", counted)
    assert whole.rows
    assert not read
    monkeypatch.setattr(lower, "MOST_OPEN_GROUPS", AT_ONCE)
    found = parts.query(sql)
    assert read
    assert found.rows == whole.rows
    assert [list(map(type, row)) for row in found.rows] == [list(map(type, row)) for row in whole.rows]
    assert drawn.calls == drawn_in_parts.calls
    assert found.cost == whole.cost
    assert [entry.kind for entry in parts._backend.ledger.log()[charged:]] == ["charge"]


@pytest.mark.chance(
    3 * 2 * P,
    "groups of one unit pass otherwise than by the threshold's law, those of a half of the keys, or groups of five do: "
    "exact binomials, both sides",
)
def test_in_parts_each_group_passes_with_the_chance_of_the_threshold(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lower, "MOST_OPEN_GROUPS", 1000)
    law, delta = LaplaceLaw(Fraction(1)), Fraction(1, 100)
    threshold = threshold_for(law, 1, delta)
    with dpsql.testing.open(home / "rides.yaml") as proxy:
        answer = proxy.session(analyst="ana").query(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'threshold') key, COUNT(*) AS n "
            "FROM alone GROUP BY key",
            epsilon=1,
            delta=delta,
        )
    keys = [key for key, _ in answer.rows]
    assert keys == sorted(keys)
    assert min(n for _, n in answer.rows) > threshold
    one, five = float(law.tail(threshold)), float(law.tail(threshold - 4))
    for passed, groups, chance in (
        (sum(key < SINGLES for key in keys), SINGLES, one),
        (sum(key < SINGLES // 2 for key in keys), SINGLES // 2, one),
        (sum(key >= SINGLES for key in keys), FIVES, five),
    ):
        assert binom.ppf(P, groups, chance) <= passed <= binom.isf(P, groups, chance)
