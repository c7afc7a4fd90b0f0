"""Columns of millions of values as the engine sends them: Python's own are made of those that somebody looks at.

Tests: tests/unit/worker/test_parts.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["CLOSE", "Packed", "PackedTexts", "PackedValues"]

CLOSE = 1 << 15
"""Rows that are looked at at a time: 256 KiB a column. It is a choice: what is made of them stays close to the
processor."""

Mask = npt.NDArray[np.bool_]


class Packed(Sequence[Any]):
    """A column whose values are made where one looks.

    Args:
        present: (n,) whether there is a value; None where there is one everywhere.
    """

    __slots__ = ("present",)

    def __init__(self, present: Mask | None) -> None:
        self.present = present

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        rows = np.arange(len(self))[at]
        return self.at(rows).tolist() if isinstance(at, slice) else self.at(rows.reshape(1)).tolist()[0]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), CLOSE):
            yield from self.at(np.arange(start, min(start + CLOSE, len(self)))).tolist()

    def tolist(self) -> list[Any]:
        """All values, as Python's own."""
        made = self._made()
        if self.present is None:
            return made
        return [value if there else None for value, there in zip(made, self.present.tolist(), strict=True)]

    @abstractmethod
    def at(self, rows: npt.NDArray[np.int64]) -> Packed:
        """Some rows."""

    @abstractmethod
    def _made(self) -> list[Any]:
        """A value for each row; any where there is none."""

    def _present_at(self, rows: npt.NDArray[np.int64]) -> Mask | None:
        return None if self.present is None else self.present[rows]


class PackedValues(Packed):
    """Values of fixed width.

    Args:
        values: (n,) as they are stored, 0 where there is none.
        make: Makes Python's own of some.
        present: As for `Packed`.

    >>> list(PackedValues(np.array([1, 0, 3]), np.ndarray.tolist, np.array([True, False, True])))
    [1, None, 3]
    """

    __slots__ = ("make", "values")

    def __init__(
        self, values: npt.NDArray[Any], make: Callable[[npt.NDArray[Any]], list[Any]], present: Mask | None
    ) -> None:
        super().__init__(present)
        self.values, self.make = values, make

    def __len__(self) -> int:
        return len(self.values)

    def at(self, rows: npt.NDArray[np.int64]) -> PackedValues:
        """Some rows."""
        return PackedValues(self.values[rows], self.make, self._present_at(rows))

    def _made(self) -> list[Any]:
        return self.make(self.values)


class PackedTexts(Packed):
    """Texts, one behind the other.

    Args:
        starts: (n,) int64 where each begins, in bytes.
        lengths: (n,) int32, in bytes.
        data: All of them, in UTF-8.
        present: As for `Packed`.

    >>> list(PackedTexts(np.array([0, 2]), np.array([2, 1]), np.frombuffer("\u00e4b".encode(), np.uint8), None))
    ['\u00e4', 'b']
    """

    __slots__ = ("data", "lengths", "starts")

    def __init__(
        self,
        starts: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int32],
        data: npt.NDArray[np.uint8],
        present: Mask | None,
    ) -> None:
        super().__init__(present)
        self.starts, self.lengths, self.data = starts, lengths, data

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, rows: npt.NDArray[np.int64]) -> PackedTexts:
        """Some rows; all texts stay where they are."""
        return PackedTexts(self.starts[rows], self.lengths[rows], self.data, self._present_at(rows))

    def _made(self) -> list[str]:
        whole = self.data.data
        ends = (self.starts + self.lengths).tolist()
        return [str(whole[start:end], "utf-8") for start, end in zip(self.starts.tolist(), ends, strict=True)]
