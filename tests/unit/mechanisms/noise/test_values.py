"""Counts of different values, and their intervals, lie between 0 and as many as are possible, where that is public."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.mechanisms.base import Offer, Price
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.nodes import Column
from dpsql.plan.types import Facts, Type
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.asking import CITY, CONSENT, FEW_ROWS, WITH_DELTA, ConstantNoise, asking, offered, raw
from tests.unit.mechanisms.shop import policy, sessions

MECHANISMS = pytest.mark.parametrize("mechanism", [Laplace(), Gaussian(), Threshold()], ids=lambda own: own.name)
YEAR = Column("t0", "year", Facts(Type.INTEGER, Fraction(2000), Fraction(2006), nullable=True))
PAID = Column("t0", "paid", Facts(Type.BOOLEAN, nullable=True))
NOTE = Column("t0", "note", Facts(Type.TEXT, nullable=True))


def counted(mechanism: Laplace | Gaussian | Threshold, argument: Column, epsilon: Fraction = Fraction(1, 2)) -> Offer:
    """A count of different values in each of three cities."""
    price = Price(epsilon, WITH_DELTA.delta)
    request = asking("count_distinct", held=FEW_ROWS, keys=(CITY,), price=price)
    return offered(mechanism.offer(replace(request, aggregate=replace(request.aggregate, argument=argument))))


@MECHANISMS
@pytest.mark.parametrize(("argument", "most"), [(CONSENT, 3), (PAID, 2), (YEAR, 7)])
@pytest.mark.parametrize("noise", [-1000, 1000])
def test_they_are_clipped(mechanism: Laplace | Gaussian | Threshold, argument: Column, most: int, noise: int) -> None:
    release = counted(mechanism, argument)
    released = release.release(raw([0, 1, 2]), ConstantNoise(noise))
    expected = {0, most} if mechanism.name == "threshold" else {0 if noise < 0 else most}  # what is empty is 0 there
    assert set(released.values) <= expected
    assert all(0 <= low <= high <= most for low, high in release.intervals(released, 0.95) if high is not None)  # type: ignore[operator]  # both are numbers
    assert release.half_width <= most / 2


@MECHANISMS
def test_within_its_ends_an_interval_is_that_of_the_noised_number(mechanism: Laplace | Gaussian | Threshold) -> None:
    release = counted(mechanism, replace(YEAR, facts=replace(YEAR.facts, high=Fraction(4000))), Fraction(8))
    released = release.release(raw([1500]), ConstantNoise(0))
    unclipped = counted(mechanism, NOTE, Fraction(8))
    assert released.values == [1500]
    assert release.intervals(released, 0.95) == unclipped.intervals(released, 0.95)
    assert release.half_width == unclipped.half_width


@MECHANISMS
def test_of_texts_any_number_is_possible(mechanism: Laplace | Gaussian | Threshold) -> None:
    release = counted(mechanism, NOTE)
    assert release.release(raw([5, 5]), ConstantNoise(1000)).values == [1005, 1005]


def test_a_clipped_interval_holds_the_number(tmp_path: Path) -> None:
    tables = """
  orders:
    unit: customer
    rows_per_unit: 3
    columns:
      kind: {type: text, values: [a, b, c, d, e]}
      shop: {type: text, values: [x, y]}
"""
    made = (
        "CREATE TABLE orders AS SELECT i // 3 AS customer, ['a', 'b', 'd'][1 + i % 3] AS kind, 'x' AS shop "
        "FROM range(900) AS t(i)"
    )
    for session in sessions(tmp_path, made, policy(tables), FixedSampler(5)):
        for tenths in range(1, 20):
            asked = "SELECT shop, COUNT(DISTINCT kind) AS n FROM orders GROUP BY shop"
            answer = session.query(asked, epsilon=tenths / 10)
            assert [shop for shop, _ in answer.rows] == ["x", "y"]
            for (_, n), (low, high) in zip(answer.rows, answer.interval("n"), strict=True):
                assert 0 <= low <= n <= high <= 5
        quote = session.explain("SELECT COUNT(DISTINCT kind) AS n FROM orders", epsilon=0.1)
        assert quote.columns[0].half_width == 2.5
