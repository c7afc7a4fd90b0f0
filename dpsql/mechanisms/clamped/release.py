"""The release of a total under a privately chosen clamp; the theorem is in `clamped.mechanism`.

Tests: tests/unit/mechanisms/clamped/test_mechanism.py, test_release.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.choice.clamp import MISS, place_of
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.tails import NEAR
from dpsql.mechanisms.laplace import laplace_scale
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import in_digits, in_unit, unit_of
from dpsql.plan.needs import Sized
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Digits, RawTable, ReleasedTable

__all__ = ["Clamp", "ClampedRelease", "Sizes", "sizes_of"]

WIDER = 4
"""By how many times what clipping adds to an interval is as wide as its noise, before a note says how to be rid of it.
A choice."""
PARTS = 3
"""Binary digits, at least, of what totals above the clamp are multiplied by. It is rounded down: the largest units may
count with an eighth less than the clamp, those near it with hardly less. It is a choice."""


class Clamp(Protocol):
    """Where a clamp is from."""

    @property
    def edges(self) -> tuple[int, ...]:
        """Rising, in grid steps; no unit's size is above the last."""
        ...

    @property
    def units(self) -> int:
        """How many units a neighbour differs in."""
        ...

    @property
    def standing(self) -> int:
        """The place of the edge that stands while too few units are counted to tell another."""
        ...

    @property
    def says(self) -> tuple[str, str]:
        """Where the clamp is from, and how sure the number of units above it is."""
        ...

    def choose(self, units: Sequence[int], sampler: Sampler) -> int:
        """The place of the clamp's edge, from the number of units of each size."""
        ...

    def most_above(self, place: int, miss: float = MISS, top: int = -1) -> int:
        """How many units are above that edge at most, but for a chance; at that top none."""
        ...

    def allowed(self, place: int) -> int:
        """What the interval includes for clipping, in grid steps."""
        ...

    def reaching(self, place: int, far: int, miss: float) -> int:
        """What units have above that edge at most, but for a chance, if none reaches farther; in grid steps."""
        ...

    def clipped(self, place: int) -> Fraction:
        """What is thought to be clipped in one group, in grid steps."""
        ...

    def miss(self, confidence: float) -> float:
        """The chance that is left for the noise."""
        ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """Raw numbers of `Sized`, by bin: that of a unit's size is the place of the first edge that is not below it.

    Attributes:
        units: How many units are of each size.
        signs: How many of those have a total above 0, less how many have one below.
        group: (n,) groups that are wanted, each as often as units of a size have something there.
        bin: (n,) of that size.
        total: (n,) the sum of their totals in the group, in grid steps.
        groups: How many groups there are.
    """

    units: Sequence[int]
    signs: Sequence[int]
    group: Whole
    bin: Whole
    total: Whole
    groups: int


def sizes_of(raw: RawTable, bins: int) -> Sizes:
    """The raw numbers of an engine, put into so many bins; units of groups that nobody wants are counted, too."""
    group, bin_ = (np.asarray(raw.column(name), np.int64) for name in ("group", "bin"))
    wanted, found = np.flatnonzero(group < raw.size), raw.column("total")
    total = np.asarray(found) if isinstance(found, np.ndarray | Digits) else np.array(found, dtype=object)

    def by_bin(name: str) -> list[int]:  # in floats, exactly: no more units than a table may have rows
        own: list[int] = np.bincount(bin_, np.asarray(raw.column(name), np.int64), bins).astype(np.int64).tolist()
        return own

    return Sizes(by_bin("units"), by_bin("signs"), group[wanted], bin_[wanted], total[wanted], raw.size)


