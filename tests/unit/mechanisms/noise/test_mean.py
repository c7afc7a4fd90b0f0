"""Means: centred sums, the split of the price, bounds that always hold, and Fieller's intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.noise.mean import MeanRelease, fieller, mean_query
from dpsql.plan.needs import Aggregates, Measure, MeasureKind, Need
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Concentrated, Pure
from dpsql.privacy.loss import Composed
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

CENTRED = replace(COST.facts, centre=Fraction(20), spread=Fraction(10))
REQUIRED = replace(COST.facts, nullable=False)
FIXED = {"neighbours": "replace_one", "rows_public": True}
CERTAIN = {"certain": True, **FIXED}


def measures(need: Need) -> tuple[Measure, ...]:
    """What a mean asks of each group."""
    assert isinstance(need, Aggregates)
    return need.measures


def mean(mechanism: Laplace | Gaussian, **facts: object) -> MeanRelease:
    settings = {"price": WITH_DELTA, **facts}
    release = offered(mechanism.offer(asking("avg", **settings)))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, MeanRelease)
    return release


@pytest.mark.parametrize("centre", [-2, 3, 9, 10])
def test_no_mean_is_foretold_beyond_the_bounds_however_wide_the_spread(centre: int) -> None:
    wide, narrow = (
        mean(
            Laplace(),
            grid=Grid(Fraction(1), low=-3, high=10),
            facts=replace(COST.facts, centre=Fraction(centre), spread=Fraction(spread)),
            rows_about=100_000,
        )
        for spread in (11, 1)
    )
    assert max(narrow.half_width, wide.half_width) < 0.1  # and not the bounds' 6.5: noise for 100,000 rows is little


def test_the_sum_is_centred_in_the_middle_of_the_bounds() -> None:
    query = mean_query(asking("avg", grid=Grid(Fraction(1), low=-3, high=10)))
    assert query.centre == 3
    assert [m.kind for m in measures(query.need)] == [MeasureKind.SUM, MeasureKind.VALUES]
    assert measures(query.need)[0].shift == 3
    assert query.sum_sensitivity.l1 == 7  # max(10 - 3, 3 + 3)


def test_a_declared_centre_is_used_on_the_grid_and_inside_the_bounds() -> None:
    assert mean_query(asking("avg", facts=CENTRED)).centre == 200
    assert mean_query(asking("avg", facts=replace(CENTRED, centre=Fraction(5000)))).centre == 1000


def test_centring_halves_the_sensitivity_of_the_sum() -> None:
    query = mean_query(asking("avg", held=FEW_ROWS, keys=(CITY,)))
    assert query.sum_sensitivity.l1 == 12 * 500
    assert query.count_sensitivity is not None
    assert query.count_sensitivity.l1 == 12


@pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()])
def test_without_noise_the_answer_is_the_mean(mechanism: Laplace | Gaussian) -> None:
    # Ten values, 20.0 to 29.0: in steps about the centre 500, -300 to -210.
    release = mean(mechanism)
    assert release.release(raw([-2550], [10]), Noiseless()).values == [24.5]


def test_the_mean_of_an_integer_column_is_a_float() -> None:
    value = mean(Laplace(), grid=Grid(Fraction(1), 0, 10)).release(raw([0], [3]), Noiseless()).values[0]
    assert isinstance(value, float)


def test_an_empty_group_gives_the_centre() -> None:
    for noise in (0, -7):
        released = mean(Laplace(), facts=CENTRED).release(raw([0, 900], [0, 0]), ConstantNoise(noise))
        assert list(released.values) == [20.0, 20.0]


@pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()])
def test_the_answer_and_its_interval_stay_inside_the_bounds(mechanism: Laplace | Gaussian) -> None:
    release, rng = mean(mechanism, price=Price(Fraction(1, 20), Fraction(1, 10**6))), np.random.default_rng(3)
    counts = rng.integers(0, 40, 500)
    released = release.release(raw(rng.integers(-500, 500, 500) * counts, counts), FixedSampler(5))
    assert all(0 <= value <= 100 for value in released.values)
    for (low, high), value in zip(release.intervals(released, 0.95), released.values, strict=True):
        assert low is not None
        assert high is not None
        assert 0 <= low <= value <= high <= 100 or value in (0, 100, 50)


def test_laplace_splits_epsilon_between_sum_and_count() -> None:
    release = mean(Laplace(), held=FEW_ROWS, keys=(CITY,))
    assert isinstance(release.loss, Composed)
    for_sum, for_count = release.loss.parts
    assert isinstance(for_sum, Pure)
    assert isinstance(for_count, Pure)
    assert for_sum.epsilon + for_count.epsilon == Fraction(1, 2)
    assert release.sum_law == LaplaceLaw(6000 / for_sum.epsilon)
    assert release.count_law == LaplaceLaw(12 / for_count.epsilon)


def test_gaussian_splits_rho_between_sum_and_count() -> None:
    release = mean(Gaussian(), held=FEW_ROWS, keys=(CITY,), price=BY_RHO)
    assert release.loss == Concentrated(Fraction(1, 8))
    assert isinstance(release.sum_law, GaussianLaw)
    assert isinstance(release.count_law, GaussianLaw)
    spent = Fraction(54 * 500**2) / (2 * release.sum_law.variance) + Fraction(54) / (2 * release.count_law.variance)
    assert spent == Fraction(1, 8)


def test_laplace_by_rho_splits_rho() -> None:
    loss = mean(Laplace(), price=BY_RHO).loss
    assert isinstance(loss, Composed)
    assert loss.account("zcdp").rho == 125 * 10**9


@pytest.mark.every(2)
@pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()])
@pytest.mark.parametrize("facts", [COST.facts, CENTRED])
def test_no_other_split_expects_a_much_smaller_error(mechanism: Laplace | Gaussian, facts: object) -> None:
    request = asking("avg", facts=facts, price=WITH_DELTA, rows_about=1000)  # type: ignore[arg-type]  # facts
    release = offered(mechanism.offer(request))
    assert isinstance(release, MeanRelease)
    assert release.count_law is not None
    spread = (release.sum_law.spread, release.count_law.spread)
    taken = release.query.share(1 if isinstance(mechanism, Gaussian) else 2 / 3)
    power = 0.5 if isinstance(mechanism, Gaussian) else 1.0

    def width(share: float) -> float:
        sums = Fraction(spread[0] * (float(taken) / share) ** power)
        counts = Fraction(spread[1] * (float(1 - taken) / (1 - share)) ** power)
        laws: tuple[Law, Law] = (LaplaceLaw(sums), LaplaceLaw(counts))
        if isinstance(mechanism, Gaussian):
            laws = (GaussianLaw(sums**2), GaussianLaw(counts**2))
        return replace(release, sum_law=laws[0], count_law=laws[1]).half_width

    assert release.half_width <= 1.03 * min(width(k / 40) for k in range(1, 40))


@pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()])
def test_a_mean_over_fixed_rows_without_nulls_pays_for_the_sum_alone(mechanism: Laplace | Gaussian) -> None:
    release = mean(mechanism, facts=REQUIRED, **CERTAIN)
    assert release.count_law is None
    assert release.query.sum_sensitivity.l1 == 1000
    assert [m.kind for m in measures(release.need)] == [MeasureKind.SUM, MeasureKind.ROWS]
    released = release.release(raw([50], [10]), ConstantNoise(3))
    assert released.values == [50.53]  # (500 + 53 / 10) steps of 0.1
    reach = release.sum_law.quantile(0.95)
    low, high = release.intervals(release.release(raw([0], [10**6]), Noiseless()), 0.95)[0]
    assert low == pytest.approx(50 - reach / 10**7, rel=1e-12)
    assert high == pytest.approx(50 + reach / 10**7, rel=1e-12)


@pytest.mark.parametrize("facts", [{}, {"facts": REQUIRED, **CERTAIN}])
@pytest.mark.parametrize("total", [-(10**9), 10**9])
def test_where_no_mean_within_the_bounds_fits_the_noise_the_interval_is_all_of_them(
    facts: dict[str, object], total: int
) -> None:
    release = mean(Laplace(), **facts)
    released = release.release(raw([total], [10]), Noiseless())
    assert released.values == [0.0 if total < 0 else 100.0]
    assert release.intervals(released, 0.95) == [(0.0, 100.0)]


def test_a_mean_of_nobody_over_fixed_rows_is_the_centre() -> None:
    release = mean(Laplace(), facts=REQUIRED, **CERTAIN)
    released = release.release(raw([0], [0]), ConstantNoise(3))
    assert released.values == [50.0]
    assert release.intervals(released, 0.95) == [(0.0, 100.0)]


@pytest.mark.parametrize("facts", [COST.facts, REQUIRED])
def test_nulls_make_the_number_of_values_private_even_over_fixed_rows(facts: Facts) -> None:
    release = mean(Laplace(), facts=facts, **FIXED)  # also those that the policy does not expect: data may break it
    assert release.count_law is not None
    assert release.query.sum_sensitivity.l1 == 1000
    assert release.query.count_sensitivity is not None
    assert release.query.count_sensitivity.l1 == 1


def test_a_mean_rests_on_several_measurements() -> None:
    release = mean(Laplace())
    assert release.scale is None
    assert release.sensitivity is None
    assert list(release.release(raw([5], [9]), ConstantNoise(1)).columns) == ["value", "sum", "count"]


def test_the_expected_half_width_is_that_of_a_typical_group() -> None:
    release = mean(Laplace(), facts=CENTRED, rows_about=1000)
    released = release.release(raw([100 * 1000], [1000]), Noiseless())  # 10 above the centre: the declared spread
    low, high = release.intervals(released, 0.95)[0]
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == pytest.approx(release.half_width)


def law_of(name: str, spread: int) -> Law:
    return LaplaceLaw(Fraction(spread)) if name == "laplace" else GaussianLaw(Fraction(spread**2))


def pmf(name: str, spread: int) -> tuple[np.ndarray, np.ndarray]:
    k = np.arange(-20 * spread, 20 * spread + 1)
    weights = np.exp(-np.abs(k) / spread) if name == "laplace" else np.exp(-(k**2) / (2 * spread**2))
    return k, weights / weights.sum()


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize(("for_sum", "for_count"), [(5, 5), (20, 5), (60, 8), (1, 1), (1, 6), (6, 1)])
@pytest.mark.parametrize(("a", "n"), [(0, 300), (2, 200), (-30, 300), (1, 5000)])
def test_nominal_95_percent_covers_the_true_mean(name: str, for_sum: int, for_count: int, a: int, n: int) -> None:
    # Over the whole joint law, thinned to 20,000 equally likely pairs per margin grid.
    (x, p), (y, q) = pmf(name, for_sum), pmf(name, for_count)
    u = (np.arange(150) + 0.5) / 150
    x, y = x[np.searchsorted(p.cumsum(), u)], y[np.searchsorted(q.cumsum(), u)]
    sums, counts = (axis.ravel().astype(float) for axis in np.meshgrid(a * n + x, n + y))
    laws = law_of(name, for_sum), law_of(name, for_count)
    low, high = fieller(sums, np.maximum(counts, 1), *laws, low=-1000, high=1000, miss=0.05)
    covered = float(np.mean((low <= a + 1e-9) & (a - 1e-9 <= high)))
    assert covered >= 0.93
    if min(for_sum, for_count) >= 5:
        assert covered <= 0.98


def test_fieller_for_gaussians_is_the_root_of_its_quadratic() -> None:
    laws = GaussianLaw(Fraction(10**12)), GaussianLaw(Fraction(10**4))
    low, high = fieller(np.array([3e8]), np.array([1e5]), *laws, low=-1e6, high=1e6, miss=0.05)
    z = 1.959963984540054
    a, b, c = 1e10 - z**2 * 1e4, -2 * 3e8 * 1e5, 9e16 - z**2 * 1e12
    roots = sorted(np.roots([a, b, c]).real)
    assert low[0] == pytest.approx(roots[0], abs=0.02)  # the half steps for discreteness: 1501 in 1e5
    assert high[0] == pytest.approx(roots[1], abs=0.02)


def test_grid_bounds_are_kept_exactly() -> None:
    released = mean(Laplace()).release(raw([10**6, -(10**6)], [10, 10]), Noiseless())
    assert list(released.values) == [float(GRID.high * GRID.step), float(GRID.low * GRID.step)]
