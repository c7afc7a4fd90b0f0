"""Several statistics of the same noised numbers: what one measurement tells is not bought twice.

Neighbours: ``add_remove`` and ``replace_one``. Loss: that of the noised numbers together, each drawn once; each
statistic is a function of released numbers, so it costs nothing more.

Numbers are the same where they are those of the same rows, groups, bounds and centres (`_number`). So a variance, a
correlation, a covariance and both slopes of two columns follow from the number of rows where neither is NULL, two sums
and three sums of products, and so do AVG, SUM and COUNT of one column over these rows. All are bought at the sum of
what each statistic would have paid, and go alike to all statistics that read them. SUM and AVG follow from the centred
sum S of x - c and the number n of values: the sum is S + c n, the mean c + S / n. Where nothing else is asked, c is
whichever of the mean's own centre, the middle of the bounds and 0 errs least.

Shares. With the noises' variances v_m, to first order a statistic i errs by the variance sum_m w_im^2 v_m, and by V_i
where it has the whole price for itself. The shares are those by which the sum over i of sum_m w_im^2 v_m / V_i is
least: as for one statistic that each number moves by the root of sum_i w_im^2 / V_i (`moments.in_shares`).

Intervals. Each statistic's is the one of its own mechanism for these laws of noise: `mean`, `moments`, or the quantile
of a count. The noise of a sum is X + c Y for the noises X of S and Y of n: its interval is the value and the quantile
of |X + c Y|, by the continuous law with half a step of each for the rounding, as in `mean`.

Which statistics share, and whether they do, rests on public facts: they share where the expected errors are the less.

Tests: tests/contracts, tests/unit/mechanisms/test_shared.py, tests/unit/prepare/test_prices.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Joint, Offer, Price, Request, derive, total_price
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.mean import MeanRelease, centre_of, mean_query
from dpsql.mechanisms.noise.moments import MomentsRelease, in_shares, moments_query, noised_columns
from dpsql.mechanisms.noise.noised import NoisedRelease, in_unit
from dpsql.mechanisms.noise.sensitivity import Sensitivity, measure_of, need_of, rows_fixed, sensitivity_of
from dpsql.plan.known.there import presence, value_where_there
from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.plan.values.ranges import is_certain
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["PricedLaws", "SharedRelease", "shared_offers"]

TOTALS = ("sum", "count", "avg")
SPREADS = tuple(name for name, own in STATISTICS.items() if "y" not in own.moments)
"""Statistics of one argument, which other mechanisms answer, too."""
LETTERS = "xyzuvw"  # Of the values that are summed up, in the names of released numbers.
BISECTIONS = 60  # Halvings of an interval's half width: finer than any float shown.

PricedLaws = tuple[tuple[Law, ...], Loss]
"""Laws of noise, and their loss together."""

Buy = Callable[[Price, Sequence[Sensitivity], Sequence[Fraction]], PricedLaws | None]
"""The least noise on several numbers within a price, of which each gets its share; None where it buys none."""

Part = MomentsRelease | MeanRelease | NoisedRelease
"""What answers one of the aggregates, as if the numbers were noised for it alone."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The numbers that one aggregate reads.

    Attributes:
        measures: Each of them, in the order in which `Part` has them.
        moved: By how much a neighbour moves each; None where it is public.
        weights: By how much an error of 1 in each moves the aggregate, up to a factor that they have in common.
        part: What answers it, of the mechanism's name, the loss and the law of each.
        keys: What tells each number apart.
    """

    measures: tuple[Measure, ...]
    moved: tuple[Sensitivity | None, ...]
    weights: tuple[float, ...]
    part: Callable[[str, Loss, Sequence[Law | None]], Part]
    keys: tuple[Hashable, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(map(_number, self.measures)))

    @property
    def rows(self) -> Hashable:
        """The number of rows."""
        return next(key for key, own in zip(self.keys, self.measures, strict=True) if own.grid is None)

    @property
    def sums(self) -> frozenset[Hashable]:
        """The values that are summed up."""
        pairs = zip(self.keys, self.measures, strict=True)
        return frozenset(key for key, own in pairs if own.kind is MeasureKind.SUM)

    def alone(self, exponent: float) -> float:
        """The squared error, up to a factor, where the whole price goes to it in the shares that are best for it."""
        steps = (w * own.l1 for w, own in zip(self.weights, self.moved, strict=True) if own is not None)
        return float(max(sum(step**exponent for step in steps) ** (2 / exponent), 1e-300))


def shared_offers(mechanism: str, buy: Buy, exponent: float, requests: Sequence[Request]) -> list[Joint]:
    """Offers for the aggregates that are statistics of the same numbers.

    Sums of several grouping sets stay alone: they are made to agree.

    Args:
        mechanism: Whose noise it is.
        buy: How it is bought.
        exponent: By which a price in epsilon is shared among numbers (`moments.in_shares`).
        requests: Of one statement.
    """
    sets = any(request.source.keys != requests[0].source.keys for request in requests)
    fits = {at: request for at, request in enumerate(requests) if _fits(request, sets)}
    found = []
    for members in dict.fromkeys(part for group in _groups(fits) for part in _parts(group, fits)):
        own = [requests[index] for index in members]
        price = total_price(own)
        by = exponent if price.rho is None else 1.0
        offers = (_offer(mechanism, buy, by, price, asked, own[0]) for asked in _ways(own))
        found += [Joint.of_one(members, offer) for offer in offers if offer is not None]
    return found


def _fits(request: Request, sets: bool) -> bool:
    aggregate = request.aggregate
    if request.selects or aggregate.vector or request.grid is None:
        return False
    if aggregate.function in STATISTICS:
        return aggregate.second is None or request.second_grid is not None
    if aggregate.function not in TOTALS or sets or aggregate.argument is None:
        return False
    # Where the number is public, a count costs nothing, and a sum is no better off.
    return aggregate.function == "avg" or not (rows_fixed(request) and is_certain(aggregate.argument))


def _groups(requests: Mapping[int, Request]) -> Iterator[tuple[int, ...]]:
    """Those of the same rows, two or more, of which one has all the values that the others sum up."""
    asked = {at: _asked(request) for at, request in requests.items()}
    rows = {at: (request.source, asked[at].rows) for at, request in requests.items()}
    sums = {at: own.sums for at, own in asked.items()}
    groups: list[list[int]] = []
    for at in sorted(asked, key=lambda at: -len(sums[at])):
        like = (group for group in groups if rows[at] == rows[group[0]] and sums[at] <= sums[group[0]])
        if (group := next(like, None)) is None:
            groups.append([at])
        else:
            group.append(at)
    return (tuple(sorted(group)) for group in groups)


def _parts(group: tuple[int, ...], requests: Mapping[int, Request]) -> Iterator[tuple[int, ...]]:
    """All of a group, and what may be better off without the others: it has a mean or a statistic of moments."""
    functions = {at: requests[at].aggregate.function for at in group}
    others = ("sum", "avg", *SPREADS)  # located or clamped may answer them far better
    for left_out in ((), ("sum",), TOTALS, others, (*others, "count"), (*STATISTICS,)):
        part = tuple(at for at in group if functions[at] not in left_out)
        if len(part) > 1 and any(functions[at] not in ("sum", "count") for at in part):
            yield part


def _ways(requests: Sequence[Request]) -> Iterator[list[_Asked]]:
    """What the requests read: of totals alone, around each centre that may be best."""
    mean = next((own for own in requests if own.aggregate.function == "avg"), None)
    grid = None if mean is None else mean.grid
    if mean is None or grid is None or any(own.aggregate.function in STATISTICS for own in requests):
        yield [_asked(own) for own in requests]
        return
    middle, zero = (grid.low + grid.high) // 2, min(max(0, grid.low), grid.high)
    for centre in dict.fromkeys((centre_of(grid, mean.facts), middle, zero)):
        yield [_asked(own, centre) for own in requests]


def _asked(request: Request, centre: int | None = None) -> _Asked:
    """What a request reads; of totals around a centre, or their own."""
    function = request.aggregate.function
    if function in STATISTICS:
        moments = moments_query(request)
        weights = moments.statistic.weights(moments.guess)
        return _Asked(
            moments.need.measures,
            moments.sensitivities,
            tuple(weights[name] for name in moments.statistic.moments),
            lambda mechanism, loss, laws: MomentsRelease(mechanism, loss, moments, tuple(laws)),
        )
    if function == "count":
        measure = measure_of(request)
        need, one = need_of(request, measure), Fraction(1)
        return _Asked(
            (measure,),
            (sensitivity_of(request, measure),),
            (1.0,),
            lambda mechanism, loss, laws: NoisedRelease(mechanism, loss, need, _noise(laws[0]), one),
        )
    mean = mean_query(request, centre)
    if not isinstance(mean.need, Aggregates):
        raise InvariantBroken("a mean of noised numbers needs totals")
    made = MeanRelease if function == "avg" else SumRelease
    return _Asked(
        mean.need.measures,
        (mean.sum_sensitivity, mean.count_sensitivity),
        (1.0, mean.deviation if function == "avg" else abs(mean.centre)),
        lambda mechanism, loss, laws: made(mechanism, loss, mean, _noise(laws[0]), laws[1]),
    )


def _noise(law: Law | None) -> Law:
    if law is None:
        raise InvariantBroken("a sum and a shared count are noised")
    return law


def _number(measure: Measure) -> Hashable:
    """What tells a number apart: the same for two measures that have the same value whatever the data are."""
    there = frozenset() if measure.argument is None else presence(measure.argument)
    if measure.argument is None or measure.grid is None:
        return "rows", there
    own = (value_where_there(measure.argument), there, measure.grid, measure.shift)
    return own if measure.by is None else frozenset([own, _number(measure.by)])


def _offer(
    mechanism: str, buy: Buy, exponent: float, price: Price, asked: Sequence[_Asked], request: Request
) -> SharedRelease | None:
    """All of it from one measurement of each number; None where the price is too small."""
    numbers = dict[Hashable, tuple[Measure, Sensitivity | None]]()
    squares = dict[Hashable, float]()
    for own in asked:
        alone = own.alone(exponent)
        for key, measure, moved, weight in zip(own.keys, own.measures, own.moved, own.weights, strict=True):
            numbers.setdefault(key, (measure, moved))
            squares[key] = squares.get(key, 0.0) + weight**2 / alone
    noised = {key: moved for key, (_, moved) in numbers.items() if moved is not None}
    shares = in_shares([math.sqrt(squares[key]) * moved.l1 for key, moved in noised.items()], exponent)
    if (bought := buy(price, list(noised.values()), shares)) is None:
        return None
    laws, loss, names = dict(zip(noised, bought[0], strict=True)), bought[1], _names(numbers)
    return SharedRelease(
        mechanism,
        loss,
        need_of(request, *(measure for measure, _ in numbers.values())),
        tuple(names.values()),
        tuple(laws.get(key) for key in numbers),
        tuple(own.part(mechanism, loss, [laws.get(key) for key in own.keys]) for own in asked),
        tuple(tuple(names[key] for key in own.keys) for own in asked),
    )


def _names(numbers: Mapping[Hashable, tuple[Measure, Sensitivity | None]]) -> dict[Hashable, str]:
    """``n``, a letter for each value that is summed up, and two for each product."""
    letters = iter(LETTERS)
    sums = {key: next(letters) for key, (measure, _) in numbers.items() if measure.kind is MeasureKind.SUM}
    names = dict[Hashable, str]()
    for key, (measure, _) in numbers.items():
        if measure.by is None:
            names[key] = sums.get(key, "n")
        else:
            factors = _number(replace(measure, by=None)), _number(measure.by)
            names[key] = "".join(sorted((sums[factor] for factor in factors), key=LETTERS.index))
    return names


@dataclass(frozen=True, slots=True)
class SharedRelease(Offer):
    """An offer to release several statistics of the same noised numbers.

    Attributes:
        names: Of the numbers, in the order of ``need``.
        laws: Noise of each number, in (products of) grid steps; None where it is public.
        parts: What answers each place, of the numbers that it reads.
        reads: Names of the numbers that each place reads, in the order of its own.
        at: Which place this is.
    """

    need: Aggregates
    names: tuple[str, ...]
    laws: tuple[Law | None, ...]
    parts: tuple[Part, ...]
    reads: tuple[tuple[str, ...], ...]
    at: int = 0

    def __post_init__(self) -> None:
        derive(self, half_width=self.parts[self.at].half_width)

    def placed(self, place: int) -> SharedRelease:
        """The same release, as what answers another place."""
        return replace(self, at=place)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` for the first place, ``value_1`` for the next and so on, with the noised numbers behind them."""
        columns = noised_columns(raw, self.names, self.laws, sampler)
        values = [self._own(place, columns).values for place in range(len(self.parts))]
        places = {f"value_{place}": own for place, own in enumerate(values) if place}
        return ReleasedTable({"value": values[0], **places, **columns})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Those of the statistic at this place."""
        return self.parts[self.at].intervals(self._own(self.at, released.columns), confidence)

    def _own(self, place: int, columns: Mapping[str, Sequence[Any]]) -> ReleasedTable:
        """What one place tells."""
        part = self.parts[place]
        return part.told_of({own: columns[name] for own, name in zip(part.numbers, self.reads[place], strict=True)})


@dataclass(frozen=True, slots=True)
class SumRelease(MeanRelease):
    """A sum from a noised centred sum and a noised count."""

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=float(self._reach(0.95)))

    def told_of(self, columns: Mapping[str, Sequence[int]]) -> ReleasedTable:
        """The release of a noised ``sum`` and ``count``."""
        query, pairs = self.query, zip(columns["sum"], columns["count"], strict=True)
        return ReleasedTable({"value": [in_unit(s + query.centre * n, query.grid.step) for s, n in pairs], **columns})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the quantile of its noise."""
        reach = self._reach(confidence)
        return [(value - reach, value + reach) for value in released.values]

    def _reach(self, confidence: float) -> float:
        """The quantile of the noise, in the column's unit."""
        centre, step = self.query.centre, float(self.query.grid.step)
        return _of_two(self.sum_law, _noise(self.count_law), centre, confidence) * step


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
