"""Equal rows counted: what GROUP BY of all columns gives, by sorting whole numbers, piece by piece as they come.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import nanoarrow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

__all__ = ["MOST_DIGITS", "ROWS", "counted", "distinct", "starts", "values_of"]

ROWS = "rows"  # The column that says how many rows were equal.
MOST_DIGITS = 62  # Binary digits of a number that stands for a row: all of int64 but its sign, and one to spare.
PIECE = 1 << 24
"""Numbers that are put together before they are sorted, 128 MiB. It is a choice: what is counted is sorted again
only when as much has come."""


def counted(stream: Any, marks: int) -> Any:
    """Rows of a stream of BIGINT columns without NULLs, each different one once, rising, with how many there were.

    Args:
        stream: Anything with ``__arrow_c_stream__``.
        marks: How many of its last columns are no part of what makes rows equal: they are summed.

    Returns:
        An Arrow array of the same columns and ``rows``.

    Raises:
        ValueError: If a column is no BIGINT, or holds a NULL.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread of it would take address space, and none is used
    import numpy as np  # here, for a worker that counts nothing starts without it

    source = nanoarrow.ArrayStream(stream)
    names = [field.name for field in source.schema.fields]
    held = [np.empty(0, dtype=np.int64)] * (len(names) + 1)
    pieces: list[list[Whole]] = []
    waiting = 0
    for chunk in source:
        pieces.append([values_of(child) for child in chunk.iter_children()])
        waiting += len(chunk) * len(names)
        if waiting >= max(PIECE, len(held[0]) * len(names)):
            held, pieces, waiting = _together(held, pieces, marks), [], 0
    if waiting:
        held = _together(held, pieces, marks)
    children = [
        nanoarrow.c_array_from_buffers(
            nanoarrow.int64(), length=len(column), buffers=[None, np.ascontiguousarray(column)]
        )
        for column in held
    ]
    schema = nanoarrow.struct({name: nanoarrow.int64() for name in [*names, ROWS]})
    return nanoarrow.c_array_from_buffers(schema, length=len(held[0]), buffers=[None], children=children)


def values_of(child: Any) -> Whole:
    """(n,) of a BIGINT column of a chunk.

    Raises:
        ValueError: If it is another, or holds a NULL.
    """
    import numpy as np

    if child.schema.type is not nanoarrow.Type.INT64:
        raise ValueError("only BIGINT is counted")
    if (
        len(memoryview(child.buffers[0]))
        and not np.unpackbits(np.frombuffer(child.buffers[0], np.uint8), bitorder="little", count=len(child)).all()
    ):
        raise ValueError("a NULL is not counted")
    values: Whole = np.frombuffer(child.buffers[1], np.int64, count=len(child))
    return values


def _together(held: list[Whole], pieces: list[list[Whole]], marks: int) -> list[Whole]:
    """What is counted already, and pieces of rows that are not."""
    import numpy as np

    fresh = _counted([np.concatenate(parts) for parts in zip(*pieces, strict=True)], marks)
    if not len(held[0]):
        return fresh
    known = len(fresh) - 1 - marks
    both = [np.concatenate(pair) for pair in zip(held, fresh, strict=True)]
    return distinct(both[:known], both[known:])


def _counted(columns: list[Whole], marks: int) -> list[Whole]:
    """As `counted`, of rows that are all here: by one number for each, where all that makes rows equal fits one."""
    import numpy as np

    known, marked = columns[: len(columns) - marks], columns[len(columns) - marks :]
    packed = _packed([*known, *marked])
    if packed is None:
        return distinct(known, [*marked, np.ones(len(columns[0]), dtype=np.int64)])
    numbers, lows, widths = packed
    numbers.sort()
    first = starts(numbers)
    rows, left, found = np.diff(first, append=len(numbers)), numbers[first], []
    for low, width in zip(reversed(lows), reversed(widths), strict=True):
        found.append((left & ((1 << width) - 1)) + low)
        left = left >> width
    known, marked = found[marks:][::-1], found[:marks][::-1]
    if not marks:
        return [*known, rows]
    ends = starts(numbers[first] >> sum(widths[len(widths) - marks :]))
    sums = [np.add.reduceat(values, ends) for values in (*(mark * rows for mark in marked), rows)]
    return [*(column[ends] for column in known), *sums]


def starts(numbers: npt.NDArray[Any]) -> Whole:
    """Where another number begins than the one before, 0 among it; there is one at least."""
    import numpy as np

    return np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1])


def _packed(columns: list[Whole]) -> tuple[Whole, list[int], list[int]] | None:
    """One number for each row, which rise as the rows do; the least value and the binary digits of each column."""
    lows = [int(column.min()) for column in columns]
    widths = [(int(column.max()) - low).bit_length() for column, low in zip(columns, lows, strict=True)]
    if sum(widths) > MOST_DIGITS:
        return None
    numbers = columns[0] - lows[0]
    for column, low, width in zip(columns[1:], lows[1:], widths[1:], strict=True):
        numbers <<= width
        numbers |= column - low
    return numbers, lows, widths


def distinct(columns: list[Whole], sums: list[Whole]) -> list[Whole]:
    """Each different row once, rising, and the sums of further columns over the rows that were equal.

    >>> import numpy as np
    >>> [own.tolist() for own in distinct([np.array([2, 1, 2])], [np.array([1, 1, 1])])]
    [[1, 2], [1, 2]]
    """
    import numpy as np

    packed = _packed(columns)
    order = np.lexsort(columns[::-1]) if packed is None else np.argsort(packed[0], kind="stable")
    columns, sums = [column[order] for column in columns], [column[order] for column in sums]
    first = np.zeros(len(order), dtype=np.bool_)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(first)
    return [*(column[starts] for column in columns), *(np.add.reduceat(column, starts) for column in sums)]
