"""A note names the mechanism whose intervals are several times shorter than the released ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.shop import policy, sessions

MADE = "CREATE TABLE orders AS SELECT i % 9000 AS customer, i % 300 AS day, i % 7 AS amount FROM range(12000) AS t(i)"
ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 32
    rows_about: 12000
    columns:
      day: {type: integer, bounds: [0, 299]}
      amount: {type: integer, bounds: [0, 10]}
"""
DAILY = "SELECT day, COUNT(*) AS n FROM orders WHERE day < 5 GROUP BY day"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("shorter"), MADE, policy(ORDERS), FixedSampler("shorter"))


def _told(session: Session, asked: str, **options: Any) -> list[str]:
    return [note for note in session.query(asked, epsilon=0.5, **options).notes if "shorter intervals" in note]


def test_counts_over_small_cells_name_laplace_with_its_half_width(session: Session) -> None:
    quoted = session.explain(DAILY, epsilon=0.5, mechanism="laplace").columns[-1].half_width
    assert session.explain(DAILY, epsilon=0.5).columns[-1].mechanism == "clamped"
    assert _told(session, DAILY) == [
        f"n: OPTIONS (mechanism = 'laplace') is expected to have shorter intervals, about ±{quoted:.0f}, around values "
        "that are often farther off."
    ]


def test_nothing_is_told_where_intervals_are_about_as_long_or_a_mechanism_is_named(session: Session) -> None:
    assert not _told(session, "SELECT COUNT(DISTINCT customer) AS n FROM orders")
    for name in ("clamped", "laplace"):
        assert not _told(session, DAILY, mechanism=name)
