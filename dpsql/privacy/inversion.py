"""One of several intervals by inversion: where a uniform U, times the total weight, lies among the running sums.

Interval i weighs widths[i] exp(-exponent gaps[i]); the least gap of an interval that is not empty is 0. The running
sums of the weights are enclosed from both sides: by floats, where these decide, else by integers.

Tests: tests/unit/privacy/test_inversion.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from dpsql.privacy.probabilities import ExpOf
from dpsql.privacy.words import Integers as Whole
from dpsql.privacy.words import whole_numbers

__all__ = ["MOST_FLOATS", "MOST_GROUPS", "checked", "gaps_of_each", "located", "located_in_each", "one_by_one"]

MOST_FLOATS = 2**16  # Intervals whose weights are added up in floats: what the bound on their error rests on.
BLOCK = 256
"""Weights whose sum is found together. It is a choice: one running sum of all takes three times as long as the rest."""
FAR = 90.0
"""Exponents beyond which an interval weighs too little to be looked at. It is a choice: all of them together then weigh
2^-50, and of thousands of intervals a draw looks at the few around the best one."""
UNSURE = 2.0**-33  # Of the total weight: four times what floats may be off by.
UNSURE_OF_EACH = 2.0**-22
"""The same of one group's weight, where several are added up: eight times what floats may be off by."""
MOST_GROUPS = 2**12  # Whose weights are added up in floats together: what the bound on their error rests on.


def checked(widths: Sequence[int] | Whole, scores: Sequence[int] | Whole) -> tuple[Whole, Whole]:
    """(n,) the widths of intervals, and how far each one's score is below the best of one that is not empty.

    Raises:
        ValueError: The lengths differ, a width is below 0, or none is above it.
    """
    sizes, whole = whole_numbers(widths), whole_numbers(scores)
    if len(sizes) != len(whole):
        raise ValueError(f"intervals: {len(sizes)} widths beside {len(whole)} scores; give one score per interval")
    least = sizes.min(initial=1)
    if least < 0 or not sizes.any():
        raise ValueError("intervals: a width is below 0, or none is above it; give the grid points in each interval")
    if least:
        return sizes, whole.max() - whole
    return sizes, np.where(sizes > 0, whole[sizes > 0].max() - whole, 0)


def gaps_of_each(starts: Whole, widths: Whole, scores: Whole) -> Whole:
    """(n,) int64: how far each score is below the best of its group; as `Sampler.intervals_of_each` takes them.

    Raises:
        ValueError: A group has no interval, a width is below 0, or a group has none above it.
    """
    many = np.diff(starts)
    if not len(many):
        return scores
    if many.min() < 1 or widths.min() < 0 or not np.maximum.reduceat(widths, starts[:-1]).all():
        raise ValueError(
            "intervals: a width is below 0, or a group has none above it; give the points in each interval"
        )
    held = scores if widths.all() else np.where(widths > 0, scores, np.iinfo(np.int64).min)
    gaps = np.repeat(np.maximum.reduceat(held, starts[:-1]), many) - scores
    return gaps if held is scores else np.where(widths > 0, gaps, 0)


def one_by_one(
    draw: Callable[[Any, Any, Fraction], tuple[int, int]],
    starts: Whole,
    widths: Whole,
    scores: Whole,
    exponent: Fraction,
) -> tuple[Whole, Whole]:
    """(k,) and (k,): what a draw from the intervals of each group returns, one after the other."""
    drawn = [draw(widths[begin:end], scores[begin:end], exponent) for begin, end in pairwise(starts.tolist())]
    index, offset = (np.array([pair[at] for pair in drawn], dtype=np.int64) for at in (0, 1))
    return index, offset


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


def located_in_each(words: Whole, bits: int, starts: Whole, widths: Whole, gaps: Whole, exponent: Fraction) -> Whole:
    """(k,) int64: the interval of each group that holds its U; -1 where floats do not tell.

    Each group's weights are divided by their sum, so that they add up to 1, and one running sum goes over all. With
    n <= 2^16 intervals and k <= 2^12 groups each of its n terms is rounded by 2^12 2^-53 at most: a difference of two
    sums is within 2^-25 of what the divided weights add up to. These are within 2^-35 of the exact ones, as
    `_located_by_floats` says. A decision that leaves `UNSURE_OF_EACH` on both sides is therefore that of exact weights.

    Args:
        words: (k,) the first bits of each U.
        bits: How many, 1 to 32.
        starts: (k + 1,) where each group begins, and last n.
        widths: (n,) int64.
        gaps: (n,) int64.
        exponent: >= 0.
    """
    many = np.diff(starts)
    if not 0 < len(many) <= MOST_GROUPS or len(widths) > MOST_FLOATS:
        return np.full(len(many), -1, dtype=np.int64)
    begin, end = starts[:-1], starts[1:]
    x = float(exponent) * gaps
    weights = widths * np.exp(-np.minimum(x, FAR))
    weights[x > FAR] = 0.0
    weights /= np.repeat(np.add.reduceat(weights, begin), many)
    sums = np.append(0.0, weights.cumsum())  # before each interval, and last of all
    low, high = words / 2.0**bits, (words.astype(np.float64) + 1) / 2.0**bits
    found = np.clip(np.searchsorted(sums, sums[begin] + low, side="right") - 1, begin, end - 1)
    at_least = (found == begin) | (sums[found] + UNSURE_OF_EACH <= sums[begin] + low)
    at_most = (found == end - 1) | (sums[begin] + high + UNSURE_OF_EACH <= sums[found + 1])
    return np.where(at_least & at_most & (weights[found] > 0), found - begin, -1)


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
