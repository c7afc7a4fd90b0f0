"""Quantiles over as many rows of each unit as serve best, with an interval for all of their rows.

Neighbours and loss: stated by `capped.mechanism`, with the theorem.

The answer's cap is the one that is expected to err least, with rows that are not believed to be there weighed by what
they exceed their noise by (`sizes.SEEN`). The ends of the interval have a cap of their own, the one that makes it
shortest.

Where the noised sizes say that the rows kept are too few for an end of the interval, or that it would lie at 0 or 1, it
is the bound, and its part of the rate goes to the answer (`choice.quantile`): no noised count is needed for that.

Interval. Let the share of kept rows that are at most v, and that of those below v, differ by at most d from the shares
of all rows, v being the quantile q of these. Then v lies between the kept rows' quantiles q - d and q + d. The lower
end is drawn for the first, r ranks below it, the upper one for the second, as `choice.quantile` says. d is the drift of
the cap and twice its sway (`sizes`): the interval holds unless the noise hides what makes them larger, or units of many
rows are in some groups alone.

Tests: tests/unit/mechanisms/capped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.mechanisms.base import Interval, derive
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.sizes import SEEN, UnitSizes
from dpsql.mechanisms.choice.groups import GroupedRows, batches
from dpsql.mechanisms.choice.landscape import Draw, chosen
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.noise.noised import unit_of
from dpsql.mechanisms.ranked import Ranked
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["CappedQuantile"]

LIKELY_DRIFT = 0.2
"""The part of its drift by which a cap is likely to move an answer. A guess: what units have many rows of mostly lies
near what others have."""
Width = Callable[[QuantileRelease, int, Collection[int]], float]
"""Of an interval, in the column's unit, of so many rows, where these ends are drawn."""
FINE = 256  # Parts of the rows: fractions of the interval's ends are rounded outward to one of them. It is a choice.
NARROW = 4096
"""How many times as wide as where the rows lie the bounds may be, where a cap is chosen: the noise must leave a point
among the rows likelier than all others. A guess: it is cheap, for it enters by its logarithm."""
LIKELY = 2.0
"""What is expected 95 times of 100 over the root of the mean square: about the same for the noise and for a cap."""


