"""A metric on the cells of a domain, from the metrics of its attributes, and the noise that a query needs under it.

Neighbours: one row is replaced, its cell i by a cell j; with ``presence``, one row also comes or goes. A release M is
*d-private* if Pr[M(x) in S] <= exp(d(i, j)) Pr[M(x') in S] for all such neighbours x, x' and all S.

Theorem 1 (Laplace). q(x) + Lap(s) is (L / s) d-private for the least L with cost(i, j) <= L d(i, j), where cost(i, j)
is the L1 distance by which the move changes the answers: each probability changes by a factor of at most exp(cost / s).
It holds for the discrete law on the integers that hold the answers, and for several answers with scales s_k and
sum_k cost_k(i, j) / s_k in place of cost(i, j) / s.

How the attributes' distances d_a combine, k attributes:

    sum     sum of d_a          moves of one attribute at a time are enough: L = max L_a. Exact.
    l2      root of sum d_a^2   cost <= sum L_a d_a <= (root of sum L_a^2) d, by Cauchy and Schwarz.
    sup     max d_a             cost <= sum L_a d_a <= (sum L_a) d.

where L_a is the slope along attribute a. For l2 and sup these are bounds; where the cells are few, or all attributes
are discrete, the exact L is found instead. All three are metrics if the d_a are; sup <= l2 <= sum.

Theorem 2 (presence). Let an absent row be a cell where q = 0, at a distance u from all others. Then moves between
cells and moves to and from the absent cell are enough: L = max(L, max |q_i| / u). The distance of two cells is then at
most 2 u, by way of the absent one, and so it is shown. Without presence the number of rows is public, and the query
that counts them needs no noise: L = 0.

Theorem 3 (composition, post-processing). d-private and then e-private is (d + e)-private, whatever is asked second in
the light of the first answer; a function of a d-private answer is d-private. Databases that differ in several rows lose
the sum of the distances their rows have to move.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018 (d-privacy of linear queries, theorems 1 and 3); sum, l2 and sup by
slopes along attributes, and presence, are ours, proved above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Integers, Lines, Metric, MetricError
from dpsql.mechanisms.metric.distances.discrete import Discrete
from dpsql.mechanisms.metric.distances.exact import Floats, root_above, root_below, safely_above
from dpsql.mechanisms.metric.distances.query import Query

__all__ = ["Combine", "Product", "Slopes"]

Combine = Literal["sum", "l2", "sup"]

FEW_CELLS = 1200
"""Up to so many cells all pairs are looked at, where slopes along attributes give a bound only. A guess."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """What a query's answers tell for each unit of noise: its steepest rise along each attribute.

    Released with noise of scale s they cost (along[a] / s) d_a, added up over the attributes, and presence / s times
    the presence for a row that comes or goes. These are the columns of a ledger, for `sum`.

    Attributes:
        along: One for each attribute: cost / distance; 0 for an attribute that the query does not look at.
        presence: Cost of a row that comes or goes, / presence; 0 where the number of rows is public.
    """

    along: tuple[Fraction, ...]
    presence: Fraction


@dataclass(frozen=True, slots=True)
class Product:
    """d on the cells of the product of some attributes.

    Attributes:
        attributes: One metric each.
        combine: How their distances make one.
        presence: Distance of every cell from an absent row; None where the number of rows is public.

    Raises:
        MetricError: If presence is not above 0, or there is no attribute.

    >>> from dpsql.mechanisms.metric import Chain
    >>> metric = Product((Chain.even(100, Fraction(1, 20)), Discrete(2, Fraction(1, 2))), presence=Fraction(1))
    >>> adults = Query((np.arange(100) >= 18).astype(int).reshape(100, 1))
    >>> metric.lipschitz(adults), metric.slopes(adults).along
    (Fraction(20, 1), (Fraction(20, 1), Fraction(0, 1)))
    """

    attributes: tuple[Metric, ...]
    combine: Combine = "sum"
    presence: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.attributes:
            raise MetricError("a metric has no attribute; name one.")
        if self.presence is not None and self.presence <= 0:
            raise MetricError(f"presence is {self.presence}; write a number above 0.")

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(attribute.size for attribute in self.attributes)

    def slopes(self, query: Query) -> Slopes:
        """The steepest rise along each attribute, and of presence."""
        along = tuple(self.slope(query, axis) for axis in range(len(self.attributes)))
        return Slopes(along, Fraction(query.largest()) / self.presence if self.presence is not None else Fraction(0))

    def slope(self, query: Query, axis: int) -> Fraction:
        """The steepest rise along one attribute."""
        self._check(query)
        if query.values.shape[axis] == 1:
            return Fraction(0)
        return _slope(self.attributes[axis], query, axis)  # type: ignore[arg-type]  # metrics are frozen: hashable

    def lipschitz(self, query: Query) -> Fraction:
        """The scale of discrete Laplace noise that makes the query's answers d-private, in steps of their grid.

        Noise of scale L / m makes them (m d)-private. Never too small; 0 means that the answer is the same for all
        databases of as many rows. Exact for `sum`.
        """
        slopes = self.slopes(query)
        bound = self.combined(slopes.along)
        if self.combine != "sum" and sum(slope > 0 for slope in slopes.along) > 1:
            bound = min(bound, self._lipschitz(query, bound))
        return max(bound, slopes.presence)

    def combined(self, along: Sequence[Fraction]) -> Fraction:
        """A bound on the constant between cells from the slopes along attributes; exact for `sum`."""
        return DUAL[self.combine](along)

    def distances(self, axes: tuple[int, ...]) -> Floats:
        """(n, n) float64: distances of all cells of some attributes (the direct ones), to a relative 2^-50."""
        return _distances(self, axes)

    def distance(self, one: Sequence[int], other: Sequence[int]) -> Fraction:
        """d between two cells, given by their values' numbers; roots rounded down."""
        pairs = zip(self.attributes, one, other, strict=True)
        apart = COMBINED[self.combine]([metric.distance(u, v) for metric, u, v in pairs])
        return apart if self.presence is None else min(apart, 2 * self.presence)

    def diameter(self) -> Fraction:
        """The largest distance, that of an absent row too: the plain epsilon of a d-private release. Rounded up."""
        widest = WIDEST[self.combine]([metric.diameter() for metric in self.attributes])
        return widest if self.presence is None else max(self.presence, min(widest, 2 * self.presence))

    def _lipschitz(self, query: Query, bound: Fraction) -> Fraction:
        """The exact constant between cells (or a number above it by less than 2^-39), where it is cheap."""
        axes = [self.attributes[axis] for axis in query.attributes]
        discrete = [metric.epsilon for metric in axes if isinstance(metric, Discrete)]
        if self.combine == "sup" and len(discrete) == len(axes) and query.groups is None:
            return _of_nested(query.values.squeeze(), discrete)
        if query.cells <= FEW_CELLS:
            return _of_all_pairs(query.flat(), self.distances(query.attributes))
        return bound

    def _check(self, query: Query) -> None:
        """Refuse a query over other cells."""
        if not query.fits(self.sizes):
            raise ValueError(f"a query of shape {query.values.shape} does not fit attributes of sizes {self.sizes}.")


