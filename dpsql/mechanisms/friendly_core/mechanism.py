"""Means without bounds, of one column or of several as one vector: mechanism ``friendly_core``.

Neighbours: ``add_remove``; ``replace_one`` at the price that covers a removal and an addition, or directly where the
number of rows is public and there is one column. Loss: (epsilon, delta), or approximate zCDP.

Theorem. A group's located mean costs what its parts cost together (`friendly_core.located`, `friendly_core.prices`),
whatever the data are.

One vector a unit: a unit has at most one row in each group. The groups of one statement are disjoint sets of rows, so a
unit that has rows in up to N of them spends N times a group's part.

Several columns have a common unit of length. Column c is multiplied by a whole number k_c, such that the middles of
their scales become about equal, and the distance of two rows is the Euclidean one of the products.

A group with too few friends has no place. Where the columns have bounds its mean is taken within those, at the price of
the sum, which is then still unspent; else the answer is NULL, for one reason, and is charged as any other.

Source: Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore"; the files name what differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.mechanisms.base import (
    PRICE,
    Interval,
    Joint,
    Mechanism,
    Offer,
    Price,
    Refusal,
    Request,
    alike,
    derive,
    total_price,
)
from dpsql.mechanisms.choice.groups import of_every_row
from dpsql.mechanisms.friendly_core.friends import FARTHEST
from dpsql.mechanisms.friendly_core.pairs import FriendlyPair, offer_pair
from dpsql.mechanisms.friendly_core.prices import (
    LEAST_SEARCHED,
    PricedParts,
    Setting,
    best_for_epsilon,
    best_for_rho,
    halved,
)
from dpsql.mechanisms.friendly_core.whole_tables import whole_table
from dpsql.mechanisms.in_time import too_long
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.conversions import pure_epsilon_of_rho
from dpsql.privacy.kinds import Approximate, Concentrated, Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["FriendlyCore", "FriendlyMean", "Scaled"]

FINE = 16  # Multiples of a coarse column's step: factors that are rounded to whole numbers then err by 3% at most.
WIDEST = FARTHEST // FARTHEST_STEP
"""The largest factor: columns of whole numbers up to `FARTHEST_STEP` then stay within `FARTHEST`."""
GROUP, ROW, PAIR = 2e-3, 1.5e-6, 6e-9
"""Seconds that a group takes for each column, each of its rows, and each pair of rows where there are several columns.
Measured: 10,000 groups of 100 rows take 19, a million rows 2, and 10,000 rows of two columns half a second."""
COMPARED = 25_000  # Rows of which pairs are compared, at the most: of more a sample is (measured with a million).
TYPICAL = 3.5
"""The diameter of most data, in standard deviations. A guess."""

LEANS = (
    "Rows far from most others are moved towards them: a mean of skewed data leans to its core "
    "(docs/friendly_core.md has figures)."
)
NAMED = " The interval does not count that."
UNASKED = " So it has no interval; that of the moved rows has one with OPTIONS (mechanism = 'friendly_core')."
ANYWHERE = "Where no radius holds most of the rows, the mean is taken within the bounds, with noise for those."
NOBODY = "NULL, where it stands, means too_few_friends: no radius held most of the rows. It is charged all the same."


@dataclass(frozen=True, slots=True)
class Scaled:
    """One coordinate.

    Attributes:
        grid: Of its values.
        low, high: Ends of its scale, in grid steps, 1 <= low <= high.
        deviation: A guess of its standard deviation, in grid steps.
        factor: k_c.
    """

    grid: Grid
    low: int
    high: int
    deviation: float
    factor: int = 1

    @property
    def unit(self) -> Fraction:
        """What one step of the products is, in the column's unit."""
        return self.grid.step / self.factor


