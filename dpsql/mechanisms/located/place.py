"""Where a group's rows lie, from noised numbers alone: a centre, and how far from it most of them are.

Around a centre c, with x - c in grid steps, bin 0 on either side holds the rows within 2^first steps, and bin i those
between 2^(first + i - 1) and 2^(first + i). Every row is in one bin of one side. What follows here is computed from the
noised bins, the noised number of rows and public numbers; it is post-processing, and decides only which window the
answer's exact numbers are clipped to, and how much of the interval is for what lies outside.

The window reaches so far on each side that noise and what is clipped away are expected to be least together, with a
small part (`FEARED`) of what the interval would add. A tail is
believed where it is larger than noise alone would make it: by `beyond`, with a chance of at most 4^-k / 100 for the
k-th doubling beyond the distance that half of the rows keep, and 10^-9 at least. So a chance hit that doubles the noise
k times is rare in its square. Where more than half of all rows are in one bin, they are mostly one value, which shows
no scale by which others thin out: then a tail is believed by a chance of 1 / 100, and where there is none the window
reaches to the bounds. A tail beyond it counts for what it exceeds the noise's standard deviation by, and
further ones are taken to thin out as the last ones did: by a half to nine tenths with each doubling, for variances by
three quarters at least. Where clipping costs less than noise for whoever lies far out, the window ends before the last
tail that is believed.

`Side.hidden` is what the interval adds: the rows beyond the window if tails are larger than they look by what their
noise hides 19 times of 20 (`SWAY`), and thin slowly with the first doublings beyond those that are believed (`tails`),
and by half with each further one. More rows, or rows that lie farther, the noise can hide: at most `most_hidden` of a
group, 99 times of 100, whatever the data are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dpsql.mechanisms.choice.groups import Whole, together
from dpsql.mechanisms.choice.tails import FARTHER, THINS, fading
from dpsql.plan.types import Grid

__all__ = [
    "STANDARD",
    "Bins",
    "Clip",
    "Side",
    "beyond",
    "most_hidden",
    "side_foreseen",
    "squares",
    "total",
    "totals",
    "window_of",
]

LEVELS = 25
"""The most bins of a side. It is a choice: the innermost is then 2^-24 of the bounds, finer than any answer here."""
LIKELY = 1e-2
"""The chance that noise alone passes for a tail, one doubling beyond half of the rows. A guess."""
RAREST = 1e-9  # A probability; that chance is never less. It is a choice: 12 doublings out it would be.
STANDARD = 4
"""Standard deviations of the rows in a window's half width, where nothing tells them. A guess: windows reach to where
rows thin out."""
WITHIN_BIN = 0.7
"""Where the rows of a bin lie, as a share of its far end. A guess: between a half and one."""
SWAY = 1.64
"""In standard deviations of its noise: how much larger than it looks the interval takes a tail to be. So much normal
noise hides 19 times of 20."""
FEARED = 0.02
"""How much what the interval counts beyond a window weighs, beside what noise and clipping are expected to cost.
Measured: of lognormal costs means err by a third less than with 0, and windows around values without long tails stay;
with 0.05 these widen."""
SEEN = 2.0
"""In standard deviations of its noise: the interval counts a tail that is larger, though it may not be believed. A
guess: one of forty is so by noise alone."""
SCALE = 4
"""Bins of a side, at the most, for which it does not matter whether more than half of the rows are one value. It is a
choice: bounds of eight steps and fewer are near, and those of flags and marks. Measured: with 8, where those of [0, 50]
are, intervals of mean days off work in groups of 1,000 people, 97 of 100 of whom had none, missed 4 times of 10."""
FEWEST = 0.1  # Of a row: fewer expected rows are none.
SURE = 0.01  # The chance that more rows than `most_hidden` are hidden: 99 times of 100 it holds.
DIGITS = 20
"""Binary digits of a piece of a number: sums of 2^40 such pieces stay below 2^63."""


@dataclass(frozen=True, slots=True)
class Bins:
    """The public bins of both sides.

    Attributes:
        grid: Of the values.
    """

    grid: Grid

    @property
    def edges(self) -> list[int]:
        """Far ends of the bins of a side, rising, in grid steps; the last is at least high - low."""
        top = max(1, (self.grid.high - self.grid.low - 1).bit_length())
        return [1 << k for k in range(max(0, top - LEVELS + 1), top + 1)]

    def counts(self, values: Whole, rows: Whole, centre: int) -> list[int]:
        """Rows in each bin below the centre, then in each at or above it.

        >>> from fractions import Fraction
        >>> Bins(Grid(Fraction(1), 0, 8)).counts(np.array([1, 4, 5, 8]), np.array([1, 2, 3, 4]), 4)
        [0, 0, 1, 0, 5, 0, 4, 0]
        """
        edges = np.array(self.edges, dtype=np.int64)
        left = values - centre
        places = np.searchsorted(edges, np.abs(left), side="left") + np.where(left < 0, 0, len(edges))
        found = np.zeros(2 * len(edges), dtype=np.int64)
        np.add.at(found, places, rows)
        return [int(k) for k in found]


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of the window leaves out.

    Attributes:
        hidden: By how much the rows outside may move the sum of values, as the interval counts it, in grid steps.
        squared: The same of the sum of squared distances from the centre.
    """

    hidden: float
    squared: float


