"""A variance that noise puts below 0 is told as what it may be, never as exactly 0. Other intervals: test_moments."""

from __future__ import annotations

import pytest

from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import raw
from tests.unit.mechanisms.noise.test_moments import BOTH, moments

ROWS = 10**6


@BOTH
@pytest.mark.parametrize("function", ["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
def test_what_noise_puts_far_below_0_may_be_all_of_its_bounds(mechanism: Laplace | Gaussian, function: str) -> None:
    release = moments(mechanism, function)
    _, high = (end * release.query.unit for end in release.query.statistic.bounds(release.query.widths))
    law = release.laws[2]
    assert law is not None
    for spreads in range(40):  # from what is likely, over what is not, to what never comes
        released = release.release(raw([ROWS], [0], [-round(spreads * law.spread)]), Noiseless())
        ends = [release.intervals(released, confidence)[0] for confidence in (0.5, 0.9, 0.95, 0.99)]
        assert released.values == [0]
        assert [low for low, _ in ends] == [0] * 4
        mosts = [most for _, most in ends if most is not None]
        assert min(mosts) > 0
        assert mosts[2] <= mosts[3] <= high
    assert mosts == [high] * 4
