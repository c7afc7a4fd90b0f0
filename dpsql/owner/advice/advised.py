"""From released facts to what they say: tables for the plan's catalog, bounds, caps and guesses for the policy.

All of it is worked out from noised numbers, so that it costs nothing and may be seen by all.

Tests: tests/unit/owner/advice/test_advised.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.owner.advice.outside import bins_inside, hidden, most_beyond, rows_within, sides_of, units_at_least
from dpsql.owner.advice.waves import waves_of
from dpsql.owner.finding import MUCH
from dpsql.owner.shape import shape_of
from dpsql.plan.advised import AdvisedColumn, AdvisedTable, LogHistogram, Signed

if TYPE_CHECKING:
    from dpsql.mechanisms.noise.laws import Law
    from dpsql.owner.advice.advise import ReleasedFacts
    from dpsql.owner.advice.questions import Tally
    from dpsql.policy.column import ColumnPolicy
    from dpsql.policy.model import Policy
    from dpsql.policy.table import TablePolicy

__all__ = [
    "Bounds",
    "advised_bounds",
    "advised_tables",
    "at_most",
    "bounds_of",
    "bounds_seen",
    "histogram",
    "keeps_guess",
    "most_with_another",
    "own_bounds",
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
WAVES = 4
"""The widest bounds of a panel's waves are taken for one if they are at most so many times as wide as its own: two bins
of the facts. Numbered questions of a survey may ask for quite different things. A guess."""

Bounds = tuple[Decimal, Decimal] | tuple[int, int]
OF_ZEROS: tuple[Bounds, Bounds] = ((Decimal(0), Decimal(1)), (0, 1))
"""The bounds of a column of nothing but 0, of reals and of whole numbers: some width, for sums pay by it. A choice."""


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
                why = _not_found(facts, name, key)
                problem = f"{why}, or write [LOW, HIGH] from what is publicly known ([0, 1] for nothing but 0)"
                raise policy.wrong_at(("tables", name, "columns", key, "bounds"), problem)
            columns[key] = column.model_copy(update={"bounds": bounds})
        tables[name] = table.model_copy(update={"columns": columns})
    return policy.model_copy(update={"tables": tables})


def _not_found(facts: ReleasedFacts | None, table: str, column: str) -> str:
    """Why a column has no bounds yet, and what may find some."""
    if facts is None:
        return "auto has no bounds yet; run dpsql advise POLICY"
    largest = histogram(facts, facts.sizes, table, column, "largest")
    may = "any number" if largest is None else at_most(most_with_another(facts, table, largest))
    return (
        f"auto found no value other than 0 above the noise of the facts, though {may} of the units may have one; run "
        "dpsql advise POLICY with a larger --epsilon"
    )


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
    """The bounds of a column by what the facts hold of it alone.

    They are `OF_ZEROS` where none is seen, and no more than `MUCH` of the units may have any number but 0.
    """
    largest = histogram(facts, facts.sizes, table, name, "largest")
    if largest is None:
        return None
    found = bounds_of(largest, column.type, hidden(largest, facts.law))
    if found is not None or most_with_another(facts, table, largest) > MUCH:
        return found
    return OF_ZEROS[column.type == "integer"]


def most_with_another(facts: ReleasedFacts, table: str, largest: Signed) -> Fraction:
    """The largest share of a table's units that may have a number other than 0 in a column; at most 1."""
    rows = histogram(facts, facts.sizes, table, None, "rows")
    units = 0 if rows is None else units_at_least(rows, facts.law)
    return most_beyond(largest, [0] * len(sides_of(largest)), hidden(largest, facts.law), units)


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


def at_most(share: Fraction) -> str:
    """A share that the exact one does not pass, in two digits of a percentage."""
    return f"at most {two_digits(100 * share, ROUND_CEILING):f}%" if share < 1 else "an unknown share"


def two_digits(number: Fraction, way: str = ROUND_HALF_EVEN) -> Decimal:
    """The number in two digits."""
    return Context(prec=2, rounding=way).divide(Decimal(number.numerator), Decimal(number.denominator))
