"""Plain statistics, slow programmes that preprocess them, and small data: what the fast forms are compared with."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpsql.mechanisms.preprocessing import (
    maximum,
    mean_of,
    median,
    minimum,
    ordered,
    quantile,
    total,
    trimmed_mean,
    variance_of,
)

Bag: TypeAlias = Sequence[Fraction]


def true_mean(bag: Bag) -> Fraction:
    """The mean; there must be a value, here and below."""
    return sum(bag, Fraction(0)) / len(bag)


def true_median(bag: Bag) -> Fraction:
    """The middle, or the middle of the two middle ones."""
    values, n = sorted(bag), len(bag)
    return (values[(n - 1) // 2] + values[n // 2]) / 2


def true_trimmed_mean(share: Fraction) -> Callable[[Bag], Fraction]:
    """The mean without a share of the values at either end."""

    def statistic(bag: Bag) -> Fraction:
        cut = int(share * len(bag))
        return true_mean(sorted(bag)[cut : len(bag) - cut])

    return statistic


def true_quantile(bag: Bag) -> Fraction:
    """The upper quartile: ordered, though removing the largest value may leave it or lower it by any amount."""
    return sorted(bag)[3 * (len(bag) - 1) // 4]


def continuous(share: Fraction) -> Callable[[Bag], Fraction]:
    """The quantile between two values, as DuckDB's quantile_cont."""

    def statistic(bag: Bag) -> Fraction:
        values, place = sorted(bag), share * (len(bag) - 1)
        below = int(place)
        above = min(below + 1, len(values) - 1)
        return values[below] + (place - below) * (values[above] - values[below])

    return statistic


def discrete(share: Fraction) -> Callable[[Bag], Fraction]:
    """The value of rank ceil(p n), as DuckDB's quantile_disc."""

    def statistic(bag: Bag) -> Fraction:
        return sorted(bag)[max(math.ceil(share * len(bag)), 1) - 1]

    return statistic


def true_sum(bag: Bag) -> Fraction:
    """The sum: ordered, though removing the largest value may raise it."""
    return sum(bag, Fraction(0))


def true_variance(ddof: int) -> Callable[[Bag], Fraction]:
    """The variance of the population or the sample, 0 for a single value."""

    def statistic(bag: Bag) -> Fraction:
        if len(bag) == 1:
            return Fraction(0)
        mean = true_mean(bag)
        return sum(((value - mean) ** 2 for value in bag), Fraction(0)) / (len(bag) - ddof)

    return statistic


def generally(statistic: Callable[[Bag], Fraction]) -> Callable[[Bag, Fraction, Fraction], Fraction]:
    """The statistic by the general rule for ordered ones."""

    def fast(bag: Bag, centre: Fraction, delta: Fraction) -> Fraction:
        values = sorted(bag)
        n = len(values)
        return ordered(lambda a, b: statistic(values[a : n - b]), n, centre=centre, sensitivity=delta)

    return fast


@dataclass(frozen=True, slots=True)
class Form:
    """A statistic, and its preprocessed form of (values, centre, Delta)."""

    statistic: Callable[[Bag], Fraction]
    fast: Callable[[Bag, Fraction, Fraction], Fraction]
    is_ordered: bool = True
    centred_at_zero: bool = False


TENTH, QUARTER, NINE_TENTHS = Fraction(1, 10), Fraction(1, 4), Fraction(9, 10)

