"""Groupings that agree: totals of ROLLUP, CUBE and GROUPING SETS are the sums of their parts, at no further cost.

Each grouping set is measured with noise of its own, so that parts and totals disagree at first. Where an aggregate
adds up (COUNT, SUM, over rows that no cap cuts anew for each grouping), the values that fit all measurements best
(weighted least squares over the finest cells, Hay et al. 2010) take their place. They are a function of released
values alone. All sets are measured over the same rows, those whose keys are all listed
(`plan.over_answers.grouping.listed_rows`).

They are whole steps of the aggregate's grid. Where each set lies within the next, as in ROLLUP, totals are exactly the
sums of their parts. Otherwise, as in CUBE, each is rounded by itself: sums of many parts differ from totals by what
that moves, for there need be no whole cells that are near all totals.

Tests: tests/unit/answers/released/test_consistency.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.answers.released.in_order import rising
from dpsql.answers.released.release import Released
from dpsql.answers.released.row_order import rows_as_written
from dpsql.limits import MOST_LISTED
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.measured.combined import listed_groups, most_groups_listed
from dpsql.plan.over_answers.grouping import GROUPING_SET
from dpsql.plan.plans import Plan
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.rest import REST
from dpsql.privacy.tables import GroupColumns, listed

__all__ = ["AllGroupings", "consistent"]

PLAIN = ("laplace", "gaussian")  # Mechanisms whose values are the numbers plus noise of mean 0.
MOST_ENTRIES = 4_000_000
"""Cells times measured groupings: the entries of the least-squares problem. Beyond it the measurements stay as they
are. It is a choice between totals that agree and the time that solving takes."""


@dataclass(frozen=True, slots=True)
class AllGroupings:
    """All groupings one after the other.

    Attributes:
        groups: One value per key of the statement; None where a grouping leaves the key out.
        values: Per aggregate, one value per group; of which grouping set a group is, where there are several; and
            whether it is the rest, where there is one.
        moved: Per aggregate that was made to agree, by how much each value differs from its own measurement. Least
            squares never widens an error, so the measurement's interval moves along with the value.
        exchanged: Aggregates whose numbers took others' places, for these were not in order (`in_order`).
        places: (rows,) of which measured group each row is, where a grouping set is written several times and so its
            rows are, too, or where keys are written in another order than the plan's; None where each group is one row,
            in this order.
    """

    groups: GroupColumns
    values: Mapping[str, Sequence[Any]]
    moved: Mapping[str, Sequence[Any]]
    exchanged: frozenset[str] = frozenset()
    places: Sequence[int] | None = None


def consistent(prepared: Prepared, released: Released) -> AllGroupings:
    """The released values of all groupings together, additive ones made to agree, and quantiles put in order.

    Args:
        prepared: The statement.
        released: One table per aggregate and grouping.
    """
    width = len(prepared.plan.keys)
    parts_of = [
        own.columns if tuple(grouping.keys) == tuple(range(width)) else _filled(grouping.keys, own, width)
        for grouping, own in zip(prepared.groupings, released.groups, strict=True)
    ]
    columns = [parts[0] if len(parts) == 1 else [*chain(*map(listed, parts))] for parts in zip(*parts_of, strict=True)]
    groups = GroupColumns(columns, sum(map(len, released.groups)))
    together: dict[str, Sequence[Any]] = {}
    moved: dict[str, Sequence[Any]] = {}
    for name in dict.fromkeys(measured.aggregate.name for measured in prepared.measured):
        parts = [measured for measured in prepared.measured if measured.aggregate.name == name]
        first, *others = (released.tables[part.name].values for part in parts)
        values = [*first, *chain(*others)] if others else first
        together[name] = _agreeing(prepared, parts, values) if len(parts) > 1 else values
        if together[name] is not values:
            moved[name] = [new - old for new, old in zip(together[name], values, strict=True)]
    exchanged = rising(prepared.measured, together)
    together |= exchanged
    if prepared.plan.sets is not None:
        sets = [number for number, own in enumerate(released.groups) for _ in own]
        together[GROUPING_SET.name] = sets
    if any(measured.rest for measured in prepared.measured):  # its row is the last
        together[REST.name] = [False] * (len(groups) - 1) + [True]
    once = AllGroupings(groups, together, moved, frozenset(exchanged))
    if prepared.plan.repeats:
        return _repeated(once, prepared.plan, list(map(len, released.groups)))
    places = rows_as_written(prepared, groups)
    return once if places is None else _placed(once, places)


def _repeated(once: AllGroupings, plan: Plan, sizes: Sequence[int]) -> AllGroupings:
    """The groups of each grouping set as often as it is written: the same numbers, which were measured once.

    Args:
        once: The groups of each set once, and the rest's.
        plan: The statement.
        sizes: How many groups each set has.
    """
    starts = [0, *accumulate(sizes)]
    shown = [*plan.repeats, *range(len(plan.sets or ()), len(sizes))]  # the rest is the last, and stays
    return _placed(once, [place for number in shown for place in range(starts[number], starts[number + 1])])


def _placed(once: AllGroupings, places: Sequence[int]) -> AllGroupings:
    """The groups as rows: of which of them each is."""

    def at(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        plain = {name: listed(column) for name, column in columns.items()}
        return {  # what chooses groups has no value for the rest
            name: [column[place] for place in places if place < len(column)] for name, column in plain.items()
        }

    return AllGroupings(once.groups.take(places), at(once.values), at(once.moved), once.exchanged, places)


def _filled(keys: Sequence[int], own: GroupColumns, width: int) -> Sequence[Sequence[Any]]:
    """Columns of all keys of the statement, None in those that a grouping leaves out."""
    columns: list[Sequence[Any]] = [[None] * len(own)] * width
    for index, column in zip(keys, own.columns, strict=True):
        columns[index] = column
    return columns


def _cut(part: Measured) -> bool:
    """Whether rows or totals are cut anew for each grouping: then the total of all is not the sum of its parts."""
    source = part.request.source
    if part.aggregate.per_group is not None or part.choice.release.need.source != source:
        return True
    return source.capped


def _agreeing(prepared: Prepared, parts: Sequence[Measured], values: Sequence[Any]) -> Sequence[Any]:
    """Least-squares values of an additive aggregate; the values themselves for any other."""
    scales = [scale for part in parts if (scale := part.choice.release.scale)]
    if len(scales) < len(parts):  # some rest on several measurements, or one is exact and public
        return values
    if not FUNCTIONS[parts[0].aggregate.function].additive or any(map(_cut, parts)):
        return values
    if any(part.choice.release.mechanism not in PLAIN for part in parts):
        return values
    from scipy.sparse import coo_matrix, csr_matrix, vstack  # here: a start that needs none of it is quicker
    from scipy.sparse.linalg import lsqr

    sets = [grouping.keys for grouping in prepared.groupings]
    keys = _from_common(sets)
    nested = all(set(own) == set(keys[: len(own)]) for own in sets)
    cells = most_groups_listed(prepared.plan, keys)
    if cells * len(parts) > MOST_ENTRIES or (prepared.plan.combined and cells > MOST_LISTED):
        return values
    numbered = _groups_of_cells(prepared, keys, cells)
    sums: list[csr_matrix] = []
    weights: list[npt.NDArray[np.float64]] = []
    for part, scale in zip(parts, scales, strict=True):
        rows, count = numbered[part.grouping], len(prepared.groupings[part.grouping].groups or ())
        sums.append(coo_matrix((np.ones(cells), (rows, np.arange(cells))), shape=(count, cells)).tocsr())
        weights.append(np.full(count, 1.0 / float(scale)))
    matrix = vstack(sums).tocsr()
    weight = np.concatenate(weights)
    grid = parts[0].request.grid if parts[0].aggregate.function == "sum" else None
    step = Fraction(1) if grid is None else grid.step
    measured = np.array([float(value) for value in values]) / float(step)
    scaled = matrix.multiply(weight[:, None]).tocsr()
    finest = lsqr(scaled, measured * weight, atol=1e-12, btol=1e-12, iter_lim=1000)[0]
    if nested:  # rounded running totals keep every total of neighbouring cells within 1 of its best value
        finest = np.diff(np.round(np.cumsum(finest)), prepend=0.0)
    return [in_unit(int(steps), step) for steps in np.round(matrix @ finest)]


def _groups_of_cells(prepared: Prepared, keys: Sequence[int], cells: int) -> list[npt.NDArray[np.int64]]:
    """For each grouping (cells,) of which of its groups each cell is a part, the cells in the order of their keys."""
    plan, found = prepared.plan, list[npt.NDArray[np.int64]]()
    if plan.combined:
        finest = listed_groups(plan, keys) or ()
        for grouping in prepared.groupings:
            own = {group: number for number, group in enumerate(grouping.groups or ())}
            at = [keys.index(index) for index in grouping.keys]
            found.append(np.array([own[tuple(cell[place] for place in at)] for cell in finest], dtype=np.int64))
        return found
    shape = [len(plan.keys[index].domain or ()) for index in keys]
    coordinates = np.unravel_index(np.arange(cells), shape) if shape else ()
    for grouping in prepared.groupings:
        rows = np.zeros(cells, dtype=np.int64)
        for index in grouping.keys:
            place = keys.index(index)
            rows = rows * shape[place] + coordinates[place]
        found.append(rows)
    return found


def _from_common(sets: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The keys, those of most sets first: where each set lies within the next, all of them begin so."""
    keys = sorted({index for own in sets for index in own})
    return tuple(sorted(keys, key=lambda index: -sum(index in own for own in sets)))
