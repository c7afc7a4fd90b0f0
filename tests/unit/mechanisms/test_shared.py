"""What several statistics read alike is bought and drawn once: the numbers, their shares, and what each is made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.base import Joint, Price, Request
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.mechanisms.noise.sensitivity import sensitivity_of
from dpsql.mechanisms.shared import SharedRelease
from dpsql.plan.functions import overloads
from dpsql.plan.functions.table import Function
from dpsql.plan.needs import MeasureKind
from dpsql.plan.nodes import Apply, Case, Constant
from dpsql.plan.types import Facts, Grid, Type
from dpsql.privacy.kinds import Concentrated
from dpsql.privacy.loss import Composed
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, FEW_ROWS, HALF, WITH_DELTA, asking, offered, raw

BOTH = pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
PAIRS = ("corr", "covar_pop", "covar_samp", "regr_slope")
GRID = Grid(Fraction(1), -30, 100)
TRUTH = Facts(Type.BOOLEAN, nullable=False)


class Counting(Noiseless):
    """A sampler without noise that counts what is drawn."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) zeros."""
        self.sizes.append(size)
        return super().laplace(scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) zeros."""
        self.sizes.append(size)
        return super().gaussian(variance, size)


def swapped(request: Request) -> Request:
    """The same statistic of x and y for y and x."""
    own = request.aggregate
    assert own.second is not None
    other = replace(own, argument=own.second, second=own.argument)
    return replace(request, aggregate=other, grid=request.second_grid, second_grid=request.grid)


def requests(functions: Sequence[str], **settings: Any) -> list[Request]:
    """Of cost, or of cost and weight where both are there, as statements have them."""
    given: dict[str, Any] = {"price": HALF, "held": FEW_ROWS, "keys": (CITY,), "grid": GRID} | settings
    return [paired(replace(asking(name, **given), grid=GRID)) for name in functions]


def paired(request: Request) -> Request:
    """The same request, of the rows where neither of two arguments is NULL."""
    first, second = request.aggregate.argument, request.aggregate.second
    if first is None or second is None:
        return request
    there = [Apply(one("not"), (Apply(one("is_null"), (own,), TRUTH),), TRUTH) for own in (first, second)]
    both = Apply(one("and"), tuple(there), TRUTH)
    first, second = (Case(((both, own),), Constant(None, own.facts), own.facts) for own in (first, second))
    return replace(request, aggregate=replace(request.aggregate, argument=first, second=second))


def one(name: str) -> Function:
    """A function of the allow-list; the first of its name."""
    return overloads(name)[0]


def whole(mechanism: Laplace | Gaussian, asked: Sequence[Request]) -> tuple[Joint, SharedRelease]:
    """The offer for all of them."""
    (joint,) = [one for one in mechanism.together(asked) if len(one.members) == len(asked)][:1]
    release = joint.offers[0]
    assert isinstance(release, SharedRelease)
    return joint, release


@BOTH
def test_a_correlation_covariances_and_both_slopes_draw_six_numbers_once(mechanism: Laplace | Gaussian) -> None:
    asked = requests(PAIRS, price=WITH_DELTA)
    _, release = whole(mechanism, [*asked, swapped(asked[3]), swapped(asked[1])])
    assert sorted(release.names) == ["n", "x", "xx", "xy", "y", "yy"]
    assert len(set(release.need.measures)) == len(release.need.measures) == len(release.laws) == 6
    sampler = Counting()
    release.release(raw([20, 4], [10, 3], [5, 1], [60, 9], [70, 9], [15, 2]), sampler)
    assert sampler.sizes == [2] * 6  # one for each number of each of two groups


@pytest.mark.parametrize(
    "functions", [PAIRS, ("corr", "regr_slope"), ("var_pop", "avg", "sum", "count", "stddev_samp")]
)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_laplace_draws_what_it_charges_and_charges_what_all_would_pay(
    functions: tuple[str, ...], neighbours: str
) -> None:
    joint, release = whole(Laplace(), requests(functions, neighbours=neighbours))
    assert isinstance(joint.loss, Composed)
    assert joint.loss.account("basic").epsilon == len(functions) * 5 * 10**11
    spent = Fraction(0)
    for law, moved in zip(release.laws, moved_by(requests(functions, neighbours=neighbours)), strict=True):
        assert isinstance(law, LaplaceLaw)
        spent += moved.l1 / law.scale
    assert spent == Fraction(len(functions), 2)


@pytest.mark.parametrize(
    "functions", [PAIRS, ("corr", "regr_slope"), ("var_pop", "avg", "sum", "count", "stddev_samp")]
)
def test_gaussian_draws_what_it_charges_and_charges_what_all_would_pay(functions: tuple[str, ...]) -> None:
    joint, release = whole(Gaussian(), requests(functions, price=BY_RHO))
    assert joint.loss == Concentrated(Fraction(len(functions), 8))
    spent = Fraction(0)
    for law, moved in zip(release.laws, moved_by(requests(functions)), strict=True):
        assert isinstance(law, GaussianLaw)
        spent += Fraction(moved.l2_squared) / (2 * law.variance)
    assert spent == Fraction(len(functions), 8)


def moved_by(asked: Sequence[Request]) -> list[Any]:
    """How far a neighbour moves each number of their release, worked out anew from its measures."""
    return [sensitivity_of(asked[0], measure) for measure in whole(Laplace(), asked)[1].need.measures]


@BOTH
def test_every_statistic_errs_less_than_apart(mechanism: Laplace | Gaussian) -> None:
    asked = requests(("corr", "covar_pop", "regr_slope"), price=WITH_DELTA, rows_about=100_000)
    joint, release = whole(mechanism, asked)
    alone = [offered(mechanism.offer(request)) for request in asked]
    for offer, own in zip(joint.offers, alone, strict=True):
        assert offer.half_width < 0.75 * own.half_width
    for own, reads in zip(alone, release.reads, strict=True):
        for name, law in zip(reads, own.laws, strict=True):  # type: ignore[attr-defined]  # of moments
            shared = release.laws[release.names.index(name)]
            assert shared is not None
            assert shared.spread < law.spread, name


@BOTH
def test_without_noise_each_value_is_the_one_of_its_own_offer(mechanism: Laplace | Gaussian) -> None:
    asked = requests((*PAIRS, "regr_slope"), price=WITH_DELTA)
    asked[-1] = swapped(asked[-1])
    joint, release = whole(mechanism, asked)
    rng = np.random.default_rng(3)
    x, y = rng.integers(-20, 40, 500), rng.integers(-60, 60, 500)
    exact = {"n": 500, "x": x.sum(), "y": y.sum(), "xx": x @ x, "yy": y @ y, "xy": x @ y}
    released = release.release(raw(*[[int(exact[name])] for name in release.names]), Noiseless())
    for place, (request, offer) in enumerate(zip(asked, joint.offers, strict=True)):
        alone = offered(mechanism.offer(request))
        numbers = raw(*[[int(exact[name])] for name in release.reads[place]])
        assert released.place(place).values == alone.release(numbers, Noiseless()).values
        ((low, high),) = offer.intervals(released.place(place), 0.9)
        assert low is not None
        assert high is not None
        assert low <= released.place(place).values[0] <= high


def test_numbers_of_other_rows_bounds_or_prices_by_groups_are_not_shared() -> None:
    corr, covar = requests(("corr", "covar_pop"))
    wider = replace(covar, second_grid=replace(covar.second_grid, high=99))  # type: ignore[type-var]  # it has one
    elsewhere = replace(covar, source=replace(covar.source, keys=()))
    for other in (wider, elsewhere, replace(covar, selects=True)):
        assert list(Laplace().together([corr, other])) == []


def test_totals_beside_moments_read_the_same_sum_and_the_same_number() -> None:
    _, release = whole(Laplace(), requests(("avg", "var_pop", "count", "sum")))
    assert release.reads == (("x", "n"), ("n", "x", "xx"), ("n",), ("x", "n"))
    assert [measure.kind for measure in release.need.measures] == [
        MeasureKind.SUM,
        MeasureKind.VALUES,
        MeasureKind.PRODUCTS,
    ]


def test_a_price_too_small_for_any_number_makes_no_offer() -> None:
    asked = requests(("corr", "covar_pop"), price=Price(None, Fraction(0), rho=Fraction(1, 10**30)))
    assert list(Laplace().together(asked)) == []


@BOTH
def test_no_other_split_is_expected_to_leave_all_of_them_much_better(mechanism: Laplace | Gaussian) -> None:
    asked = requests(("covar_pop", "var_pop"), price=WITH_DELTA, rows_about=100_000)
    asked[1] = replace(asked[1], aggregate=replace(asked[1].aggregate, argument=asked[0].aggregate.argument))
    joint, release = whole(mechanism, asked)
    alone = [offered(mechanism.offer(request)) for request in asked]

    def error(release: SharedRelease) -> float:
        widths = [replace(release, at=at).parts[at].half_width for at in range(2)]
        return sum((width / own.half_width) ** 2 for width, own in zip(widths, alone, strict=True))

    taken = error(release)
    assert joint.offers[0].half_width == release.parts[0].half_width
    power = 1.0 if isinstance(mechanism, Laplace) else 0.5
    for one, other in itertools.permutations(range(len(release.laws)), 2):  # a fifth of one's share to another
        laws = list(release.laws)
        for at, by in ((one, 0.8), (other, 1.2)):
            law = laws[at]
            assert law is not None
            spread = Fraction(law.spread / by**power)
            laws[at] = LaplaceLaw(spread) if isinstance(mechanism, Laplace) else GaussianLaw(spread**2)
        named = dict(zip(release.names, laws, strict=True))
        parts = []
        for part, reads in zip(release.parts, release.reads, strict=True):
            assert isinstance(part, MomentsRelease)
            parts.append(replace(part, laws=tuple(named[name] for name in reads)))
        assert taken <= 1.2 * error(replace(release, parts=tuple(parts)))
