"""When answers leave: as soon as they are there, or at public times alone, so that nobody learns how long they took.

Tests: tests/unit/test_times.py, tests/attacks/test_timing.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """A grid of times after a question, at which its answer or its refusal leaves.

    Attributes:
        grid: In seconds, rising; after the last of them come its multiples. Empty where all leaves at once.
    """

    grid: tuple[float, ...] = ()

    def leaves(self, took: float) -> float:
        """The first time of the grid at or after so many seconds.

        >>> grid = Times((0.1, 1.0, 10.0))
        >>> grid.leaves(0.02), grid.leaves(0.3), grid.leaves(10.5), Times().leaves(0.3)
        (0.1, 1.0, 20.0, 0.3)
        """
        if not self.grid:
            return took
        last = self.grid[-1]
        return next((own for own in self.grid if own >= took), last * math.ceil(took / last))

    @contextmanager
    def kept(self, *, refusals_alone: bool = False) -> Iterator[None]:
        """Around all that is done for a question: it ends at one of these times, whichever way it ends.

        Args:
            refusals_alone: Whether what goes well leaves at once: it reads nothing, and is no answer.
        """
        began = time.monotonic()
        try:
            yield
        except BaseException:
            self._wait(began)
            raise
        if not refusals_alone:
            self._wait(began)

    def _wait(self, began: float) -> None:
        if self.grid:
            leaves = began + self.leaves(time.monotonic() - began)
            while (left := leaves - time.monotonic()) > 0:  # a sleep may end early
                time.sleep(left)
