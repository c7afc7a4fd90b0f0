"""Minimum, maximum and sum, each unit with a sensitivity of its own.

Write D(.) for the sum of the sensitivities of the units whose value is as said, c for the centre.

Theorem. The preprocessed maximum (the general rule) is the least of

    c + D(all)    and    max(v, c - D(<= v)) + D(> v)  over the values v;

the minimum is its mirror image; the preprocessed sum is the sum of the values, each clipped to +- its sensitivity.

Proof. A function h is g if (1) h(empty) = c, (2) |h(D) - h(D - i)| <= Delta_i, (3) h(D) < f(D) implies h(D) =
h(D - i) + Delta_i for some i, and (4) h(D) > f(D) implies h(D) = h(D - i) - Delta_i for some i: by induction h is the
clip that defines g. The maximum: a new unit moves each candidate by at most its Delta_i. If h is below the largest
value, the best candidate is not that value's, and removing its unit lowers h by that unit's Delta. If h is above it,
h = c - D(all), and every removal raises it. The sum: at once.  QED

Neighbours: ``add_remove``; under ``replace_one`` the sum of the two units' sensitivities. NULLs are left out, an empty
table has c (the sum 0). Who has several rows is reduced to one value first, to its own minimum, maximum or sum: the
statistic stays the same.

Source: the fast forms are ours; the function is Cummings, Durfee 2020.

Tests: tests/unit/mechanisms/preprocessing/test_personalised_release.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.preprocessing.counts import Counts, Data, Whole, exactly, weighted
from dpsql.mechanisms.preprocessing.exact import Exact, exact, exact_all, sensitivity_of, tolls_of

__all__ = ["largest", "maximum", "minimum", "total"]


def maximum(data: Data, sensitivities: Exact | Iterable[Exact], *, centre: Exact) -> Fraction:
    """The largest value, moved as far as the sensitivities demand.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        sensitivities: One for all units; or one for each value, in the same order. Value counts take one for each
            distinct value: the *sum* of the sensitivities of the units that have it.
        centre: The answer for an empty table; public, in the column's unit.

    Returns:
        g, exact. Adding or removing a unit moves it by at most that unit's sensitivity.

    Raises:
        ValueError: If a number is not exact, or there is not one sensitivity for each.

    >>> maximum([3, 1, 50], 10, centre=0)
    Fraction(13, 1)
    >>> maximum([3, 1, 50], [1, 1, 40], centre=0)
    Fraction(42, 1)
    >>> maximum(Counts((3, 50), (1, 2)), [1, 40], centre=0)  # two units of 50, with 20 each
    Fraction(41, 1)
    """
    c = exact(centre, "the centre")
    values, tolls, unit = _paid(data, sensitivities, c)
    return largest(values, tolls, int(c / unit)) * unit


def largest(values: Whole, tolls: Whole, centre: int) -> int:
    """The preprocessed maximum in whole numbers of one unit.

    Args:
        values: Ascending.
        tolls: For each the sum of the sensitivities of the units that have it.
        centre: The answer for nobody.

    >>> largest(np.array([1, 3, 50]), np.array([1, 1, 40]), centre=0)
    42
    """
    if not len(values):
        return centre
    upto = np.cumsum(tolls)
    everyone = int(upto[-1])
    farthest = max(abs(int(values[0])), abs(int(values[-1])), abs(centre)) + 2 * everyone
    values, upto = exactly(values, farthest), exactly(upto, farthest)
    candidates = np.maximum(values, centre - upto) + everyone - upto
    return min(centre + everyone, int(candidates.min()))


def minimum(data: Data, sensitivities: Exact | Iterable[Exact], *, centre: Exact) -> Fraction:
    """The smallest value, moved as far as the sensitivities demand.

    Args, Returns, Raises: as `maximum`.

    >>> minimum([3, 1, 50], 10, centre=20)
    Fraction(10, 1)
    >>> minimum([3, 1, 50], [0, 4, 0], centre=20)
    Fraction(16, 1)
    """
    return -maximum(*_mirrored(data, sensitivities), centre=-exact(centre, "the centre"))


def total(data: Data, sensitivities: Exact | Iterable[Exact]) -> Fraction:
    """The sum of the values, each clipped to plus or minus its sensitivity. With ones for values it is a count.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        sensitivities: One for all units; or, for a list or an array, one for each value in the same order.

    Returns:
        g, exact; 0 for an empty table. Adding or removing a unit moves it by at most that unit's sensitivity.

    Raises:
        ValueError: If a number is not exact, or there is not one sensitivity for each.

    >>> total([3, 1, -50], 10)
    Fraction(-6, 1)
    >>> total([3, 1, -50], [5, 0, 10])
    Fraction(-7, 1)
    """
    if not isinstance(sensitivities, Iterable):
        counts = Counts.of(data)
        delta = sensitivity_of(sensitivities)
        steps = delta / counts.grid
        inside = math.floor(steps)
        values, occur = counts.arrays()
        low, high = values.searchsorted(-inside), values.searchsorted(inside, side="right")
        within = weighted(values[low:high], occur[low:high])
        above, below = int(occur[high:].sum()), int(occur[:low].sum())
        return within * counts.grid + (above - below) * delta
    if isinstance(data, Counts):
        raise ValueError(
            "value counts do not say which sensitivity belongs to whom; "
            "add up total(counts of one class, its sensitivity) over the classes."
        )
    numbers = exact_all(data, "a value")
    tolls = tolls_of(sensitivities, len(numbers))
    return sum((min(max(v, -toll), toll) for v, toll in zip(numbers, tolls, strict=True)), Fraction(0))


def _paid(data: Data, sensitivities: Exact | Iterable[Exact], c: Fraction) -> tuple[Whole, Whole, Fraction]:
    """Ascending values, the sensitivities of the units at each, and the common unit of both and of c."""
    if isinstance(sensitivities, Iterable):
        listed = [v * data.grid for v in data.arrays()[0].tolist()] if isinstance(data, Counts) else data
        numbers = exact_all(listed, "a value")
        pairs = sorted(zip(numbers, tolls_of(sensitivities, len(numbers)), strict=True))
    else:
        counts, delta = Counts.of(data), sensitivity_of(sensitivities)
        unit = _common(counts.grid, delta, c)
        step, toll = int(counts.grid / unit), int(delta / unit)
        values, occur = counts.arrays()
        farthest = max(map(abs, values[:1].tolist() + values[-1:].tolist()), default=0) * step
        return exactly(values, farthest) * step, exactly(occur, counts.count * toll) * toll, unit
    unit = _common(c, *(number for pair in pairs for number in pair))
    steps = [[int(number / unit) for number in side] for side in zip(*pairs, strict=True)] or [[], []]
    return np.array(steps[0], dtype=object), np.array(steps[1], dtype=object), unit


def _common(*numbers: Fraction) -> Fraction:
    """The largest 1 / k of which all are whole multiples."""
    return Fraction(1, math.lcm(*(number.denominator for number in numbers)))


def _mirrored(
    data: Data, sensitivities: Exact | Iterable[Exact]
) -> tuple[Counts | list[Fraction], Exact | list[Exact]]:
    """Values times -1, each with its sensitivity still."""
    listed = list(sensitivities) if isinstance(sensitivities, Iterable) else sensitivities
    if isinstance(listed, list) and not isinstance(data, Counts):
        return [-value for value in exact_all(data, "a value")], listed
    return Counts.of(data).negated(), listed[::-1] if isinstance(listed, list) else listed
