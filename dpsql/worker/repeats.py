"""Distinct units of each group, from rows that lie unit by unit: all of its rows, less those that repeat a unit of it.

A database that counts distinct units keeps every one of them for every group, which costs many times what reading the
rows does. Here a row is compared with those of its unit before it, while they stream by.

Theorem. A group has as many units as it has rows, less its rows before which another row of the same unit and group
comes.

Proof. Of a unit's rows in the group all but the first are such rows, and no unit's first one is.  QED

Which group a row is of, a number says that the database hashes of its keys: equal keys have the same. That other keys
have another is seen by all groups' numbers; where two have the same one, nothing is counted here.

Tests: tests/unit/worker/test_repeats.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import nanoarrow
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker.ahead import begun
from dpsql.worker.lying import pieces
from dpsql.worker.ordered import starts

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["apart"]

UNITS = 18
"""In binary digits of a number for unit and key: those of the unit, the other 46 are the key's. It is a choice: pieces
have not many more than 2^16 units; and a million groups have two alike in 46 digits in one statement of 140, which then
takes the longer way."""
MOST_LOOKS = 64
"""Rows of a unit up to which each is compared with all others, one distance after the other; where one has more, all
rows are sorted. It is a choice: there both take as long (measured: 10 ns a row by sorting, 5 with up to 12 rows a unit,
33 with up to 178)."""
ENOUGH = 1 << 17
"""Rows after which a statement of which most rows repeat one is left to the database: it has few units and groups to
keep, and needs half the time (measured: seven groups of 6 million rows). It is a choice."""
KEYS = (1 << 64 - UNITS) - 1  # All digits that stand for keys.
WAITING = 1 << 20  # Repeats that are counted together, 8 MiB. It is a choice.


def apart(groups: Any, rows: Any, units: Sequence[int]) -> Any:
    """The groups with their distinct units in the place of their rows; None where the database is to count.

    It is where two groups have the same number, and where most rows repeat one of their unit.

    Args:
        groups: Anything with ``__arrow_c_stream__``: each group once, its number behind all other columns. Another
            thread reads it, while the rows stream by.
        rows: The same of all their rows, in order: the number of the keys, and that of the unit.
        units: Places of BIGINT columns of ``groups`` that say how many rows there are.

    Returns:
        An Arrow stream of the groups without their numbers.

    Raises:
        ValueError: As `lying.pieces`.
    """
    import numpy as np

    with ExitStack() as ended:
        asked = list[Callable[[], tuple[dict[str, Any], list[list[Any]]]]]()

        def ask() -> None:
            asked.append(begun(lambda: _columns(groups)))
            ended.callback(asked[0])  # in any case: nothing goes on behind an error

        found = _repeats(rows, ask)
        if found is None:
            return None
        if not asked:
            ask()
        kinds, held = asked[0]()
    repeated, times = found
    numbers = [np.frombuffer(children[-1].buffers[1], np.uint64, count=len(children[-1])) >> UNITS for children in held]
    every = np.sort(np.concatenate(numbers)) if numbers else repeated
    if bool((every[1:] == every[:-1]).any()):
        return None
    schema = nanoarrow.c_schema(nanoarrow.struct(kinds))
    tables = []
    for children, own in zip(held, numbers, strict=True):
        less = _found(own, repeated, times)
        shown = [nanoarrow.c_array(child) for child in children[:-1]]
        for place in units:
            many = np.frombuffer(children[place].buffers[1], np.int64, count=len(own)) - less
            shown[place] = nanoarrow.c_array_from_buffers(nanoarrow.int64(), length=len(own), buffers=[None, many])
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(own), buffers=[None], children=shown))
    return CArrayStream.from_c_arrays(tables, schema)


def _columns(groups: Any) -> tuple[dict[str, Any], list[list[Any]]]:
    """The types of all columns of groups but the last, by name; and all columns, table by table."""
    stream = nanoarrow.ArrayStream(groups)
    kinds = {field.name: field for field in list(stream.schema.fields)[:-1]}
    return kinds, [list(chunk.iter_children()) for chunk in stream]


def _found(numbers: Whole, repeated: Whole, times: Whole) -> Whole:
    """(n,) how often each of some numbers is among those that rise, with how often each is."""
    import numpy as np

    if not len(repeated):
        return np.zeros(len(numbers), dtype=np.int64)
    at = np.minimum(np.searchsorted(repeated, numbers), len(repeated) - 1)
    return np.where(repeated[at] == numbers, times[at], 0)


def _repeats(rows: Any, goes_on: Callable[[], None]) -> tuple[Whole, Whole] | None:
    """The numbers of keys that units repeat, rising, and how often they do so in all; None where most rows do.

    Args:
        rows: As `apart`.
        goes_on: Called once, when many rows were seen and most of them repeat none.
    """
    import numpy as np

    waiting: list[Whole] = []
    known = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    many = seen = again = 0
    looking, told = _Looking(), False
    for piece in pieces(rows, [1]):
        for part in piece.parts():
            waiting.append(looking.repeats(part.units, part.groups))
            many += len(waiting[-1])
            seen, again = seen + len(part.units), again + len(waiting[-1])
            if seen > ENOUGH:
                if 2 * again > seen:
                    return None
                if not told:
                    goes_on()
                    told = True
            if many >= max(WAITING, len(known[0])):
                known, waiting, many = _together(known, waiting), [], 0
    return _together(known, waiting) if many else known


def _together(known: tuple[Whole, Whole], waiting: Sequence[Whole]) -> tuple[Whole, Whole]:
    """What is counted already, and numbers that are not."""
    import numpy as np

    fresh = np.concatenate(waiting)
    fresh.sort()
    first = starts(fresh)
    numbers, times = np.append(known[0], fresh[first]), np.append(known[1], np.diff(first, append=len(fresh)))
    order = np.argsort(numbers, kind="stable")
    numbers, times = numbers[order], times[order]
    first = starts(numbers)
    return numbers[first], np.add.reduceat(times, first)


class _Looking:
    """Looks back from each row as far as its unit may begin."""

    def __init__(self) -> None:
        self._most = 1  # rows that no unit seen so far exceeds

    def repeats(self, units: Whole, keys: Any) -> Whole:
        """The numbers of keys of all rows that repeat those of their unit.

        Args:
            units: (n,) numbers of units, rising; all rows of each.
            keys: (n,) uint64.
        """
        import numpy as np

        while bool((units[self._most :] == units[: -self._most]).any()):
            if self._most == MOST_LOOKS:
                codes: Whole = np.sort(_codes(units, keys))
                found: Whole = codes[1:][codes[1:] == codes[:-1]] & KEYS
                return found
            self._most += 1
        digits = keys.view(np.uint16)[::4] + units.astype(np.uint16)  # alike where unit and key are, and seldom else
        alike = np.zeros(len(units), dtype=np.bool_)
        for far in range(1, self._most):
            same = digits[far:] == digits[:-far]
            alike[far:] |= same
            alike[:-far] |= same
        kept = np.flatnonzero(alike)
        codes = _codes(units[kept], keys[kept])
        again = np.zeros(len(kept), dtype=np.bool_)
        for far in range(1, min(self._most, len(kept))):
            again[far:] |= codes[far:] == codes[:-far]
        return codes[again] & KEYS


def _codes(units: Whole, keys: Whole) -> Whole:
    """(n,) one number for unit and key."""
    import numpy as np

    if not len(units):
        return np.empty(0, dtype=np.uint64)
    units = units - units[0]
    if int(units[-1]) >> UNITS:  # many are not there: the others are numbered anew
        first = starts(units)
        units = np.repeat(np.arange(len(first)), np.diff(first, append=len(units)))
    codes = units.astype(np.uint64)
    codes <<= np.uint64(64 - UNITS)
    codes |= keys >> np.uint64(UNITS)
    return codes
