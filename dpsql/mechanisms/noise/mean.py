"""A mean as the ratio of a noised centred sum and a noised count, over either law of noise.

Neighbours: ``add_remove`` and ``replace_one``. Loss: that of the two noised integers together, stated by the mechanism
whose noise it is; everything here works on released numbers.

With a centre c inside the bounds, S is the sum of (x - c) and n the number of values that are not NULL. One row moves S
by at most max(high - c, c - low) and n by 1: less than the max(|low|, |high|) of a plain sum. The answer is c + S / n,
put inside the bounds, and c where the noised n is below 1.

Where the rows themselves are fixed and public (``rows_fixed``) and the argument is never NULL, whatever the data are
(``is_certain``: a policy's word on NULL is not enough, for data may break it), n is exact and free, and
one swap moves S by at most high - low.

Interval (Fieller 1954). The noise-free mean, c + a, satisfies S - a n = X - a Y for the noises X of S and Y of n. So
{a : |S - a n| <= q(a)}, q(a) the quantile of |X - a Y|, contains it with the wanted probability, whatever n is. q is
convex in a: quantiles of a symmetric log-concave law are a support function (Meyer, Reisner 1991; Bobkov 2010, Theorem
6.1). So on either side of S / n the edge of the set is crossed once, and bisection finds it. The continuous law stands
in for the discrete one, (1 + |a|) / 2 being added to q: half a step for each of the two roundings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.sensitivity import Sensitivity, need_of, rows_fixed, sensitivity_of
from dpsql.plan.needs import Measure, MeasureKind, Need
from dpsql.plan.types import Facts, Grid
from dpsql.plan.values.ranges import is_certain
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = [
    "USUAL_MISS",
    "MeanQuery",
    "MeanRelease",
    "anchor_of",
    "centre_of",
    "declared_centre",
    "deviation_of",
    "fieller",
    "mean_query",
]

Floats = npt.NDArray[np.float64]

SHARES = 64  # The price is split between sum and count in 64ths. It is a choice: a finer split hardly lowers the error.
USUAL_MISS = 0.05
"""As a probability: at 95% it is judged whether any mean within the bounds fits the noise, whatever confidence is asked
for. It is a choice: the usual level."""
BISECTIONS = 48  # Halvings of the bounds: finer than any float shown.


@dataclass(frozen=True, slots=True)
class MeanQuery:
    """What a mean needs to know, all of it public.

    Attributes:
        need: The centred sum as ``m0``, the number of values (or of fixed rows) as ``m1``.
        grid: Of the argument.
        centre: In grid steps, within the grid's bounds: what the sum is centred at.
        sum_sensitivity: Of the centred sum.
        count_sensitivity: Of the count, or None where the count is public.
        rows_about: Guess of the rows per group.
        deviation: Guess of the mean's distance from the centre, in grid steps, > 0.
        nothing: The mean where the noised count is below 1, in grid steps; None for the centre.
    """

    need: Need
    grid: Grid
    centre: int
    sum_sensitivity: Sensitivity
    count_sensitivity: Sensitivity | None
    rows_about: int
    deviation: float
    nothing: int | None = None

    def share(self, exponent: float) -> Fraction:
        """The sum's share of the price with the least expected error; the count's is the rest.

        To first order the error of S / n has variance (Var X + a^2 Var Y) / n^2. Where a noise of sensitivity s at
        share p has variance ~ (s / p)^2, it is least for p ~ s^(2/3); where it is ~ s^2 / p, for p ~ s. The count's
        sensitivity weighs ``deviation`` times.

        Args:
            exponent: 2/3 for Laplace noise priced by epsilon, 1 for Gaussian noise priced by rho.
        """
        if self.count_sensitivity is None:
            return Fraction(1)
        for_sum = self.sum_sensitivity.l1**exponent
        for_count = (self.deviation * self.count_sensitivity.l1) ** exponent
        return Fraction(min(max(round(SHARES * for_sum / (for_sum + for_count)), 1), SHARES - 1), SHARES)


def mean_query(request: Request, centre: int | None = None) -> MeanQuery:
    """The mean's measures, sensitivities and public guesses.

    Args:
        request: What is asked.
        centre: In grid steps, within the grid's ends; None for the declared one, else the middle of the bounds.
    """
    grid, argument = request.grid, request.aggregate.argument
    if grid is None or argument is None:
        raise InvariantBroken("a mean needs an argument on a grid")
    facts = request.facts
    centre = centre_of(grid, facts) if centre is None else centre
    total = Measure(MeasureKind.SUM, argument, grid, shift=centre)
    public = rows_fixed(request) and is_certain(argument)  # what the policy says of NULL, data may break
    count = Measure(MeasureKind.ROWS) if public else Measure(MeasureKind.VALUES, argument)
    return MeanQuery(
        need=need_of(request, total, count),
        grid=grid,
        centre=centre,
        sum_sensitivity=sensitivity_of(request, total),
        count_sensitivity=None if public else sensitivity_of(request, count),
        rows_about=max(1, request.rows_about),
        deviation=deviation_of(grid, facts, centre),
        nothing=centre_of(grid, facts),
    )


def centre_of(grid: Grid, facts: Facts) -> int:
    """The declared centre on the grid, else the middle of its bounds, in grid steps."""
    centre = declared_centre(grid, facts)
    return (grid.low + grid.high) // 2 if centre is None else centre


def anchor_of(grid: Grid, facts: Facts) -> int:
    """What distances are counted from, in grid steps: the declared centre, else 0, or the bound next to it."""
    centre = declared_centre(grid, facts)
    return min(max(0, grid.low), grid.high) if centre is None else centre


def declared_centre(grid: Grid, facts: Facts) -> int | None:
    """The declared centre in grid steps, or the bound next to it; None where none is declared."""
    return None if facts.centre is None else min(max(round(facts.centre / grid.step), grid.low), grid.high)


def deviation_of(grid: Grid, facts: Facts, centre: int) -> float:
    """A guess of the distance from the centre, in grid steps, > 0.

    Without a declared spread all of the grid is taken to be equally likely.
    """
    up, down = grid.high - centre, centre - grid.low
    anywhere = math.sqrt(Fraction(up**3 + down**3, 3 * max(1, up + down)))
    return max(1e-9, anywhere if facts.spread is None else min(float(facts.spread / grid.step), max(up, down)))


@dataclass(frozen=True, slots=True)
class MeanRelease(Offer):
    """An offer to release a mean from a noised centred sum and a noised or public count.

    Attributes:
        loss: Of both noised integers together, all groups together.
        need: The centred sum and the count.
        query: What is asked and publicly known.
        sum_law: Noise of the centred sum, in grid steps.
        count_law: Noise of the count; None where the count is public.
    """

    need: Need = field(init=False)
    query: MeanQuery
    sum_law: Law
    count_law: Law | None

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self._mean_width())

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the noised numbers, in the order of ``need``."""
        return "sum", "count"

    def _mean_width(self) -> float:
        """Of the mean of a group of ``rows_about`` rows, in the column's unit."""
        query, laws = self.query, (self.sum_law, self.count_law)
        return _half_steps(query.rows_about, query.deviation, *laws, *self._bounds) * float(query.grid.step)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the column's unit, with the noised ``sum`` (centred, in grid steps) and ``count`` behind it."""
        sums = _integers(noised(raw.column("m0"), self.sum_law.draw(sampler, len(raw))))
        counts = _integers(raw.column("m1"))
        if self.count_law is not None:
            counts = _integers(noised(counts, self.count_law.draw(sampler, len(raw))))
        return self.told_of({"sum": sums, "count": counts})

    def told_of(self, columns: Mapping[str, Sequence[int]]) -> ReleasedTable:
        """The release of a noised ``sum`` and ``count``."""
        return ReleasedTable({"value": self._means(columns["sum"], columns["count"]), **columns})

    def _means(self, sums: Sequence[int], counts: Sequence[int]) -> list[float]:
        """centre + sum / count inside the bounds, correctly rounded; below a count of 1 what stands for no value."""
        centre, low, high = self.query.centre, self.query.grid.low, self.query.grid.high
        above, below = self.query.grid.step.as_integer_ratio()
        empty = centre if self.query.nothing is None else self.query.nothing
        nothing = min(max(empty, low), high) * above / below
        return [
            min(max(centre * count + total, low * count), high * count) * above / (count * below)
            if count >= 1
            else nothing
            for total, count in zip(sums, counts, strict=True)
        ]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Fieller's interval for each mean, within the bounds; all of the bounds where no such value fits."""
        sums = np.array([float(total) for total in released.columns["sum"]])
        counts = np.array([float(count) for count in released.columns["count"]])
        low, high = _within(sums, counts, self.sum_law, self.count_law, *self._bounds, confidence)
        grid, step = self.query.grid, float(self.query.grid.step)
        start = low + self.query.centre, high + self.query.centre
        ends = (np.clip(end, grid.low, grid.high) * step for end in start)
        return list(zip(*(end.tolist() for end in ends), strict=True))

    @property
    def _bounds(self) -> tuple[float, float]:
        """The grid's ends as distances from the centre, in grid steps."""
        grid, centre = self.query.grid, self.query.centre
        return float(grid.low - centre), float(grid.high - centre)


