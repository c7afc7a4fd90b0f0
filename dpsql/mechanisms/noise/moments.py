"""Variances, covariances, correlations and slopes from jointly noised moments, over either law of noise.

Neighbours: ``add_remove`` and ``replace_one``. Loss: that of all noised moments together, stated by the mechanism whose
noise it is; everything here works on released numbers.

Each value is shifted by its centre. With R the largest shifted value, one row moves the sum of x by at most R, that of
x^2 by at most R^2, that of x y by at most R_x R_y, and the number of pairs by 1: exact integers on the grid. Where the
rows are fixed and public and no argument is ever NULL, the number is exact and free. `central` turns the noised moments
into the statistic, inside bounds that hold whatever the noise.

The price is split so that the expected error is least, to first order and at a public guess
(`central.MomentStatistic.weights`).

Interval: see `plausible`.

Grids are made coarser, by powers of ten, until no value exceeds 2^42 steps: then no sum of products overflows. This
rounds a value by no more than 2^-39 of the largest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.noise.central import STATISTICS, Correlation, Deviation, Guess, Moments, Slope, Statistic
from dpsql.mechanisms.noise.inverted import FORETOLD
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.mean import centre_of, deviation_of
from dpsql.mechanisms.noise.plausible import ranges
from dpsql.mechanisms.noise.sensitivity import Sensitivity, need_of, rows_fixed, sensitivity_of
from dpsql.plan.known.guesses import spread_of_a_total
from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.plan.nodes import Expression
from dpsql.plan.types import Facts, Grid
from dpsql.plan.values.ranges import is_certain
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = [
    "MomentsQuery",
    "MomentsRelease",
    "coarse",
    "in_shares",
    "moments_query",
    "noised_columns",
]


SHARES = 256  # The price is split between the moments in 256ths. It is a choice: a finer split hardly lowers the error.
LARGEST = 2**42  # Grid steps of a value: products of two, over 2^40 rows, stay below 2^126.
OFTEN = 5  # The spread of values that fill their bounds over theirs, where none is declared. A guess: owners round up.
NARROW = 4.0  # Grid steps: no spread is expected to be less where bounds allow for more. A guess.
DIVIDED_BY: Mapping[type, str] = {Correlation: "xy", Slope: "x", Deviation: "x"}
"""Whose variances a statistic is divided by. An error of a variance moves its root by as much over twice the root."""


@dataclass(frozen=True, slots=True)
class MomentsQuery:
    """What a statistic of moments needs to know, all of it public.

    Attributes:
        need: Its moments as ``m0``, ``m1``, ... in the order of ``statistic.moments``.
        statistic: What is computed.
        grids: Of x, and of y where there are two arguments.
        sensitivities: Of each moment; None where it is public.
        guess: Of the distances from the centres.
        spreads: Of the standard deviations, to foretell by: where none was declared and the statistic is divided by
            the variance, a part of the distances.
        rows_about: Guess of the rows per group.
    """

    need: Aggregates
    statistic: Statistic
    grids: Mapping[str, Grid]
    sensitivities: tuple[Sensitivity | None, ...]
    guess: Guess
    spreads: Guess
    rows_about: int

    @property
    def widths(self) -> dict[str, int]:
        """high - low of each argument, in grid steps."""
        return {name: grid.high - grid.low for name, grid in self.grids.items()}

    @property
    def unit(self) -> float:
        """What 1 of the statistic in grid steps is in the columns' units."""
        return self.statistic.step(self.grids["x"].step, self.grids.get("y", self.grids["x"]).step)

    def values(self, rows: Sequence[Moments]) -> list[float]:
        """The statistic of each group's moments, in the columns' units."""
        widths, unit = self.widths, self.unit
        return [self.statistic.value(m, widths) * unit for m in rows]

    def shares(self, exponent: float) -> tuple[Fraction, ...]:
        """Each noised moment's share of the price, with the least expected error; they add up to 1.

        Args:
            exponent: 2/3 for Laplace noise priced by epsilon, 1 for noise whose variance goes by 1 / rho.
        """
        weights = self.statistic.weights(self.guess)
        noised = zip(self.statistic.moments, self.sensitivities, strict=True)
        return in_shares([weights[name] * moved.l1 for name, moved in noised if moved is not None], exponent)


