"""How the price of a located group is shared among its parts, by public facts and by what was released before.

A sixteenth buys the number of rows. The rest is shared by that noised number: few rows need more of it to be found,
many are found for little. A group with too few rows to be found spends the rest on the bounded mechanism's numbers.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["COUNT", "FEWEST", "Shares", "shares_for"]

COUNT = Fraction(1, 16)
"""The share of the price for the number of rows. It is a choice: sums are centred near their mean, where an error of
the number hardly moves the answer."""
FEWEST = 250
"""Rows times epsilon for one of them, below which a group is not located. Measured: with fewer, the centre is often
missed, and rows far out cannot be seen."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the whole price: what finds the place, and what is left for the answer.

    Attributes:
        centre: For a value in the middle of the rows.
        tails: For the numbers of rows at each distance from it.
    """

    centre: Fraction
    tails: Fraction

    @property
    def answer(self) -> Fraction:
        """For the answer's own numbers: the rest."""
        return 1 - COUNT - self.centre - self.tails


BY_SIZE = (
    (400, Shares(Fraction(8, 32), Fraction(8, 32))),
    (4_000, Shares(Fraction(4, 32), Fraction(8, 32))),
    (40_000, Shares(Fraction(3, 32), Fraction(6, 32))),
)
"""The shares of a group with fewer rows, times epsilon for one of them. Measured on eight families of data."""
MANY = Shares(Fraction(1, 32), Fraction(5, 32))
"""The shares of a group with more rows. Measured as `BY_SIZE`."""


def shares_for(rows: float, each: float) -> Shares | None:
    """The shares for a group of so many rows; None where they are too few to be found.

    Args:
        rows: As released, or as guessed.
        each: The epsilon that the whole statement may lose to one row.
    """
    size = rows * each
    if size < FEWEST:
        return None
    return next((shares for limit, shares in BY_SIZE if size < limit), MANY)
