"""The noise of facts: its laws, prices, reach and threshold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.mechanisms.advice import Advice, advice, as_raw
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_delta
from dpsql.plan.advised import MISS
from dpsql.privacy.kinds import Approximate, Concentrated, Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless

EPSILON = Fraction(1, 20)


def facts(
    listed: int = 10, columns: int = 0, delta: Fraction = Fraction(0), swaps: bool = False, **more: Fraction
) -> Advice:
    found = advice(listed, columns, 500, Price(EPSILON, delta), swaps=swaps, classes=more)
    assert found is not None
    return found


@pytest.mark.parametrize(("swaps", "scale"), [(False, 200), (True, 400)])
def test_without_delta_noise_is_laplace_of_all_counts_that_a_unit_is_in(swaps: bool, scale: int) -> None:
    found = facts(swaps=swaps)
    assert (found.law, found.loss, found.threshold) == (LaplaceLaw(Fraction(scale)), Pure(EPSILON), None)


def test_all_counts_are_within_reach_but_for_one_chance_in_a_thousand() -> None:
    found = facts()
    assert 500 * 2 * found.law.tail(found.reach + 1) <= MISS < 500 * 2 * found.law.tail(found.reach)
    assert found.likely < found.reach


def test_with_a_delta_the_law_that_is_off_by_less_is_taken() -> None:
    few, many = facts(listed=1, delta=Fraction(1, 10**9)), facts(listed=40, delta=Fraction(1, 10**9))
    assert isinstance(few.law, LaplaceLaw)
    assert isinstance(many.law, GaussianLaw)
    assert isinstance(many.loss, Concentrated)
    assert many.law.variance == Fraction(40) / (2 * many.loss.rho)


@pytest.mark.parametrize("listed", [1, 60])
@pytest.mark.parametrize("swaps", [False, True])
def test_frequent_values_need_a_threshold_whose_delta_is_charged(listed: int, swaps: bool) -> None:
    delta = Fraction(1, 10**8)
    found = facts(listed=listed, columns=3, delta=delta, swaps=swaps)
    assert found.threshold is not None
    used = threshold_delta(found.law, 3, found.threshold)
    if isinstance(found.loss, Approximate):
        assert found.loss == Approximate(EPSILON, used)
        assert used <= delta < threshold_delta(found.law, 3, found.threshold - 1)
    else:
        assert isinstance(found.loss, Concentrated)
        assert (found.loss.delta, found.loss.outside) == (delta, used)
        assert used < delta


def test_units_of_every_class_pay_the_share_of_the_strictest() -> None:
    assert facts(strict=Fraction(1, 4), normal=Fraction(1)).loss == Pure(EPSILON / 4)


def test_a_price_below_the_unit_of_the_ledger_buys_nothing() -> None:
    assert advice(1, 0, 1, Price(Fraction(1, 10**13), Fraction(0)), swaps=False, classes={}) is None


def test_values_appear_above_the_threshold_alone_the_largest_first() -> None:
    found = facts(columns=1, delta=Fraction(1, 10**8))
    assert found.threshold is not None
    raw = RawTable({"value": ["rare", "b", "a", "most"], "count": [0, 1, 1, 2]})
    more = RawTable({"value": ["rare", "b", "a"], "count": [found.threshold, found.threshold + 1, found.threshold + 1]})
    assert found.values(raw, Noiseless()) == []
    assert found.values(more, Noiseless()) == [("a", found.threshold + 1), ("b", found.threshold + 1)]
    assert facts().values(more, Noiseless()) == []


def test_every_count_gets_noise_of_its_own() -> None:
    noise = FixedSampler("advice").laplace(Fraction(200), 3).tolist()
    assert facts().counts(as_raw([5, 0, 7]), FixedSampler("advice")) == [5 + noise[0], noise[1], 7 + noise[2]]
