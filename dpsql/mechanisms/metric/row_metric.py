"""The policy's metrics as mathematics: the values of each attribute, and how far apart they are."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from dpsql.engine.base import PublicTable
from dpsql.errors import PolicyError
from dpsql.mechanisms.metric import (
    Chain,
    Discrete,
    DistanceThreshold,
    Edge,
    Metric,
    MetricError,
    Points,
    Product,
    Smooth,
    Star,
    Table,
    Tree,
    WithNull,
)
from dpsql.plan.types import Value
from dpsql.policy import ColumnPolicy, Policy
from dpsql.policy.metrics import Attribute, declared_values, universe_name
from dpsql.policy.metrics import MetricPolicy as Declared

__all__ = ["Dimension", "PublicRows", "RowMetric", "build_metrics"]

MOST_VALUES = 1_000_000
"""How many values one attribute may have: arrays of so many stay small. A guess."""
FARTHEST = 2**29  # Grid steps of a coordinate from 0: the most that `Points` takes.

PublicRows = Callable[[str, Sequence[str]], Mapping[str, Sequence[Value]]]
"""Whole columns of a public table, by name."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One attribute of a metric.

    Attributes:
        name: Its column.
        values: Its values in the metric's order; None (NULL) last where that is a value of its own.
        metric: The distances between them.
        otherwise: What NULL, and a value outside the domain, counts as; None where NULL is a value of its own.
    """

    name: str
    values: Sequence[Value]
    metric: Metric
    otherwise: Value


@dataclass(frozen=True, slots=True)
class RowMetric:
    """How far apart two rows of one table are.

    Attributes:
        name: The policy's name of it.
        table: Whose rows.
        universe: The table of the bounded file that holds them.
        dimensions: Its attributes, in order.
        product: The distances between rows.
        listed: A digest of the values whose places decide distances and that public tables list, in their order; ''
            where there are none, so that the policy alone says how far apart rows are.
    """

    name: str
    table: str
    universe: str
    dimensions: tuple[Dimension, ...]
    product: Product
    listed: str = ""

    @property
    def one_number(self) -> bool:
        """Whether the ledger counts one multiple of it, rather than one for each attribute."""
        return self.product.combine != "sum"

    def epsilon_of(self, multiples: Mapping[str, Fraction]) -> Fraction:
        """The plain epsilon that some multiples of its columns amount to, for the two rows that are farthest apart."""
        if self.one_number:
            return multiples.get("", Fraction(0)) * self.product.diameter()
        each = [multiples.get(own.name, Fraction(0)) * own.metric.diameter() for own in self.dimensions]
        widest = sum(each, Fraction(0))
        if self.product.presence is None:
            return widest
        there = multiples.get("presence", Fraction(0)) * self.product.presence
        return max(there, min(widest, 2 * there))


def build_metrics(policy: Policy, public: Mapping[str, PublicTable], rows: PublicRows) -> dict[str, RowMetric]:
    """The metrics of a policy, checked.

    Args:
        policy: The owner's promises.
        public: What the builder found of each public table.
        rows: Reads public tables, for coordinates.

    Raises:
        PolicyError: If a metric is none, or does not fit the values; names the values that show it.
    """
    return {name: _row_metric(policy, name, metric, public, rows) for name, metric in policy.metrics.items()}


def _row_metric(
    policy: Policy, name: str, declared: Declared, public: Mapping[str, PublicTable], rows: PublicRows
) -> RowMetric:
    columns = policy.tables[declared.table].columns
    dimensions = []
    for attribute, described in declared.attributes.items():
        place = ("metrics", name, "attributes", attribute)
        values = _values(policy, columns[attribute], public, place)
        names: list[Value] = [*values]
        try:
            dimensions.append(_dimension(policy, attribute, described, columns[attribute], values, rows, names))
        except MetricError as error:
            raise _refused(policy, place, error.named(names)) from None
    presence = None if declared.presence is None else Fraction(declared.presence)
    product = Product(tuple(dimension.metric for dimension in dimensions), declared.combine, presence)
    listed = _listed(declared, columns, dimensions)
    return RowMetric(name, declared.table, universe_name(declared.table, name), tuple(dimensions), product, listed)


def _listed(declared: Declared, columns: Mapping[str, ColumnPolicy], dimensions: Sequence[Dimension]) -> str:
    """The digest of what public tables list for attributes that go by places of values."""
    found = [
        (own.name, tuple(own.values))
        for own in dimensions
        if columns[own.name].values_from is not None and declared.attributes[own.name].by_place(columns[own.name])
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest() if found else ""


def _refused(policy: Policy, place: tuple[str | int, ...], problem: str) -> PolicyError:
    return PolicyError(f"{policy.located(*place)}: {'.'.join(map(str, place))}: {problem}")


def _values(
    policy: Policy, column: ColumnPolicy, public: Mapping[str, PublicTable], place: tuple[str | int, ...]
) -> Sequence[Value]:
    """Every value of a column in order, NULL left out."""
    values: Sequence[Value] | None = declared_values(column)
    if values is None and column.values_from is not None:
        table, _, name = column.values_from.partition(".")
        values = public[table].columns[name].values
    if values is None or len(values) > MOST_VALUES:
        raise _refused(policy, place, f"its domain is too large for a metric; declare at most {MOST_VALUES:,} values.")
    if not values:
        raise _refused(policy, place, "the public table lists no value for it; fill the table.")
    return values


def _dimension(
    policy: Policy,
    name: str,
    described: Attribute,
    column: ColumnPolicy,
    values: Sequence[Value],
    rows: PublicRows,
    names: list[Value],
) -> Dimension:
    outside: Value = described.outside
    if outside is not None and outside not in values:
        raise MetricError(f"{outside} is no value of the column; write one of its values at outside.")
    metric = KINDS[described.kind](_Described(policy, described, column, values, rows, names))
    if not described.null_apart(column):
        return Dimension(name, values, metric, values[0] if outside is None else outside)
    far = described.missing if described.missing is not None else described.epsilon
    return Dimension(name, (*values, None), WithNull(metric, _fraction(far)), None)


# -------------------------------------------------------------------------------------------- from words to numbers


@dataclass(frozen=True, slots=True)
class _Described:
    """What one attribute's metric is made from.

    Attributes:
        policy: For the keys of public tables.
        words: The policy's description.
        column: The attribute's column.
        values: Its values, NULL left out.
        rows: Reads public tables.
        names: What messages call the numbered values; a graph adds its inner nodes.
    """

    policy: Policy
    words: Attribute
    column: ColumnPolicy
    values: Sequence[Value]
    rows: PublicRows
    names: list[Value]

    @property
    def epsilon(self) -> Fraction:
        return _fraction(self.words.epsilon)

    def number(self, value: Value) -> int:
        """The number of a value that the policy names."""
        if value not in self.values:
            raise MetricError(f"{value} is no value of the column; write one of its values.")
        return self.values.index(value)

    def positions(self) -> list[Fraction]:
        """Where the values lie: numbers and days where they are, listed words one step apart."""
        if self.column.type in ("integer", "date"):
            return [Fraction(v.toordinal() if isinstance(v, date) else v) for v in self.values]  # type: ignore[arg-type]  # integers
        if self.column.values_from is not None:
            raise MetricError(
                "a public table lists words in no order; list values: [...] in the policy, in their order."
            )
        return [Fraction(place) for place in range(len(self.values))]


def _fraction(number: Any) -> Fraction:
    return Fraction(number)


def _discrete(about: _Described) -> Metric:
    return Discrete(len(about.values), about.epsilon)


def _chain(about: _Described) -> Metric:
    gaps = about.words.gaps
    if gaps is None:
        return Chain.at(about.positions(), about.epsilon)
    about.positions()  # words of a public table have no order
    if len(gaps) != len(about.values) - 1:
        raise MetricError(
            f"{len(about.values)} values have {len(about.values) - 1} gaps between them, not {len(gaps)}."
        )
    return Chain.of([Fraction(gap) for gap in gaps])


def _star(about: _Described) -> Metric:
    parts = {about.number(value): Fraction(part) for value, part in about.words.parts or ()}
    for number in range(len(about.values)):
        if number not in parts:
            raise MetricError("{0} has no part; write one for every value.", number)
    return Star.of([parts[number] for number in range(len(about.values))])


def _tree(about: _Described) -> Metric:
    """A tree of values; where some nodes are no values, the distances between those that are."""
    size, edges = _edges(about)
    tree = Tree.of(size, edges)
    return tree if size == len(about.values) else _between_values(about, size, edges)


def _graph(about: _Described) -> Metric:
    """Shortest paths; nodes that are no values lie between them."""
    return _between_values(about, *_edges(about))


def _edges(about: _Described) -> tuple[int, list[Edge]]:
    """How many nodes there are, values first, and the edges between their numbers; messages know all nodes by name."""
    place: dict[Value, int] = {value: number for number, value in enumerate(about.values)}
    edges = []
    for one, other, length in about.words.edges or ():
        ends = [place.setdefault(node, len(place)) for node in (one, other)]
        edges.append((ends[0], ends[1], Fraction(length)))
    about.names[:] = place
    return len(place), edges


def _between_values(about: _Described, size: int, edges: list[Edge]) -> Table:
    return Table.of_graph(size, edges).among(range(len(about.values)))


def _matrix(about: _Described) -> Metric:
    rows = [[Fraction(cell) for cell in row] for row in about.words.distances or ()]
    if len(rows) != len(about.values):
        raise MetricError(
            f"the table has {len(rows)} rows for {len(about.values)} values; write one for each, in order."
        )
    return Table.of(rows)


def _threshold(about: _Described) -> Metric:
    return DistanceThreshold.at(about.positions(), _fraction(about.words.within), about.epsilon)


def _smooth(about: _Described) -> Metric:
    return Smooth.at(about.positions(), _fraction(about.words.within), about.epsilon)


def _euclidean(about: _Described) -> Metric:
    """The straight line between points; coordinates are rounded to the finest power of ten that leaves them exact."""
    of = about.words.of or ()
    table, names = of[0].partition(".")[0], [full.partition(".")[2] for full in of]
    key = str(about.policy.tables[table].key_column)
    columns = about.rows(table, [key, *names])
    found = dict(zip(columns[key], zip(*(columns[name] for name in names), strict=True), strict=True))
    points = []
    for number, value in enumerate(about.values):
        point = found.get(value, (None,))
        if not all(isinstance(x, int | float) and math.isfinite(x) for x in point):
            raise MetricError(f"{{0}} has no coordinates in {table}; write them there, or leave the value out.", number)
        points.append([Fraction(x) for x in point])
    step = _finest(max((abs(x) for point in points for x in point), default=Fraction(0)))
    return Points.of([[round(x / step) for x in point] for point in points], about.epsilon * step)


def _finest(largest: Fraction) -> Fraction:
    """The finest power of ten, at most 1e-9, of which the largest coordinate has no more than 2^29."""
    step = Fraction(1, 10**9)
    while largest / step > FARTHEST:
        step *= 10
    return step


KINDS: Mapping[str, Callable[[_Described], Metric]] = {
    "discrete": _discrete,
    "chain": _chain,
    "star": _star,
    "tree": _tree,
    "graph": _graph,
    "matrix": _matrix,
    "threshold": _threshold,
    "smooth": _smooth,
    "euclidean": _euclidean,
}
"""How each kind of the policy becomes a metric."""
