"""What releases of units' totals share: what is public of them, and how a unit's rows are added up.

A unit in a group is one record: the sum s of its values, how many they are, n, and for variances the sum of their
squares.

Tests: tests/unit/mechanisms/clamped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.limits import FARTHEST_STEP
from dpsql.mechanisms.base import Request
from dpsql.mechanisms.choice.clamp import ClampSearch, edges_to, place_of
from dpsql.mechanisms.choice.groups import Whole, in_groups
from dpsql.mechanisms.clamped.facts import known_sizes
from dpsql.mechanisms.located.clamp import Clamps, clamps_of
from dpsql.mechanisms.located.mechanism import reach_of, worth_of
from dpsql.mechanisms.located.parts import FEWEST, Shares
from dpsql.mechanisms.located.search import LocatedQuery, Row
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.plan.grids import FIRST
from dpsql.plan.known.guesses import share_of_a_unit
from dpsql.plan.needs import Contribution, Source, Values
from dpsql.plan.nodes import Scan
from dpsql.plan.rows.per_unit import sums_per_unit
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.privacy.tables import RawTable

__all__ = [
    "ASIDE",
    "CAP",
    "MANY",
    "NAME",
    "UnitsQuery",
    "has_enough",
    "means_of",
    "records",
    "squares_of",
    "totals_of",
    "units_query",
    "why_not",
]

NAME = "clamped"
ALIAS = "totals"

CAP = Fraction(1, 8)  # Of the price, for the cap of the rows that a unit counts with. It is a choice.
LOOSE = 4  # How many times what a unit has a cap is thought to be. A guess, as in `capped`.
MANY = 16  # From so many rows a unit on, a cap is thought to be loose. A guess.
SKEW = Fraction(1, 16)
"""How far the mean is thought to be from the centre, as a share of the reach of single rows. A guess."""
ASIDE = 0.2
"""How far a mean is thought to be from the middle of a clamp of units' means, as a share of its half width. A guess:
half of what `located` thinks of rows, which vary more."""
MOST_UNITS = 2_000_000
"""Rows by the policy's guess; of more it is asked for by name alone. Each unit may be a record of its own, which the
worker sends: a million take one to two seconds, as measured for `located`."""
RISE = 3  # Standard deviations of the rows in a window's reach. A guess, as in `capped`.
LARGEST = 2**60
"""Squares of values and their sums stay below it, a quarter of what 64 bits hold: three of them are added up."""


@dataclass(frozen=True, slots=True)
class UnitsQuery(LocatedQuery):
    """What is publicly known: `LocatedQuery` of units and their totals, and of their rows.

    Attributes:
        grid: Of totals about any centre; ``reach`` and ``clamps`` are theirs too, and ``rows_about`` counts units.
        values: The grid of one row's value.
        places: Clamps of units' means: the middle of one is the centre where there are too few units to find one.
        cap: How the cap of a unit's rows is chosen.
        rows: Guess of the rows per group.
        skew: Guess of the mean's distance from the centre, in grid steps.
        typical: Guess of the most rows that units have.
        deviation: Guess of the standard deviation of values, in grid steps.
        squares: Clamps of a unit's sum of squared distances from any centre, on a grid of its own.
        squares_reach: Guess of how far such a sum reaches, in steps of that grid: many rows near by, and a few far out.
        coarse: How many squared steps of a value one step of that grid is.
    """

    values: Grid
    places: Clamps
    cap: ClampSearch
    rows: int
    skew: float
    typical: float
    deviation: float
    squares: Clamps
    squares_reach: float
    coarse: int

    @property
    def fewest(self) -> float:
        """How many units a group has if all have as many rows as the cap allows; no guess where it is thought loose."""
        return self.rows / self.typical if self.cap.edges[-1] < MANY else math.inf

    def clamps_of(self, row: Row) -> Clamps:
        """Those of a group's totals: `about` its own centre, where that was found."""
        return self.clamps if row["clamp"] is not None else self.about(row["centre"])

    def about(self, centre: int) -> Clamps:
        """The clamps of totals, between the ends that these have about a released centre."""
        most, values = self.cap.edges[-1], self.values
        grid = Grid(values.step, most * (values.low - centre), most * (values.high - centre))
        return replace(self.clamps, grid=grid)

    def of_rows(self, shares: Shares, cap: int) -> LaplaceLaw:
        """The noise of a number of rows, at the place of a cap."""
        return self.law(shares.again, self.cap.edges[cap])


