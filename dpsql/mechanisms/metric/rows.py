"""What a statement says of one row: its tables, conditions and expressions over the public domain of a metric.

A row is a cell: one value for each attribute of the metric. Public tables are looked up by their key, so that each of
their columns is a function of an attribute. Every condition, key and argument is computed for all cells that it can
tell apart, before anything is charged, by the worker that holds no data. Private rows are only ever counted by cell.

Tests: tests/unit/mechanisms/metric/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.metric.merged import Merged, merged
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.plan.known.relations import conjuncts, is_public, private_scans
from dpsql.plan.measured.domains import Evaluate
from dpsql.plan.nodes import Column, Expression, Filter, Join, Relation, Scan
from dpsql.plan.types import Value
from dpsql.plan.values.expressions import columns_of

__all__ = ["MOST_CELLS", "CellDomain", "Lookup", "MetricRows", "read_rows"]

MOST_EVALUATED = 2**20
"""Cells that one expression is computed for. It is a choice between fine domains and the time for them."""
MOST_CELLS = 2**20  # Cells that a statement tells apart. It is a choice between fine domains and the time for them.

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table, joined on its key.

    Attributes:
        on: The column that is looked up.
        table: The public table.
        outer: Whether rows without a partner stay.
    """

    on: Column
    table: Scan
    outer: bool


@dataclass(frozen=True, slots=True)
class MetricRows:
    """The rows of a statement.

    Attributes:
        scan: The private table.
        conditions: What must be true of a row that counts.
        lookups: Public tables, each after those that it is looked up by.
    """

    scan: Scan
    conditions: tuple[Expression, ...]
    lookups: tuple[Lookup, ...]


def read_rows(relation: Relation, metric: RowMetric) -> MetricRows:
    """A relation as rows of one private table.

    Raises:
        UnsupportedQuery: If it is more than that, or another table.
    """
    names = [scan.table.name for scan in private_scans(relation)]
    if names != [metric.table]:
        raise UnsupportedQuery(
            f"metric {metric.name} is one of the rows of {metric.table}, not of {', '.join(names)}.",
            construct="FROM",
            hint=f"Select from {metric.table} alone, joined with public tables on their key.",
        )
    return _read(relation)


def _read(relation: Relation) -> MetricRows:
    match relation:
        case Scan():
            return MetricRows(relation, (), ())
        case Filter():
            inner = _read(relation.input)
            return MetricRows(inner.scan, (*inner.conditions, *conjuncts(relation.predicate)), inner.lookups)
        case Join():
            return _joined(relation)
        case _:
            raise UnsupportedQuery(
                "under a metric a statement reads rows as they are.",
                construct="sub-query",
                hint="Write one SELECT over the table, with WHERE, and joins with public tables on their key.",
            )


def _joined(join: Join) -> MetricRows:
    private, public = (join.right, join.left) if is_public(join.left) else (join.left, join.right)
    conditions: tuple[Expression, ...] = ()
    while isinstance(public, Filter):
        conditions = (*conditions, *conjuncts(public.predicate))
        public = public.input
    if not isinstance(public, Scan) or join.on or (join.outer and conditions):
        raise _no_lookup("it is not one public table, joined on its key and nothing else")
    keys = [(a, b) if b.alias == public.alias else (b, a) for a, b in join.equal]
    on = [left for left, right in keys if right.name == public.table.key]
    if len(keys) != 1 or not on or public.table.columns[keys[0][1].name].multiplicity > 1:
        raise _no_lookup(f"{public.table.name} is not joined on its key {public.table.key} alone")
    if on[0].facts.type is not keys[0][1].facts.type or on[0].facts.type.value == "real":
        raise _no_lookup(f"{on[0].name} and {keys[0][1].name} are not of one type")
    inner = _read(private)
    lookup = Lookup(on[0], public, join.outer)
    return MetricRows(inner.scan, (*inner.conditions, *conditions), (*inner.lookups, lookup))


def _no_lookup(problem: str) -> UnsupportedQuery:
    return UnsupportedQuery(
        f"under a metric a join must give each row one partner at most: {problem}.",
        construct="JOIN",
        hint="Join public tables on their declared key, and put other conditions into WHERE.",
    )


