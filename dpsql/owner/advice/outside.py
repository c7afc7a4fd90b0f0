"""What the noise of facts may hide: where the values of a column are taken to end, how many may lie beyond, and how
many rows there are.

Tests: tests/unit/owner/advice/test_outside.py.

Of one question (one histogram, or two for both signs) let c be the noised counts, n the exact ones, and W the sum of
all the noises c - n. Its `hidden` is q with P(W >= q) <= `MISS` / 5.

Theorem. With chance 1 - MISS, both of these hold: whichever edges of a question are chosen, however the choice hangs
on c, the exact number of units beyond them is below the noised one plus q; and there are more units in all than the
noised number of those with rows, less the q of that question.

Proof. The noises are independent and symmetric, so by Levy's inequality the largest of the sums of the last k noises of
one histogram, over all k, is q or more with no more than twice the chance that the sum of all of them is. With two
signs the two largest add up: given the noises below 0, Levy's inequality holds of those above, at q less what the
others add up to; and then the other way round. So some edges have q or more units hidden with chance 4 P(W >= q) at
most, and the number of units with rows stands too high by as much with a fifth of MISS.  QED

Theorem. Of the question about rows: with chance 1 - MISS, the exact number of units that have 2^j rows or more is
within q of the noised one, for all j. Then the number of units that have k rows or more lies, for each k, between those
of the powers of two beside k; and the number of rows is the sum of these numbers over all k.

Proof. As above, of the sums of the last noises and of their opposites: each passes q with chance 2 P(W >= q) at most,
for this question has one histogram. The exact numbers do not grow with k.  QED

How many rows there are at most, nobody can tell from this: one unit that the noise hides may have any number of them.
What a cap leaves in is bounded both ways.

A unit with values of both signs may be in both histograms of its question, and beyond both edges: then it is counted
twice, so that what is said to lie beyond is too much and never too little. How many units a question counts is told by
the histogram that holds more.

q goes by the root of the number of bins, most of which are empty: a bound of all that could be there cannot be smaller
by much, for as many units could be spread over all of these. What is taken for the end is another question, where one
must guess: no bounds would ever be found if they had to hold whatever the noise may hide. So bounds end

- where surely no more than `LOST` of the units are beyond, if this is nearer;
- else behind the last bin that is `taken` to hold units. The last units of a long tail lie in bins beside others, each
  of which is lost in the noise of all counts. So of a bin that follows others little is asked: an empty one passes one
  time of ten, which errs on the wide side. One that stands apart must be clear of the noise, for it alone would make
  bounds many times too wide.

Source: Levy 1937; Ledoux, Talagrand 1991, Proposition 2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.plan.advised import LogHistogram, Signed

if TYPE_CHECKING:
    from dpsql.mechanisms.noise.laws import Law

__all__ = [
    "LOST",
    "bins_inside",
    "hidden",
    "most_beyond",
    "rows_at_least",
    "rows_within",
    "share_lost",
    "sides_of",
    "taken",
    "units_at_least",
]

LOST = Fraction(1, 1000)
"""The share of units beyond the advised bounds, where so little can be told, and of rows beyond the advised cap, of
those that are taken to be there. It is a choice: so little is below the noise of most answers, and the last thousandth
often lies many times further out."""
MISS = Fraction(1, 20)
"""The chance that what is said of one question is wrong: the 5% of the field's intervals."""


def sides_of(question: Signed) -> list[LogHistogram]:
    """The histogram, or the two of both signs."""
    return [question.up, *([question.down] if question.down is not None else [])]


def hidden(question: Signed, law: Law) -> int:
    """q: so many units may be hidden beyond any edges."""
    return law.sum_beyond(sum(len(side.counts) for side in sides_of(question)), MISS / 5)


def units_at_least(rows: Signed, law: Law) -> int:
    """So many units a table has at least, by their numbers of rows; 0 where the noise may hide them all."""
    return _least(sides_of(rows), hidden(rows, law))


