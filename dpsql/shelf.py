"""What was worked out for a statement, kept for who asks the same again: outlines, plans, prices, stored answers.

What is kept follows from its key and from what never changes while it is kept: policy, table version, public tables.
Nothing of an account is kept; the key of an answer says what the ledger holds of it. A key names the analyst, so that
how fast a statement is planned tells nobody what others ask.

Tests: tests/unit/test_shelf.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import Any, Generic, TypeVar

__all__ = ["MOST_KEPT", "MOST_WEIGHT", "Key", "Shelf", "exactly"]

MOST_KEPT = 256  # Statements: those of a dashboard come again and again.
MOST_WEIGHT = 200_000
"""Characters and listed groups of all statements that are kept. It is a choice: some 100 bytes for a group and a few
hundred for a character, so some 50 MB at most."""
PLAIN = frozenset({type(None), bool, int, float, Decimal, Fraction, str, date, datetime})
"""Types whose values are the same where their `repr` is."""

Key = tuple[Hashable, ...]
Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """Values by their keys; those that were not asked for the longest make room. Threads share it.

    Args:
        most: How many are kept.
        most_weight: How much all of them may weigh together; what is heavier by itself is not kept.

    Attributes:
        made: How many were worked out, kept or not.
    """

    def __init__(self, most: int = MOST_KEPT, most_weight: int = MOST_WEIGHT) -> None:
        self._most, self._most_weight = most, most_weight
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()
        self.made = 0

    def __len__(self) -> int:
        return len(self._kept)

    def once(self, key: Key | None, make: Callable[[], Value], groups: Callable[[Value], int] = lambda _: 0) -> Value:
        """The value that was made for a key; made now, where none is kept.

        Args:
            key: All that it depends on; None where that cannot be said: then it is made anew, and not kept.
            make: Makes what nobody changes. What it raises is not kept.
            groups: How many groups it lists.
        """
        with self._lock:
            found = None if key is None else self._kept.get(key)
            if key is not None and found is not None:
                self._kept.move_to_end(key)
                return found[0]
        value = make()
        with self._lock:
            self.made += 1
            if key is not None:
                self._keep(key, value, groups(value) + sum(len(part) for part in key if isinstance(part, str)))
        return value

    def _keep(self, key: Key, value: Value, weight: int) -> None:
        before = self._kept.pop(key, None)  # another thread may have been as fast
        self._weight -= 0 if before is None else before[1]
        if weight <= self._most_weight:
            self._kept[key] = value, weight
            self._weight += weight
        while len(self._kept) > self._most or self._weight > self._most_weight:
            self._weight -= self._kept.popitem(last=False)[1][1]


def exactly(values: Any) -> str | None:
    """A key for values that came from outside: equal for the same values of the same types alone.

    Args:
        values: A value, or a list, a tuple or a dictionary of them.

    Returns:
        The key; None where a value is of a type of which nothing is known, or has no `repr`.

    >>> exactly([1, "a"]) == exactly([1, "a"]), exactly([1]) == exactly([True]), exactly([0.0]) == exactly([-0.0])
    (True, False, False)
    >>> exactly([object()]) is None
    True
    """
    try:
        return repr(values) if _plain(values) else None
    except (ValueError, RecursionError):  # of whole numbers of thousands of digits, and of lists in lists without end
        return None


def _plain(values: Any) -> bool:
    kind = type(values)
    if kind is list or kind is tuple:
        return all(map(_plain, values))
    if kind is dict:
        return all(map(_plain, values)) and all(map(_plain, values.values()))
    return kind in PLAIN