FORMS = {
    "mean": Form(true_mean, lambda bag, c, d: mean_of(bag, centre=c, sensitivity=d)),
    "mean, by leaps": Form(true_mean, lambda bag, c, d: trimmed_mean(bag, 0, centre=c, sensitivity=d)),
    "median": Form(true_median, lambda bag, c, d: median(bag, centre=c, sensitivity=d)),
    "trimmed_mean": Form(
        true_trimmed_mean(QUARTER), lambda bag, c, d: trimmed_mean(bag, QUARTER, centre=c, sensitivity=d)
    ),
    "trimmed_mean, a tenth": Form(
        true_trimmed_mean(TENTH), lambda bag, c, d: trimmed_mean(bag, TENTH, centre=c, sensitivity=d)
    ),
    "quantile_cont, nine tenths": Form(
        continuous(NINE_TENTHS), lambda bag, c, d: quantile(bag, NINE_TENTHS, centre=c, sensitivity=d)
    ),
    "quantile_disc, a quarter": Form(
        discrete(QUARTER), lambda bag, c, d: quantile(bag, QUARTER, centre=c, sensitivity=d, discrete=True)
    ),
    "minimum": Form(min, lambda bag, c, d: minimum(bag, d, centre=c)),
    "maximum": Form(max, lambda bag, c, d: maximum(bag, d, centre=c)),
    "total": Form(true_sum, lambda bag, c, d: total(bag, d), centred_at_zero=True),
    "variance of the population": Form(
        true_variance(0), lambda bag, c, d: variance_of(bag, sensitivity=d), is_ordered=False, centred_at_zero=True
    ),
    "variance of the sample": Form(
        true_variance(1),
        lambda bag, c, d: variance_of(bag, sensitivity=d, ddof=1),
        is_ordered=False,
        centred_at_zero=True,
    ),
    "any ordered: quartile": Form(true_quantile, generally(true_quantile)),
    "any ordered: sum": Form(true_sum, generally(true_sum)),
}


def by_windows(statistic: Callable[[Bag], Fraction], bag: Bag, centre: Fraction, delta: Fraction) -> Fraction:
    """The n^2 programme for ordered statistics: without the a smallest and the b largest, for all a and b.

    Source: Cummings, Durfee 2020, section 5.
    """
    values, n = sorted(bag), len(bag)
    g = {(a, n - a): centre for a in range(n + 1)}
    for size in range(1, n + 1):
        for a in range(n - size + 1):
            b = n - size - a
            window = statistic(values[a : a + size])
            g[a, b] = min(max(window, g[a + 1, b] - delta), g[a, b + 1] + delta)
    return g[0, 0]


def variance_by_windows(ddof: int, bag: Bag, delta: Fraction) -> Fraction:
    """The n^2 programme for the variance: the least variance of a window and toll for what it leaves out."""
    values, n = sorted(bag), len(bag)
    best = n * delta
    for first in range(n):
        size, total_, squares = 0, Fraction(0), Fraction(0)
        for value in values[first:]:
            size, total_, squares = size + 1, total_ + value, squares + value**2
            spread = (squares - total_**2 / size) / (size - ddof) if size > 1 else Fraction(0)
            best = min(best, spread + (n - size) * delta)
    return best


POOLS: tuple[Sequence[Fraction], ...] = (
    [Fraction(v) for v in (-3, 0, 1, 2, 5)],
    [Fraction(v) for v in (0, 1, 1000, -(10**6))],
    [Fraction(v) for v in range(-9, 10)],
    [Fraction(v, 3) for v in range(-4, 20)],
    [Fraction(v) for v in (2**53, 2**53 + 1, 7, -(2**70), 2**70 + 1)],
    [Fraction(2**k) for k in range(12)],
)
DELTAS = tuple(Fraction(d) for d in ("0", "1/3", "1/2", "1", "2", "5", "50", "1000", "1000000"))
CENTRES = tuple(Fraction(c) for c in ("0", "1/2", "1", "-5", "7/3", "300", "-100000"))


def small_data(seed: int, count: int, sizes: Sequence[int]) -> Iterator[tuple[Bag, Fraction, Fraction]]:
    """So many random bags with centre and Delta: ties, negatives, outliers, large integers, fractions."""
    chance = random.Random(seed)
    for _ in range(count):
        pool = chance.choice(POOLS)
        bag = [chance.choice(pool) for _ in range(chance.choice(sizes))]
        yield bag, chance.choice(CENTRES), chance.choice(DELTAS)