@dataclass(frozen=True, slots=True)
class CappedQuantile(CappedRelease, Ranked):
    """An order statistic, and the ends of its interval.

    Attributes:
        inners: What answers at each cap.
        full: What is guessed of how many rows units have where some reach the cap; `guess` may be of far fewer.
    """

    inners: tuple[QuantileRelease, ...]
    full: UnitSizes = field(compare=False)

    def __post_init__(self) -> None:
        declined = not self.inners[0].query.bracketed
        derive(self, half_width=self.expected_error if declined else self._foreseen(QuantileRelease.foretold))

    @property
    def _guesses(self) -> tuple[UnitSizes, UnitSizes]:
        """Of which the middle (geometric mean) is told. Measured: it is within twice of what comes of either, but where
        units have so few rows that ends are drawn, and full caps would leave none."""
        return self.guess, self.full

    @property
    def bracketed(self) -> bool:
        """As `QuantileRelease`."""
        return self.inners[0].bracketed

    @property
    def evenly(self) -> bool:
        """As `QuantileRelease`."""
        return self.inners[0].evenly

    @property
    def most(self) -> float:
        """As `QuantileRelease`."""
        return self.inners[0].most

    @property
    def few(self) -> None:
        """Which rows count follows from the sizes that are found."""
        return None

    @property
    def between(self) -> bool:
        """As `QuantileRelease`."""
        places = ((sizes, self.widest(sizes)) for sizes in self._guesses)
        return all(len(self._reached(sizes, place, self.share(sizes, place))) == 2 for sizes, place in places)

    @property
    def near_end(self) -> float:
        """As `QuantileRelease`."""
        return self._foreseen(QuantileRelease.nearer) if self.bracketed else self.half_width

    def _foreseen(self, width: Width) -> float:
        """Half of the interval, or another width, at the cap that makes it shortest."""
        least = (min(self._width(sizes, place, width) for place in range(len(self.inners))) for sizes in self._guesses)
        return math.sqrt(math.prod(least))

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
        drift = LIKELY_DRIFT * (sizes.drift(place) + sizes.missed(place, SEEN))
        moved = LIKELY * math.hypot(drift, sway) * extent * step
        everywhere = float((inner.query.grid.high - inner.query.grid.low) * inner.query.grid.step) / 2
        return min(math.hypot(inner.foreseen(rows, extent), moved), everywhere)

    def _width(
        self,
        sizes: UnitSizes,
        place: int,
        width: Width = QuantileRelease.bracket,
    ) -> float:
        """Half of the interval at a cap; ``width`` says what it is of rows so many that are all of a unit's.

        What a cap may leave out moves its ends, and may leave one that is not drawn: it is the bound then.
        """
        inner, rows = self.inners[place], self.rows(sizes, place)
        share = self.share(sizes, place)
        drawn = self._reached(sizes, place, share)
        everywhere = inner.query.widest * float(inner.query.grid.step)
        moved = share * inner.query.extent * float(inner.query.grid.step)
        return min(width(inner, rows, drawn) + moved * len(drawn) / max(1, len(inner.query.ends)), everywhere)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, its ``low`` and ``high`` end where it has an interval, the caps' places ``cap`` and ``widest``."""
        query, counts = self.inners[0].query, self.search.counted(raw, sampler)
        sizes, grid = self.search.believed(counts), query.grid
        best, widest = self.best(sizes), self.widest(sizes)
        ends = self._ends(sizes, widest)
        answer = self.inners[best].answer(len(query.ends) - len(ends))
        kept = {place: list[GroupedRows]() for place in ({best, widest} if ends else {best})}
        for groups in batches(raw, "value", "rank", "rows"):
            for place, some in kept.items():
                some.append(self.kept(groups, place))
        drawn = {"value": chosen(kept[best], grid, answer, sampler)}
        if query.bracketed:
            for name, side, bound in (("low", -1, grid.low), ("high", 1, grid.high)):
                drawn[name] = chosen(kept[widest], grid, ends[side], sampler) if side in ends else [bound] * raw.size
        columns = {name: [*map(unit_of(grid.step), steps)] for name, steps in drawn.items()}
        places = {name: [at] * raw.size for name, at in (("cap", best), ("widest", widest))}
        return ReleasedTable({**columns, **places, **self.noted(counts, raw)})

    def _ends(self, sizes: UnitSizes, place: int) -> dict[int, Draw]:
        """What the ends want that are drawn: the others are the bounds."""
        inner, reached = self.inners[place], self._reached(sizes, place, self.share(sizes, place))
        rates = dict(zip(inner.query.ends, inner.rates[1:], strict=True))
        return {side: inner.end(side, rates[side], fraction) for side, fraction in reached.items()}

    def _reached(self, sizes: UnitSizes, place: int, share: float) -> dict[int, Fraction]:
        """Of which quantile each end is that is drawn, where a cap may move the shares so far."""
        inner, found = self.inners[place], dict[int, Fraction]()
        rows, away = self.rows(sizes, place), Fraction(math.ceil(share * FINE), FINE)
        for side, rate in zip(inner.query.ends, inner.rates[1:], strict=True):
            fraction = inner.query.rank.fraction + side * away
            if 0 < fraction < 1 and inner.reached(side, rate, fraction, rows):
                found[side] = fraction
        return found

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """As `QuantileRelease`."""
        return self.inners[0].intervals(released, confidence)

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The caps, and what they leave out."""
        if not released.values:
            return ()
        cap = released.columns["cap"][0]
        if not self.inners[0].query.bracketed:
            return (self.said(released, cap, ""),)
        place = released.columns["widest"][0]
        share = self.share(self.sizes(released), place)
        edge = self.search.edges[place]
        widened = (
            f"Its interval rests on at most {edge:,} row{'s' * (edge > 1)} of each, and allows for {share:.1%} of all "
            "rows on either side: it holds unless those left out move more than that."
        )
        return (self.said(released, cap, widened),)
