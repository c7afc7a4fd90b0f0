"""k-means and mixtures of k clusters by the k-tuple method: a tuple of centres from each part of the data.

Neighbours: ``add_remove`` and ``replace_one``; one row per privacy unit. Loss: (epsilon, delta), or rho but for delta.

1. Every unit goes to one of t public parts (`parts`).
2. An oracle clusters each part and sees nothing else (`oracle`): a tuple of k centres. A part of fewer than k rows has
   an element of its own in its place, which is nobody's friend.
3. The tuples' radius, core and noisy average (`tuple_core`): k centres, or nothing where too few parts agree.
4. One noisy step of Lloyd's algorithm over all rows (`lloyd`).

Theorem. One unit more, less or exchanged changes one part (an exchanged unit is coupled to the same part), hence
exchanges one tuple of t. So the loss is the sum of the losses of the radius, the core and the step; all are stated.

Source: Tsfadia et al. 2022, section 5, where parts have floor(n / t) rows. One row more can then change every part, and
an oracle that shows how many rows it got would change every tuple: here parts are drawn.

Every row is brought to a grid of `LARGEST` steps to the bound and into the ball, by its own coordinates alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core import oracle
from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedSwapFilter
from dpsql.mechanisms.friendly_core.lloyd import lloyd_step
from dpsql.mechanisms.friendly_core.parts import dealt, part_numbers
from dpsql.mechanisms.friendly_core.swaps import ByChance, ByThreshold, SwapFilter
from dpsql.mechanisms.friendly_core.tuple_core import average_of, joint_radius, radius_of, search_between
from dpsql.mechanisms.friendly_core.tuples import LARGEST, MOST_DIMENSIONS, NEVER, gaps
from dpsql.mechanisms.gaussian import vector_loss
from dpsql.mechanisms.laplace import split_among
from dpsql.privacy.account import DELTA_UNIT
from dpsql.privacy.kinds import Approximate, Concentrated, Loss, Pure
from dpsql.privacy.loss import Composed
from dpsql.privacy.sampling import Sampler

__all__ = ["KMeans", "in_unit", "k_means", "plan_k_means", "rows_needed", "scale_in_steps"]

Integers = npt.NDArray[Any]
Number = int | float | Fraction

SHARES = (Fraction(1, 20), Fraction(3, 4), Fraction(1, 5))
"""The shares of the price for the radius, for the core and for Lloyd's step. A guess."""
FILTER_SHARE = Fraction(4, 5)
"""The share of the core's rho that its filter takes; its average has the rest. A guess."""
MOST_PARTS = 2000  # Parts of the data. It is a choice: more need less noise, and fewer rows are left for each.
PARTS = (100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, MOST_PARTS)
"""Numbers of parts that are tried, in order, until one serves at the price. It is a choice: the fewest parts have the
most rows each."""
MOST_POINTS = 2**14
"""The largest product of k and the number of parts: their distances are all worked out. A guess."""
AGREEING = Fraction(17, 20)
"""The share of the parts that is expected to agree; the tuples of the others are of no use. A guess."""
SURE_SEARCH = 40
"""Parts times the epsilon of the search for a radius, at least: a search with less often fails. A guess."""
ENOUGH = 1 / 3
"""The most noise of an averaged centre, as a share of the radius, with which it still serves. A guess."""
ROWS_PER_CENTRE = 5
"""The fewest rows of a part for each centre. A guess."""


