"""Privacy loss as measured on neighbouring tables against the loss that is charged, and the width of error bars.

One neighbour pair is released many times; for the events that tell most, the Clopper-Pearson bounds of both chances
give a lower bound on the true loss. It must never exceed the claim: but for `P_THRESHOLD`, whatever the law. Noise of
half the size must be caught: shown on draws that are the same in every run, as are those of the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import betainccinv, betaincinv

from dpsql.mechanisms.base import Offer, Price, Refusal, Request
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanRelease
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE
from tests.turns import every_third
from tests.unit.mechanisms.asking import OPEN, asking

SIZES = [SAMPLE_SIZE, pytest.param(10 * SAMPLE_SIZE, marks=pytest.mark.slow)]
EVENTS = 24
"""Half lines looked at on each side; each bound is taken at P_THRESHOLD / (4 EVENTS), so that all hold at once: a bound
for a half line is one for its complement, too."""

PRICE = Price(Fraction(1), Fraction(1, 10**3))
SMALL = Grid(Fraction(1), 0, 10)


@dataclass(frozen=True)
class Pair:
    """A request, and one group's raw numbers in two neighbouring tables that differ as far as the request allows."""

    request: Request
    one: tuple[int, ...]
    two: tuple[int, ...]


ROWS = Contribution(rows=3, groups=1, rows_in_group=3)
PAIRS = {
    "count": Pair(asking("count_rows", held=ROWS, price=PRICE), (10,), (7,)),
    "units": Pair(asking("count_units", held=ROWS, price=PRICE), (10,), (9,)),
    "sum": Pair(asking("sum", held=ROWS, price=PRICE, grid=SMALL), (50,), (20,)),
    "swapped sum": Pair(
        asking("sum", price=PRICE, grid=Grid(Fraction(1), -5, 5), neighbours="replace_one"), (5,), (-5,)
    ),
    "sum of fixed rows": Pair(
        asking("sum", price=PRICE, grid=SMALL, neighbours="replace_one", rows_public=True), (40,), (30,)
    ),
    "mean": Pair(asking("avg", held=ROWS, price=PRICE, grid=SMALL), (0, 20), (15, 23)),
    "mean of fixed rows": Pair(
        asking("avg", price=PRICE, grid=SMALL, certain=True, neighbours="replace_one", rows_public=True),
        (0, 30),
        (10, 30),
    ),
}
GROUP = Pair(asking("count_units", price=PRICE, keys=(OPEN,), selects=True, held=Contribution(1, 1, 1)), (1,), (0,))


def offer(mechanism: Laplace | Gaussian | Threshold, request: Request) -> Offer:
    release = mechanism.offer(request)
    assert not isinstance(release, Refusal)
    return release


def repeated(numbers: tuple[int, ...], size: int) -> RawTable:
    """The same group, so many times: one release is as many independent draws."""
    return RawTable({f"m{i}": [number] * size for i, number in enumerate(numbers)})


def draws(
    release: Offer, numbers: tuple[int, ...], size: int, sampler: Sampler | None = None
) -> npt.NDArray[np.float64]:
    """(size,) what tells most of the released columns, as one number; -inf where nothing appeared."""
    columns = release.release(repeated(numbers, size), sampler or ExactSampler()).columns
    if "steps" in columns:
        return np.array([-math.inf if k is None else k for k in columns["steps"]], dtype=float)
    assert isinstance(release, MeanRelease)
    per_count = 0 if release.count_law is None else weight(release)
    told = [total + per_count * count for total, count in zip(columns["sum"], columns["count"], strict=True)]
    return np.array(told, dtype=float)


def weight(release: MeanRelease) -> float:
    """How much one count tells beside one step of the sum."""
    match release.sum_law, release.count_law:
        case LaplaceLaw(scale=first), LaplaceLaw(scale=second):
            return float(first / second)
        case GaussianLaw(variance=first), GaussianLaw(variance=second):
            # The likelihood ratio's direction: sum / Var(sum) * 15 + count / Var(count) * 3.
            return float(first / second) * 3 / 15
        case _:
            raise AssertionError("two laws of one kind")


def lower(hits: int, size: int) -> float:
    """A chance that the true one is below with probability at most P_THRESHOLD / (4 EVENTS)."""
    return float(betaincinv(hits, size - hits + 1, P_THRESHOLD / (4 * EVENTS))) if hits else 0.0


def upper(hits: int, size: int) -> float:
    return float(betainccinv(hits + 1, size - hits, P_THRESHOLD / (4 * EVENTS))) if hits < size else 1.0


def measured(one: npt.NDArray[np.float64], two: npt.NDArray[np.float64], delta: float) -> float:
    """A lower bound on the epsilon of an (epsilon, delta)-DP release that gives these draws on neighbours.

    The first tenth of the draws says where to cut, the others are counted: cuts must not depend on what they divide.
    """
    first = len(one) // 10
    seen = np.concatenate([one[:first], two[:first]])
    one, two = one[first:], two[first:]
    size = len(one)
    cuts = np.quantile(seen, np.linspace(0, 1, EVENTS + 2)[1:-1], method="higher")
    best = -math.inf
    for cut in cuts:
        for event in (one >= cut, two >= cut), (one < cut, two < cut):
            a, b = (int(side.sum()) for side in event)
            for more, less in ((a, b), (b, a)):
                gain = lower(more, size) - delta
                if gain > 0:
                    best = max(best, math.log(gain / upper(less, size)))
    return best