@lru_cache(maxsize=16)  # a statement asks for each several times; few, for a query may hold a million cells
def _slope(metric: Any, query: Query, axis: int) -> Fraction:
    """The steepest rise of a query along one attribute."""
    steepest: Fraction = metric.slope(query.along(axis))
    return steepest


def _sum(parts: Sequence[Fraction]) -> Fraction:
    return sum(parts, Fraction(0))


def _squares(parts: Sequence[Fraction]) -> Fraction:
    return sum((part**2 for part in parts), Fraction(0))


Combination = dict[Combine, Callable[[Sequence[Fraction]], Fraction]]
COMBINED: Combination = {"sum": _sum, "l2": lambda parts: root_below(_squares(parts)), "sup": max}
WIDEST: Combination = {"sum": _sum, "l2": lambda parts: root_above(_squares(parts)), "sup": max}
DUAL: Combination = {"sum": max, "l2": lambda parts: root_above(_squares(parts)), "sup": _sum}


def _of_nested(values: Integers, epsilons: Sequence[Fraction]) -> Fraction:
    """The largest difference / distance where the distance is the largest epsilon of the attributes that differ.

    Cells at most epsilon apart agree in every attribute of a larger one: sorted by epsilon, they are the groups that
    fix all later attributes. So the ranges of those groups, each divided by the epsilon, are enough.
    """
    steepest = Fraction(0)
    high = low = values.transpose(np.argsort(np.array(epsilons, dtype=object), kind="stable"))
    for epsilon in sorted(epsilons):
        high, low = high.max(axis=0), low.min(axis=0)
        steepest = max(steepest, Fraction(int(np.max(high - low))) / epsilon)
    return steepest


def _of_all_pairs(line: Lines, distances: Floats) -> Fraction:
    """The largest cost / distance of all pairs of cells; float64 ratios, rounded up."""
    cells = np.arange(len(distances))
    worst = 0.0
    for cell in range(len(distances) - 1):
        later = cells[cell + 1 :]
        costs = line.cost(np.full(len(later), cell), later)[0].astype(np.float64)
        worst = max(worst, float((costs / distances[cell, cell + 1 :]).max()))
    return safely_above(worst)


@lru_cache(maxsize=4)  # up to a million and a half numbers each
def _distances(metric: Product, axes: tuple[int, ...]) -> Floats:
    """(n, n) float64 distances of all cells of some attributes, to a relative 2^-50."""
    parts = [_matrix(metric.attributes[axis]) for axis in axes]
    cells = np.indices([len(part) for part in parts]).reshape(len(parts), -1)
    each = np.stack([part[np.ix_(at, at)] for part, at in zip(parts, cells, strict=True)])
    order = {"sum": 1, "l2": 2, "sup": math.inf}[metric.combine]
    return np.asarray(np.linalg.norm(each, order, axis=0))


def _matrix(metric: Metric) -> npt.NDArray[np.float64]:
    """(size, size) float64 distances."""
    every = range(metric.size)
    return np.array([[float(metric.distance(u, v)) for v in every] for u in every])
