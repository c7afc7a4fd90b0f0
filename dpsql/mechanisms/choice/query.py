"""What a quantile asks for and what is publicly known of it; `choice.quantile` releases it, and has the theorem.

Tests: tests/unit/mechanisms/choice/test_quantile.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Request
from dpsql.mechanisms.choice.landscape import LOPSIDED, Rank
from dpsql.mechanisms.choice.measure import LOOSE, WIDE, BaseMeasure, base_measure
from dpsql.mechanisms.noise.sensitivity import Sensitivity, moved_rows
from dpsql.plan.grids import saturating_grid
from dpsql.plan.known.guesses import rows_of_a_total
from dpsql.plan.needs import Values
from dpsql.plan.types import Facts, Grid, Type

__all__ = ["QUANTILES", "QuantileQuery", "quantile_query"]

QUANTILES = ("quantile_cont", "quantile_disc", "min", "max")

SHARE = Fraction(1, 2)
"""The share of the exponent's rate for the answer itself; the rest is for its interval. A guess."""
FINE = 100  # Grid steps in a spread, from which on rounding to them is little. It is a choice.
OUTER = Fraction(1, 4)  # Up to so small a part of the rows a side has few. It is a choice.


@dataclass(frozen=True, slots=True)
class QuantileQuery:
    """What a quantile needs to know, all of it public.

    Attributes:
        need: The values.
        grid: Of the argument.
        rank: Of the answer.
        moved: Rows that come or go, or that are replaced, over the groups.
        replaced: Whether each of those rows is replaced by another, and changes w as the theorem says of these.
        rows_about: Guess of the rows per group.
        extent: Guess of the distance over which the rows lie, in grid steps.
        bracketed: Whether its interval is drawn, too.
        measure: What the points weigh where the answer is drawn.
        unbounded: Whether values may lie beyond the grid, where they count as its ends.
    """

    need: Values
    grid: Grid
    rank: Rank
    moved: Sensitivity
    replaced: bool
    rows_about: int
    extent: float
    measure: BaseMeasure
    bracketed: bool = True
    unbounded: bool = False

    @property
    def widest(self) -> float:
        """Half of the widest interval, in grid steps."""
        return math.inf if self.unbounded else (self.grid.high - self.grid.low) / 2

    @property
    def evenly(self) -> bool:
        """Whether nothing tells more of where values lie than their bounds."""
        return self.extent >= self.grid.high - self.grid.low

    def width(self, rank: Rank) -> int:
        """By how much a row changes w where a draw wants a rank of this fraction."""
        (low, high), a, b = rank.factors, rank.fraction.numerator, rank.fraction.denominator
        if self.replaced:
            return (low + high) * b
        return max(high * (b - a), low * a) + max(high * a, low * (b - a))

    @property
    def inward(self) -> int:
        """Towards which end of the grid other rows than the outermost lie: 1 for MIN, -1 for MAX, 0 for all others."""
        return {0: 1, 1: -1}.get(self.rank.fraction, 0)  # type: ignore[call-overload, no-any-return]  # an equal number

    @property
    def ends(self) -> tuple[int, ...]:
        """The ends of the interval that must be drawn: -1 the lower, 1 the upper."""
        return tuple(side for side, bound in ((-1, 0), (1, 1)) if self.bracketed and self.rank.fraction != bound)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of the rate: the answer's, then one for each end that is drawn."""
        ends = len(self.ends)
        return (SHARE, *[(1 - SHARE) / ends] * ends) if ends else (Fraction(1),)


def quantile_query(request: Request) -> QuantileQuery | str:
    """The quantile's values and public guesses, or in a sentence why there is none."""
    aggregate, facts = request.aggregate, request.facts
    grid = request.grid or (saturating_grid(facts) if _is_placed(request) else None)
    if grid is None or aggregate.argument is None:
        return f"{aggregate.text} has no bounds; declare bounds in the policy, or keep it within constants."
    if grid.low == grid.high:
        return f"{aggregate.text} can take one value only; there is nothing to ask."
    fraction = aggregate.rank
    if fraction is None or not 0 <= fraction <= 1:
        raise InvariantBroken("a quantile has a fraction from 0 to 1")
    between = aggregate.function == "quantile_cont" and 0 < fraction < 1
    factors = (LOPSIDED, 1) if 0 < fraction <= OUTER else (1, LOPSIDED) if 1 - OUTER <= fraction < 1 else (1, 1)
    rank = Rank(fraction, 0, int(fraction > 0 and not between), int(fraction == 0), factors)
    moved, replaced = moved_rows(request), request.neighbour_rows == 2 and not request.source.keys
    if replaced:
        rows = request.source.contribution.total
        moved = Sensitivity(rows, rows**2, one_cell=True)
    width, spread = float(grid.high - grid.low), facts.spread
    # Rows spread evenly over such an extent have the declared distance from their middle.
    extent = _of_totals(request, grid, width) if spread is None else min(width, float(spread / grid.step) * 12**0.5)
    return QuantileQuery(
        need=Values(request.source, aggregate.argument, grid),
        grid=grid,
        rank=rank,
        moved=moved,
        replaced=replaced,
        rows_about=max(1, request.rows_about),
        extent=extent,
        measure=base_measure(grid, facts),
        bracketed=request.options.interval is None,
        unbounded=request.grid is None,
    )


def _is_placed(request: Request) -> bool:
    """Whether a quantile without bounds can be asked for: where a centre and a spread say from where to look.

    Not of a statement that names another centre, or a sensitivity: it asks for what is moved by these. Nor where the
    grid ends before the values, or is too coarse for them: all would count as the same point.
    """
    options, rank, facts = request.options, request.aggregate.rank, request.facts
    if options.sensitivity is not None or options.centre is not None or rank is None or not 0 < rank < 1:
        return False
    return facts.centre is not None and bool(facts.spread) and _holds(saturating_grid(facts), facts)


def _holds(grid: Grid, facts: Facts) -> bool:
    """Whether values that lie as declared are inside a grid, and are rounded to it by little."""
    centre, spread = (Fraction(own or 0) / grid.step for own in (facts.centre, facts.spread))
    exact = facts.step is not None or facts.type is Type.INTEGER
    return grid.low < centre - spread and centre + spread < grid.high and (exact or spread >= FINE)


def _of_totals(request: Request, grid: Grid, width: float) -> float:
    """Guess of the distance over which values without a spread lie, in grid steps: all of their bounds.

    Counts and sums of units lie closer: their bounds are for as many rows as a unit may have. Wide bounds of a row are
    thought to be loose, as where the answer is drawn.
    """
    argument = request.aggregate.argument
    total = None if argument is None else rows_of_a_total(request.source.relation, argument)
    if total is None:
        return width
    rows, most, added = total
    spread, centre = (None, None) if added is None else (added.facts.spread, added.facts.centre)
    if spread is None or centre is None:
        loose = LOOSE if added is not None and width >= WIDE * most else 1
        return max(1.0, width * rows / most / loose)
    return min(width, max(1.0, rows * float((abs(centre) + 2 * spread) / grid.step)))  # as `clamped` guesses a size
