"""Clamps that public facts give: nothing of a statement's price is spent on them.

`dpsql advise` released how many units of a table have how many rows, and which totals of a column. What a unit adds up
to in a statement over that one table is never more, whatever conditions and groups the statement has, where values
have one sign. So the facts' histogram says how many units are above a clamp at most, and what of their totals is
clipped:

    excess over C <= sum over bins with ends above C of (noised count + reach) (largest size - C),

with the chance of the facts' own `MISS`, for all clamps at once. It is an upper end alone: of those units a condition
may leave nothing.

Bins that look empty count with their whole reach, up to what the caps allow: the noise of the facts may hide units
there. A clamp is given only where an interval that includes all of it is of use. So there is none where the facts have
much noise, or are of other data than the table has now.

Tests: tests/unit/mechanisms/clamped/test_facts.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.base import Request
from dpsql.plan.advised import MISS, AdvisedTable, LogHistogram
from dpsql.plan.needs import Sized
from dpsql.plan.nodes import Column, Filter, Relation, Scan, Semi
from dpsql.privacy.sampling import Sampler

__all__ = ["KnownClamp", "known_clamp", "known_sizes"]

INSIDE = 0.75  # Where in its bin, as a share of its largest size, a unit's size is taken to be. It is the middle.

LIKELY = 3  # Of what an interval includes for clipping, one part in so many is thought to be clipped. A guess.

USEFUL = 3
"""As a multiple of the noise: the most of clipping that an interval includes. It is a choice: beyond it a clamp that is
found privately errs less."""


@dataclass(frozen=True, slots=True)
class KnownClamp:
    """A clamp from facts, in the place of a private choice.

    Attributes:
        edges: The clamp, and doubles of it up to what the caps allow; in grid steps.
        units: How many units a neighbour differs in.
        most_clipped: What the interval includes for clipping, in grid steps.
        most: How many units are above the clamp at most.
    """

    edges: tuple[int, ...]
    units: int
    most_clipped: int
    most: int

    @property
    def standing(self) -> int:
        """The first edge, whatever the data are."""
        return 0

    def choose(self, units: Sequence[int], sampler: Sampler) -> int:
        """The first edge, whatever the data are."""
        return 0

    def most_above(self, place: int, miss: float = 0.0, top: int = -1) -> int:
        """How many units are above it at most, but for the chance of the facts."""
        return self.most if place == 0 else 0

    def allowed(self, place: int) -> int:
        """What the interval includes for clipping, in grid steps."""
        return self.most_clipped if place == 0 else 0

    def reaching(self, place: int, far: int, miss: float) -> int:
        """What units have above it at most, in grid steps: the same, whatever they have."""
        return self.allowed(place)

    def clipped(self, place: int) -> Fraction:
        """What is thought to be clipped of that, in grid steps."""
        return Fraction(self.allowed(place), LIKELY)

    def miss(self, confidence: float) -> float:
        """The chance that is left for the noise: the facts may be wrong, too."""
        return max(1 - confidence - float(MISS), (1 - confidence) / 2)

    @property
    def says(self) -> tuple[str, str]:
        """Where the clamp is from, and how sure the number of units above it is."""
        return "by what advise released", f"{1 - float(MISS):.1%}"


def known_sizes(request: Request) -> tuple[LogHistogram, bool] | None:
    """The released sizes that no unit's size in the request exceeds, and whether an interval may rest on them.

    None where there are none: for joins, expressions, values of two signs, and before `dpsql advise`.
    """
    scan = _scan(request.source.relation)
    facts = None if scan is None else scan.table.advised
    if scan is None or facts is None:
        return None
    sizes = _of_column(request, facts) if request.aggregate.function == "sum" else facts.per_unit
    return None if sizes is None else (sizes, facts.current)


def _of_column(request: Request, facts: AdvisedTable) -> LogHistogram | None:
    argument = request.aggregate.argument
    column = facts.columns.get(argument.name) if isinstance(argument, Column) else None
    return column.totals.up if column is not None and column.totals.down is None else None


def _scan(relation: Relation) -> Scan | None:
    """The one table whose rows these are, or some of them."""
    while isinstance(relation, Filter | Semi):
        relation = relation.input
    return relation if isinstance(relation, Scan) else None


def known_clamp(request: Request, totals: Sized, epsilon: Fraction) -> KnownClamp | None:
    """The clamp whose noise and clipping together are expected to be least; None where facts prove too little.

    Args:
        request: What is asked.
        totals: The totals, with the largest size that the caps allow as their last edge.
        epsilon: The whole price of the noise.
    """
    sizes, current = known_sizes(request) or (None, False)
    if sizes is None or not current or not sizes.units:
        return None
    top, step = totals.edges[-1], totals.grid.step
    bins = range(len(sizes.counts))
    # A bin that reaches to the caps ends there: a clamp one step below them saves nothing, and clips.
    ends = [math.ceil(sizes.largest(bin_) / step) if sizes.high(bin_) < top * step else top for bin_ in bins]
    ends[-1] = top

    def clipped(counts: Sequence[int], clamp: int, inside: float) -> float:
        return sum(count * max(0.0, inside * end - clamp) for count, end in zip(counts, ends, strict=True))

    def noise(clamp: int) -> float:
        return math.log(20) * clamp / float(epsilon)

    def worth(clamp: int) -> float:
        return 2 * (clamp / float(epsilon)) ** 2 + clipped(sizes.seen, clamp, INSIDE) ** 2

    at_most = [sizes.most(bin_) for bin_ in bins]
    useful = [end for end in sorted({max(1, end) for end in ends}) if clipped(at_most, end, 1.0) <= USEFUL * noise(end)]
    clamp = min(useful, key=worth)  # at the top nothing is clipped
    units = sum(most for most, end in zip(at_most, ends, strict=True) if end > clamp)
    edges = [clamp]
    while edges[-1] < top:
        edges.append(min(2 * edges[-1], top))
    return KnownClamp(tuple(edges), request.neighbour_rows, math.ceil(clipped(at_most, clamp, 1.0)), units)
