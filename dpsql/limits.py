"""Public limits that several rooms keep: each is one number, or follows from bounds, whatever the data are."""

from __future__ import annotations

from fractions import Fraction

__all__ = [
    "COARSEST_STEP",
    "FARTHEST_STEP",
    "FEWEST_STEPS",
    "LEAST_GIVEN_DELTA",
    "LEAST_LOSS",
    "LONGEST_DESCRIPTION",
    "LONGEST_IDENTITY",
    "MAX_LENGTH",
    "MOST_IN_PARTS",
    "MOST_LISTED",
    "MOST_LOSS",
    "MOST_OFFSET",
    "MOST_OPEN_GROUPS",
    "MOST_ROWS",
    "SATURATION",
    "UNBOUNDED_STEP",
    "default_step",
]

LEAST_LOSS = Fraction(1, 10**9)
"""The least epsilon, rho or multiple of a metric for one statement. It is a choice: less buys nothing but noise."""

MOST_LOSS = Fraction(10**6)
"""The largest of these. It is a choice: more protects nobody, and what is computed of noise takes minutes beyond."""

LEAST_GIVEN_DELTA = Fraction(1, 10**18)
"""The least probability that is a statement's delta, where it is not 0. It is a choice: the ledger counts in such
units."""

MOST_ROWS = 2**40
"""No table has more rows, and so no answer. It is a choice: more than one machine holds, and small enough
that sums of that many values are proved to fit their integers."""

MOST_OPEN_GROUPS = 2_000_000
"""No more groups are read at once: what a process with a few GiB holds as Python values (370 MB for a million of texts,
measured). DuckDB's come in parts of so many then, other engines give no answer. Listed groups are at most
`MOST_LISTED`; only keys of an open domain come near."""

MOST_IN_PARTS = 2**26
"""No more groups are read in parts: with their noise they are some 6 GiB (55 bytes for each moment, 85 for each text of
20 letters, measured with ten million). It is a choice."""

MOST_LISTED = 100_000
"""No more values of a column, or groups of an answer, are listed; a domain beyond that is open. It is a choice: a
process keeps that many Python values in some 40 MB, and lists of values in a bounded file stay small."""

FARTHEST_STEP = 2**53
"""No number lies further from 0, in steps of its column's grid: a 64-bit float holds every whole number up to this."""

FEWEST_STEPS = 2**20
"""So many steps, at least, a grid has between the bounds where the owner declares none. It is a choice: the rounding is
then a millionth of the width, far below any noise of that width. Intervals that are narrower allow for it."""

COARSEST_STEP = Fraction(1, 100)
"""The coarsest step, in the column's unit, of numbers with bounds and no grid of the owner's, unless they reach too far
for it. It is a choice: prices and readings mostly have two digits, and beside wide bounds a coarser step would move all
of those that end in 99 one way. Sums of a million of them would be off by more than noise is."""

UNBOUNDED_STEP = Fraction(1, 10**6)
"""The step, in the column's unit, of real numbers with neither bounds nor a grid. It is a choice: fine beside what
people measure, and 2^53 such steps reach beyond 10^9."""

MAX_LENGTH = 1_000
"""Letters of a text in a private table, where the policy does not say: the rest is cut when the bounded tables are
built. It is a choice: names, addresses, links and remarks are shorter, and a thousand such texts are a megabyte."""

LONGEST_DESCRIPTION = 500
"""Characters of what the owner writes of a table or column. It is a choice: some sentences, which an agent reads with
every table."""

LONGEST_IDENTITY = 256
"""Letters of a unit, key or reference that is a text; a longer one reads as NULL, for cut it might be another's. It is
a choice: addresses of mail are shorter, and so are hashes."""

MOST_OFFSET = 2**31
"""No frame, LAG, LEAD, NTILE or NTH_VALUE counts so many rows. It is a choice: more than any answer has in practice,
and far from the 64 bits in which an engine counts."""

SATURATION = 2**60
"""Released integers further from 0 are released as this: two of them can be added in 64 bits without overflow."""


def default_step(low: Fraction, high: Fraction) -> Fraction:
    """The step of real numbers between two bounds where the owner declares none.

    It is the largest power of ten that gives at least `FEWEST_STEPS`, and `COARSEST_STEP` at most, where the bounds do
    not reach too far for it. Where there is one value only the steps are counted from 0 to it.

    >>> default_step(Fraction(0), Fraction(20_000)), default_step(Fraction(0), Fraction(10**15))
    (Fraction(1, 100), Fraction(100000000, 1))
    """
    limit, step = (high - low or abs(high) or Fraction(1)) / FEWEST_STEPS, Fraction(1)
    while step > limit:
        step /= 10
    while step * 10 <= limit:
        step *= 10
    return min(step, COARSEST_STEP) if max(abs(low), abs(high)) <= FARTHEST_STEP * COARSEST_STEP else step
