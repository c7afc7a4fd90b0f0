"""What all capped releases do: units counted by their number of rows, a cap chosen, the rows within it.

Neighbours and loss: stated by `capped.mechanism`, with the theorem.

Tests: tests/unit/mechanisms/capped.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.capped.sizes import HIDDEN, SWAYS, SizeSearch, UnitSizes
from dpsql.mechanisms.choice.groups import GroupedRows, Whole, batches, counted
from dpsql.mechanisms.located.place import beyond
from dpsql.plan.needs import Values
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["CappedAtOnce", "CappedRelease"]

UNSURE = 0.01  # As a probability: that more units than the answer says have rows that the cap leaves out.


@dataclass(frozen=True, slots=True)
class CappedRelease(Offer):
    """An offer to find a cap of each unit's rows, and to release statistics of the rows within it.

    Attributes:
        need: The values, counted by their rows' ranks.
        search: For how many rows units have.
        guess: What is guessed of that.
        groups: How many are listed.
    """

    need: Values
    search: SizeSearch
    guess: UnitSizes = field(compare=False)
    groups: int

    def share(self, sizes: UnitSizes, place: int, hides: float = HIDDEN) -> float:
        """Of a group's rows: how far the share of them below any number may be off by a cap.

        Args:
            sizes: How many rows units have.
            place: Of the cap.
            hides: As in `UnitSizes.missed`; caps and mechanisms are chosen by 0, for an interval alone rests on more.
        """
        sway = SWAYS * math.sqrt(self.groups) * sizes.sway(place)
        return min(1.0, sizes.drift(place) + sizes.missed(place, hides) + sway)

    def rows(self, sizes: UnitSizes, place: int) -> int:
        """Of a group, within a cap."""
        return max(1, round(sizes.kept(place) / self.groups))

    def within(self, raw: RawTable, place: int) -> RawTable:
        """The rows of no higher rank than a cap's edge, counted by value."""
        found: dict[str, list[Whole]] = {"group": [], "value": [], "rows": []}
        before = 0
        for starts, (values, ranks, rows) in batches(raw, "value", "rank", "rows"):
            heads = np.ones(len(values), dtype=np.bool_)
            np.not_equal(values[1:], values[:-1], out=heads[1:])
            heads[starts[starts < len(values)]] = True
            (firsts,) = np.nonzero(heads)
            sums = np.add.reduceat(rows * (ranks <= place), firsts) if len(firsts) else rows
            firsts, sums = firsts[sums > 0], sums[sums > 0]
            found["group"].append(before + np.searchsorted(starts, firsts, side="right") - 1)
            found["value"].append(values[firsts])
            found["rows"].append(sums)
            before += len(starts) - 1
        none = np.empty(0, dtype=np.int64)
        columns: dict[str, Any] = {name: np.concatenate([none, *parts]) for name, parts in found.items()}
        return RawTable(columns, size=raw.size)

    def kept(self, groups: tuple[Whole, Sequence[Whole]], place: int) -> GroupedRows:
        """How many rows of no higher rank than a cap's edge hold each value; some have none.

        Args:
            groups: Values, ranks and numbers of rows, as `batches` has them; a value has a row for each of its ranks.
            place: Of the cap.
        """
        starts, (values, ranks, rows) = groups
        return counted(starts, values, rows * (ranks <= place))

    def noted(self, counts: list[int], raw: RawTable) -> dict[str, list[object]]:
        """The noised numbers of units, beside each group's answer."""
        return {f"units_{place}": [count] * raw.size for place, count in enumerate(counts)}

    def sizes(self, released: ReleasedTable) -> UnitSizes:
        """What is believed of an answer's noised numbers of units; there is a group."""
        return self.search.believed(self._counts(released))

    def _counts(self, released: ReleasedTable) -> list[int]:
        return [int(released.columns[f"units_{place}"][0]) for place in range(len(self.search.edges))]

    def said(self, released: ReleasedTable, place: int, widened: str, what: str = "rows") -> str:
        """The cap, and what it leaves out.

        Args:
            released: The answer, of a group at least.
            place: Of the cap.
            widened: How far the interval is widened for that; empty where there is none.
            what: Of a unit it caps.
        """
        edges, sizes = self.search.edges, self.sizes(released)
        most_of = (
            f"{edges[place]:,} {what} of each unit count" if edges[place] > 1 else f"1 {what[:-1]} of each unit counts"
        )
        if place == len(edges) - 1:
            return f"all of a unit's {what} count, up to the {edges[-1]:,} that it may have."
        if not sizes.rows:
            return (
                f"at most {most_of}, by public facts alone: noise hides how many "
                f"{what} units have, and so how many are left out. {widened}"
            ).rstrip()
        terms = len(edges) - 1 - place
        above = sum(self._counts(released)[place + 1 :]) + self.search.law.spread * beyond(terms, UNSURE)
        lost = 1 - sizes.kept(place) / sizes.rows
        most = lost + (1 - lost) * sizes.missed(place)
        share = f"{lost:.0%}" if f"{lost:.0%}" == f"{most:.0%}" else f"{lost:.0%} to {most:.0%}"
        return (
            f"at most {most_of}, a cap that a part of the price found; about {share} "
            f"of the {what} are left out, and with {1 - UNSURE:.0%} confidence "
            f"at most {max(0, math.ceil(above)):,} units have more. {widened}"
        ).rstrip()


@dataclass(frozen=True, slots=True)
class CappedAtOnce(CappedRelease):
    """Such an offer where one cap is found, and all of the answer rests on it.

    Attributes:
        inners: What answers at each cap.
    """

    inners: tuple[Offer, ...]

    @abstractmethod
    def best(self, sizes: UnitSizes) -> int:
        """The place of the cap that is taken where units have such sizes."""

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """What answers at the cap that is found; its place, ``cap``; and the noised numbers of units."""
        counts = self.search.counted(raw, sampler)
        place = self.best(self.search.believed(counts))
        released = self.inners[place].release(self.within(raw, place), sampler)
        return ReleasedTable({**released.columns, "cap": [place] * raw.size, **self.noted(counts, raw)})