def halved(release: Offer) -> Offer:
    """The same offer with half the noise: the bug that the audit must see."""

    def half(law: Any) -> Any:
        return LaplaceLaw(law.scale / 2) if isinstance(law, LaplaceLaw) else GaussianLaw(law.variance / 4)

    match release:
        case NoisedRelease():
            return replace(release, law=half(release.law))
        case MeanRelease():
            count = release.count_law and half(release.count_law)
            return replace(release, sum_law=half(release.sum_law), count_law=count)
        case _:
            raise AssertionError("an offer of these mechanisms")


CASES = [(kind, name) for kind in ("laplace", "gaussian") for name in PAIRS]
MAKE: dict[str, Callable[[], Laplace | Gaussian]] = {"laplace": Laplace, "gaussian": Gaussian}


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "name"), every_third(CASES))
def test_the_measured_loss_never_exceeds_the_claim(kind: str, name: str, size: int) -> None:
    pair = PAIRS[name]
    release = offer(MAKE[kind](), pair.request)
    delta = float(release.loss.priced().delta) * 1e-18
    assert measured(draws(release, pair.one, size), draws(release, pair.two, size), delta) <= 1.0


@pytest.mark.parametrize(("name",), every_third([(name,) for name in PAIRS]))
def test_half_the_noise_is_caught(name: str) -> None:
    pair = PAIRS[name]
    release, sampler = halved(offer(Laplace(), pair.request)), FixedSampler(name)
    one, two = (draws(release, side, SAMPLE_SIZE, sampler) for side in (pair.one, pair.two))
    assert measured(one, two, 0) > 1.0


@pytest.mark.parametrize(("name",), every_third([(name,) for name in PAIRS]))
def test_half_the_gaussian_noise_is_caught(name: str) -> None:
    pair = PAIRS[name]
    request = replace(pair.request, price=Price(Fraction(1), Fraction(1, 3)))
    release, sampler = halved(offer(Gaussian(), request)), FixedSampler(name)
    delta = float(release.loss.priced().delta) * 1e-18
    one, two = (draws(release, side, SAMPLE_SIZE, sampler) for side in (pair.one, pair.two))
    assert measured(one, two, delta) > 1.0


@pytest.mark.chance(P_THRESHOLD, "the bound on the chance to appear is above it")
@pytest.mark.chance(math.exp(-0.0003 * SAMPLE_SIZE), "nothing appears: each may with delta / e or more, 0.00036")
@pytest.mark.parametrize("size", SIZES)
def test_a_group_of_one_unit_appears_no_more_often_than_delta(size: int) -> None:
    release = offer(Threshold(), GROUP.request)
    appeared = int(np.isfinite(draws(release, GROUP.one, size)).sum())
    assert appeared > 0
    assert lower(appeared, size) <= float(release.loss.priced().delta) * 1e-18


def test_a_threshold_that_is_one_too_low_is_caught() -> None:
    # At a delta of 1/20, so that one step tells for certain in so many draws.
    release = offer(Threshold(), replace(GROUP.request, price=Price(Fraction(1), Fraction(1, 20))))
    assert isinstance(release, ThresholdRelease)
    low = replace(release, threshold=release.threshold - 1)
    appeared = int(np.isfinite(draws(low, GROUP.one, SAMPLE_SIZE, FixedSampler("low"))).sum())
    assert lower(appeared, SAMPLE_SIZE) > float(release.loss.priced().delta) * 1e-18


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss; the bug is shown on fixed draws")
def test_a_shared_group_loses_no_more_than_epsilon() -> None:
    release = offer(Threshold(), GROUP.request)
    near = release.threshold if isinstance(release, ThresholdRelease) else 0
    one, two = (draws(release, (n,), SAMPLE_SIZE) for n in (near, near + 1))
    delta = float(release.loss.priced().delta) * 1e-18
    assert measured(one, two, delta) <= 1.0
    bug, sampler = halved(release), FixedSampler("shared")
    one, two = (draws(bug, (n,), SAMPLE_SIZE, sampler) for n in (near, near + 1))
    assert measured(one, two, delta) > 1.0


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_nominal_95_percent_covers_the_noise_free_answer(kind: str, name: str) -> None:
    # A price that gives noise of 5 steps and more, on groups large enough that no bound is near.
    request = replace(PAIRS[name].request, price=Price(Fraction(1, 10), Fraction(1, 10**6)))
    release = offer(MAKE[kind](), request)
    size = SAMPLE_SIZE // 5
    numbers = (2500, 5000) if request.aggregate.function == "avg" else (5000,)
    table = repeated(numbers, size)
    truth = 5.5 if request.aggregate.function == "avg" else 5000
    bars = release.intervals(release.release(table, FixedSampler(f"{kind} {name}")), 0.95)
    covered = sum(low is not None and high is not None and low <= truth <= high for low, high in bars)
    assert 0.93 <= covered / size <= 0.98
