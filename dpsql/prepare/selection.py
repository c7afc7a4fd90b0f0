"""What chooses the groups of an open domain: a count of units, hidden where none is asked for, and its share of price.

The share of a hidden count is the one whose result is expected to err least, people by people. A group of n units is
lost, with all of its n, up to a threshold t; above it each number is off by the noise w of a count. How large groups
are is not public, so they are taken to be spread evenly over the orders of magnitude up to the guess N of the units:
then the errors add up to the integral of n dn / n up to t and of w dn / n from there to N, t + w ln(N / t).

Everything here rests on public facts: the price, the bounds on contributions, the number of aggregates, and guesses.

Tests: tests/unit/prepare/test_selection.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpsql.mechanisms.base import Mechanism, Price, Request
from dpsql.mechanisms.choose import least_error, takers_of
from dpsql.mechanisms.gaussian import gaussian_noise
from dpsql.mechanisms.laplace import laplace_noise
from dpsql.mechanisms.noise.sensitivity import Sensitivity, sensitivity_of
from dpsql.plan.needs import Measure, MeasureKind, Source
from dpsql.plan.nodes import Aggregate

__all__ = ["SELECTION", "best_share", "with_selection"]

SELECTION = "selection"  # The name of a measurement that nobody asked for, which chooses the groups.

SHARES = tuple(Fraction(share, 10) for share in (2, 1, 3, 4, 5, 6, 7))
"""Of the price that no aggregate names for itself; of equal ones the first is taken."""


def with_selection(
    aggregates: tuple[Aggregate, ...], source: Source, selects: bool
) -> tuple[tuple[Aggregate, ...], int | None]:
    """The aggregates, with a hidden count of units in front where groups must be chosen and none asked counts units."""
    if not selects:
        return aggregates, None
    for index, aggregate in enumerate(aggregates):
        counts_units = aggregate.function == "count_units"
        one_each = aggregate.function == "count_rows" and source.contribution.rows == 1 and aggregate.per_group is None
        if counts_units or one_each:
            return aggregates, index
    return (Aggregate(SELECTION, "count_units", None, "choice of groups"), *aggregates), 0


def best_share(request: Request, units: int, prices: Callable[[Fraction], Sequence[Price]]) -> Fraction:
    """The share of the price for a hidden count of units.

    Args:
        request: The hidden count's, at any price.
        units: Guess of how many there are in all groups together.
        prices: Those of the hidden count and of every aggregate, in this order, by the share.
    """
    trials = [(share, prices(share)) for share in SHARES]
    if trials[0][1] == trials[-1][1]:  # the statement itself says what each pays
        return SHARES[0]
    takers = takers_of(request, wanted=_named(request))
    moved = sensitivity_of(request, Measure(MeasureKind.UNITS))
    return min(trials, key=lambda trial: _expected_error(request, units, takers, moved, *trial[1]))[0]


def _expected_error(
    request: Request, units: int, takers: Sequence[Mechanism], moved: Sensitivity, selection: Price, *values: Price
) -> tuple[float, float]:
    """The errors of all groups together, t + w ln(N / t), in units; where none is shown, the lower threshold wins.

    Args:
        request: The hidden count.
        units: The guess N.
        takers: Who may answer it.
        moved: How far a neighbour moves a count of units in each group.
        selection: Its price.
        values: Those of the aggregates.
    """
    if any(price.epsilon == 0 or price.rho == 0 for price in (selection, *values)):
        return math.inf, math.inf
    best = least_error(replace(request, price=selection), takers)
    if best is None:
        return math.inf, math.inf
    least = best.appears_from()
    threshold = math.inf if least is None else least
    noise = sum(_noise(moved, price) for price in values) / len(values)
    return min(threshold, units) + noise * math.log(max(1.0, units / threshold)), threshold


@lru_cache(maxsize=1024)  # shares of one price are asked for by every statement that chooses groups
def _noise(moved: Sensitivity, price: Price) -> float:
    """The noise of a count of units in each group, by the law that makes its intervals narrowest; its scale."""
    found = [noise[0] for noise in (laplace_noise(moved, price), gaussian_noise(moved, price)) if noise is not None]
    return min(((law.quantile(0.95), law.spread) for law in found), default=(0, math.inf))[1]


def _named(request: Request) -> str | None:
    """The threshold that the statement names, or None."""
    wanted = request.options.mechanism
    return wanted if wanted in ("threshold", "gaussian_threshold", "capped") else None
