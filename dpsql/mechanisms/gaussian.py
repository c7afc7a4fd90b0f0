"""Discrete Gaussian noise on counts, sums, means and moments.

Neighbours: ``add_remove`` and ``replace_one``, by the L2 sensitivity under each (`sensitivity`). Loss: `Concentrated`.

Theorem. Let v be a vector of integers that a neighbour moves by at most s in L2. Then v + noise, with independent noise
P(k) ~ exp(-k^2 / (2 variance)) on each entry, is rho-zCDP with rho = s^2 / (2 variance). Entries with variances of
their own add up their rho.

A price (epsilon, delta) buys the largest rho whose exact delta at epsilon is within delta:

* where every move lies in one entry, by the sum over the discrete law (`laws.gaussian_delta`);
* for a vector by the bound proved for every rho-zCDP mechanism (`conversions.rho_of_epsilon`): a sum over all vectors
  that one unit can move has no short form.

Source: Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Prop. 5, Theorem 7 and Prop.
12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Price, Refusal, Request
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.laws import LEAST_DELTA, GaussianLaw, gaussian_delta
from dpsql.mechanisms.noise.mean import MeanRelease, mean_query
from dpsql.mechanisms.noise.moments import MomentsRelease, moments_query
from dpsql.mechanisms.noise.sensitivity import Sensitivity, measure_of, need_of, sensitivity_of, why_not
from dpsql.mechanisms.noise.values import noised_release
from dpsql.mechanisms.shared import PricedLaws, shared_offers
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.kinds import Concentrated

__all__ = ["Gaussian", "gaussian_delta", "gaussian_noise", "gaussian_variance", "gaussian_variance_of_rho"]

BITS = 24
"""Binary digits of a variance, which is rounded up to them: by 6e-8 of itself at most. It is a choice: so few let the
noise be drawn fast."""


def gaussian_variance_of_rho(sensitivity_squared: int, rho: Fraction) -> Fraction:
    """Variance of discrete Gaussian noise that makes one release rho-zCDP.

    Args:
        sensitivity_squared: Square of the L2 sensitivity, >= 1, in grid steps^2.
        rho: > 0.

    Returns:
        sensitivity_squared / (2 rho), exactly, in grid steps^2.

    Raises:
        ValueError: If either is not positive: zero noise would cost infinity.

    >>> gaussian_variance_of_rho(9, Fraction(1, 2))
    Fraction(9, 1)
    """
    if sensitivity_squared < 1 or rho <= 0:
        raise ValueError(f"sensitivity squared {sensitivity_squared} and rho {rho} must both be above 0")
    return Fraction(sensitivity_squared) / (2 * rho)


def gaussian_variance(shift: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least variance, of 24 binary digits, whose exact delta at epsilon is within delta.

    Args:
        shift: Largest move of the one released integer, >= 1, in grid steps.
        epsilon: > 0.
        delta: 1e-100 to 1, without 1.

    Returns:
        Variance in grid steps^2; `gaussian_delta` certifies it.

    Raises:
        ValueError: If an argument is outside its range.

    >>> variance = gaussian_variance(1, Fraction(1), Fraction(1, 10**6))
    >>> float(variance) < 18.1 and gaussian_delta(1, variance, Fraction(1)) <= 1e-6
    True
    """
    if shift < 1 or epsilon <= 0 or not LEAST_DELTA <= delta < 1:
        raise ValueError(f"no variance for shift {shift}, epsilon {epsilon}, delta {delta}; delta from 1e-100 to 1")

    def enough(variance: Fraction) -> bool:
        return Fraction(gaussian_delta(shift, variance, epsilon)) <= delta

    # 2 ln(1.25 / delta) / epsilon^2 is near enough to begin with (Dwork, Roth 2014, Theorem A.1): the rest is tried.
    begin = math.log2(shift) + math.log2(epsilon.denominator) - math.log2(epsilon.numerator)
    power = Fraction(2) ** round(2 * begin + math.log2(2 * math.log(1.25 / delta)))
    while not enough(power):
        power *= 2
    while enough(power / 2):
        power /= 2
    # Whatever the shape of delta between them, `high` has always been certified.
    low, high = 1 << (BITS - 1), 1 << BITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(power * middle / (1 << BITS)) else (middle, high)
    return power * high / (1 << BITS)


