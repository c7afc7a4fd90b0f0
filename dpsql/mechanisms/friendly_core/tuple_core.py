"""The core of t tuples, one for each part of the data, and its noisy average.

Neighbours: one tuple is exchanged for another; their number t is public. One privacy unit more, less or exchanged does
no more than that, because a unit is in one part and stays there. Loss: as each step states it.

1. **Radius.** Two tuples lie within r if they match (`tuples`) and no two matched points are further apart. `radius_of`
   searches for r as for the diameter of rows (`diameter`, whose proof asks of a distance only that two elements
   decide it), with a tolerance of 1/2: some of the parts may go astray.
2. **Core.** Tuples within r of each other are friends; a swap filter (`swaps`) keeps those with more than half of the
   others as friends. Any two that may be kept on neighbouring data have a common friend. So they match with 1/3, have
   one order of places whichever tuple comes first, and lie within 2 r of each other in every place.
3. **Average.** `average_of` puts the kept tuples in the order of the first one, their places into a uniformly random
   order, and releases the friendly average (`average`) of vectors of k d coordinates that lie within 2 r sqrt(k) of
   each other. Whichever of the neighbouring cores' first tuples names the places, the random order is the same in law.

Source: Tsfadia et al. 2022, section 5. Different here: tuples are exchanged (a unit changes one; the paper's proof is
for tuples that come or go); and one predicate holds match and distance, so that one filter on a public number of
tuples does what two did, the second on a secret number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.friendly_core.diameter import DiameterSearch
from dpsql.mechanisms.friendly_core.noise import root_above
from dpsql.mechanisms.friendly_core.tuples import aligned, permuted
from dpsql.privacy.sampling import Sampler

__all__ = ["average_of", "joint_radius", "radius_of", "search_between"]

Integers = npt.NDArray[Any]

TOLERANCE = Fraction(1, 2)
"""The share of pairs of parts that may lie beyond the radius (t of `diameter`, at its most). It is a choice: some of
the parts may go astray."""


def search_between(scale: tuple[int, int], epsilon: Fraction) -> DiameterSearch:
    """The search for a radius from ``scale[0]`` to ``scale[1]``, in grid steps."""
    return DiameterSearch(*scale, epsilon, TOLERANCE, swap=True)


def radius_of(gaps: Integers, search: DiameterSearch, sampler: Sampler) -> int:
    """A radius in grid steps, from the (t, t) squared gaps of tuples; it is already inflated."""
    order = sampler.order(len(gaps))
    return search.chosen(np.sqrt(gaps[order, np.roll(order, -1)].astype(np.float64)), sampler)


def joint_radius(radius: int, k: int) -> int:
    """How far friends can be apart as vectors of all their k places, rounded up: radius sqrt(k)."""
    return ceil(radius * root_above(Fraction(k)))


def average_of(
    core: Integers, radius: int, average: FriendlyAverage, sampler: Sampler
) -> Sequence[Sequence[int]] | None:
    """k noisy averages of d coordinates each, on the grid, or None for too few tuples.

    Args:
        core: (m, k, d) the kept tuples, m >= 0.
        radius: In grid steps, >= 1.
        average: The friendly average, of k d coordinates.
        sampler: Source of noise.
    """
    m, k, d = core.shape
    order = sampler.order(k).tolist()
    total = permuted(aligned(core), order).sum(axis=0).ravel().tolist() if m else [0] * (k * d)
    found = average.release(total, m, joint_radius(radius, k), sampler)
    return None if found is None else [found.nearest[c * d : (c + 1) * d] for c in range(k)]
