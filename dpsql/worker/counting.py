"""Equal rows counted: what GROUP BY of all columns gives, from rows of whole numbers, piece by piece as they come.

What makes rows equal is one number for each, put together by public bounds of its columns (or a few such numbers, where
one cannot hold them). Where many rows have few such numbers, a table counts them; else they are sorted.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker import wire
from dpsql.worker.ahead import both, fetched
from dpsql.worker.lying import Adds, Piece
from dpsql.worker.ordered import Ranks, changes, places_in, values_of
from dpsql.worker.sizing import of_groups, of_units

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["Word", "counted", "counted_totals", "narrowed", "shortened"]

Word = Sequence[tuple[int, int]]
"""Columns that are one number together, the first of them uppermost: the least value and the binary digits of each."""
ANY = 64
"""In binary digits: a column that may hold any BIGINT. It stands alone in its number, as it is."""
TABLED = 21
"""Binary digits of numbers that a table may count, 16 MiB of it. It is a choice: 9 million rows of 2 million values
take 25 ms so, and 84 by sorting; of 11 million values both take the same (measured)."""
SHORT = 31  # Binary digits of a number in 32 bits, but its sign.
ROOMY = 4  # Slots of the table for each row at most. It is a choice: with more of them sorting is faster.
FEW = 8
"""Rows for each that equals one before it, from which on these are counted alone: most rows are the only one of their
kind. It is a choice: then no array has a number of 64 bits for each."""
HALVED = 1 << 18
"""Numbers that two threads sort. It is a choice: of 1.5 million they take 12 ms, and one thread takes 17 (measured)."""
PIECE = 1 << 24
"""Numbers that are put together before they are sorted, 128 MiB. It is a choice: what is counted is sorted again
only when as much has come."""


def counted(stream: Any, words: Sequence[Word], edges: Sequence[int] = ()) -> list[Whole]:
    """Rows of a stream of whole numbers without NULLs, each different one once, rising, with how many there were.

    Args:
        stream: Anything with ``__arrow_c_stream__``. A column is BIGINT where it shares a number with others; one that
            is alone may have fewer bytes.
        words: What its columns are together, in their order.
        edges: Where they are not empty the last columns are the numbers of rows' units and their ranks, as `Ranks`
            wants them; the class of the rank and the mark stand for them.

    Returns:
        (n,) int64 of each word, and of the numbers of rows, which may be narrower.

    Raises:
        ValueError: If a column is of another type, holds a NULL, or a value that its digits do not hold.
    """
    return _counted(_columns(stream, edges), words)


def counted_totals(
    rows: Iterable[Piece], places: Sequence[int], adds: Adds, clamps: Sequence[tuple[int, int]], words: Sequence[Word]
) -> list[Whole]:
    """The same of what each unit's rows add up to in each group; units without a value of a sum are left out there.

    Args:
        rows: See `lying.pieces`, and `lying.alone`.
        places: How many places each key has; these are the first columns.
        adds: What the others add up.
        clamps: To which ends each of these is clamped.
        words: As above.

    Raises:
        ValueError: As `lying.pieces`.
    """
    return _counted((_totals(piece, places, adds, clamps) for piece in rows), words)


def _counted(rows: Iterable[list[Whole]], words: Sequence[Word]) -> list[Whole]:
    import numpy as np  # here, for a worker that counts nothing starts without it

    held = [np.empty(0, dtype=np.int64)] * (len(words) + 1)
    pieces: list[list[Whole]] = []
    waiting = 0
    for columns in rows:
        numbers = _packed(columns, words)
        pieces.append(numbers)
        waiting += len(numbers[0]) * len(words)
        if waiting >= max(PIECE, len(held[0]) * len(words)):
            held, pieces, waiting = _together(held, pieces, words), [], 0
    return _together(held, pieces, words) if waiting else held


def narrowed(rows: Whole) -> Whole:
    """Numbers of rows in as few bytes as hold the largest: most are 1, and travel."""
    import numpy as np

    return rows.astype(np.min_scalar_type(int(rows.max(initial=0))))


def shortened(numbers: Sequence[Whole], words: Sequence[Word]) -> Sequence[Whole]:
    """Rising numbers as they travel: in 32 bits, with where each number of the digits above begins, if they may."""
    import numpy as np

    digits = wire.shortened(words)
    if digits is None:
        return numbers
    (own,), (below, above) = numbers, digits
    lower = own.astype(np.int32)  # what lies above its 32 bits is left out
    lower &= (1 << below) - 1
    return [lower, np.searchsorted(own, np.arange((1 << above) + 1) << below)]


def _columns(stream: Any, edges: Sequence[int]) -> Iterator[list[Whole]]:
    """The columns of what comes together, with the ranks' classes and the marks where there are edges."""
    ranks = Ranks(edges)
    for table in fetched(nanoarrow.c_array_stream(stream)):
        children = list(nanoarrow.Array(table).iter_children())
        if not edges:
            yield [values_of(child) for child in children]
        else:
            *values, units, places = map(values_of, children)
            yield from ranks.told(values, units, places)
    yield from ranks.last()


