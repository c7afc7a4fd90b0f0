"""How far sums of several independent draws of one law go: k with P(sum >= k) <= chance, never below the least one.

Tests: tests/unit/mechanisms/noise/test_sums.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

__all__ = ["gaussian_sum_beyond", "laplace_sum_beyond"]

MOST_DRAWS = 1000  # Of one sum: from 1,075 on 2^-count is no double, and every chance would be found to be 0.
HALVINGS = 60  # Of the interval that holds the quantile: more than float64 tells apart.
MOST = 0.99  # Of a chance: the rest is for rounding, which is little. It is a choice.
MARGIN = 1e-9
"""As a share of a quantile: a few hundred operations of float64 on terms above 0 err by far less."""


@lru_cache(maxsize=1024)
def laplace_sum_beyond(scale: Fraction, count: int, chance: Fraction) -> int:
    """k with P(X_1 + ... + X_count >= k) <= chance for discrete Laplace noise.

    A discrete Laplace draw is floor(E) - floor(E') for exponential E, E' of mean ``scale``. The E add up to
    scale G with G ~ Gamma(count), the E' to scale G', and G > G' + x where a Poisson process has fewer than ``count``
    points until G' + x: k of them until G', by a negative binomial law, and others in the x beyond,

        P(G - G' > x) = sum over k < count of C(count + k - 1, k) 2^-(count + k) P(Poisson(x) <= count - 1 - k).

    This takes 99% of the chance. What rounding adds to each draw is symmetric and within -1 and 1, so that
    by Hoeffding's inequality it adds up to t with chance exp(-t^2 / (2 count)) at most: the other 1%; or to ``count``.

    >>> laplace_sum_beyond(Fraction(100), 1, Fraction(1, 20)), laplace_sum_beyond(Fraction(100), 25, Fraction(1, 20))
    (233, 1185)

    Raises:
        ValueError: If there are more than `MOST_DRAWS`.
    """
    if count > MOST_DRAWS:
        raise ValueError(f"the law of {count} draws leaves float64; ask of {MOST_DRAWS} at most")
    low, high = 0.0, 2 * count * (2 - math.log(chance))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _gammas_apart(count, middle) > chance * MOST else (low, middle)
    rounded = min(float(count), math.sqrt(-2 * count * math.log(chance * (1 - MOST))))
    return math.ceil((high * float(scale) + rounded) * (1 + MARGIN))


def _gammas_apart(count: int, x: float) -> float:
    """P(G - G' > x) for two independent Gamma(count) of mean count."""
    few, point = [math.exp(-x)], math.exp(-x)  # P(Poisson(x) <= j), P(Poisson(x) = j)
    for j in range(1, count):
        point *= x / j
        few.append(few[-1] + point)
    weight, apart = 2.0**-count, 0.0
    for k in range(count):
        apart += weight * few[count - 1 - k]
        weight *= (count + k) / (2 * (k + 1))
    return apart


def gaussian_sum_beyond(variance: Fraction, count: int, chance: Fraction) -> int:
    """k with P(X_1 + ... + X_count >= k) <= chance for discrete Gaussian noise, by Chernoff's bound.

    With v for the variance, E exp(t X) = exp(t^2 v / 2) times the sum of exp(-(k - t v)^2 / (2 v)) over that of
    exp(-k^2 / (2 v)). The second sum is the larger one: moved by t v, the terms of Poisson's summation, all above 0,
    are multiplied by cosines. So E exp(t X) <= exp(t^2 v / 2), as for the normal law.

    >>> gaussian_sum_beyond(Fraction(10000), 25, Fraction(1, 20))
    1224
    """
    return math.ceil(math.sqrt(2 * count * variance * -math.log(chance)) * (1 + MARGIN))
