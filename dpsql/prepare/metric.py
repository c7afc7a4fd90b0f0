"""From a plan to what would be done under a metric: linear queries, their noise, one count of cells, the price.

Everything here rests on public facts: the policy, the statement, public tables. Nothing has been charged or read.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from dpsql.engine.lower import Lower
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.limits import MOST_LISTED
from dpsql.mechanisms.base import Offer, Price, Request
from dpsql.mechanisms.choice.mode import ModeRelease, PermuteAndFlip
from dpsql.mechanisms.choose import Choice
from dpsql.mechanisms.metric import Product
from dpsql.mechanisms.metric.questions import Groups, Question, grouped, question
from dpsql.mechanisms.metric.release.cells import CellQuery, Domain
from dpsql.mechanisms.metric.release.cells_release import CellsRelease, as_candidates, as_columns
from dpsql.mechanisms.metric.release.exact import ExactRelease
from dpsql.mechanisms.metric.release.noise import BranchNoise, GroupNoise
from dpsql.mechanisms.metric.release.scales import Noise, Shared, share_price, share_price_best
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.mechanisms.metric.rows import CellDomain, MetricRows, read_rows
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanQuery, MeanRelease, deviation_of
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.sensitivity import Sensitivity
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.domains import Evaluate
from dpsql.plan.needs import Aggregates, Contribution, Source, Values
from dpsql.plan.needs import Cells as CellsNeed
from dpsql.plan.nodes import Aggregate, Column, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key, Plan
from dpsql.plan.relations import origins
from dpsql.plan.types import Facts
from dpsql.prepare import Grouping, Measured, Prepared, Reading
from dpsql.prepare.sources import check_unit
from dpsql.privacy.kinds import Free, Loss, MetricLoss

__all__ = ["prepare_metric", "priced_by_metric"]

MOST_COUNTED = 2**21
"""How many combinations of values rows are counted for. A guess."""

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
    asked = [
        (at, aggregate, question(cells, counted, aggregate, own))
        for at, own in enumerate(groups)
        for aggregate in plan.aggregates
    ]
    queries = [query for _, _, own in asked for query in own.queries]
    need = _need(rows, metric, queries)
    domain = _domain(cells, need)
    shared = _shared(queries, asked, metric, cells.space, multiple)
    left, measured = iter(shared.noises), []
    for at, aggregate, own in asked:
        noise = [next(left) for _ in own.queries]
        about = max(1, rows.scan.table.rows_about // max(1, groups[at].size))
        release = _release(own, aggregate, noise, need, domain, metric, about)
        request = _request(aggregate, need, catalog, own, about)
        columns = (*need.source.key_names, "m0")
        measured.append(Measured(aggregate, request, Choice(release, ()), 0, columns, grouping=at))
    keys = list(plan.keys)
    for listed in groups:
        for key in listed.keys:
            keys[[known.name for known in keys].index(key.name)] = key
    return Prepared(
        plan=replace(plan, keys=tuple(keys)),
        options=options,
        measured=tuple(measured),
        selection=None,
        groupings=groupings,
        readings=(Reading(need, lower(need)),),
        loss=_loss(metric, shared.multiples),
        meaning=_meaning(cells, queries, asked),
        read=READ,
    )


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


# ------------------------------------------------------------------------------------------------- what is read


def _need(rows: MetricRows, metric: RowMetric, queries: Sequence[CellQuery]) -> CellsNeed:
    """The counts of the cells that some query tells apart, from the rows as the metric sees them."""
    own = rows.scan.table.columns
    columns: dict[str, ColumnInfo] = {dimension.name: own[dimension.name] for dimension in metric.dimensions}
    scan = Scan(TableInfo(name=metric.universe, columns=columns), "t0")
    looked_at = sorted({axis for query in queries for axis in query.query.attributes})
    sizes = {metric.dimensions[axis].name: len(metric.dimensions[axis].values) for axis in looked_at}
    if math.prod(sizes.values()) > MOST_COUNTED:  # a public limit: how many of them occur is private
        raise UnsupportedQuery(
            f"rows would be counted for {math.prod(sizes.values()):,} combinations of {', '.join(sizes)}, more than "
            f"{MOST_COUNTED:,}.",
            construct="metric",
            hint="Look at fewer attributes in one statement, or ask the owner to declare fewer values.",
        )
    keys = []
    for axis in looked_at:
        name = metric.dimensions[axis].name
        keys.append(Key(f"d{axis}", Column("t0", name, _bare(own[name].facts)), None))
    return CellsNeed(Source(scan, tuple(keys), Contribution(rows=1, groups=1, rows_in_group=1)))


def _bare(facts: Facts) -> Facts:
    return Facts(facts.type, facts.low, facts.high)


def _domain(cells: CellDomain, need: CellsNeed) -> Domain:
    names = need.source.key_names
    columns = tuple(f"d{axis}" if f"d{axis}" in names else None for axis in range(len(cells.numbers)))
    return Domain(columns, tuple(cells.numbers))


def _request(aggregate: Aggregate, need: CellsNeed, catalog: Catalog, asked: Question, about: int) -> Request:
    """What was asked, as every measurement keeps it; nothing is chosen by it."""
    return Request(
        aggregate=aggregate,
        source=need.source,
        price=Price(None, Fraction(0)),
        neighbours=catalog.neighbours,
        grid=asked.grid,
        selects=False,
        rows_public=False,
        rows_about=about,
    )


def _meaning(cells: CellDomain, queries: Sequence[CellQuery], asked: Sequence[tuple[int, Aggregate, Question]]) -> str:
    """A digest of which value is in which cell, and of the queries over cells: the engine's statement tells neither."""
    digest = hashlib.sha256()
    for numbers in cells.numbers:
        digest.update(np.array(list(numbers.values()), dtype=np.int64).tobytes() + b";")
    for query in queries:
        groups = query.query.groups
        for array in (query.query.values, query.query.values if groups is None else groups):
            digest.update(repr((array.shape, query.size, groups is None)).encode())
            digest.update(array.tobytes())
    for at, aggregate, own in asked:
        digest.update(repr((at, aggregate.name, own.grid, own.centre, own.candidates)).encode())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ what is released


