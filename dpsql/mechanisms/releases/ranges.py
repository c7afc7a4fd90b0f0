"""Which release of an ordered domain errs least for ranges, from public facts alone: noisy cells, or which tree.

A range of M of the N cells errs by a variance of M (1 - M / N) times that of one cell's noise with `cells`, and
(M / N)^2 times that of the number of rows where it is private; with `tree` by about log(N)^3 times that of a node
of a tree of one level. Both follow from N, the price and the neighbours alone: the choice is free.

The errors compared are root mean squares over a fixed list of ranges, of many places and lengths: the i-th reaches from
a to b, a < b being the fractional parts of i times 0.7549 and 0.5698 (the plastic number's inverse and its square:
evenly spread in the plane, Roberts 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.mechanisms.releases.cells import NoisyCells, noisy_cells, sum_deviation
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Whole
from dpsql.mechanisms.releases.tree import NoisyTree, TreeShape, noisy_tree
from dpsql.privacy.sampling import Sampler

__all__ = ["RangesPlan", "evenly_spread", "least_error", "noisy_ranges", "root_mean"]

BRANCHINGS = (2, 4, 8, 16)  # Children of a node that are compared: Qardaji, Yang, Li 2013 find 8 to 16 good. A choice.
RANGES = 24  # How many ranges errors are averaged over. It is a choice: each costs one pass over the cells.
PLASTIC = 1.324717957244746  # The real root of x^3 = x + 1.


@dataclass(frozen=True, slots=True)
class RangesPlan:
    """A way to release ordered cells.

    Attributes:
        method: ``"cells"`` or ``"tree"``.
        branching: Children of a node; 0 for cells.
        deviation: Root mean square of the expected error of ranges, in rows, before numbers are made whole.
    """

    method: str
    branching: int
    deviation: float


def least_error(cells: int, payment: Payment, total: int | None = None) -> list[RangesPlan]:
    """The ways to release so many ordered cells, the one with the least expected error first.

    >>> from fractions import Fraction
    >>> payment = Payment("replace_one", epsilon=Fraction(1))
    >>> [least_error(cells, payment, total=1)[0].method for cells in (8, 2**12)]
    ['cells', 'tree']
    """
    ranges = evenly_spread(cells)
    public = total is not None
    errors = [sum_deviation(cells, (stop - start) / cells, payment, public=public) for start, stop in ranges]
    plans = [RangesPlan("cells", 0, root_mean(errors))]
    for branching in BRANCHINGS:
        shape = TreeShape(cells, branching, root=total is None)
        law = payment.noise(histograms=shape.levels)
        errors = [shape.deviation(shape.range_query(start, stop), law) for start, stop in ranges]
        plans.append(RangesPlan("tree", branching, root_mean(errors)))
    return sorted(plans, key=lambda plan: plan.deviation)


def noisy_ranges(
    counts: Sequence[int] | Whole, payment: Payment, sampler: Sampler, total: int | None = None
) -> NoisyCells | NoisyTree:
    """The release of ordered cells with the least expected error of ranges; arguments as for `tree.noisy_tree`."""
    plan = least_error(len(counts), payment, total)[0]
    if plan.method == "cells":
        return noisy_cells(counts, payment, sampler, total)
    return noisy_tree(counts, payment, sampler, total, plan.branching)


def evenly_spread(cells: int) -> list[tuple[int, int]]:
    """The fixed list of ranges, each of one cell or more."""
    found = []
    for i in range(1, RANGES + 1):
        low, high = sorted(int(cells * (i / PLASTIC**power % 1)) for power in (1, 2))
        found.append((low, max(high, low + 1)))
    return found


def root_mean(values: Sequence[float]) -> float:
    """The root of the mean of squares."""
    return math.sqrt(sum(value * value for value in values) / len(values))
