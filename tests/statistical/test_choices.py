"""Quantiles, modes and moments: draws against exact chances, measured loss against the claim, coverage of intervals.

Laws and losses are drawn anew in every run; coverage, and what must be convicted, is shown on fixed draws.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Offer, Price
from dpsql.mechanisms.choice.landscape import landscape
from dpsql.mechanisms.choice.mode import ModeRelease, PermuteAndFlip
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.exponential import Exponential
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.statistical.laws import fits, unnoticed
from tests.statistical.test_mechanisms import lower, measured, upper
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE
from tests.turns import every_third
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.asking import asking, offered

CHOICES = 1000
"""Draws of a choice, each of them its own call; those marked slow draw fifty times as many."""
SIZES = [CHOICES, pytest.param(50 * CHOICES, marks=pytest.mark.slow)]
AUDITED = SAMPLE_SIZE // 4
ONE = Price(Fraction(1), Fraction(0))
SMALL = Grid(Fraction(1), 0, 5)


def quantile(function: str, **settings: Any) -> QuantileRelease:
    release = offered(Exponential().offer(asking(function, **{"price": ONE, "grid": SMALL, **settings})))
    assert isinstance(release, QuantileRelease)
    return release


def draws(release: Offer, group: dict[Any, int], size: int, sampler: Sampler | None = None) -> list[Any]:
    """Values of so many groups that hold the same rows."""
    return list(release.release(alike(group, size), sampler or ExactSampler()).values)


def alike(group: dict[Any, int], size: int) -> RawTable:
    """So many groups that hold the same rows."""
    table: dict[str, Any] = {
        "group": np.repeat(np.arange(size), len(group)),
        "value": list(group) * size,
        "rows": list(group.values()) * size,
    }
    return RawTable(table, size)


def assert_law(seen: list[int], exact: list[float], wrong: list[float]) -> None:
    """Draws of 0, 1, ... have these chances, and would be told from the wrong ones: `P_THRESHOLD` each."""
    counts = np.bincount(seen, minlength=len(exact))
    assert unnoticed(wrong, exact, len(seen)) < P_THRESHOLD
    assert fits(counts, exact, len(seen))
    assert not fits(counts, wrong, len(seen))


LAW = pytest.mark.chance(2 * P_THRESHOLD, "the draws do not fit their exact law, or fit another one as well")


@LAW
@pytest.mark.parametrize("size", SIZES)
def test_quantiles_come_with_their_exact_chances(size: int) -> None:
    price = Price(Fraction(5), Fraction(0))
    release = quantile("quantile_cont", fraction=Fraction(2, 3), price=price, options=Options(interval="none"))
    (draw,), group = release.draws(None).values(), {1: 2, 3: 1, 4: 3}
    widths, scores = landscape(np.array(list(group)), np.array(list(group.values())), SMALL, draw.rank, draw.deepest)
    exact = [float(p) for p in chances.exponential(widths.tolist(), scores.tolist(), draw.exponent)]
    assert_law(draws(release, group, size), exact, exact[::-1])


@LAW
@pytest.mark.parametrize("price", [ONE, Price(None, Fraction(0), rho=Fraction(1, 8))])
@pytest.mark.parametrize("size", SIZES)
def test_modes_come_with_their_exact_chances(price: Price, size: int) -> None:
    release = offered(Exponential().offer(asking("mode", price=price)))
    assert isinstance(release, ModeRelease)
    group = {"no": 3, "some": 2}
    counts = [group.get(str(value), 0) for value in release.candidates]
    exponent = release.chooser.exponent
    if isinstance(release.chooser, PermuteAndFlip):
        exact = chances.permute_and_flip(counts, exponent)
    else:
        exact = chances.exponential([1] * 3, counts, exponent)
    seen = [release.candidates.index(value) for value in draws(release, group, size)]
    assert_law(seen, [float(p) for p in exact], [1 / 3] * 3)


PAIRS: dict[str, tuple[dict[int, int], dict[int, int]]] = {
    "median": ({0: 3}, {0: 3, 5: 2}),
    "min": ({4: 2}, {4: 2, 0: 2}),
    "max": ({2: 5}, {2: 5, 5: 2}),
}


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss; the bug is shown on fixed draws")
@pytest.mark.parametrize(
    ("name", "size"), [("max", CHOICES), *(pytest.param(name, 50 * CHOICES, marks=pytest.mark.slow) for name in PAIRS)]
)
def test_the_measured_loss_of_a_choice_never_exceeds_the_claim(name: str, size: int) -> None:
    function = {"median": "quantile_cont"}.get(name, name)
    release = quantile(function, held=Contribution(2, 1, 2))
    one, two = (np.array(draws(release, group, size), dtype=float) for group in PAIRS[name])
    assert measured(one, two, 0) <= 1.0
    rates, merged = (tuple(k * rate for rate in own) for k, own in ((16, release.rates), (8, release.merged)))
    bug = replace(release, rates=rates, merged=merged)
    sampler = FixedSampler(name)
    one, two = (np.array(draws(bug, group, CHOICES, sampler), dtype=float) for group in PAIRS[name])
    assert measured(one, two, 0) > 1.0


MOVED = {
    # One group's moments (n, x, xx) or (n, x, y, xy), and those with three rows more at a corner of the grids.
    "var_pop": ((20, 0, 30), (23, 15, 105)),
    "covar_pop": ((20, 0, 0, 0), (23, 15, 15, 75)),
}
LOUD = Price(Fraction(1), Fraction(1, 1000))
PAIRED = {"grid": Grid(Fraction(1), 0, 10), "second_grid": Grid(Fraction(1), -5, 5)}


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss; that it is near is shown on fixed draws")
@pytest.mark.parametrize(
    ("function", "mechanism"),
    [
        pytest.param("var_pop", Laplace(), id="var_pop-laplace"),
        pytest.param("covar_pop", Gaussian(), id="covar_pop-gaussian"),
        pytest.param("var_pop", Gaussian(), id="var_pop-gaussian", marks=pytest.mark.slow),
        pytest.param("covar_pop", Laplace(), id="covar_pop-laplace", marks=pytest.mark.slow),
    ],
)
def test_the_measured_loss_of_moments_never_exceeds_the_claim(function: str, mechanism: Laplace | Gaussian) -> None:
    request = asking(function, held=Contribution(3, 1, 3), price=LOUD, **PAIRED)  # type: ignore[arg-type]  # grids
    release = offered(mechanism.offer(request))
    assert isinstance(release, MomentsRelease)
    one, two = MOVED[function]
    delta = float(release.loss.priced().delta) * 1e-18
    drawn, again = (told(release, one, two, side, ExactSampler()) for side in (one, two))
    assert measured(drawn, again, delta) <= 1.0
    sampler = FixedSampler(function)
    drawn, again = (told(release, one, two, side, sampler) for side in (one, two))
    assert measured(drawn, again, delta) > 0.3
    bug = replace(release, laws=tuple(_louder(law) for law in release.laws))
    drawn, again = (told(bug, one, two, side, sampler) for side in (one, two))
    assert measured(drawn, again, delta) > 1.0


def _louder(law: Any) -> Any:
    return replace(law, scale=law.scale / 3) if hasattr(law, "scale") else replace(law, variance=law.variance / 9)


def told(
    release: MomentsRelease, one: tuple[int, ...], two: tuple[int, ...], which: tuple[int, ...], sampler: Sampler
) -> npt.NDArray[np.float64]:
    """What tells most: the log likelihood ratio of two tables, up to a constant, of draws from one of them."""
    columns = release.release(RawTable({f"m{i}": [k] * AUDITED for i, k in enumerate(which)}), sampler).columns
    ratio = np.zeros(AUDITED)
    for name, law, a, b in zip(release.query.statistic.moments, release.laws, one, two, strict=True):
        assert law is not None
        seen = np.array(columns[name], dtype=float)
        if hasattr(law, "scale"):
            ratio += (np.abs(seen - a) - np.abs(seen - b)) / law.spread
        else:
            ratio += ((seen - a) ** 2 - (seen - b) ** 2) / (2 * law.spread**2)
    return ratio


@pytest.mark.parametrize("rows", [pytest.param(30, marks=pytest.mark.slow), 20_000])
@pytest.mark.parametrize(
    ("function", "fraction"), [("quantile_cont", "1/2"), ("quantile_disc", "0.9"), ("min", "0"), ("max", "1")]
)
def test_nominal_95_percent_covers_the_quantile(function: str, fraction: str, rows: int) -> None:
    rng, size = np.random.default_rng(1), 100
    data = Counter(np.minimum(rng.lognormal(6, 1, rows) * 10, 20_000).astype(int).tolist())
    ordered = np.sort(list(data.elements()))
    tally = {value: data[value] for value in sorted(data)}
    release = quantile(function, grid=Grid(Fraction(1), 0, 20_000), fraction=Fraction(fraction), rows_about=rows)
    at = Fraction(fraction) * (rows - 1)
    truth = (float(ordered[math.floor(at)]) + float(ordered[math.ceil(at)])) / 2
    if function == "quantile_disc":
        truth = float(ordered[max(1, math.ceil(Fraction(fraction) * rows)) - 1])
    released = release.release(alike(tally, size), FixedSampler(function))
    bars = release.intervals(released, 0.95)
    covered = sum(low is not None and high is not None and low <= truth <= high for low, high in bars)
    assert covered >= 0.96 * size
    if rows == 20_000:  # and it says something: the answer errs less than it says, which is little
        widths = [high - low for low, high in bars if low is not None and high is not None]
        errors = [abs(value - truth) for value in released.values]
        assert float(np.median(widths)) < 20_000 / 3
        assert function in ("min", "max") or float(np.median(errors)) < float(np.median(widths)) / 4


@pytest.mark.parametrize(
    "mechanism", [Laplace(), pytest.param(Gaussian(), marks=pytest.mark.slow)], ids=["laplace", "gaussian"]
)
@pytest.mark.parametrize(("function",), every_third([(name,) for name in STATISTICS]))
@pytest.mark.parametrize("rows", [pytest.param(200, marks=pytest.mark.slow), 20_000])
def test_nominal_95_percent_covers_the_statistic(mechanism: Laplace | Gaussian, function: str, rows: int) -> None:
    rng, size = np.random.default_rng(2), 3000
    price = Price(Fraction(1), Fraction(1, 10**6))
    release = offered(mechanism.offer(asking(function, price=price, rows_about=rows)))
    assert isinstance(release, MomentsRelease)
    x = rng.integers(-20, 60, rows)
    y = (4 * (x + 20) + rng.integers(0, 400, rows)).clip(0, 1000)
    if "y" not in release.query.grids:
        x = y
    shifted: dict[str, Any] = {"n": np.ones(rows, dtype=int), "x": x - release.need.measures[1].shift}
    if "y" in release.query.grids:
        shifted["y"] = y - release.need.measures[2].shift
    one = np.ones(rows, dtype=int)
    m = {name: int(math.prod((shifted[p] for p in name), start=one).sum()) for name in release.query.statistic.moments}
    truth = release.query.statistic.value(m, release.query.widths) * release.query.unit
    table = RawTable({f"m{i}": [k] * size for i, k in enumerate(m.values())})
    bars = release.intervals(release.release(table, FixedSampler(function)), 0.95)
    covered = sum(low is not None and high is not None and low <= truth <= high for low, high in bars)
    assert upper(covered, size) >= 0.94
    assert lower(covered, size) <= 0.98 or rows == 200  # few rows: a bound or a variance of 0 may be near
    assert covered >= 0.93 * size
    if rows == 20_000:
        low, high = release.query.statistic.bounds(release.query.widths)
        widths = [b - a for a, b in bars if a is not None and b is not None]
        assert float(np.median(widths)) < (high - low) * release.query.unit / 2
