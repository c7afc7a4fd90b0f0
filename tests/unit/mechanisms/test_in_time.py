"""What would take longer in the proxy's process than a statement may run is refused before the charge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Refusal
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore
from dpsql.mechanisms.in_time import too_long
from dpsql.plan.types import Facts, Type
from dpsql.session import Session
from tests.unit.mechanisms.asking import CITY, OPEN, WITH_DELTA, asking
from tests.unit.mechanisms.shop import policy, sessions

TABLES = """
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 5000000
    columns:
      house: {type: integer, bounds: [0, 39999]}
      ward: {type: integer, bounds: [0, 99]}
      pay: {type: real, centre: 100, spread: 30, scale: [1, 1000], grid: 0.01}
      rent: {type: real, scale: [1, 1000], grid: 0.01}
"""
MANY = replace(CITY, domain=tuple(range(100)))
MADE = "CREATE TABLE people AS SELECT i AS person, i AS house, i AS ward, i AS pay, i AS rent FROM range(10) AS t(i)"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    yield from sessions(tmp_path, MADE, policy(TABLES, delta=True))


@pytest.mark.parametrize(
    ("mechanism", "asked", "seconds"),
    [
        ("preprocessing", "SELECT house, MEDIAN(pay) FROM people GROUP BY house", 41),
        ("friendly_core", "SELECT house, AVG(pay) FROM people GROUP BY house", 88),
    ],
)
def test_many_groups_are_refused_uncharged(session: Session, mechanism: str, asked: str, seconds: int) -> None:
    before = session.budget().cells()
    for ask in (session.explain, session.query):
        with pytest.raises(UnsupportedQuery, match=rf"about {seconds} s for .* a statement has 30 s \(deadline\)"):
            ask(asked, mechanism=mechanism)
    assert session.budget().cells() == before


def test_a_longer_deadline_lets_them_be_asked(tmp_path: Path) -> None:
    text = policy(TABLES, delta=True).replace("shop.duckdb}", "shop.duckdb, deadline: 10min}", 1)
    for session in sessions(tmp_path, MADE, text):
        assert session.explain("SELECT house, MEDIAN(pay) FROM people GROUP BY house", mechanism="preprocessing")


def test_vectors_of_large_groups_are_compared_pair_by_pair() -> None:
    facts = Facts(Type.REAL, nullable=False, scale=(Fraction(1), Fraction(1000)))
    asked = asking("avg", facts=facts, grid=None, price=WITH_DELTA, keys=(MANY,), rows_about=50_000)
    assert not isinstance(FriendlyCore().offer(asked), Refusal)
    vector = FriendlyCore().vector((asked, asked))
    assert isinstance(vector, Refusal)
    assert "about 390 s for 100 groups of 50,000 rows" in vector.reason


def test_open_keys_count_as_a_hundred_groups() -> None:
    asked = asking("avg", rows_about=7)
    assert too_long(asked, 30) is None
    assert too_long(replace(asked, deadline=29), 30) is not None
    listed = replace(asked, source=replace(asked.source, keys=(CITY,)))
    assert "3 groups of 7 rows" in (too_long(listed, 11) or "")
    opened = replace(asked, source=replace(asked.source, keys=(OPEN,)))
    assert too_long(opened, 0.3) is None
    assert "100 groups" in (too_long(opened, 0.31) or "")
