"""From a price to the parts of a located mean: the shares with the least expected error, by public facts.

A price (epsilon, delta) buys, in one dimension, a Laplace sum and a place by coins, all of delta going to the place. In
more dimensions the sum is Gaussian, at rho(epsilon_2, delta / 2), and half of delta goes to the place; or all parts
share rho(epsilon, delta / 2), and delta / 2 is outside of it. A price in rho buys the latter, with all of delta
outside.

The count costs a tenth of epsilon (a twentieth of rho, in more dimensions with the factor of `place`'s theorem) where
it is not public, the search a tenth (rho: a twenty-fifth) or the epsilon that makes n epsilon 50, whichever is more;
nothing where the scale is one number. The rest is split between place and sum, in the way that has the least expected
error.

A price for one unit more or less buys the same for a unit replaced by the group property: one removal and one addition
at (epsilon / 2, delta / (1 + e^(epsilon / 2))). Approximate zCDP has no such rule here; only `swap`, with the number of
rows public, is proved directly.

Tests: tests/unit/mechanisms/friendly_core/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpsql.mechanisms.friendly_core.located import GaussianTotal, LaplaceTotal, LocateThenClamp
from dpsql.mechanisms.friendly_core.noise import gaussian_law, safely_below, short_below
from dpsql.mechanisms.friendly_core.place import PlaceByCoins, PlaceByNoise
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.conversions import pure_epsilon_of_rho, rho_of_epsilon, rho_of_pure

__all__ = ["LEAST_SEARCHED", "PricedParts", "Setting", "best_for_epsilon", "best_for_rho", "halved"]

COUNT_SHARE = Fraction(1, 10)
"""The share of epsilon that the noised number of rows takes. A guess."""
COUNT_SHARE_OF_RHO = Fraction(1, 20)
"""The share of rho that the noised number of rows takes. A guess."""
SEARCH_SHARE = Fraction(1, 10)
"""The share of epsilon that the search for a diameter takes where there are rows enough. A guess."""
SEARCH_SHARE_OF_RHO = Fraction(1, 25)
"""The share of rho that the search for a diameter takes. A guess."""
PLACE_SHARES = tuple(Fraction(k, 20) for k in (1, 2, 3, 4, 6, 8, 10, 12))
"""The shares that are tried for finding the place, of what the number of rows and the search leave. A guess."""
SEARCHED = 50
"""Rows times the epsilon of a search: at this product it rarely misses, so a search is given that much. A guess."""
LEAST_SEARCHED = 40
"""Rows times the epsilon of a search: below this product it often fails, and there is no offer. A guess."""
MOST_HALVED = 500
"""An epsilon. It is a choice: e^-250 of a delta, of which a filter leaves e^-100, is far above `LEAST_CHANCE`."""
MOST_SEARCH_SHARE = Fraction(1, 2)
"""The largest share of a price that the search may take. A guess."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The public facts that shares depend on.

    Attributes:
        rows: A guess of the rows in a group.
        deviation: A guess of each coordinate's standard deviation, in grid steps.
        low, high: Ends of the radius, in grid steps.
        dimensions: d.
        swap: Whether a neighbour is a row replaced, the number of rows being public.
        bounds: The least and greatest value of each coordinate, in grid steps, where all of them are bounded; else ().
    """

    rows: int
    deviation: float
    low: int
    high: int
    dimensions: int
    swap: bool = False
    bounds: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PricedParts:
    """What a price buys.

    Attributes:
        parts: The located mean.
        rho: Approximate zCDP loss of all parts together.
        outside: Its delta.
        radius: Expected, in grid steps.
        half_width: Expected, of a 95% interval for each coordinate, in grid steps; infinite where nothing is found.
    """

    parts: LocateThenClamp
    rho: Fraction
    outside: Fraction
    setting: Setting
    radius: float
    half_width: float

    @property
    def terms(self) -> tuple[float, ...]:
        """The scale's ends, and the expected radius, standard deviation of the place, and reach, in grid steps."""
        parts, rows, dimensions = self.parts, self.setting.rows, self.setting.dimensions
        spread = parts.place.spread(rows, self.radius, dimensions, parts.slack)
        return parts.low, parts.high, self.radius, spread, parts.reach(math.ceil(self.radius), spread)


@lru_cache(maxsize=1024)
def best_for_epsilon(epsilon: Fraction, delta: Fraction, setting: Setting) -> PricedParts | None:
    """What (epsilon, delta) buys with the least expected error; None where there are too few rows for any of it."""
    return _least([*_parts_for_epsilon(epsilon, delta, setting), *_shared_rho(epsilon, delta, setting)])


@lru_cache(maxsize=1024)
def best_for_rho(rho: Fraction, delta: Fraction, setting: Setting) -> PricedParts | None:
    """What rho and delta buy with the least expected error; None where there are too few rows for any of it."""
    return _least(list(_parts_for_rho(rho, delta, setting)))


