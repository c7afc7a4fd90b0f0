"""A mean whose noise follows the data: its scale is a quantile of how far apart pairs of people are.

Neighbours: ``replace_one`` alone, over a table of exactly one row a unit, whose number n is public. The ids are public
labels: a replaced unit keeps its id, and so its place. Loss: `RandomDPLoss`, with a gamma and a delta of its own.

Let y_i be the value of person i less a public centre, in grid steps, or 0 where the declared condition leaves the
person out; D the width of its declared bounds, S the sum of all y_i. By a secret order of the ids, person i is paired
with person i + m, m = floor(n / 2), and h_i = |y_i - y_(i + m)|. Replacing x by x' moves S by |y - y'|: so h bounds how
far a swap of two random people moves S, and S / n by h / n.

1. With r = m + 1 - floor(gamma m) let E = m - r: the pairs that may be further apart than what is covered.
2. Choose s among public numbers s_1 < ... < s_G = D (G of them, each at most 1.2 times the one before) with
   P(s) ~ exp(epsilon_1 q(s) / 5), where q(s) = -4 max(0, t - R(s)) - max(0, R(s) - t), R(s) counts the pairs with
   h_i <= s, and t = m - floor((4 E - 5 ln(G / delta) / epsilon_1) / 5). Where that is no t <= m, s = D.
3. Release S plus discrete Laplace noise of scale s / epsilon_2; and, where a condition leaves people out, how many it
   keeps plus noise of scale 1 / epsilon_3. The mean is the centre plus their ratio.

Theorem. If the people are exchangeable, this is (epsilon_1 + epsilon_2 + epsilon_3, delta, gamma)-random DP.

Proof. Replace one person: x by x', at h* = |y - y'|. At most one pair changes; let h-_1 <= h-_2 ... be the others, in
order. Of these and h*, all pairs of different people, any order is equally likely, so h* > h-_(r - 1) has chance at
most (m - r + 1) / m = floor(gamma m) / m <= gamma. (If x is the odd one out no pair changes, and the chance is less.)
  Otherwise, h* <= h-_(r - 1) <= the r-th smallest h of either table: one more number among them moves the r-th no
lower than the (r - 1)-th of the others. A number s with R(s) <= r - 1 has q(s) <= -4 (t - r + 1), and D has
q(D) = -(m - t); so all of them together are chosen with chance at most
G exp(-epsilon_1 (4 (t - r + 1) - (m - t)) / 5) <= delta, by the choice of t. But for that, s is at least the r-th
smallest, hence at least h*, in both tables alike.
  One pair moves R(s) by 1 for some s, all in one direction, so q by 4 at most in one direction and 1 in the other: a
range of 5, and the choice is epsilon_1-DP (the theorem of `exponential`). Given s >= h*, the noised sum is
epsilon_2-DP, and the noised number epsilon_3-DP, as a swap moves it by 1.  QED

**What it gives up.** The share gamma that is not covered are exactly the outliers: the richest, the oldest. A mean with
bounds protects everybody at nearly the same error; this one is for bounds that nobody can name tightly.

The paper proves less of more: its scale is the quantile itself, stable for large n if the distance has a density (by
Bahadur, Kiefer), which no data can certify; and it takes h* to be independent of the table that it is part of.

Source: Hall, Rinaldo, Wasserman 2013, section 6, for the idea; choice of the scale, finite gamma and proof are above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanQuery, MeanRelease, centre_of, deviation_of
from dpsql.mechanisms.noise.sensitivity import Sensitivity
from dpsql.mechanisms.random_dp.opted import OptedStatement, too_much_gamma
from dpsql.plan.catalog import RandomStatistic
from dpsql.plan.functions import overloads
from dpsql.plan.needs import Aggregates, Contribution, Ordered, Source
from dpsql.plan.nodes import Case, Column, Constant, Expression
from dpsql.plan.types import Facts
from dpsql.plan.values.applied import applied
from dpsql.privacy.exposure import rounded_up
from dpsql.privacy.kinds import RandomDPLoss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["DistanceMean", "chosen_scale", "mean_offer", "scales", "wanted_rank"]

Whole = npt.NDArray[np.int64]

UNDER, OVER = 4, 1
"""How much a rank that is too low, and one that is too high, weighs in the choice of the scale. A guess."""
CHOICE = Fraction(1, 3)
"""The share of epsilon for choosing the scale: with less of it the choice fails for want of people. A guess."""
COUNT = Fraction(1, 6)
"""The share of epsilon for the number of people, where it is private. A guess."""
TYPICAL = 4
"""The scale that is expected, in declared spreads. A guess."""


@lru_cache(maxsize=64)
def scales(width: int) -> tuple[int, ...]:
    """The public scales: whole numbers up to ``width``, each at most a fifth (and 1) above the one before.

    >>> scales(10)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    """
    found = [max(1, width)]
    while found[-1] > 1:
        found.append(min(found[-1] - 1, -(-found[-1] * 5 // 6)))
    return tuple(reversed(found))


def wanted_rank(pairs: int, gamma: Fraction, epsilon: Fraction, delta: Fraction, count: int) -> int | None:
    """t: how many pairs the chosen scale should cover; None where the declared bound must do.

    Args:
        pairs: m.
        gamma: Share of people that may be left uncovered.
        epsilon: epsilon_1, of the choice.
        delta: The chance that the choice may fail.
        count: G, of the candidates.

    >>> wanted_rank(5000, Fraction(1, 100), Fraction(1), Fraction(1, 10**6), count=50)
    4979
    """
    beyond = math.floor(gamma * pairs) - 1
    logarithm = Fraction(math.log(count) - math.log(delta)) * (1 + Fraction(1, 10**9))  # floats err by far less
    spare = math.floor((UNDER * beyond - (UNDER + OVER) * logarithm / epsilon) / (UNDER + OVER))
    return pairs - spare if spare >= 0 else None


def chosen_scale(
    values: Whole, width: int, gamma: Fraction, epsilon: Fraction, delta: Fraction, sampler: Sampler
) -> int:
    """A scale that is at least most distances between two people, chosen privately.

    Args:
        values: (n,) grid steps, in an order that does not depend on them.
        width: D >= 1, of their declared bounds.
        gamma, epsilon, delta: As the module says (epsilon_1).
        sampler: Of the choice.
    """
    pairs, candidates = len(values) // 2, scales(width)
    rank = wanted_rank(pairs, gamma, epsilon, delta, len(candidates))
    if rank is None:
        return candidates[-1]
    distances = np.sort(np.abs(values[:pairs] - values[pairs : 2 * pairs]))
    covered = np.searchsorted(distances, np.array(candidates), side="right")
    scores = -(UNDER * np.maximum(0, rank - covered) + OVER * np.maximum(0, covered - rank))
    index, _ = sampler.intervals([1] * len(candidates), scores.tolist(), epsilon / (UNDER + OVER))
    return candidates[index]


@dataclass(frozen=True, slots=True)
class DistanceMean(Offer):
    """An offer to release a declared mean. Its sensitivity and scale follow from the data.

    Attributes:
        loss: epsilon in all, delta, and the declared gamma.
        need: Every person's value.
        query: The grid, the centre and the public guesses.
        epsilons: Of the scale, of the sum, and of the number of people (None where it is public).
    """

    loss: RandomDPLoss
    need: Ordered
    query: MeanQuery
    epsilons: tuple[Fraction, Fraction, Fraction | None]

    def __post_init__(self) -> None:
        gamma = rounded_up(self.loss.gamma)
        notes = (
            f"It gives this up: the share {gamma} of people who lie furthest from others may have no protection, and "
            "nothing is promised if the people are not exchangeable draws; their ids count as public.",
            f"gamma {gamma} is charged once for version {self.loss.version} of the table. The noise follows a private "
            "quantile of the distances; a mean with declared bounds protects everybody.",
        )
        derive(self, half_width=self._given(self._expected_scale()).half_width, notes=notes)

    def _expected_scale(self) -> int:
        """Four declared spreads, or the bounds where the people that the policy guesses are too few to choose one."""
        widest, pairs = self._width, self.query.rows_about // 2
        rank = wanted_rank(pairs, self.loss.gamma, self.epsilons[0], self._delta, len(scales(widest)))
        return min(widest, max(1, round(TYPICAL * self.query.deviation))) if rank else widest

    @property
    def _width(self) -> int:
        """D, in grid steps."""
        return max(1, self.query.grid.high - self.query.grid.low)

    @property
    def _delta(self) -> Fraction:
        """The chance that the choice of the scale may fail."""
        if self.loss.delta is None:
            raise InvariantBroken("a chosen scale needs delta")
        return self.loss.delta

    def _given(self, scale: int) -> MeanRelease:
        """The same mean with noise of a known scale."""
        _, of_sum, of_count = self.epsilons
        count = None if of_count is None else LaplaceLaw(1 / of_count)
        return MeanRelease(self.mechanism, self.loss, self.query, LaplaceLaw(scale / of_sum), count)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the column's unit, the noised ``sum`` and ``count`` behind it, and the chosen ``scale``."""
        held = _whole(raw.column("rows"))
        values = (_whole(raw.column("value")) - self.query.centre) * held
        scale = chosen_scale(values, self._width, self.loss.gamma, self.epsilons[0], self._delta, sampler)
        exact = RawTable({"m0": [sum(values.tolist())], "m1": [int(held.sum()) if self.epsilons[2] else len(held)]})
        released = self._given(scale).release(exact, sampler).columns
        return ReleasedTable({**released, "scale": [scale]})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Of the noise at the chosen scale: nobody's value is cut, so the mean itself is inside as often as asked."""
        (scale,) = released.columns["scale"]
        return self._given(int(scale)).intervals(released, confidence)


