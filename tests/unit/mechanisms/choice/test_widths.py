"""How wide the interval of a quantile is told to be before it is bought."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.base import Price
from dpsql.plan.types import Grid
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import asking, counted
from tests.unit.mechanisms.choice.test_quantile import quantile


def test_the_interval_of_an_extreme_is_foretold_up_to_the_bound_that_it_ends_at() -> None:
    grid, wide = Grid(Fraction(1), low=0, high=1000), 1000
    least, most = (quantile(asking(name, grid=grid)) for name in ("min", "max"))
    assert wide / 4 < most.half_width < wide / 2
    assert wide / 16 < least.half_width < wide / 8  # 0 is near most values
    assert least.expected_error == most.expected_error < wide / 100


def test_an_interval_is_told_too_wide_rather_than_too_narrow_where_values_thin_out() -> None:
    """Of an upper quantile few rows lie above: its upper end is among the outermost ones, or is the bound."""
    grid = Grid(Fraction(1), low=0, high=1000)
    for fraction, rows in ((Fraction(99, 100), 10_000), (Fraction(19, 20), 3_000), (Fraction(9, 10), 1_000)):
        for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
            asked = asking("quantile_cont", grid=grid, fraction=fraction, price=Price(epsilon, Fraction(0)))
            release = quantile(replace(asked, rows_about=rows))
            values = np.random.default_rng(1).exponential(1000 / 8, rows).clip(0, 1000).round()
            data = Counter(values.astype(int).tolist())
            low, high = release.intervals(release.release(counted(dict(data)), Noiseless()), 0.95)[0]
            assert low is not None and high is not None
            assert release.half_width >= (high - low) / 4
            assert release.near_end <= release.half_width
