"""Interval arithmetic: bounds of an expression from the bounds of its parts. Every rule encloses; none guesses.

An end is a Fraction, or None where it is unknown (infinite). The ends of a real expression speak of doubles: its
values lie between the double nearest to ``low`` and the double nearest to ``high``. The engine's arithmetic rounds,
but it never changes order; so where rounding moves an end, the end moves with it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["EVERYTHING", "Interval", "difference", "product", "quotient", "total"]

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
        ends = [_times(a, b) for a in _ends(self) for b in _ends(other)]
        low, high = min(ends), max(ends)
        return Interval(None if low == -math.inf else Fraction(low), None if high == math.inf else Fraction(high))

    def __truediv__(self, other: Interval) -> Interval:
        """Quotients where the divisor is not zero; a divisor that may be near zero bounds nothing."""
        if 0 in other:
            return EVERYTHING
        reciprocal = Interval(
            Fraction(0) if other.high is None else 1 / other.high, Fraction(0) if other.low is None else 1 / other.low
        )
        return self * reciprocal

    @property
    def positive(self) -> bool:
        """Whether every number is above 0, and far enough from it that no engine takes it for 0."""
        return self.low is not None and self.low >= LEAST

    @property
    def settled(self) -> Interval:
        """With 0 where numbers are so near to it that an engine may take them for it, or what is near to 0 for them.

        Then whatever is made of such a number, however large it grows again, is bounded from 0 on, not from where it
        would lie if nothing had vanished.

        >>> Interval(Fraction(1, 10**180), Fraction(1)).settled
        Interval(low=Fraction(0, 1), high=Fraction(1, 1))
        """
        if not (_near(self.low) or _near(self.high)):
            return self
        return Interval(_settled(self.low, -1), _settled(self.high, 1))

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(
            None if self.low is None or other.low is None else min(self.low, other.low),
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def saturating(self, end: int) -> Interval:
        """Its numbers, and what they are where an engine cuts them at -end and end.

        >>> Interval(Fraction(7), Fraction(9)).saturating(5)
        Interval(low=Fraction(5, 1), high=Fraction(9, 1))
        """
        return self.hull(self.clipped(Fraction(-end), Fraction(end)))

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
        return self.rising(by, exactly=True)

    def clipped(self, low: Fraction | None, high: Fraction | None) -> Interval:
        """The part inside [low, high], None being no limit; empty parts shrink to the nearer end.

        >>> Interval(Fraction(-2), Fraction(3)).clipped(Fraction(0), None)
        Interval(low=Fraction(0, 1), high=Fraction(3, 1))
        """
        above = self if low is None else self.greatest(Interval.point(low))
        return above if high is None else above.least(Interval.point(high))

    def rising(self, function: Callable[[Fraction], float | int], *, exactly: bool = False) -> Interval:
        """Each end, as a double, through a rising function.

        Args:
            function: Of a Fraction that is a double.
            exactly: Whether the engine computes the very same; otherwise ends are widened by more than libm's error.

        >>> Interval(Fraction(4), Fraction(81)).rising(math.sqrt, exactly=True)
        Interval(low=Fraction(2, 1), high=Fraction(9, 1))
        """
        return Interval(*(_outward(function, end, way, exactly) for end, way in ((self.low, -1), (self.high, 1))))


def _ends(interval: Interval) -> tuple[Fraction | float, Fraction | float]:
    """Its ends, an unknown one as infinity."""
    return (
        -math.inf if interval.low is None else interval.low,
        math.inf if interval.high is None else interval.high,
    )


def _times(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    """Their product: 0 where one is 0, for what lies between the ends is finite."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if 0 in (a, b):
        return Fraction(0)
    return math.inf if (a > 0) is (b > 0) else -math.inf


EVERYTHING = Interval(None, None)
LEAST = Fraction(10) ** -100
"""Numbers nearer to 0 may be 0 to an engine: PostgreSQL's spellings round what is nearer than 2^-391, 10^-118
(`engine.postgres.words`), and doubles end at 10^-308. All engines agree on what is further from 0, to the last bit of
it. It is a choice, with room between."""
_LONG = LEAST.denominator.bit_length()  # Binary digits of a denominator: a number nearer to 0 has one as long at least.


def _near(end: End) -> bool:
    """Whether an end is nearer to 0 than `LEAST`, and is not 0. Most are seen not to be by the length of a number."""
    return end is not None and end.denominator.bit_length() >= _LONG and 0 < abs(end) < LEAST


def _settled(end: End, direction: int) -> End:
    """An end near to 0 moved outward: to 0, or to `LEAST` beyond it."""
    if end is None or not _near(end):
        return end
    return direction * LEAST if (end > 0) is (direction > 0) else Fraction(0)


def total(a: Interval, b: Interval) -> Interval:
    """Sums, as doubles.

    >>> total(Interval.point(1) / Interval.point(10), Interval.point(Fraction(2, 10))).high > Fraction(3, 10)
    True
    """
    return Interval(_computed(operator.add, a.low, b.low), _computed(operator.add, a.high, b.high))


def difference(a: Interval, b: Interval) -> Interval:
    """Differences, as doubles."""
    return total(a, -b)


def product(a: Interval, b: Interval) -> Interval:
    """Products, as doubles."""
    return _corners(operator.mul, a, b) or _widened(a * b)


def quotient(a: Interval, b: Interval) -> Interval:
    """Quotients, as doubles, where the divisor is not 0; a divisor that may be near 0 bounds nothing."""
    if not (b.positive or (-b).positive):
        return EVERYTHING
    return _corners(operator.truediv, a, b) or _widened(a / b)


def _corners(operation: Callable[[Any, Any], Any], a: Interval, b: Interval) -> Interval | None:
    """A function that is monotone in each of two arguments is least and greatest at the ends of both."""
    if not (a.finite and b.finite):
        return None
    ends = [_computed(operation, x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    known = [end for end in ends if end is not None]
    return Interval(min(known), max(known)) if len(known) == 4 else EVERYTHING


def _computed(operation: Callable[[Any, Any], Any], a: End, b: End) -> End:
    """The exact result where the engine's is the double nearest to it, else the engine's."""
    if a is None or b is None:
        return None
    exact = operation(a, b)
    try:
        engine, nearest = operation(float(a), float(b)), float(exact)
    except OverflowError:
        return None
    if not math.isfinite(engine):
        return None
    return exact if nearest == engine != 0 else Fraction(engine)


def _widened(interval: Interval) -> Interval:
    """Room for two roundings of a double."""
    low, high = interval.low, interval.high
    return Interval(None if low is None else low - abs(low) / 2**50, None if high is None else high + abs(high) / 2**50)


def _add(a: End, b: End) -> End:
    return None if a is None or b is None else a + b


def _outward(function: Callable[[Fraction], float | int], end: End, direction: int, exactly: bool) -> End:
    if end is None:
        return None
    try:
        value = function(Fraction(float(end)))
    except (OverflowError, ValueError):
        return None
    if not math.isfinite(value):
        return None
    slack = 0 if exactly else abs(Fraction(value)) / 2**40  # libm errs by a few units in the 52nd place, and never at 0
    return Fraction(value) + direction * slack
