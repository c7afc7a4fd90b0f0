"""Records of units, and the exact loss of everything that a release of their totals lets out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsql.mechanisms.clamped.mean import ClampedMean
from dpsql.mechanisms.clamped.units import means_of
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.located.test_mechanism import Told, chosen, flipped

__all__ = ["Numbers", "Side", "Units", "loss", "raw_of"]

Units = Counter[tuple[int, ...]]
"""How many units have a sum, a number of rows, and perhaps a sum of squares."""
Side = tuple[Any, Any]
"""(k, 2) or (k, 3) records, and how many units have each."""
Numbers = Callable[[ClampedMean, Side, dict[str, Any]], list[list[int]]]
"""Exact numbers of one side behind each draw or choice, at what was released before it."""


def raw_of(*groups: Units) -> RawTable:
    """What an engine returns for these units."""
    rows = [(at, *own, group[own]) for at, group in enumerate(groups) for own in sorted(group) if group[own]]
    wide = max((len(own) for group in groups for own in group), default=2)
    names = ("group", "value", *(f"value_{at}" for at in range(1, wide)), "rows")
    return RawTable({name: [row[place] for row in rows] for place, name in enumerate(names)}, len(groups))


def loss(release: ClampedMean, one: Units, two: Units, seed: str, scores: Numbers, numbers: Numbers) -> float:
    """How far apart the chances of one transcript can be on two tables, at most, as a log of their ratio.

    Args:
        release: Which.
        one: The units that it is drawn on.
        two: Their neighbours.
        seed: Of the draws.
        scores: Of each choice by permute-and-flip.
        numbers: Behind each draw of noise.
    """
    query, sampler = release.query, Told(FixedSampler(seed))
    released = release.release(raw_of(one), sampler)  # type: ignore[arg-type]  # it draws by these calls alone
    row = {name: own[0] for name, own in released.columns.items()}
    real, sides = 0.0, (_side(one), _side(two))
    for widths, exponent, index, offset in sampler.choices:
        assert row["centre"] == query.values.low + sum(widths[:index]) + offset
        means = [(own.tolist() for own in means_of(*side, query.values)) for side in sides]
        here, there = (
            chosen(Counter(dict(zip(*x, strict=True))), query.values, exponent, row["centre"]) for x in means
        )
        real += abs(here - there)
    for (told, exponent, index), here, there in zip(
        sampler.flips, *(scores(release, side, row) for side in sides), strict=True
    ):
        assert told == here
        real += abs(flipped(told, exponent, index) - flipped(there, exponent, index))
    for scale, here, there in zip(sampler.scales, *(numbers(release, side, row) for side in sides), strict=True):
        real += sum(abs(a - b) for a, b in zip(here, there, strict=True)) / float(scale)
    return real


def _side(units: Units) -> Side:
    held = sorted(own for own in units if units[own])
    return np.array(held, dtype=np.int64), np.array([units[own] for own in held], dtype=np.int64)
