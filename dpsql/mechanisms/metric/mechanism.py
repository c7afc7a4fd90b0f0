"""The offers under a metric: linear queries over the cells of its domain, noised together, from one count of cells.

Everything here rests on public facts. The theorem, its neighbours and its loss are those of `release.cells_release`.

Tests: tests/unit/prepare/test_metric.py.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.choice.mode import ModeRelease, PermuteAndFlip
from dpsql.mechanisms.metric import Product
from dpsql.mechanisms.metric.questions import Question
from dpsql.mechanisms.metric.release.cells import CellQuery, Domain
from dpsql.mechanisms.metric.release.cells_release import CellsRelease, as_candidates, as_columns
from dpsql.mechanisms.metric.release.exact import ExactRelease
from dpsql.mechanisms.metric.release.noise import BranchNoise, GroupNoise
from dpsql.mechanisms.metric.release.scales import Noise, Shared, share_price, share_price_best
from dpsql.mechanisms.metric.row_metric import RowMetric
from dpsql.mechanisms.metric.rows import CellDomain, MetricRows
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanQuery, MeanRelease, deviation_of
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.sensitivity import Sensitivity
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.needs import Aggregates, Contribution, Source, Values
from dpsql.plan.needs import Cells as CellsNeed
from dpsql.plan.nodes import Aggregate, Column, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts
from dpsql.privacy.kinds import Free, Loss, MetricLoss

__all__ = ["LinearOffers", "Part", "linear_offers"]

MOST_COUNTED = 2**21
"""How many combinations of values rows are counted for. A guess."""


@dataclass(frozen=True, slots=True)
class Part:
    """One aggregate over one grouping.

    Attributes:
        grouping: Index of what it is grouped by.
        aggregate: What is asked.
        question: The same as linear queries.
        rows_about: Guess of the rows in a group.
    """

    grouping: int
    aggregate: Aggregate
    question: Question
    rows_about: int


@dataclass(frozen=True, slots=True)
class LinearOffers:
    """What answers the parts of one statement.

    Attributes:
        need: The counts of cells that all of them read.
        offers: One for each part. Their losses may add up to more than that of all.
        loss: Of all of them together.
        meaning: A digest of what the engine's statement does not tell.
    """

    need: CellsNeed
    offers: tuple[CellsRelease, ...]
    loss: Loss
    meaning: str


def linear_offers(
    metric: RowMetric, multiple: Fraction, rows: MetricRows, cells: CellDomain, parts: Sequence[Part]
) -> LinearOffers:
    """The offers for all parts of a statement, whose noise is shared out of one multiple of the metric.

    Args:
        metric: The policy's.
        multiple: What the statement costs.
        rows: What it says of one row.
        cells: The domain.
        parts: What is asked.

    Raises:
        UnsupportedQuery: It would count too many cells, or there is nothing to ask.
    """
    queries = [query for part in parts for query in part.question.queries]
    need = _need(rows, metric, queries)
    domain, shared = _domain(cells, need), _shared(queries, parts, metric, cells.space, multiple)
    left, offers = iter(shared.noises), []
    for part in parts:
        noises = [next(left) for _ in part.question.queries]
        offers.append(_release(part.question, part.aggregate, noises, need, domain, metric, part.rows_about))
    return LinearOffers(need, tuple(offers), _loss(metric, shared.multiples), _meaning(cells, queries, parts))


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


def _meaning(cells: CellDomain, queries: Sequence[CellQuery], parts: Sequence[Part]) -> str:
    """A digest of which value is in which cell, and of the queries over cells: the engine's statement tells neither."""
    digest = hashlib.sha256()
    for numbers in cells.numbers:
        digest.update(np.array(list(numbers.values()), dtype=np.int64).tobytes() + b";")
    for query in queries:
        groups = query.query.groups
        for array in (query.query.values, query.query.values if groups is None else groups):
            digest.update(repr((array.shape, query.size, groups is None)).encode())
            digest.update(array.tobytes())
    for part in parts:
        own = part.question
        digest.update(repr((part.grouping, part.aggregate.name, own.grid, own.centre, own.candidates)).encode())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ what is released


def _shared(
    queries: Sequence[CellQuery],
    parts: Sequence[Part],
    metric: RowMetric,
    product: Product,
    multiple: Fraction,
) -> Shared:
    """The noise of all queries; a single count or sum is answered in the way that errs least."""
    names = [dimension.name for dimension in metric.dimensions]
    if len(queries) == 1 and not parts[0].question.candidates:
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
            counted = "up to each value" if inner.branches.branches.in_line else "beyond each branch of the tree"
            notes = (*notes, f"worked out from noised counts of the rows {counted}, which cost no more than one.")
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