@dataclass(frozen=True, slots=True)
class FriendlyCore(Mechanism):
    """The located mean of FriendlyCore, at the data's own place and scale."""

    name: str = "friendly_core"
    options: frozenset[str] = frozenset({"scale"})

    def takes(self, request: Request) -> bool:
        """Means and statistics of two columns, and the columns of a function of a whole table."""
        return request.price.multiple is None and request.top is None

    def reads(self, request: Request) -> frozenset[str]:
        """A function of a whole table has arguments of its own, and no groups."""
        return PRICE if request.table is not None else Mechanism.reads(self, request)

    def offer(self, request: Request) -> FriendlyMean | FriendlyPair | Refusal:
        """An offer for a mean, or for a statistic of two columns, or why there is none."""
        if request.aggregate.second is not None and request.idealised:
            return offer_pair(request)
        return self.vector((request,))

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Functions of a whole table, and vectors of a grouping's means that count the same rows whatever the data are.

        Raises:
            UnsupportedQuery: As `whole_table`.
        """
        if tables := whole_table(self.name, requests):
            return tables
        found = [(members, self.vector([requests[i] for i in members])) for members in alike(requests, _whole, _beside)]
        return [Joint.of_one(members, offer) for members, offer in found if not isinstance(offer, Refusal)]

    def vector(self, requests: Sequence[Request]) -> FriendlyMean | Refusal:
        """An offer for several means as one vector, at the sum of their prices; or why there is none.

        Args:
            requests: One or more means over the same rows and groups.
        """
        reason = next((reason for request in requests if (reason := _why_not(request))), None)
        reason = reason or too_long(requests[0], _seconds(requests[0].rows_read, len(requests)))
        if reason is not None:
            return Refusal(self.name, reason)
        first, coordinates = requests[0], _with_factors([_scaled(request) for request in requests])
        bounded = all(request.grid is not None for request in requests)
        setting = _setting(first, coordinates, bounded)
        price = total_price(requests)
        found = _priced_parts(first, price, setting)
        if isinstance(found, str):
            return Refusal(self.name, found)
        priced, loss = found
        arguments = [request.aggregate.argument for request in requests]
        (argument, *others) = [argument for argument in arguments if argument is not None]
        grids = [coordinate.grid for coordinate in coordinates]
        need = Values(first.source, argument, grids[0], others=tuple(zip(others, grids[1:], strict=True)))
        need = of_every_row(need, first.facts) if setting.swap else need
        return FriendlyMean(self.name, loss, need, priced, coordinates, named=self.is_named(first.options))


@dataclass(frozen=True, slots=True)
class FriendlyMean(Offer):
    """An offer to release a mean of one or more coordinates.

    Attributes:
        loss: All groups and coordinates together.
        need: The values, or vectors.
        priced: What each group's part of the price buys.
        coordinates: As many as there are means.
        at: Which of them this is.
        named: Whether the statement asks for it, and so for an interval of the rows as they are moved.
    """

    need: Values
    priced: PricedParts
    coordinates: tuple[Scaled, ...]
    at: int = 0
    named: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        unit = float(self.coordinates[self.at].unit)  # for rows as the policy guesses them
        derive(self, half_width=self.priced.half_width * unit, notes=self._notes())

    def placed(self, place: int) -> FriendlyMean:
        """The same release, as what answers another place."""
        return replace(self, at=place)

    def _notes(self) -> tuple[str, ...]:
        """What is promised and what is given up, and the terms of the expected error."""
        own, parts = self.coordinates[self.at], self.priced.parts
        low, high, radius, spread, reach = (float(steps * float(own.unit)) for steps in self.priced.terms)
        diameter = (
            f"A diameter of {low:.4g} is taken as known"
            if parts.search is None
            else f"The diameter is searched from {low:.4g} to {high:.4g}, at epsilon {float(parts.search):.3g}"
        )
        terms = (
            f"{diameter}. Expected: a diameter of {radius:.3g}, a place known to {spread:.3g} ({parts.place.price}), "
            f"and values within {reach:.3g} of it, whose sum has noise ({parts.total.price})."
        )
        together = [f"{len(self.coordinates)} means are one vector: its loss counts once."]
        without = ANYWHERE if parts.bounds else NOBODY
        leans = LEANS + (NAMED if self.named else UNASKED)
        return (terms, *(together if len(self.coordinates) > 1 else []), leans, without)

    @property
    def bracketed(self) -> bool:
        """Where it is asked for."""
        return self.named

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the column's unit, None for too few friends, with what its interval needs, for each group.

        Further coordinates are ``value_1`` and so on.
        """
        found = [self.priced.parts.run(points, sampler) for points in self._groups(raw)]
        table: dict[str, Sequence[Any]] = {}
        for at, coordinate in enumerate(self.coordinates):
            ending = f"_{at}" if at else ""
            table["value" + ending] = [None if f is None else _float(f.mean[at] * coordinate.unit) for f in found]
            table["centre" + ending] = [None if f is None else f.centre[at] for f in found]
            table["sum" + ending] = [None if f is None else f.sums[at] for f in found]
        table["reach"] = [None if f is None else f.reach for f in found]
        table["rows"] = [None if f is None else f.rows for f in found]
        return ReleasedTable(table)

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """An interval for the mean of the rows as they were moved, where it was asked for; none without a value."""
        if not self.named:
            return [(None, None)] * len(released.values)
        ending = f"_{self.at}" if self.at else ""
        columns = [released.columns[name] for name in ("centre" + ending, "sum" + ending, "reach", "rows")]
        return [
            (None, None) if centre is None else self._interval(centre, total, reach, rows, confidence)
            for centre, total, reach, rows in zip(*columns, strict=True)
        ]

    def _interval(self, centre: int, total: int, reach: int, rows: int, confidence: float) -> Interval:
        """Where |S - a N| <= q + p |a|, for quantiles q and p of the noise of the sum S and of the number N.

        The exact sum and number have S = a N for the wanted mean a, and each noise is within its quantile but for half
        of 1 - confidence.
        """
        count = self.priced.parts.count
        level = confidence if count is None else 1 - (1 - confidence) / 2
        q = self.priced.parts.sum_law(reach).quantile(level)
        p = 0 if count is None else count.quantile(level)

        def upper(s: int) -> Fraction:
            slack = rows + p if s + q < 0 else rows - p
            return (
                Fraction(reach) if slack <= 0 else min(max(Fraction(s + q, slack), Fraction(-reach)), Fraction(reach))
            )

        unit = self.coordinates[self.at].unit
        return _float((centre - upper(-total)) * unit), _float((centre + upper(total)) * unit)

    def _groups(self, raw: RawTable) -> list[npt.NDArray[np.int64]]:
        """The points of each group: (n, d) int64, one row per unit."""
        group, rows = (np.asarray(raw.column(name), dtype=np.int64) for name in ("group", "rows"))
        columns = zip(self.need.columns[:-1], self.coordinates, strict=True)
        values = np.column_stack([np.asarray(raw.column(n), dtype=np.int64) * c.factor for n, c in columns])
        order = np.lexsort((*values.T[::-1], group))  # so that the order of the engine's rows means nothing
        edges = np.searchsorted(group[order], np.arange(raw.size + 1))
        return [np.repeat(values[order[start:end]], rows[order[start:end]], axis=0) for start, end in pairwise(edges)]


