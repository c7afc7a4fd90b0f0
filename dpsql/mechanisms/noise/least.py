"""The least whole number that is enough, found from a guess: certified where it matters, and looked at few times.

Tests: tests/unit/mechanisms/noise/test_laws.py.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["least"]


def least(enough: Callable[[int], bool], near: int) -> int:
    """The smallest k >= 1 that is enough, where all above one that is enough are, too.

    Args:
        enough: Whether a number is; some number must be.
        near: A guess. The better it is, the fewer numbers are looked at: two of them where it is right.

    >>> [least(lambda k: k * k >= 1000, near) for near in (1, 32, 10**6)]
    [32, 32, 32]
    """
    low, high, step = 0, max(1, near), 1  # low is never enough; high is, from the second loop on
    if enough(high):
        low = high - step
        while low > 0 and enough(low):
            step *= 2
            low, high = max(0, low - step), low
    else:
        while not enough(high):
            low, high = high, high + step
            step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