@dataclass(frozen=True, slots=True)
class Clip:
    """To what a group's values are clipped: low to high around a middle, in grid steps.

    Attributes:
        middle: What the sums are centred at.
        half: The farthest that a clipped value is from the middle, >= 1.
        low, high: Ends.
        under, over: What rows below and above it may add, as the interval counts it, to the sum, in grid steps.
        squared: The same of both to the sum of squared distances.
        standard: About the standard deviation of the rows within.
    """

    middle: int
    half: int
    low: int
    high: int
    under: float
    over: float
    squared: float
    standard: float = 0.0


def window_of(
    bins: Bins,
    centre: int,
    counts: Sequence[int],
    rows: int,
    noise: float,
    power: int,
    cost: float,
    thins: float = THINS[1],
) -> Clip:
    """The window to clip to.

    Args:
        bins: The public bins.
        centre: Released, in grid steps.
        counts: Noised, as `Bins.counts`.
        rows: Noised number of rows, >= 1.
        noise: Scale of the noise of each bin.
        power: 1 for a mean, 2 for a variance.
        cost: Standard deviation of the answer's noise, for a window of half width 1.
        thins: What the interval takes to be left of a tail after one more doubling: of squared values more.
    """
    grid, edges = bins.grid, np.array(bins.edges, dtype=np.float64)
    sides = np.array(counts, dtype=np.float64).reshape(2, len(edges))
    tails = np.cumsum(sides[:, ::-1], axis=1)[:, ::-1]
    base = int(np.argmax(np.append(tails.sum(axis=0) < rows / 2, True)))
    heap = _heap(sides, rows) if len(edges) > SCALE else -1
    lasts = [_last(tail, base if heap < 0 else len(edges), noise) for tail in tails]
    reaches = [
        far if last <= heap else _reach(tail, edges, float(far), (base, last), noise, power, cost, thins)
        for tail, far, last in zip(tails, (centre - grid.low, grid.high - centre), lasts, strict=True)
    ]
    low, high = max(grid.low, centre - reaches[0]), min(grid.high, centre + reaches[1])
    middle = _middle(sides, edges, centre, rows, low, high)
    half = max(1, high - middle, middle - low)
    low, high = max(grid.low, middle - half), min(grid.high, middle + half)
    below = _hidden(tails[0], edges, centre - grid.low, centre - low, lasts[0], noise, thins)
    above = _hidden(tails[1], edges, grid.high - centre, high - centre, lasts[1], noise, thins)
    standard = _standard(sides, edges, rows, half)
    return Clip(middle, half, low, high, below.hidden, above.hidden, below.squared + above.squared, standard)


def _standard(sides: np.ndarray, edges: np.ndarray, rows: int, half: int) -> float:
    """About the standard deviation of what is clipped to a half width, as the noised bins of both sides have it."""
    distances = np.minimum(edges * WITHIN_BIN, half)
    squares = float((np.maximum(sides, 0).sum(axis=0) * distances**2).sum())
    return min(math.sqrt(squares / max(1, rows)), float(half))


def _middle(sides: np.ndarray, edges: np.ndarray, centre: int, rows: int, low: int, high: int) -> int:
    """About the mean of what lies in the window."""
    distances = edges * WITHIN_BIN
    down, up = (
        float((side * np.minimum(distances, reach))[edges <= 2 * max(1, reach)].sum())
        for side, reach in zip(sides, (centre - low, high - centre), strict=True)
    )
    return min(max(centre + round((up - down) / max(1, rows)), low), high)