def halved(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction] | None:
    """The add/remove price that is within (epsilon, delta) for a unit replaced; None where epsilon is above
    `MOST_HALVED`, for a delta of which no tail is summed would be left.

    >>> epsilon, delta = halved(Fraction(2), Fraction(1, 10**6))
    >>> epsilon, 2.68e-7 < delta < 2.7e-7
    (Fraction(1, 1), True)
    """
    if epsilon > MOST_HALVED:
        return None
    return epsilon / 2, delta * safely_below(1 / (1 + math.exp(epsilon / 2)))


def _least(offers: list[PricedParts]) -> PricedParts | None:
    best = min(offers, key=lambda offer: offer.half_width, default=None)
    return None if best is None or math.isinf(best.half_width) else best


def _parts_for_epsilon(epsilon: Fraction, delta: Fraction, setting: Setting) -> Iterator[PricedParts]:
    count = Fraction(0) if setting.swap else epsilon * COUNT_SHARE
    search = _searched(epsilon * SEARCH_SHARE, epsilon * MOST_SEARCH_SHARE, setting)
    rest = epsilon - count - (search or Fraction(0))
    flat = setting.dimensions == 1
    for share in PLACE_SHARES:
        place = PlaceByCoins(rest * share, delta if flat else delta / 2, setting.swap)
        of_sum = rest * (1 - share)
        rho = rho_of_pure(of_sum) if flat else short_below(rho_of_epsilon(of_sum, delta / 2))
        if rho > 0:
            total = LaplaceTotal(of_sum) if flat else GaussianTotal(rho)
            parts = _parts(None if setting.swap else LaplaceLaw(1 / count), search, place, total, setting)
            of_count = rho_of_pure(count) / (1 if flat else 1 - delta) if count else 0
            rho += of_count + rho_of_pure(place.epsilon) + _rho_of(search)
            yield _priced_parts(parts, rho, place.delta, setting)


def _shared_rho(epsilon: Fraction, delta: Fraction, setting: Setting) -> Iterator[PricedParts]:
    rho = short_below(rho_of_epsilon(epsilon, delta / 2))
    if setting.dimensions > 1 and rho > 0:
        yield from _parts_for_rho(rho, delta / 2, setting)


def _parts_for_rho(rho: Fraction, delta: Fraction, setting: Setting) -> Iterator[PricedParts]:
    count = Fraction(0) if setting.swap else rho * COUNT_SHARE_OF_RHO
    usual, most = (safely_below(math.sqrt(8 * rho * share)) for share in (SEARCH_SHARE_OF_RHO, MOST_SEARCH_SHARE))
    search = _searched(usual, most, setting)
    rest = rho - count - _rho_of(search)
    alone = count if setting.dimensions == 1 else count * (1 - delta)
    law = None if setting.swap else gaussian_law(Fraction(1), alone)

    def priced(place: PlaceByCoins | PlaceByNoise, total: GaussianTotal) -> PricedParts:
        return _priced_parts(_parts(law, search, place, total, setting), rho, delta, setting)

    for share in PLACE_SHARES:
        total, epsilon = GaussianTotal(rest * (1 - share)), pure_epsilon_of_rho(rest * share)
        yield priced(PlaceByNoise(rest * share, delta, setting.swap), total)
        if epsilon > 0:  # with few rows coins find the place where noise cannot
            yield priced(PlaceByCoins(epsilon, delta, setting.swap), total)


def _searched(usual: Fraction, most: Fraction, setting: Setting) -> Fraction | None:
    """The epsilon of the search; None where the scale is one number."""
    if setting.low == setting.high:
        return None
    return min(max(usual, Fraction(SEARCHED, setting.rows)), most)


def _rho_of(search: Fraction | None) -> Fraction:
    return Fraction(0) if search is None else search * search / 8


def _parts(
    count: LaplaceLaw | GaussianLaw | None,
    search: Fraction | None,
    place: PlaceByCoins | PlaceByNoise,
    total: LaplaceTotal | GaussianTotal,
    setting: Setting,
) -> LocateThenClamp:
    low, high, dimensions = setting.low, setting.high, setting.dimensions
    return LocateThenClamp(count, search, place, total, low, high, dimensions, setting.swap, setting.bounds)


def _priced_parts(parts: LocateThenClamp, rho: Fraction, outside: Fraction, setting: Setting) -> PricedParts:
    searched = parts.search is None or setting.rows * parts.search >= LEAST_SEARCHED
    radius = parts.radius(setting.rows, setting.deviation)
    width = parts.half_width(setting.rows, radius) if searched else math.inf
    return PricedParts(parts, rho, outside, setting, radius, width)
