"""What noise may hide: what is said of values outside holds as often as it claims, on data with long tails."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.advice import Advice, advice, as_raw
from dpsql.mechanisms.base import Price
from dpsql.owner.advice.advised import NEAR
from dpsql.owner.advice.outside import (
    LOST,
    MISS,
    bins_inside,
    hidden,
    most_beyond,
    rows_at_least,
    rows_within,
    share_lost,
    taken,
    units_at_least,
)
from dpsql.owner.advice.recommend import cap_of
from dpsql.plan.advised import LogHistogram, Signed
from dpsql.testing_samplers import FixedSampler

Floats = npt.NDArray[np.float64]
SEEDS = 200
MOST_WRONG = int(SEEDS * MISS)
"""Of so many fixed seeds."""
BINS, ROW_BINS = 54, 21  # Of a real column without a grid, of each sign; and of numbers of rows. As dpsql asks.
COUNTS = 8  # In how many counts one unit is: as of a table with two columns, about.


def priced(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Advice:
    found = advice(COUNTS, 0, 500, Price(epsilon, delta), swaps=False, classes={})
    assert found is not None
    return found


def binned(numbers: Floats, bins: int) -> list[int]:
    """How many of the numbers from 1 on are in each bin."""
    found: list[int] = np.bincount(np.minimum(np.log2(numbers).astype(int), bins - 1), minlength=bins).tolist()
    return found


def noised(noise: Advice, sides: Sequence[Sequence[int]], seed: str) -> Signed:
    near = noise.law.beyond(NEAR) - 1
    sampler = FixedSampler(seed)
    return Signed(
        *(
            LogHistogram(Fraction(1), tuple(noise.counts(as_raw(side), sampler)), noise.reach, noise.likely, near)
            for side in sides
        )
    )


def skewed(units: int, median: float, sigma: float) -> Floats:
    """Quantiles of a lognormal law: the data of these tests hang on no chance."""
    from scipy.special import ndtri

    found: Floats = np.maximum(1.0, median * np.exp(sigma * ndtri((np.arange(units) + 0.5) / units)))
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("units", "epsilon", "delta"),
    [
        (18_000, Fraction(1, 5), Fraction(0)),
        (200_000, Fraction(1, 20), Fraction(0)),
        (200_000, Fraction(1), Fraction(0)),
        (18_000, Fraction(1, 5), Fraction(1, 10**9)),
        (900, Fraction(1, 5), Fraction(0)),
    ],
)
def test_no_more_units_are_outside_than_is_said_as_often_as_it_is_claimed(
    units: int, epsilon: Fraction, delta: Fraction
) -> None:
    noise = priced(epsilon, delta)
    up = binned(skewed(units * 9 // 10, 1e8, 1.5), BINS)
    down = binned(skewed(units // 10, 1e6, 2.0), BINS)
    rows = binned(skewed(units, 6, 1.0), ROW_BINS)
    wrong = dict.fromkeys(("values", "rows", "every cap"), 0)
    for seed in range(SEEDS):
        largest, per_unit = noised(noise, (up, down), f"{seed} values"), noised(noise, (rows,), f"{seed} rows")
        q, least = hidden(largest, noise.law), units_at_least(per_unit, noise.law)
        bins = bins_inside(largest, q)
        outside = Fraction(sum(up[bins[0] :]) + sum(down[bins[1] :]), units)
        wrong["values"] += outside > most_beyond(largest, bins, q, least)
        q = hidden(per_unit, noise.law)
        over = [Fraction(sum(rows[cap:]), units) > most_beyond(per_unit, [cap], q, least) for cap in range(ROW_BINS)]
        wrong["rows"] += over[cap_of(per_unit).bit_length() - 1]
        wrong["every cap"] += any(over)
    assert max(wrong.values()) <= MOST_WRONG, wrong


@pytest.mark.parametrize(
    ("units", "epsilon"), [(30_000, Fraction(1, 20)), (30_000, Fraction(2)), (900, Fraction(1, 5))]
)
def test_rows_are_as_many_and_as_many_are_lost_as_is_said_as_often_as_it_is_claimed(
    units: int, epsilon: Fraction
) -> None:
    """Most rows of these units are in a tail of a few, of which the noise hides the end."""
    noise = priced(epsilon)
    sizes = np.floor((1 - (np.arange(units) + 0.5) / units) ** (-1 / 1.3))  # a Pareto law
    rows, counts, wrong = int(sizes.sum()), binned(sizes, ROW_BINS), 0
    caps = (1, 3, 8, 64, 100, 1024, 1 << 22)
    kept = {cap: int(np.minimum(sizes, cap).sum()) for cap in caps}
    for seed in range(SEEDS):
        per_unit = noised(noise, (counts,), f"{seed} rows")
        q = hidden(per_unit, noise.law)
        within = {cap: rows_within(per_unit, q, cap) for cap in caps}
        wrong += (
            rows_at_least(per_unit, q) > rows
            or any(not within[cap][0] <= kept[cap] <= within[cap][1] for cap in caps)
            or any(share_lost(per_unit, q, cap) > Fraction(rows - kept[cap], rows) for cap in caps)
        )
    assert wrong <= MOST_WRONG


def test_rows_of_a_few_counts_by_hand() -> None:
    """50 units of one row, 40 of 2 to 3, 10 of 4 to 7, and those that the noise may hide."""
    rows = Signed(LogHistogram(Fraction(1), (50, 40, 10), 60, 45, 10))
    assert rows_within(rows, 0, 4) == (100 + 50 + 2 * 10, 100 + 2 * 50 + 10)
    assert rows_within(rows, 0, 2) == (100 + 50, 100 + 50)
    assert rows_within(rows, 5, 2) == (95 + 45, 105 + 55)
    assert (rows_at_least(rows, 0), rows_at_least(rows, 10)) == (170, 90 + 40)
    assert share_lost(rows, 0, 1) == Fraction(70, 170)
    assert share_lost(rows, 10, 4) == 0


def test_bounds_of_a_long_tail_are_wide_where_noise_hides_its_end() -> None:
    """The last units of 18,000 at epsilon 0.2: bins of some hundreds of units, none above the noise of all counts."""
    noise, values = priced(Fraction(1, 5)), binned(skewed(18_000, 1e8, 1.5), BINS)
    cut = []
    for seed in range(SEEDS):
        largest = noised(noise, (values, [0] * BINS), f"{seed} wide")
        (up, down) = bins_inside(largest, hidden(largest, noise.law))
        assert down == 0
        assert up <= max(j for j, count in enumerate(values) if count) + 6
        cut.append(sum(values[up:]) / 18_000)
    assert sum(cut) / SEEDS < 0.005
    assert sorted(cut)[SEEDS * 19 // 20] < 0.02


def test_where_noise_hides_less_than_a_thousandth_bounds_cut_no_more_and_say_so() -> None:
    noise, values = priced(Fraction(2)), binned(skewed(2_000_000, 1e8, 1.5), BINS)
    rows = [2_000_000, *[0] * (ROW_BINS - 1)]
    for seed in range(20):
        largest, per_unit = noised(noise, (values,), f"{seed} large"), noised(noise, (rows,), f"{seed} one row")
        q = hidden(largest, noise.law)
        bins = bins_inside(largest, q)
        assert sum(values[bins[0] :]) <= LOST * 2_000_000 < sum(values[bins[0] - 2 :])
        assert most_beyond(largest, bins, q, units_at_least(per_unit, noise.law)) <= LOST * Fraction(11, 10)


def test_where_the_noise_may_hide_everybody_nothing_is_said() -> None:
    noise = priced(Fraction(1, 100))
    per_unit = noised(noise, ([900, *[0] * (ROW_BINS - 1)],), "few")
    q, least = hidden(per_unit, noise.law), units_at_least(per_unit, noise.law)
    assert least == 0
    assert most_beyond(per_unit, [1], q, least) == 1
    assert bins_inside(noised(noise, ([0] * BINS,), "nobody"), q) == [0]


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        ((61, 0, 60, 61, 11, 11, 10, 11), (61, 0, 0, 61, 11, 11, 0, 0)),
        ((60, 46, 11, 10, 46), (60, 46, 11, 0, 46)),  # nothing is clear: what likely stands there is all there is
        ((61, 46, 11, 10, 46), (61, 46, 11, 0, 0)),
    ],
)
def test_a_bin_that_follows_others_needs_less_than_one_that_stands_apart(
    counts: tuple[int, ...], found: tuple[int, ...]
) -> None:
    assert taken(Signed(LogHistogram(Fraction(1), counts, 60, 45, 10))) == [found]
    one, other = taken(
        Signed(LogHistogram(Fraction(1), (46,), 60, 45, 10), LogHistogram(Fraction(1), (99,), 60, 45, 10))
    )
    assert (one, other) == ((0,), (99,))


def test_units_with_values_of_both_signs_do_not_count_twice_for_what_may_be_cut() -> None:
    up, down = (LogHistogram(Fraction(1), counts, 60, 45, 10) for counts in ((200_000, 0, 0), (200_000, 61, 50)))
    assert bins_inside(Signed(up, down), 100) == [1, 3]  # 150 of 200,000 units are more than half a thousandth
    assert bins_inside(Signed(up, down), 40) == [1, 2]


def test_the_last_bin_has_no_end_so_that_its_units_are_always_outside() -> None:
    question = Signed(LogHistogram(Fraction(1), (900, 0, 100), 60, 45, 10))
    assert most_beyond(question, [3], 20, 1000) == Fraction(120, 1000)


def test_no_more_units_are_said_to_be_farther_out_than_nearer() -> None:
    question = Signed(LogHistogram(Fraction(1), (900, -50, 100, 0), 60, 45, 10))
    assert [most_beyond(question, [end], 20, 1000) * 1000 for end in range(4)] == [970, 70, 70, 20]
