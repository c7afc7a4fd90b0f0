"""What mechanisms of value counts share: the counts of each group, and values of which none is missing.

Tests: tests/unit/mechanisms/choice/test_quantile.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.mean import centre_of
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Values
from dpsql.plan.types import Facts
from dpsql.privacy.tables import RawTable

__all__ = ["Whole", "grouped", "in_order", "of_every_row"]

Whole = npt.NDArray[Any]
"""(n,) int64, or Python ints where the public facts do not rule out that int64 overflows."""


def grouped(raw: RawTable) -> Iterator[tuple[Whole, Whole]]:
    """The (distinct, rising) values of each group in order, int64, and how many rows hold each.

    Whatever order the engine sent them in: proofs need rising values.

    >>> raw = RawTable({"group": [1, 1, 0], "value": [7, 2, 5], "rows": [1, 3, 1]}, size=2)
    >>> [(values.tolist(), rows.tolist()) for values, rows in grouped(raw)]
    [([5], [1]), ([2, 7], [3, 1])]
    """
    group, value, rows = (np.asarray(raw.column(name), dtype=np.int64) for name in ("group", "value", "rows"))
    order = in_order(group, value)
    if order is not None:
        group, value, rows = group[order], value[order], rows[order]
    edges = np.searchsorted(group, np.arange(raw.size + 1))
    for start, end in pairwise(edges.tolist()):
        yield value[start:end], rows[start:end]


def in_order(group: Whole, value: Whole) -> Whole | None:
    """The order in which groups, and values within each, do not fall; None where they lie so already.

    The engine sends each group's values rising, in an order of groups of its own: then only groups are moved.

    >>> in_order(np.array([1, 1, 0]), np.array([2, 7, 5]))
    array([2, 0, 1])
    """
    if _rises(group, value):
        return None
    order = np.argsort(group, kind="stable")
    return order if _rises(group[order], value[order]) else np.lexsort((value, group))


def _rises(group: Whole, value: Whole) -> bool:
    within = (group[1:] == group[:-1]) & (value[1:] >= value[:-1])
    return bool(((group[1:] > group[:-1]) | within).all())


def of_every_row(need: Values, facts: Facts) -> Values:
    """The same values, a missing one (NULL, or no number) standing at the centre.

    For proofs that know the number of values because every row has one: that a column is not nullable is what the owner
    says, and nothing in the tables holds them to it.

    Args:
        need: The values.
        facts: What is known of them.
    """
    return replace(need, missing=centre_of(need.grid or saturating_grid(facts), facts))
