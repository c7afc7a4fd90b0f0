"""Measured loss of facts: a unit in several histograms, and alone with a value, loses no more than is charged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.audit.measured import ALONE, loss_between
from dpsql.mechanisms.advice import Advice, advice, as_raw
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.kinds import Approximate, Concentrated
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.statistical.thresholds import P_THRESHOLD

SIZE = 20_000
LAPLACE, GAUSSIAN = Fraction(1, 10**8), Fraction(1, 100)  # deltas at which the one and the other law is taken
WITH = [3, 5, 8]  # counts of three histograms that the unit is in; without it each is one less
Floats = npt.NDArray[np.float64]


def facts(listed: int, delta: Fraction) -> Advice:
    found = advice(listed, 1, 100, Price(Fraction(1), delta), swaps=False, classes={})
    assert found is not None
    assert isinstance(found.law, LaplaceLaw if delta == LAPLACE else GaussianLaw)
    return found


def ratios(noise: Advice, there: bool, sampler: Sampler) -> Floats:
    """(SIZE,) log-likelihood ratios, with the unit to without, of draws on the one or the other table."""
    counts = [count - (not there) for count in WITH]
    drawn = np.array(noise.counts(as_raw(counts * SIZE), sampler), dtype=float).reshape(SIZE, len(WITH))
    away = drawn - np.array(WITH, dtype=float)
    match noise.law:
        case LaplaceLaw(scale=scale):
            found = ((np.abs(away + 1) - np.abs(away)) / float(scale)).sum(axis=1)
        case GaussianLaw(variance=variance):
            found = (((away + 1) ** 2 - away**2) / (2 * float(variance))).sum(axis=1)
        case _:
            raise AssertionError(noise.law)
    if there:
        values = RawTable({"value": list(range(SIZE)), "count": [1] * SIZE})
        found[[value for value, _ in noise.values(values, sampler)]] = ALONE  # the unit's own value is shown
    return np.asarray(found)


def measured(noise: Advice, sampler: Sampler) -> float:
    assert isinstance(noise.loss, Approximate | Concentrated)
    assert noise.loss.delta is not None
    first, second = ratios(noise, True, sampler), ratios(noise, False, sampler)
    return loss_between(first, second, 1.0, float(noise.loss.delta))


@pytest.mark.parametrize("delta", [LAPLACE, GAUSSIAN])
@pytest.mark.chance(P_THRESHOLD, "the loss measured is above the charge: Clopper-Pearson, all events together")
def test_facts_lose_no_more_than_is_charged(delta: Fraction) -> None:
    assert measured(facts(len(WITH), delta), ExactSampler()) <= 1


def test_a_histogram_that_is_not_counted_is_convicted() -> None:
    assert measured(facts(1, LAPLACE), FixedSampler("facts")) > 1.2


def test_most_of_what_is_charged_is_lost() -> None:
    assert measured(facts(len(WITH), LAPLACE), FixedSampler("facts")) > 0.5