@dataclass(frozen=True, slots=True)
class ClampedRelease(Offer):
    """An offer to choose a clamp of what one unit has, and to release each group's sum of totals within it plus noise.

    Attributes:
        need: The totals, by size.
        search: Where the clamp is from.
        epsilon: What the noise costs.
        guess: The place of the edge that is expected; it predicts the error.
        far: How far intervals take units above the clamp to reach, in grid steps.
    """

    need: Sized
    search: Clamp
    epsilon: Fraction
    guess: int
    far: int

    def __post_init__(self) -> None:
        place = self._foreseen
        reach, clipped = self._reach(place, 0.95), self._beyond(place, MISS)
        sides = 2 if self._signed else 1
        derive(self, half_width=float(in_unit(2 * reach + sides * clipped, self.need.grid.step)) / 2)

    @property
    def expected_error(self) -> float:
        """The noise, and what is thought to be clipped."""
        clipped = self.search.clipped(self.guess)
        return float(in_unit(math.ceil(self._reach(self.guess, 0.95) + clipped), self.need.grid.step))

    @property
    def near_end(self) -> float:
        """The noise alone, where what is clipped lies on one side."""
        reach = float(in_unit(self._reach(self._foreseen, 0.95), self.need.grid.step))
        return self.half_width if self._signed else min(reach, self.half_width)

    @property
    def _foreseen(self) -> int:
        """The place of the clamp that a quote foretells: between the likely and the cautious one."""
        guess, standing = (self.search.edges[place] for place in (self.guess, self.search.standing))
        return place_of(self.search.edges, math.sqrt(guess * standing))

    @property
    def hides(self) -> tuple[str, ...]:
        """How many units the choice may miss above that clamp, and what the interval allows them; one sentence."""
        place, top = self._foreseen, place_of(self.search.edges, self.far)
        units = self.search.most_above(place, MISS, top)
        if not units:
            return ()
        each = in_digits(in_unit(self.far, self.need.grid.step), 6)
        return (f"Its interval will allow for about {units:,} units that this may miss, with up to {each} each.",)

    @property
    def _signed(self) -> bool:
        return self.need.grid.low < 0 < self.need.grid.high

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the column's unit, what was ``noised``, in finer steps, and the ``place`` of the clamp."""
        sizes = sizes_of(raw, len(self.search.edges) + 1)
        place = self.search.choose(sizes.units, sampler)
        drawn = self.law(place).draw(sampler, raw.size).tolist()
        fine = [exact + int(noise) for exact, noise in zip(self.within(sizes, place), drawn, strict=True)]
        values = [*map(unit_of(self.need.grid.step), self._steps(fine, place))]
        return ReleasedTable({"value": values, "noised": fine, "place": [place] * raw.size})

    def _steps(self, fine: Sequence[int], place: int) -> list[int]:
        """In grid steps, to the nearest."""
        digits = self._digits(place)
        half = 1 << digits >> 1
        return [k + half >> digits for k in fine]

    def within(self, sizes: Sizes, place: int) -> list[int]:
        """Each group's sum of totals within a clamp, in grid steps over 2^digits: what noise is added to."""
        digits, edges = self._digits(place), self.search.edges
        above, parts = 0, [1 << digits] * (place + 1)
        if self.need.source.keys:
            parts += [(edges[place] << digits) // edge for edge in edges[place + 1 :]]
        else:
            above = edges[place] * sum(sizes.signs[place + 1 :])
        parts += [0] * (len(edges) + 1 - len(parts))
        most = max(-int(sizes.total.min(initial=0)), int(sizes.total.max(initial=0)))
        exact = np.int64 if most * max(parts) * len(parts) < 2**62 else object
        found = np.zeros(sizes.groups, dtype=exact)
        np.add.at(found, sizes.group, sizes.total.astype(exact) * np.array(parts, dtype=exact)[sizes.bin])
        return [above + int(total) for total in found.tolist()]

    def _digits(self, place: int) -> int:
        """Binary digits behind the point of what units above the clamp are multiplied by; 0 where none are."""
        edges = self.search.edges
        if not self.need.source.keys or place == len(edges) - 1:
            return 0
        return (edges[-1] // edges[place]).bit_length() + PARTS

    def law(self, place: int) -> LaplaceLaw:
        """The noise, in grid steps over 2^digits."""
        within = not self.need.source.keys and not self._signed  # a swap moves one number between 0 and the clamp
        moved = (1 if within else self.search.units) * self.search.edges[place] << self._digits(place)
        return LaplaceLaw(laplace_scale(moved, self.epsilon))

    def unclipped(self, released: ReleasedTable | None = None) -> LaplaceLaw | None:
        """The noise of each value, in grid steps, if no unit is above the clamp; None where some may be.

        Args:
            released: What it released; None for what is foretold.
        """
        places = [self._foreseen] if released is None else released.columns["place"]
        whole = bool(places) and places[0] == len(self.search.edges) - 1 and self.search.miss(0.5) == 0.5
        return self.law(places[0]) if whole else None

    def _reach(self, place: int, confidence: float) -> int:
        """The quantile of the noise, in grid steps."""
        digits = self._digits(place)
        return -(-self.law(place).quantile(1 - self.search.miss(confidence)) >> digits) + (1 if digits else 0)

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the quantile of the noise, and beyond it what units may have above the clamp."""
        if not released.columns["place"]:
            return []
        place, own = released.columns["place"][0], unit_of(self.need.grid.step)  # all groups have one clamp
        clipped, reach = self._allowed(released, place, confidence), self._reach(place, confidence)
        below, above = reach + clipped * (self.need.grid.low < 0), reach + clipped * (self.need.grid.high > 0)
        return [(own(k - below), own(k + above)) for k in self._steps(released.columns["noised"], place)]

    def _allowed(self, released: ReleasedTable, place: int, confidence: float) -> int:
        """What intervals include for clipping, in grid steps."""
        return self._beyond(place, 1 - confidence, self._shown(released, place))

    def _beyond(self, place: int, miss: float, shown: float = math.inf) -> int:
        """What units may have above the clamp, in grid steps, but for a chance of ``miss``.

        Args:
            place: Of the clamp.
            miss: Of the chance that more units are above it.
            shown: At most so many units above it show what is shown.
        """
        edge, far = self.search.edges[place], self._reached(place, miss, shown)
        hidden = self.search.reaching(place, far, miss)
        if shown < math.inf:
            hidden = min(hidden, math.ceil(shown * max(0, far - edge)))
        return min(self.search.reaching(place, self.search.edges[-1], miss), max(self.search.allowed(place), hidden))

    def _reached(self, place: int, miss: float, shown: float) -> int:
        """How far units above the clamp may reach, in grid steps: all the way, where they may be all that shows."""
        doubted = place == self.search.standing or self._far_below(place)
        return self.search.edges[-1] if doubted and shown <= self.search.most_above(place, miss) else self.far

    def _shown(self, released: ReleasedTable, place: int) -> float:
        """How many units above the clamp show what is shown; infinite where totals of both signs make up."""
        if self._signed:
            return math.inf
        groups, edge = self._steps(released.columns["noised"], place), self.search.edges[place]
        sway = self._reach(place, 1 - MISS) * math.sqrt(len(groups))  # noises of groups add up to no more
        return (abs(sum(groups)) + sway) / (edge * (1 - 2.0**-PARTS if self.need.source.keys else 1))

    def _far_below(self, place: int) -> bool:
        """Whether a unit as large as is guessed lies above the clamp by more than an interval allows for in a tail."""
        return self.search.edges[place] << NEAR < self.search.edges[self.guess]

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The clamp, and what of the interval is noise and what clipping."""
        if not released.columns["place"]:
            return ()
        place, step = released.columns["place"][0], self.need.grid.step
        clamp = in_digits(in_unit(self.search.edges[place], step), 6)
        noise = in_digits(in_unit(self._reach(place, 0.95), step))
        groups = " over all groups" if self.need.source.keys else ""
        if place == len(self.search.edges) - 1:
            return (
                f"each unit counts with at most {clamp}{groups}, which is all that the policy lets it have: nothing "
                "else is clipped.",
            )
        source, sure = self.search.says
        allowed, until = self._allowed(released, place, 0.95), self._until(released, place)
        clipped = in_digits(in_unit(allowed, step))
        return (
            f"each unit counts with at most {clamp}{groups}, {source}. Of the 95% interval ±{noise} is noise, and "
            f"{clipped} is for what is clipped: it holds {until}. At most {self.search.most_above(place):,} units "
            f"have more than {clamp} ({sure}).{self._asked_for(place, clamp, allowed)}",
        )

    def _asked_for(self, place: int, clamp: str, allowed: int) -> str:
        """How an interval is had that is of noise alone, where clipping makes most of this one; '' elsewhere."""
        doubted = place == self.search.standing or self._far_below(place)
        if doubted or self._signed or self.need.source.keys or allowed <= WIDER * self._reach(place, 0.95):
            return ""
        bounds = f"contribution_bounds_per_group => (0, {clamp.replace(',', '')})"
        return (
            f" With {bounds} in the call the clamp is part of what is asked: the interval is of noise alone, and "
            "need not hold what is clipped."
        )

    def _until(self, released: ReleasedTable, place: int) -> str:
        """What the interval holds, in words."""
        last, shown = self.search.edges[-1], self._shown(released, place)
        if self._reached(place, MISS, shown) < last:
            far = in_digits(in_unit(self.far, self.need.grid.step), 6)
            return f"unless some reach beyond {far}, or more than that was"
        few = f", and so few show that all may have more, up to {in_digits(in_unit(last, self.need.grid.step), 6)}"
        return "whatever was clipped" + few * (shown <= self.search.most_above(place))
