"""Several statistics of the same noised numbers: what one measurement tells is not bought twice.

Neighbours: ``add_remove`` and ``replace_one``. Loss: that of the noised numbers together, as for one statistic of them;
each statistic is a function of released numbers, so it costs nothing more.

* Variances and deviations of the same values are functions of the same moments (`moments`). They are bought once, at
  the sum of what each would have paid.
* SUM, COUNT and AVG of the same values follow from the centred sum S of x - c and the number n of values: the sum is
  S + c n, the mean c + S / n. Each of the two numbers gets half of the price. c is the mean's own centre, the middle of
  the bounds or 0, whichever errs least.

Intervals. A mean's is that of `mean`, a statistic's of moments that of `moments`. The noise of a sum is X + c Y for the
noises X of S and Y of n: its interval is the value and the quantile of |X + c Y|, by the continuous law with half a
step of each for the rounding, as in `mean`. A count has the exact quantile of its own noise.

Which statistics share, and whether they do, rests on public facts: they share where the expected errors are the less.

Tests: tests/contracts, tests/unit/prepare/test_prices.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Joint, Price, Request, alike, derive, total_price
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.mean import MeanRelease, centre_of, mean_query
from dpsql.mechanisms.noise.moments import MomentsRelease, moments_query
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.mechanisms.noise.sensitivity import Sensitivity
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["PricedLaws", "TotalsRelease", "same_numbers", "shared_offers"]

TOTALS = ("sum", "count", "avg")
HALVES = (Fraction(1, 2), Fraction(1, 2))
"""Shares of the price of a sum and of a number of rows. It is a choice: SUM, COUNT and AVG all follow from both."""
BISECTIONS = 60  # Halvings of an interval's half width: finer than any float shown.


def same_numbers(one: Request, other: Request) -> bool:
    """Whether two aggregates are functions of the same numbers of the same rows."""
    if one.source != other.source or _unfit(one) or _unfit(other):
        return False
    functions = (one.aggregate.function, other.aggregate.function)
    if all(function in STATISTICS for function in functions):
        return moments_query(one).need == moments_query(other).need
    return set(functions) <= set(TOTALS) and (one.aggregate.argument, one.grid) == (
        other.aggregate.argument,
        other.grid,
    )


def _unfit(request: Request) -> bool:
    aggregate = request.aggregate
    known = request.grid is not None and (aggregate.second is None or request.second_grid is not None)
    return request.selects or aggregate.vector != () or not known


PricedLaws = tuple[tuple[Law, ...], Loss]
"""Laws of noise, and their loss together."""

Buy = Callable[[Price, Sequence[Sensitivity], Sequence[Fraction]], PricedLaws | None]
"""The least noise on several numbers within a price, of which each gets its share; None where it buys none."""


def shared_offers(mechanism: str, buy: Buy, exponent: float, requests: Sequence[Request]) -> list[Joint]:
    """Offers for the aggregates that are statistics of the same numbers.

    Sums of several grouping sets stay alone: they are made to agree.

    Args:
        mechanism: Whose noise it is.
        buy: How it is bought.
        exponent: By which a price in epsilon is shared among moments (`MomentsQuery.shares`).
        requests: Of one statement.
    """
    sets = any(request.source.keys != requests[0].source.keys for request in requests)

    def fits(request: Request) -> bool:
        function = request.aggregate.function
        return function in STATISTICS or (function in TOTALS and not sets)

    found = []
    for members in alike(requests, fits, same_numbers):
        own = [requests[index] for index in members]
        price, mean = total_price(own), next((one for one in own if one.aggregate.function == "avg"), None)
        if own[0].aggregate.function in STATISTICS:
            found += [Joint.of_one(members, offer) for offer in _moments(mechanism, buy, exponent, own, price)]
        elif mean is not None:
            found += [Joint.of_one(members, offer) for offer in _totals(mechanism, buy, mean, own, price)]
    return found


def _moments(
    mechanism: str, buy: Buy, exponent: float, requests: Sequence[Request], price: Price
) -> list[MomentsRelease]:
    queries = tuple(map(moments_query, requests))
    moved = [own for own in queries[0].sensitivities if own is not None]
    bought = buy(price, moved, queries[0].shares(exponent=exponent if price.rho is None else 1))
    if bought is None:
        return []
    loss, rest = bought[1], iter(bought[0])
    laws = tuple(None if own is None else next(rest) for own in queries[0].sensitivities)
    return [MomentsRelease(mechanism, loss, queries[0], laws, together=queries)]


def _totals(mechanism: str, buy: Buy, mean: Request, requests: Sequence[Request], price: Price) -> list[TotalsRelease]:
    grid = mean.grid
    if grid is None:
        raise InvariantBroken("a mean needs an argument on a grid")
    middle, zero = (grid.low + grid.high) // 2, min(max(0, grid.low), grid.high)
    functions, offers = tuple(request.aggregate.function for request in requests), []
    for centre in dict.fromkeys((centre_of(grid, mean.facts), middle, zero)):
        query = mean_query(mean, centre)
        if query.count_sensitivity is None:  # the number is public, and its count costs nothing
            return []
        bought = buy(price, (query.sum_sensitivity, query.count_sensitivity), HALVES)
        if bought is not None:
            (for_sum, for_count), loss = bought
            offers.append(TotalsRelease(mechanism, loss, query, for_sum, for_count, functions))
    return offers


@dataclass(frozen=True, slots=True)
class TotalsRelease(MeanRelease):
    """An offer to release a sum, a count and a mean of the same values from a noised centred sum and a noised count.

    Attributes:
        functions: Of each place: ``sum``, ``count`` or ``avg``.
        at: Which of them this is.
    """

    functions: tuple[str, ...]
    at: int = 0

    def __post_init__(self) -> None:
        function = self.functions[self.at]
        width = self._mean_width() if function == "avg" else float(self._reach(function, 0.95))
        derive(self, need=self.query.need, half_width=width)

    def placed(self, place: int) -> TotalsRelease:
        """The same release, as what answers another place."""
        return replace(self, at=place)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` for the first place, ``value_1`` for the next and so on, with ``sum`` and ``count`` behind them."""
        released = MeanRelease.release(self, raw, sampler)
        values = [self._values(function, released) for function in self.functions]
        places = {f"value_{place}": own for place, own in enumerate(values) if place}
        return ReleasedTable({**released.columns, "value": values[0], **places})

    def _values(self, function: str, released: ReleasedTable) -> Sequence[int | float]:
        query, sums, counts = self.query, released.columns["sum"], released.columns["count"]
        if function == "avg":
            return released.values
        if function == "count":
            return counts
        return [in_unit(s + query.centre * n, query.grid.step) for s, n in zip(sums, counts, strict=True)]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the quantile of its noise; a mean's as `MeanRelease` has it."""
        function = self.functions[self.at]
        if function == "avg":
            return MeanRelease.intervals(self, released, confidence)
        reach = self._reach(function, confidence)
        return [(value - reach, value + reach) for value in released.values]

    def _reach(self, function: str, confidence: float) -> int | float:
        """The quantile of the noise of a count, or of a sum in the column's unit."""
        query, for_sum, for_count = self.query, self.sum_law, self.count_law
        if for_count is None:
            raise InvariantBroken("a shared count is noised")
        if function == "count":
            return for_count.quantile(confidence)
        return _of_two(for_sum, for_count, query.centre, confidence) * float(query.grid.step)


@lru_cache(maxsize=1024)  # asked for by the choice, the quote and the answer
def _of_two(first: Law, second: Law, centre: int, confidence: float) -> float:
    """The least w with P(|X + c Y| > w) at most 1 - confidence, for noises X and Y of two laws, in grid steps."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; write a number between 0 and 1, such as 0.95")
    miss, spread = 1 - confidence, np.array([abs(centre) * second.spread])

    def enough(width: float) -> bool:
        return float(first.tail_of_two(first.spread, spread, np.array([width]))[0]) <= miss

    low, high = 0.0, max(1.0, first.spread)
    while not enough(high):
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high + (1 + abs(centre)) / 2
