"""Plain totals (COUNT, SUM, and how many units there are) that ride along with totals of units: one look at the rows.

Where the database adds up what each unit has, or stored totals say so, a plain total is the sum of that over all units:
one more column of few rows, in the place of another pass over all of them.

Theorem. A plain total that rides along is the number that `Aggregates` finds by a statement of its own.

Proof. Both look at the same relation, of which nothing is cut, in groups by the same keys; each value is made a whole
number of the same grid by the same text (`rows.value_rows`), which clamps it to the grid's ends, and a value is NULL in
both or in neither. The sum over the rows of a group is the sum, over its units, of the sums over their rows there:
whole numbers in another order. None of them is rounded: what a unit has is at most 2^53 as a magnitude, which 64 bits
hold, and sums of it are kept in 128. What a unit has of no value is NULL, and adds nothing. It is clamped to nothing
and put into no bin. Each row that is added up is of one unit in one group, and no other is of both: a group has as many
units as such rows. A shift is taken off at the end: SUM(x) - shift * COUNT(x), as there. A group that is not among the
rows of the result has 0 of everything, which is what an absent group has there, too.  QED

Tests: tests/unit/engine/test_riding.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.plan.nodes import Expression
from dpsql.plan.types import Grid
from dpsql.privacy.tables import Group, RawTable, listed
from dpsql.worker.ordered import OF

__all__ = ["Kind", "kinds_of", "plain_totals"]

Kind = tuple[str, tuple[Expression, Grid | None] | None]
"""What rows are added up to: a function of `sized.TotalRows`, and its argument with the grid of a sum."""


def kinds_of(measures: Sequence[Measure]) -> tuple[Kind, ...]:
    """What measures are made of, each kind once; () where one of them is no sum over units."""
    parts = [_parts(measure) for measure in measures]
    return tuple(dict.fromkeys(kind for own in parts for kind in own)) if all(parts) else ()


def plain_totals(need: Aggregates, found: RawTable, first: int) -> RawTable:
    """The raw table of plain totals.

    Args:
        need: What they are.
        found: What the statement found: a row for each group and kind of total where that is not 0.
        first: Which kind is the first of `kinds_of` these.
    """
    keys, kinds = need.source.key_names, kinds_of(need.measures)
    groups: dict[Group, dict[Kind, int]] = {}
    for of, kind in enumerate(kinds, first):
        own = found.where(OF, of)
        for group, total in zip(own.groups(keys), listed(own.column("total")), strict=True):
            groups.setdefault(group, {})[kind] = int(total)
    columns: dict[str, Sequence[object]] = {key: [group[at] for group in groups] for at, key in enumerate(keys)}
    for index, measure in enumerate(need.measures):
        columns[f"m{index}"] = [_total(measure, totals) for totals in groups.values()]
    return RawTable(columns)


def _parts(measure: Measure) -> tuple[Kind, ...]:
    """What a measure is made of; () of one that is no sum over units."""
    x = measure.argument
    match measure.kind:
        case MeasureKind.ROWS:
            return (("count_rows", None),)
        case MeasureKind.UNITS:
            return (("units", None),)
        case MeasureKind.VALUES if x is not None:
            return (("count", (x, None)),)
        case MeasureKind.SUM if x is not None and measure.grid is not None:
            return (("sum", (x, measure.grid)), *((("count", (x, None)),) if measure.shift else ()))
        case _:
            return ()


def _total(measure: Measure, totals: Mapping[Kind, int]) -> int:
    """A measure from its parts: the first, less the shift of each value that is counted; what has no row is 0."""
    own, *counts = (totals.get(kind, 0) for kind in _parts(measure))
    return own - measure.shift * sum(counts)