def in_shares(weights: Sequence[float], exponent: float) -> tuple[Fraction, ...]:
    """Shares of a price, by `SHARES`, that leave the least of the squared errors added up.

    Args:
        weights: By how much each noise of the whole price moves what it is for.
        exponent: 2/3 for Laplace noise priced by epsilon, 1 for noise whose variance goes by 1 / rho.
    """
    worth = [max(weight, 1e-300) ** exponent for weight in weights]
    parts = [max(1, round(SHARES * one / sum(worth))) for one in worth]
    largest = parts.index(max(parts))
    parts[largest] -= sum(parts) - SHARES
    return tuple(Fraction(part, SHARES) for part in parts)


def moments_query(request: Request) -> MomentsQuery:
    """The statistic's measures, sensitivities and public guesses."""
    statistic = STATISTICS[request.aggregate.function]
    arguments = _arguments(request)
    grids = {name: coarse(grid) for name, (_, grid) in arguments.items()}
    facts = {"x": request.facts} if len(arguments) == 1 else {"y": request.facts, "x": request.second_facts}
    centres = {name: centre_of(grids[name], facts[name]) for name in arguments}
    apart = {name: _apart(request, argument, facts[name]) for name, (argument, _) in arguments.items()}
    distances = {name: deviation_of(grids[name], own, centres[name]) for name, own in apart.items()}
    divided = DIVIDED_BY.get(type(statistic), "")  # loose bounds make these variances small
    # No wider than that of values spread evenly over their bounds: the statistic's own bounds would cut it off.
    even = {name: (grid.high - grid.low) / math.sqrt(12) for name, grid in grids.items()}
    spreads = {
        name: min(most, even[name], max(NARROW, most / OFTEN))
        if name in divided and apart[name].spread is None
        else min(most, even[name])
        for name, most in distances.items()
    }
    sums = {
        name: Measure(MeasureKind.SUM, argument, grids[name], centres[name])
        for name, (argument, _) in arguments.items()
    }
    fixed = rows_fixed(request) and all(is_certain(argument) for argument, _ in arguments.values())
    count = Measure(MeasureKind.ROWS) if fixed else Measure(MeasureKind.VALUES, sums["x"].argument)
    measures = [count if name == "n" else _measure(sums, name) for name in statistic.moments]
    return MomentsQuery(
        need=need_of(request, *measures),
        statistic=statistic,
        grids=grids,
        sensitivities=tuple(
            None if fixed and measure is count else sensitivity_of(request, measure) for measure in measures
        ),
        guess=Guess(distances["x"], distances.get("y", distances["x"])),
        spreads=Guess(spreads["x"], spreads.get("y", spreads["x"])),
        rows_about=max(1, request.rows_about),
    )


def _apart(request: Request, argument: Expression, facts: Facts) -> Facts:
    """What is known of an argument, with a guessed spread where it is a total of each unit: bounds lie far off."""
    guessed = None if facts.spread is not None else spread_of_a_total(request.source.relation, argument)
    return facts if guessed is None else replace(facts, spread=guessed)


def _arguments(request: Request) -> dict[str, tuple[Expression, Grid]]:
    """x, and y where there are two: SQL names y first."""
    aggregate = request.aggregate
    named = [("x", aggregate.argument, request.grid)]
    if aggregate.second is not None:
        named = [("y", aggregate.argument, request.grid), ("x", aggregate.second, request.second_grid)]
    found = {name: (argument, grid) for name, argument, grid in named if argument is not None and grid is not None}
    if set(found) != set("".join(STATISTICS[aggregate.function].moments)) - {"n"}:
        raise InvariantBroken("a statistic of moments needs its arguments, on grids")
    return found


