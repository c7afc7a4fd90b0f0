"""Within tight bounds intervals hold wherever the rows are that a clamp or a window leaves out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.located.clamp import clamps_of
from dpsql.mechanisms.located.mechanism import AtOwnPlace
from dpsql.mechanisms.located.place import Bins, window_of
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.plan.types import Grid
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import COST, asking, counted, offered
from tests.unit.mechanisms.located.test_mechanism import (
    FOUR_ROWS,
    FUNCTIONS,
    ONE,
    TEN,
    arrays,
    ends_of,
    loss,
    truth_of,
)

SCORES = Grid(Fraction(1), 0, 100)
SMALL = Counter({1: 70, 2: 60, 3: 60, 4: 30})


def searching(function: str, price: Price = ONE, **more: Any) -> LocatedRelease:
    """What searches for a clamp there, as `capped` has it."""
    release = offered(AtOwnPlace(whole=False).offer(asking(function, grid=SCORES, price=price, **more)))
    assert isinstance(release, LocatedRelease)
    return release


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("far", [{}, {100: 6}, {100: 12}, {60: 6, 100: 6}])
def test_an_interval_allows_for_all_rows_beyond_the_clamp_as_far_out_as_the_bounds(
    function: str, far: dict[int, int]
) -> None:
    release, rows = searching(function), SMALL + Counter(far)
    released = release.release(counted(rows), Noiseless())
    assert released.columns["high"] == [4]
    assert released.columns["beyond"] == [sum(far.values())]
    low, high = ends_of(release, released)
    assert low <= truth_of(function, rows) <= high
    assert high < {"avg": 30, "var_pop": 2_000, "stddev_samp": 45}[function]  # which says something
    (said,) = release.told(released)
    assert "as far out as the bounds" in said


@pytest.mark.parametrize("function", FUNCTIONS)
def test_where_nothing_is_clipped_nothing_is_counted(function: str) -> None:
    release = searching(function)
    for rows in (Counter({1: 3, 100: 3}), Counter({1: 100, 100: 100})):
        released = release.release(counted(rows), Noiseless())
        assert released.columns["high"] == [100]
        assert released.columns["beyond"] == [None]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_transcript_tells_more_of_a_unit_than_epsilon_with_rows_beyond_counted(function: str) -> None:
    release, held = searching(function, price=TEN, held=replace(FOUR_ROWS, rows=40, rows_in_group=40)), SMALL
    epsilon = float(TEN.epsilon or 0)
    largest = 0.0
    for at, unit in enumerate(([0] * 40, [100] * 40, [4] * 40, [100] * 20)):
        real = loss(release, held, held + Counter(unit), f"{at}")
        assert real <= epsilon * len(unit) / 40 + 1e-9
        largest = max(largest, real / epsilon)
    assert largest > 0.7


def test_the_foreseen_interval_allows_for_what_noise_may_hide_beyond_the_clamp() -> None:
    release = searching("avg")
    released = release.release(counted(SMALL), Noiseless())
    low, high = ends_of(release, released)
    assert release.interval_foreseen(SMALL.total()) == pytest.approx((high - low) / 2, rel=0.5)


def test_what_noise_hides_beyond_a_window_may_be_at_the_bounds() -> None:
    tight, loose = (clamps_of(Grid(Fraction(1), 0, high), COST.facts) for high in (100, 1_000))
    assert tight.thins == 1.0 > loose.thins
    bins, held = Bins(SCORES), arrays(Counter({1: 300, 2: 300, 3: 300, 4: 300}))
    near = bins.counts(*held, 2)
    windows = [window_of(bins, 2, near, 1_200, 8.0, 1, 8.0, thins) for thins in (tight.thins, loose.thins)]
    assert windows[0].over > 1.2 * windows[1].over > 0