@lru_cache(maxsize=1024)  # asked for by the choice, the quote and the answer
def _half_steps(n: int, deviation: float, sum_law: Law, count_law: Law | None, low: float, high: float) -> float:
    """Half width of the 95% interval of a mean of n values at ``deviation`` from the centre, in grid steps.

    They lie on the side on which the bounds are farther away: beyond a bound lies no mean.
    """
    aside = min(deviation, high) if high >= -low else max(-deviation, low)
    sums, counts = np.array([aside * n]), np.array([float(n)])
    least, greatest = _within(sums, counts, sum_law, count_law, low, high, 0.95)
    return float((greatest[0] - least[0]) / 2)


def _within(
    sums: Floats, counts: Floats, sum_law: Law, count_law: Law | None, low: float, high: float, confidence: float
) -> tuple[Floats, Floats]:
    """(low, high) of the mean's distance from the centre, in grid steps."""
    if count_law is None:
        reach = sum_law.quantile(confidence) / np.maximum(counts, 1)
        ratio = sums / np.maximum(counts, 1)
        usual = sum_law.quantile(1 - USUAL_MISS) / np.maximum(counts, 1)
        beyond = (ratio + usual < low) | (ratio - usual > high)
        ends = np.clip(ratio - reach, low, high), np.clip(ratio + reach, low, high)
        bounds = np.where(beyond, low, ends[0]), np.where(beyond, high, ends[1])
    else:
        bounds = fieller(sums, np.maximum(counts, 1), sum_law, count_law, low, high, 1 - confidence)
    return np.where(counts < 1, low, bounds[0]), np.where(counts < 1, high, bounds[1])


