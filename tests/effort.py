"""How much work something is, counted: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Calls", "few_calls"]


class Calls:
    """Calls of functions in this thread, Python's and C's.

    Attributes:
        count: How many there were.
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """What `sys.setprofile` tells."""
        self.count += event in ("call", "c_call")


@contextmanager
def few_calls(most: int) -> Iterator[Calls]:
    """Counts the calls within it.

    Raises:
        AssertionError: There were more than so many.

    >>> with few_calls(1_000) as seen:
    ...     _ = [abs(number) for number in range(900)]
    >>> seen.count >= 900
    True
    """
    seen, before = Calls(), sys.getprofile()
    sys.setprofile(seen)
    try:
        yield seen
    finally:
        sys.setprofile(before)
    assert seen.count <= most, f"{seen.count} calls, and {most} at most are meant"
