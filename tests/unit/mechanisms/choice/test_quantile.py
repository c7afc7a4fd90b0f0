"""Quantiles: exact losses on tiny grids, exact order statistics without noise, honest intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.choice.landscape import Draw, Rank, landscape
from dpsql.mechanisms.choice.quantile import COUNT, QuantileRelease
from dpsql.mechanisms.exponential import Exponential
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.turns import in_turns
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.asking import CITY, COST, FEW_ROWS, HALF, asking, counted, offered

TINY = Grid(Fraction(1), low=-1, high=2)
DATA = [rows for size in range(4) for rows in combinations_with_replacement(range(-1, 3), size)]
STATISTICS = [("quantile_cont", Fraction(1, 2)), ("quantile_disc", Fraction(1, 2)), ("quantile_cont", Fraction(1, 3))]
STATISTICS += [
    ("quantile_disc", Fraction(4, 5)),
    ("quantile_cont", Fraction(1)),
    ("min", Fraction(0)),
    ("max", Fraction(1)),
]
PRICES = [HALF, Price(Fraction(3), Fraction(0)), Price(None, Fraction(0), rho=Fraction(1, 3))]
ORDERS = (2, 10)

ALONE = Options(interval="none")

every = pytest.mark.parametrize(("function", "fraction"), STATISTICS)


def each_with(names: str, others: Sequence[tuple[object, ...]]) -> pytest.MarkDecorator:
    """Each statistic with each of these."""
    return pytest.mark.parametrize(f"function, fraction, {names}", in_turns(STATISTICS, others))


def quantile(request: Request) -> QuantileRelease:
    release = offered(Exponential().offer(request))
    assert isinstance(release, QuantileRelease)
    return release


def without_noise(function: str, data: Sequence[int], grid: Grid, fraction: Fraction = Fraction(1, 2)) -> float:
    release = quantile(asking(function, grid=grid, fraction=fraction))
    return float(release.release(counted(Counter(data)), Noiseless()).values[0])


@cache
def outcomes(data: tuple[int, ...], draw: Draw, grid: Grid) -> list[Decimal]:
    """The chance of every grid point."""
    values = sorted(set(data))
    rows = np.array([data.count(value) for value in values], dtype=np.int64)
    widths, scores = landscape(np.array(values, dtype=np.int64), rows, grid, draw.rank, draw.deepest)
    return chances.exponential(widths.tolist(), scores.tolist(), draw.exponent)


def added(m: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Data, and the same with 1 to m rows more."""
    for data in DATA:
        for more in range(1, m + 1):
            for rows in combinations_with_replacement(range(-1, 3), more):
                yield data, tuple(sorted(data + rows))