def _shared(
    queries: Sequence[CellQuery],
    asked: Sequence[tuple[int, Aggregate, Question]],
    metric: RowMetric,
    product: Product,
    multiple: Fraction,
) -> Shared:
    """The noise of all queries; a single count or sum is answered in the way that errs least."""
    names = [dimension.name for dimension in metric.dimensions]
    if len(queries) == 1 and not asked[0][2].candidates:
        return share_price_best(queries[0].query, queries[0].size, product, names, multiple)
    return share_price([query.query for query in queries], product, names, multiple)


def _loss(metric: RowMetric, multiples: Mapping[str, Fraction]) -> Loss:
    """What it costs; nothing where no move of one row changes the answer."""
    return MetricLoss(metric.name, multiples) if multiples else Free("public")


def _release(
    asked: Question,
    aggregate: Aggregate,
    noises: Sequence[Noise],
    need: CellsNeed,
    domain: Domain,
    metric: RowMetric,
    about: int,
) -> CellsRelease:
    multiples: dict[str, Fraction] = {}
    for noise in noises:
        for name, multiple in noise.multiples.items():
            multiples[name] = multiples.get(name, Fraction(0)) + multiple
    loss = _loss(metric, multiples)
    queries, notes = asked.queries, _notes(metric, multiples)
    inner: Offer
    arranged = as_columns
    if asked.candidates and aggregate.argument is not None:
        inner = _mode(asked, aggregate, noises[0], need, loss)
        arranged = partial(as_candidates, candidates=asked.candidates)
    elif len(noises) > 1:
        inner = _mean(asked, aggregate, noises, need, loss, about)
    else:
        inner = _number(asked, noises[0], need, loss)
        if multiples and queries[0].empty():
            notes = (*notes, "groups to which no row can add anything are exactly 0.")
        if isinstance(inner, BranchNoise):
            queries = (asked.queries[0].by_value(),)
            notes = (*notes, "worked out from noised counts of the rows up to each value, which cost no more than one.")
    return CellsRelease("metric", loss, need, inner, domain, queries, arranged, notes=notes)


def _number(asked: Question, noise: Noise, need: CellsNeed, loss: Loss) -> Offer:
    step = Fraction(1) if asked.grid is None else asked.grid.step
    steep = float(noise.steepness * step)
    if noise.branches is not None:
        total = noise.branches.total_scale or Fraction(0)
        weight = noise.scales[0] / noise.branches.scales[0]  # 1 / the multiple
        by_group = asked.queries[0].by_group()
        return BranchNoise(
            "metric", loss, need, noise.scales, step, noise.branches, total * weight, by_group, sensitivity=steep
        )
    if len(noise.scales) > 1:
        return GroupNoise("metric", loss, need, noise.scales, step, sensitivity=steep)
    if noise.scale is None:
        return ExactRelease("metric", Free("public"), need, step)
    if empty := asked.queries[0].empty():
        scales = tuple(Fraction(0) if group in empty else noise.scale for group in range(asked.queries[0].size))
        return GroupNoise("metric", loss, need, scales, step, sensitivity=steep)
    return NoisedRelease("metric", loss, need, LaplaceLaw(noise.scale), step, sensitivity=steep)


def _mode(asked: Question, aggregate: Aggregate, noise: Noise, need: CellsNeed, loss: Loss) -> Offer:
    if noise.scale is None or aggregate.argument is None:
        raise UnsupportedQuery(
            "it is the same for all rows.", construct=aggregate.text, hint="There is nothing to ask."
        )
    values = Values(need.source, aggregate.argument, grid=None)
    return ModeRelease("metric", loss, values, asked.candidates, PermuteAndFlip(1 / noise.scale))


def _mean(
    asked: Question, aggregate: Aggregate, noises: Sequence[Noise], need: CellsNeed, loss: Loss, about: int
) -> Offer:
    grid = asked.grid
    if grid is None or aggregate.argument is None or noises[0].scale is None:
        raise UnsupportedQuery(
            "it is the same for all rows.", construct=aggregate.text, hint="There is nothing to ask."
        )
    reach = max(grid.high - asked.centre, asked.centre - grid.low)
    query = MeanQuery(
        need=Aggregates(need.source, ()),
        grid=grid,
        centre=asked.centre,
        sum_sensitivity=Sensitivity(reach, reach**2, one_cell=True),
        count_sensitivity=None if noises[1].scale is None else Sensitivity(1, 1, one_cell=True),
        rows_about=about,
        deviation=deviation_of(grid, aggregate.argument.facts, asked.centre),
    )
    count = None if noises[1].scale is None else LaplaceLaw(noises[1].scale)
    return MeanRelease("metric", loss, query, LaplaceLaw(noises[0].scale), count)


def _notes(metric: RowMetric, multiples: Mapping[str, Fraction]) -> tuple[str, ...]:
    """What is promised, and what it means for the rows that are farthest apart."""
    if not multiples:
        return (f"metric {metric.name}: no change of one row moves it, so it is exact.",)
    widest = metric.epsilon_of(multiples)
    return (
        f"metric {metric.name} protects single rows: a change between values that are close is well hidden, "
        f"one between the farthest by epsilon {float(widest):.4g} only.",
    )
