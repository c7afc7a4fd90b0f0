"""Bugs that are planted in more than one place: each is there for the time of a block."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.sampling import Integers, Sampler
from tests.exhaustive.branching import Branching

__all__ = ["half_noise", "twice_the_price"]


def half_noise() -> AbstractContextManager[object]:
    """Laplace noise of half the scale."""

    def half(law: LaplaceLaw, sampler: Sampler, size: int) -> Integers:
        return sampler.laplace(law.scale / 2, size)

    return patch.object(LaplaceLaw, "draw", half)


def twice_the_price() -> AbstractContextManager[object]:
    """Choices at twice their exponent."""

    def flip(sampler: Branching, scores: Sequence[int], exponent: Fraction) -> int:
        return flipped(sampler, scores, 2 * exponent)

    def interval(sampler: Branching, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> Any:
        return drawn(sampler, widths, scores, 2 * exponent)

    flipped, drawn = Branching.permute_and_flip, Branching.intervals
    return patch.multiple(Branching, permute_and_flip=flip, intervals=interval)
