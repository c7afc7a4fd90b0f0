"""Noised moments: exact measures and sensitivities, the split of the price, coarse grids, and honest intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaincinv

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace, split_among
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.moments import MomentsRelease, coarse, moments_query
from dpsql.mechanisms.noise.plausible import gamma_quantile, lattice
from dpsql.mechanisms.noise.sensitivity import sensitivity_of
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Concentrated
from dpsql.privacy.loss import Composed
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import (
    BY_RHO,
    CITY,
    COST,
    FEW_ROWS,
    GRID,
    WITH_DELTA,
    ConstantNoise,
    asking,
    offered,
    raw,
)

BOTH = pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
EVERY = pytest.mark.parametrize("name", tuple(STATISTICS))
REQUIRED = replace(COST.facts, nullable=False)


def moments(mechanism: Laplace | Gaussian, function: str, **settings: object) -> MomentsRelease:
    request = asking(function, **{"price": WITH_DELTA, **settings})  # type: ignore[arg-type]  # passed on to asking
    release = offered(mechanism.offer(request))
    assert isinstance(release, MomentsRelease)
    return release


def table(release: MomentsRelease, **values: list[int]) -> RawTable:
    """What the engine would return for one group of values in grid steps."""

    def shifted(measure: Measure) -> list[int]:
        name = next(name for name, grid in release.query.grids.items() if grid == measure.grid)
        return [value - measure.shift for value in values[name]]

    columns = []
    for measure in release.need.measures:
        if measure.kind is MeasureKind.SUM:
            columns.append(sum(shifted(measure)))
        elif measure.kind is MeasureKind.PRODUCTS:
            assert measure.by is not None
            columns.append(sum(a * b for a, b in zip(shifted(measure), shifted(measure.by), strict=True)))
        else:
            columns.append(len(values["x"]))
    return raw(*[[number] for number in columns])


@BOTH
@EVERY
def test_without_noise_it_is_numpys_statistic_in_the_columns_units(mechanism: Laplace | Gaussian, name: str) -> None:
    rng = np.random.default_rng(7)
    weight = rng.integers(-40, 81, 300)  # in halves
    cost = (rng.integers(0, 1001, 300) + 3 * (weight + 40)) // 2  # in tenths
    x, y = (weight if "y" in STATISTICS[name].moments else cost), cost
    release = moments(mechanism, name)
    value = release.release(table(release, x=x.tolist(), y=y.tolist()), Noiseless()).values[0]
    first, second = x * float(release.query.grids["x"].step), y / 10
    lost = int(name.endswith("samp"))
    cov = np.cov(first, second, ddof=lost)
    expected = {
        "var": cov[0, 0],
        "stddev": math.sqrt(cov[0, 0]),
        "covar": cov[0, 1],
        "corr": np.corrcoef(first, second)[0, 1],
        "regr": cov[0, 1] / cov[0, 0],
    }[name.split("_")[0]]
    assert value == pytest.approx(expected, rel=1e-9)


def test_sql_names_y_before_x() -> None:
    query = moments_query(asking("regr_slope"))
    assert query.grids["x"].step == Fraction(1, 2)
    assert query.grids["y"].step == Fraction(1, 10)
    assert query.statistic.moments == ("n", "x", "y", "xx", "xy")


def test_each_moment_is_shifted_by_its_centre() -> None:
    measures = moments_query(asking("covar_pop")).need.measures
    assert [m.kind for m in measures] == [MeasureKind.VALUES, MeasureKind.SUM, MeasureKind.SUM, MeasureKind.PRODUCTS]
    assert [m.shift for m in measures] == [0, 20, 500, 20]
    assert measures[3].by == measures[2]


@pytest.mark.parametrize("grid", [Grid(Fraction(1), -3, 8), Grid(Fraction(1), 5, 9), Grid(Fraction(1), 0, 0)])
@pytest.mark.parametrize("second", [Grid(Fraction(1), -7, 2), Grid(Fraction(1), 1, 4)])
@pytest.mark.parametrize("shift", [0, 2, 7])
def test_no_row_moves_a_sum_of_products_further_than_its_sensitivity(grid: Grid, second: Grid, shift: int) -> None:
    by = Measure(MeasureKind.SUM, asking("corr").aggregate.second, second, shift=-1)
    plain = Measure(MeasureKind.SUM, COST, grid, shift)
    for other, square in ((by, False), (plain, True)):
        measure = Measure(MeasureKind.PRODUCTS, COST, grid, shift, by=other)
        assert other.grid is not None
        values = range(grid.low - shift, grid.high - shift + 1)
        others = range(other.grid.low - other.shift, other.grid.high - other.shift + 1)
        rows = [x * x for x in values] if square else [x * y for x, y in product(values, others)]
        request = asking("corr", neighbours="add_remove")
        assert sensitivity_of(request, measure).l1 == max(1, *map(abs, rows))
        fixed = replace(request, neighbours="replace_one", rows_public=True)
        moved = max(max(rows), 0) - min(min(rows), 0)  # to or from NULL too
        assert moved <= sensitivity_of(fixed, measure).l1 <= max(1, moved)


def test_a_value_of_a_declared_domain_is_counted_once_in_each_group() -> None:
    request = asking("count_distinct", held=FEW_ROWS, keys=(CITY,))
    measure = Measure(MeasureKind.DISTINCT, request.aggregate.argument)
    assert sensitivity_of(request, measure).l1 == 12
    for values, l1, l2_squared in ((("a",), 3, 3), (("a", "b"), 6, 12), (tuple("abcdef"), 12, 54)):
        assert isinstance(measure.argument, type(COST))
        few = replace(measure, argument=replace(measure.argument, values=values))
        moved = sensitivity_of(request, few)
        assert (moved.l1, moved.l2_squared) == (l1, l2_squared)


@BOTH
def test_distinct_values_are_counted_with_noise(mechanism: Laplace | Gaussian) -> None:
    release = offered(mechanism.offer(asking("count_distinct", held=FEW_ROWS, keys=(CITY,), price=BY_RHO)))
    assert release.need.measures[0].kind is MeasureKind.DISTINCT  # type: ignore[union-attr]  # Aggregates
    assert release.release(raw([17, 0]), Noiseless()).values == [17, 0]


@EVERY
def test_laplace_spends_all_of_epsilon_and_no_more(name: str) -> None:
    release = moments(Laplace(), name, held=FEW_ROWS, keys=(CITY,))
    assert isinstance(release.loss, Composed)
    assert release.loss.account("basic").epsilon == 5 * 10**11
    spent = Fraction(0)
    for law, moved in zip(release.laws, release.query.sensitivities, strict=True):
        assert isinstance(law, LaplaceLaw)
        assert moved is not None
        spent += moved.l1 / law.scale
    assert spent == Fraction(1, 2)


@EVERY
def test_gaussian_spends_all_of_rho_and_no_more(name: str) -> None:
    release = moments(Gaussian(), name, held=FEW_ROWS, keys=(CITY,), price=BY_RHO)
    assert release.loss == Concentrated(Fraction(1, 8))
    spent = Fraction(0)
    for law, moved in zip(release.laws, release.query.sensitivities, strict=True):
        assert isinstance(law, GaussianLaw)
        assert moved is not None
        spent += Fraction(moved.l2_squared) / (2 * law.variance)
    assert spent == Fraction(1, 8)


def test_a_price_is_split_without_a_unit_too_much() -> None:
    parts = split_among(Price(Fraction(1, 3), Fraction(0)), [Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)])
    assert sum(part.epsilon or 0 for part in parts) == Fraction(1, 3)
    assert [float(part.epsilon or 0) for part in parts] == pytest.approx([1 / 21, 2 / 21, 4 / 21], rel=1e-9)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["var_samp", "stddev_pop", "covar_pop"])
@BOTH
def test_no_other_split_expects_a_much_smaller_error(mechanism: Laplace | Gaussian, name: str) -> None:
    release = moments(mechanism, name, rows_about=100_000)
    power = 1.0 if isinstance(mechanism, Laplace) else 0.5
    taken = release.query.shares(2 / 3 if isinstance(mechanism, Laplace) else 1)

    def width(shares: tuple[float, ...]) -> float:
        laws = []
        for law, old, new in zip(release.laws, taken, shares, strict=True):
            assert law is not None
            spread = Fraction(law.spread * (float(old) / new) ** power)
            laws.append(LaplaceLaw(spread) if isinstance(mechanism, Laplace) else GaussianLaw(spread**2))
        return replace(release, laws=tuple(laws)).half_width

    names = len(taken)
    others = [parts for parts in product((1, 3, 9, 27), repeat=names) if min(parts) == 1]
    assert release.half_width <= 1.25 * min(width(tuple(part / sum(parts) for part in parts)) for parts in others)


@BOTH
def test_the_number_of_fixed_rows_is_free(mechanism: Laplace | Gaussian) -> None:
    release = moments(mechanism, "var_pop", facts=REQUIRED, certain=True, neighbours="replace_one", rows_public=True)
    assert release.laws[0] is None
    assert release.need.measures[0].kind is MeasureKind.ROWS
    assert len(release.query.shares(1)) == 2
    released = release.release(table(release, x=[0, 1000] * 500), ConstantNoise(4))
    assert released.columns["n"] == [1000]
    low, high = release.intervals(released, 0.95)[0]
    assert low is not None
    assert high is not None
    assert low <= released.values[0] <= high


def test_nulls_make_the_number_private_even_over_fixed_rows() -> None:
    assert moments(Laplace(), "corr", neighbours="replace_one", rows_public=True).laws[0] is not None


@EVERY
def test_too_few_rows_give_the_largest_variance_or_else_0_and_all_of_the_bounds(name: str) -> None:
    release = moments(Laplace(), name)
    for noise in (0, -9):
        released = release.release(table(release, x=[], y=[]), ConstantNoise(noise))
        low, high = STATISTICS[name].bounds(release.query.widths)
        assert released.values == [high * release.query.unit if name.startswith(("var", "stddev")) else 0.0]
        assert release.intervals(released, 0.95) == [(low * release.query.unit, high * release.query.unit)]


def test_a_grid_of_very_many_steps_is_made_coarser() -> None:
    fine = Grid(Fraction(1, 10**6), low=-(2**53), high=2**50 + 1)
    grid = coarse(fine)
    assert grid.reach < 2**42
    assert grid.step == Fraction(1, 100)
    assert grid.low * grid.step <= fine.low * fine.step
    assert grid.high * grid.step >= fine.high * fine.step
    # Half a coarse step, beside the largest value.
    assert Fraction(1, 2) <= grid.reach * Fraction(1, 2**38)
    measures = moments_query(asking("var_pop", grid=fine)).need.measures
    assert [measure.grid for measure in measures] == [None, grid, grid]


def test_no_sum_of_products_can_overflow() -> None:
    widest = Grid(Fraction(1), low=-(2**53), high=2**53)
    for measure in moments_query(asking("corr", grid=widest, second_grid=widest)).need.measures:
        reach = 1
        for factor in (measure, measure.by):
            if factor is not None and factor.grid is not None:
                ends = factor.grid.low, factor.grid.high
                reach *= max(abs(end - shift) for end in ends for shift in (0, factor.shift))
        assert reach * 2**40 < 2**126


@pytest.mark.every(2)
@BOTH
@EVERY
def test_the_expected_half_width_is_that_of_a_typical_group(mechanism: Laplace | Gaussian, name: str) -> None:
    release = moments(mechanism, name, rows_about=20_000)
    rng, n = np.random.default_rng(9), 20_000
    x_grid = release.query.grids["x"]
    x_shift = release.need.measures[1].shift
    guess, apart = release.query.guess, release.query.spreads
    # A mean as far away as the guessed distance, deviations as large as the spreads, and a correlation of 1/2.
    first, noise = rng.standard_normal(n), rng.standard_normal(n)
    x = np.clip(x_shift + 0.8 * guess.x + apart.x * first, x_grid.low, x_grid.high).round().astype(int)
    y = (500 + 0.8 * guess.y + apart.y * (0.5 * first + 0.9 * noise)).clip(0, 1000).round().astype(int)
    released = release.release(table(release, x=x.tolist(), y=y.tolist()), FixedSampler(1))
    low, high = release.intervals(released, 0.95)[0]
    assert low is not None
    assert high is not None
    assert 0.3 < (high - low) / 2 / release.half_width < 3


@BOTH
@pytest.mark.parametrize("name", ["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
@pytest.mark.parametrize(
    "facts",
    [
        replace(COST.facts, centre=Fraction(90), spread=Fraction(120)),  # wider than any values within the bounds are
        replace(COST.facts, centre=Fraction(0), spread=None),
    ],
    ids=["wide spread", "centre at a bound"],
)
def test_a_spread_that_no_values_within_the_bounds_have_does_not_foretell_an_error_of_0(
    mechanism: Laplace | Gaussian, name: str, facts: Facts
) -> None:
    grid = replace(GRID, low=0, high=round(Fraction(210) / GRID.step))
    release = moments(mechanism, name, grid=grid, facts=facts, rows_about=20_000)
    plain = moments(mechanism, name, grid=grid, facts=replace(facts, centre=None, spread=None), rows_about=20_000)
    assert 0.3 < release.half_width / plain.half_width < 10


def test_lattice_points_fill_every_side_and_every_pair_of_sides_evenly() -> None:
    points = lattice(6)
    assert points.shape == (6, 4096)
    for index, side in enumerate(points):
        assert np.array_equal(np.sort(side), (np.arange(4096) + 0.5) / 4096)
        for other in points[index + 1 :]:
            squares, _, _ = np.histogram2d(side, other, bins=8, range=((0, 1), (0, 1)))
            assert 30 <= squares.min() <= squares.max() <= 100  # 64 each


@BOTH
def test_the_interval_of_a_linear_statistic_has_its_exact_quantiles(mechanism: Laplace | Gaussian) -> None:
    # With a public number of rows and no mean, a variance moves as the sum of squares does.
    release = moments(mechanism, "var_pop", facts=REQUIRED, certain=True, neighbours="replace_one", rows_public=True)
    n, law = 10**9, release.laws[2]
    assert law is not None
    released = release.release(raw([n], [0], [n * 90_000]), Noiseless())
    for confidence in (0.5, 0.8, 0.95, 0.99):
        low, high = release.intervals(released, confidence)[0]
        assert low is not None
        assert high is not None
        reach = law.quantile(confidence) / n / 100
        assert low == pytest.approx(900 - reach, abs=reach / 20)
        assert high == pytest.approx(900 + reach, abs=reach / 20)


@BOTH
def test_beyond_what_the_points_can_tell_the_interval_is_all_of_the_bounds(mechanism: Laplace | Gaussian) -> None:
    for name, sums, beyond, within in (
        ("var_pop", [[0], [10**9]], 0.9981, 0.99),
        ("corr", [[0], [0], [10**9], [10**9], [10**9]], 0.99991, 0.9998),
    ):
        release = moments(mechanism, name)
        bounds = tuple(end * release.query.unit for end in release.query.statistic.bounds(release.query.widths))
        released = release.release(raw([10**6], *sums), Noiseless())
        assert release.intervals(released, beyond) == [bounds]
        assert release.intervals(released, within) != [bounds]
    with pytest.raises(ValueError, match="confidence"):
        release.intervals(released, 1.0)


def unbounded(function: str) -> Request:
    request = asking(function, price=WITH_DELTA)
    return replace(request, grid=None) if function == "var_pop" else replace(request, second_grid=None)


@pytest.mark.parametrize("function", ["var_pop", "corr"])
@BOTH
def test_without_bounds_it_is_refused(mechanism: Laplace | Gaussian, function: str) -> None:
    answer = mechanism.offer(unbounded(function))
    assert isinstance(answer, Refusal)
    assert "has no bounds" in answer.reason


def test_an_argument_too_few_is_a_broken_invariant() -> None:
    request = asking("corr")
    with pytest.raises(InvariantBroken):
        moments_query(replace(request, aggregate=replace(request.aggregate, second=None)))


def test_a_rho_too_small_for_any_moment_is_refused() -> None:
    answer = Laplace().offer(asking("corr", price=Price(None, Fraction(0), rho=Fraction(1, 10**30))))
    assert isinstance(answer, Refusal)


@pytest.mark.parametrize("function", ["var_pop", "stddev_samp"])
def test_a_guess_that_starves_the_mean_of_its_price_leaves_intervals_true(function: str) -> None:
    # Values from 0 to 4 * 10^7 that are about 10^5, guessed to lie within 10 of 0: the noise of the mean, squared, is
    # far above the variance. Without chance: 400 noises that stand for their laws.
    grid = Grid(Fraction(1), 0, 4 * 10**7)
    facts = replace(COST.facts, centre=Fraction(0), spread=Fraction(10))
    price = Price(Fraction(1), Fraction(0))
    release = offered(Laplace().offer(asking(function, grid=grid, facts=facts, price=price, rows_about=50_000)))
    assert isinstance(release, MomentsRelease)
    n, mean, deviation = 800, 10**5, 3 * 10**5
    truth = {"n": n, "x": n * mean, "xx": n * (deviation**2 + mean**2)}
    exact = release.query.statistic.value(truth, release.query.widths) * release.query.unit
    noises = lattice(3)[:, ::10]
    columns = {
        name: (exactly + np.rint(law.at(noise))).astype(np.int64).tolist()
        for (name, exactly), law, noise in zip(truth.items(), release.laws, noises, strict=True)
        if law is not None
    }
    widths = release.query.widths
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    values = [release.query.statistic.value(row, widths) * release.query.unit for row in rows]
    found = release.intervals(ReleasedTable({"value": values, **columns}), 0.95)
    held = [low <= exact <= high for low, high in found if low is not None and high is not None]
    assert len(held) == len(rows)
    assert sum(held) / len(held) >= 0.95


@pytest.mark.parametrize("shape", [1, 2, 4])
def test_the_gamma_quantile_is_that_of_scipy(shape: int) -> None:
    for level in (0.01, 0.5, 0.95, 0.998):
        assert gamma_quantile(shape, level) == pytest.approx(float(gammaincinv(shape, level)), rel=1e-11)