class CellDomain:
    """The cells of a metric's domain, and what a statement's expressions are there.

    Arrays have one axis for each attribute, of length 1 where the attribute does not matter.

    Two values of an attribute on which all of the statement's expressions agree count as one value (`merged`).

    Args:
        metric: The metric.
        rows: The statement's rows.
        asked: Keys and arguments; conditions are the rows'.
        evaluate: Runs expressions over public values.
        public: Reads public tables.

    Attributes:
        space: The metric of the cells.
        numbers: For each attribute the number that each of its values has here.
    """

    def __init__(
        self, metric: RowMetric, rows: MetricRows, asked: Sequence[Expression], evaluate: Evaluate, public: PublicRows
    ) -> None:
        self._metric = metric
        self._rows = rows
        self._evaluate = evaluate
        self._public = public
        self._axes = {dimension.name: axis for axis, dimension in enumerate(metric.dimensions)}
        self._lookups = {lookup.table.alias: lookup for lookup in rows.lookups}
        self._partners: dict[str, dict[Value, int]] = {}
        wanted = [*rows.conditions, *asked, *(lookup.on for lookup in rows.lookups)]
        self._values = {expression: self._computed(expression) for expression in wanted}
        found = [merged(own.metric, self._along(axis)) for axis, own in enumerate(metric.dimensions)]
        self.space = replace(metric.product, attributes=tuple(own.metric for own in found))
        self.numbers = [
            dict(zip(dimension.values, own.place, strict=True))
            for dimension, own in zip(metric.dimensions, found, strict=True)
        ]
        self._values = {expression: _at(values, found) for expression, values in self._values.items()}

    def _along(self, axis: int) -> list[Objects]:
        """All that depends on an attribute, one line for each of its values."""
        arrays = [values for values in self._values.values() if values.shape[axis] > 1]
        return [np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1) for values in arrays]

    def counted(self) -> npt.NDArray[np.int64]:
        """1 where a row counts: every condition is true, and every inner join has its partner."""
        factors = [self.true(condition) for condition in self._rows.conditions]
        factors += [self._present(lookup) for lookup in self._rows.lookups if not lookup.outer]
        return self.product(factors)

    def true(self, condition: Expression) -> npt.NDArray[np.int64]:
        """1 where a condition is true, 0 where it is false or NULL."""
        return self._mapped(self.values(condition), lambda value: int(value is True))

    def product(self, factors: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
        """The product of factors, over the cells that they tell apart together.

        Raises:
            UnsupportedQuery: If these are too many.
        """
        result = np.ones((1,) * len(self._axes), dtype=np.int64)
        for factor in factors:
            self.require_few(result, factor)
            result = result * factor
        return result

    def require_few(self, *arrays: npt.NDArray[Any]) -> None:
        """Refuses arrays that tell too many cells apart together."""
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        if math.prod(shape) > MOST_CELLS:
            raise self._too_many(math.prod(shape), MOST_CELLS, [axis for axis, n in enumerate(shape) if n > 1])

    def values(self, expression: Expression) -> Objects:
        """An expression's value in each cell."""
        return self._values[expression]

    def _computed(self, expression: Expression) -> Objects:
        """An expression's value for all values of its attributes.

        Raises:
            UnsupportedQuery: If it names what is no attribute, or too many cells.
        """
        columns = columns_of(expression)
        places = [self._axis(column) for column in columns]
        axes = sorted(set(places))
        sizes = [len(self._metric.dimensions[axis].values) for axis in axes]
        if math.prod(sizes) > MOST_EVALUATED:
            raise self._too_many(math.prod(sizes), MOST_EVALUATED, axes)
        shape = [1] * len(self._axes)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        if isinstance(expression, Column):
            return _objects(self._column(expression), shape)
        known = [self._column(column) for column in columns]
        at = [axes.index(place) for place in places]
        cells = [
            tuple(values[cell[place]] for values, place in zip(known, at, strict=True))
            for cell in product(*map(range, sizes))
        ]
        return _objects([value for (value,) in self._evaluate([expression], columns, cells)], shape)

    def _axis(self, column: Column) -> int:
        """The one attribute that a column depends on."""
        lookup = self._lookups.get(column.alias)
        if lookup is not None:
            return self._axis(lookup.on)
        axis = self._axes.get(column.name)
        if axis is None:
            raise UnsupportedQuery(
                f"it is no attribute of metric {self._metric.name}, which does not say how far its values are apart.",
                construct=column.name,
                hint=f"The metric has {', '.join(self._axes)}; ask for other columns at a price in epsilon.",
            )
        return axis

    def _column(self, column: Column) -> Sequence[Value]:
        """The column's value for each value of the attribute that it depends on."""
        lookup = self._lookups.get(column.alias)
        if lookup is None:
            return self._metric.dimensions[self._axis(column)].values
        found = self._public(lookup.table.table.name, [column.name])[column.name]
        partners = self._partner(lookup)
        return [None if value not in partners else found[partners[value]] for value in self._column(lookup.on)]

    def _partner(self, lookup: Lookup) -> dict[Value, int]:
        """The row of a public table for each value of its key; NULL has none."""
        alias, key = lookup.table.alias, str(lookup.table.table.key)
        if alias not in self._partners:
            keys = self._public(lookup.table.table.name, [key])[key]
            self._partners[alias] = {value: place for place, value in enumerate(keys) if value is not None}
        return self._partners[alias]

    def _present(self, lookup: Lookup) -> npt.NDArray[np.int64]:
        partners = self._partner(lookup)
        return self._mapped(self.values(lookup.on), lambda value: int(value in partners))

    @staticmethod
    def _mapped(values: Objects, function: Any) -> npt.NDArray[np.int64]:
        """The function of each value."""
        flat = [function(value) for value in values.ravel()]
        return np.array(flat, dtype=np.int64).reshape(values.shape)

    def _too_many(self, cells: int, most: int, axes: Sequence[int]) -> UnsupportedQuery:
        names = ", ".join(self._metric.dimensions[axis].name for axis in axes)
        return UnsupportedQuery(
            f"{names} have {cells:,} combinations of values together, more than {most:,}.",
            construct="metric",
            hint="Name fewer columns in one condition, or in the statement; or declare fewer values.",
        )


def _at(values: Objects, found: Sequence[Merged]) -> Objects:
    """The values at those that are kept."""
    for axis, own in enumerate(found):
        if values.shape[axis] > 1:
            values = np.take(values, own.kept, axis=axis)
    return values


def _objects(values: Sequence[Value], shape: Sequence[int]) -> Objects:
    """Python values as an array."""
    flat = np.empty(len(values), dtype=object)
    flat[:] = list(values)
    return flat.reshape(shape)