def records(raw: RawTable, columns: Sequence[str]) -> Iterator[tuple[Whole, Whole]]:
    """The records of each group, (k, 2) or (k, 3), and how many units have each."""
    return ((np.stack(values, axis=1), units) for *values, units in in_groups(raw, *columns))


def totals_of(held: Whole, centre: int) -> Whole:
    """What each unit's rows add to the distance from a centre, in grid steps."""
    totals: Whole = held[:, 0] - centre * held[:, 1]
    return totals


def squares_of(held: Whole, centre: int, coarse: int) -> Whole:
    """What each unit's rows add to the squared distance from a centre, in so many squared grid steps."""
    exact = coarse * held[:, 2] - 2 * centre * held[:, 0] + centre * centre * held[:, 1]
    squares: Whole = np.maximum(exact, 0) // coarse
    return squares


def means_of(held: Whole, units: Whole, grid: Grid) -> tuple[Whole, Whole]:
    """The units' own means, rounded down, distinct and rising, and how many have each."""
    means, where = np.unique(np.clip(held[:, 0] // held[:, 1], grid.low, grid.high), return_inverse=True)
    found = np.zeros(len(means), dtype=np.int64)
    np.add.at(found, where, units)
    return means, found


def units_query(request: Request, grid: Grid, loss: Pure, *, squares: bool) -> UnitsQuery | None:
    """What is publicly known of a request that has no reason against it; None where its rows have no totals.

    Args:
        request: For a mean or a variance.
        grid: Of one row's value.
        loss: Of the whole release.
        squares: Whether the sum of squares is wanted, too.
    """
    source, most, wide = request.source, request.source.contribution.rows, grid.high - grid.low
    try:
        relation, keys, sums = sums_per_unit(source.relation, source.keys, request.aggregate, ALIAS, squares=squares)
    except UnsupportedQuery:
        return None
    total, held, *squared = sums
    of_sums = Grid(grid.step, min(grid.low, 0) * most, max(grid.high, 0) * most)
    coarse = _coarse(max(abs(grid.low), abs(grid.high), wide) ** 2 * most)
    own = Source(relation, keys, Contribution(1, 1, 1))
    others = [(held, Grid(Fraction(1), 1, most))]
    others += [(column, _squares(grid, coarse, max(abs(grid.low), abs(grid.high)), most)) for column in squared]
    typical, rows, moved = _rows_of_a_unit(request, most), max(1, request.rows_about), request.neighbour_rows
    units = _units(rows, typical)
    caps = edges_to(most)
    reach, rest = reach_of(grid, request.facts), loss.epsilon * (1 - CAP)
    skew, deviation, places = float(SKEW) * reach, reach / RISE, clamps_of(grid, request.facts)
    aside = ASIDE * places.window(places.guess).half * typical  # where units are too few to find a centre
    squares_reach = (deviation**2 * typical + (deviation * RISE) ** 2 * math.sqrt(typical)) / coarse
    return UnitsQuery(
        need=Values(own, total, of_sums, others=tuple(others)),
        grid=Grid(grid.step, -wide * most, wide * most),
        moved=moved,
        epsilon=rest,
        rows_about=units,
        reach=reach * math.sqrt(typical) + skew * typical,
        worth=worth_of(units * float(rest / moved)),
        clamps=_clamps(
            Grid(grid.step, -wide * most, wide * most),
            wide,
            max(reach * math.sqrt(typical), aside),
            sure=request.facts.spread is not None,
        ),
        values=grid,
        places=places,
        cap=ClampSearch(caps, CAP * loss.epsilon, moved, place_of(caps, typical)),
        rows=rows,
        skew=skew,
        typical=typical,
        deviation=deviation,
        squares=_clamps(_squares(grid, coarse, wide, most), -(-(wide**2) // coarse), squares_reach),
        squares_reach=squares_reach,
        coarse=coarse,
    )


def has_enough(request: Request, loss: Pure) -> bool:
    """Whether a centre can be found for this price, by the guess of the units."""
    units = _units(max(1, request.rows_about), _rows_of_a_unit(request, request.source.contribution.rows))
    return units * float(loss.epsilon * (1 - CAP) / request.neighbour_rows) >= FEWEST


def _units(rows: int, typical: float) -> int:
    """About how many units have so many rows."""
    return max(1, round(rows / math.sqrt(typical)))


def _coarse(most: int) -> int:
    """How many squared steps one step of sums of squares is, a power of two: their sums are then exact in floats."""
    return 1 << max(0, (most // FARTHEST_STEP).bit_length())


def _squares(grid: Grid, coarse: int, far: int, most: int) -> Grid:
    return Grid(grid.step**2 * coarse, 0, -(-(far**2) * most // coarse))


def _clamps(grid: Grid, one: int, guess: float, *, sure: bool = False) -> Clamps:
    """Clamps of what a unit adds up to about 0.

    Args:
        grid: Of totals.
        one: The farthest that one row takes it, in grid steps.
        guess: About how far a unit's total lies.
        sure: Whether values have a declared spread: then it is not hoped that totals lie nearer.
    """
    edges = edges_to(grid.high, max(1, one // FIRST))
    return Clamps(grid, 0, edges, place_of(edges, guess), place_of(edges, guess if sure else guess / 2), None)


def _rows_of_a_unit(request: Request, most: int) -> float:
    """About the most rows that units have, by facts or by the cap that the owner is sure of; conditions leave fewer."""
    relation, argument, known = request.source.relation, request.aggregate.argument, known_sizes(request)
    if known is not None and known[0].units:
        farthest, share = float(known[0].farthest), share_of_a_unit(relation, argument)
        left = farthest * share + 2 * math.sqrt(farthest * share * (1 - share))  # picked by chance
        return min(most, farthest, max(1.0, left))
    typical = most / LOOSE if most >= MANY else float(most)
    return typical if isinstance(request.source.relation, Scan) else min(typical, 2 * math.sqrt(most))


def why_not(request: Request, *, squares: bool) -> str | None:
    """Why there is no offer, but for a price that buys nothing."""
    aggregate, source, grid = request.aggregate, request.source, request.grid
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only a threshold can."
    if aggregate.bounds is not None or source.capped:
        return "the statement or the policy names contribution bounds of its own."
    if source.contribution.rows == 1:
        return "a unit has one row; there is no total to clip."
    if source.contribution.groups > 1 or any(key.domain is None for key in source.keys):
        return "it answers means and variances without groups, or of listed ones where a unit is in one alone."
    if grid is None or grid.low == grid.high:
        return f"{aggregate.text} has no bounds to find a place within; declare bounds in the policy."
    if max(abs(grid.low), abs(grid.high), grid.high - grid.low) * source.contribution.rows > FARTHEST_STEP:
        return "the totals of units would be too large for exact sums; declare a coarser grid."
    if squares and max(abs(grid.low), abs(grid.high), grid.high - grid.low) ** 2 * source.contribution.rows > LARGEST:
        return "the squares of its values would be too large for exact sums; declare a coarser grid."
    if request.rows_read > MOST_UNITS and request.options.mechanism != NAME:
        return "for so many units it takes long, and is offered only by name."
    return None