@dataclass(frozen=True, slots=True)
class KMeans:
    """What a clustering will do: public numbers alone.

    Attributes:
        k: Number of centres.
        parts: Number t of parts.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        radius: Loss of the search for a radius.
        filter: Chooses the core of the tuples.
        average: Averages it.
        core: Loss of filter and average together.
        step: Loss of Lloyd's step.
    """

    k: int
    parts: int
    neighbours: str
    radius: Pure
    filter: SwapFilter
    average: FriendlyAverage
    core: Loss
    step: Concentrated

    @property
    def loss(self) -> Loss:
        """All of it."""
        return Composed((self.radius, self.core, self.step))

    def centres(self, points: Integers, scale: tuple[int, int], sampler: Sampler) -> Integers | None:
        """(k, d) int64 centres in lexicographic order, or None where too few parts agree.

        Args:
            points: (n, d) integers, norm at most `LARGEST`; one row per privacy unit.
            scale: Least and greatest radius of the tuples to try, in grid steps.
            sampler: Source of noise.
        """
        tuples, between = self._tuples(points, sampler)
        radius = radius_of(between, search_between(scale, self.radius.epsilon), sampler)
        friends = (between <= radius * radius).sum(axis=1)
        core = tuples[self.filter.kept(friends, sampler)]
        averaged = average_of(core, radius, self.average, sampler)
        if averaged is None:
            return None
        limit = 4 * LARGEST  # what noise can do has no bound
        whole = [[max(-limit, min(limit, x)) for x in place] for place in averaged]
        start = oracle.inside_ball(np.array(whole, dtype=np.int64))
        found = lloyd_step(points, start, self.step.rho, self.neighbours, sampler)
        return np.asarray(found[np.lexsort(found.T[::-1])])

    def _tuples(self, points: Integers, sampler: Sampler) -> tuple[Integers, Integers]:
        """(t, k, d) the oracle's answer for every part, and (t, t) their gaps."""
        groups = dealt(points, part_numbers(len(points), self.parts, sampler), self.parts)
        tuples = np.zeros((self.parts, self.k, points.shape[1]), dtype=np.int64)
        large = np.array([at for at, group in enumerate(groups) if len(group) >= self.k], dtype=np.int64)
        for at in large:
            tuples[at] = oracle.centres(groups[at], self.k)
        between = np.full((self.parts, self.parts), NEVER, dtype=np.int64)
        between[np.ix_(large, large)] = gaps(tuples[large])
        np.fill_diagonal(between, 0)
        return tuples, between


