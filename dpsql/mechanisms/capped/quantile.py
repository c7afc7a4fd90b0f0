"""Quantiles over as many rows of each unit as serve best, with an interval for all of their rows.

Neighbours and loss: stated by `capped.mechanism`, with the theorem.

The answer's cap is the one that is expected to err least. The ends of the interval have a cap of their own, the one
that makes it shortest.

Where the noised sizes say that the rows kept are too few to outweigh bounds far too wide (`ENOUGH`), a part of what is
left finds one clamp of the values of all groups first (`located.clamp`), by the exponential mechanism, and the answer
is drawn within it. A clamp moves no quantile but those beyond it. The ends of the interval are drawn within the bounds.

Theorem. With the clamp the draws lose no more than without it.
Proof. Let the draws have rates that add up to r (`exponential`). The clamp has the rate r / 4 (`CLAMP`), the others 3 /
4 of theirs, and all add up to r again. Their squares do to no more than before: of three draws the squares add up to S,
r^2 / 3 at least, and r^2 / 16 + 9 S / 16 <= S. A row that comes, goes or is replaced moves the scores of the clamp by
at most FINE against each other (`clamped`), at the exponent rate / FINE, so that it is told of by the rate. As the
clamp is one choice for all groups, its loss in rho goes by the square of a neighbour's rows in all of them: its rate is
less by the root of what the sum of squares by group is of that.  QED

Interval. Let the share of kept rows that are at most v, and that of those below v, differ by at most d from the shares
of all rows, v being the quantile q of these. Then v lies between the kept rows' quantiles q - d and q + d. The lower
end is drawn for the first, r ranks below it, the upper one for the second, as `choice.quantile` says; an end that would
be at 0 or 1 is the bound, and costs nothing. d is the drift of the cap and twice its sway (`sizes`): the interval holds
unless the noise hides what makes them larger, or units of many rows are in some groups alone.

Tests: tests/unit/mechanisms/capped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.base import Interval, derive
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.sizes import UnitSizes
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.choice.quantile import Draw, QuantileRelease, chosen
from dpsql.mechanisms.exponential import root_below
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["CappedQuantile"]

LIKELY_DRIFT = 0.2
"""The part of its drift by which a cap is likely to move an answer. A guess: what units have many rows of mostly lies
near what others have."""
FINE = 256  # Parts of the rows: fractions of the interval's ends are rounded outward to one of them. It is a choice.
NARROW = 4096
"""How many times as wide as where the rows lie the bounds may be, where a cap is chosen: the noise must leave a point
among the rows likelier than all others. A guess: it is cheap, for it enters by its logarithm."""
CLAMP = Fraction(1, 4)
"""Of the rate, for a clamp of the values where they are too few. It is that of `located`, and a choice."""
ENOUGH = 12.0
"""Nats by which the rows on the lesser side of a quantile outweigh the bounds: with fewer, values are clamped first. A
choice: beyond e^12 times as wide no bounds are thought to be."""
LIKELY = 2.0
"""What is expected 95 times of 100 over the root of the mean square: about the same for the noise and for a cap."""


@dataclass(frozen=True, slots=True)
class CappedQuantile(CappedRelease):
    """An order statistic, and the ends of its interval.

    Attributes:
        inners: What answers at each cap.
        clamps: Of the values.
    """

    inners: tuple[QuantileRelease, ...]
    clamps: Clamps

    def __post_init__(self) -> None:
        declined = not self.inners[0].query.bracketed
        width = self.expected_error if declined else self._width(self.guess, self.widest(self.guess))
        derive(self, half_width=width)

    @property
    def expected_error(self) -> float:
        """Of the answer, 95 times of 100."""
        return self._error(self.guess, self.best(self.guess), self.inners[0].query.extent)

    def best(self, sizes: UnitSizes) -> int:
        """The cap of the answer."""
        extent = self.inners[0].query.extent / NARROW
        return min(range(len(self.inners)), key=lambda place: self._error(sizes, place, extent))

    def widest(self, sizes: UnitSizes) -> int:
        """The cap of the interval's ends."""
        return min(range(len(self.inners)), key=lambda place: self._width(sizes, place))

    def _error(self, sizes: UnitSizes, place: int, extent: float) -> float:
        """Of the answer, 95 times of 100, where the rows lie over such an extent, in grid steps."""
        inner, rows = self.inners[place], self.rows(sizes, place)
        p, step = inner.query.rank.fraction, float(inner.query.grid.step)
        sway = 2 * math.sqrt(p * (1 - p) * self.groups) * sizes.sway(place)
        moved = LIKELY * math.hypot(LIKELY_DRIFT * sizes.drift(place), sway) * extent * step
        everywhere = float((inner.query.grid.high - inner.query.grid.low) * inner.query.grid.step) / 2
        return min(math.hypot(inner.foreseen(rows, extent), moved), everywhere)

    def _width(self, sizes: UnitSizes, place: int) -> float:
        """Half of the interval, where the rows lie evenly."""
        inner = self.inners[place]
        query = replace(inner.query, rows_about=self.rows(sizes, place))
        moved = self.share(sizes, place) * query.extent * float(query.grid.step)
        everywhere = float((query.grid.high - query.grid.low) * query.grid.step) / 2
        return min(replace(inner, query=query, notes=()).half_width + moved, everywhere)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, its ``low`` and ``high`` end where it has an interval, the caps' places ``cap`` and ``widest``."""
        grid, counts = self.inners[0].query.grid, self.search.counted(raw, sampler)
        sizes = self.search.believed(counts)
        best, widest = self.best(sizes), self.widest(sizes)
        place, left = self._clamp(raw, sizes, best, sampler)
        answer = self._left(best, left).answer()
        drawn = {"value": self._drawn(raw, best, answer, sampler, place)}
        if self.inners[best].query.bracketed:
            for name, side, bound in (("low", -1, grid.low), ("high", 1, grid.high)):
                end = self._end(sizes, widest, side, left)
                drawn[name] = [bound] * raw.size if end is None else self._drawn(raw, widest, end, sampler)
        columns = {name: [in_unit(k, grid.step) for k in steps] for name, steps in drawn.items()}
        places = {name: [at] * raw.size for name, at in (("cap", best), ("widest", widest), ("clamp", place))}
        return ReleasedTable({**columns, **places, **self.noted(counts, raw)})

    def clamped(self, sizes: UnitSizes, cap: int) -> bool:
        """Whether values are clamped first: too few rows are kept to find them within their bounds."""
        inner = self.inners[cap]
        p, per_rank = inner.query.rank.fraction, float(inner.per_rank)
        return len(self.clamps.edges) > 1 and self.rows(sizes, cap) * float(min(p, 1 - p)) * per_rank < ENOUGH

    def rate(self, cap: int) -> Fraction:
        """What one row may tell by the choice of a clamp."""
        inner = self.inners[cap]
        moved = inner.query.moved
        return CLAMP * sum(inner.rates) * root_below(Fraction(moved.l2_squared, moved.l1**2))

    def _clamp(self, raw: RawTable, sizes: UnitSizes, cap: int, sampler: Sampler) -> tuple[int | None, Fraction]:
        """The place of the clamp of the rows within a cap, if they need one, and the part of the rates that is left."""
        if not self.clamped(sizes, cap):
            return None, Fraction(1)
        search = self.clamps.search(self.rate(cap), 1, 1, 1)
        scores = search.scores(self.clamps.counts(grouped(self.within(raw, cap))))
        place, _ = sampler.intervals([1] * len(scores), scores, search.exponent)
        return place, 1 - CLAMP

    def _left(self, place: int, left: Fraction) -> QuantileRelease:
        """What answers at a cap, with a part of its rates."""
        inner = self.inners[place]
        return inner if left == 1 else replace(inner, rates=tuple(left * rate for rate in inner.rates), notes=())

    def _drawn(self, raw: RawTable, cap: int, draw: Draw, sampler: Sampler, clamp: int | None = None) -> list[int]:
        """What a draw takes in each group, of the rows within a cap, and of values within a clamp."""
        grid, groups = self.inners[cap].query.grid, grouped(self.within(raw, cap))
        if clamp is None:
            return [chosen(group, grid, draw, sampler) for group in groups]
        window, alike = self.clamps.window(clamp), replace(draw, measure=None)
        held = replace(grid, low=window.low, high=window.high)
        return [chosen(clipped(group, held), held, alike, sampler) for group in groups]

    def _end(self, sizes: UnitSizes, place: int, side: int, left: Fraction = Fraction(1)) -> Draw | None:
        """What an end wants; None for the bound."""
        inner = self._left(place, left)
        away = Fraction(math.ceil(self.share(sizes, place) * FINE), FINE)
        fraction = inner.query.rank.fraction + side * away
        if not 0 < fraction < 1:
            return None
        rank = replace(inner.query.rank, fraction=fraction)
        aside = replace(inner, query=replace(inner.query, rank=rank), notes=())
        return aside.end(side, inner.rates[1])

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """As `QuantileRelease`."""
        return self.inners[0].intervals(released, confidence)

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The caps, and what they leave out; the clamp of the values, where they have one."""
        if not released.values:
            return ()
        cap, clamp = released.columns["cap"][0], self._clamp_said(released.columns["clamp"][0])
        if not self.inners[0].query.bracketed:
            return (self.said(released, cap, ""), *clamp)
        place = released.columns["widest"][0]
        share = self.share(self.sizes(released), place)
        widened = (
            f"Its interval rests on at most {self.search.edges[place]:,} rows of each, and allows for {share:.1%} of "
            "all rows on either side: it holds unless those left out move more than that."
        )
        return (self.said(released, cap, widened), *clamp)

    def _clamp_said(self, place: int | None) -> tuple[str, ...]:
        """A sentence about a clamp of values."""
        if place is None or place == len(self.clamps.edges) - 1:
            return ()
        window, step = self.clamps.window(place), self.clamps.grid.step
        ends = f"{in_unit(window.low, step):,.6g} to {in_unit(window.high, step):,.6g}"
        return (f"values are clipped to {ends} first, chosen privately: a quantile beyond shows as that end.",)


def clipped(group: tuple[Whole, Whole], held: Grid) -> tuple[Whole, Whole]:
    """The (distinct, rising) values of a group and how many rows hold each, with those beyond a grid's ends at them.

    >>> clipped((np.array([1, 4, 7, 9]), np.array([1, 1, 2, 5])), Grid(Fraction(1), 2, 6))
    (array([2, 4, 6]), array([1, 1, 7]))
    """
    values, places = np.unique(np.clip(group[0], held.low, held.high), return_inverse=True)
    rows = np.zeros(len(values), dtype=group[1].dtype)
    np.add.at(rows, places, group[1])
    return values, rows
