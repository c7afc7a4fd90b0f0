"""How far one neighbour can move a vector of exact integers, in grid steps.

One unit holds at most ``total`` rows, in groups as its `Contribution` says. Under ``add_remove`` it brings or takes
them. Under ``replace_one`` it takes them and another unit brings as many: the triangle inequality doubles every L1 and
L2 sensitivity. Only where the rows themselves are fixed and public (one row for each unit, whole table, no groups)
does a swap move one value inside its bounds instead, and the number of rows does not move at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Request
from dpsql.plan.requests import Aggregates, Measure, MeasureKind

__all__ = ["Sensitivity", "measure_of", "need_of", "rows_fixed", "sensitivity_of", "why_not"]

KINDS = {
    "count_rows": MeasureKind.ROWS,
    "count": MeasureKind.VALUES,
    "count_units": MeasureKind.UNITS,
    "sum": MeasureKind.SUM,
}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one neighbour moves the vector of one measure over all groups.

    Attributes:
        l1: L1 sensitivity, in grid steps.
        l2_squared: Square of the L2 sensitivity, in grid steps^2.
        one_cell: Whether every such move lies in a single group.
    """

    l1: int
    l2_squared: int
    one_cell: bool


def rows_fixed(request: Request) -> bool:
    """Whether neighbours have the same rows but for one row's values.

    Raises:
        InvariantBroken: If the request claims so of rows that are grouped, or of units with several rows.
    """
    if request.neighbours not in ("add_remove", "replace_one"):
        raise InvariantBroken(f"no sensitivity is proved for neighbours {request.neighbours!r}")
    if not request.rows_public or request.swap == 1:
        return False
    if request.source.keys or request.source.contribution.total != 1:
        raise InvariantBroken("the number of rows is public only for a whole table with one row a unit")
    return True


def measure_of(request: Request) -> Measure:
    """The one measure of a count or sum."""
    kind = KINDS[request.aggregate.function]
    argument = request.aggregate.argument if kind in (MeasureKind.VALUES, MeasureKind.SUM) else None
    return Measure(kind, argument, request.grid if kind is MeasureKind.SUM else None)


def need_of(request: Request, *measures: Measure) -> Aggregates:
    """What the engine is asked for."""
    return Aggregates(request.source, measures)


def sensitivity_of(request: Request, measure: Measure) -> Sensitivity:
    """The sensitivity of one measure; a row whose argument is NULL counts 0 in sums and counts of values.

    A sum is never less sensitive than 1 step, so that a sum of zeros gets noise too. Under fixed rows a count of rows
    or units has sensitivity 0: it is public.
    """
    held = request.source.contribution
    if measure.kind is MeasureKind.UNITS:
        held = held.of_units()
    low, high = (
        (0, 1) if measure.grid is None else (measure.grid.low - measure.shift, measure.grid.high - measure.shift)
    )
    if rows_fixed(request):
        # A row of the fixed set moves within its bounds, or to or from NULL, which counts 0.
        width = 0 if measure.kind in (MeasureKind.ROWS, MeasureKind.UNITS) else max(1, max(high, 0) - min(low, 0))
        return Sensitivity(width, width**2, one_cell=True)
    reach = max(1, abs(low), abs(high)) * request.swap
    # Without groups every move is in one cell. With them, a swap may take from one group and bring to another.
    one_cell = not request.source.keys or (held.groups == 1 and request.swap == 1)
    if one_cell:
        return Sensitivity(reach * held.l1(), (reach * held.l1()) ** 2, one_cell=True)
    return Sensitivity(reach * held.l1(), reach**2 * held.l2_squared(), one_cell=False)


def why_not(request: Request) -> str | None:
    """Why plain noise does not answer this request, or None if it does."""
    aggregate = request.aggregate
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only threshold can."
    if aggregate.function not in (*KINDS, "avg"):
        return f"it answers COUNT, SUM and AVG, not {aggregate.text}."
    if aggregate.function in ("sum", "avg") and request.grid is None:
        return f"{aggregate.text} has no bounds; declare bounds in the policy, or write contribution_bounds_per_row."
    if rows_fixed(request) and aggregate.function in ("count_rows", "count_units"):
        return "the number of rows is public here; there is nothing to noise."
    return None