def _heap(sides: np.ndarray, rows: int) -> int:
    """The bin that holds more than half of all rows, on one side or around the centre: one value, mostly; else -1."""
    cells = np.concatenate([sides[:, :1].sum(axis=0), sides[:, 1:].max(axis=0)])
    return int(cells.argmax()) if cells.max() > rows / 2 else -1


def _last(tail: np.ndarray, base: int, noise: float) -> int:
    """The farthest bin whose tail noise alone would not make; the first where there is none."""
    bins = len(tail)
    for index in range(bins - 1, -1, -1):
        chance = max(LIKELY * 4.0 ** -max(0, index - base), RAREST)
        if tail[index] > noise * beyond(bins - index, chance):
            return index
    return 0


def _reach(
    tail: np.ndarray,
    edges: np.ndarray,
    far: float,
    places: tuple[int, int],
    noise: float,
    power: int,
    cost: float,
    thins: float,
) -> int:
    """How far the window goes on one side, in grid steps.

    Args:
        tail: Noised rows of each bin and beyond.
        edges: Far ends of the bins.
        far: Where the bounds end.
        places: The bins that half of the rows keep, and of the last tail that is believed.
        noise, power, cost, thins: As in `window_of`.
    """
    base, last = places
    known = max(float(tail[last]), noise)
    bins = len(edges) - last - 1
    seen = float(tail[last + 1]) - math.sqrt(2 * bins) * noise if bins else 0.0
    least = min(max(seen, noise / 2), known / 2)
    thins = min(max(least / known, THINS[0]), THINS[1] ** power)
    rows = _rows(tail, last, known, _thinning(least * thins ** np.arange(bins), np.zeros(bins)))
    ends = np.minimum(edges, far)
    reached, lost = ends**power, (WITHIN_BIN * ends) ** power
    outside = np.triu(np.maximum(lost - reached[:, None], 0), 1) @ rows  # for a window to each end, what lies beyond
    feared, at = _feared(tail, edges, far, last, noise, thins)
    hidden = (np.maximum(at**power - reached[:, None], 0) * (edges > ends[:, None])) @ feared
    expected = np.hypot(cost * reached, outside) + FEARED * hidden
    least = min(base, last)
    return math.ceil(float(ends[least + int(expected[least:].argmin())]))


def _hidden(tail: np.ndarray, edges: np.ndarray, far: int, reach: int, last: int, noise: float, thins: float) -> Side:
    """What the interval counts of the rows beyond the window, on one side."""
    if reach >= far:
        return Side(0.0, 0.0)
    rows, ends = _feared(tail, edges, far, last, noise, thins)
    rows[edges <= reach] = 0
    moved = float((rows * np.maximum(ends - reach, 0)).sum())
    squared = float((rows * np.maximum(ends**2 - float(reach) ** 2, 0)).sum())
    return Side(moved, squared)


