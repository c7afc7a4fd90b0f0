"""What is foretold of statistics that are divided by variances, where bounds are loose and no spread is declared."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.plan.types import Facts, Grid, Type
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import COST, GRID, raw
from tests.unit.mechanisms.noise.test_moments import BOTH, moments


def test_correlations_under_loose_bounds_are_foretold_cautiously() -> None:
    """Bounds that are five times looser than those of values that fill them; variances are foretold as they were."""
    wide = replace(GRID, low=0, high=10**6)
    loose, variance = (moments(Laplace(), name, grid=wide).query for name in ("corr", "var_pop"))
    assert 5 * loose.spreads.y == loose.guess.y
    assert variance.spreads == variance.guess
    declared = moments(Laplace(), "corr", grid=wide, facts=replace(COST.facts, spread=Fraction(300))).query
    assert declared.spreads.y == declared.guess.y


@BOTH
@pytest.mark.parametrize("narrower", [1.2, 3.0, 5.0])
def test_a_deviation_is_foretold_no_shorter_where_values_lie_closer_than_their_bounds(
    mechanism: Laplace | Gaussian, narrower: float
) -> None:
    """The error of a variance is divided by twice its root; the released numbers are the exact ones."""
    n, grid = 2_000, Grid(Fraction(1), -500, 500)
    facts = Facts(Type.REAL, Fraction(-500), Fraction(500))
    release, variance = (
        moments(mechanism, name, grid=grid, facts=facts, rows_about=n) for name in ("stddev_pop", "var_pop")
    )
    assert 5 * release.query.spreads.x == release.query.guess.x
    assert variance.query.spreads == variance.query.guess
    declared = replace(facts, spread=Fraction(200))
    told = moments(mechanism, "stddev_pop", grid=grid, facts=declared, rows_about=n)
    assert told.query.spreads.x == told.query.guess.x
    m = {"n": n, "x": 0, "xx": round(n * (1000 / math.sqrt(12) / narrower) ** 2)}
    released = release.release(raw(*[[m[name]] for name in release.numbers]), Noiseless())
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert (high - low) / 2 <= 1.05 * release.half_width


@BOTH
@pytest.mark.parametrize("narrower", [1.2, 3.0, 5.0])
def test_a_slope_is_foretold_no_shorter_where_y_fills_its_bounds_and_x_does_not(
    mechanism: Laplace | Gaussian, narrower: float
) -> None:
    """Nothing is declared of either; the released numbers are the exact ones, so nothing is left to chance."""
    n, grid = 20_000, Grid(Fraction(1), -500, 500)
    facts = Facts(Type.REAL, Fraction(-500), Fraction(500))
    release = moments(mechanism, "regr_slope", grid=grid, second_grid=grid, facts=facts, rows_about=n)
    assert 5 * release.query.spreads.x == release.query.guess.x
    assert release.query.spreads.y == release.query.guess.y
    for correlation in (0.0, 0.5):
        x, y = 1000 / math.sqrt(12) / narrower, 1000 / math.sqrt(12)
        m = {"n": n, "x": 0, "y": 0, "xx": round(n * x * x), "xy": round(n * correlation * x * y)}
        released = release.release(raw(*[[m[name]] for name in release.numbers]), Noiseless())
        ((low, high),) = release.intervals(released, 0.95)
        assert low is not None
        assert high is not None
        assert (high - low) / 2 <= 1.05 * release.half_width
