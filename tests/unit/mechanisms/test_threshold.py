"""The thresholded histogram: its (epsilon, delta) by enumeration, and its threshold by another route."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.noise.laws import LEAST_DELTA, LaplaceLaw
from dpsql.mechanisms.noise.thresholds import ThresholdRelease, threshold_delta, threshold_for
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution
from dpsql.privacy.kinds import Approximate
from dpsql.privacy.tables import ReleasedTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import FEW_ROWS, HALF, ConstantNoise, raw, selecting

MILLIONTH = Fraction(1, 10**6)


def threshold(function: str = "count_units", **facts: object) -> ThresholdRelease:
    release = Threshold().offer(selecting(function, **facts))
    assert isinstance(release, ThresholdRelease), release
    return release


def why(function: str = "count_units", **facts: object) -> str:
    answer = Threshold().offer(selecting(function, **facts))
    assert isinstance(answer, Refusal)
    return answer.reason


# ---------------------------------------------------------------- the theorem, by enumeration

REACH = 60


def shown(count: int, scale: float, above: int) -> npt.NDArray[np.float64]:
    """Probabilities of: silence, then each value above the threshold, the last holding all the rest."""
    q = math.exp(-1 / scale)
    if count == 0:
        return np.array([1.0, *[0.0] * REACH])
    law = [(1 - q) / (1 + q) * q ** abs(above + 1 + i - count) for i in range(REACH - 1)]
    at = above + REACH - count
    silent = 1 - q ** (above + 1 - count) / (1 + q) if above + 1 > count else q ** (count - above) / (1 + q)
    return np.array([silent, *law, q**at / (1 + q)])


def joint(counts: tuple[int, ...], scale: float, above: int) -> npt.NDArray[np.float64]:
    law = np.ones(())
    for count in counts:
        law = np.multiply.outer(law, shown(count, scale, above))
    return law


def hockey_stick(one: tuple[int, ...], two: tuple[int, ...], scale: float, above: int, epsilon: float) -> float:
    gap = joint(one, scale, above) - math.exp(epsilon) * joint(two, scale, above)
    return float(gap[gap > 0].sum())


def neighbours(groups: int, swap: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of histograms of two groups: other units number 0, 1 or 3; the one unit touches at most ``groups``."""
    ways = [(0, 0), (1, 0), (0, 1), (1, 1)] if groups == 2 else [(0, 0), (1, 0), (0, 1)]
    for others in [(a, b) for a in (0, 1, 3) for b in (0, 1, 3)]:
        for here in ways:
            for there in ways if swap else [(0, 0)]:
                yield (
                    (others[0] + here[0], others[1] + here[1]),
                    (others[0] + there[0], others[1] + there[1]),
                )


@pytest.mark.every(2)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.5, 0.01), (3.0, 0.2), (2.0, 0.4), (0.5, 1.0)])
def test_no_pair_of_neighbours_loses_more(epsilon: float, delta: float, groups: int, swap: bool) -> None:
    scale = Fraction(groups * (2 if swap else 1)) / Fraction(epsilon)
    above = threshold_for(LaplaceLaw(scale), groups, Fraction(delta))
    claimed = float(threshold_delta(LaplaceLaw(scale), groups, above))
    assert claimed <= delta
    for one, two in neighbours(groups, swap):
        assert hockey_stick(one, two, float(scale), above, epsilon) <= claimed * (1 + 1e-9)
        assert hockey_stick(two, one, float(scale), above, epsilon) <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("groups", [1, 2])
def test_the_claimed_delta_is_reached_by_a_unit_alone_in_its_groups(groups: int) -> None:
    scale = Fraction(groups)
    above = threshold_for(LaplaceLaw(scale), groups, Fraction(1, 100))
    alone, nobody = ((1, 0), (0, 0)) if groups == 1 else ((1, 1), (0, 0))
    claimed = float(threshold_delta(LaplaceLaw(scale), groups, above))
    assert hockey_stick(alone, nobody, float(scale), above, epsilon=1.0) == pytest.approx(claimed, rel=1e-9)


