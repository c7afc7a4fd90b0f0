"""The offers under a metric: linear queries over the cells of its domain, noised together, from one count of cells.

Everything here rests on public facts. The theorem, its neighbours and its loss are those of `release.cells_release`.

Tests: tests/unit/mechanisms/metric/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.mechanisms.base import Joint, Offer, Request
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
from dpsql.plan.needs import Cells as CellsNeed
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Column, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts
from dpsql.privacy.kinds import Free, Loss, MetricLoss

__all__ = ["Part", "linear_offers"]

MOST_COUNTED = 2**21
"""How many combinations of values rows are counted for. A guess."""


@dataclass(frozen=True, slots=True)
class Part:
    """One aggregate over one grouping.

    Attributes:
        request: What is asked, at the multiple that all parts of a statement cost together.
        question: The same as linear queries.
    """

    request: Request
    question: Question


def linear_offers(metric: RowMetric, rows: MetricRows, cells: CellDomain, parts: Sequence[Part]) -> Joint:
    """The offers for all parts of a statement, whose noise is shared out of one multiple of the metric.

    Args:
        metric: The policy's.
        rows: What it says of one row.
        cells: The domain.
        parts: What is asked.

    Raises:
        UnsupportedQuery: It would count too many cells, or there is nothing to ask.
        InvariantBroken: The price is no multiple.
    """
    multiple = parts[0].request.price.multiple
    if multiple is None:
        raise InvariantBroken("a part of a statement under a metric that is priced otherwise")
    queries = [query for part in parts for query in part.question.queries]
    need = _need(rows, metric, queries)
    domain, shared = _domain(cells, need), _shared(queries, parts, metric, cells.space, multiple)
    left, offers = iter(shared.noises), []
    for part in parts:
        noises = [next(left) for _ in part.question.queries]
        offers.append(_release(part, noises, need, domain, metric, shared.multiples))
    members = tuple(range(len(parts)))
    return Joint(members, tuple(offers), (0,) * len(parts), _loss(metric, shared.multiples))


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
    part: Part,
    noises: Sequence[Noise],
    need: CellsNeed,
    domain: Domain,
    metric: RowMetric,
    paid: Mapping[str, Fraction],
) -> CellsRelease:
    """One part; by itself it costs what its own noises cost together, and no more than all parts (``paid``)."""
    asked = part.question
    multiples: dict[str, Fraction] = {}
    for noise in noises:
        for name, multiple in noise.multiples.items():
            multiples[name] = multiples.get(name, Fraction(0)) + multiple
    multiples = {name: min(own, paid[name]) for name, own in multiples.items()}
    loss = _loss(metric, multiples)
    queries, notes = asked.queries, _notes(metric, multiples)
    inner: Offer
    arranged = as_columns
    if asked.candidates:
        inner = _mode(part, noises[0], need, loss)
        arranged = partial(as_candidates, candidates=asked.candidates)
    elif len(noises) > 1:
        inner = _mean(part, noises, need, loss)
    else:
        inner = _number(asked, noises[0], need, loss)
        if multiples and queries[0].empty():
            notes = (*notes, "groups to which no row can add anything are exactly 0.")
        if isinstance(inner, BranchNoise):
            queries = (asked.queries[0].by_value(),)
            counted = "up to each value" if inner.branches.branches.in_line else "beyond each branch of the tree"
            notes = (*notes, f"worked out from noised counts of the rows {counted}, which cost no more than one.")
    told = (domain.digest, *(query.digest for query in queries))
    return CellsRelease("metric", loss, need, inner, told, domain, queries, arranged, notes=notes)


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


def _mode(part: Part, noise: Noise, need: CellsNeed, loss: Loss) -> Offer:
    if noise.scale is None:
        raise _nothing_to_ask(part)
    return ModeRelease("metric", loss, need, part.question.candidates, PermuteAndFlip(1 / noise.scale))


def _mean(part: Part, noises: Sequence[Noise], need: CellsNeed, loss: Loss) -> Offer:
    asked, argument = part.question, part.request.aggregate.argument
    grid = asked.grid
    if grid is None or argument is None or noises[0].scale is None:
        raise _nothing_to_ask(part)
    reach = max(grid.high - asked.centre, asked.centre - grid.low)
    query = MeanQuery(
        need=need,
        grid=grid,
        centre=asked.centre,
        sum_sensitivity=Sensitivity(reach, reach**2, one_cell=True),
        count_sensitivity=None if noises[1].scale is None else Sensitivity(1, 1, one_cell=True),
        rows_about=part.request.rows_about,
        deviation=deviation_of(grid, argument.facts, asked.centre),
    )
    count = None if noises[1].scale is None else LaplaceLaw(noises[1].scale)
    return MeanRelease("metric", loss, query, LaplaceLaw(noises[0].scale), count)


def _nothing_to_ask(part: Part) -> UnsupportedQuery:
    return UnsupportedQuery(
        "it is the same for all rows.", construct=part.request.aggregate.text, hint="There is nothing to ask."
    )


def _notes(metric: RowMetric, multiples: Mapping[str, Fraction]) -> tuple[str, ...]:
    """What is promised, and what it means for the rows that are farthest apart."""
    if not multiples:
        return (f"metric {metric.name}: no change of one row moves it, so it is exact.",)
    widest = metric.epsilon_of(multiples)
    return (
        f"metric {metric.name} protects single rows: a change between values that are close is well hidden, "
        f"one between the farthest by epsilon {float(widest):.4g} only.",
    )
