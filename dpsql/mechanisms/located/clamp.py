"""One clamp for all groups that have too few rows to be found alone: how far from an anchor their values may lie.

Neighbours and loss: stated by `located.mechanism`, with the theorem.

The anchor is the declared centre, else 0, or the bound next to it. Public edges double from a part of the farthest
distance within the bounds to all of it, and the clamp is chosen among them as `clamped` chooses one of totals, by the
number of rows that lie farther away. Where rows are so few that they cannot tell, a guess from public facts stands.

Within tight bounds (`is_tight`) nothing is clipped in such groups, unasked: values may lie at both ends. Simulated with
scores from 0 to 100 of which a tenth are near 100 and the others near 0, and with a clamp that is searched for: of 100
to 600 rows it left that tenth out, and no interval held the truth.

What the interval allows for clipping are `ALLOWED` times the rows that are worth one nat of the choice, which thin out
as those beyond a window do: slowly with the first doublings of the distance, and by half with each further one, up to
the bounds (`place`). How many rows are beyond the clamp at most is proved in `clamped`, and the answer says it. Where
those may be all rows of a group, by its noised number of rows and 19 times of 20, the choice says nothing of it: its
interval reaches to the bounds. Otherwise no interval can hold for all data.

Where a clamp is searched for within tight bounds all the same, the rows of each group beyond it are counted, with
noise. The interval allows for as many as there may be by that, or as are proved if these are fewer, as far out as there
is: that holds for all data. Such bounds are near, so that it is not much wider than without a clamp.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.choice.clamp import ALLOWED, WIDE, ClampSearch, by_edges, edges_to, is_filled, place_of
from dpsql.mechanisms.choice.groups import Whole, together
from dpsql.mechanisms.choice.tails import THINS, beyond
from dpsql.mechanisms.located.place import STANDARD, Clip
from dpsql.mechanisms.noise.mean import anchor_of, declared_centre
from dpsql.plan.types import Facts, Grid

__all__ = ["Clamps", "clamps_of", "is_tight"]

FIRST = 1024
"""Edges begin at this part of the farthest distance, or at one step. It is a choice: bounds a thousand times too wide
are found out."""
LOOSE = 8
"""How many times what rows reach bounds are thought to be, if they are wide. A guess, as in `clamped`."""
BOTH = 2
"""The same where bounds reach about as far to both sides of the anchor, as those of coordinates and balances. A guess:
coordinates fill them."""
NARROW = 32
"""From so many steps on, bounds are hoped to be half as loose. A guess on the side of the search, as in `clamped`:
where it is wrong, little is lost."""
SPREADS = 4  # Declared spreads that rows are thought to reach from the centre, or farther. A guess.


@dataclass(frozen=True, slots=True)
class Clamps:
    """The public clamps of one argument.

    Attributes:
        grid: Of the values.
        anchor: What distances are counted from, in grid steps.
        edges: Rising, each at most twice the one before, in grid steps; nothing is beyond the last.
        guess: The place of the edge that stands where rows are too few.
        hope: The place of the edge that is expected, to predict an error.
        empty: The declared centre in grid steps, a mean of no rows; None for the middle of the clamp.
        tight: Whether bounds are thought to be where the values are (`is_tight`).
    """

    grid: Grid
    anchor: int
    edges: tuple[int, ...]
    guess: int
    hope: int
    empty: int | None
    tight: bool = False

    @property
    def whole(self) -> Clamps:
        """The one clamp that leaves nothing out, for which nothing is searched."""
        return replace(self, edges=self.edges[-1:], guess=0, hope=0)

    @property
    def thins(self) -> float:
        """What an interval takes to be left of a tail after one more doubling: within tight bounds all."""
        return 1.0 if self.tight else THINS[1]

    def search(self, epsilon: Fraction, moved: int, power: int) -> ClampSearch:
        """How a clamp is chosen.

        Args:
            epsilon: What the choice costs.
            moved: Rows that a neighbour brings and takes.
            power: 1 for a mean, 2 for a variance, whose noise grows with the clamp's square: a high clamp must be worth
                sqrt(2) times as many nats. Measured: with twice as many, too often the guess stands.
        """
        return ClampSearch(self.edges, epsilon, moved, self.guess, power)

    def counts(self, groups: Iterable[tuple[Whole, Whole]]) -> list[int]:
        """How many rows of all groups lie up to each edge and beyond the one before; last those beyond all, none.

        >>> clamps = Clamps(Grid(Fraction(1), -3, 8), 0, (1, 2, 4, 8), 3, 3, None)
        >>> clamps.counts([(np.array([-3, 0, 2]), np.array([1, 5, 2])), (np.array([8]), np.array([7]))])
        [5, 2, 1, 7, 0]
        """
        return by_edges(((np.abs(values - self.anchor), rows) for _, values, rows in together(groups)), self.edges)

    def window(self, place: int) -> Clip:
        """What values are clipped to, at an edge."""
        edge, grid = self.edges[place], self.grid
        low, high = max(grid.low, self.anchor - edge), min(grid.high, self.anchor + edge)
        middle = (low + high) // 2
        half = max(1, high - middle, middle - low)
        return Clip(middle, half, low, high, 0.0, 0.0, 0.0, half / STANDARD)

    def counted(self, place: int) -> bool:
        """Whether the rows beyond an edge are counted in each group: within tight bounds, if there may be any."""
        return self.tight and place < len(self.edges) - 1

    def outside(
        self, search: ClampSearch, place: int, rows: int, sway: int = 0, seen: int | None = None
    ) -> tuple[float, float, float]:
        """What the interval of a group counts for rows beyond the clamp, for each row of the group, in grid steps.

        Args:
            search: What chose the clamp.
            place: Of the clamp.
            rows: Of the group, as released.
            sway: How many fewer there may be, for the noise of that number.
            seen: How many rows beyond the clamp there may be, by their noised number; None where nobody counted.

        Returns:
            What they may take from the mean and add to it, and add to the mean square about the window's middle.
        """
        grid, window, many = self.grid, self.window(place), max(1, rows)
        below, above = float(window.low - grid.low), float(grid.high - window.high)
        if not (below or above):
            return 0.0, 0.0, 0.0
        most = search.most_above(place) if seen is None else min(max(seen, 0), search.most_above(place))
        if rows - sway <= most:
            return below, above, float(grid.high - grid.low) ** 2
        if seen is not None:
            share, half = most / (rows - sway), float(window.half)
            return share * below, share * above, share * ((half + max(below, above)) ** 2 - half**2)
        edge, worth = float(self.edges[place]), ALLOWED * float(search.units / search.epsilon) / many
        (under, low), (over, high) = (beyond(edge, edge + far) for far in (below, above))
        return min(below, worth * under), min(above, worth * over), worth * max(low, high)


def clamps_of(grid: Grid, facts: Facts) -> Clamps:
    """The clamps of values on a grid, and what public facts make of them.

    >>> from dpsql.plan.types import Type
    >>> clamps_of(Grid(Fraction(1), 0, 5_000), Facts(Type.INTEGER)).edges[-3:]
    (2048, 4096, 5000)
    """
    anchor = anchor_of(grid, facts)
    far = max(grid.high - anchor, anchor - grid.low)
    edges = edges_to(far, max(1, far // FIRST))
    loose = BOTH if 2 * min(grid.high - anchor, anchor - grid.low) >= far else LOOSE
    reach = float(far if far < WIDE or is_filled(grid.low, grid.high) else far // loose)
    if facts.spread is not None:
        reach = max(reach, SPREADS * float(facts.spread / grid.step))
    hoped = min(reach, 2 * far / LOOSE) if far >= NARROW else reach
    places = place_of(edges, reach), place_of(edges, hoped)
    return Clamps(grid, anchor, edges, *places, declared_centre(grid, facts), is_tight(grid, facts))


def is_tight(grid: Grid, facts: Facts) -> bool:
    """Whether bounds are thought to be where the values are, as those of codes, ages and scores."""
    return grid.high - grid.low < WIDE and facts.spread is None