@pytest.mark.parametrize("groups", [1, 2])
def test_one_less_would_exceed_delta(groups: int) -> None:
    scale, delta = Fraction(groups), Fraction(1, 100)
    above = threshold_for(LaplaceLaw(scale), groups, delta)
    alone, nobody = ((1, 0), (0, 0)) if groups == 1 else ((1, 1), (0, 0))
    assert hockey_stick(alone, nobody, float(scale), above - 1, epsilon=1.0) > delta


def test_silence_tells_no_more_than_delta_allows() -> None:
    # With all of delta any threshold serves: silence of a lone group is then less likely than exp(-e0).
    scale = Fraction(4)
    above = threshold_for(LaplaceLaw(scale), 1, Fraction(1))
    silent = shown(1, float(scale), above)[0]
    assert above == 1
    assert silent < math.exp(-1 / scale)
    claimed = float(threshold_delta(LaplaceLaw(scale), 1, above))
    assert hockey_stick((0, 0), (1, 0), float(scale), above, epsilon=1 / 4) <= claimed


# ------------------------------------------------------------------ the threshold, another way


def slow_threshold(scale: Fraction, groups: int, delta: Fraction) -> int:
    """Walk up from 1, adding the tail term by term in floats; exact enough for deltas above 1e-12."""
    q = math.exp(-1 / scale)
    terms = [(1 - q) / (1 + q) * q**k for k in range(int(60 * scale) + 60)]
    tail, above = sum(terms[1:]), 1
    while -math.expm1(groups * math.log1p(-tail)) > delta:
        tail -= terms[above]
        above += 1
    return above


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(6), Fraction(41, 2)])
@pytest.mark.parametrize("groups", [1, 3, 40])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**8)])
def test_thresholds_agree_with_a_walk(scale: Fraction, groups: int, delta: Fraction) -> None:
    assert threshold_for(LaplaceLaw(scale), groups, delta) == slow_threshold(scale, groups, delta)


def test_a_tiny_delta_keeps_its_digits() -> None:
    delta = Fraction(1, 10**90)
    above = threshold_for(LaplaceLaw(Fraction(2)), 5, delta)
    used = threshold_delta(LaplaceLaw(Fraction(2)), 5, above)
    assert delta / 2 < used <= delta
    # p is tiny here, so 1 - (1 - p)^5 is 5 p up to p^2.
    assert float(used / delta) == pytest.approx(5 * math.exp(-above / 2 + 90 * math.log(10)) / (1 + math.exp(-0.5)))


@pytest.mark.parametrize(
    ("groups", "delta"), [(0, MILLIONTH), (1, Fraction(0)), (1, Fraction(2)), (1, Fraction(1, 10**101))]
)
def test_a_threshold_outside_its_range_is_refused(groups: int, delta: Fraction) -> None:
    with pytest.raises(ValueError, match="no threshold"):
        threshold_for(LaplaceLaw(Fraction(1)), groups, delta)


# ------------------------------------------------------------------------------ the offer


def test_the_offer_is_charged_the_delta_its_threshold_uses() -> None:
    release = threshold(held=FEW_ROWS)
    assert isinstance(release.loss, Approximate)
    assert release.loss.epsilon == Fraction(1, 2)
    assert release.loss.delta == threshold_delta(LaplaceLaw(Fraction(6)), 3, release.threshold) <= MILLIONTH
    assert (release.sensitivity, release.scale) == (3, 6.0)


def test_replace_one_doubles_the_scale_at_the_same_delta() -> None:
    release = threshold(held=FEW_ROWS, neighbours="replace_one")
    assert release.scale == 12.0
    assert isinstance(release.loss, Approximate)
    assert release.loss.delta == threshold_delta(LaplaceLaw(Fraction(12)), 3, release.threshold) <= MILLIONTH


def test_a_group_appears_only_strictly_above_the_threshold() -> None:
    release = threshold()
    t = release.threshold
    released = release.release(raw([t - 3, t - 2, t - 1, t]), ConstantNoise(2))
    assert list(release.selected(released)) == [2, 3]
    assert list(released.values) == [None, None, t + 1, t + 2]


