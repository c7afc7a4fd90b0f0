"""The release of exact integers plus noise of one law: what laplace, gaussian and threshold have in common.

Tests: tests/unit/mechanisms/test_gaussian.py, tests/unit/mechanisms/test_laplace.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.noise.laws import Law
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["NoisedRelease", "each_noised", "in_digits", "in_unit", "unit_of"]


def in_unit(steps: int, step: Fraction) -> int | float:
    """Grid steps in the column's unit: an integer on an integer grid, else the float nearest to the exact rational.

    >>> in_unit(3, Fraction(5)), in_unit(3, Fraction(1, 10))
    (15, 0.3)
    """
    return unit_of(step)(steps)


def in_digits(amount: float, digits: int = 4) -> str:
    """An amount in a note, to so many digits.

    >>> in_digits(15_177.4), in_digits(0.01234), in_digits(312_612), in_digits(87)
    ('15,180', '0.01234', '312,600', '87')
    """
    return f"{float(f'{amount:.{digits}g}'):,.15g}"


def unit_of(step: Fraction) -> Callable[[int], int | float]:
    """`in_unit` for many numbers of one step."""
    times, parts = step.numerator, step.denominator
    if parts != 1:
        return lambda steps: steps * times / parts
    return int if times == 1 else lambda steps: steps * times


def each_noised(exact: Sequence[int], laws: Sequence[Law], sampler: Sampler) -> list[int]:
    """(n,) exact numbers, each plus noise of its own law: those of one law are drawn together."""
    places, found, known = dict[Law, list[int]](), list(exact), dict[int, list[int]]()
    for place, law in enumerate(laws):  # most are one and the same, which is seen faster than that they are alike
        if id(law) not in known:
            known[id(law)] = places.setdefault(law, [])
        known[id(law)].append(place)
    for law, own in places.items():
        steps = noised([exact[place] for place in own], law.draw(sampler, len(own))).tolist()
        for place, k in zip(own, steps, strict=True):
            found[place] = k
    return found


@dataclass(frozen=True, slots=True)
class NoisedRelease(Offer):
    """An offer to release one integer per group plus noise, from one measure, ``m0``.

    Attributes:
        law: The noise, in grid steps.
        step: Grid step in the column's unit; 1 for counts.
    """

    law: Law
    step: Fraction

    def __post_init__(self) -> None:
        width = float(in_unit(self.law.quantile(0.95), self.step))  # the same whatever the data
        derive(self, scale=self.law.spread * float(self.step), half_width=width)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the column's unit and ``steps``, the same as grid integers; one entry per row of ``raw``."""
        return self.told_of({"steps": noised(raw.column("m0"), self.law.draw(sampler, len(raw))).tolist()})

    @property
    def numbers(self) -> tuple[str, ...]:
        """The name of the noised number."""
        return ("steps",)

    def told_of(self, columns: Mapping[str, Sequence[int]]) -> ReleasedTable:
        """The release of noised ``steps``."""
        steps = columns["steps"]
        values = steps if self.step == 1 else [*map(unit_of(self.step), steps)]
        return ReleasedTable({"value": values, "steps": steps})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the exact quantile of the noise; (None, None) where no value was released."""
        reach, own = self.law.quantile(confidence), unit_of(self.step)
        steps: Sequence[Any] = released.columns["steps"]
        return [(None, None) if k is None else (own(k - reach), own(k + reach)) for k in steps]