def fieller(
    sums: Floats,
    counts: Floats,
    sum_law: Law,
    count_law: Law,
    low: float | Floats,
    high: float | Floats,
    miss: float,
) -> tuple[Floats, Floats]:
    """The least and greatest a within [low, high] for which S - a n is a plausible value of its noise.

    Args:
        sums: (n,) noised sums S.
        counts: (n,) noised counts, >= 1.
        sum_law, count_law: Their noises.
        low, high: Public bounds of a; or (n,) of each.
        miss: 1 - confidence.

    Returns:
        (n,), (n,): low and high where no a is plausible at 95%: the noise was unlikely, and a point would look certain.
        Where none is at the confidence that was asked alone, both ends are the bound nearest to S / n. So more
        confidence never narrows an interval.

    Source: Fieller 1954; the module's docstring has the argument.
    """
    first, second = sum_law.spread, count_law.spread

    def chance(a: Floats) -> Floats:
        width = np.abs(sums - a * counts) - (1 + np.abs(a)) / 2
        return sum_law.tail_of_two(first, np.abs(a) * second, width)

    start = np.clip(sums / counts, low, high)
    inside = np.broadcast_to(start, (2, len(start)))  # both edges at once: the lower one, and the upper one
    bound = outside = np.stack([np.broadcast_to(end, start.shape) for end in (low, high)])
    reaches, best = chance(bound) >= miss, chance(start)
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        within = chance(middle) >= miss
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    edges = np.where(reaches | ~(best >= USUAL_MISS), bound, np.where(best >= miss, outside, start))
    return edges[0], edges[1]


def _integers(values: object) -> list[int]:
    return [int(value) for value in values]  # type: ignore[attr-defined]  # arrays and lists of integers alike
