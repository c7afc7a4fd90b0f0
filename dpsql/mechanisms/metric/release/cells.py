"""Exact answers of linear queries from the counts of a domain's cells.

The engine is asked for one thing only, how many rows lie in each cell that occurs. What a row there adds is known
beforehand, from the statement alone: the numbers that the noise was worked out for are the very numbers added up here.

Tests: tests/unit/mechanisms/metric/release/test_cells_release.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_ROWS
from dpsql.mechanisms.metric import Query
from dpsql.plan.types import Value
from dpsql.privacy.tables import RawTable

__all__ = ["CellQuery", "Domain"]

FITS = 2**62  # As a whole number: sums below it are added up in int64.


@dataclass(frozen=True, slots=True, eq=False)
class CellQuery:
    """One number per group, added up over the rows.

    Attributes:
        query: What a row in each cell adds, in grid steps, and to which group.
        size: Number of groups.
    """

    query: Query
    size: int

    @property
    def digest(self) -> str:
        """What tells it apart from other queries: a digest of its numbers."""
        digest, groups = hashlib.sha256(), self.query.groups
        for array in (self.query.values, self.query.values if groups is None else groups):
            digest.update(repr((array.shape, self.size, groups is None)).encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def by_group(self) -> npt.NDArray[np.int64]:
        """(groups, values) of the one attribute that the query looks at: what a row of a value adds to a group."""
        values = self.query.values.ravel()
        groups = np.zeros_like(values) if self.query.groups is None else self.query.groups.ravel()
        return np.where(groups == np.arange(self.size)[:, None], values, 0)

    def empty(self) -> frozenset[int]:
        """The groups to which no cell adds anything: their numbers are 0, whatever the rows are."""
        values, groups = self.query.values, self.query.groups
        adding = np.unique(np.zeros_like(values) if groups is None else groups[values != 0])
        return frozenset(range(self.size)) - frozenset(adding.tolist())

    def by_value(self) -> CellQuery:
        """The number of rows with each value of that attribute."""
        shape = self.query.values.shape
        ones = np.ones(shape, dtype=np.int64)
        return CellQuery(Query(ones, np.arange(ones.size).reshape(shape)), ones.size)

    def totals(self, cells: Sequence[npt.NDArray[np.int64]], rows: npt.NDArray[np.int64]) -> list[int]:
        """One exact integer per group.

        Args:
            cells: For each attribute (n,) numbers of values; one cell a place.
            rows: (n,) how many rows lie in each.
        """
        if not self.size:  # no row is in any group, and cells have a group all the same
            return []
        values, groups = self.query.values, self.query.groups
        where = tuple(at if length > 1 else np.zeros_like(at) for at, length in zip(cells, values.shape, strict=True))
        wide = max(1, self.query.largest()) * MOST_ROWS >= FITS
        kind: Any = object if wide else np.int64
        each = values[where].astype(kind) * rows.astype(kind)
        totals = np.zeros(self.size, dtype=kind)
        np.add.at(totals, np.zeros_like(rows) if groups is None else groups[where], each)
        return [int(total) for total in totals]


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """How a raw table of cells is read.

    Attributes:
        columns: For each attribute the raw column that holds its values, or None where no query looks at it.
        numbers: For each attribute the number of each value.
        digest: What tells it apart from other readings of the same cells: a digest of these numbers.
    """

    columns: tuple[str | None, ...]
    numbers: tuple[Mapping[Value, int], ...]
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256()
        for numbers in self.numbers:
            digest.update(np.array(list(numbers.values()), dtype=np.int64).tobytes() + b";")
        object.__setattr__(self, "digest", digest.hexdigest())

    def cells(self, raw: RawTable) -> list[npt.NDArray[np.int64]]:
        """For each attribute (n,) the numbers of the cells' values; 0 where no query looks at it.

        Raises:
            InvariantBroken: If a value is not of the domain, which the bounded file rules out.
        """
        found = []
        for column, numbers in zip(self.columns, self.numbers, strict=True):
            if column is None:
                found.append(np.zeros(len(raw), dtype=np.int64))
                continue
            try:
                places = [numbers[value] for (value,) in raw.groups([column])]
            except KeyError:
                raise InvariantBroken("a row outside the domain of its metric") from None
            found.append(np.array(places, dtype=np.int64))
        return found
