"""The threshold that hides what one unit alone makes visible, and the delta that it uses.

Source: sums of the discrete law; the theorems that need them are in `threshold` and `stability`.

Tests: tests/unit/mechanisms/test_stability.py, tests/unit/mechanisms/test_threshold.py.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from dpsql.mechanisms.noise.laws import laplace_tail

__all__ = ["LEAST_DELTA", "threshold_delta", "threshold_for"]

DIGITS = 60  # Decimal digits of every step, besides the zeros of a chance. It is a choice.
LEAST_DELTA = Fraction(1, 10**100)  # A probability; smaller deltas are refused, as by `gaussian`. It is a choice.
LEAST_CHANCE = Decimal("1e-150")
"""A smaller chance is charged as this one, so that every delta is a fraction of a few hundred digits. With 10^9 groups
it comes to 1e-141, far below `LEAST_DELTA`: it moves no threshold."""


def threshold_delta(scale: Fraction, groups: int, threshold: int) -> Fraction:
    """The chance that one of ``groups`` groups of one unit each exceeds the threshold, never below it.

    Args:
        scale: Of the discrete Laplace noise, in units.
        groups: Most groups one unit can touch, U >= 1.
        threshold: T >= 1; a group appears when its noised count is above it.

    Returns:
        1 - (1 - p)^U with p = P(1 + noise > T) = P(noise >= T), at least `LEAST_CHANCE`, rounded up in the 40th digit.

    >>> float(threshold_delta(Fraction(1), groups=1, threshold=1))
    0.2689414213699951
    """
    p = max(laplace_tail(scale, threshold), LEAST_CHANCE)
    # As many digits more as p has zeros, so that 1 - p keeps all of p.
    digits = Context(prec=DIGITS - p.adjusted(), Emin=-(10**9), Emax=10**9)
    silent = digits.power(digits.subtract(Decimal(1), p), groups)
    exact = digits.subtract(Decimal(1), silent)
    return Fraction(Context(prec=40, rounding=ROUND_CEILING).next_plus(exact))


@lru_cache(maxsize=1024)
def threshold_for(scale: Fraction, groups: int, delta: Fraction) -> int:
    """The smallest threshold from 1 on that keeps both conditions of the theorem.

    Args:
        scale: Of the discrete Laplace noise, 1 / e0, in units.
        groups: Most groups one unit can touch, U >= 1.
        delta: 1e-100 to 1.

    Returns:
        The least integer T >= 1 with `threshold_delta` within delta and P(noise >= T) <= 1 - exp(-e0).

    Raises:
        ValueError: If delta is outside its range, or no unit can touch a group.

    >>> threshold_for(Fraction(1), groups=1, delta=Fraction(1, 10**6))
    14
    """
    if groups < 1 or not LEAST_DELTA <= delta <= 1:
        raise ValueError(f"no threshold for {groups} groups and delta {delta}; write a delta from 1e-100 to 1")
    context = Context(prec=DIGITS)
    room = context.subtract(Decimal(1), context.exp(context.divide(-scale.denominator, Decimal(scale.numerator))))

    def enough(threshold: int) -> bool:
        return laplace_tail(scale, threshold) < room and threshold_delta(scale, groups, threshold) <= delta

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:  # both conditions only get easier as the threshold rises
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
