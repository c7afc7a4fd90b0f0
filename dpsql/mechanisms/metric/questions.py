"""From the aggregates of a statement to linear queries over the cells of a metric.

Tests: tests/unit/mechanisms/metric/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.mechanisms.metric import Query
from dpsql.mechanisms.metric.release.cells import CellQuery
from dpsql.mechanisms.metric.rows import CellDomain
from dpsql.mechanisms.noise.mean import centre_of
from dpsql.plan.grids import grid_of
from dpsql.plan.nodes import Aggregate, Expression
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Grid, Value

__all__ = ["Groups", "Question", "grouped", "image", "question"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Groups:
    """What rows are grouped by.

    Attributes:
        numbers: The number of each cell's group.
        listed: 1 where the cell's group is listed.
        size: Number of groups.
    """

    numbers: Integers
    listed: Integers
    size: int


def grouped(cells: CellDomain, keys: Sequence[Key]) -> Groups:
    """The groups of some keys, all of which list their values."""
    one = cells.product([])
    numbers, listed, size = 0 * one, one, 1
    for key in keys:
        if key.domain is None:
            raise InvariantBroken("a key under a metric that does not list its values")
        values = cells.values(key.expression)
        place = {value: number for number, value in enumerate(key.domain)}
        flat = [place.get(value, -1) for value in values.ravel()]
        own = np.array(flat, dtype=np.int64).reshape(values.shape)
        cells.require_few(numbers, listed, own)
        numbers = numbers * len(key.domain) + np.maximum(own, 0)
        listed = listed * (own >= 0)
        size *= len(key.domain)
    return Groups(numbers, listed, size)


def image(values: npt.NDArray[np.object_]) -> tuple[Value, ...]:
    """The different values, in order, NULL last."""
    found: list[Any] = sorted({value for value in values.ravel() if value is not None})
    return (*found, *([None] if any(value is None for value in values.ravel()) else []))


@dataclass(frozen=True, slots=True)
class Question:
    """One aggregate over one grouping, as linear queries.

    Attributes:
        queries: COUNT, SUM and MODE have one; AVG has a centred sum and a count.
        grid: Of SUM and AVG.
        centre: AVG: in grid steps.
        candidates: MODE: what it can answer; the query's groups are (group, candidate).
    """

    queries: tuple[CellQuery, ...]
    grid: Grid | None = None
    centre: int = 0
    candidates: tuple[Value, ...] = ()


def question(cells: CellDomain, counted: Integers, aggregate: Aggregate, groups: Groups) -> Question:
    """The linear queries of an aggregate.

    Args:
        cells: The domain.
        counted: 1 where a row counts.
        aggregate: What is asked.
        groups: Of which groups.

    Raises:
        UnsupportedQuery: If it is no linear query.
    """
    ask = FUNCTIONS.get(aggregate.function)
    if ask is None or aggregate.epsilon is not None or aggregate.per_group is not None:
        raise UnsupportedQuery(
            "a metric prices COUNT(*), COUNT(x), SUM(x), AVG(x) and MODE(x), with contribution_bounds_per_row at most.",
            construct=aggregate.text,
            position=aggregate.position,
            hint="Ask for others at a price in epsilon.",
        )
    return ask(_Asked(cells, counted, aggregate, groups))


@dataclass(frozen=True, slots=True)
class _Asked:
    cells: CellDomain
    counted: Integers
    aggregate: Aggregate
    groups: Groups

    def query(self, *factors: Integers) -> CellQuery:
        """The query that adds the product of the factors where a row counts."""
        adds = self.cells.product([self.counted, self.groups.listed, *factors])
        self.cells.require_few(adds, self.groups.numbers)
        groups = self.groups.numbers if self.groups.size > 1 else None
        return CellQuery(Query.of(adds, groups), self.groups.size)

    def argument(self) -> tuple[Expression, npt.NDArray[np.object_], Integers]:
        """The argument, its values, and 1 where there is one."""
        argument = self.aggregate.argument
        if argument is None:
            raise InvariantBroken("an aggregate of values without an argument")
        values = self.cells.values(argument)
        there = [int(not _nothing(value)) for value in values.ravel()]
        return argument, values, np.array(there, dtype=np.int64).reshape(values.shape)

    def steps(self) -> tuple[Grid, Integers, Integers]:
        """The argument on its grid, 0 where there is none, and 1 where there is one."""
        argument, values, there = self.argument()
        known = [value for value in values.ravel() if not _nothing(value)]
        grid = _grid(argument.facts, known, self.aggregate)
        flat = [0 if _nothing(value) else _on_grid(value, grid) for value in values.ravel()]
        return grid, np.array(flat, dtype=np.int64).reshape(values.shape), there


def _count_rows(asked: _Asked) -> Question:
    return Question((asked.query(),))


def _count(asked: _Asked) -> Question:
    return Question((asked.query(asked.argument()[2]),))


def _sum(asked: _Asked) -> Question:
    grid, steps, _ = asked.steps()
    return Question((asked.query(steps),), grid)


def _avg(asked: _Asked) -> Question:
    grid, steps, there = asked.steps()
    centre = centre_of(grid, asked.argument()[0].facts)
    return Question((asked.query((steps - centre) * there), asked.query(there)), grid, centre)


def _mode(asked: _Asked) -> Question:
    _, values, there = asked.argument()
    candidates = tuple(value for value in image(values) if value is not None)
    if len(candidates) < 2:
        raise UnsupportedQuery(
            "it can take one value only.", construct=asked.aggregate.text, position=asked.aggregate.position,
            hint="There is nothing to ask.",
        )  # fmt: skip
    place = {value: number for number, value in enumerate(candidates)}
    flat = [place.get(value, 0) for value in values.ravel()]
    chosen = np.array(flat, dtype=np.int64).reshape(values.shape)
    asked.cells.require_few(asked.groups.numbers, chosen)
    groups = replace(
        asked.groups,
        numbers=asked.groups.numbers * len(candidates) + chosen,
        size=asked.groups.size * len(candidates),
    )
    return Question((replace(asked, groups=groups).query(there),), candidates=candidates)


FUNCTIONS: Mapping[str, Callable[[_Asked], Question]] = {
    "count_rows": _count_rows,
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "mode": _mode,
}
"""How each aggregate becomes linear queries."""


def _nothing(value: Any) -> bool:
    """NULL, and what is no number though of a number's type."""
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _grid(facts: Facts, known: Sequence[Any], aggregate: Aggregate) -> Grid:
    """The grid of the values that occur among the cells, within the analyst's own bounds."""
    if not facts.type.numeric or not known:
        raise UnsupportedQuery(
            "its argument is no number in any cell.", construct=aggregate.text, position=aggregate.position,
            hint="Write an expression over the metric's attributes that has values.",
        )  # fmt: skip
    low, high = Fraction(min(known)), Fraction(max(known))
    if aggregate.bounds is not None:
        low, high = (min(max(end, aggregate.bounds[0]), aggregate.bounds[1]) for end in (low, high))
    grid = grid_of(replace(facts, low=low, high=high))
    if grid is None:
        raise UnsupportedQuery(
            "its values are too large to be added up exactly.", construct=aggregate.text, position=aggregate.position,
            hint="Divide them by a power of ten.",
        )  # fmt: skip
    return grid


def _on_grid(value: Any, grid: Grid) -> int:
    """The nearest step to a number, halves away from zero, within the grid's ends; all in integers."""
    above, below = map(int, value.as_integer_ratio())
    step = below * grid.step.numerator  # of the value's size times the step's denominator
    nearest = (2 * abs(above) * grid.step.denominator + step) // (2 * step)
    return min(max(nearest if above >= 0 else -nearest, grid.low), grid.high)
