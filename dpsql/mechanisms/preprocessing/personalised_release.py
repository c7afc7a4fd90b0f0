"""What `personalised` releases: clipped totals, and extremes of values whose units have sensitivities of their own.

Neighbours and loss: stated by `personalised`, with the theorem; everything here follows from its offer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.mechanisms.preprocessing import output_steps
from dpsql.mechanisms.preprocessing.extremes import largest
from dpsql.mechanisms.preprocessing.rules import half_width
from dpsql.plan.measured.dated import as_shown
from dpsql.plan.needs import Aggregates, Values
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import PerClass
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ClippedTotal", "PersonalisedExtreme", "Sensitivities"]


@dataclass(frozen=True, slots=True)
class Sensitivities:
    """How far one unit of each class may move the numbers, and the noise that hides it.

    Attributes:
        clips: Each class of the policy to d_k, in steps.
        moved: Each class to m_k, in steps.
        step: One step, in the column's unit.
        loss: What each class loses, e_k.
    """

    clips: Mapping[str, int]
    moved: Mapping[str, int]
    step: Fraction
    loss: PerClass

    @property
    def law(self) -> LaplaceLaw:
        """Noise for the class that needs most."""
        return LaplaceLaw(max(moved / self.loss.epsilons[name] for name, moved in self.moved.items()))

    def in_words(self, since: date | None = None) -> str:
        """Each class with what a unit of it counts with in a group; in days, where they are counted since a date."""
        days = "" if since is None else " days"
        return ", ".join(f"{name} {float(clip * self.step):.6g}{days}" for name, clip in self.clips.items())


@dataclass(frozen=True, slots=True)
class ClassOffer(Offer):
    """An offer with a sensitivity, and a loss, for each class of units.

    Attributes:
        loss: One epsilon for each class.
        sensitivities: Of each class.
        bias: Expected, in the column's unit.
        sensitivity: L1 sensitivity to a unit of the least strict class, in the column's unit.
    """

    loss: PerClass = field(init=False)
    sensitivities: Sensitivities
    bias: float

    def foretell(self, rounding: float, notes: tuple[str, ...]) -> None:
        """Sets what follows from the sensitivities.

        Args:
            rounding: By how much the answer may be rounded, in the column's unit.
            notes: What a reader must know.
        """
        step, moved = float(self.sensitivities.step), self.sensitivities.moved
        scale = self.sensitivities.law.spread * step
        derive(
            self,
            loss=self.sensitivities.loss,
            sensitivity=float(max(moved.values()) * self.sensitivities.step),
            scale=scale,
            half_width=half_width(scale, self.bias) + rounding,
            notes=notes,
        )


@dataclass(frozen=True, slots=True)
class ClippedTotal(ClassOffer):
    """An offer to release the total of one clipped number for each unit and group.

    Attributes:
        need: One clipped total for each class, ``m0``, ``m1``, ...
        base: Grid step of the answer, in the column's unit.
    """

    need: Aggregates
    base: Fraction

    def __post_init__(self) -> None:
        note = (
            f"In a group a unit counts with at most as much as its class allows: {self.sensitivities.in_words()}. "
            "The answer is biased by what lies beyond; intervals cover the noise alone."
        )
        self.foretell(float(self.base) / 2, (note,))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` on the column's grid, and ``steps``, the noised totals; one entry per row of ``raw``."""
        totals = [sum(own) for own in zip(*(raw.column(f"m{i}") for i in range(len(self.need.measures))), strict=True)]
        steps: list[int] = noised(totals, self.sensitivities.law.draw(sampler, len(raw))).tolist()
        return ReleasedTable({"value": [in_unit(self._nearest(k), self.base) for k in steps], "steps": steps})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Of the clipped total: the exact quantile of the noise on either side, rounded outward to the grid."""
        reach, ratio = self.sensitivities.law.quantile(confidence), self.sensitivities.step / self.base
        return [
            (
                in_unit(min(math.floor((k - reach) * ratio), self._nearest(k)), self.base),
                in_unit(max(math.ceil((k + reach) * ratio), self._nearest(k)), self.base),
            )
            for k in released.columns["steps"]
        ]

    def _nearest(self, steps: int) -> int:
        """In steps of the column's grid."""
        return math.floor(steps * self.sensitivities.step / self.base + Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class PersonalisedExtreme(ClassOffer):
    """An offer to release the least or largest of one value for each unit, moved as little as the classes allow.

    Attributes:
        need: How many units of each class have each value.
        grid: Of the values.
        centre: The answer for nobody, in the column's unit; public.
        function: ``min`` or ``max``.
        since: Where the values are days, the date from which they are counted; else None.
    """

    need: Values
    grid: Grid
    centre: Fraction
    function: str
    since: date | None = field(default=None, compare=False)  # for the notes alone

    def __post_init__(self) -> None:
        moved, start = self.sensitivities.in_words(since=self.since), as_shown(float(self.centre), self.since)
        note = (
            f"In a group a unit moves the answer by at most what its class allows: {moved}. It starts at the centre, "
            f"{start}, and is the {self.function}imum itself only where enough units lie as far out; intervals cover "
            "the noise alone."
        )
        self.foretell(float(self.grid.step), (note,))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` on the column's grid, and ``steps``, the noised extremes; one entry for each group."""
        moved = [output_steps(self._extreme(group), self.sensitivities.step) for group in self._groups(raw)]
        steps: list[int] = noised(moved, self.sensitivities.law.draw(sampler, len(moved))).tolist()
        return ReleasedTable({"value": [in_unit(self._nearest(k), self.grid.step) for k in steps], "steps": steps})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Of the moved extreme, before it was rounded down to whole steps; inside the bounds."""
        reach, step = self.sensitivities.law.quantile(confidence), self.grid.step
        return [
            (in_unit(self._nearest(k - reach - 1), step), in_unit(self._nearest(k + reach + 1), step))
            for k in released.columns["steps"]
        ]

    def _groups(self, raw: RawTable) -> list[dict[int, int]]:
        """For each group, the values that occur and the sum of their units' sensitivities, both in steps."""
        tolls: list[dict[int, int]] = [{} for _ in range(raw.size)]
        columns = (raw.column(name) for name in ("group", "value", "by", "rows"))
        for group, value, of, rows in zip(*columns, strict=True):
            own = tolls[int(group)]
            own[int(value)] = own.get(int(value), 0) + int(rows) * self.sensitivities.clips[of]
        return tolls

    def _extreme(self, tolls: Mapping[int, int]) -> Fraction:
        """The preprocessed extreme, exact; a minimum is the mirror image of a maximum."""
        sign = 1 if self.function == "max" else -1
        public = (self.grid.step, self.sensitivities.step, self.centre)
        unit = Fraction(1, math.lcm(*(number.denominator for number in public)))
        grid, step, centre = (int(number / unit) for number in public)
        values = sorted(tolls, reverse=sign < 0)
        numbers, sums = [sign * value * grid for value in values], [tolls[value] * step for value in values]
        found = largest(np.array(numbers, dtype=object), np.array(sums, dtype=object), sign * centre)  # no 64 bits
        return sign * found * unit

    def _nearest(self, steps: int) -> int:
        """In steps of the column's grid, inside its ends."""
        whole = math.floor(steps * self.sensitivities.step / self.grid.step + Fraction(1, 2))
        return min(max(whole, self.grid.low), self.grid.high)