def _whole(request: Request) -> bool:
    """Whether it is a mean of a column without NULL, or of one column of an ``avg_vector``."""
    aggregate = request.aggregate
    complete = aggregate.vector or (aggregate.argument is not None and not aggregate.argument.facts.nullable)
    return aggregate.function == "avg" and bool(complete) and not request.selects


def _beside(one: Request, other: Request) -> bool:
    return one.source == other.source and one.aggregate.vector == other.aggregate.vector


def _why_not(request: Request) -> str | None:
    aggregate, source = request.aggregate, request.source
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only a threshold can."
    if aggregate.function != "avg":
        return f"it answers means, not {aggregate.text}."
    if aggregate.argument is None:
        raise InvariantBroken("a mean needs an argument")
    if request.options.scale is None and request.facts.scale is None:
        return "it needs a scale; declare scale: [low, high] in the policy, or write OPTIONS (scale = (0.1, 100))."
    if request.price.delta == 0:
        return "it needs delta; add delta to the statement's options, such as delta = 1e-8."
    if source.contribution.rows_in_group != 1:
        return (
            "one unit has several rows here, and it needs one value a unit; aggregate each unit in a sub-query first, "
            "such as SELECT unit, SUM(x) AS x ... GROUP BY unit, or write max_rows_contributed = 1."
        )
    return None


def _seconds(rows: int, dimensions: int) -> float:
    """About how long a group of so many rows takes."""
    each = dimensions * (GROUP + rows * ROW)
    return each if dimensions == 1 else each + min(rows, COMPARED) ** 2 * PAIR