def test_nothing_of_a_hidden_group_is_released() -> None:
    release = threshold()
    released = release.release(raw([1]), Noiseless())
    assert all(column == [None] for column in released.columns.values())
    assert release.intervals(released, 0.95) == [(None, None)]


def test_a_floor_on_units_is_tested_on_the_noised_count() -> None:
    release = threshold(units_at_least=500)
    released = release.release(raw([499, 500, 490, 510]), ConstantNoise(0))
    assert list(release.selected(released)) == [1, 3]
    assert list(release.selected(release.release(raw([490]), ConstantNoise(10)))) == [0]


def test_a_higher_floor_uses_less_delta() -> None:
    plain, floored = threshold(), threshold(units_at_least=100)
    assert isinstance(plain.loss, Approximate)
    assert isinstance(floored.loss, Approximate)
    assert floored.loss.delta < plain.loss.delta


def test_rows_are_counted_where_each_unit_has_one_in_a_group() -> None:
    assert threshold("count_rows") == threshold("count_units")
    assert threshold("count_rows", held=Contribution(rows=9, groups=4, rows_in_group=1)).sensitivity == 4
    assert "another number" in why("count_rows", held=FEW_ROWS)


def test_other_aggregates_select_nothing() -> None:
    for function in ("count", "sum", "avg"):
        assert "counts distinct units" in why(function)


def test_without_delta_it_is_refused_with_what_to_write() -> None:
    assert "add delta" in why(price=HALF)


def test_a_price_in_rho_keeps_its_rho() -> None:
    loss = threshold(price=Price(None, MILLIONTH, rho=Fraction(1, 8))).loss
    assert isinstance(loss, Approximate)
    assert loss.rho == Fraction(1, 8)
    assert "too small" in why(price=Price(None, MILLIONTH, rho=Fraction(1, 10**15)))


@pytest.mark.parametrize("epsilon", [10**3, 10**6])
def test_a_delta_stays_a_short_fraction_however_large_epsilon_is(epsilon: int) -> None:
    delta = threshold_delta(LaplaceLaw(Fraction(1, epsilon)), groups=10**9, threshold=1)
    assert 0 < delta < LEAST_DELTA
    assert len(str(delta)) < 500


@pytest.mark.parametrize("beyond", [-60, -20, -5, -1, 0, 1, 3, 10, 40])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_an_interval_holds_the_number_of_a_group_given_that_it_appears(beyond: int, confidence: float) -> None:
    # Without chance: the law of the noise is summed over all that appear. The group counts threshold + beyond units.
    release = threshold()
    law = release.law
    assert isinstance(law, LaplaceLaw)
    units = max(1, release.threshold + beyond)
    seen = np.arange(release.threshold + 1, release.threshold + 4000)
    chances = np.exp(-np.abs(seen - units) / float(law.scale))
    ends = release.intervals(ReleasedTable({"value": seen.tolist(), "steps": seen.tolist()}), confidence)
    held = [low <= units <= high for low, high in ends if low is not None and high is not None]
    assert (chances * held).sum() / chances.sum() >= confidence


@pytest.mark.parametrize("units", [2, 10])
def test_a_policy_that_hides_small_groups_raises_the_threshold_at_the_same_price(units: int) -> None:
    plain, hiding = threshold(held=FEW_ROWS), threshold(held=FEW_ROWS, min_units=units)
    assert hiding.threshold == plain.threshold + units - 1
    assert (hiding.loss, hiding.law) == (plain.loss, plain.law)
    shown = hiding.release(raw([1, units - 1, units, units + 1]), ConstantNoise(10**6))
    assert list(hiding.selected(shown)) == [2, 3]
    edge = hiding.threshold
    assert list(hiding.selected(hiding.release(raw([edge, edge + 1]), Noiseless()))) == [1]
    assert hiding.intervals(ReleasedTable({"value": [edge + 1], "steps": [edge + 1]}), 0.95)[0][0] == units


def test_a_floor_on_the_noised_count_and_one_of_the_policy_are_both_kept() -> None:
    assert threshold(min_units=10, units_at_least=500).threshold == 499
    assert threshold(min_units=500, units_at_least=10).threshold == threshold().threshold + 499
