"""Nominal 95% intervals cover the noise-free answer as often as they say, through SQL and out of `Answer.interval`.

10,000 groups make 10,000 draws in one statement, the same in every run. The noise-free answer is the same statement
without noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql import testing
from dpsql.answers.answer import Answer
from dpsql.session import Session
from dpsql.testing import FixedSampler, Noiseless, TestProxy
from tests.turns import every_third

GROUPS = 10_000
ROWS = 400_000
POLICY = f"""
version: 1
name: coverage
engine: {{kind: duckdb, database: coverage.duckdb, memory: 2GiB, deadline: 60s}}
neighbours: add_remove
budget:
  ledger: coverage.ledger.db
  composition: zcdp
  total: {{epsilon: 100000, delta: 0.5}}
  analysts: {{ana: {{epsilon: 100000, delta: 0.5}}}}
  per_query: {{epsilon: 1}}
tables:
  people:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: {ROWS}
    columns:
      cell:  {{type: integer, bounds: [1, {GROUPS}]}}
      spare: {{type: integer, bounds: [0, 1]}}
      score: {{type: integer, bounds: [-10, 10]}}
      cost:  {{type: real, bounds: [0, 100], grid: 0.1}}
"""


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestProxy]:
    """40 people in each of 10,000 cells."""
    folder: Path = tmp_path_factory.mktemp("coverage")
    with duckdb.connect(str(folder / "coverage.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS person, i % {GROUPS} + 1 AS cell, i % 2 AS spare, "
            "(hash(i) % 7)::INTEGER - 1 AS score, (hash(i * 3) % 400 + 300) / 10.0 AS cost "
            f"FROM range({ROWS}) AS numbers(i)"
        )
    policy = folder / "coverage.yaml"
    policy.write_text(POLICY)
    with testing.open(policy, Noiseless()) as opened:
        yield opened


def asked(proxy: TestProxy, sql: str, **options: Any) -> tuple[Answer, Answer]:
    """(noised, noise-free) answers of one statement; both are of one version, and of two analysts' sessions."""
    noised = Session(replace(proxy._backend, sampler=FixedSampler(sql)), "ana")
    exact = proxy.session(analyst="ana")
    # Another price is another statement: the stored noised answer would be replayed otherwise.
    return noised.query(sql, **options), exact.query(sql, **(options | {"epsilon": 1000, "confidence": 0.9}))


def covered(proxy: TestProxy, sql: str, column: str, **options: Any) -> tuple[float, int]:
    """(share of intervals that hold the noise-free value, number of intervals)."""
    noised, exact = asked(proxy, sql, **options)
    truth = {row[0]: row[exact.columns.index(column)] for row in exact.rows}
    bars = noised.interval(column, 0.95)
    hits = [
        low is not None and high is not None and low <= truth[row[0]] <= high
        for row, (low, high) in zip(noised.rows, bars, strict=True)
    ]
    return sum(hits) / len(hits), len(hits)


BY_CELL = "FROM people GROUP BY cell"
LOW = {"epsilon": 0.1, "delta": 1e-6}
"""Noise of ten steps and more."""

BARE: dict[str, tuple[str, dict[str, Any]]] = {
    "COUNT by laplace": ("COUNT(*)", LOW | {"mechanism": "laplace"}),
    "COUNT by gaussian": ("COUNT(*)", LOW | {"mechanism": "gaussian"}),
    "SUM by laplace": ("SUM(cost)", LOW | {"mechanism": "laplace"}),
    "SUM by gaussian": ("SUM(score)", LOW | {"mechanism": "gaussian"}),
    # epsilon 2: a count of 40 stays far from 0, and no bound of the mean is near; the sum's scale is 10 steps
    "AVG by laplace": ("AVG(cost)", {"epsilon": 2, "delta": 1e-6, "mechanism": "laplace"}),
    "AVG by gaussian": ("AVG(cost)", {"epsilon": 4, "delta": 1e-3, "mechanism": "gaussian"}),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("case", BARE)
def test_intervals_of_a_bare_aggregate_cover_95_percent(proxy: TestProxy, case: str) -> None:
    expression, options = BARE[case]
    share, size = covered(proxy, f"SELECT cell, {expression} AS x {BY_CELL}", "x", **options)
    assert size == GROUPS
    assert 0.93 <= share <= 0.98


def test_intervals_of_thresholded_counts_cover_95_percent(proxy: TestProxy) -> None:
    # 40 people a cell are far above the threshold, so that no cell is left out for its noise.
    options = {"epsilon": 0.2, "delta": 0.1, "group_selection_strategy": "LAPLACE_THRESHOLD"}
    share, size = covered(proxy, f"SELECT cell, COUNT(DISTINCT person) AS x {BY_CELL}", "x", **options)
    assert size > 0.99 * GROUPS
    assert 0.93 <= share <= 0.98


DERIVED = (
    "COUNT(*) + SUM(score)",
    "SUM(cost) / COUNT(*)",
    "2 * COUNT(*) - 3",
    "AVG(cost) * COUNT(*)",
    "abs(SUM(score))",
)
CASES = [(expression, mechanism) for expression in DERIVED for mechanism in ("laplace", "gaussian")]


@pytest.mark.parametrize(("expression", "mechanism"), every_third(CASES))
def test_intervals_of_derived_arithmetic_cover_at_least_93_percent(
    proxy: TestProxy, expression: str, mechanism: str
) -> None:
    options = {"epsilon": 3, "delta": 1e-4, "mechanism": mechanism}
    share, size = covered(proxy, f"SELECT cell, {expression} AS x {BY_CELL}", "x", **options)
    assert size == GROUPS
    assert share >= 0.93


@pytest.mark.parametrize("expression", ["COUNT(*)", "SUM(score)", "AVG(score)"])
def test_intervals_of_little_noise_cover_at_least_93_percent(proxy: TestProxy, expression: str) -> None:
    # Noise below one step: the interval may be one value, and still holds the truth often enough.
    share, _ = covered(proxy, f"SELECT cell, {expression} AS x {BY_CELL}", "x", epsilon=20)
    assert share >= 0.93


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_other_levels_cover_as_often_as_they_say(proxy: TestProxy, confidence: float) -> None:
    sql = f"SELECT cell, SUM(cost) AS x {BY_CELL}"
    noised, exact = asked(proxy, sql, **LOW, mechanism="laplace")  # intervals of others allow for more than noise
    truth = dict(exact.rows)
    bars = noised.interval("x", confidence)
    share = sum(low <= truth[row[0]] <= high for row, (low, high) in zip(noised.rows, bars, strict=True)) / GROUPS
    assert confidence - 0.03 <= share <= confidence + 0.03


def test_intervals_where_bounds_bind_cover_at_least_93_percent(proxy: TestProxy) -> None:
    # epsilon 0.05 on 40 people: the noised count is often below 1, the mean often at a bound.
    share, _ = covered(proxy, f"SELECT cell, AVG(cost) AS x {BY_CELL}", "x", epsilon=0.05)
    assert share >= 0.93
