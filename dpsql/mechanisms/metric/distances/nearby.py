"""The steepest slope between points in space, without looking at all pairs: branch and bound over a tree of boxes.

Two boxes of points bound all pairs between them: the cost is at most the spread of the numbers in both, the distance
at least that of the boxes. A second bound is good where the numbers are nearly an inclined plane g: what is left over
it spreads little, so that the slope is at most |g| + spread / distance. Pairs of boxes whose bound is hardly steeper
than a slope already found are dropped, the others are split, down to pairs of points.

The greatest bound of a dropped pair is a bound on the result, so that it is above the true slope by at most 2^-12 of
itself. Where too many pairs are left, those with the least bounds are dropped all the same: the result may then be
further above, and never below.

A graph of each point's nearest neighbours is no shortcut: it sees slopes between neighbours only, and a cluster of
equal numbers far from the next hides the slope between clusters. It gives a number below the true slope.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Integers, Lines
from dpsql.mechanisms.metric.distances.exact import Floats

__all__ = ["steepest"]

LEAF = 16
"""How many points the smallest boxes hold at most. A guess."""
MANY_BOXES = 1 << 21
"""How many pairs of boxes one level of the tree may have; with more, a number a little above is taken. A guess."""
HANDFUL = 1 << 18
"""For how many pairs of boxes the bounds are worked out at a time, so that they fit into memory. A guess."""
CHUNK = 1 << 13
"""For how many pairs of smallest boxes the points are compared at a time, so that they fit into memory. A guess."""
TOLERANCE = 1 + 2.0**-12
"""As a factor: by how much the result may be above the true slope. It is a choice between time and noise."""
DOWN = 1 - 2.0**-45  # As a factor below 1: roots and ratios of float64 err by less.
UP = 1 + 2.0**-45  # As a factor above 1: roots and ratios of float64 err by less.
EXACT = 2.0**53  # As a whole number: all up to it are exact in float64.
ROUNDING = 2.0**-46  # As a share of the terms' sizes: sums of so few products err by less in float64.

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The boxes of one level of the tree; box i is split into boxes 2 i and 2 i + 1 of the next.

    Attributes:
        low, high: (k, boxes) float64: corners.
        least, most: (2, lines, boxes) float64: range of the numbers on each line, and of what is over their planes.
        tilt: (2, lines) float64: 0, and slope of the plane.
        slack: (2, lines) float64: what the float64 numbers may err by.
        only: (lines, boxes) integers: the group of a box's points, -1 where there are several; None without groups.
    """

    low: Floats
    high: Floats
    least: Floats
    most: Floats
    tilt: Floats
    slack: Floats
    only: Indices | None

    def halved(self) -> Level:
        """The level above, of half as many boxes."""
        only = None
        if self.only is not None:
            only = np.where(self.only[:, ::2] == self.only[:, 1::2], self.only[:, ::2], -1)
        return replace(
            self,
            low=np.minimum(self.low[:, ::2], self.low[:, 1::2]),
            high=np.maximum(self.high[:, ::2], self.high[:, 1::2]),
            least=np.minimum(self.least[..., ::2], self.least[..., 1::2]),
            most=np.maximum(self.most[..., ::2], self.most[..., 1::2]),
            only=only,
        )

    def bounds(self, one: Indices, other: Indices, floor: float) -> Floats:
        """No pair of points in boxes one[i] and other[i] is steeper; rounded up; floor > 0."""
        step = max(1, HANDFUL // len(self.tilt[0]))
        parts = (slice(start, start + step) for start in range(0, max(1, len(one)), step))
        return np.concatenate([self._bounds(one[part], other[part], floor) for part in parts])

    def _bounds(self, one: Indices, other: Indices, floor: float) -> Floats:
        between = np.maximum(self.low[:, one] - self.high[:, other], self.low[:, other] - self.high[:, one])
        apart = np.maximum(np.sqrt((np.maximum(between, 0) ** 2).sum(axis=0)), floor)
        spread = np.maximum(self.most[..., one] - self.least[..., other], self.most[..., other] - self.least[..., one])
        slopes = (self.tilt[..., None] + (spread + self.slack[..., None]) / apart).min(axis=0)
        if self.only is not None:
            together = (self.only[:, one] == self.only[:, other]) & (self.only[:, one] >= 0)
            largest = np.maximum(np.abs(self.most[0]), np.abs(self.least[0]))
            slopes = np.where(together, slopes, (largest[:, one] + largest[:, other]) / apart)
        return np.asarray(slopes.max(axis=0) * UP)


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The points, sorted so that box i holds those from i * width on.

    Attributes:
        points: (n, k) float64.
        lines: Their numbers and groups.
        width: Points of a box.
        floor: No distance counts less, > 0.
    """

    points: Floats
    lines: Lines
    width: int
    floor: float

    def steepest(self, one: Indices, other: Indices, bounds: Floats, best: float) -> float:
        """The largest slope between points of boxes one[i] and other[i], or ``best`` if that is larger.

        Bounds descend: where they fall to the best, the first of the rest is a bound on all of it.
        """
        for start in range(0, len(one), CHUNK):
            if bounds[start] <= best * TOLERANCE:
                return max(best, float(bounds[start]))
            part = slice(start, start + CHUNK)
            a = (one[part, None, None] * self.width + np.arange(self.width)[None, :, None]).reshape(-1, self.width, 1)
            b = (other[part, None, None] * self.width + np.arange(self.width)[None, None, :]).reshape(-1, 1, self.width)
            best = max(best, self.slopes(a, b))
        return best

    def slopes(self, one: Indices, other: Indices) -> float:
        """The largest slope between points one[i] and other[i] (as broadcast)."""
        square = sum((axis[one] - axis[other]) ** 2 for axis in self.points.T)
        apart = np.maximum(np.sqrt(square), self.floor)
        return max(float((cost / apart).max(initial=0)) for cost in self._costs(one, other))

    def _costs(self, one: Indices, other: Indices) -> Iterator[Floats]:
        """What each move costs, line by line."""
        groups = self.lines.groups if self.lines.groups is not None else [None] * len(self.lines.values)
        for values, group in zip(self.lines.values, groups, strict=True):
            a, b = values[one], values[other]
            cost = np.abs(a - b)
            if group is not None:
                cost = np.where(group[one] == group[other], cost, np.abs(a) + np.abs(b))
            yield cost.astype(np.float64)

    def levels(self) -> list[Level]:
        """The tree of boxes, from that of all points down."""
        boxes = self.points.reshape(-1, self.width, self.points.shape[1])
        numbers = self.lines.values.astype(np.float64)
        planes = np.linalg.lstsq(self.points - self.points.mean(axis=0), numbers.T - numbers.mean(axis=1))[0]
        heights = planes.T @ self.points.T
        tilt = np.stack([np.zeros(len(numbers)), np.linalg.norm(planes, axis=0)])
        size = np.stack([np.abs(numbers).max(axis=1), np.abs(planes).T @ np.abs(self.points).max(axis=0)])
        slack = np.stack([np.where(size[0] > EXACT, size[0], 0), size.sum(axis=0)]) * ROUNDING
        values = np.stack([numbers, numbers - heights]).reshape(2, len(numbers), -1, self.width)
        only = None
        if self.lines.groups is not None:
            groups = self.lines.groups.reshape(values.shape[1:])
            only = np.where(np.all(groups == groups[:, :, :1], axis=2), groups[:, :, 0], -1)
        corners = boxes.min(axis=1).T, boxes.max(axis=1).T
        levels = [Level(*corners, values.min(axis=3), values.max(axis=3), tilt, slack, only)]
        while levels[-1].low.shape[1] > 1:
            levels.append(levels[-1].halved())
        return levels[::-1]


def steepest(points: Integers, lines: Lines, floor: float, most: int = MANY_BOXES) -> float:
    """The largest cost / max(distance, floor) of two different points, or a number a little above it.

    Args:
        points: (n, k) integers, exact in float64, no two alike unless floor > 0; n >= 2.
        lines: (lines, n) numbers; groups are numbered from 0.
        floor: In the points' steps, >= 0.
        most: Pairs of boxes kept on one level of the tree.

    Returns:
        float64, too small by less than 2^-44 of itself. Above the true one by at most 2^-12 of itself, or more where
        too many pairs of boxes had to be looked at.
    """
    from scipy.spatial import cKDTree  # here: a start that needs none of it is quicker

    near, neighbours = cKDTree(points).query(points, k=2)
    order, width = _order(points.astype(np.float64))
    place = np.empty(len(points), dtype=np.int64)
    place[order[::-1]] = np.arange(len(order))[::-1]
    arranged = Lines(lines.values[:, order], None if lines.groups is None else lines.groups[:, order])
    floor = max(floor, float(near[:, 1].min()) * DOWN)
    leaves = Leaves(points[order].astype(np.float64), arranged, width, floor)
    best = leaves.slopes(place, place[neighbours[:, 1]])
    dropped = 0.0
    one = other = np.zeros(1, dtype=np.int64)
    for depth, level in enumerate(leaves.levels()):
        if depth:
            one, other = _split(one, other)
        bounds = level.bounds(one, other, floor)
        limit = best * TOLERANCE
        if len(bounds) > most:
            limit = max(limit, float(np.partition(bounds, -most)[-most]))
        kept = bounds > limit
        dropped = max(dropped, float(bounds[~kept].max(initial=0)))
        one, other, bounds = one[kept], other[kept], bounds[kept]
    steep = np.argsort(-bounds, kind="stable")
    return max(leaves.steepest(one[steep], other[steep], bounds[steep], best), dropped)


def _split(one: Indices, other: Indices) -> tuple[Indices, Indices]:
    """The pairs of halves of each pair of boxes; a box and itself have three."""
    same, apart = one == other, one != other
    boxes, (a, b) = one[same], (one[apart], other[apart])
    halves = [(2 * boxes, 2 * boxes), (2 * boxes, 2 * boxes + 1), (2 * boxes + 1, 2 * boxes + 1)]
    halves += [(2 * a + left, 2 * b + right) for left in (0, 1) for right in (0, 1)]
    return np.concatenate([left for left, _ in halves]), np.concatenate([right for _, right in halves])


def _order(points: Floats) -> tuple[Indices, int]:
    """The points' numbers, box by box, and how many a box holds; the last boxes are filled up with point 0 again.

    Each box is halved across its longest side, until it is small.
    """
    boxes = 1 << max(0, math.ceil(math.log2(len(points) / LEAF)))
    width = -(-len(points) // boxes)
    order = np.zeros((1, boxes * width), dtype=np.int64)
    order[0, : len(points)] = np.arange(len(points))
    while len(order) < boxes:
        inside = points[order]
        longest = np.ptp(inside, axis=1).argmax(axis=1)
        keys = inside[np.arange(len(order))[:, None], np.arange(order.shape[1]), longest[:, None]]
        halves = np.argpartition(keys, order.shape[1] // 2, axis=1)
        order = np.take_along_axis(order, halves, axis=1).reshape(2 * len(order), -1)
    return order.ravel(), width
