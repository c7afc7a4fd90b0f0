"""Where rows lie, from noised numbers: exact sums, tails that noise does not make, windows that hold the rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.located.place import Bins, Clip, beyond, most_hidden, squares, total, window_of
from dpsql.mechanisms.noise.laws import laplace_tail
from dpsql.plan.types import Grid

WIDE = Grid(Fraction(1), 0, 10**6)
FAR = 2**53


def window(low: int, middle: int, high: int) -> Clip:
    return Clip(middle, max(high - middle, middle - low), low, high, 0.0, 0.0, 0.0)


def found(values: np.ndarray, grid: Grid = WIDE, centre: int | None = None, power: int = 1) -> Clip:
    """The window of rows whose numbers have no noise, where there might have been noise of scale 5."""
    distinct, rows = np.unique(values.astype(np.int64), return_counts=True)
    middle = int(np.median(values)) if centre is None else centre
    bins = Bins(grid)
    return window_of(bins, middle, bins.counts(distinct, rows, middle), len(values), 5.0, power, 2.0)


@pytest.mark.parametrize("low", [-FAR, -40, 0])
def test_sums_are_exact_at_any_size(low: int) -> None:
    values = np.array([low, low + 1, low + 7, FAR - 3, FAR], dtype=np.int64)
    rows = np.array([3, 2**40 - 5, 1, 1, 1], dtype=np.int64)
    clip = window(low, 5, FAR - 2)
    kept = [min(max(int(v), clip.low), clip.high) - 5 for v in values]
    assert total(values, rows, clip) == sum(k * int(n) for k, n in zip(kept, rows, strict=True))
    near = window(5 - 2**42, 5, 5 + 2**42)
    kept = [min(max(int(v), near.low), near.high) - 5 for v in values]
    assert squares([(values, rows)], near) == [sum(k**2 * int(n) for k, n in zip(kept, rows, strict=True))]


@pytest.mark.parametrize("grid", [Grid(Fraction(1), 0, 1), Grid(Fraction(1), -7, 9), Grid(Fraction(1), -FAR, FAR)])
def test_every_row_is_in_one_bin_of_its_side(grid: Grid) -> None:
    bins = Bins(grid)
    assert bins.edges[-1] >= grid.high - grid.low
    assert len(bins.edges) <= 25
    for centre in (grid.low, (grid.low + grid.high) // 2, grid.high):
        for value in {grid.low, centre, min(centre + 1, grid.high), grid.high}:
            (at,) = np.flatnonzero(bins.counts(np.array([value]), np.array([4]), centre))
            side, bin_ = divmod(int(at), len(bins.edges))
            assert side == int(value >= centre)
            assert abs(value - centre) <= bins.edges[bin_]
            assert bin_ == 0 or abs(value - centre) > bins.edges[bin_ - 1]


def test_noise_exceeds_its_bound_no_more_often_than_it_says() -> None:
    for chance in (0.1, 1e-4, 1e-9):
        assert float(laplace_tail(Fraction(50), int(50 * beyond(1, chance)))) <= chance
        assert beyond(1, chance) < beyond(2, chance) < beyond(25, chance)
    noise = np.random.default_rng(1).laplace(0, 1, (20_000, 25)).sum(axis=1)
    assert (noise > beyond(25, 0.01)).mean() <= 0.01
    assert most_hidden(25, 4.0) > 2 * 4 * beyond(25, 1e-9)


def test_the_window_follows_the_rows_wherever_they_are() -> None:
    rng = np.random.default_rng(2)
    for place, spread in ((500_000, 300.0), (999_000, 200.0), (40_000, 9_000.0)):
        values = np.clip(np.rint(rng.normal(place, spread, 5_000)), 0, 10**6)
        clip = found(values)
        assert clip.low <= np.quantile(values, 0.01) < np.quantile(values, 0.99) <= clip.high
        assert 2 * spread < clip.half < 12 * spread
        assert abs(clip.middle - place) < spread
        assert max(clip.under, clip.over) < 6_000 * clip.half  # noise hides some dozens of rows, up to 64 times as far


def test_the_interval_holds_bonuses_that_noise_hides() -> None:
    rng = np.random.default_rng(3)
    usual = 3_000 + 3_000 * rng.random(60_000) * rng.random(60_000)
    values = np.rint(np.where(rng.random(60_000) < 0.01, usual + 80_000 * rng.random(60_000), usual)).astype(np.int64)
    distinct, rows = np.unique(values, return_counts=True)
    bins, centre = Bins(Grid(Fraction(1), 0, 90_000)), int(np.median(values))
    clip = window_of(bins, centre, bins.counts(distinct, rows, centre), len(values), 160.0, 1, 300.0)
    assert clip.high < 20_000  # they are not seen
    assert (values - np.minimum(values, clip.high)).sum() < clip.over


def test_two_places_far_apart_are_both_in_the_window() -> None:
    values = np.concatenate([np.full(700, 30_000), np.full(300, 600_000)])
    clip = found(values)
    assert clip.low <= 30_000 < 600_000 <= clip.high
    assert abs(clip.middle - values.mean()) < 120_000


def test_a_centre_that_was_missed_costs_width_alone() -> None:
    values = np.rint(np.random.default_rng(3).normal(20_000, 500, 2_000))
    clip = found(values, centre=900_000)
    assert clip.low <= values.min()
    assert values.max() <= clip.high


def test_nothing_is_hidden_beyond_the_bounds() -> None:
    clip = found(np.arange(0, 1_000_000, 50))
    assert (clip.low, clip.high, clip.under, clip.over, clip.squared) == (0, 10**6, 0.0, 0.0, 0.0)
    below = found(np.rint(np.random.default_rng(4).lognormal(8, 1, 3_000)))
    assert below.low == below.under == 0
    assert below.over > 0


def test_a_variance_reaches_farther_than_a_mean() -> None:
    values = np.minimum(np.rint(np.random.default_rng(5).lognormal(8, 1, 20_000)), 10**6)
    assert found(values, power=2).half >= found(values).half


def test_few_rows_far_out_are_clipped_where_noise_for_them_costs_more_and_the_interval_counts_them() -> None:
    grid, noise = Grid(Fraction(1), 0, 10**6), 4.0
    values, rows = np.array([30, 900, 60_000]), np.array([5_000, 5_000, 100])
    counts = Bins(grid).counts(values, rows, 600)  # 100 rows stand far out of such noise
    for power in (1, 2):
        dear, cheap = (window_of(Bins(grid), 600, counts, 10_100, noise, power, cost) for cost in (1e4, 1e-4))
        assert 900 <= dear.high < 60_000 <= cheap.high
        assert dear.over >= 100 * (60_000 - dear.high)
        assert dear.squared >= 100 * (60_000 - 600) ** 2 - 100 * (dear.high - 600) ** 2


@pytest.mark.parametrize("off", [0, 3, -40])
def test_rows_that_are_mostly_one_value_show_no_scale_by_which_others_thin_out(off: int) -> None:
    few, many = (np.array([5_000] * 900 + [200_000] * far) for far in (25, 400))
    hidden, seen = found(few, centre=5_000 + off), found(many, centre=5_000 + off)
    assert (hidden.low, hidden.high) == (0, 10**6)  # noise hides them: the window holds all that there may be
    assert seen.high < 5 * 10**5
    spread = found(np.concatenate([np.arange(4_000, 6_000, 3), [200_000] * 25]), centre=5_000)
    assert spread.high < 10**5


@pytest.mark.parametrize(("most", "other"), [(50, 30), (100, 45), (20, 12)])
def test_bounds_of_tens_of_steps_are_no_scale_either(most: int, other: int) -> None:
    hidden = found(np.array([0] * 970 + [other] * 30), Grid(Fraction(1), 0, most))
    assert (hidden.low, hidden.high) == (0, most)


def test_the_interval_counts_a_tail_that_is_seen_though_it_is_not_believed() -> None:
    grid, rows = Grid(Fraction(1), 0, 10**6), np.arange(400_000, 402_000)
    below, beside = (found(np.concatenate([rows, [950_000] * far]), grid, centre=401_000) for far in (0, 60))
    assert beside.high < 10**6
    assert beside.over > below.over + 60 * (grid.high / 2 - beside.high + 401_000) / 4
