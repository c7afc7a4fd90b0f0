"""From an exact statistic to whole steps, without a trace of rounding in the sensitivity.

Theorem. Let Delta = K rho for a whole number K. If |g(D) - g(D')| <= Delta, then |floor(g(D)/rho) - floor(g(D')/rho)|
<= K. So floor(g/rho) may go to an integer mechanism of sensitivity K.

Proof. If a <= b + K rho, then floor(a/rho) <= floor(b/rho + K) = floor(b/rho) + K; and so with a and b exchanged.  QED

Rounding half to even lacks this: 1/2 and 3/2 are one apart, and become 0 and 2.

Source: ours.

Tests: tests/unit/mechanisms/preprocessing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.mechanisms.preprocessing.exact import Exact, exact, sensitivity_of

__all__ = ["output_steps", "sensitivity_steps"]


def output_steps(value: Exact, step: Exact) -> int:
    """The statistic in whole steps, rounded down.

    Args:
        value: The preprocessed statistic, g.
        step: rho, in the same unit, > 0, public; a whole fraction of the sensitivity (`sensitivity_steps`).

    Returns:
        floor(value / step). Multiply the noised number by step to come back to the unit.

    Raises:
        ValueError: If the step is not positive, or a number is not exact.

    >>> output_steps(Fraction(7, 2), step=Fraction(1, 4)), output_steps(Fraction(-1, 3), step=1)
    (14, -1)
    """
    return math.floor(exact(value, "the value") / _step(step))


def sensitivity_steps(sensitivity: Exact, step: Exact) -> int:
    """The sensitivity of `output_steps`, in whole steps; no statement needs it, it is there to be imported.

    Raises:
        ValueError: If the sensitivity is not a whole number of steps.

    >>> sensitivity_steps(3, step=Fraction(3, 1000))
    1000
    >>> sensitivity_steps(3, step=2)
    Traceback (most recent call last):
    ValueError: the sensitivity 3 is not a whole number of steps of 2; write a step of 3/2 instead.
    """
    delta, rho = sensitivity_of(sensitivity), _step(step)
    steps = delta / rho
    if steps.denominator != 1:
        raise ValueError(
            f"the sensitivity {delta} is not a whole number of steps of {rho}; "
            f"write a step of {delta / math.ceil(steps)} instead."
        )
    return int(steps)


def _step(step: Exact) -> Fraction:
    rho = exact(step, "the step")
    if rho <= 0:
        raise ValueError(f"the step is {rho}; write a number above 0.")
    return rho
