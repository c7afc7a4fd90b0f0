"""Means, variances and deviations at each group's own place, over as many rows of each unit as serve best.

Neighbours and loss: stated by `capped.mechanism`, with the theorem.

The cap is the one with which the interval is expected to be shortest, by the sizes that are believed; where noise hides
all of them it is the one that public facts expect. The quote is of an interval by what noise would leave of the guess.

The interval is that of `located` over the rows within the cap, widened by what the rows left out are thought to change
(`sizes`, `LocatedRelease.exchanged`): in the place of as large a share of the rows as drifts or sways, others may stand
that lie a standard deviation off.

Tests: tests/unit/mechanisms/capped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dpsql.mechanisms.base import Interval, derive
from dpsql.mechanisms.capped.release import CappedAtOnce
from dpsql.mechanisms.capped.sizes import HIDDEN, UnitSizes
from dpsql.mechanisms.located.place import STANDARD
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.privacy.tables import ReleasedTable

__all__ = ["CappedStatistics"]

MOST = 0.5
"""Of the rows: where more seem to be left out, they are not thought to lie near the others. It is a choice. Measured:
of units of which one in twenty has most of all rows, intervals of means missed nine times of ten without it."""
LIKELY_DRIFT = 0.5
"""What a cap is likely to move an answer by, as a part of what its interval allows for. A guess: what units have many
rows of mostly lies near what others have."""
HIDES = 8
"""How many times as much as the noise of its sum the rows that noise hides move a statistic: both grow with the cap.
Measured on real data: with 1, caps are taken that hide heavy tails; between 4 and 16 errors change by a tenth."""


@dataclass(frozen=True, slots=True)
class CappedStatistics(CappedAtOnce):
    """Statistics of the same rows, as one release.

    Attributes:
        inners: What answers at each cap.
        expected: Half of the interval that is expected at the best cap: for noise, and for the cap.
    """

    inners: tuple[LocatedRelease, ...]
    expected: tuple[float, float] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        place = self.best(self.guess)
        shown = self.search.believed([round(many) for many in self.guess.units])  # what noise would leave of the guess
        expected, (_, moved) = self._parts(self.guess, place), self._parts(shown, place, HIDDEN)
        width = self.inners[place].interval_foreseen(self.rows(self.guess, place)) + moved
        derive(self, expected=expected, half_width=min(width, self.inners[place].most))

    @property
    def expected_error(self) -> float:
        """Of the noise, and of what a cap is likely to move."""
        noise, moved = self.expected
        return min(noise + LIKELY_DRIFT * moved, self.inners[0].most)

    def placed(self, place: int) -> CappedStatistics:
        """The same release, as what answers another place."""
        inners = (inner.placed(place) for inner in self.inners)
        return replace(self, inners=tuple(i for i in inners if isinstance(i, LocatedRelease)), notes=self.notes)

    def best(self, sizes: UnitSizes) -> int:
        """The cap with the shortest expected interval, with what noise hides far out.

        Where no size is believed it is that of the guess: otherwise all caps would look alike but the largest, whose
        noise hides everything.
        """
        known = sizes if sizes.rows else self.guess

        def width(place: int) -> float:
            noise, moved = self._parts(known, place)
            return HIDES * noise + moved

        return min(range(len(self.inners)), key=width)

    def _parts(self, sizes: UnitSizes, place: int, hides: float = 0.0) -> tuple[float, float]:
        """Half of the expected interval: for noise, and for the cap; ``hides`` as in `share`."""
        inner, rows = self.inners[place], self.rows(sizes, place)
        standard = inner.query.reach / STANDARD
        middle = inner.typical(standard)
        ((low, high),) = self._exchanged([(middle, middle)], [standard], sizes, place, hides)
        return inner.foreseen(rows), (high - low) / 2

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Those of the rows within the cap, widened by what it is thought to change."""
        if not released.values:
            return []
        place = released.columns["cap"][0]
        inner, sizes = self.inners[place], self.sizes(released)
        everywhere = (inner.query.grid.high - inner.query.grid.low) / 2 / STANDARD
        standards = [everywhere if one is None else one for one in released.columns["standard"]]
        ends = [(float(low or 0), float(high or 0)) for low, high in inner.intervals(released, confidence)]
        return self._exchanged(ends, standards, sizes, place, HIDDEN)

    def _exchanged(
        self,
        ends: Sequence[tuple[float, float]],
        standards: Sequence[float],
        sizes: UnitSizes,
        place: int,
        hides: float,
    ) -> list[tuple[float, float]]:
        """Intervals, widened by what the cap is thought to change: up to the bounds where it seems to leave out most.

        Args:
            ends: Of the intervals, in the answer's unit.
            standards: Standard deviations of the rows within the cap, in grid steps.
            sizes: How many rows units have.
            place: Of the cap.
            hides: As in `share`.
        """
        inner, share = self.inners[place], self.share(sizes, place, hides)
        if inner.everywhere and hides:  # nothing else makes up for sizes that are thought too small
            share = min(1.0, share + sizes.farthest_drift(place) - sizes.drift(place))
        if self.share(sizes, place, 0.0) > MOST:
            standards = [(inner.query.grid.high - inner.query.grid.low) / share] * len(ends)
        return [inner.exchanged(own, standard, share) for own, standard in zip(ends, standards, strict=True)]

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The cap and what it leaves out, and where rows within it are clipped, as one note."""
        if not released.values:
            return ()
        place = released.columns["cap"][0]
        share = self.share(self.sizes(released), place)
        inner = self.inners[place]
        off = f"other rows, {inner.others}, in the place of {share:.1%} of those that count"
        widened = f"The interval allows for {off}{inner.unless}."
        within = (f"Within this cap {note[0].lower()}{note[1:]}" for note in (*inner.notes, *inner.told(released)))
        return (" ".join([self.said(released, place, widened), *within]),)