@dataclass(frozen=True, slots=True)
class Gaussian(Mechanism):
    """Exact integers plus discrete Gaussian noise; means and other statistics from several noised integers."""

    name: str = "gaussian"

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a count, sum, mean or statistic of moments, or why there is none."""
        if reason := why_not(request) or _unpriced(request.price):
            return Refusal(self.name, reason)
        if request.aggregate.function == "avg":
            return self._mean(request)
        if request.aggregate.function in STATISTICS:
            return self._moments(request)
        measure = measure_of(request)
        step = Fraction(1) if measure.grid is None else measure.grid.step
        moved = sensitivity_of(request, measure)
        noise = gaussian_noise(moved, request.price)
        if noise is None:
            return Refusal(self.name, TOO_SMALL)
        law, loss = noise
        return noised_release(
            request,
            mechanism=self.name,
            loss=loss,
            need=need_of(request, measure),
            law=law,
            step=step,
            sensitivity=math.sqrt(moved.l2_squared) * float(step),
        )

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for statistics of the same numbers."""
        return shared_offers(self.name, _priced_laws, 1, requests)

    def _mean(self, request: Request) -> Offer | Refusal:
        query = mean_query(request)
        share = query.share(exponent=1)  # variances go by sensitivity^2 / rho
        if query.count_sensitivity is None:
            noise = gaussian_noise(query.sum_sensitivity, request.price)
            return MeanRelease(self.name, noise[1], query, noise[0], None) if noise else Refusal(self.name, TOO_SMALL)
        loss = vector_loss(request.price)  # a row moves two entries, the sum and the count
        if loss is None:
            return Refusal(self.name, TOO_SMALL)
        return MeanRelease(
            mechanism=self.name,
            loss=loss,
            query=query,
            sum_law=GaussianLaw(gaussian_variance_of_rho(query.sum_sensitivity.l2_squared, loss.rho * share)),
            count_law=GaussianLaw(gaussian_variance_of_rho(query.count_sensitivity.l2_squared, loss.rho * (1 - share))),
        )

    def _moments(self, request: Request) -> Offer | Refusal:
        query, loss = moments_query(request), vector_loss(request.price)  # a row moves several entries
        if loss is None:
            return Refusal(self.name, TOO_SMALL)
        shares = iter(query.shares(exponent=1))
        laws = tuple(
            None if moved is None else GaussianLaw(gaussian_variance_of_rho(moved.l2_squared, loss.rho * next(shares)))
            for moved in query.sensitivities
        )
        return MomentsRelease(self.name, loss, query, laws)


def gaussian_noise(moved: Sensitivity, price: Price) -> tuple[GaussianLaw, Concentrated] | None:
    """The least noise within a price, and its loss; None where the price buys none."""
    if _unpriced(price):
        return None
    if moved.one_cell and price.rho is None:
        return _one_cell(moved.l1, price)
    loss = vector_loss(price)
    if loss is None:
        return None
    return GaussianLaw(gaussian_variance_of_rho(moved.l2_squared, loss.rho)), loss


@lru_cache(maxsize=1024)
def vector_loss(price: Price) -> Concentrated | None:
    """The largest zCDP loss of a vector within a price; None where the price is too small to buy any.

    >>> vector_loss(Price(epsilon=None, delta=Fraction(0), rho=Fraction(1, 8)))
    Concentrated(rho=Fraction(1, 8), epsilon=None, delta=None, outside=None)
    """
    if price.rho is not None:
        return Concentrated(price.rho)
    epsilon = _epsilon(price)
    rho = _rounded_down(rho_of_epsilon(epsilon, price.delta))
    return Concentrated(rho, epsilon, price.delta) if rho > 0 else None


@lru_cache(maxsize=1024)
def _one_cell(shift: int, price: Price) -> tuple[GaussianLaw, Concentrated]:
    """The least noise on one integer within (epsilon, delta), charged at the delta it really has."""
    epsilon = _epsilon(price)
    variance = gaussian_variance(shift, epsilon, price.delta)
    delta = Fraction(gaussian_delta(shift, variance, epsilon))
    return GaussianLaw(variance), Concentrated(Fraction(shift**2) / (2 * variance), epsilon, delta)


def _unpriced(price: Price) -> str | None:
    if price.rho is None and price.delta < LEAST_DELTA:
        return "it needs delta; add delta to the statement's options, such as delta = 1e-8, or price it by rho."
    return None


def _epsilon(price: Price) -> Fraction:
    if price.epsilon is None:
        raise InvariantBroken("a price names epsilon or rho")
    return price.epsilon


def _rounded_down(x: Fraction) -> Fraction:
    """The largest number of 24 binary digits that is not above x >= 0.

    >>> _rounded_down(Fraction(1, 3)) <= Fraction(1, 3)
    True
    """
    if x <= 0:
        return Fraction(0)
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - BITS)
    return x // unit * unit


TOO_SMALL = "this epsilon and delta are too small to buy any Gaussian noise; ask for more, or use laplace."


def _priced_laws(price: Price, moved: Sequence[Sensitivity], shares: Sequence[Fraction]) -> PricedLaws | None:
    loss = None if price.rho is None and price.delta == 0 else vector_loss(price)  # a row moves several entries
    if loss is None:
        return None
    variances = (
        gaussian_variance_of_rho(own.l2_squared, loss.rho * share) for own, share in zip(moved, shares, strict=True)
    )
    return tuple(map(GaussianLaw, variances)), loss
