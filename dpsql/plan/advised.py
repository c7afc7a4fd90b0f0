"""What `dpsql advise` released of a private table: noised facts about sizes and tails, public to every analyst.

Each histogram has one bin for each power of two, in which a unit counts once: by its number of rows, by its largest
value of a column, by one of its values, by its total. They are drawn together, once for a table version, and charged to
every account, so whatever is worked out from them is free.

What holds. With chance 1 - `MISS` over that one drawing, every count of every histogram of the version is within its
histogram's ``reach`` of the exact count, all at once. That is the one claim on which an interval may rest, and only
where the table's ``current`` says that the exact counts are those of the bounded table as it is now. All else here is
for choosing: it may be off by any amount, as the owner's own guesses may.

Tests: tests/unit/plan/test_advised.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["MISS", "AdvisedColumn", "AdvisedTable", "LogHistogram", "Signed"]

MISS = Fraction(1, 1000)
"""The chance a2 that some count of a version's facts is further than its reach from the exact one. It is a choice: the
facts are drawn once, and a bad draw would spoil every interval of the version, so it is a fiftieth of the 5% that an
interval may miss."""


@dataclass(frozen=True, slots=True)
class LogHistogram:
    """Noised numbers of units by the size of a number that each unit has one of.

    Bin j counts the units whose number x has 2^j step <= |x| < 2^(j + 1) step; the last bin those beyond it too. A unit
    whose number is 0, or that has none, is in no bin.

    Attributes:
        step: What the numbers are multiples of, in their unit, > 0.
        counts: Noised, one for each bin; they may be negative.
        reach: With chance 1 - `MISS` every count is within this of the exact one, together with all others of the
            version.
        likely: The same with chance 19/20: what stands above it is taken to be there, for choosing alone.
        near: What noise alone passes in one bin with chance 1/10, for choosing alone: of a bin that follows others less
            is asked.
    """

    step: Fraction
    counts: tuple[int, ...]
    reach: int
    likely: int
    near: int

    def low(self, bin_: int) -> Fraction:
        """The least size in a bin, in the numbers' unit."""
        return self.step * (1 << bin_)

    def high(self, bin_: int) -> Fraction:
        """What all sizes in a bin are below (of the last bin, what most are below), in the numbers' unit."""
        return self.step * (2 << bin_)

    def largest(self, bin_: int) -> Fraction:
        """The largest size in a bin (of the last bin, of most in it), in the numbers' unit: one step below its end, for
        sizes are whole steps. In a column of 0 and 1 that is 1, and not 2.
        """
        return self.high(bin_) - self.step

    def least(self, bin_: int) -> int:
        """No fewer units are in a bin, with the chance of `reach`."""
        return max(0, self.counts[bin_] - self.reach)

    def most(self, bin_: int) -> int:
        """No more units are in a bin, with the chance of `reach`."""
        return max(0, self.counts[bin_] + self.reach)

    @property
    def seen(self) -> tuple[int, ...]:
        """The counts that stand above the noise, 0 for all others: what choices are made from."""
        return tuple(count if count > self.likely else 0 for count in self.counts)

    @property
    def farthest(self) -> Fraction:
        """The upper end of the last bin in which units are seen, of which there are some; for choosing alone."""
        return self.high(max(bin_ for bin_, count in enumerate(self.seen) if count))

    @property
    def units(self) -> int:
        """About how many units have a number other than 0: a sum of what stands above the noise, for choosing alone."""
        return sum(self.seen)

    def beyond(self, size: Fraction) -> int:
        """How many units are seen in bins of larger sizes, as `Signed.beyond` counts them."""
        outside = [(self.low(bin_), count) for bin_, count in enumerate(self.seen) if count and self.low(bin_) >= size]
        return sum(count for _, count in outside) if any(low > size for low, _ in outside) else 0


@dataclass(frozen=True, slots=True)
class Signed:
    """A number that may be negative, as one histogram for each sign.

    Attributes:
        up: Units with a number above 0, by its size.
        down: Units with a number below 0, by its size; None where the column's declared bounds leave out numbers below
            0, so that there are none.
    """

    up: LogHistogram
    down: LogHistogram | None = None

    @property
    def units(self) -> int:
        """About how many units have a number above 0 or one below; for choosing alone."""
        return max(side.units for side in (self.up, self.down or self.up))

    def beyond(self, low: Fraction, high: Fraction) -> int:
        """How many units are seen in bins that lie outside of bounds whole; for choosing alone.

        The bin that begins at a bound holds the values equal to it, too: it counts where a farther one is seen.
        """
        below = 0 if self.down is None else self.down.beyond(max(-low, Fraction(0)))
        return self.up.beyond(max(high, Fraction(0))) + below


@dataclass(frozen=True, slots=True)
class AdvisedColumn:
    """What was released of one numeric column without a declared list of values.

    Attributes:
        largest: Of each unit, its largest value above 0 (``up``) and its furthest below 0 (``down``), of all its rows:
            before the row cap, and before the bounds. Which bounds would cut what. In a table of one row a unit it is
            the value furthest from 0.
        single: Of each unit, the value in one of its rows, chosen by a keyed hash of what the row says, inside its
            bounds: in ``up`` or in ``down``, by its sign. Where values lie. In a table of one row a unit it is
            ``largest``.
        totals: Of each unit, the sum of its values above 0 (``up``) and of those below 0 (``down``), over its rows in
            the bounded table: capped, and inside their bounds. ``up`` less ``down`` is the unit's SUM of the column
            without a condition; under any condition on its rows, its SUM lies between minus its ``down`` and its
            ``up``. In a table of one row a unit it is that row's value in its bounds.
        zeros: About how many units are in no bin of ``single``, for their value is 0: what is left of all units. For
            choosing alone.
    """

    largest: Signed
    single: Signed
    totals: Signed
    zeros: int = 0


@dataclass(frozen=True, slots=True)
class AdvisedTable:
    """What was released of one private table.

    Attributes:
        units: About how many units have rows; for choosing alone.
        rows: About how many rows the bounded table has, as the policy caps it now; for choosing alone.
        rows_of_policy: Whether that is the policy's own guess, which fits what is seen and what the noise may hide.
        per_unit: Units by their number of rows before the cap, once each key of a unit is kept once (step 1). A unit of
            n rows has min(n, ``rows_per_unit``) in the bounded table.
        columns: By name; only those that were measured.
        heavy: Values of open text columns by column, each with about how many units have it as their most frequent one.
        current: Whether ``reach`` holds of the bounded table as it is now: it was made of the data that the facts were
            measured on, under the same caps, bounds and keys. Where it is False the facts may choose and clamp, and no
            interval may rest on them.
    """

    units: int
    rows: int
    per_unit: LogHistogram
    columns: Mapping[str, AdvisedColumn] = field(default_factory=dict)
    heavy: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    current: bool = False
    rows_of_policy: bool = False
