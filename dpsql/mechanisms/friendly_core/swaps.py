"""Swap filters on a public number of parts, as clusters and covariances use them.

Tests: tests/unit/mechanisms/friendly_core/test_tuple_core.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.basic import BasicSwapFilter
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedSwapFilter
from dpsql.mechanisms.friendly_core.noise import gaussian_law
from dpsql.privacy.sampling import Sampler

__all__ = ["ByChance", "ByThreshold", "SwapFilter"]


class SwapFilter(Protocol):
    """Keeps the core of t elements, by their numbers of friends."""

    def kept(self, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        """(t,) bool, from (t,) numbers of friends, each element its own friend."""
        ...

    def expected(self, agreeing: Fraction) -> Fraction:
        """About how many are kept if so many are friends of one another and nobody else is; 0 if that is not sure."""
        ...


@dataclass(frozen=True, slots=True)
class ByChance:
    """The basic filter.

    Attributes:
        parts: t.
        swaps: The filter.
    """

    parts: int
    swaps: BasicSwapFilter = BasicSwapFilter()  # noqa: RUF009 - frozen

    def kept(self, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        return self.swaps.kept(friends, sampler)

    def expected(self, agreeing: Fraction) -> Fraction:
        chance = (2 * agreeing / self.parts - 1) / (1 - 2 * self.swaps.alpha)
        return agreeing * min(Fraction(1), max(Fraction(0), chance))


@dataclass(frozen=True, slots=True)
class ByThreshold:
    """The concentrated filter.

    Attributes:
        parts: t.
        swaps: The filter.
    """

    parts: int
    swaps: ConcentratedSwapFilter

    def kept(self, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        return self.swaps.core(friends, sampler).kept

    def expected(self, agreeing: Fraction) -> Fraction:
        noise = gaussian_law(Fraction(4 * (self.parts - 1)), (1 - self.swaps.delta) * self.swaps.rho)
        clear = 2 * agreeing - self.parts - 1 - noise.beyond(self.swaps.delta / self.parts)
        return agreeing if clear >= 2 * noise.spread else Fraction(0)
