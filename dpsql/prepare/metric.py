"""From a plan to what would be done under a metric: linear queries, their noise, one count of cells, the price.

Everything here rests on public facts: the policy, the statement, public tables. Nothing has been charged or read.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.engine.lower import Lower
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.limits import MOST_LISTED
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import Choice
from dpsql.mechanisms.metric.mechanism import Part, linear_offers
from dpsql.mechanisms.metric.questions import Groups, grouped, question
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.mechanisms.metric.rows import CellDomain, read_rows
from dpsql.plan.catalog import Catalog
from dpsql.plan.domains import Evaluate
from dpsql.plan.needs import Cells as CellsNeed
from dpsql.plan.options import Options
from dpsql.plan.plans import Plan
from dpsql.plan.relations import origins
from dpsql.prepare import Grouping, Measured, Prepared, Reading
from dpsql.prepare.sources import check_unit

__all__ = ["prepare_metric", "priced_by_metric"]

READ = frozenset({"mechanism", "metric", "multiple", "confidence", "privacy_unit_column"})
"""The options that a statement under a metric reads: the protected thing is one row, so no cap bounds a person's."""


def priced_by_metric(options: Options) -> bool:
    """Whether a statement's price is a multiple of a metric."""
    return options.mechanism == "metric" or options.metric is not None or options.multiple is not None


def prepare_metric(
    plan: Plan,
    options: Options,
    catalog: Catalog,
    metrics: Mapping[str, RowMetric],
    evaluate: Evaluate,
    public: PublicRows,
    lower: Lower,
) -> Prepared:
    """The linear queries of a plan, with noise, and their price.

    Args:
        plan: What is asked.
        options: In force for this statement.
        catalog: Tables and neighbours.
        metrics: The policy's, by name.
        evaluate: Runs expressions over public values.
        public: Reads public tables.
        lower: How what is needed becomes the engine's statement.

    Raises:
        UnsupportedQuery: If something is no linear query over the metric's attributes.
        ProgrammingError: Options that do not fit this statement.
    """
    check_unit(plan.relation, options)
    metric, multiple = _price(options, metrics)
    rows = read_rows(plan.relation, metric)
    _refuse_banned(plan)
    arguments = [aggregate.argument for aggregate in plan.aggregates if aggregate.argument is not None]
    cells = CellDomain(metric, rows, [*arguments, *(key.expression for key in plan.keys)], evaluate, public)
    counted = cells.counted()
    sets = plan.sets if plan.sets is not None else (tuple(range(len(plan.keys))),)
    groups = [grouped(cells, [plan.keys[index] for index in keys]) for keys in sets]
    groupings = tuple(_grouping(keys, own) for keys, own in zip(sets, groups, strict=True))
    about = rows.scan.table.rows_about
    parts = [
        Part(at, aggregate, question(cells, counted, aggregate, own), max(1, about // max(1, own.size)))
        for at, own in enumerate(groups)
        for aggregate in plan.aggregates
    ]
    found = linear_offers(metric, multiple, rows, cells, parts)
    columns = (*found.need.source.key_names, "m0")
    measured = [
        Measured(part.aggregate, _request(part, found.need, catalog), Choice(offer, ()), 0, columns, part.grouping)
        for part, offer in zip(parts, found.offers, strict=True)
    ]
    return Prepared(
        plan=_listed(plan, groups),
        options=options,
        measured=tuple(measured),
        selection=None,
        groupings=groupings,
        readings=(Reading(found.need, lower(found.need)),),
        loss=found.loss,
        meaning=found.meaning,
        read=READ,
    )


def _listed(plan: Plan, groups: Sequence[Groups]) -> Plan:
    """The same plan, every key with the values that are listed of it."""
    listed = {key.name: key for own in groups for key in own.keys}
    return replace(plan, keys=tuple(listed.get(key.name, key) for key in plan.keys))


def _price(options: Options, metrics: Mapping[str, RowMetric]) -> tuple[RowMetric, Fraction]:
    """The metric and the multiple of it that a statement costs."""
    names = ", ".join(metrics) or "none"
    if options.mechanism not in (None, "metric"):
        raise ProgrammingError(
            f"metric and multiple price a statement of mechanism 'metric', not '{options.mechanism}'. Leave one out."
        )
    if options.metric is None:
        raise ProgrammingError(f"mechanism 'metric' needs a metric. Write metric = NAME; the policy has {names}.")
    metric = next((own for name, own in metrics.items() if name.lower() == options.metric), None)
    if metric is None:
        raise ProgrammingError(f"There is no metric {options.metric}. The policy has {names}.")
    if options.multiple is None:
        raise ProgrammingError(
            f"A statement under metric {metric.name} is priced by a multiple of it. Write multiple = 0.5, for example."
        )
    if options.epsilon is not None or options.rho is not None:
        raise ProgrammingError("multiple is the whole price of a statement under a metric. Leave epsilon and rho out.")
    return metric, options.multiple


def _refuse_banned(plan: Plan) -> None:
    """The owner's bans hold for the columns behind the argument of each aggregate, as for every mechanism."""
    for aggregate in plan.aggregates:
        argument = aggregate.argument
        for column, _ in () if argument is None else origins(plan.relation, argument):
            if "metric" in column.banned:
                raise UnsupportedQuery(
                    f"the policy bans mechanism 'metric' for {column.name}.",
                    construct=aggregate.text,
                    position=aggregate.position,
                    hint="Ask at a price in epsilon.",
                )


def _grouping(keys: tuple[int, ...], groups: Groups) -> Grouping:
    if groups.size > MOST_LISTED:
        raise UnsupportedQuery(
            f"there are {groups.size:,} groups, more than {MOST_LISTED:,}.",
            construct="GROUP BY",
            hint="Group by fewer keys, or by coarser ones.",
        )
    return Grouping(keys, tuple(itertools.product(*(key.domain or () for key in groups.keys))))


def _request(part: Part, need: CellsNeed, catalog: Catalog) -> Request:
    """What was asked, as every measurement keeps it; nothing is chosen by it."""
    return Request(
        aggregate=part.aggregate,
        source=need.source,
        price=Price(None, Fraction(0)),
        neighbours=catalog.neighbours,
        grid=part.question.grid,
        selects=False,
        rows_public=False,
        rows_about=part.rows_about,
    )
