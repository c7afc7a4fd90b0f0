"""The Gaussian threshold: its (epsilon, delta) and its rho by enumeration, and where it is the one to take."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.gaussian import vector_loss
from dpsql.mechanisms.gaussian_threshold import GaussianThreshold
from dpsql.mechanisms.noise.laws import GaussianLaw
from dpsql.mechanisms.noise.thresholds import ThresholdRelease, threshold_delta, threshold_for
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.privacy.conversions import delta_left, epsilon_of_rho, rho_of_epsilon
from dpsql.privacy.kinds import Concentrated
from dpsql.privacy.tables import ReleasedTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import BY_RHO, FEW_ROWS, HALF, OPEN, WITH_DELTA, ConstantNoise, asking, raw, selecting

Law = npt.NDArray[np.float64]
MILLIONTH = Fraction(1, 10**6)
RELATIONS = ("add_remove", "replace_one")


def touching(groups: int) -> Contribution:
    """One unit, in so many groups."""
    return Contribution(rows=groups, groups=groups, rows_in_group=1)


def threshold(function: str = "count_units", **facts: object) -> ThresholdRelease:
    release = GaussianThreshold().offer(selecting(function, **facts))
    assert isinstance(release, ThresholdRelease), release
    return release


def why(function: str = "count_units", **facts: object) -> str:
    answer = GaussianThreshold().offer(selecting(function, **facts))
    assert isinstance(answer, Refusal)
    return answer.reason


def loss_of(release: ThresholdRelease) -> Concentrated:
    assert isinstance(release.loss, Concentrated)
    return release.loss


# ---------------------------------------------------------------- the theorems, by enumeration


@lru_cache
def shown(count: int, variance: float, above: int) -> Law:
    """Probabilities of: silence, then each value above the threshold, up to where next to nothing is left."""
    if count == 0:
        return np.array([1.0])
    reach = math.ceil(9 * math.sqrt(variance)) + 2
    noise = np.arange(-reach - above - count, reach + above + count + 1)
    law = np.exp(-(noise**2) / (2 * variance))
    law /= law.sum()
    values = noise + count
    seen = law[(values > above) & (values <= above + reach)]
    return np.array([1 - seen.sum(), *seen])


def joint(counts: tuple[int, ...], variance: float, above: int, silent: frozenset[int] = frozenset()) -> Law:
    """All groups together, on one grid of outcomes; conditioned on the silence of some."""
    law, longest = np.ones(()), math.ceil(9 * math.sqrt(variance)) + 3
    for index, count in enumerate(counts):
        own = np.array([1.0]) if index in silent else shown(count, variance, above)
        law = np.multiply.outer(law, np.pad(own, (0, longest - len(own))))
    return law


def neighbours(groups: int, swap: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of histograms of that many groups, all of which one unit may touch: the others number 0, 1 or 4."""
    ways = list(itertools.product((0, 1), repeat=groups))
    for others in itertools.combinations_with_replacement((0, 1, 4), groups):
        for here in ways:
            for there in ways if swap else [(0,) * groups]:
                yield (
                    tuple(a + b for a, b in zip(others, here, strict=True)),
                    tuple(a + b for a, b in zip(others, there, strict=True)),
                )


def lost(one: Law, two: Law, epsilon: float) -> float:
    gap = one - math.exp(epsilon) * two
    return float(gap[gap > 0].sum())


SMALL = [(1.0, 0.05), (0.5, 0.2), (2.0, 0.01)]


@pytest.mark.parametrize("neighbour", RELATIONS)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("epsilon", "delta"), SMALL)
def test_no_pair_of_neighbours_loses_more_than_epsilon_and_delta(
    epsilon: float, delta: float, groups: int, neighbour: str
) -> None:
    price = Price(Fraction(epsilon), Fraction(delta))
    release = threshold(held=touching(groups), price=price, neighbours=neighbour)
    assert isinstance(release.law, GaussianLaw)
    variance, claimed = float(release.law.variance), loss_of(release).delta
    assert claimed is not None
    assert claimed <= price.delta
    for pair in neighbours(groups, neighbour == "replace_one"):
        one, two = (joint(counts, variance, release.threshold) for counts in pair)
        assert lost(one, two, epsilon) <= float(claimed) * (1 + 1e-9)
        assert lost(two, one, epsilon) <= float(claimed) * (1 + 1e-9)


@pytest.mark.parametrize("neighbour", RELATIONS)
@pytest.mark.parametrize("groups", [1, 2])
def test_outside_of_its_event_no_pair_of_neighbours_loses_more_than_rho(groups: int, neighbour: str) -> None:
    price = Price(None, Fraction(1, 20), rho=Fraction(1, 8))
    release = threshold(held=touching(groups), price=price, neighbours=neighbour)
    assert isinstance(release.law, GaussianLaw)
    variance, loss = float(release.law.variance), loss_of(release)
    assert loss.rho == price.rho
    assert loss.outside is not None
    for one, two in neighbours(groups, neighbour == "replace_one"):
        silent = frozenset(at for at, (a, b) in enumerate(zip(one, two, strict=True)) if (a == 0) != (b == 0))
        for own, other in ((one, two), (two, one)):
            kept = math.prod(shown(own[at], variance, release.threshold)[0] for at in silent)
            assert 1 - kept <= float(loss.outside) * (1 + 1e-9)
            p, q = (joint(counts, variance, release.threshold, silent) for counts in (own, other))
            both = (p > 0) & (q > 0)
            for order in (1.5, 2.0, 6.0):
                divergence = math.log((p[both] ** order * q[both] ** (1 - order)).sum()) / (order - 1)
                assert divergence <= order * float(loss.rho) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_its_delta_is_used_up_by_a_unit_alone_in_its_groups(groups: int) -> None:
    delta = Fraction(1, 100)
    release = threshold(held=touching(groups), price=Price(Fraction(1), delta))
    assert isinstance(release.law, GaussianLaw)
    variance = float(release.law.variance)
    alone, nobody = (joint((n,) * groups, variance, release.threshold) for n in (1, 0))
    outside = loss_of(release).outside
    assert lost(alone, nobody, 1.0) == pytest.approx(outside, rel=1e-6)
    lower = release.threshold - 1
    assert lost(joint((1,) * groups, variance, lower), joint((0,) * groups, variance, lower), 1.0) > delta