def taken(question: Signed) -> list[tuple[int, ...]]:
    """Of each sign, the counts of the bins that are taken to hold units, 0 for all others.

    The first bin of a run must be above the ``reach`` of its noise, or above what is ``likely``, where no bin of the
    question is above its reach; those that follow it above ``near``.
    """
    sides = sides_of(question)
    clear = any(count > side.reach for side in sides for count in side.counts)
    return [_runs(side.counts, side.reach if clear else side.likely, side.near) for side in sides]


def _runs(counts: Sequence[int], first: int, next_: int) -> tuple[int, ...]:
    found: list[int] = []
    for count in counts:
        follows = bool(found) and found[-1] > 0
        found.append(count if count > (next_ if follows else first) else 0)
    return tuple(found)


def bins_inside(question: Signed, hidden: int) -> list[int]:
    """Of each sign, how many bins the bounds reach over.

    Args:
        question: By which numbers units are counted.
        hidden: As `hidden` has it.
    """
    sides = sides_of(question)
    beyond = LOST * max(_least([side], hidden) for side in sides) / len(sides)
    return [_end(side, own, hidden, beyond) for side, own in zip(sides, taken(question), strict=True)]


def _end(side: LogHistogram, taken: Sequence[int], hidden: int, beyond: Fraction) -> int:
    last = 1 + max((bin_ for bin_, count in enumerate(taken) if count), default=-1)
    return next((bin_ for bin_ in range(last) if _tail(side, bin_) + hidden <= beyond), last)


def most_beyond(question: Signed, bins: Sequence[int], hidden: int, units: int) -> Fraction:
    """The largest share of a table's units that may lie beyond so many bins of each sign; at most 1.

    The last bin has no end of its own, so that its units are always beyond.

    Args:
        question: By which numbers units are counted.
        bins: Of each sign.
        hidden: As `hidden` has it.
        units: As `units_at_least` has it.
    """
    sides = zip(sides_of(question), bins, strict=True)
    # The theorem holds of nearer edges, too, and beyond them are no fewer units.
    tails = sum(min(_tail(side, near) for near in range(min(end, len(side.counts) - 1) + 1)) for side, end in sides)
    return min(Fraction(1), Fraction(tails + hidden, units)) if units else Fraction(1)


def rows_within(rows: Signed, hidden: int, cap: int) -> tuple[int, int]:
    """So many rows there are at least and at most, of each unit's first ``cap``."""
    units = list(_units_of(rows.up, hidden))
    ends = [start for start, _, _ in units[1:]] + [cap + 1]
    least = sum(few * (min(start, cap) - min(start // 2, cap)) for start, few, _ in units)
    most = sum(
        many * max(0, min(end - 1, cap) - (start - 1)) for (start, _, many), end in zip(units, ends, strict=True)
    )
    return least, most


def rows_at_least(rows: Signed, hidden: int) -> int:
    """So many rows there are at least, without a cap."""
    return rows_within(rows, hidden, 1 << len(rows.up.counts))[0]


def share_lost(rows: Signed, hidden: int, cap: int) -> Fraction:
    """The least share of the rows that lies beyond a cap; 0 where the noise may hide that any do."""
    kept, most = rows_within(rows, hidden, cap)
    lost = rows_at_least(rows, hidden) - kept
    return Fraction(lost, lost + most) if lost else Fraction(0)


def _units_of(side: LogHistogram, hidden: int) -> Iterator[tuple[int, int, int]]:
    """(2^j, the least and the largest number of units that have so many rows or more), of each bin."""
    tails = [_tail(side, bin_) for bin_ in range(len(side.counts))]
    for bin_ in range(len(tails)):
        yield 1 << bin_, max(0, max(tails[bin_:]) - hidden), min(tails[: bin_ + 1]) + hidden


def _tail(side: LogHistogram, start: int) -> int:
    """The noised number of units from one bin on; 0 where it is negative."""
    return max(0, sum(side.counts[start:]))


def _least(sides: Sequence[LogHistogram], hidden: int) -> int:
    """So many units are counted at least; 0 where the noise may hide them all."""
    return max(0, sum(sum(side.counts) for side in sides) - hidden)
