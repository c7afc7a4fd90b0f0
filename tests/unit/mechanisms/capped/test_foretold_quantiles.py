"""Intervals of quantiles by group, over several rows a unit, are foretold about as wide as they come out."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "noise is drawn from fixed words")

TABLES = """
  visits:
    unit: person
    rows_per_unit: 20
    rows_about: {rows}
    columns:
      ward: {{type: text, values: [A, B, C, D]}}
      cost: {{type: real, bounds: [0, 1000], grid: 0.01{more}}}
"""
MADE = (
    "CREATE TABLE visits AS SELECT i AS person, ['A', 'B', 'C', 'D'][1 + (i + j) % 4] AS ward, {cost} AS cost "
    "FROM range({people}) AS t(i), range({each}) AS u(j) WHERE j < {rows}"
)
EVENLY = "(i * 7919 + j * 104729) % 1000"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("people", "each", "rows", "cost", "more", "epsilon"),
    [
        pytest.param(2000, 20, "20", EVENLY, "", 1, id="caps that all reach"),
        pytest.param(4000, 20, "CASE WHEN i % 10 = 0 THEN 20 ELSE 1 END", EVENLY, "", 1, id="caps that some reach"),
        pytest.param(4000, 4, "1 + i % 4", f"30 + ({EVENLY}) / 20", ", centre: 60, spread: 40", 0.3, id="no end drawn"),
        pytest.param(4000, 4, "1 + i % 4", EVENLY, "", 1, id="caps that nobody reaches"),
    ],
)
def test_intervals_of_medians_are_at_most_twice_as_wide_or_narrow_as_foretold(
    tmp_path: Path, people: int, each: int, rows: str, cost: str, more: str, epsilon: float
) -> None:
    total = {"20": 40_000, "1 + i % 4": 10_000}.get(rows, 11_600)
    text = policy(TABLES.format(rows=total, more=more))
    made = MADE.format(people=people, each=each, rows=rows, cost=cost)
    asked = "SELECT ward, MEDIAN(cost) AS middle FROM visits GROUP BY ward"
    for session in sessions(tmp_path, made, text, FixedSampler(7)):
        (column,) = session.explain(asked, epsilon=epsilon).columns
        ends = session.query(asked, epsilon=epsilon).interval("middle")
        assert column.mechanism == "capped"
        assert 0.5 <= median((high - low) / 2 for low, high in ends) / column.half_width <= 2