def _feared(
    tail: np.ndarray, edges: np.ndarray, far: float, last: int, noise: float, thins: float
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each bin of a side as the interval counts them, and how far away it takes them to be."""
    bins = len(edges) - last - 1
    known = max(float(tail[last]), noise)
    most = min(max(float(tail[last + 1]), 0.0) + SWAY * math.sqrt(2 * bins) * noise, known / 2) if bins else 0.0
    ends = np.where(edges < far, edges * FARTHER, far)  # what lay beyond the bounds is at them
    spreads = np.sqrt(2.0 * np.arange(bins, 0, -1)) * noise
    seen = np.where(tail[last + 1 :] > SEEN * spreads, tail[last + 1 :] + SWAY * spreads, 0.0)
    thought = most * fading(bins, thins)
    return _rows(tail, last, known + SWAY * math.sqrt(2 * (bins + 1)) * noise, _thinning(thought, seen)), ends


def side_foreseen(bins: Bins, reach: float, noise: float, thins: float) -> Side:
    """What the interval is expected to count on both sides together, where no row lies beyond a window.

    The bounds are taken to lie on one side of it, as for numbers of which the most are small.

    Args:
        bins: The public bins.
        reach: Of the window, from the centre, in grid steps.
        noise: Scale of the noise of each bin.
        thins: As in `window_of`.
    """
    edges = np.array(bins.edges, dtype=np.float64)
    last = min(int(np.searchsorted(edges, reach)), len(edges) - 1)
    believed = noise * beyond(len(edges) - last, LIKELY)
    tail = np.where(np.arange(len(edges)) <= last, believed, 0.0)
    return _hidden(tail, edges, bins.grid.high - bins.grid.low, math.ceil(reach), last, noise, thins)


def _rows(tail: np.ndarray, last: int, known: float, outside: Sequence[float]) -> np.ndarray:
    """Rows in each bin: as they look up to the last tail that is believed, and what is thought to lie outside of it."""
    rows = np.empty(len(tail))
    rows[:last], rows[last] = tail[:last], known
    rows[:last] -= rows[1 : last + 1]
    rows[last] -= sum(outside)
    np.maximum(rows, 0, out=rows)
    rows[last + 1 :] = outside
    return rows


def _thinning(thought: np.ndarray, seen: np.ndarray) -> list[float]:
    """The rows of some bins, whose tails are as they are thought to be, or as much as was seen there or farther out.

    What is next to nothing is nothing.
    """
    tails = np.maximum.accumulate(np.maximum(thought, seen)[::-1])[::-1]
    return [here - further for here, further in pairwise([*np.where(tails > FEWEST, tails, 0.0).tolist(), 0.0])]


def most_hidden(bins: int, noise: float) -> int:
    """At most so many rows of a group lie beyond the last tail that is believed, 99 times of 100, whatever they are."""
    return math.ceil(2 * noise * (beyond(bins, RAREST) + beyond(bins, SURE / 2)))


@lru_cache(maxsize=1024)
def beyond(terms: int, chance: float) -> float:
    """What the sum of so many independent Laplace noises of scale 1 exceeds with at most this chance.

    By Chernoff's bound: E exp(s X) = 1 / (1 - s^2), and for the discrete law of the same scale it is no larger.

    >>> round(beyond(1, 1e-9), 1), round(beyond(25, 1e-2), 1)
    (24.2, 22.4)
    """
    s = np.linspace(0.02, 0.995, 196)  # any s gives a bound; the best of these is close to the best of all
    return float(((math.log(1 / chance) - terms * np.log1p(-(s**2))) / s).min())


def total(values: Whole, rows: Whole, window: Clip) -> int:
    """That of one group: see `totals`."""
    return totals([(values, rows)], window)[0]


def totals(groups: Iterable[tuple[Whole, Whole]], window: Clip) -> list[int]:
    """Of each group the exact sum of clip(x) - middle over all rows.

    Args:
        groups: (k,) values, int64, in grid steps, and (k,) how many rows hold each.
        window: To clip all of them to.
    """
    return [sum_ for left, rows, starts in _clipped(groups, window) for sum_ in _dots(left, rows, starts)]


def squares(groups: Iterable[tuple[Whole, Whole]], window: Clip) -> list[int]:
    """Of each group the exact sum of (clip(x) - middle)^2 over all rows, for a half width below 2^42.

    >>> everything = Clip(5, 5, 0, 10, 0.0, 0.0, 0.0)
    >>> groups = [(np.array([3, 12]), np.array([2, 1])), (np.array([4]), np.array([1]))]
    >>> totals(groups, everything), squares(groups, everything)
    ([1, -1], [33, 1])
    """
    found = list[int]()
    for left, rows, starts in _clipped(groups, window):
        high, low = left >> DIGITS, left & ((1 << DIGITS) - 1)
        parts = ((high * high, 2 * DIGITS), (high * low, DIGITS + 1), (low * low, 0))
        sums = ((_dots(part, rows, starts), shift) for part, shift in parts)
        found += map(sum, zip(*([dot << shift for dot in dots] for dots, shift in sums), strict=True))
    return found


def _clipped(groups: Iterable[tuple[Whole, Whole]], window: Clip) -> Iterator[tuple[Whole, Whole, Whole]]:
    """Of several groups at once clip(x) - middle, how many rows have each, and where each group begins, and the end."""
    for starts, values, rows in together(groups):
        yield np.clip(values, window.low, window.high) - window.middle, rows, starts


def _dots(left: Whole, rows: Whole, starts: Whole) -> list[int]:
    """The exact sum of products of each group, in pieces that do not overflow."""
    some, found = starts[1:] > starts[:-1], [0] * (len(starts) - 1)
    for shift in (0, DIGITS, 2 * DIGITS):
        piece = left >> shift if shift == 2 * DIGITS else (left >> shift) & ((1 << DIGITS) - 1)
        sums = np.zeros(len(found), dtype=np.int64)
        if len(left):
            sums[some] = np.add.reduceat(piece * rows, starts[:-1][some])
        found = [one + (more << shift) for one, more in zip(found, sums.tolist(), strict=True)]
    return found
