"""The steepest rise of a query along an attribute: cost / distance, from pairs of values or from a bound on all.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import Integers, Lines, Pairs
from dpsql.mechanisms.metric.distances.exact import largest_ratio, magnitude

__all__ = ["slope_across", "slope_of_pairs", "two_largest", "worst_costs"]

CHUNK = 1 << 21
"""How many numbers are worked out at a time, so that they fit into memory (16 MiB). A guess."""


def slope_of_pairs(lines: Lines, pairs: Pairs) -> Fraction:
    """The exact maximum of cost / distance over the pairs and all lines.

    >>> pairs = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([1, 4]), Fraction(1, 2))
    >>> slope_of_pairs(Lines(np.array([[0, 1, 4]])), pairs)
    Fraction(2, 1)
    """
    worst = worst_costs(lines, pairs.one, pairs.other)
    return largest_ratio(worst, pairs.distance) / pairs.unit


def worst_costs(lines: Lines, one: Integers, other: Integers) -> Integers:
    """(len(one),) integers: the most that a move between the two values costs on any line."""
    step = max(1, CHUNK // max(1, len(lines.values)))
    parts = (slice(start, start + step) for start in range(0, len(one), step))
    worst = [lines.cost(one[part], other[part]).max(axis=0) for part in parts]
    return np.concatenate(worst) if worst else np.zeros(0, dtype=np.int64)


def slope_across(lines: Lines, least: Fraction) -> Fraction:
    """A bound for lines of several groups whose pairs are too many: their two largest numbers / the least distance.

    A move costs at most |q_u| + |q_v|, whatever the groups.
    """
    return Fraction(int(two_largest(magnitude(lines.values)).max())) / least


def two_largest(values: Integers) -> Integers:
    """(n,) the sum of the two largest of each row of an (n, m) array, m >= 2."""
    return np.asarray(np.partition(values, values.shape[1] - 2, axis=1)[:, -2:].sum(axis=1))
