"""How a policy's metrics come out, for the owner: closest and farthest values, and the noise that each value gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.errors import PolicyError
from dpsql.mechanisms.metric.row_metric import Dimension, RowMetric, build_metrics
from dpsql.owner.finding import Finding, public_columns
from dpsql.plan.types import Type, Value
from dpsql.policy import Policy

__all__ = ["metric_findings", "metrics_of"]


def metric_findings(policy: Policy) -> list[Finding]:
    """Notes on every metric; an error for one that is none. Reads public tables, in a process of its own.

    Raises:
        OperationalError: If they cannot be read.
    """
    try:
        metrics = metrics_of(policy)
    except PolicyError as error:
        return [Finding(None, None, str(error), None, None, "error")]
    return [finding for metric in metrics.values() for finding in _notes(policy, metric)]


def metrics_of(policy: Policy) -> Mapping[str, RowMetric]:
    """The metrics of a policy over the public tables as they are now, read in a process of its own.

    Raises:
        PolicyError: As `build_metrics`.
        OperationalError: If public tables cannot be read.
    """
    return build_metrics(policy, _domains(policy), lambda table, names: public_columns(policy, table, names))


def _domains(policy: Policy) -> Mapping[str, PublicTable]:
    """The public columns that list values of attributes."""
    found: dict[str, dict[str, PublicColumn]] = {}
    for metric in policy.metrics.values():
        for name in metric.attributes:
            source = policy.tables[metric.table].columns[name].values_from
            if source is None:
                continue
            table, _, column = source.partition(".")
            values = {value for value in public_columns(policy, table, [column])[column] if value is not None}
            listed: tuple[Value, ...] = tuple(sorted(values))
            known = PublicColumn(column, Type.TEXT, None, None, listed, nullable=False, multiplicity=1)
            found.setdefault(table, {})[column] = known
    return {name: PublicTable(name, 0, columns) for name, columns in found.items()}


def _notes(policy: Policy, metric: RowMetric) -> Iterator[Finding]:
    limits = {column: Fraction(multiple) for column, multiple in policy.metrics[metric.name].limits.items()}
    what = (
        f"metric {metric.name}: two rows are at most {_number(metric.product.diameter())} apart, which is the plain "
        f"epsilon of an answer at multiple 1; its limits allow epsilon {_number(metric.epsilon_of(limits))} in all."
    )
    yield Finding(metric.table, None, what, None, None, "note")
    for dimension in metric.dimensions:
        yield from _of_dimension(metric, dimension)


def _of_dimension(metric: RowMetric, dimension: Dimension) -> Iterator[Finding]:
    """The closest values, and the noise of the number of rows with one value."""
    pairs = dimension.metric.pairs()
    if pairs is None or not len(pairs):
        return
    # Of each value's nearest one the pair is among these: a value in between would be nearer.
    nearest = np.full(dimension.metric.size, np.iinfo(np.int64).max)
    for ends in (pairs.one, pairs.other):
        np.minimum.at(nearest, ends, pairs.distance)
    closest = int(pairs.distance.argmin())
    one, other = (dimension.values[int(ends[closest])] for ends in (pairs.one, pairs.other))
    least, most = int(nearest.argmax()), int(nearest.argmin())
    smallest, largest = (1 / (int(nearest[value]) * pairs.unit) for value in (least, most))
    noise = f"{_number(smallest)} ({_named(dimension.values[least])}) to {_number(largest)}"
    what = (
        f"metric {metric.name}: {_named(one)} and {_named(other)} are closest, {_number(1 / largest)} apart; the "
        f"farthest are {_number(dimension.metric.diameter())} apart. At multiple 1 the number of rows with one value "
        f"has noise of scale {noise} ({_named(dimension.values[most])}), and so has the number of all others."
        if smallest < largest
        else f"metric {metric.name}: values are {_number(1 / largest)} apart from the closest others, and the farthest "
        f"{_number(dimension.metric.diameter())}. At multiple 1 the number of rows with one value has noise of scale "
        f"{_number(largest)}, and so has the number of all others."
    )
    yield Finding(metric.table, dimension.name, what, None, None, "note")


def _named(value: Value) -> str:
    return "NULL" if value is None else str(value)


def _number(amount: Fraction) -> str:
    return f"{float(amount):.4g}"
