"""What grid points weigh before any row is seen: whole numbers, their sums, and exact losses of draws that use them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.choice.groups import counted
from dpsql.mechanisms.choice.landscape import chosen, landscape
from dpsql.mechanisms.choice.measure import BaseMeasure, base_measure
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.exponential import Exponential
from dpsql.plan.types import Facts, Grid, Type
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.asking import COST, HALF, asking, offered

TIGHT = Grid(Fraction(1), 0, 300)
LOOSE = Grid(Fraction(1), 0, 10**6)
NUMBER = Facts(Type.INTEGER)
GRIDS = (
    (TIGHT, NUMBER),
    (LOOSE, NUMBER),
    (Grid(Fraction(1), -700, 900), NUMBER),
    (Grid(Fraction(1), 5_000, 12_000), NUMBER),
    (LOOSE, replace(NUMBER, centre=Fraction(300_000), spread=Fraction(10))),
    (Grid(Fraction(1, 10), -100, -50), NUMBER),
    (Grid(Fraction(1), -(2**53), 2**53), NUMBER),
)

every = pytest.mark.parametrize(("grid", "facts"), GRIDS)


def weight(measure: BaseMeasure, point: int) -> int:
    """Of one point, by itself."""
    return next(w for start, w in reversed(list(zip(measure.starts, measure.weights, strict=True))) if point >= start)


@every
def test_every_point_weighs_a_whole_number_and_all_of_them_the_total(grid: Grid, facts: Facts) -> None:
    measure = base_measure(grid, facts)
    assert measure.starts[0] == grid.low
    assert all(isinstance(w, int) and w >= 1 for w in measure.weights)
    ends = (*measure.starts[1:], grid.high + 1)
    sums = [w * (b - a) for w, a, b in zip(measure.weights, measure.starts, ends, strict=True)]
    assert sum(sums) == measure.total < 2**62
    assert measure.within(np.array([1, grid.high - grid.low])).tolist() == [
        measure.weights[0],
        measure.total - measure.weights[0],
    ]


@every
def test_intervals_weigh_what_lies_below_their_ends_apart(grid: Grid, facts: Facts) -> None:
    measure, rng = base_measure(grid, facts), np.random.default_rng(4)
    inner = [*rng.integers(grid.low, grid.high, 20).tolist(), *measure.starts, *(start + 1 for start in measure.starts)]
    ends = np.array([*sorted({point for point in inner if grid.low < point <= grid.high}), grid.high + 1])
    widths = np.diff(ends, prepend=grid.low)
    assert measure.within(widths).tolist() == np.diff(measure.below(ends), prepend=0).tolist()


@every
def test_each_unit_of_weight_belongs_to_one_point(grid: Grid, facts: Facts) -> None:
    measure, rng = base_measure(grid, facts), np.random.default_rng(3)
    for start in (grid.low, (grid.low + grid.high) // 2, grid.high):
        before = int(measure.below(np.array([start]))[0])
        for unit in (0, *(int(u) for u in rng.integers(0, measure.total - before, 20)), measure.total - before - 1):
            (point,) = measure.points(np.array([start]), np.array([unit])).tolist()
            own = int(measure.below(np.array([point]))[0])
            assert start <= point <= grid.high
            assert own <= before + unit < own + weight(measure, point)


def test_tight_bounds_weigh_each_point_half_as_much_at_least_as_evenly() -> None:
    for grid, facts in (GRIDS[0], GRIDS[4]):
        measure = base_measure(grid, facts)
        points = grid.high - grid.low + 1
        assert measure.total <= 2 * points
        assert all(2 * w * points >= measure.total * 0.45 for w in measure.weights)
    assert base_measure(Grid(Fraction(1), 0, 200), NUMBER).beyond(10.0) == pytest.approx(20.1)


def test_far_shells_of_loose_bounds_weigh_four_times_less_with_each_doubling() -> None:
    measure = base_measure(LOOSE, NUMBER)
    assert measure.beyond(100.0) < 30  # however wide the bounds
    shells = np.diff(measure.before)
    near, far = shells[4:12], shells[-5:-1]
    assert max(near) < 1.2 * min(near)
    for one, next_one in pairwise(far.tolist()):
        assert one / next_one == pytest.approx(4, rel=0.05)
    both = base_measure(Grid(Fraction(1), -180_000, 180_000), NUMBER)
    assert both.beyond(60_000.0) < 500  # coordinates fill their bounds


def outcomes(rows: dict[int, int], release: QuantileRelease) -> list[Any]:
    """The chance of every point."""
    draw, grid = release.answer(0), release.query.grid
    assert draw.measure is not None
    values = np.array(sorted(rows), dtype=np.int64)
    widths, scores = landscape(values, np.array([rows[int(v)] for v in values]), grid, draw.rank, draw.deepest)
    of_point = np.repeat(scores, widths).tolist()
    weights = [weight(draw.measure, point) for point in range(grid.low, grid.high + 1)]
    units = iter(chances.exponential(weights, of_point, draw.exponent))
    return [sum((next(units) for _ in range(own)), Decimal(0)) for own in weights]


@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(9, 10)])
def test_no_row_loses_more_than_is_charged_whatever_points_weigh(fraction: Fraction) -> None:
    facts = replace(COST.facts, low=Fraction(0), high=Fraction(300), spread=None)
    release = offered(Exponential().offer(asking("quantile_cont", fraction=fraction, grid=TIGHT, facts=facts)))
    assert isinstance(release, QuantileRelease)
    assert len(release.query.measure.weights) > 5
    most = max(
        chances.loss(outcomes(rows, release), outcomes({**rows, more: rows.get(more, 0) + 1}, release))
        for rows in ({0: 1}, {0: 9, 10: 1}, {10: 3, 40: 1}, {299: 2})
        for more in (0, 11, 300)
    )
    assert chances.within(most, release.rates[0])
    assert float(most) > 0.5 * float(release.rates[0])
    assert HALF.epsilon is not None
    assert release.count + sum(release.rates) <= HALF.epsilon


def test_weights_that_the_data_decide_show_in_the_exact_loss() -> None:
    facts = replace(COST.facts, low=Fraction(0), high=Fraction(300), spread=None)
    release = offered(Exponential().offer(asking("quantile_cont", grid=TIGHT, facts=facts)))
    assert isinstance(release, QuantileRelease)

    def anchored(rows: dict[int, int]) -> list[Any]:
        measure = base_measure(TIGHT, replace(facts, centre=Fraction(max(rows))))
        return outcomes(rows, replace(release, query=replace(release.query, measure=measure)))

    assert not chances.within(chances.loss(anchored({10: 3}), anchored({10: 3, 200: 1})), release.rates[0])


def test_draws_follow_the_weights() -> None:
    facts = replace(COST.facts, low=Fraction(0), high=Fraction(300), spread=None)
    release = offered(Exponential().offer(asking("quantile_cont", grid=TIGHT, facts=facts)))
    assert isinstance(release, QuantileRelease)
    draw, sampler, nothing = release.answer(0), FixedSampler("weights"), np.array([], dtype=np.int64)
    found = np.array(chosen([counted(np.zeros(2_001, dtype=np.int64), nothing, nothing)], TIGHT, draw, sampler))
    measure = release.query.measure
    for edge in (1, 8, 64, 200):
        expected = int(measure.below(np.array([edge]))[0]) / measure.total
        assert float((found < edge).mean()) == pytest.approx(expected, abs=0.05)  # the stream is the same in every run
