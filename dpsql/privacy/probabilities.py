"""Exact probabilities, each enclosed by integers as tightly as a decision asks.

A probability p answers one question, ``p.enclosed(bits)``: integers low <= p 2^bits <= high. They are at most 1 apart,
or 2 where p 2^bits lies within 10^-18 of an integer, so that more bits always decide in the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol

__all__ = ["DigitOf", "ExpOf", "Probability", "Ratio", "as_fraction", "check_positive", "share_kept"]

SHORT = 32  # Binary digits up to which floats may enclose an exponential: those of the first word of a decision.
OFF = 2.0**-46
"""What such a float may be off by, of itself: x < 32 is off by 2^-53 of itself, which moves exp(-x) by 2^-48 of itself,
and `exp` adds a few units in the last place."""


LARGEST = 2**200
"""Of scales, variances and exponents, and of their inverses. It is a choice: beyond it they are mistakes."""


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


def check_positive(what: str, value: Fraction) -> Fraction:
    """The value as a Fraction of Python ints, if it lies in 2^-200 ... 2^200; otherwise ValueError."""
    exact = as_fraction(what, value)
    if not exact.denominator <= exact.numerator * LARGEST <= exact.denominator * LARGEST**2:
        raise ValueError(f"{what} is {value}; write a Fraction from 2^-200 to 2^200, such as Fraction(3, 2)")
    return exact


def share_kept(variance: float, t: int) -> float:
    """How many of the proposals of a discrete Gaussian are kept on average, or a few of a hundred less.

    It says how many are made at once, and decides nothing.

    A proposal is y with chance tanh(1 / (2 t)) exp(-|y| / t), and is kept with chance exp(-(|y| - s / t)^2 / (2 s)),
    s being the variance; the sum of exp(-y^2 / (2 s)) over all y is above 1 and above sqrt(2 pi s).
    """
    return math.tanh(0.5 / t) * math.exp(-variance / (2 * t * t)) * max(1.0, math.sqrt(2 * math.pi * variance))
