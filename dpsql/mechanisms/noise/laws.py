"""The two laws of noise on the integers: their tails, their quantiles, and the exact delta of the discrete Gaussian.

    discrete Laplace    P(k) ~ exp(-|k| / scale)
    discrete Gaussian   P(k) ~ exp(-k^2 / (2 variance))

Both are symmetric and log-concave. Probabilities of the discrete laws are summed for the discrete laws: sums over the
integers differ from integrals over the line, and the continuous formula for delta can be too small.

Where floats appear, they enclose: every function says on which side of the truth its result lies.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.least import least
from dpsql.mechanisms.noise.sums import gaussian_sum_beyond, laplace_sum_beyond
from dpsql.mechanisms.noise.tails import gaussian_tail_of_sum, laplace_tail_of_sum
from dpsql.privacy.sampling import Integers, Sampler

__all__ = [
    "LEAST_DELTA",
    "GaussianLaw",
    "LaplaceLaw",
    "Law",
    "erfc",
    "gaussian_delta",
    "gaussian_quantile",
    "gaussian_tail",
    "laplace_quantile",
    "laplace_tail",
    "scaled_erfc",
]

Floats = npt.NDArray[np.float64]

MARGIN = 1e-12
"""As a share of a tail: exp of arguments up to 745, `scaled_erfc` and sums of positive terms in float64 err by less
than 2e-13 of themselves."""
LEAST_DELTA = Fraction(1, 10**100)  # A probability; smaller deltas are refused, for float64 sums no smaller tail.
UNDERFLOW = 1e-300  # As a probability: what float64 may have lost below its smallest numbers.
TAIL_MARGIN = Fraction(1, 10**40)
"""As a share of a Laplace tail: the few operations of 60 digits behind it err by far less."""
LEAST_CHANCE = Fraction(1, 10**250)  # A probability; no tail is summed for a smaller one. `UNDERFLOW` is far below it.
DIRECT = 10**4
"""In squared steps of noise: the largest variance whose tails are summed term by term (fewer than 1000 terms)."""

STEPS = 5  # Of Newton's, from a start that is some tenths off. It is a choice: they leave less than a part in 10^9.

FEW = 10_000
"""Numbers whose error functions are taken one by one. Measured: the intervals of half as many groups take 0.07 s so,
and 0.02 s by scipy, which starts in 0.19 s."""

_digits = Context(prec=60, Emin=-(10**9), Emax=10**9)


class Law(Hashable, Protocol):
    """One law of integer noise, in grid steps."""

    @property
    def spread(self) -> float:
        """Scale or standard deviation, in grid steps."""
        ...

    def draw(self, sampler: Sampler, size: int) -> Integers:
        """(size,) draws, in grid steps."""
        ...

    def quantile(self, confidence: float) -> int:
        """Smallest k with P(|noise| <= k) >= confidence, in grid steps."""
        ...

    def tail(self, at: int) -> Fraction:
        """P(noise >= at), never below it, for at >= 1 in grid steps."""
        ...

    def beyond(self, chance: Fraction) -> int:
        """Smallest k >= 1 with P(noise >= k) <= chance, in grid steps; chance from 1e-250 to 1/2."""
        ...

    def sum_beyond(self, count: int, chance: Fraction) -> int:
        """A k with P(sum of ``count`` independent draws >= k) <= chance, in grid steps; little above the least one."""
        ...

    def near(self, chance: float) -> int:
        """About that k, for whoever looks for it: nothing is proved of it."""
        ...

    def at(self, levels: Floats) -> Floats:
        """(n,) points below which the continuous law of this spread lies with these probabilities, in grid steps."""
        ...

    def tail_of_two(self, first: float, second: Floats, width: Floats) -> Floats:
        """(n,) P(|X + Y| > width) for independent X, Y of the continuous law with spreads ``first`` and ``second``."""
        ...

    def tail_of_sum(self, spreads: Floats, width: Floats) -> Floats:
        """P(|sum of Y_i| > width) for independent Y_i of the continuous law with these spreads, as of `tails`."""
        ...


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """Discrete Laplace noise.

    Attributes:
        scale: > 0, in grid steps.
    """

    scale: Fraction

    @property
    def spread(self) -> float:
        return float(self.scale)

    def draw(self, sampler: Sampler, size: int) -> Integers:
        return sampler.laplace(self.scale, size)

    def quantile(self, confidence: float) -> int:
        return laplace_quantile(self.scale, confidence)

    def tail(self, at: int) -> Fraction:
        return Fraction(laplace_tail(self.scale, at)) * (1 + TAIL_MARGIN)

    def beyond(self, chance: Fraction) -> int:
        return _beyond(self, chance)

    def sum_beyond(self, count: int, chance: Fraction) -> int:
        return laplace_sum_beyond(self.scale, count, chance)

    def near(self, chance: float) -> int:
        return math.ceil(-self.spread * math.log(chance * (1 + math.exp(-1 / self.spread))))

    def at(self, levels: Floats) -> Floats:
        one_side: Floats = np.log(2 * np.minimum(levels, 1 - levels)) * self.spread
        return np.where(levels < 0.5, one_side, -one_side)

    def tail_of_two(self, first: float, second: Floats, width: Floats) -> Floats:
        # P(|X + Y| > w) = (a^2 e^(-w/a) - b^2 e^(-w/b)) / (a^2 - b^2). Kept off a = b and b = 0, where the limits hold:
        # moving the ratio b / a by 1e-6 moves the tail by as little.
        a = np.maximum(first, second)
        ratio = np.minimum(np.maximum(np.minimum(first, second) / a, 1e-6), 1 - 1e-6)  # as clip, in a third of its time
        w = np.maximum(width, 0) / a
        tail: Floats = (np.exp(-w) - ratio**2 * np.exp(-w / ratio)) / (1 - ratio**2)
        return tail

    def tail_of_sum(self, spreads: Floats, width: Floats) -> Floats:
        return laplace_tail_of_sum(spreads, width)


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """Discrete Gaussian noise.

    Attributes:
        variance: > 0, in grid steps^2; the true variance is never above it.
    """

    variance: Fraction

    @property
    def spread(self) -> float:
        return math.sqrt(self.variance)

    def draw(self, sampler: Sampler, size: int) -> Integers:
        return sampler.gaussian(self.variance, size)

    def quantile(self, confidence: float) -> int:
        return gaussian_quantile(self.variance, confidence)

    def tail(self, at: int) -> Fraction:
        return Fraction(gaussian_tail(self.variance, at)[1])

    def beyond(self, chance: Fraction) -> int:
        return _beyond(self, chance)

    def sum_beyond(self, count: int, chance: Fraction) -> int:
        return gaussian_sum_beyond(self.variance, count, chance)

    def near(self, chance: float) -> int:
        return _near_gaussian(self.variance, chance)

    def at(self, levels: Floats) -> Floats:
        from scipy.special import ndtri  # here: a start that needs none of it is quicker

        points: Floats = ndtri(levels) * self.spread
        return points

    def tail_of_two(self, first: float, second: Floats, width: Floats) -> Floats:
        return erfc(np.maximum(width, 0) / (math.sqrt(2) * np.hypot(first, second)))

    def tail_of_sum(self, spreads: Floats, width: Floats) -> Floats:
        return gaussian_tail_of_sum(spreads, width)


def laplace_tail(scale: Fraction, at: int) -> Decimal:
    """P(X >= at) for discrete Laplace noise, to 50 digits: q^at / (1 + q) for at >= 1, where q = exp(-1 / scale).

    >>> round(laplace_tail(Fraction(2), 1), 12)
    Decimal('0.377540668798')
    """
    if at < 1:
        return _digits.subtract(Decimal(1), laplace_tail(scale, 1 - at))
    q = _digits.exp(_decimal(-1 / scale))
    return _digits.divide(_digits.exp(_decimal(-at / scale)), _digits.add(Decimal(1), q))


@lru_cache(maxsize=1024)
def laplace_quantile(scale: Fraction, confidence: float) -> int:
    """Smallest k with P(|X| <= k) >= confidence for discrete Laplace noise.

    P(|X| > k) = 2 q^(k + 1) / (1 + q), so k + 1 is scale ln(2 / ((1 - confidence) (1 + q))), rounded up.

    >>> laplace_quantile(Fraction(2), 0.95)
    6
    """
    miss = _miss(confidence)
    q = _digits.exp(_decimal(-1 / scale))
    reach = _digits.ln(_digits.divide(Decimal(2), _digits.multiply(miss, _digits.add(Decimal(1), q))))
    return max(0, math.ceil(_digits.multiply(_decimal(scale), reach)) - 1)


def gaussian_tail(variance: Fraction, at: int) -> tuple[float, float]:
    """(low, high) enclosing P(X >= at) for discrete Gaussian noise.

    >>> low, high = gaussian_tail(Fraction(4), 1)
    >>> round(low, 9), round(high, 9)
    (0.40026443, 0.40026443)
    """
    if at < 1:
        low, high = gaussian_tail(variance, 1 - at)
        return 1 - high - MARGIN, 1 - low + MARGIN
    density = math.exp(-_ratio(at * at * variance.denominator, 2 * variance.numerator))
    least, most = _scaled_tail(variance, at)
    total_low, total_high = _total(variance)
    return density * least / total_high * (1 - MARGIN) - UNDERFLOW, density * most / total_low * (
        1 + MARGIN
    ) + UNDERFLOW


@lru_cache(maxsize=1024)
def gaussian_quantile(variance: Fraction, confidence: float) -> int:
    """Smallest k with P(|X| <= k) >= confidence for discrete Gaussian noise.

    >>> gaussian_quantile(Fraction(9), 0.95), gaussian_quantile(Fraction(1, 10), 0.95)
    (6, 0)
    """
    miss = float(_miss(confidence))
    return least(lambda k: 2 * gaussian_tail(variance, k)[1] <= miss, _near_gaussian(variance, miss / 2)) - 1


def gaussian_delta(shift: int, variance: Fraction, epsilon: Fraction) -> float:
    """The least delta for which discrete Gaussian noise hides a move by up to ``shift`` at epsilon, never below it.

    Let X be the noise, d the shift and f(k) = exp(-k^2 / (2 variance)). The loss of the output y is
    ln f(y - d) / f(y) = (2 y d - d^2) / (2 variance), which rises with y and exceeds epsilon from some integer m on.
    The worst event is therefore {y >= m}, and

        delta(d) = P(X >= m - d) - e^epsilon P(X >= m).

    A smaller move is covered: for a log-concave law every worst event is a half line, so that
    delta(d) = max over t of P(X >= t - d) - e^epsilon P(X >= t), and P(X >= t - d) rises with d.

    Args:
        shift: Largest move of the one released integer, >= 1, in grid steps.
        variance: > 0, in grid steps^2.
        epsilon: > 0.

    Source: Canonne, Kamath, Steinke 2020, Theorem 7 (the sum); the step from one shift to all below it is above.

    >>> round(gaussian_delta(1, Fraction(2), Fraction(1)), 9)
    0.042812089
    """
    # Exact ratios of whole numbers: a search asks for some thirty variances, and fractions take thrice as long.
    (v, of_v), (e, of_e) = variance.as_integer_ratio(), epsilon.as_integer_ratio()
    # Losses are above epsilon beyond the real number variance epsilon / shift + shift / 2.
    edge, of_edge = 2 * v * e + shift**2 * of_v * of_e, 2 * shift * of_v * of_e
    m = edge // of_edge + 1
    # e^epsilon f(m) = f(m - d) e^-fall exactly: written so, nothing overflows however large epsilon is.
    fall = math.exp(-_ratio(shift * of_v * (m * of_edge - edge), v * of_edge))
    density = math.exp(-_ratio((m - shift) ** 2 * of_v, 2 * v))
    total_low, total_high = _total(variance)
    taken = fall * _scaled_tail(variance, m)[0]
    if m > shift:
        delta = density * (_scaled_tail(variance, m - shift)[1] - taken) / total_low
    else:
        delta = gaussian_tail(variance, m - shift)[1] - density * taken / total_high * (1 - MARGIN)
    return min(1.0, delta * (1 + MARGIN) + UNDERFLOW)


@lru_cache(maxsize=1024)
def _beyond(law: Law, chance: Fraction) -> int:
    """Smallest k >= 1 with P(noise >= k) <= chance."""
    if not LEAST_CHANCE <= chance <= Fraction(1, 2):
        raise ValueError(f"the chance {float(chance):g} is not from 1e-250 to 1/2; no tail is summed for it")
    return least(lambda k: law.tail(k) <= chance, law.near(float(chance)))


def _near_gaussian(variance: Fraction, chance: float) -> int:
    """About the smallest k >= 1 with P(X >= k) <= chance for Gaussian noise: where the normal tail is, by Newton."""
    wanted = math.log(max(2 * chance, UNDERFLOW))
    z = math.sqrt(max(0.0, -2 * wanted))  # a little beyond it, for erfc(z / sqrt(2)) <= e^(-z^2 / 2)
    for _ in range(STEPS):
        scaled = scaled_erfc(z / math.sqrt(2))
        z = max(0.0, z + (math.log(scaled) - z * z / 2 - wanted) * scaled / math.sqrt(2 / math.pi))
    return math.ceil(z * math.sqrt(variance))


def _scaled_tail(variance: Fraction, start: int) -> tuple[float, float]:
    """(low, high) enclosing the sum over k >= start >= 0 of f(k) / f(start), f(k) = exp(-k^2 / (2 variance)).

    Up to variance `DIRECT` term by term. Above it by Euler and Maclaurin's formula up to the third derivative, whose
    remainder is at most (integral of |f''''|) / 720. With x = start / sigma, sigma^3 |f''''| integrates to
    (x^3 - 3 x) f(start) from x = 2.334 on, where f'''' stays positive, and to less than 7.1 over the whole line; as
    f(start) > 0.0655 below x = 2.334, x^3 + 109 bounds it, in units of f(start), everywhere.
    """
    v = float(variance)
    sigma = math.sqrt(v)
    if v <= DIRECT:
        i = np.arange(math.ceil(math.sqrt(90 * v)) + 2)  # what is left out weighs less than e^-45
        total = float(np.exp(-(2.0 * start * i + i * i) / (2 * v)).sum())
        return total * (1 - MARGIN), total * (1 + MARGIN)
    x = start / sigma
    smooth = sigma * math.sqrt(math.pi / 2) * scaled_erfc(x / math.sqrt(2))
    total = smooth + 0.5 + x / (12 * sigma) - (x**3 - 3 * x) / (720 * sigma**3)
    remainder = (x**3 + 109) / (720 * sigma**3)
    return max(1.0, (total - remainder) * (1 - MARGIN)), (total + remainder) * (1 + MARGIN)


def erfc(x: Floats) -> Floats:
    """The complementary error function of each number; of many by scipy, whose start takes as long as ours for them.

    >>> erfc(np.array([0.0, 1.0])).round(12).tolist()
    [1.0, 0.15729920705]
    """
    if x.size <= FEW:
        return np.array([math.erfc(one) for one in x.ravel().tolist()]).reshape(x.shape)
    from scipy.special import erfc as of_many

    many: Floats = of_many(x)
    return many


def scaled_erfc(x: float) -> float:
    """exp(x^2) erfc(x) for x >= 0, to 1e-13 of itself; scipy's erfcx, without the half of a start that scipy takes.

    From 10 on it is the sum of (-1)^k (2k - 1)!! / (2 x^2)^k over x sqrt(pi), whose terms alternate: what is left out
    after the twelfth is less than the next one, 23!! / 200^12 < 1e-16.

    Source: Abramowitz, Stegun 1964, 7.1.23 and 7.1.24.

    >>> scaled_erfc(0.0), round(scaled_erfc(1.0), 12), round(scaled_erfc(1e3), 15)
    (1.0, 0.427583576156, 0.000564189301453)
    """
    if x < 10:
        return math.exp(x * x) * math.erfc(x)
    total = term = 1.0
    for k in range(1, 12):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * math.sqrt(math.pi))


def _total(variance: Fraction) -> tuple[float, float]:
    """(low, high) enclosing the sum of exp(-k^2 / (2 variance)) over all integers."""
    if variance <= DIRECT:
        low, high = _scaled_tail(variance, 0)
        return 2 * low - 1, 2 * high - 1
    # Poisson's summation: sigma sqrt(2 pi) (1 + 2 e^(-2 pi^2 variance) + ...), and that second term is below e^-190000.
    total = math.sqrt(2 * math.pi * variance)
    return total * (1 - MARGIN), total * (1 + MARGIN)


def _miss(confidence: float) -> Decimal:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; write a number between 0 and 1, such as 0.95")
    return 1 - Decimal(repr(float(confidence)))


def _decimal(x: Fraction) -> Decimal:
    return _digits.divide(Decimal(x.numerator), Decimal(x.denominator))


def _ratio(above: int, below: int) -> float:
    """The float nearest to above / below, below > 0; exp(-10^6) is 0 already, and larger ratios may be no floats."""
    return above / below if above < 10**6 * below else 1e6
