"""A linear query over the cells of a domain: one number for each cell, added up over the rows.

Tests: tests/unit/mechanisms/metric/distances/test_product.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsql.mechanisms.metric.distances.base import Integers, Lines, check_whole

__all__ = ["Query"]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What a row in each cell adds, and to which answer.

    The axes are the attributes of a `Product`, in its order. Where a query does not look at an attribute, its axis has
    length 1, as numpy broadcasts it: the attribute's other values would repeat the same numbers.

    Attributes:
        values: Integers, one axis for each attribute: what one row adds, in steps of the answer's grid; 0 where a
            condition leaves the row out.
        groups: Integers of the same shape: the number of the group that the row counts in; None for one answer.

    Raises:
        ValueError: If values are not whole, or groups of another shape.

    >>> Query(np.array([[1], [0]])).attributes
    (0,)
    """

    values: Integers
    groups: Integers | None = None

    def __post_init__(self) -> None:
        check_whole(self.values)
        if self.groups is not None and self.groups.shape != self.values.shape:
            raise ValueError(f"groups are of shape {self.groups.shape}, values of {self.values.shape}; make them one.")

    @classmethod
    def of(cls, values: Integers, groups: Integers | None = None) -> Query:
        """From values and groups that broadcast to each other."""
        if groups is None:
            return cls(values)
        values, groups = np.broadcast_arrays(values, groups)
        return cls(values, groups)

    @property
    def attributes(self) -> tuple[int, ...]:
        """The axes that matter."""
        return tuple(axis for axis, length in enumerate(self.values.shape) if length > 1)

    def over(self, shape: tuple[int, ...]) -> Query:
        """The same query over more attributes' values: its numbers repeated."""
        groups = None if self.groups is None else np.broadcast_to(self.groups, shape)
        return Query(np.broadcast_to(self.values, shape), groups)

    def along(self, axis: int) -> Lines:
        """The query as lines along one axis."""
        return Lines(_lines(self.values, axis), None if self.groups is None else _lines(self.groups, axis))

    def flat(self) -> Lines:
        """All cells, as one line in C order."""
        groups = None if self.groups is None else self.groups.reshape(1, -1)
        return Lines(self.values.reshape(1, -1), groups)

    def largest(self) -> int:
        """The most that one row adds or takes: what a row's coming or going costs."""
        return int(np.abs(self.values).max(initial=0))

    def apart(self) -> tuple[Query, ...]:
        """One query for each group."""
        if self.groups is None:
            return (self,)
        return tuple(Query(np.where(self.groups == group, self.values, 0)) for group in np.unique(self.groups))

    def fits(self, sizes: Sequence[int]) -> bool:
        """Whether the axes are as long as the attributes have values, or 1."""
        shape = self.values.shape
        return len(shape) == len(sizes) and all(n in (1, size) for n, size in zip(shape, sizes, strict=True))

    @property
    def cells(self) -> int:
        """Cells of the domain that it looks at."""
        return math.prod(self.values.shape)


def _lines(array: Integers, axis: int) -> Integers:
    """(n, m): every line along the axis."""
    return np.ascontiguousarray(np.moveaxis(array, axis, -1)).reshape(-1, array.shape[axis])
