"""Claims about sensitivity preprocessing that are false, each with the data that show it.

Source: Cummings, Durfee 2020, "Individual Sensitivity Preprocessing for Data Privacy"; the counterexamples are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product

import pytest

from dpsql.mechanisms.preprocessing import (
    maximum,
    mean_of,
    median,
    total,
    variance_of,
)
from tests.unit.mechanisms.preprocessing.general import preprocess

Bag = Sequence[Fraction]
NOTHING = Fraction(0)


def mean(bag: Bag) -> Fraction:
    return sum(bag, Fraction(0)) / len(bag)


def middle(bag: Bag) -> Fraction:
    values = sorted(bag)
    return (values[(len(bag) - 1) // 2] + values[len(bag) // 2]) / Fraction(2)


def variance(bag: Bag) -> Fraction:
    return mean([(value - mean(bag)) ** 2 for value in bag])


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
def test_replacing_one_unit_costs_two_deltas_at_every_size(n: int) -> None:
    for form in (mean_of, median):
        before = form([1000] * n, centre=0, sensitivity=1)
        after = form([1000] * (n - 1) + [-(10**6)], centre=0, sensitivity=1)
        assert before - after == 2


def test_the_mean_of_clamped_values_does_not_have_sensitivity_width_over_n() -> None:
    one, two = mean([Fraction(0)]), mean([Fraction(0), Fraction(1)])
    assert abs(two - one) == Fraction(1, 2)  # n = 1 or 2, width 1: 1/n is claimed under add/remove, for the true n


def test_centred_clipping_is_exact_where_preprocessing_is_not() -> None:
    """Both have W = 30 and centre 0; all values lie in [-30, 30], but not within a width of 30."""
    values = [-30, 20]
    assert total(values, 30) / len(values) == mean([Fraction(v) for v in values]) == -5
    assert mean_of(values, centre=0, sensitivity=Fraction(30, len(values))) == 0


def test_a_locally_constant_statistic_may_move_once_preprocessed() -> None:
    """So preprocessing does not only improve smooth sensitivity."""
    values = [100] * 11
    assert all(middle([Fraction(v) for v in values[:n]]) == 100 for n in range(1, 12))
    assert median(values, centre=0, sensitivity=1) == 11
    assert median(values[1:], centre=0, sensitivity=1) == 10


def windows_alone(f: Callable[[Bag], Fraction], units: Sequence[tuple[int, int]]) -> Fraction:
    """The recursion, wrongly looking only at units without the first or without the last in sorted order."""
    g = {(a, a): Fraction(0) for a in range(len(units) + 1)}
    for size in range(1, len(units) + 1):
        for a in range(len(units) - size + 1):
            b = a + size
            wanted = f([Fraction(value) for value, _ in units[a:b]])
            ends = (g[a + 1, b], units[a][1]), (g[a, b - 1], units[b - 1][1])
            g[a, b] = min(max(wanted, *(h - toll for h, toll in ends)), *(h + toll for h, toll in ends))
    return g[0, len(units)]


def least_window_with_tolls(units: Sequence[tuple[int, int]]) -> Fraction:
    """The least variance of a window and the tolls of all that it leaves out."""
    n = len(units)
    return min(
        (variance([Fraction(value) for value, _ in units[a:b]]) if b > a else NOTHING)
        + sum(toll for _, toll in (*units[:a], *units[b:]))
        for a in range(n + 1)
        for b in range(a, n + 1)
    )


@pytest.mark.parametrize(
    ("f", "values", "tolls", "exact", "by_windows"),
    [
        (mean, (0, 0, 1), (1, 0, 2), Fraction(1, 2), Fraction(1, 3)),
        (middle, (1, 0, 0), (1, 1, 0), Fraction(1, 2), Fraction(0)),
        (variance, (0, 1, 0), (1, 1, 0), Fraction(1, 4), Fraction(2, 9)),
    ],
    ids=["mean", "median", "variance"],
)
def test_windows_do_not_suffice_for_sensitivities_of_ones_own(
    f: Callable[[Bag], Fraction],
    values: tuple[int, ...],
    tolls: tuple[int, ...],
    exact: Fraction,
    by_windows: Fraction,
) -> None:
    assert preprocess(f, [Fraction(v) for v in values], tolls, 0) == exact
    programme = least_window_with_tolls if f is variance else lambda units: windows_alone(f, units)
    orders = [
        order for order in permutations(zip(values, tolls, strict=True)) if list(order) == sorted(order, key=by_value)
    ]
    assert by_windows in {programme(order) for order in orders}


def by_value(unit: tuple[int, int]) -> int:
    return unit[0]


def test_they_do_suffice_for_the_maximum() -> None:
    for values, tolls in product(product((0, 1, 5), repeat=3), product((0, 1, 2), repeat=3)):
        assert maximum(values, tolls, centre=0) == preprocess(max, values, tolls, 0)


def test_the_means_error_bound_needs_its_two() -> None:
    values, delta = [Fraction(5), Fraction(-100)], Fraction(20)
    f = mean(values)
    smaller = max(abs(f) - 2 * delta, NOTHING) + sum((max(abs(x - f) / 2 - delta, NOTHING) for x in values), NOTHING)
    g = mean_of(values, centre=0, sensitivity=delta)
    assert (f, g, smaller) == (Fraction(-95, 2), Fraction(-15), Fraction(20))
    assert abs(g - f) > smaller


def test_the_variances_error_bound_needs_its_four() -> None:
    values, delta = [Fraction(v) for v in (5, -1000, 100, 2, -1000)], Fraction(10**5)
    n, f, centre = len(values), variance(values), mean(values)
    far = sum((max(2 * (x - centre) ** 2 / n - f / n - delta, NOTHING) for x in values), NOTHING)
    smaller = max(f - n * delta / 2, far)
    assert f - variance_of(values, sensitivity=delta) > smaller


def test_the_nearest_pair_may_not_be_unique() -> None:
    """The wanted point (3, 3) has a whole edge of the ball around 0 nearest to it."""
    edge = [Fraction(p, 4) for p in range(9)]
    assert {abs(3 - p) + abs(3 - (2 - p)) for p in edge} == {4}


Point = tuple[Fraction | int, ...]
THIRD = Fraction(1, 3)
POINTS: dict[str, Point] = {
    "1": (THIRD,) * 3,
    "2": (THIRD,) * 3,
    "3": (THIRD,) * 3,
    "4": (0, 0, 0),
    "14": (0, 0, 0),
    "24": (0, 0, 0),
    "34": (0, 0, 0),
    "23": (2 * THIRD, THIRD, THIRD),
    "13": (THIRD, 2 * THIRD, THIRD),
    "12": (THIRD, THIRD, 2 * THIRD),
    "234": (1, 0, 0),
    "134": (0, 1, 0),
    "124": (0, 0, 1),
    "123": (2 * THIRD,) * 3,
}


def apart(a: Point, b: Point) -> Fraction:
    return sum((abs(Fraction(x) - y) for x, y in zip(a, b, strict=True)), NOTHING)


def test_three_numbers_at_once_have_no_such_function() -> None:
    """A function of sensitivity 1 on all proper subsets of four units that cannot be extended to all four."""
    for units, point in POINTS.items():
        for fewer in (units.replace(unit, "") for unit in units):
            assert apart(point, POINTS.get(fewer, (0, 0, 0))) <= 1
    largest = [POINTS[units] for units in ("234", "134", "124", "123")]
    assert all(apart(a, b) <= 2 for a in largest for b in largest)
    grid = [THIRD / 2 * k for k in range(-7, 8)]
    meeting: list[Point] = [p for p in product(grid, repeat=3) if all(apart(p, corner) <= 1 for corner in largest[:3])]
    assert meeting == [(0, 0, 0)]
    assert apart(meeting[0], largest[3]) == 2


def test_the_three_corner_balls_meet_in_nothing_but_zero() -> None:
    """Adding up |p - e_i| <= 1: sum_i |p - e_i| >= 3 + |p|, as |1 - x| + 2 |x| >= 1 + |x| for every coordinate."""
    for x in (Fraction(k, 12) for k in range(-36, 37)):
        assert abs(1 - x) + 2 * abs(x) >= 1 + abs(x)


def largest_at(k: int) -> Callable[[tuple[tuple[int, ...], ...]], int]:
    return lambda bag: max(unit[k] for unit in bag)


def test_in_the_largest_coordinate_any_number_of_them_has_one() -> None:
    """Boxes that meet in pairs all meet: coordinate by coordinate."""
    units = [(0, 9, -4), (100, 0, 3), (7, 7, 50), (-30, 2, 2)]

    def g(kept: Sequence[tuple[int, ...]]) -> list[Fraction]:
        return [preprocess(largest_at(k), kept, 5, 0) for k in range(3)]

    for mask in range(1, 16):
        kept = [unit for i, unit in enumerate(units) if mask >> i & 1]
        for unit in kept:
            fewer = [each for each in kept if each != unit]
            assert max(abs(a - b) for a, b in zip(g(kept), g(fewer), strict=True)) <= 5
