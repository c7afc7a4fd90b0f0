"""Short exact numbers for noise: variances and losses that were computed in floats, moved to the safe side.

Tests: tests/unit/mechanisms/friendly_core/test_average.py, tests/unit/mechanisms/friendly_core/test_basic.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.mechanisms.noise.laws import GaussianLaw

__all__ = ["MARGIN", "gaussian_law", "root_above", "safely_below", "short_above", "short_below"]

BITS = 24  # Binary digits of a variance: it is 6e-8 above what is needed at most, and fast to draw. It is a choice.
MARGIN = 1e-9  # As a share of a number: a handful of float64 operations err by less than 1e-13 of it.


def short_above(x: Fraction) -> Fraction:
    """The least number of 24 binary digits that is not below x > 0.

    >>> short_above(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - BITS)
    return math.ceil(x / unit) * unit


def short_below(x: Fraction) -> Fraction:
    """The largest number of 24 binary digits that is not above x >= 0.

    >>> short_below(Fraction(1, 3)) <= Fraction(1, 3)
    True
    """
    if x <= 0:
        return Fraction(0)
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - BITS)
    return x // unit * unit


def safely_below(x: float) -> Fraction:
    """A short fraction below the real number that x > 0 approximates within 1e-10 of itself.

    >>> 0.5 * (1 - 1e-8) < safely_below(0.5) < 0.5
    True
    """
    return Fraction(x * (1 - MARGIN))


def root_above(x: Fraction) -> Fraction:
    """A rational number not below the square root of x >= 0, to about 40 binary digits.

    >>> root_above(Fraction(4)), 2 < root_above(Fraction(2)) ** 2 < 2.0001
    (Fraction(2, 1), True)
    """
    scaled = math.ceil(x * 2**80)
    root = math.isqrt(scaled)
    return Fraction(root + (root * root < scaled), 2**40)


def gaussian_law(sensitivity_squared: Fraction, rho: Fraction) -> GaussianLaw:
    """Discrete Gaussian noise on a vector of integers that moves by a known L2 distance: rho-zCDP.

    Args:
        sensitivity_squared: > 0, in grid steps^2.
        rho: > 0.

    Source: Canonne, Kamath, Steinke 2020, Prop. 5 and its sum over independent entries.
    """
    return GaussianLaw(short_above(sensitivity_squared / (2 * rho)))