def _measure(sums: Mapping[str, Measure], name: str) -> Measure:
    """A sum, or a sum of products."""
    if len(name) == 1:
        return sums[name]
    first = sums[name[0]]
    return Measure(MeasureKind.PRODUCTS, first.argument, first.grid, first.shift, by=sums[name[1]])


def coarse(grid: Grid) -> Grid:
    """The same range in steps that are a power of ten longer, so that no value exceeds 2^42 steps.

    >>> coarse(Grid(Fraction(1), low=0, high=2**45))
    Grid(step=Fraction(10, 1), low=0, high=3518437208884)
    """
    while grid.reach >= LARGEST:
        grid = Grid(grid.step * 10, grid.low // 10, -(-grid.high // 10))
    return grid


@dataclass(frozen=True, slots=True)
class MomentsRelease(Offer):
    """An offer to release a statistic of noised moments.

    Attributes:
        loss: Of all noised moments together, all groups together.
        need: The moments.
        query: What is asked and publicly known.
        laws: Noise of each moment, in (products of) grid steps; None where the moment is public.
    """

    need: Aggregates = field(init=False)
    query: MomentsQuery
    laws: tuple[Law | None, ...]

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self._expected_width())

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the released moments, in the order of ``need``."""
        return self.query.statistic.moments

    def _expected_width(self) -> float:
        """For a group of ``rows_about`` rows, at the guess."""
        n, guess = self.query.rows_about, self.query.guess
        apart = self.query.spreads
        # A sum of squares is that of the distance and the spread; different variables have a correlation of 1/2.
        further = {"xx": 1.0, "yy": 1.0, "xy": 0.5}
        m = tuple(
            n if name == "n" else round(n * (guess.of(name) + further.get(name, 0.0) * apart.of(name)))
            for name in self.numbers
        )
        low, high = _foretold(self.query.statistic, self.laws, tuple(self.query.widths.items()), m)
        return (high - low) / 2 * self.query.unit

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the columns' units, with the noised moments (shifted, in grid steps) behind it."""
        return self.told_of(noised_columns(raw, self.numbers, self.laws, sampler))

    def told_of(self, columns: Mapping[str, Sequence[int]]) -> ReleasedTable:
        """The release of these noised moments."""
        return ReleasedTable({"value": self.query.values(_rows(self.numbers, columns)), **columns})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """What the statistic could be, less equal parts on either side; the value is always inside."""
        unit = self.query.unit
        rows = _rows(self.numbers, released.columns)
        found = ranges(self.query.statistic, self.laws, self.query.widths, rows, confidence)
        return [
            (min(low * unit, value), max(high * unit, value))
            for (low, high), value in zip(found, released.values, strict=True)
        ]


def noised_columns(
    raw: RawTable, names: Sequence[str], laws: Sequence[Law | None], sampler: Sampler
) -> dict[str, list[int]]:
    """Each exact number of ``raw`` by its name, noised by its own law, once; as it is where it is public."""
    found = {}
    for index, (name, law) in enumerate(zip(names, laws, strict=True)):
        exact = raw.column(f"m{index}")
        found[name] = [int(k) for k in (exact if law is None else noised(exact, law.draw(sampler, len(raw))))]
    return found


@lru_cache(maxsize=1024)  # asked for by the choice, the quote and what was not chosen
def _foretold(
    statistic: Statistic, laws: tuple[Law | None, ...], widths: tuple[tuple[str, int], ...], m: tuple[int, ...]
) -> tuple[float, float]:
    """The 95% interval of one group with these noised moments, in grid steps."""
    (found,) = ranges(statistic, laws, dict(widths), [dict(zip(statistic.moments, m, strict=True))], 0.95, FORETOLD)
    return found


def _rows(names: Sequence[str], columns: Mapping[str, Sequence[int]]) -> list[dict[str, int]]:
    """The moments of each group."""
    return [dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True)]