def _totals(piece: Piece, places: Sequence[int], adds: Adds, clamps: Sequence[tuple[int, int]]) -> list[Whole]:
    """The places of the keys, and the totals of each unit of a piece in each group."""
    import numpy as np

    present = [("count", at) for function, at in adds if function == "sum"]
    every: list[tuple[str, int]] = [*adds, *present]
    keys: list[Whole] = []
    if piece.groups is None:
        totals = of_units(piece, every)
    else:
        digits = (math.prod(places) - 1).bit_length()
        codes, _, totals = of_groups(piece, digits, every)
        keys = places_in(codes & ((1 << digits) - 1), places)
    found = [*keys, *(np.clip(own, *ends) for own, ends in zip(totals, clamps, strict=False))]
    kept = np.ones(len(found[0]), dtype=np.bool_)
    for own in totals[len(adds) :]:
        kept &= own > 0
    return found if kept.all() else [own[kept] for own in found]


def _packed(columns: Sequence[Whole], words: Sequence[Word]) -> list[Whole]:
    """(n,) of each word; they rise as its columns do."""
    import numpy as np

    left, packed = list(columns), []
    for word in words:
        own, left = left[: len(word)], left[len(word) :]
        parts: list[tuple[Whole, int]] = []  # of as many columns each as 32 bits hold, the lowest first
        for column, (low, digits) in zip(reversed(own), reversed(word), strict=True):
            above = _above(column, low, digits)
            if parts and parts[-1][1] + digits <= SHORT:
                lower, below = parts.pop()
                above, digits = _over(above, lower, below, np.int32), below + digits
            parts.append((above, digits))
        numbers, below = parts[0]
        for above, digits in parts[1:]:
            numbers, below = _over(above, numbers, below, np.int64), below + digits
        packed.append(numbers if len(words) == 1 else numbers.astype(np.int64, copy=False))
    return packed


def _over(upper: Whole, lower: Whole, below: int, width: Any) -> Whole:
    """(n,) the upper numbers with the lower ones, of so many digits, below them."""
    numbers = upper.astype(width)
    numbers <<= below
    numbers |= lower
    return numbers


def _above(column: Whole, low: int, digits: int) -> Whole:
    """How far the values are above the least; the engine takes care that what wraps around is seen, too."""
    above = column - low if low else column
    if digits < ANY and len(above) and (above.min() < 0 or int(above.max()) >> digits):
        raise ValueError("a value lies outside of its bounds")
    return above


def _together(held: list[Whole], pieces: list[list[Whole]], words: Sequence[Word]) -> list[Whole]:
    """What is counted already, and pieces of rows that are not."""
    import numpy as np

    numbers, *others = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    digits = sum(own for _, own in words[0])
    if others:
        fresh = _distinct([numbers, *others], np.ones(len(numbers), dtype=np.int64))
    elif digits <= TABLED and 1 << digits <= ROOMY * len(numbers):
        fresh = _tabled(numbers)
    else:
        fresh = _sorted(numbers)
    if not len(held[0]):
        return fresh
    *known, rows = (np.concatenate(pair) for pair in zip(held, fresh, strict=True))
    return _distinct(known, rows)


def _tabled(numbers: Whole) -> list[Whole]:
    """As `counted`, of one word of few digits."""
    import numpy as np

    rows = np.bincount(numbers)
    known = np.flatnonzero(rows)
    return [known, rows[known]]


def _sorted(numbers: Whole) -> list[Whole]:
    """As `counted`, of one word; there is a row. The numbers are sorted in their place."""
    import numpy as np

    _sort(numbers)
    other = changes(numbers)
    again = np.flatnonzero(~other)
    if len(again) * FEW > len(numbers):
        first = np.flatnonzero(other)
        return [numbers[first].astype(np.int64, copy=False), np.diff(first, append=len(numbers))]
    run, times = np.unique(again - np.arange(1, len(again) + 1), return_counts=True)
    rows = np.ones(len(numbers) - len(again), dtype=np.min_scalar_type(int(times.max(initial=0)) + 1))
    rows[run] += times.astype(rows.dtype)  # of those before it, as many as came again are in no run of their own
    return [(numbers[other] if len(again) else numbers).astype(np.int64, copy=False), rows]


def _sort(numbers: Whole) -> None:
    """Sorts them in their place: many by two threads, the lesser half and the larger one."""
    if len(numbers) < HALVED:
        return numbers.sort()
    middle = len(numbers) // 2
    numbers.partition(middle)
    return both(numbers[:middle].sort, numbers[middle:].sort)


def _distinct(words: Sequence[Whole], rows: Whole) -> list[Whole]:
    """Each different row once, rising, and the sums of their numbers; there is a row."""
    import numpy as np

    order = np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")
    words = [word[order] for word in words]
    first = np.zeros(len(order), dtype=np.bool_)
    first[0] = True
    for word in words:
        first[1:] |= word[1:] != word[:-1]
    begins = np.flatnonzero(first)
    rows = rows.astype(np.int64, copy=False)
    return [*(word[begins] for word in words), np.add.reduceat(rows[order], begins)]