def _whole(column: Sequence[Any]) -> Whole:
    return np.asarray(column, dtype=np.int64)


def mean_offer(name: str, request: Request, asked: OptedStatement) -> DistanceMean | str:
    """The offer for a declared mean, or in a sentence why there is none."""
    argument, table, source = request.aggregate.argument, asked.scan.table, request.source
    if request.neighbour_rows == 1 or not table.every_unit or table.rows_per_unit != 1:
        return "a mean is proved under replace_one alone, for a table that declares every_unit."
    if source.keys or source.cap_rows or request.aggregate.bounds is not None:
        return "a declared mean has no groups, caps or bounds of the statement's own."
    statistic = _declared(asked, argument)
    if isinstance(statistic, str) or argument is None or request.grid is None:
        return statistic if isinstance(statistic, str) else f"{request.aggregate.text} has no bounds."
    if problem := too_much_gamma(request, statistic.gamma):
        return problem
    if request.price.delta == 0:
        return "choosing the scale needs delta; add delta to the statement's options, such as delta = 1e-8."
    pure = pure_loss(request.price)
    if pure is None:
        return TOO_SMALL
    grid, kept = request.grid, _kept(argument, asked)
    centre = centre_of(grid, request.facts)
    public = not asked.conditions
    for_count = None if public else pure.epsilon * COUNT
    whole = Source(asked.scan, (), Contribution(1, 1, 1))
    width = max(1, grid.high - grid.low)
    query = MeanQuery(
        need=Aggregates(whole, ()),
        grid=grid,
        centre=centre,
        sum_sensitivity=Sensitivity(width, width**2, one_cell=True),
        count_sensitivity=None if public else Sensitivity(1, 1, one_cell=True),
        rows_about=max(1, request.rows_about),
        deviation=deviation_of(grid, request.facts, centre),
    )
    return DistanceMean(
        mechanism=name,
        loss=RandomDPLoss(pure.epsilon, statistic.gamma, statistic.name, asked.partition.version, request.price.delta),
        need=Ordered(whole, kept, grid),
        query=query,
        epsilons=(
            pure.epsilon * CHOICE,
            pure.epsilon * (1 - CHOICE - (0 if public else COUNT)),
            for_count,
        ),
    )


def _declared(asked: OptedStatement, argument: Expression | None) -> RandomStatistic | str:
    """The policy's statistic of this column and these conditions, or why there is none."""
    declared = asked.partition.statistics
    for statistic in declared:
        if isinstance(argument, Column) and (argument.name, asked.conditions) == (statistic.column, statistic.where):
            return statistic
    known = "; ".join(statistic.name for statistic in declared) or "none"
    return f"the policy fixes which means there are, column and condition, and declares {known}."


def _kept(argument: Expression, asked: OptedStatement) -> Expression:
    """The argument where all conditions hold, else NULL."""
    conditions = sorted(asked.conditions, key=repr)
    if not conditions:
        return argument
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = applied("and", overloads("and"), (whole, condition), None)
    return Case(((whole, argument),), Constant(None, Facts(argument.facts.type)), argument.facts)
