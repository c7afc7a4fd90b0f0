"""Quantiles within a cap: what an answer gains where no end is drawn, and what that costs. Losses: test_mechanism."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.capped.quantile import CappedQuantile
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.plan.needs import Contribution
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.asking import BY_RHO, CITY
from tests.unit.mechanisms.capped.test_mechanism import GROUPED, ONE, WIDE, crowd, quantile_loss, raw_of, release_of


@pytest.mark.parametrize("price", [ONE, BY_RHO])
@pytest.mark.parametrize("held", [GROUPED, Contribution(rows=10, groups=3, rows_in_group=4)])
def test_an_answer_that_has_the_rates_of_its_ends_costs_no_more_than_all(price: Price, held: Contribution) -> None:
    release = release_of("quantile_cont", price, held=held, keys=(CITY,))
    assert isinstance(release, CappedQuantile)
    for inner in release.inners:
        assert not inner.count  # the noised sizes say how many rows there are
        one, both = inner.merged
        if price.rho is None:
            assert (one, both) == (sum(inner.rates[:2]), sum(inner.rates))
        else:
            assert both**2 <= sum(rate**2 for rate in inner.rates)
            assert one**2 <= sum(rate**2 for rate in inner.rates[:2])
            assert inner.rates[0] < one < both


def test_few_rows_in_wide_bounds_have_no_ends_and_gain() -> None:
    price = Price(Fraction(1, 2), Fraction(0))
    release, sampler = release_of("quantile_cont", price, WIDE), FixedSampler("few")
    assert isinstance(release, CappedQuantile)
    raw = raw_of(release, crowd(6, 100))
    released = [release.release(raw, sampler) for _ in range(40)]
    assert sum(float(own.values[0]) <= 1_000 for own in released) > 35  # within bounds a million wide
    for own in released:
        ((low, high),) = release.intervals(own, 0.95)
        assert (low, high) == (0, 10**6)


def test_units_of_one_row_are_answered_by_small_caps_however_many_they_might_have() -> None:
    held = Contribution(rows=50, groups=1, rows_in_group=50)
    release, sampler = release_of("quantile_cont", grid=WIDE, held=held), FixedSampler("ones")
    assert isinstance(release, CappedQuantile)
    raw = raw_of(release, [[value] for value in range(1_500)])
    drawn = [release.search.counted(raw, sampler) for _ in range(100)]
    # Of 2,000 draws 99% are; were all that is counted weighed, 45%. The sampler is fixed: nothing fails by chance.
    assert sum(release.best(release.search.believed(counts)) <= 2 for counts in drawn) > 90


def test_an_answer_that_is_not_paid_for_shows_in_the_exact_loss() -> None:
    release = release_of("quantile_cont")

    def largest() -> float:  # of units that come where few are, by noised sizes of which nothing can be seen
        return max(
            quantile_loss(release, [*crowd(5, 2), unit], crowd(5, 2), [0] * 5) for unit in ([200] * 10, [0] * 10)
        )

    assert largest() <= 1
    answer = QuantileRelease.answer

    def louder(own: QuantileRelease, dropped: int) -> object:
        rates = tuple(6 * rate for rate in own.merged)
        return answer(QuantileRelease(own.mechanism, own.loss, own.query, own.rates, rates), dropped)

    with patch.object(QuantileRelease, "answer", louder):
        assert largest() > 1
