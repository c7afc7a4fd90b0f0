"""The steepest rise of a query along an attribute: cost / distance, from pairs of values or from a bound on all."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.base import Integers, Lines, Pairs
from dpsql.mechanisms.metric.exact import largest_ratio, magnitude

__all__ = ["chunks", "slope_across", "slope_of_pairs", "two_largest"]

CHUNK = 1 << 21  # numbers in the hand at once


def slope_of_pairs(lines: Lines, pairs: Pairs) -> Fraction:
    """The exact maximum of cost / distance over the pairs and all lines.

    >>> pairs = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([1, 4]), Fraction(1, 2))
    >>> slope_of_pairs(Lines(np.array([[0, 1, 4]])), pairs)
    Fraction(2, 1)
    """
    worst = [lines.cost(part.one, part.other).max(axis=0) for part in chunks(pairs, len(lines.values))]
    return largest_ratio(np.concatenate(worst), pairs.distance) / pairs.unit if worst else Fraction(0)


def chunks(pairs: Pairs, width: int) -> Iterator[Pairs]:
    """The pairs, few enough at a time that ``width`` numbers for each fit in the hand."""
    step = max(1, CHUNK // max(1, width))
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        yield Pairs(pairs.one[part], pairs.other[part], pairs.distance[part], pairs.unit)


def slope_across(lines: Lines, least: Fraction) -> Fraction:
    """A bound for lines of several groups whose pairs are too many: their two largest numbers / the least distance.

    A move costs at most |q_u| + |q_v|, whatever the groups.
    """
    return Fraction(int(two_largest(magnitude(lines.values)).max())) / least


def two_largest(values: Integers) -> Integers:
    """(n,) the sum of the two largest of each row of an (n, m) array, m >= 2."""
    return np.asarray(np.partition(values, values.shape[1] - 2, axis=1)[:, -2:].sum(axis=1))
