"""Which groups of an open domain appear, and how many units each has, within a cap of each unit's groups.

Neighbours and loss: stated by `capped.mechanism`, with the theorem. The loss of the answer is that of `threshold` or of
`gaussian_threshold`, with the largest delta of any cap.

A unit's groups are put in an order by a secret hash of the unit and of the group's key, and a cap m keeps the first m
of them. The noised numbers of units by how many groups they are in tell what caps cost: the cap is the one from whose
threshold, half width and *left out* together a group is found most surely, the sum of the three being the least.

What is left out. A unit of n groups counts in each of them with chance m / n, whatever the others are in. So of any one
group a cap is expected to leave out at most the sum of 1 - m / n over the units of more than m groups, with a variance
of at most the sum of (m / n) (1 - m / n). The interval reaches further up by that sum and two standard deviations, as
the noised sizes tell them, and by what their noise hides of that 19 times of 20. Where no size is believed the guess of
public facts is the cap, and so few units seldom make a group that appears.

Tests: tests/unit/mechanisms/capped/test_groups.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, Refusal, Request, derive
from dpsql.mechanisms.capped.release import CappedAtOnce
from dpsql.mechanisms.capped.sizes import HIDDEN, UnitSizes
from dpsql.mechanisms.gaussian_threshold import GaussianThreshold
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution, Source, Values
from dpsql.plan.rows.per_unit import totals_per_unit
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Approximate, Concentrated, Loss
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["CappedThreshold", "pairs_of", "thresholds_within", "worst"]

ALIAS = "groups"  # Of a unit's groups in a plan.
ONCE = Grid(Fraction(1), 0, 1)
"""A unit counts once in each of its groups."""


@dataclass(frozen=True, slots=True)
class CappedThreshold(CappedAtOnce):
    """An offer to find a cap of each unit's groups, and to decide which groups appear within it.

    Attributes:
        inners: What answers at each cap.
    """

    inners: tuple[ThresholdRelease, ...]

    def __post_init__(self) -> None:
        place = self.best(self.guess)
        derive(self, half_width=self.inners[place].half_width + self.guess.left_out(place) / 2)

    @property
    def expected_error(self) -> float:
        """As that of a threshold: the number of units from which on a group is found 19 times of 20."""
        return self._found_from(self.guess, self.best(self.guess))

    def best(self, sizes: UnitSizes) -> int:
        """The cap that is chosen, of the sizes that are believed; where there are none, by the guess."""
        known = sizes if sizes.rows else self.guess
        return min(range(len(self.inners)), key=lambda place: self._found_from(known, place))

    def _found_from(self, sizes: UnitSizes, place: int) -> float:
        return self.inners[place].expected_error + sizes.left_out(place)

    def appears_from(self, released: ReleasedTable | None = None) -> float | None:
        """The threshold at the cap that was found; before that at the expected one, with what that cap leaves out."""
        shown = released is not None and bool(released.values)
        place = released.columns["cap"][0] if released is not None and shown else self.best(self.guess)
        threshold: float = self.inners[place].threshold
        return threshold if shown else threshold + math.ceil(self.guess.left_out(place))

    def within(self, raw: RawTable, place: int) -> RawTable:
        """Each group's number of units within a cap."""
        group, rank, rows = (np.asarray(raw.column(name), dtype=np.int64) for name in ("group", "rank", "rows"))
        units, kept = np.zeros(raw.size, dtype=np.int64), (rank <= place) & (group < raw.size)
        np.add.at(units, group[kept], rows[kept])
        return RawTable({"m0": units.tolist()})

    def selected(self, released: ReleasedTable) -> Sequence[int]:
        """Rows of the released table whose groups appear."""
        return self.inners[0].selected(released)

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Those of the threshold within the cap, and further up by what the cap leaves out."""
        if not released.values:
            return []
        place, more = released.columns["cap"][0], self.left_out(released)
        within = self.inners[place].intervals(released, confidence)
        return [(low, None if high is None else high + more) for low, high in within]

    def left_out(self, released: ReleasedTable) -> int:
        """How many units of a group the interval allows for beyond the cap; a group appears."""
        place = released.columns["cap"][0]
        believed = self.sizes(released)
        seen = replace(believed, units=tuple(map(float, self._counts(released))))
        return math.ceil(max(believed.left_out(place), seen.left_out(place, HIDDEN)))

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The cap, and what it leaves out."""
        if not released.values:
            return ()
        place, more = released.columns["cap"][0], self.left_out(released)
        widened = (
            f"The number of units of any one group may be {more:,} too low for that: its interval allows for it, and "
            "holds unless more were left out. Other values read all groups of each unit."
        )
        return (self.said(released, place, widened, "groups"),)


def pairs_of(request: Request, edges: tuple[int, ...]) -> Values:
    """The groups of each unit, once each, by their place in its secret order."""
    source, aggregate = request.source, request.aggregate
    asked = replace(aggregate, function="count_rows", argument=None, per_group=(Fraction(0), Fraction(0)))
    relation, keys, own = totals_per_unit(source.relation, source.keys, asked, ALIAS)
    if own.argument is None:
        raise InvariantBroken("a unit's rows in a group have a number")
    most = edges[-1]
    return Values(Source(relation, keys, Contribution(most, most, 1)), own.argument, ONCE, ranks=edges, all_units=True)


def thresholds_within(requests: Sequence[Request]) -> Sequence[ThresholdRelease] | str:
    """What decides which groups appear at each cap, by one mechanism for all; or in a sentence why nothing does.

    Args:
        requests: The same, with rising caps.
    """
    offers = [[mechanism.offer(request) for request in requests] for mechanism in (Threshold(), GaussianThreshold())]
    refused = [offer.reason for own in offers for offer in own if isinstance(offer, Refusal)]
    found = [[offer for offer in own if isinstance(offer, ThresholdRelease)] for own in offers]
    whole = [own for own in found if len(own) == len(requests)]
    return min(whole, key=_middle_error) if whole else refused[0]


def _middle_error(offers: Sequence[Offer]) -> float:
    return offers[len(offers) // 2].expected_error


def worst(releases: Sequence[ThresholdRelease]) -> Loss:
    """The loss of any one of several releases of one law: they differ in delta alone, and the largest holds for all."""
    first = releases[0].loss
    if isinstance(first, Approximate):
        return replace(first, delta=max(_weight(own.loss) for own in releases))
    if isinstance(first, Concentrated):
        return replace(first, outside=max(_weight(own.loss) for own in releases))
    raise InvariantBroken("a threshold has a delta")


def _weight(loss: Loss) -> Fraction:
    """Of the event outside of which a threshold's loss holds."""
    if isinstance(loss, Approximate):
        return loss.delta
    if isinstance(loss, Concentrated) and loss.outside is not None:
        return loss.outside
    raise InvariantBroken("a threshold has a delta")
