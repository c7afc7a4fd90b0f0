"""Quantiles whose values are clamped first: what the clamp costs, and what it gains. Exact losses: test_mechanism."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.capped.quantile import CLAMP, CappedQuantile
from dpsql.plan.needs import Contribution
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.asking import BY_RHO, CITY
from tests.unit.mechanisms.capped.test_mechanism import GROUPED, ONE, WIDE, crowd, quantile_loss, raw_of, release_of


@pytest.mark.parametrize("price", [ONE, BY_RHO])
@pytest.mark.parametrize("held", [GROUPED, Contribution(rows=10, groups=3, rows_in_group=4)])
def test_draws_of_a_quantile_cost_no_more_with_a_clamp(price: Price, held: Contribution) -> None:
    release = release_of("quantile_cont", price, held=held, keys=(CITY,))
    assert isinstance(release, CappedQuantile)
    for cap, inner in enumerate(release.inners):
        moved, clamp = inner.query.moved, release.rate(cap)
        left = release._left(cap, 1 - CLAMP).rates
        assert (clamp + sum(left)) * moved.l1 <= sum(inner.rates) * moved.l1
        squares = sum(rate**2 for rate in inner.rates) * moved.l2_squared
        assert (clamp * moved.l1) ** 2 + sum(rate**2 for rate in left) * moved.l2_squared <= squares


def test_few_rows_in_wide_bounds_are_clamped_first_and_gain() -> None:
    price = Price(Fraction(1, 2), Fraction(0))
    release, sampler = release_of("quantile_cont", price, WIDE), FixedSampler("few")
    assert isinstance(release, CappedQuantile)
    raw = raw_of(release, crowd(6, 100))
    released = [release.release(raw, sampler) for _ in range(40)]
    assert sum(own.columns["clamp"][0] is not None for own in released) > 30  # noised sizes may look like more rows
    assert any("values are clipped to 0 to " in note for own in released for note in release.told(own))
    near = [own for own in released if float(own.values[0]) <= 1_000]
    assert len(near) > 30  # within bounds a million wide, by 10 nats
    for own in released:
        ((low, high),) = release.intervals(own, 0.95)
        assert low is not None
        assert high is not None
        assert low <= 40 <= high


def test_a_clamp_that_is_not_paid_for_shows_in_the_exact_loss() -> None:
    release = release_of("quantile_cont")

    def largest() -> float:  # of units that come where nobody is, by noised sizes of which nothing can be seen
        return max(quantile_loss(release, [unit], [], [0] * 5) for unit in ([200] * 10, [0] * 10))

    assert largest() <= 1
    whole = CappedQuantile.rate
    with patch.object(CappedQuantile, "rate", lambda own, cap: 20 * whole(own, cap)):
        assert largest() > 1
