"""Interval arithmetic: bounds of an expression from the bounds of its parts. Every rule encloses; none guesses.

An end is a Fraction, or None where it is unknown (infinite).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["EVERYTHING", "Interval"]

End = Fraction | None


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``; an end of None is infinite.

    >>> Interval(Fraction(0), Fraction(110)) / Interval.point(10)
    Interval(low=Fraction(0, 1), high=Fraction(11, 1))
    """

    low: End
    high: End

    @classmethod
    def point(cls, value: Fraction | int) -> Interval:
        """One number."""
        return cls(Fraction(value), Fraction(value))

    @property
    def finite(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    def within(self, bound: int) -> bool:
        """Whether every number lies in [-bound, bound]."""
        return self.low is not None and self.high is not None and -bound <= self.low and self.high <= bound

    def __contains__(self, value: Fraction | int) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def __neg__(self) -> Interval:
        return Interval(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_add(self.low, other.low), _add(self.high, other.high))

    def __sub__(self, other: Interval) -> Interval:
        return self + (-other)

    def __mul__(self, other: Interval) -> Interval:
        if not (self.finite and other.finite):
            return self._unbounded_product(other)
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]  # type: ignore[operator]  # both finite
        return Interval(min(products), max(products))

    def _unbounded_product(self, other: Interval) -> Interval:
        nonnegative = self.low is not None and self.low >= 0 and other.low is not None and other.low >= 0
        if nonnegative and self.low is not None and other.low is not None:
            return Interval(self.low * other.low, None)
        return EVERYTHING

    def __truediv__(self, other: Interval) -> Interval:
        """Quotients where the divisor is not zero; a divisor that may be near zero bounds nothing."""
        if 0 in other:
            return EVERYTHING
        reciprocal = Interval(
            Fraction(0) if other.high is None else 1 / other.high, Fraction(0) if other.low is None else 1 / other.low
        )
        return self * reciprocal

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(
            None if self.low is None or other.low is None else min(self.low, other.low),
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def least(self, other: Interval) -> Interval:
        """Smaller of a number from each."""
        return -((-self).greatest(-other))

    def greatest(self, other: Interval) -> Interval:
        """Larger of a number from each."""
        lows = [end for end in (self.low, other.low) if end is not None]
        return Interval(
            max(lows) if lows else None,
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def absolute(self) -> Interval:
        """Magnitudes."""
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return -self
        return Interval(Fraction(0), None if not self.finite else max(-self.low, self.high))  # type: ignore[operator,type-var]  # finite

    def rounded(self, by: Callable[[Fraction], int]) -> Interval:
        """Each end through a rising integer rounding (floor, ceil, ...)."""
        return Interval(
            None if self.low is None else Fraction(by(self.low)), None if self.high is None else Fraction(by(self.high))
        )

    def clipped(self, low: Fraction | None, high: Fraction | None) -> Interval:
        """The part inside [low, high], None being no limit; empty parts shrink to the nearer end.

        >>> Interval(Fraction(-2), Fraction(3)).clipped(Fraction(0), None)
        Interval(low=Fraction(0, 1), high=Fraction(3, 1))
        """
        above = self if low is None else self.greatest(Interval.point(low))
        return above if high is None else above.least(Interval.point(high))

    def rising(self, function: Callable[[float], float]) -> Interval:
        """Each end through a rising float function, widened by more than its rounding error."""
        return Interval(_outward(function, self.low, -1), _outward(function, self.high, 1))


EVERYTHING = Interval(None, None)


def _add(a: End, b: End) -> End:
    return None if a is None or b is None else a + b


def _outward(function: Callable[[float], float], end: End, direction: int) -> End:
    if end is None:
        return None
    try:
        value = function(float(end))
    except (OverflowError, ValueError):
        return None
    if not math.isfinite(value):
        return None
    slack = abs(Fraction(value)) / 2**40 + Fraction(1, 2**60)  # far above libm's error of a few units in the last place
    return Fraction(value) + direction * slack