def _scaled(request: Request) -> Scaled:
    argument = request.aggregate.argument
    if argument is None:
        raise InvariantBroken("a mean needs an argument")
    facts = request.facts
    grid, scale = request.grid or saturating_grid(facts), request.options.scale or facts.scale
    if scale is None:
        raise InvariantBroken("a friendly mean needs a scale")
    low, high = max(1, math.floor(scale[0] / grid.step)), max(1, math.ceil(scale[1] / grid.step))
    deviation = _anywhere(low, high) / TYPICAL if facts.spread is None else float(facts.spread / grid.step)
    return Scaled(grid, min(low, FARTHEST_STEP), min(high, FARTHEST_STEP), deviation)


def _anywhere(low: int, high: int) -> float:
    """The mean of a diameter of which every order of magnitude within the scale is equally likely."""
    return low if low >= high else (high - low) / math.log(high / low)


def _with_factors(coordinates: Sequence[Scaled]) -> tuple[Scaled, ...]:
    """The coordinates with whole factors that make the middles of their scales about equal."""
    if len(coordinates) == 1:
        return tuple(coordinates)
    middles = [math.sqrt(c.low) * math.sqrt(c.high) for c in coordinates]
    common = min(FINE * max(middles), WIDEST * min(middles))
    return tuple(
        Scaled(c.grid, c.low, c.high, c.deviation, min(max(1, round(common / middle)), WIDEST))
        for c, middle in zip(coordinates, middles, strict=True)
    )


def _setting(request: Request, coordinates: Sequence[Scaled], bounded: bool) -> Setting:
    argument = request.aggregate.argument
    flat = len(coordinates) == 1
    known = all(c.low == c.high for c in coordinates)
    longest = math.isqrt(sum((c.high * c.factor) ** 2 for c in coordinates) - 1) + 1  # of all coordinates together
    return Setting(
        rows=max(1, request.rows_read),
        deviation=math.sqrt(sum((c.deviation * c.factor) ** 2 for c in coordinates) / len(coordinates)),
        low=longest if known else min(c.low * c.factor for c in coordinates),
        high=longest,
        dimensions=len(coordinates),
        swap=flat and request.rows_public and argument is not None and not argument.facts.nullable,
        bounds=tuple((c.grid.low * c.factor, c.grid.high * c.factor) for c in coordinates) if bounded else (),
    )


def _priced_parts(request: Request, price: Price, setting: Setting) -> tuple[PricedParts, Loss] | str:
    """What a group's part of the price buys, and the loss of all groups; or why it buys nothing."""
    groups = request.source.contribution.total
    replaced = request.neighbour_rows == 2 and not setting.swap
    if price.rho is not None:
        priced = _swapped(price.rho, price.delta, groups, setting) if replaced else None
        if not replaced:
            priced = best_for_rho(price.rho / groups, price.delta / groups, setting)
        return (priced, Concentrated(price.rho, outside=price.delta)) if priced else _too_few(setting)
    if price.epsilon is None:
        raise InvariantBroken("a price names epsilon or rho")
    pair = halved(price.epsilon, price.delta) if replaced else (price.epsilon, price.delta)
    priced = None if pair is None else best_for_epsilon(pair[0] / groups, pair[1] / groups, setting)
    if priced is None:
        return _too_few(setting)
    # The rho of a group's part is proved for one unit more or less.
    return priced, Approximate(price.epsilon, price.delta, None if replaced else priced.rho * groups)


def _swapped(rho: Fraction, delta: Fraction, groups: int, setting: Setting) -> PricedParts | None:
    """What a price in rho buys under replace_one: an (epsilon, delta) whose rho is within it, but for delta.

    An (epsilon, delta)-DP pair of outputs is epsilon-DP outside events of weight delta (Bun, Steinke 2016, Lemma 8.8),
    and epsilon-DP has the rho of `conversions.rho_of_pure`.
    """
    epsilon = pure_epsilon_of_rho(rho)
    pair = halved(epsilon, delta) if epsilon > 0 else None
    return None if pair is None else best_for_epsilon(pair[0] / groups, pair[1] / groups, setting)


def _too_few(setting: Setting) -> str:
    return (
        f"{setting.rows} rows in a group, as the policy guesses them (rows_about), are too few for this price: "
        f"rows times the epsilon of a search must reach {LEAST_SEARCHED}, and the core must outweigh its noise."
    )


def _float(x: Fraction) -> float:
    return x.numerator / x.denominator
