"""What quotes ask of the releases of quantiles, which are loaded where a statement asks for one.

Tests: tests/unit/answers/quotes/test_lying.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["OFTEN", "SURE", "Ranked"]

OFTEN = 8  # The width of bounds over that of the values, where nothing tells where these lie. A guess, as in `located`.
SURE = 0.99  # The level of its interval: at a higher one it is all of the bounds.


class Ranked(ABC):
    """An offer whose answer is a rank of values, between two others."""

    __slots__ = ()

    @property
    @abstractmethod
    def evenly(self) -> bool:
        """Whether it is foretold for values that lie evenly over their bounds, for nothing tells more of them: most lie
        closer together, and an interval comes out several times shorter."""

    @property
    @abstractmethod
    def between(self) -> bool:
        """Whether neither end of its interval is expected to be a bound."""

    @property
    @abstractmethod
    def most(self) -> float:
        """Half of the widest interval, in the column's unit."""

    @property
    @abstractmethod
    def few(self) -> int | None:
        """With how many rows an end of the interval is still a bound, because no rank beyond it exists; None where rows
        alone do not tell."""