def plan_k_means(k: int, price: Price, neighbours: str, parts: int | None = None) -> KMeans:
    """What a clustering at this price will do, with the fewest parts that serve.

    Fewer parts hold more rows each, so that more of them agree; the filter and the average need a number of parts.

    Args:
        k: Number of centres, from 1.
        price: epsilon and delta, or rho and delta: delta is needed.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        parts: Their number; by default the least that serves.

    Raises:
        ValueError: No number of parts up to the public limit serves, or an argument is outside its range.
    """
    if price.delta // DELTA_UNIT < 10:
        raise ValueError("it needs delta; give one, such as 1e-8")
    most = min(MOST_PARTS, MOST_POINTS // max(k, 1))
    if k < 1 or most < PARTS[0]:
        raise ValueError(f"k is {k}; write a whole number from 1 to {MOST_POINTS // PARTS[0]}")
    if parts is not None and not 2 <= parts <= most:
        raise ValueError(f"parts is {parts}; write a whole number from 2 to {most}")
    for t in [parts] if parts else [t for t in PARTS if t <= most]:
        plan = _planned(k, t, price, neighbours)
        if plan is not None and (parts or _serves(plan)):
            return plan
    raise ValueError(f"this price is too small to cluster with at most {most} parts; ask for more")


def rows_needed(plan: KMeans) -> int:
    """About how many rows make the parts large enough for their oracles."""
    return ROWS_PER_CENTRE * plan.k * plan.parts


def _planned(k: int, t: int, price: Price, neighbours: str) -> KMeans | None:
    """The plan with t parts; None where the price buys nothing."""
    for_radius, for_core, for_step = split_among(price, SHARES)
    deltas = [price.delta * share // DELTA_UNIT * DELTA_UNIT for share in (Fraction(9, 10), Fraction(1, 10))]
    step = vector_loss(replace(for_step, delta=deltas[1]))
    if step is None:
        return None
    found = _approximate(k, t, for_core, deltas[0]) if price.rho is None else _concentrated(k, t, for_core, deltas[0])
    if found is None:
        return None
    filter_, average, core = found
    return KMeans(k, t, neighbours, _search(for_radius), filter_, average, core, step)


def _search(price: Price) -> Pure:
    """The exponential mechanism's loss: epsilon, which is epsilon^2 / 8 in zCDP."""
    if price.rho is None and price.epsilon is not None:
        return Pure(price.epsilon, rho=price.epsilon**2 / 8)
    rho = price.rho or Fraction(0)
    return Pure(Fraction(isqrt(int(8 * rho * 2**48)), 2**24), rho=rho)


Core = tuple[SwapFilter, FriendlyAverage, Loss]


def _approximate(k: int, t: int, price: Price, delta: Fraction) -> Core | None:
    """Priced by epsilon: the basic filter, which needs no number of tuples."""
    epsilon = price.epsilon or Fraction(0)
    filter_ = ByChance(t)
    inner, inner_delta = filter_.swaps.inner(epsilon, delta)
    average = FriendlyAverage.approximate(inner, inner_delta, float(filter_.expected(AGREEING * t)))
    return None if average is None else (filter_, average, Approximate(epsilon, delta))


def _concentrated(k: int, t: int, price: Price, delta: Fraction) -> Core:
    """Priced by rho: the concentrated filter; half of delta lies outside of it, half outside of the average."""
    rho = price.rho or Fraction(0)
    filter_ = ByThreshold(t, ConcentratedSwapFilter(FILTER_SHARE * rho, delta / 2))
    average = FriendlyAverage.concentrated((1 - FILTER_SHARE) * rho, delta / 2, float(AGREEING * t))
    return filter_, average, Concentrated(rho, outside=delta)


def _serves(plan: KMeans) -> bool:
    """Whether the search is sure, the core survives, and its average is precise, when 85 % of the parts agree."""
    kept = plan.filter.expected(AGREEING * plan.parts)
    noise = plan.average.spread(float(kept), joint_radius(1000, plan.k)) / 1000
    return plan.parts * plan.radius.epsilon >= SURE_SEARCH and noise <= ENOUGH


# ------------------------------------------------------------------------------------------- from numbers to steps


def k_means(
    points: npt.ArrayLike,
    k: int,
    bound: Number,
    scale: tuple[Number, Number],
    price: Price,
    neighbours: str,
    sampler: Sampler,
    parts: int | None = None,
) -> npt.NDArray[np.float64] | None:
    """(k, d) float64 centres in the points' unit, in lexicographic order; None where too few parts agree.

    It is what `dp_kmeans` does, for points in the hand: mathematics to be imported.

    Args:
        points: (n, d) numbers, one row per privacy unit, n >= 0; rows with a NaN or an infinity are left out.
        k: Number of centres.
        bound: Radius of the ball around 0 into which points are moved, > 0, in the points' unit.
        scale: Least and greatest distance to expect between a cluster's centre in one part and in another, in the
            points' unit; 0 < low <= high <= 2 bound.
        price: What it may cost: epsilon and delta, or rho and delta.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        sampler: Source of noise.
        parts: Number of parts; by default the least that serves at this price.

    Raises:
        ValueError: An argument is outside its range; never because of the points' values.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or not 1 <= array.shape[1] <= MOST_DIMENSIONS:
        raise ValueError(f"k_means: points have shape {array.shape}; give (n, d) with d from 1 to {MOST_DIMENSIONS}")
    plan, ends = plan_k_means(k, price, neighbours, parts), scale_in_steps(bound, scale)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(array * (LARGEST / float(bound)))
    steps = np.clip(steps[np.isfinite(array).all(axis=1)], -(2.0**26), 2.0**26).astype(np.int64)
    found = plan.centres(oracle.inside_ball(steps), ends, sampler)
    return None if found is None else in_unit(found, bound)


def scale_in_steps(bound: Number, scale: tuple[Number, Number]) -> tuple[int, int]:
    """The ends of a scale in grid steps, rounded outward.

    Raises:
        ValueError: Unless 0 < low <= high <= 2 bound, and low is a step of the grid at least.
    """
    exact = Fraction(bound)
    low, high = (Fraction(end) * LARGEST / exact for end in scale) if exact > 0 else (Fraction(0), Fraction(0))
    if not 1 <= low <= high <= 2 * LARGEST:
        shown = f"scale is ({float(scale[0]):g}, {float(scale[1]):g}) and bound is {float(bound):g}"
        raise ValueError(
            f"{shown}; write bound > 0 and scale => (low, high) with low at least bound / {LARGEST} and high at most "
            "twice the bound"
        )
    return int(low), ceil(high)


def in_unit(centres: Integers, bound: Number) -> npt.NDArray[np.float64]:
    """Centres in the points' unit."""
    return np.asarray(centres * (float(bound) / LARGEST), dtype=np.float64)
