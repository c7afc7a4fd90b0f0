"""Quantiles rise with their fractions, whatever was drawn, and intervals hold what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "noise is drawn from fixed words")

TABLES = """
  visits:
    unit: person
    rows_per_unit: 1
    rows_about: 60
    columns:
      ward: {type: text, values: [A, B, C]}
      cost: {type: integer, bounds: [0, 1000]}
      day: {type: date, bounds: [2020-01-01, 2025-12-31]}
      weight: {type: real, bounds: [0, 200], grid: 0.1}
"""
MADE = (
    "CREATE TABLE visits AS SELECT i AS person, ['A', 'B', 'C'][1 + i % 3] AS ward, 400 + i AS cost, "
    "DATE '2021-01-01' + i::INTEGER AS day, 60 + i / 10 AS weight FROM range(60) AS t(i)"
)
LITTLE = 0.02  # A price at which 20 rows say next to nothing: numbers of most groups are not in order.
QUARTERS = "QUANTILE_CONT(cost, 0.25), MEDIAN(cost), QUANTILE_CONT(cost, 0.75)"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the shop, whose data no test changes."""
    return tmp_path_factory.mktemp("in_order")


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    yield from sessions(home, MADE, policy(TABLES), FixedSampler(7))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "columns",
    [
        QUARTERS,
        "QUANTILE_DISC(day, 0.1), QUANTILE_DISC(day, 0.5), MAX(day)",
        "MIN(weight), MEDIAN(weight), MAX(weight)",
        "PERCENTILE_CONT(0.8) WITHIN GROUP (ORDER BY cost DESC), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost)",
    ],
)
@pytest.mark.parametrize("keys", ["", "GROUP BY ward", "GROUP BY ROLLUP (ward)"])
def test_numbers_of_one_column_rise_and_lie_in_their_intervals(session: Session, columns: str, keys: str) -> None:
    exchanged = 0
    for place in range(1, 13):  # each price another release
        prepared, released, answer = asked(session, f"SELECT {columns} FROM visits {keys}", epsilon=LITTLE * place)
        for grouping in range(len(prepared.groupings)):
            parts = [released.tables[own.name].values for own in prepared.measured if own.grouping == grouping]
            exchanged += sum(list(row) != sorted(row) for row in zip(*parts, strict=True))
        ends = [answer.interval(column) for column in dict.fromkeys(answer.columns)]
        for number, row in enumerate(answer.rows):
            assert list(row) == sorted(row)
            assert all(own[number][0] <= value <= own[number][1] for own, value in zip(ends, row, strict=True))
    assert exchanged


@pytest.mark.parametrize(
    "columns",
    [
        "QUANTILE_CONT(cost, 0.25, epsilon => 0.01), MEDIAN(cost, epsilon => 1)",
        "QUANTILE_CONT(cost, 0.25), MEDIAN(weight)",
        "QUANTILE_CONT(cost, 0.9), QUANTILE_DISC(cost, 0.1)",
        "MEDIAN(cost), QUANTILE_CONT(cost, 0.9, contribution_bounds_per_row => (0, 400))",
    ],
)
def test_numbers_that_are_not_drawn_alike_stay(session: Session, columns: str) -> None:
    prepared, released, answer = asked(session, f"SELECT {columns} FROM visits", epsilon=1.01)
    assert list(answer.rows[0]) == [released.tables[own.name].values[0] for own in prepared.told]


def asked(session: Session, sql: str, **options: Any) -> tuple[Any, Any, Any]:
    """A statement as it was prepared, what was released for it, and its answer."""
    parsed: Any = parse(sql)
    plan: Any = session._plan(parsed.select, ())
    prepared = session._prepare(plan, options)
    released = session._release(prepared)
    return prepared, released, session._finish(prepared, released, replayed=False)
