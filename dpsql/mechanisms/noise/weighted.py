"""How far a weighted sum of many independent draws goes: w with P(|sum of w_i X_i| > w) <= chance.

Let S be the sum, of draws of any discrete Laplace and Gaussian laws with any weights, and Z an independent normal
number of deviation s. Both are symmetric. Where S and Z have the same sign or |Z| <= t, |S + Z| >= |S| - t; so

    P(|S| > r + t) <= P(|S + Z| > r) / P(Z >= -t).                                                            (1)

S + Z is continuous, and its characteristic function f is the product of those of its parts, which are known exactly.
For a step d, with t_k = (k + 1/2) d and p = 2 pi / d, the sum over k >= 0 of sin(t_k y) / (pi (k + 1/2)) is a square
wave: 1/2 for y from 0 to p, -1/2 from -p to 0, and so on. Its mean for y = r - S - Z is the sum of f(t_k) sin(t_k r) /
(pi (k + 1/2)), so that 1 less twice this is at least 2 P(r < S + Z < r + p), and

    P(|S + Z| > r) <= 1 - 2 sum over k >= 0 of f(t_k) sin(t_k r) / (pi (k + 1/2)) + P(|S + Z| > p).           (2)

What a sum up to t = T leaves out is at most (2 / pi) exp(-(s T)^2 / 2) / (s T)^2, since |f(t)| <= exp(-(s t)^2 / 2).
The last term of (2) is bounded by Chernoff: for every u > 0

    P(|S| > w) <= 2 E exp(u S) exp(-u w),                                                                     (3)

where E exp(u X) is known of Laplace noise, and at most exp(u^2 v / 2) of Gaussian noise (`sums`). With s two
thousandths of what (3) gives, the result is about a hundredth above the least one.

Source of (2): Davies 1973, "Numerical inversion of a characteristic function", Biometrika 60, section 2.

Tests: tests/unit/mechanisms/noise/test_weighted.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law

__all__ = ["Term", "log_moment", "reach_of_sum"]

Floats = npt.NDArray[np.float64]

Term = tuple[Law, float, int]
"""A law, a weight above 0, and how many independent draws of it have this weight."""

SMOOTH = 2e-3  # The deviation of what is added to a sum, as a share of where it ends. It is a choice.
ASIDE = 2.5  # In deviations of Z: t of (1). It is a choice: Z is below -t once in 161 times.
BELOW = 0.5 * math.erfc(ASIDE / math.sqrt(2))  # The chance of that.
LEFT_OUT = 1e-3  # Of a chance: what (2) leaves out, and rounding. It is a choice.
LEAST_CHANCE = 1e-9  # For smaller ones (3) stands: of 16 digits too few would be left of (2).
POINTS = 200  # Numbers u that (3) tries. It is a choice.
HALVINGS = 24  # Of what holds the reach: to a part in 10^7 of it.
MARGIN = 1e-9
"""As a share of a reach: a few hundred operations of float64 err by far less."""
STEEPEST = 700.0  # Of 1 / (2 b): exp of it is a float, and noise that is steeper is 0.
SMALL = 1.0  # In squared steps: Gaussian noise of which the characteristic function is summed step by step.


@lru_cache(maxsize=4096)
def reach_of_sum(terms: tuple[Term, ...], chance: float) -> float:
    """w with P(|sum| > w) <= chance, hardly above the least one.

    Args:
        terms: Of independent draws; without any the sum is 0.
        chance: Between 0 and 1.

    >>> laplace = LaplaceLaw(Fraction(16))
    >>> round(reach_of_sum(((laplace, 1.0, 72),), 0.05)), round(reach_of_sum(((laplace, 1.0, 2),), 0.05))
    (380, 67)
    """
    draws = sum(count for _, _, count in terms)
    if draws == 0:
        return 0.0
    share = Fraction(chance) / (2 * draws)
    each = math.fsum(weight * count * (law.beyond(share) - 1) for law, weight, count in terms)
    if draws == 1 or each == 0:
        return each
    farthest = min(each, _chernoff(terms, chance)) * (1 + MARGIN)  # union bound, and (3)
    if chance < LEAST_CHANCE:
        return farthest
    sigma, missed = SMOOTH * farthest, chance * LEFT_OUT
    beyond = _chernoff(terms, missed / 8) + sigma * math.sqrt(2 * math.log(16 / missed))  # of S, and of Z
    last = math.sqrt(2 * math.log(4 / missed)) / sigma
    step = 2 * math.pi / (farthest + beyond)  # what (2) says too much is P(|S + Z| > p - r) at most
    halves: Floats = np.arange(math.ceil(last / step), dtype=np.float64) + 0.5
    at: Floats = np.multiply(halves, step)
    parts = 2 / math.pi * np.exp(_log_wave(terms, at) - (sigma * at) ** 2 / 2) / halves
    most = chance * (1 - BELOW) * (1 - MARGIN) - missed
    low, high = 0.0, farthest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if 1 - float(parts @ np.sin(at * middle)) <= most else (middle, high)
    return min(farthest, (high + ASIDE * sigma) * (1 + MARGIN))


def _chernoff(terms: Sequence[Term], chance: float) -> float:
    """w with P(|sum| > w) <= chance, by (3) for some of the u."""
    size = math.sqrt(sum(count * (weight * law.spread) ** 2 for law, weight, count in terms))
    u = np.geomspace(1e-2, 1e2, POINTS) / size
    moments = np.zeros_like(u)
    for law, weight, count in terms:
        moments += count * log_moment(law, weight * u)
    return float(((moments + math.log(2 / chance)) / u).min())


def log_moment(law: Law, u: Floats) -> Floats:
    """ln E exp(u X), or more; infinite where there is none."""
    match law:
        case LaplaceLaw():
            ratio = np.sinh(np.minimum(u / 2, STEEPEST)) / math.sinh(_steepness(law))
            inside = ratio < 1
            found: Floats = np.where(inside, -np.log1p(-(np.where(inside, ratio, 0.0) ** 2)), math.inf)
            return found
        case GaussianLaw(variance=variance):
            return u**2 * float(variance) / 2
    raise InvariantBroken("there are two laws of noise")


def _log_wave(terms: Sequence[Term], at: Floats) -> Floats:
    """ln E exp(i t S), which is a positive number for each t."""
    found = np.zeros_like(at)
    for law, weight, count in terms:
        found += count * _log_wave_of(law, weight * at)
    return found


def _log_wave_of(law: Law, at: Floats) -> Floats:
    """ln E exp(i t X): of Laplace noise -ln(1 + (sin(t / 2) / sinh(1 / (2 b)))^2); of Gaussian noise of its sum.

    By Poisson's summation this is the sum over j of exp(-v (t + 2 pi j)^2 / 2), over that for t = 0. With t from -pi to
    pi, and v >= 1, what lies beyond j = -2 and 2 is less than 1e-40 of it.
    """
    match law:
        case LaplaceLaw():
            found: Floats = -np.log1p((np.sin(at / 2) / math.sinh(_steepness(law))) ** 2)
            return found
        case GaussianLaw(variance=variance):
            v = float(variance)
            if v < SMALL:
                return _log_of_steps(v, at)
            near = at - 2 * math.pi * np.round(at / (2 * math.pi))
            others = sum(np.exp(-v * (2 * math.pi * j) * (near + math.pi * j)) for j in (-2, -1, 1, 2))
            total = sum(math.exp(-v * (2 * math.pi * j) ** 2 / 2) for j in (-2, -1, 0, 1, 2))
            own: Floats = -v * near**2 / 2 + np.log1p(others) - math.log(total)
            return own
    raise InvariantBroken("there are two laws of noise")


def _log_of_steps(variance: float, at: Floats) -> Floats:
    """The same of Gaussian noise of few steps, summed up to 10 of them: exp(-50) and less lies beyond."""
    weights = [math.exp(-k * k / (2 * variance)) for k in range(1, 11)]
    waves = 1 + 2 * sum(weight * np.cos(k * at) for k, weight in enumerate(weights, 1))
    found: Floats = np.log(np.maximum(waves, 1e-300) / (1 + 2 * math.fsum(weights)))
    return found


def _steepness(law: LaplaceLaw) -> float:
    """1 / (2 b)."""
    return min(float(1 / (2 * law.scale)), STEEPEST)
