"""How far one neighbour can move a vector of exact integers, in grid steps.

One unit holds at most ``total`` rows, in groups as its `Contribution` says. Under ``add_remove`` it brings or takes
them. Under ``replace_one`` it takes them and another unit brings as many: the triangle inequality doubles every L1 and
L2 sensitivity over several groups. Without groups, what a unit adds to the one number lies between ``total`` times the
least that a row adds, or 0, and ``total`` times the most: a swap moves it within that interval, so that a count moves
no further than under ``add_remove``. Where the rows themselves are fixed and public (one row for each unit, whole
table, no groups) the same holds for one row, and the number of rows does not move at all.

A unit's rows add at most as many new values to COUNT(DISTINCT x) as they are, and as x can have in them: the values of
its domain, those that a condition names, one where the unit determines x. The unit itself counts once in each group.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Request
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.known.relations import conjuncts, predicates
from dpsql.plan.known.stability import values_per_unit
from dpsql.plan.known.value_lists import values_known
from dpsql.plan.needs import Aggregates, Contribution, Measure, MeasureKind
from dpsql.plan.nodes import Column

__all__ = [
    "Sensitivity",
    "measure_of",
    "most_values",
    "moved_rows",
    "need_of",
    "range_in_a_group",
    "rows_fixed",
    "sensitivity_of",
    "why_not",
]

KINDS = {
    "count_rows": MeasureKind.ROWS,
    "count": MeasureKind.VALUES,
    "count_units": MeasureKind.UNITS,
    "count_distinct": MeasureKind.DISTINCT,
    "sum": MeasureKind.SUM,
}
WITHOUT_ARGUMENT = (MeasureKind.ROWS, MeasureKind.UNITS)


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
    if not request.rows_public or request.neighbour_rows == 1:
        return False
    if request.source.keys or request.source.contribution.total != 1:
        raise InvariantBroken("the number of rows is public only for a whole table with one row a unit")
    return True


def measure_of(request: Request) -> Measure:
    """The one measure of a count or sum."""
    kind = KINDS[request.aggregate.function]
    argument = None if kind in WITHOUT_ARGUMENT else request.aggregate.argument
    return Measure(kind, argument, request.grid if kind is MeasureKind.SUM else None)


def need_of(request: Request, *measures: Measure) -> Aggregates:
    """What the engine is asked for."""
    return Aggregates(request.source, measures)


def sensitivity_of(request: Request, measure: Measure) -> Sensitivity:
    """The sensitivity of one measure; a row whose argument is NULL counts 0 in sums and counts of values.

    A sum is never less sensitive than 1 step, so that a sum of zeros gets noise too. Under fixed rows a count of rows
    or units has sensitivity 0: it is public.
    """
    held = _held(request, measure)
    low, high = _of_one_row(measure)
    if rows_fixed(request) and measure.kind in WITHOUT_ARGUMENT:
        return Sensitivity(0, 0, one_cell=True)
    if request.neighbour_rows == 2 and not request.source.keys:
        width = max(1, (max(high, 0) - min(low, 0)) * held.l1())  # a row that is NULL, or not there, adds 0
        return Sensitivity(width, width**2, one_cell=True)
    return _times(max(1, abs(low), abs(high)), request, held)


def moved_rows(request: Request) -> Sensitivity:
    """How many rows a neighbour brings and takes: a vector over the groups, also where the rows are fixed.

    A replaced row counts twice, as one that goes and one that comes.
    """
    return _times(1, request, request.source.contribution)


def most_values(request: Request) -> int | None:
    """Of a count of different values how many there may be, by the argument's list or bounds; else None."""
    argument, relation = request.aggregate.argument, request.source.relation
    if request.aggregate.function != "count_distinct" or argument is None:
        return None
    return values_known(argument, [part for predicate in predicates(relation) for part in conjuncts(predicate)])


def range_in_a_group(request: Request, measure: Measure) -> int:
    """The length of the interval in which a neighbour moves the number of any group, 0 included; 1 step at least."""
    low, high = _of_one_row(measure)
    return max(1, max(high, 0) - min(low, 0)) * _held(request, measure).rows_in_group * request.neighbour_rows


def _times(reach: int, request: Request, held: Contribution) -> Sensitivity:
    """The sensitivity where each row that comes or goes moves its group by at most ``reach``."""
    reach *= request.neighbour_rows
    # Without groups every move is in one cell. With them, a swap may take from one group and bring to another.
    one_cell = not request.source.keys or (held.groups == 1 and request.neighbour_rows == 1)
    if one_cell:
        return Sensitivity(reach * held.l1(), (reach * held.l1()) ** 2, one_cell=True)
    return Sensitivity(reach * held.l1(), reach**2 * held.l2_squared(), one_cell=False)


def _held(request: Request, measure: Measure) -> Contribution:
    """What one unit can hold of a measure: COUNT(DISTINCT) sees each unit, or each value, once in each group."""
    held, argument = request.source.contribution, measure.argument
    if measure.kind is MeasureKind.UNITS:
        return held.of_units()
    if measure.kind is not MeasureKind.DISTINCT or argument is None:
        return held
    if isinstance(argument, Column) and argument.unit:  # of a left join's right side: the unit itself, or NULL
        return held.of_units()
    values = values_per_unit(request.source.relation, [argument], missing=0)
    return held if values is None else Contribution(held.rows, held.groups, min(held.rows_in_group, values))


def _of_one_row(measure: Measure) -> tuple[int, int]:
    """Least and most that one row can add to a measure, in grid steps (or their product)."""
    if measure.grid is None:
        return 0, 1
    low, high = measure.grid.low - measure.shift, measure.grid.high - measure.shift
    if measure.by is None:
        return low, high
    if (measure.by.argument, measure.by.grid, measure.by.shift) == (measure.argument, measure.grid, measure.shift):
        return 0, max(low**2, high**2)
    ends = [x * y for x in (low, high) for y in _of_one_row(measure.by)]
    return min(ends), max(ends)


def why_not(request: Request) -> str | None:
    """Why plain noise does not answer this request, or None if it does."""
    aggregate = request.aggregate
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only a threshold can."
    if aggregate.function not in (*KINDS, "avg", *STATISTICS):
        return f"it answers counts, sums, means, variances and covariances, not {aggregate.text}."
    bounded = request.grid is not None and (aggregate.second is None or request.second_grid is not None)
    if aggregate.function in ("sum", "avg", *STATISTICS) and not bounded:
        return f"{aggregate.text} has no bounds; declare bounds in the policy, or write contribution_bounds_per_row."
    if rows_fixed(request) and FUNCTIONS[aggregate.function].arguments == 0:
        return "the number of rows is public here; there is nothing to noise."
    return None
