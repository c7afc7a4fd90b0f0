"""What preprocessed answers really lose, on the worst tables: all values far from the centre, with and without one.

A measured loss is above the real one with `P_THRESHOLD` at most. Each test draws as often as it takes to come near: the
exact chances of its events say what the measured loss exceeds, but for `P_THRESHOLD` again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.audit.measured import CUTS, loss_between
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.preprocessing import Counts
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.preprocessing.release import ByRows, PreprocessedRelease
from dpsql.mechanisms.preprocessing.rules import Rule
from dpsql.mechanisms.preprocessing.statistics import Statistic
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Type
from dpsql.privacy.sampling import ExactSampler
from tests.statistical.measured import certain, laplace_below, laplace_share, laplace_shares
from tests.statistical.thresholds import P_THRESHOLD
from tests.turns import every_third
from tests.unit.mechanisms.asking import ONE_ROW, asking, counted, offered

Floats = npt.NDArray[np.float64]

SIZES = [3_000, pytest.param(100_000, marks=pytest.mark.slow)]
LEAST = {3_000: {True: 0.3, False: 0.2}, 100_000: {True: 0.8, False: 0.6}}
"""What so many draws make sure to find of a loss of 1, for a sensitivity that is named or not."""
ENOUGH = 10_000
FUNCTIONS = ("quantile_cont", "avg", "trimmed_mean", "var_pop")
FAR = [10**6, -(10**6)]
BY_RULE = every_third([(name, False) for name in FUNCTIONS])
TWO_ROWS = Contribution(2, 1, 2)


@dataclass(frozen=True)
class Remembered:
    """A statistic that works out the answer to the same numbers once: thousands of groups here are all alike."""

    statistic: Statistic
    power: int
    known: dict[object, Fraction] = field(default_factory=dict)

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return self.statistic.rule(spread, width)

    def exact_if(self, reach: str, centre: str) -> str:
        return self.statistic.exact_if(reach, centre)

    @property
    def unknown(self) -> str:
        return self.statistic.unknown

    def holds(self, low: Fraction, high: Fraction, centre: Fraction) -> tuple[bool, bool]:
        return self.statistic.holds(low, high, centre)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        asked = (*map(tuple, data.arrays()), data.grid, centre, sensitivity)
        if asked not in self.known:
            self.known[asked] = self.statistic.moved(data, centre, sensitivity)
        return self.known[asked]


def release(
    function: str, named: bool, held: Contribution = ONE_ROW, neighbours: str = "add_remove"
) -> PreprocessedRelease:
    """At epsilon 1, with a sensitivity of 3 for a unit, or with one that follows from a noised number of rows."""
    request = asking(
        function,
        held=held,
        neighbours=neighbours,
        price=Price(Fraction(1), Fraction(0)),
        facts=Facts(Type.INTEGER, centre=Fraction(0), spread=Fraction(20)),
        grid=None,
        fraction=Fraction(1, 5) if function == "trimmed_mean" else Fraction(1, 2),
        options=Options(mechanism="preprocessing", sensitivity=Fraction(3) if named else None),
    )
    found = offered(Preprocessing().offer(request))
    assert isinstance(found, PreprocessedRelease)
    statistic = found.query.statistic
    return replace(found, query=replace(found.query, statistic=Remembered(statistic, statistic.power)))


def worst(function: str, rows: int) -> list[int]:
    """So many values far from 0: all on one side, and for a variance on both."""
    return [FAR[at % 2] if function.startswith("var") else FAR[0] for at in range(rows)]


def exact(asked: PreprocessedRelease, values: Sequence[int], rows: int) -> int:
    """The exact answer in steps, given the noised number of rows."""
    tally = Counter(values)
    rising = sorted(tally)
    occur = np.array([tally[value] for value in rising], dtype=np.int64)
    return asked.steps(np.array(rising, dtype=np.int64), occur, rows)


def scale_of_rows(asked: PreprocessedRelease) -> float | None:
    """Of the noise on the number of rows that a rule takes; None where it takes none."""
    return asked.count_law.spread if isinstance(asked.amount, ByRows) and asked.count_law is not None else None


def measured(asked: PreprocessedRelease, one: Sequence[int], two: Sequence[int], size: int) -> float:
    """A lower bound on the loss between two tables, from so many released answers on each, at a charge of 1."""
    steps = lru_cache(None)(lambda side, rows: exact(asked, side, rows))
    scale = scale_of_rows(asked)

    def ratios(real: Sequence[int]) -> Floats:
        columns = asked.release(counted(*[Counter(real)] * size), ExactSampler()).columns
        total = np.zeros(size)
        if scale is not None:
            rows = np.array(columns["rows"], dtype=float)
            total += (np.abs(rows - len(two)) - np.abs(rows - len(one))) / scale
        noised = np.array(columns["noised"], dtype=float)
        a, b = (np.array([float(steps(tuple(side), n)) for n in columns["rows"]]) for side in (one, two))
        total += (np.abs(noised - b) - np.abs(noised - a)) / asked.law.spread
        return total

    return loss_between(ratios(one), ratios(two), 1.0, 0.0)


def sure(asked: PreprocessedRelease, one: Sequence[int], two: Sequence[int], size: int) -> float:
    """What the measured loss exceeds, but for `P_THRESHOLD`."""
    scale = scale_of_rows(asked)
    if scale is None:
        return certain(laplace_shares(asked.law.spread, abs(exact(asked, one, 0) - exact(asked, two, 0)), 1.0), size)
    return certain(shares_by_rows(asked, one, two, scale), size)


def shares_by_rows(
    asked: PreprocessedRelease, one: Sequence[int], two: Sequence[int], scale: float
) -> Iterator[tuple[float, float]]:
    """The chances of {ratio >= cut} where the answer follows from a noised number of rows, summed over that number.

    What lies beyond 25 scales, less than 10^-10 of it, is counted where it makes the loss less.
    """
    reach = math.ceil(25 * scale)
    numbers = range(min(len(one), len(two)) - reach, max(len(one), len(two)) + reach + 1)
    given = [(n, abs(exact(asked, one, n) - exact(asked, two, n))) for n in numbers]
    told = [(abs(n - len(two)) - abs(n - len(one))) / scale for n in numbers]
    for cut in CUTS:
        p, q = 0.0, 1e-10
        for (n, apart), already in zip(given, told, strict=True):
            enough, other = laplace_share(asked.law.spread, apart, cut - already)
            p += enough * at_rows(len(one), n, scale)
            q += other * at_rows(len(two), n, scale)
        yield p, min(1.0, q)


def at_rows(rows: int, noised: int, scale: float) -> float:
    """The chance that so many rows are released as ``noised``."""
    return laplace_below(scale, noised - rows) - laplace_below(scale, noised - rows - 1)


FALSE = pytest.mark.chance(P_THRESHOLD, "the measured loss is above the real one")
BLIND = pytest.mark.chance(P_THRESHOLD, "it is below what the exact chances of its events make sure")


@pytest.mark.every(2)
@FALSE
@BLIND
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("function", "named"), [*((name, True) for name in FUNCTIONS), *BY_RULE])
def test_the_measured_loss_comes_near_the_charge_and_never_exceeds_it(function: str, named: bool, size: int) -> None:
    asked, rows = release(function, named), worst(function, 4)
    least = sure(asked, rows, rows[:-1], size)
    assert least < measured(asked, rows, rows[:-1], size) <= 1
    assert least >= LEAST[size][named]


@FALSE
@BLIND
@pytest.mark.parametrize("function", ["quantile_cont", pytest.param("avg", marks=pytest.mark.slow)])
def test_a_unit_with_two_rows_loses_no_more_than_one_with_one(function: str) -> None:
    asked, rows = release(function, True, TWO_ROWS), worst(function, 5)
    assert sure(asked, rows, rows[:-2], ENOUGH) > 0.6
    assert 0.6 < measured(asked, rows, rows[:-2], ENOUGH) <= 1


@FALSE
@BLIND
@pytest.mark.parametrize("function", ["quantile_cont", pytest.param("avg", marks=pytest.mark.slow)])
def test_a_replaced_unit_loses_no_more_than_it_pays(function: str) -> None:
    rows, others = [FAR[0]] * 4, [FAR[0]] * 3 + [FAR[1]]
    asked = release(function, True, neighbours="replace_one")
    assert sure(asked, rows, others, ENOUGH) > 0.6
    assert 0.6 < measured(asked, rows, others, ENOUGH) <= 1


@BLIND
@pytest.mark.parametrize("function", ["quantile_cont", pytest.param("avg", marks=pytest.mark.slow)])
def test_a_replaced_unit_loses_twice_what_one_that_leaves_does(function: str) -> None:
    rows, others, size = [FAR[0]] * 4, [FAR[0]] * 3 + [FAR[1]], 5_000
    asked = release(function, True)
    assert sure(asked, rows, others, size) > 1.2
    assert measured(asked, rows, others, size) > 1.2


@BLIND
def test_half_the_noise_is_measured() -> None:
    asked, rows = release("avg", True), worst("avg", 4)
    louder = replace(asked, law=LaplaceLaw(asked.law.scale / 2))
    assert sure(louder, rows, rows[:-1], 3_000) > 1
    assert measured(louder, rows, rows[:-1], 3_000) > 1
