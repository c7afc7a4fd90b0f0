"""From released facts to what they say: tables for the plan's catalog, bounds, caps and guesses for the policy.

All of it is worked out from noised numbers, so that it costs nothing and may be seen by all.

Tests: tests/unit/owner/test_advised.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from dpsql.owner.outside import bins_inside, hidden, rows_within, sides_of
from dpsql.owner.shape import shape_of
from dpsql.owner.waves import waves_of
from dpsql.plan.advised import AdvisedColumn, AdvisedTable, LogHistogram, Signed

if TYPE_CHECKING:
    from dpsql.mechanisms.noise.laws import Law
    from dpsql.owner.advise import ReleasedFacts
    from dpsql.owner.questions import Tally
    from dpsql.policy.column import ColumnPolicy
    from dpsql.policy.model import Policy
    from dpsql.policy.table import TablePolicy

__all__ = [
    "Bounds",
    "Typical",
    "advised_bounds",
    "advised_tables",
    "bounds_of",
    "bounds_seen",
    "histogram",
    "keeps_guess",
    "own_bounds",
    "place_of",
    "rows_about",
    "rows_guessed",
    "rows_lost",
    "two_digits",
    "unresolved",
    "with_bounds",
    "zeros_about",
]

NEAR = Fraction(1, 10)
"""The chance that an empty bin beside one that holds units is taken for another. It is a choice: each such bin doubles
the bounds for nothing, and each that is left out cuts a tail that may hold as many units as the scale of the noise."""
NORMAL = 1.4826  # Standard deviations of a normal law in the distance from its centre that half of it keeps within.
SEEN = Fraction(3, 4)
"""Of the units that a column has numbers of, that part must stand above the noise in their bins: the middle half is
what a centre and a spread are read from, and of few bins alone the spread would be far too small. A guess."""
HALVINGS = 60  # Of the widest distance, until that of half the units is found: more than digits are shown.
SCALES = 100
"""The least and the largest distance to expect between values lie so many times below and above the spread. A guess:
what friendly_core pays for the width between them goes by its logarithm."""
WAVES = 4
"""The widest bounds of a panel's waves are taken for one if they are at most so many times as wide as its own: two bins
of the facts. Numbered questions of a survey may ask for quite different things. A guess."""

NOT_FOUND = (
    "auto found no value other than 0 above the noise of the facts; run dpsql advise POLICY with a larger --epsilon"
)
Bounds = tuple[Decimal, Decimal] | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Typical:
    """Where most values of a column lie, in its unit; for choosing alone.

    Attributes:
        centre: The middle unit's, to a tenth or a hundredth of the spread: as far as two digits of the spread go.
        spread: A typical distance from it, > 0: `NORMAL` times the one that half of the units keep within. That is the
            standard deviation of a normal law; a long tail makes it no wider. Where that half is in one bin, whose
            width says little of it, that of the normal law with as few units beyond its ends, if it is less. Where that
            half has one value, such as 0, the root of the mean square of all distances from it.
    """

    centre: Fraction
    spread: Fraction

    @property
    def scale(self) -> tuple[Fraction, Fraction]:
        """The least and the largest distance to expect between values."""
        return self.spread / SCALES, self.spread * SCALES


def advised_tables(policy: Policy, facts: ReleasedFacts | None, data: str | None) -> dict[str, AdvisedTable]:
    """What the plan may know of each private table; nothing of those where nothing stands above the noise.

    Args:
        policy: In force, with bounds for every column.
        facts: The newest, or None.
        data: The digest of the data that the bounded tables were made of, or None where it is not known.
    """
    if facts is None or facts.totals is None:
        return {}
    tables, shape = {}, shape_of(policy)
    for name, table in policy.tables.items():
        rows = histogram(facts, facts.sizes, name, None, "rows")
        if table.public or rows is None or not rows.up.units:
            continue
        current = facts.data == data and facts.shapes.get(name) == shape.digest_of(name)
        guess = rows_guessed(table, rows, facts.law, table.most_rows)
        tables[name] = AdvisedTable(
            units=rows.up.units,
            rows=guess,
            per_unit=rows.up,
            columns=dict(_columns(facts, name, table.columns)),
            heavy={column: values for (owner, column), values in facts.heavy.items() if owner == name},
            current=current,
            rows_of_policy=keeps_guess(table, rows, guess, table.most_rows),
        )
    return tables


def _columns(
    facts: ReleasedFacts, table: str, declared: Mapping[str, ColumnPolicy]
) -> Iterator[tuple[str, AdvisedColumn]]:
    for name in declared:
        largest = histogram(facts, facts.sizes, table, name, "largest")
        totals = histogram(facts, facts.totals or {}, table, name, "totals")
        if largest is not None and totals is not None:
            single = histogram(facts, facts.sizes, table, name, "single") or largest
            yield name, AdvisedColumn(largest, single, totals, zeros_about(facts, table, single, declared[name]))


def zeros_about(facts: ReleasedFacts, table: str, single: Signed, column: ColumnPolicy) -> int:
    """About how many units of a table have 0 in a column, which no bin counts: all units, less those in its bins.

    0 where the noise may hide that there are any, and where a column may be NULL, which is in no bin either.
    """
    rows = histogram(facts, facts.sizes, table, None, "rows")
    if rows is None or column.nullable:
        return 0
    found = sum(rows.up.counts) - sum(sum(side.counts) for side in sides_of(single))
    return found if found > hidden(rows, facts.law) + hidden(single, facts.law) else 0


def histogram(
    facts: ReleasedFacts, answers: Mapping[Tally, tuple[int, ...]], table: str, column: str | None, about: str
) -> Signed | None:
    """The histogram, or the two of both signs, that answer one question; None where it was not asked."""
    for question, counts in answers.items():
        if (question.table, question.column, question.about) == (table, column, about):
            near = facts.law.beyond(NEAR) - 1
            up, *down = (
                LogHistogram(question.step, counts[at : at + question.bins], facts.reach, facts.likely, near)
                for at in range(0, len(counts), question.bins)
            )
            return Signed(up, *down)
    return None


def with_bounds(policy: Policy, facts: ReleasedFacts | None) -> Policy:
    """The policy with the advised bounds in the place of each ``bounds: auto``.

    Raises:
        PolicyError: If there are none yet, naming the command that finds them.
    """
    tables = dict(policy.tables)
    for name, table in policy.tables.items():
        columns = dict(table.columns)
        for key, column in table.columns.items():
            if not column.auto:
                continue
            bounds = None if facts is None else advised_bounds(facts, name, key, table.columns)
            if bounds is None:
                why = "auto has no bounds yet; run dpsql advise POLICY" if facts is None else NOT_FOUND
                problem = f"{why}, or write [LOW, HIGH] from what is publicly known"
                raise policy.wrong_at(("tables", name, "columns", key, "bounds"), problem)
            columns[key] = column.model_copy(update={"bounds": bounds})
        tables[name] = table.model_copy(update={"columns": columns})
    return policy.model_copy(update={"tables": tables})


def unresolved(policy: Policy, facts: ReleasedFacts) -> list[tuple[str, str]]:
    """(table, column) of each ``bounds: auto`` that these facts do not find, so that the policy does not open."""
    return [
        (name, key)
        for name, table in policy.tables.items()
        for key, column in table.columns.items()
        if column.auto and advised_bounds(facts, name, key, table.columns) is None
    ]


def advised_bounds(facts: ReleasedFacts, table: str, name: str, columns: Mapping[str, ColumnPolicy]) -> Bounds | None:
    """The bounds that facts give a column; None where they hold none of its values, or none above their noise.

    Where a panel's waves end in other bins by chance, their means would be cut at other numbers, and nobody could
    compare them. So a column takes the widest bounds of its waves that are at most `WAVES` times as wide as its own.
    """
    found = own_bounds(facts, table, name, columns[name])
    if found is None:
        return None
    others = (own_bounds(facts, table, other, columns[other]) for other in waves_of(name, columns))
    most = WAVES * _width(found)
    near = [found, *(bounds for bounds in others if bounds is not None and _width(bounds) <= most)]
    return min(low for low, _ in near), max(high for _, high in near)  # type: ignore[return-value]  # of one type


def _width(bounds: Bounds) -> Fraction:
    return Fraction(bounds[1]) - Fraction(bounds[0])


def own_bounds(facts: ReleasedFacts, table: str, name: str, column: ColumnPolicy) -> Bounds | None:
    """The bounds of a column by what the facts hold of it alone."""
    largest = histogram(facts, facts.sizes, table, name, "largest")
    return None if largest is None else bounds_of(largest, column.type, hidden(largest, facts.law))


def bounds_of(largest: Signed, type_: str, hidden: int) -> Bounds | None:
    """Bounds that reach as far as `outside.bins_inside` says, rounded up to two digits; None where nothing is seen.

    0 is inside: sums pay for the distance from 0, and empty sums are 0.

    Args:
        largest: Of each unit, its values furthest from 0, as of `AdvisedColumn`.
        type_: The column's.
        hidden: As of `outside.hidden`.
    """
    sides = sides_of(largest)
    if not any(side.units for side in sides):
        return None
    return _bounds(sides, bins_inside(largest, hidden), type_)


def bounds_seen(largest: Signed, type_: str) -> Bounds:
    """Bounds that reach as far as any count stands above the noise, however far apart: some of it may be noise.

    Args:
        largest: As of `bounds_of`.
        type_: The column's.
    """
    sides = sides_of(largest)
    return _bounds(
        sides, [1 + max((j for j, count in enumerate(side.seen) if count), default=-1) for side in sides], type_
    )


def _bounds(sides: Sequence[LogHistogram], bins: Sequence[int], type_: str) -> Bounds:
    """Bounds at the largest number of so many bins of each sign, rounded up to two digits."""
    found = zip(sides, bins, strict=True)
    reached = [two_digits(side.largest(end - 1), ROUND_CEILING) if end else Decimal(0) for side, end in found]
    high, low = reached[0], reached[1] if len(reached) > 1 else Decimal(0)
    if type_ == "integer":
        return -int(low.to_integral_value(ROUND_CEILING)), int(high.to_integral_value(ROUND_CEILING))
    return -low or Decimal(0), high


def place_of(single: Signed, bounds: tuple[Any, Any] | None = None, zeros: int = 0) -> Typical | None:
    """Where most units' values lie, as if evenly spread within each bin; None where less than `SEEN` of them is seen.

    A bin ends one step below the next one, where its largest number is: that of 1 holds nothing between 1 and 2. Where
    units have more than one number, the spread is a step at least.

    Args:
        single: One value of each unit.
        bounds: Numbers that the values are moved into, where there are any.
        zeros: About how many units have 0, as of `AdvisedColumn`.
    """
    inside = (-math.inf, math.inf) if bounds is None else tuple(map(float, bounds))
    pieces: list[tuple[float, float, int]] = []
    edges = set[float]()
    for side, sign in ((single.up, 1), (single.down, -1)):
        for bin_, count in enumerate(side.seen if side is not None else ()):
            if count and side is not None:
                ends = sorted((sign * float(side.low(bin_)), sign * float(side.largest(bin_))))
                edges.update(end for end in ends if inside[0] < end < inside[1])
                low, high = (min(max(end, inside[0]), inside[1]) for end in ends)
                pieces.append((low, high, count))
    if zeros:
        at = float(min(max(0, inside[0]), inside[1]))
        pieces.append((at, at, zeros))
    seen = sum(count for _, _, count in pieces)
    everybody = zeros + sum(sum(side.counts) for side in sides_of(single))
    if not seen or seen < SEEN * everybody:
        return None
    pieces.sort()
    centre = _quantile(pieces, 0.5)
    near = seen / 2
    within, beyond = 0.0, pieces[-1][1] - pieces[0][0]
    for _ in range(HALVINGS):
        middle = (within + beyond) / 2
        within, beyond = (
            (within, middle) if _between(pieces, centre - middle, centre + middle) > near else (middle, beyond)
        )
    typical = min(beyond * NORMAL, _normal_spread(pieces, edges, single.up.near))
    if _between(pieces, centre, centre) > near:
        typical = _root_mean_square(pieces, centre)
    least = single.up.step if len(pieces) > 1 else 0  # where half of the units have one number, others have another
    spread = two_digits(max(Fraction(typical), Fraction(least)))
    digits = Decimal((0, (1,), spread.adjusted() - 1))
    return Typical(Fraction(round(centre / float(digits))) * Fraction(digits), Fraction(spread))


def _root_mean_square(pieces: list[tuple[float, float, int]], centre: float) -> float:
    """The root of the mean square of the distances from a number."""
    units = sum(count for _, _, count in pieces)
    squares = sum(
        count * ((low - centre) ** 2 + (low - centre) * (high - centre) + (high - centre) ** 2) / 3
        for low, high, count in pieces
    )
    return math.sqrt(squares / units)


def _normal_spread(pieces: list[tuple[float, float, int]], edges: Collection[float], near: int) -> float:
    """The standard deviation of the normal law that has as many units beyond two edges of bins as there are.

    The edges are those of the bin that has the middle half of the units; infinite where there is none. What noise
    hides beyond them, ``near``, counts as units: so it is too large, if anything, for a normal law. Values that fill a
    bin evenly and lie nowhere else have a spread 2.5 times this one: they are rare, since bins end at powers of 2.
    """
    units = sum(count for _, _, count in pieces)
    below = {edge: sum(count for _, high, count in pieces if high <= edge) for edge in edges}
    above = {edge: sum(count for low, _, count in pieces if low >= edge) for edge in edges}
    least = max((edge for edge in edges if below[edge] <= units / 4), default=-math.inf)
    most = min((edge for edge in edges if above[edge] <= units / 4), default=math.inf)
    if not any((low, high) == (least, most) for low, high, _ in pieces):
        return math.inf  # several bins tell more of their values
    shares = (min(max(count, near, 1) / units, 0.25) for count in (below[least], above[most]))
    return (least - most) / sum(map(NormalDist().inv_cdf, shares))


def _quantile(pieces: list[tuple[float, float, int]], share: float) -> float:
    left = share * sum(count for _, _, count in pieces)
    for low, high, count in pieces:
        if left <= count:
            return low + (high - low) * left / count
        left -= count
    return pieces[-1][1]


def _between(pieces: list[tuple[float, float, int]], low: float, high: float) -> float:
    """About how many units lie between two numbers."""
    found = 0.0
    for start, end, count in pieces:
        if start == end:
            found += count * (low <= start <= high)
        else:
            found += count * max(0.0, min(end, high) - max(start, low)) / (end - start)
    return found


def rows_lost(per_unit: LogHistogram, cap: int, counts: Sequence[int]) -> float:
    """About which share of the rows is beyond a cap, of those of some counts."""
    means = _means(per_unit, counts)
    rows = sum(count * mean for mean, count in means)
    return 1 - sum(count * min(mean, cap) for mean, count in means) / rows if rows else 0.0


def _means(per_unit: LogHistogram, counts: Sequence[int]) -> list[tuple[float, int]]:
    """(the middle number of rows, units) of each bin."""
    return [((float(per_unit.low(j) + per_unit.high(j)) - 1) / 2, count) for j, count in enumerate(counts)]


def rows_about(per_unit: LogHistogram, cap: float = math.inf) -> int:
    """About how many rows the units have that are seen, within a cap: with those that noise hides there are more."""
    return round(sum(count * min(mean, cap) for mean, count in _means(per_unit, per_unit.seen)))


def rows_guessed(table: TablePolicy, rows: Signed, law: Law, cap: int) -> int:
    """A guess of how many rows there are within a cap: the owner's, where the facts do not contradict it under the
    owner's cap, but no more than the noise may hide under this one; else what is seen.
    """
    noise, seen = hidden(rows, law), rows_about(rows.up, cap)
    (least, most), (fewest, before) = (rows_within(rows, noise, size) for size in (cap, table.most_rows))
    if "rows_about" in table.model_fields_set and fewest <= table.rows_about <= before:
        seen = min(table.rows_about, most)
    return max(seen, least, table.rows_at_least or 1)


def keeps_guess(table: TablePolicy, rows: Signed, guess: int, cap: int) -> bool:
    """Whether a guess of the rows is the policy's own, and not what `advise` wrote there of those that are seen."""
    return guess == table.rows_about and two_digits(Fraction(guess)) != two_digits(Fraction(rows_about(rows.up, cap)))


def two_digits(number: Fraction, way: str = ROUND_HALF_EVEN) -> Decimal:
    """The number in two digits."""
    return Context(prec=2, rounding=way).divide(Decimal(number.numerator), Decimal(number.denominator))
