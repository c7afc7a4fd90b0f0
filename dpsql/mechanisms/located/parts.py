"""How the price of a located group is shared among its parts, by public facts and by what was released before.

A sixteenth buys the number of rows. The rest is shared by that noised number: few rows need more of it to be found,
many are found for little. Groups with too few rows to be found alone are clamped together (`clamp`), and each counts
its rows once more: where it is clamped, its mean may be far from the middle. Within tight bounds it also counts those
beyond the clamp.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

__all__ = ["COUNT", "FEWEST", "Shares", "few_shares", "shares_for"]

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
        centre: For a value in the middle of the rows; of groups with few rows, for their clamp.
        tails: For the numbers of rows at each distance from it.
        again: For a second number of rows; 0 for none.
        beyond: For the number of rows beyond the clamp; 0 for none.
    """

    centre: Fraction
    tails: Fraction
    again: Fraction = Fraction(0)
    beyond: Fraction = Fraction(0)

    @property
    def answer(self) -> Fraction:
        """For the answer's own sums: the rest."""
        return 1 - COUNT - self.centre - self.tails - self.again - self.beyond


BY_SIZE = (
    (400, Shares(Fraction(8, 32), Fraction(8, 32))),
    (4_000, Shares(Fraction(4, 32), Fraction(8, 32))),
    (40_000, Shares(Fraction(3, 32), Fraction(6, 32))),
)
"""The shares of a group with fewer rows, times epsilon for one of them. Measured on eight families of data."""
MANY = Shares(Fraction(1, 32), Fraction(5, 32))
"""The shares of a group with more rows. Measured as `BY_SIZE`."""


CLAMP = Fraction(1, 4)
"""The share of the price for one clamp of all groups with few rows. Measured: a little more or less hardly matters."""
BEYOND = Fraction(1, 4)
"""The share of the price for the number of rows beyond the clamp. Measured on 600 scores in [0, 100]: with an eighth
intervals are 1.2 to 1.8 times as wide; with three eighths they are up to a quarter shorter, and means of ratings err
twice as much."""
AGAIN = {1: Fraction(3, 8), 2: Fraction(1, 8)}
"""Of what is left besides, the second number of rows, for means and for variances. It is least to first order for a
mean at two fifths of the half width from the middle."""


@cache
def few_shares(power: int, places: int, counted: bool = False) -> Shares:
    """The shares of a group with few rows, of a mean (power 1) or a variance (2).

    Args:
        power: As in a clamp's search.
        places: How many a clamp has.
        counted: Whether rows beyond it are counted.

    >>> few_shares(1, 9).answer, few_shares(1, 1).answer
    (Fraction(55, 128), Fraction(75, 128))
    """
    clamp = CLAMP if places > 1 else Fraction(0)
    beyond = BEYOND if counted else Fraction(0)
    return Shares(clamp, Fraction(0), (1 - COUNT - clamp - beyond) * AGAIN[power], beyond)


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
