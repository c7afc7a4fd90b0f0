"""Exact comparison of ratios, distances in a common unit, and roots rounded to a chosen side.

Tests: tests/unit/mechanisms/metric/distances/test_nearby.py, tests/unit/mechanisms/metric/distances/test_product.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Integers, MetricError

__all__ = [
    "in_common_unit", "in_whole_numbers", "largest_ratio", "magnitude", "positive", "root_above", "root_below",
    "safely_above", "with_unit",
]  # fmt: skip

Floats = npt.NDArray[np.float64]

LARGEST = 2**50  # Of a distance, in its common unit: sums of a thousand of them stay within int64.
ROOT_BITS = 60  # Binary digits of a root, after the first. It is a choice between exactness and size.
CLOSE = 1e-12  # As a share of a ratio: float64 ratios of integers err by less than 2^-51 of themselves.
MARGIN = Fraction(1) + Fraction(1, 2**40)
"""As a factor: sums of up to a thousand positive float64 terms err by less than 2^-42 of themselves."""


def positive(number: Fraction, what: str) -> Fraction:
    """The number itself, as a fraction.

    Raises:
        MetricError: If it is 0 or less.
    """
    if number <= 0:
        raise MetricError(f"{what} is {number}; write a number above 0: a distance of 0 would ask for infinite noise.")
    return Fraction(number)


def in_common_unit(numbers: Sequence[Fraction]) -> tuple[npt.NDArray[np.int64], Fraction]:
    """(len(numbers),) whole multiples of one unit, and the unit.

    Raises:
        MetricError: If the multiples do not fit: the numbers have too many digits, or too different ones.

    >>> in_common_unit([Fraction(1, 2), Fraction(1, 3)])
    (array([3, 2]), Fraction(1, 6))
    """
    whole, unit = in_whole_numbers(numbers)
    return with_unit(whole, unit)


def in_whole_numbers(numbers: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """The numbers as multiples of 1 over their common denominator, and that."""
    below = math.lcm(*{number.denominator for number in numbers})
    return [number.numerator * (below // number.denominator) for number in numbers], Fraction(1, below)


def with_unit(whole: Sequence[int], unit: Fraction) -> tuple[npt.NDArray[np.int64], Fraction]:
    """Multiples of a unit, in the largest unit that serves for all of them; errors as of `in_common_unit`."""
    different = set(whole)
    shared = math.gcd(*different) or 1
    if any(abs(number) // shared > LARGEST for number in different):
        raise MetricError("the distances have too many digits between them; round them to fewer.")
    return np.array([number // shared for number in whole], dtype=np.int64), shared * unit


def magnitude(values: Integers) -> Integers:
    """The absolute values."""
    return np.asarray(np.abs(values))


def largest_ratio(above: Integers, below: Integers) -> Fraction:
    """The exact maximum of above / below.

    Args:
        above: (n,) integers >= 0.
        below: (n,) integers > 0.

    Returns:
        0 for no ratios at all.

    Why exact: a float64 ratio of two integers is within 2^-51 of itself, so the greatest is among the `CLOSE` ones, and
    those are compared in integers.

    >>> largest_ratio(np.array([1, 3]), np.array([3, 10]))
    Fraction(1, 3)
    """
    if not np.any(above):
        return Fraction(0)
    ratios = np.asarray(above, dtype=np.float64) / np.asarray(below, dtype=np.float64)
    close = np.flatnonzero(ratios >= ratios.max() * (1 - CLOSE))
    tops, bottoms = np.asarray(above)[close].astype(object), np.asarray(below)[close].astype(object)
    best = 0
    while len(better := np.flatnonzero(tops * bottoms[best] > tops[best] * bottoms)):
        best = int(better[0])
    return Fraction(int(tops[best]), int(bottoms[best]))


def root_below(x: Fraction) -> Fraction:
    """The root of x: exact where it is rational, otherwise rounded down by less than 2^-60 of itself.

    >>> root_below(Fraction(4, 9)), root_below(Fraction(2)) ** 2 < 2
    (Fraction(2, 3), True)
    """
    exact = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    if exact**2 == x:
        return exact
    shift = _shift(x)
    return Fraction(math.isqrt(math.floor(x * Fraction(4) ** shift))) / Fraction(2) ** shift


def root_above(x: Fraction) -> Fraction:
    """The root of x: exact where it is rational, otherwise rounded up by less than 2^-59 of itself.

    >>> root_above(Fraction(4, 9)), root_above(Fraction(2)) ** 2 > 2
    (Fraction(2, 3), True)
    """
    low = root_below(x)
    return low if low**2 == x else low + 1 / Fraction(2) ** _shift(x)


def _shift(x: Fraction) -> int:
    """Binary digits after the point, so that the root has more than `ROOT_BITS` in all."""
    return ROOT_BITS + 1 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2


def safely_above(x: float) -> Fraction:
    """A fraction certainly not below the real number that a sum of positive float64 terms stands for."""
    return Fraction(x) * MARGIN
