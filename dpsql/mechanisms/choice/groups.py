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
from dpsql.privacy.tables import Digits, RawTable

__all__ = ["Whole", "grouped", "in_groups", "numbers_of", "of_every_row"]

Whole = npt.NDArray[Any]
"""(n,) int64, or Python ints where the public facts do not rule out that int64 overflows."""


def grouped(raw: RawTable) -> Iterator[tuple[Whole, Whole]]:
    """The (distinct, rising) values of each group in order, int64, and how many rows hold each.

    >>> raw = RawTable({"group": [1, 1, 0], "value": [7, 2, 5], "rows": [1, 3, 1]}, size=2)
    >>> [(values.tolist(), rows.tolist()) for values, rows in grouped(raw)]
    [([5], [1]), ([2, 7], [3, 1])]
    """
    return ((values, rows) for values, rows in in_groups(raw, "value", "rows"))


def in_groups(raw: RawTable, value: str, *others: str) -> Iterator[list[Whole]]:
    """Columns of each group in order, int64, a group's rows in an order in which its values do not fall.

    Whatever order the engine sent them in: proofs need rising values. It mostly sends them so. Group after group is
    made numbers of, for what a group needs stays close to the processor.

    >>> raw = RawTable({"group": [1, 1, 0, 1], "value": [7, 2, 5, 4]}, size=3)
    >>> [values.tolist() for (values,) in in_groups(raw, "value")]
    [[5], [2, 4, 7], []]
    """
    group = np.asarray(raw.column("group"), dtype=np.min_scalar_type(-1 - raw.size))
    columns = [numbers_of(raw, name) for name in (value, *others)]
    if bool((group[1:] < group[:-1]).any()):
        order = np.argsort(group, kind="stable")
        group, columns = group[order], [column[order] for column in columns]
    edges = np.searchsorted(group, np.arange(raw.size + 1, dtype=group.dtype))
    for start, end in pairwise(edges.tolist()):
        own: list[Whole] = [np.asarray(column[start:end]) for column in columns]
        if bool((own[0][1:] < own[0][:-1]).any()):
            order = np.argsort(own[0], kind="stable")
            own = [column[order] for column in own]
        yield own


def numbers_of(raw: RawTable, name: str) -> Any:
    """A column of whole numbers whose parts can be looked at: an int64 array, or digits that become one."""
    column = raw.column(name)
    return column if isinstance(column, Digits) else np.asarray(column, dtype=np.int64)


def of_every_row(need: Values, facts: Facts) -> Values:
    """The same values, a missing one (NULL, or no number) standing at the centre.

    For proofs that know the number of values because every row has one: that a column is not nullable is what the owner
    says, and nothing in the tables holds them to it.

    Args:
        need: The values.
        facts: What is known of them.
    """
    return replace(need, missing=centre_of(need.grid or saturating_grid(facts), facts))