# ------------------------------------------------------------------------------ the price


@pytest.mark.parametrize("neighbour", RELATIONS)
def test_noise_and_threshold_share_one_delta_that_is_not_split(neighbour: str) -> None:
    release = threshold(held=touching(40), neighbours=neighbour)
    loss, units = loss_of(release), 1 if neighbour == "add_remove" else 2
    alone = vector_loss(WITH_DELTA)
    assert alone is not None
    assert (loss.rho, loss.epsilon, loss.delta) == (alone.rho, alone.epsilon, alone.delta)
    assert release.law == GaussianLaw(Fraction(40 * units) / (2 * alone.rho))
    assert loss.outside == threshold_delta(release.law, 40, release.threshold)
    left = delta_left(Fraction(1, 2), MILLIONTH, alone.rho / units)
    assert loss.outside <= MILLIONTH * (1 - left) < MILLIONTH
    assert release.threshold == threshold_for(release.law, 40, MILLIONTH * (1 - left))
    assert left < Fraction(1, 100)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10)])
@pytest.mark.parametrize("part", [Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
def test_what_is_left_of_delta_is_enough(epsilon: Fraction, delta: Fraction, part: Fraction) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    left = delta * delta_left(epsilon, delta, rho * (1 - part))
    assert left <= delta * (1 + Fraction(1, 10**30))
    if part:
        assert epsilon_of_rho(rho * part, left) <= epsilon * (1 + Fraction(1, 10**9))


def test_the_account_is_epsilon_and_delta_or_rho_and_what_is_outside() -> None:
    loss = loss_of(threshold(held=touching(40)))
    account = loss.account("zcdp")
    assert loss.outside is not None
    assert account.delta == 10**12
    assert account.outside == math.ceil(loss.outside * 10**18) < account.delta


def test_a_price_in_rho_keeps_its_rho_and_its_delta_for_the_threshold() -> None:
    loss = loss_of(threshold(held=FEW_ROWS, price=Price(None, MILLIONTH, rho=Fraction(1, 8))))
    assert (loss.rho, loss.epsilon, loss.delta) == (Fraction(1, 8), None, None)
    assert loss.outside is not None
    assert loss.outside <= MILLIONTH


# ------------------------------------------------------------------------------ the offer


def test_a_group_appears_only_strictly_above_the_threshold() -> None:
    release = threshold()
    t = release.threshold
    released = release.release(raw([t - 3, t - 2, t - 1, t]), ConstantNoise(2))
    assert list(release.selected(released)) == [2, 3]
    assert list(released.values) == [None, None, t + 1, t + 2]
    assert release.release(raw([1]), Noiseless()).values == [None]


def test_a_floor_on_units_is_tested_on_the_noised_count() -> None:
    release = threshold(units_at_least=500)
    assert list(release.selected(release.release(raw([499, 500, 490, 510]), Noiseless()))) == [1, 3]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"selects": False}, "every group is listed"),
        ({"price": HALF}, "add delta"),
        ({"price": BY_RHO}, "add delta"),
        ({"options": Options(group_selection_strategy="LAPLACE_THRESHOLD")}, "LAPLACE_THRESHOLD"),
        ({"price": Price(Fraction(1, 10**60), Fraction(1, 10**90))}, "too small"),
    ],
)
def test_what_it_does_not_answer_is_refused(facts: dict[str, object], reason: str) -> None:
    assert reason in why(**facts)  # type: ignore[arg-type]  # passed on to asking


def test_other_aggregates_select_nothing() -> None:
    assert "another number" in why("count_rows", held=FEW_ROWS)
    assert "counts distinct units" in why("sum")


@pytest.mark.parametrize(("groups", "taken"), [(1, "threshold"), (3, "threshold"), (8, "gaussian_threshold")])
def test_it_is_taken_where_a_unit_is_in_many_groups(groups: int, taken: str) -> None:
    request = asking(
        "count_units", keys=(OPEN,), selects=True, held=touching(groups), price=Price(Fraction(1), MILLIONTH)
    )
    assert choose(request, (Threshold(), GaussianThreshold())).release.mechanism == taken


@pytest.mark.parametrize("beyond", [-60, -20, -5, -1, 0, 1, 3, 10, 40])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_an_interval_holds_the_number_of_a_group_given_that_it_appears(beyond: int, confidence: float) -> None:
    # Without chance: the law of the noise is summed over all that appear. The group counts threshold + beyond units.
    release = threshold(held=touching(9))
    assert isinstance(release.law, GaussianLaw)
    units = max(1, release.threshold + beyond)
    seen = np.arange(release.threshold + 1, release.threshold + 4000)
    exponents = -((seen - units) ** 2.0) / (2 * float(release.law.variance))
    chances = np.exp(exponents - exponents.max())
    ends = release.intervals(ReleasedTable({"value": seen.tolist(), "steps": seen.tolist()}), confidence)
    held = [low <= units <= high for low, high in ends if low is not None and high is not None]
    assert (chances * held).sum() / chances.sum() >= confidence