def swapped(m: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Data with 0 to m rows of one unit, and with 0 to m rows of another."""
    units = [rows for size in range(m + 1) for rows in combinations_with_replacement(range(-1, 3), size)]
    for data in ((), (0,), (-1, 2)):
        for one in units:
            for two in units:
                yield tuple(sorted(data + one)), tuple(sorted(data + two))


def worst(release: QuantileRelease, pairs: Iterator[tuple[tuple[int, ...], tuple[int, ...]]]) -> Decimal:
    """The largest loss of a path over all pairs; Renyi divergences are checked on the way."""
    assert isinstance(release.loss, Pure)
    assert release.loss.rho is not None
    grid, most, ways = release.query.grid, Decimal(0), paths(release)
    every = list({draw for draws in ways for draw in draws})  # some follow several numbers of rows
    places = [[every.index(draw) for draw in draws] for draws in ways]
    known = cache(lambda data: [outcomes(data, draw, grid) for draw in every])
    for one, two in dict.fromkeys(pairs):
        counted_apart = of_count(release, one, two)
        sides = list(zip(known(one), known(two), strict=True))
        losses = [chances.loss(*both) for both in sides]
        for draws in places:
            most = max(most, sum((losses[at] for at in draws), exact(counted_apart)))
        for order in ORDERS:
            apart = [chances.renyi(*both, order) for both in sides]
            for draws in places:
                total = sum((apart[at] for at in draws), exact(counted_apart**2 * order / 2))
                assert chances.within(total, order * release.loss.rho)
    return most


def paths(release: QuantileRelease) -> list[tuple[Draw, ...]]:
    """The draws that follow each number of rows that may be released: with no end, one, and both, or inside."""
    sizes = (0, *(k * draw.rank.offset for draw in drawn(release)[1:] for k in (-4, -2, 2, 4)), 10**12)
    return list(dict.fromkeys(drawn(release, rows) for rows in sizes))


def drawn(release: QuantileRelease, rows: int | None = None) -> tuple[Draw, ...]:
    return tuple(release.draws(rows).values())


def of_count(release: QuantileRelease, one: Sequence[int], two: Sequence[int]) -> Fraction:
    """How far apart the chances of a noised number of rows are, as a log of their ratio."""
    return abs(len(one) - len(two)) * release.count


def exact(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


@pytest.mark.every(2)
@each_with("price, rows", [(HALF, 2), *((price, 1) for price in PRICES)])
def test_no_added_rows_lose_more_than_is_charged(function: str, fraction: Fraction, price: Price, rows: int) -> None:
    held = Contribution(rows, 1, rows)
    release = quantile(asking(function, fraction=fraction, grid=TINY, price=price, held=held))
    assert isinstance(release.loss, Pure)
    assert chances.within(worst(release, added(rows)), release.loss.epsilon)


@pytest.mark.every(2)
@each_with("rows", [(1,), (2,)])
def test_no_swapped_rows_lose_more_than_is_charged(function: str, fraction: Fraction, rows: int) -> None:
    held = Contribution(rows, 1, rows)
    release = quantile(asking(function, fraction=fraction, grid=TINY, held=held, neighbours="replace_one"))
    assert isinstance(release.loss, Pure)
    assert chances.within(worst(release, swapped(rows)), release.loss.epsilon)


@pytest.mark.every(2)
@each_with("price", [(price,) for price in PRICES])
def test_without_an_interval_the_whole_price_is_for_the_value(function: str, fraction: Fraction, price: Price) -> None:
    held = Contribution(2, 1, 2)
    alone, bracketed = (
        quantile(asking(function, fraction=fraction, grid=TINY, price=price, held=held, options=options))
        for options in (ALONE, Options())
    )
    assert isinstance(alone.loss, Pure)
    assert chances.within(worst(alone, added(2)), alone.loss.epsilon)
    assert len(alone.rates) == 1
    assert alone.rates[0] > bracketed.rates[0] * (2 if price.rho is None else Fraction(6, 5)) * Fraction(999, 1000)


def test_without_an_interval_the_charge_is_tight() -> None:
    grid = Grid(Fraction(1), 0, 20_000)
    release = quantile(asking("quantile_cont", grid=grid, options=ALONE))
    (draw,) = drawn(release)
    loss = chances.loss(outcomes((0,), draw, grid), outcomes((0, 19_999), draw, grid))
    assert 0.99 * float(HALF.epsilon or 0) < float(loss) <= float(HALF.epsilon or 0)


def test_without_an_interval_there_is_none_and_the_expected_error_is_told() -> None:
    release = quantile(asking("quantile_cont", options=ALONE))
    bracketed = quantile(asking("quantile_cont"))
    released = release.release(counted({500: 10**6}, {}), FixedSampler(3))
    assert set(released.columns) == {"value"}
    assert release.intervals(released, 0.95) == [(None, None)] * 2
    assert (
        release.half_width
        == release.expected_error
        == pytest.approx(bracketed.expected_error * float(1 - COUNT) / 2, rel=1e-6)
    )
    assert release.notes
    assert not bracketed.notes


def test_the_charge_is_tight_and_a_larger_exponent_would_be_seen() -> None:
    # One row at 0, then a second near the top: all points between them gain what the top loses.
    grid = Grid(Fraction(1), 0, 20_000)
    release = quantile(asking("quantile_cont", grid=grid))
    one_loss = {}
    for factor in (1, 2):
        draw = replace(release.answer(0), exponent=factor * release.answer(0).exponent)
        one_loss[factor] = chances.loss(outcomes((0,), draw, grid), outcomes((0, 19_999), draw, grid))
    assert 0.99 * float(release.rates[0]) < float(one_loss[1]) <= float(release.rates[0])
    assert not chances.within(one_loss[2], release.rates[0])


@pytest.mark.every(2)
@each_with("neighbours", [("add_remove",), ("replace_one",)])
def test_rows_in_several_groups_lose_no_more_than_is_charged(
    function: str, fraction: Fraction, neighbours: str
) -> None:
    # Two rows over two groups; under replace_one they may leave one group and come to the other.
    held = Contribution(rows=2, groups=2, rows_in_group=2)
    request = asking(function, fraction=fraction, grid=TINY, held=held, keys=(CITY,), neighbours=neighbours)
    release = quantile(request)
    assert isinstance(release.loss, Pure)
    one_row, ways = {rows: Decimal(0) for rows in (1, 2)}, paths(release)
    for one, two in dict.fromkeys(added(2)):
        rows, counted_apart = len(two) - len(one), exact(of_count(release, one, two))
        for draws in ways:
            apart = (chances.loss(outcomes(one, draw, TINY), outcomes(two, draw, TINY)) for draw in draws)
            one_row[rows] = max(one_row[rows], sum(apart, counted_apart))
    everywhere = max(2 * one_row[1], one_row[2]) * request.neighbour_rows
    assert chances.within(everywhere, release.loss.epsilon)


def test_a_replaced_row_costs_less_than_one_that_goes_and_one_that_comes() -> None:
    plain = {"fraction": Fraction(9, 10), "neighbours": "replace_one"}
    whole = quantile(asking("quantile_cont", **plain))  # type: ignore[arg-type]  # passed on to asking
    grouped = quantile(asking("quantile_cont", keys=(CITY,), **plain))  # type: ignore[arg-type]  # passed on to asking
    assert whole.answer(0).exponent == Fraction(9, 5) * grouped.answer(0).exponent


def test_priced_by_rho_a_unit_in_many_groups_pays_for_its_squares() -> None:
    rho = Fraction(1, 8)
    release = quantile(asking("max", held=FEW_ROWS, keys=(CITY,), price=Price(None, Fraction(0), rho=rho)))
    assert isinstance(release.loss, Pure)
    assert release.loss.rho is not None
    assert rho * (1 - Fraction(1, 10**9)) < release.loss.rho <= rho
    assert release.loss.epsilon < 12 * (release.count + sum(release.rates)) * (1 + Fraction(1, 10**9))


@pytest.mark.every(2)
@pytest.mark.parametrize("p", ["0", "0.1", "0.25", "1/3", "0.5", "0.75", "0.9", "0.999", "1"])
def test_without_noise_a_quantile_lies_between_the_two_values_next_to_it(p: str) -> None:
    rng, fraction = np.random.default_rng(5), Fraction(p)
    grid = Grid(Fraction(1), 0, 300)
    for size in (*range(1, 12), 60, 61):
        data = sorted(rng.integers(0, 301, size).tolist())
        place = fraction * (size - 1)
        continuous = without_noise("quantile_cont", data, grid, fraction)
        assert data[math.floor(place)] <= continuous <= data[math.ceil(place)]
        discrete = without_noise("quantile_disc", data, grid, fraction)
        assert discrete == data[max(1, math.ceil(fraction * size)) - 1]  # DuckDB's rule


def test_without_noise_the_median_of_an_even_number_is_the_middle_of_two() -> None:
    assert without_noise("quantile_cont", [1, 4, 10, 90], Grid(Fraction(1), 0, 100)) == 7
    assert without_noise("quantile_disc", [1, 4, 10, 90], Grid(Fraction(1), 0, 100)) == 4


def test_without_noise_min_and_max_are_exact() -> None:
    grid = Grid(Fraction(1, 10), 0, 1000)
    assert without_noise("min", [37, 500, 993], grid) == 3.7
    assert without_noise("max", [37, 500, 993], grid) == 99.3


@every
def test_an_empty_group_gives_the_middle_without_noise(function: str, fraction: Fraction) -> None:
    release = quantile(asking(function, fraction=fraction, grid=Grid(Fraction(1), 0, 100)))
    released = release.release(counted({}, {}), Noiseless())
    assert list(released.values) == [50, 50]
    assert release.intervals(released, 0.95) == [(0, 100), (0, 100)]


def test_an_empty_group_gives_any_point_with_equal_chance() -> None:
    assert len(set(outcomes((), quantile(asking("quantile_cont", grid=TINY)).answer(0), TINY))) == 1


def test_every_group_is_answered_from_its_own_rows_in_whatever_order_they_come() -> None:
    release = quantile(asking("max"))
    table = {"group": [3, 0, 3, 0, 1], "value": [30, 40, 10, 20, 50], "rows": [1, 1, 1, 1, 1]}
    released = release.release(RawTable(table, size=5), Noiseless())
    assert list(released.values) == [4.0, 5.0, 17.2, 3.0, 17.2]  # of no rows: the middle by weight


def test_released_points_are_whole_numbers_on_a_whole_grid() -> None:
    released = quantile(asking("min", grid=TINY)).release(counted({0: 4}), FixedSampler(2))
    assert all(type(value) is int for column in released.columns.values() for value in column)


@every
def test_either_end_of_the_interval_is_wrong_at_most_once_in_200(function: str, fraction: Fraction) -> None:
    # Exact chances, on data with ties, at the ends of the grid and far from them.
    grid, rng = Grid(Fraction(1), 0, 40), np.random.default_rng(4)
    release = quantile(asking(function, fraction=fraction, grid=grid, price=Price(Fraction(2), Fraction(0))))
    ends = dict(zip(release.query.ends, drawn(release)[1:], strict=True))
    for size in (1, 2, 30, 200, 1000):
        for data in (rng.integers(0, 41, size), rng.integers(20, 22, size), rng.integers(0, 2, size) * 40):
            place = fraction * (size - 1)
            data = np.sort(data)
            least, most = data[math.floor(place)], data[math.ceil(place)]
            for side, draw in ends.items():
                chance = outcomes(tuple(data.tolist()), draw, grid)
                wrong = chance[least + 1 :] if side < 0 else chance[:most]
                assert sum(wrong, Decimal(0)) <= Decimal(1) / 200


def test_the_interval_narrows_as_rows_are_added() -> None:
    widths = []
    for rows in (1, 10, 100):
        release = quantile(asking("quantile_cont", rows_about=1000 * rows))
        released = release.release(counted(dict.fromkeys(range(0, 1000), rows)), FixedSampler(3))
        low, high = release.intervals(released, 0.95)[0]
        assert low is not None
        assert high is not None
        widths.append(high - low)
        assert (high - low) / 2 == pytest.approx(release.half_width, rel=0.6)
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 10)])
def test_a_group_of_few_rows_has_the_price_of_its_ends_for_its_answer(fraction: Fraction) -> None:
    release = quantile(asking("quantile_cont", fraction=fraction))
    few, many = drawn(release, 100), drawn(release, 10**6)
    assert len(few) == 1
    assert len(many) == 3
    assert few[0].exponent == 2 * many[0].exponent
    assert (release.count + sum(release.rates)) == HALF.epsilon == release.count + release.merged[-1]
    released = release.release(counted(dict.fromkeys(range(50), 1), dict.fromkeys(range(1000), 100)), Noiseless())
    assert released.columns["count"] == [50, 100_000]
    (wide, narrow) = release.intervals(released, 0.95)
    assert wide == (0, 100)
    assert narrow[0] is not None
    assert narrow[1] is not None
    assert 0 < narrow[0] < narrow[1] < 100


def test_one_end_is_drawn_where_rows_suffice_on_its_side_alone() -> None:
    release = quantile(asking("quantile_cont", fraction=Fraction(9, 10)))
    reach = release.reach(Rank(Fraction(9, 10)), release.rates[1])
    assert release.sides(2 * reach) == (-1,)
    assert release.sides(11 * reach) == (-1, 1)
    assert release.sides(reach) == ()
    assert release.draws(2 * reach)[0].exponent == release.answer(1).exponent


def test_no_smaller_sensitivity_of_a_lopsided_score_would_do() -> None:
    # Rows at both ends; one more near the top lets a point between gain what one below loses.
    grid = Grid(Fraction(1), 0, 20_000)
    release = quantile(asking("quantile_cont", fraction=Fraction(9, 10), grid=grid, options=ALONE))
    draw, rows = release.answer(0), (0,) * 9 + (10,)
    assert draw.rank.factors == (1, 2)
    loss = chances.loss(outcomes(rows, draw, grid), outcomes((*rows, 19_999), draw, grid))
    assert 0.9 * float(HALF.epsilon or 0) < float(loss)
    assert chances.within(loss, HALF.epsilon or Fraction(0))


def test_above_99_percent_the_interval_is_all_of_the_bounds() -> None:
    release = quantile(asking("quantile_cont"))
    released = release.release(counted({500: 10**6}), FixedSampler(3))
    low, high = release.intervals(released, 0.99)[0]
    assert low is not None
    assert high is not None
    assert high - low < 1
    assert release.intervals(released, 0.995) == [(0, 100)]


def test_a_declared_spread_makes_a_smaller_error_expected() -> None:
    plain, typical = (
        quantile(asking("quantile_cont", facts=facts))
        for facts in (COST.facts, replace(COST.facts, spread=Fraction(2)))
    )
    assert typical.half_width < plain.half_width / 5


def test_a_price_of_nearly_nothing_is_still_exact() -> None:
    release = quantile(asking("quantile_cont", price=Price(Fraction(1, 10**12), Fraction(0)), fraction=Fraction(1, 3)))
    released = release.release(counted({500: 10**6, 700: 1}), FixedSampler(1))
    assert 0 <= released.values[0] <= 100
    assert release.intervals(released, 0.95) == [(0, 100)]


def test_a_quantile_without_bounds_or_of_one_value_is_refused() -> None:
    for grid, why in ((None, "has no bounds"), (Grid(Fraction(1), 3, 3), "one value only")):
        answer = Exponential().offer(asking("quantile_cont", grid=grid))
        assert isinstance(answer, Refusal)
        assert why in answer.reason


def test_a_fraction_outside_0_and_1_is_a_broken_invariant() -> None:
    with pytest.raises(InvariantBroken):
        Exponential().offer(asking("quantile_cont", fraction=Fraction(3, 2)))
