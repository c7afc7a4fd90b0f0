"""Exact probabilities, each enclosed by integers as tightly as a decision asks.

A probability p answers one question, ``p.enclosed(bits)``: integers low <= p 2^bits <= high. They are at most 1 apart,
or 2 where p 2^bits lies within 10^-18 of an integer, so that more bits always decide in the end.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["DigitOf", "ExpOf", "Probability", "Ratio", "as_fraction", "located", "share_kept"]

Whole = npt.NDArray[Any]
"""(n,) int64, or Python ints where they do not fit."""

MOST_FLOATS = 2**16  # Intervals whose weights are added up in floats: what the bound on their error rests on.
BLOCK = 256
"""Weights whose sum is found together. It is a choice: one running sum of all takes three times as long as the rest."""
FAR = 90.0
"""Exponents beyond which an interval weighs too little to be looked at. It is a choice: all of them together then weigh
2^-50, and of thousands of intervals a draw looks at the few around the best one."""
UNSURE = 2.0**-33  # Of the total weight: four times what floats may be off by.
SHORT = 32  # Binary digits up to which floats may enclose an exponential: those of the first word of a decision.
OFF = 2.0**-46
"""What such a float may be off by, of itself: x < 32 is off by 2^-53 of itself, which moves exp(-x) by 2^-48 of itself,
and `exp` adds a few units in the last place."""


class Probability(Protocol):
    """An exact number from 0 to 1."""

    def enclosed(self, bits: int) -> tuple[int, int]:
        """Integers (low, high) with low <= p 2^bits <= high."""


@dataclass(frozen=True, slots=True)
class ExpOf:
    """The probability exp(-x).

    Args:
        x: Rational, >= 0, dimensionless.

    >>> ExpOf(Fraction(1)).enclosed(bits=16)  # exp(-1) 2^16 = 24109.3...
    (24109, 24110)
    """

    x: Fraction

    def __post_init__(self) -> None:
        if as_fraction("ExpOf x", self.x) < 0:
            raise ValueError(f"ExpOf x is {self.x}; write a Fraction of 0 or more, such as ExpOf(Fraction(1, 2))")

    def enclosed(self, bits: int) -> tuple[int, int]:
        """Integers (low, high) with low <= exp(-x) 2^bits <= high, at most 1 apart but for a rare 2."""
        if self.x == 0:
            return 1 << bits, 1 << bits
        if self.x >= bits:  # exp(-x) < 2^-x <= 2^-bits
            return 0, 1
        if bits <= SHORT:
            scaled = math.ldexp(math.exp(-self.x.numerator / self.x.denominator), bits)
            low, high = math.floor(scaled * (1 - OFF)), math.ceil(scaled * (1 + OFF))
            if high - low == 1:
                return low, high
        digits = bits // 3 + 20  # log10(2) < 1/3
        down = Context(prec=digits, rounding=ROUND_FLOOR, traps=[])
        up = Context(prec=digits, rounding=ROUND_CEILING, traps=[])
        a, b, unit = Decimal(-self.x.numerator), Decimal(self.x.denominator), Decimal(1 << bits)
        # Decimal.exp rounds to nearest in every context: one step outward makes each side a bound.
        below = down.next_minus(down.exp(down.divide(a, b)))
        above = up.next_plus(up.exp(up.divide(a, b)))
        low = int(down.multiply(below, unit))
        high = int(up.multiply(above, unit).to_integral_value(ROUND_CEILING))
        return low, min(high, 1 << bits)


@dataclass(frozen=True, slots=True)
class DigitOf:
    """The probability 1 / (1 + exp(x)) that a binary digit of a geometric variable is set; x > 0."""

    x: Fraction

    def enclosed(self, bits: int) -> tuple[int, int]:
        """Integers (low, high) with low <= p 2^bits <= high, at most 1 apart but for a rare 2."""
        more = bits + 32
        low, high = ExpOf(self.x).enclosed(more)
        one = 1 << more
        return (low << bits) // (one + low), -((-high << bits) // (one + high))  # e / (1 + e) grows with e


@dataclass(frozen=True, slots=True)
class Ratio:
    """The rational probability p, from 0 to 1."""

    p: Fraction

    def __post_init__(self) -> None:
        if not 0 <= as_fraction("probability", self.p) <= 1:
            raise ValueError(f"probability is {self.p}; write a Fraction from 0 to 1, or ExpOf(x)")

    def enclosed(self, bits: int) -> tuple[int, int]:
        """Integers (low, high) with low <= p 2^bits <= high; both are it where it is an integer."""
        scaled = self.p.numerator << bits
        return scaled // self.p.denominator, -(-scaled // self.p.denominator)


def as_fraction(what: str, value: Fraction) -> Fraction:
    """The same number as a Fraction of Python ints; ValueError for floats and other types, which are not exact."""
    if not isinstance(value, (int, Fraction)):
        raise ValueError(f"{what} is {value!r}, not an exact number; write a Fraction, such as Fraction(3, 2)")
    return Fraction(int(value.numerator), int(value.denominator))  # numpy's integers would overflow in silence


def located(u: int, bits: int, widths: Whole, gaps: Whole, exponent: Fraction) -> int | None:
    """The interval that holds U times the total weight, or None if U in [u, u + 1) / 2^bits leaves it open.

    Interval i weighs widths[i] exp(-exponent gaps[i]); the least gap of an interval that is not empty is 0. The running
    sums of the weights are enclosed from both sides: by floats, where these decide, else by integers.
    """
    i = _located_by_floats(u, bits, widths, gaps, exponent)
    return _located_exactly(u, bits, widths.tolist(), gaps.tolist(), exponent) if i is None else i


def _located_by_floats(u: int, bits: int, widths: Whole, gaps: Whole, exponent: Fraction) -> int | None:
    """What `_located_exactly` finds, or None where floats do not tell.

    With n <= 2^16 intervals each running sum is within 2^-35 of the total: x = exponent gap carries two relative errors
    of 2^-53, which is below 2^-45 for x <= 90; exp is off by a few units in the last place, a width by 2^-53, and a
    sum of n terms, in whatever order, by n 2^-53 of it. What has x > 90 (`FAR`) is left out: it weighs less than
    2^63 exp(-90) each, 2^-50 in all, and the total is at least 1. A decision that leaves `UNSURE` of the total on both
    sides is therefore that of the exact weights.
    """
    if len(widths) > MOST_FLOATS or widths.dtype != np.int64 or gaps.dtype != np.int64:
        return None
    x = float(exponent) * gaps
    near = np.flatnonzero(x <= FAR)
    weights = widths[near] * np.exp(-x[near])
    few = len(weights) <= BLOCK
    sums = weights.cumsum() if few else np.add.reduceat(weights, np.arange(0, len(weights), BLOCK)).cumsum()
    total = float(sums[-1])
    low, high, unsure = u / (1 << bits) * total, (u + 1) / (1 << bits) * total, UNSURE * total
    block = 0 if few else int(sums.searchsorted(low, side="right"))
    first, behind = block * BLOCK, float(sums[block - 1]) if block else 0.0
    inside = sums if few else behind + weights[first : first + BLOCK].cumsum()
    i = int(inside.searchsorted(low, side="right"))
    if i == len(inside):
        return None
    found, before = int(near[first + i]), float(inside[i - 1]) if i else behind
    if found == 0:
        before = -unsure  # nothing lies before the first
    return found if before + unsure <= low and high + unsure <= inside[i] else None


def _located_exactly(u: int, bits: int, widths: list[int], gaps: list[int], exponent: Fraction) -> int | None:
    powers = _powers(exponent, sorted(set(gaps)), bits + 64)
    lows = list(accumulate(width * powers[gap][0] for width, gap in zip(widths, gaps, strict=True)))
    highs = list(accumulate(width * powers[gap][1] for width, gap in zip(widths, gaps, strict=True)))
    at_least, at_most = u * lows[-1], (u + 1) * highs[-1]
    i = bisect_right(lows, at_least >> bits)
    after_previous = i == 0 or highs[i - 1] << bits <= at_least
    return i if after_previous and at_most <= lows[i] << bits else None


def share_kept(variance: float, t: int) -> float:
    """How many of the proposals of a discrete Gaussian are kept on average, or a few of a hundred less.

    It says how many are made at once, and decides nothing.

    A proposal is y with chance tanh(1 / (2 t)) exp(-|y| / t), and is kept with chance exp(-(|y| - s / t)^2 / (2 s)),
    s being the variance; the sum of exp(-y^2 / (2 s)) over all y is above 1 and above sqrt(2 pi s).
    """
    return math.tanh(0.5 / t) * math.exp(-variance / (2 * t * t)) * max(1.0, math.sqrt(2 * math.pi * variance))


@lru_cache(maxsize=4096)
def _exponential(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers enclosing exp(-x) 2^bits; the same few steps serve all groups of a statement."""
    return ExpOf(x).enclosed(bits)


def _powers(exponent: Fraction, gaps: list[int], bits: int) -> dict[int, tuple[int, int]]:
    """Integers enclosing exp(-exponent gap) 2^bits for each gap, given in ascending order from 0.

    Each follows from the one before by one multiplication, so that neighbouring scores cost one exponential in all.
    """
    low = high = 1 << bits
    powers = {}
    steps: dict[int, tuple[int, int]] = {}  # most of them are equal, and a Fraction takes long to hash
    for previous, gap in zip([0, *gaps], gaps, strict=False):
        step = gap - previous
        if step not in steps:
            steps[step] = _exponential(exponent * step, bits)
        below, above = steps[step]
        low, high = low * below >> bits, -(-high * above >> bits)
        powers[gap] = low, high
    return powers
