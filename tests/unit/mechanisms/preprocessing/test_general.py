"""The general recursion: what it promises for any function, in one and in two dimensions."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations

import pytest

from dpsql.mechanisms.preprocessing import output_steps, sensitivity_steps
from tests.unit.mechanisms.preprocessing.general import preprocess, preprocess_2d

Units = tuple[int, ...]


def any_function(seed: int, spread: int = 20) -> Callable[[Units], Fraction]:
    """A function of sets of units that has no order, no symmetry and no sense, the same at every call."""

    def value(bag: Units) -> Fraction:
        return Fraction(random.Random(f"{seed} {bag}").randint(-spread, spread), 3)

    return value


def subsets(n: int) -> list[Units]:
    """All sets of so many units, smaller ones first."""
    return sorted((tuple(i for i in range(n) if mask >> i & 1) for mask in range(2**n)), key=len)


def without(bag: Units, unit: int) -> Units:
    return tuple(each for each in bag if each != unit)


def everywhere(f: Callable[[Units], Fraction], tolls: list[Fraction], c: Fraction) -> dict[Units, Fraction]:
    """The preprocessed function on every set of units."""
    return {bag: preprocess(f, bag, [tolls[i] for i in bag], c) for bag in subsets(len(tolls))}


def some_tolls(seed: int, n: int) -> list[Fraction]:
    chance = random.Random(seed)
    return [Fraction(chance.choice((0, 1, 2, 5, 20)), 2) for _ in range(n)]


@pytest.mark.parametrize("seed", range(15))
def test_each_unit_moves_any_function_by_its_own_sensitivity_at_most(seed: int) -> None:
    tolls = some_tolls(seed, 5)
    g = everywhere(any_function(seed), tolls, Fraction(1))
    assert all(abs(g[bag] - g[without(bag, i)]) <= tolls[i] for bag in g for i in bag)


@pytest.mark.parametrize("seed", range(15))
def test_it_is_the_only_function_that_gives_way_where_it_must(seed: int) -> None:
    """Where g is not f, some unit's sensitivity is used up, in the direction away from f."""
    f, tolls = any_function(seed), some_tolls(seed, 5)
    g = everywhere(f, tolls, Fraction(1))
    for bag in subsets(5)[1:]:
        used = [g[bag] - g[without(bag, i)] for i in bag]
        if g[bag] < f(bag):
            assert any(step == tolls[i] for step, i in zip(used, bag, strict=True))
        if g[bag] > f(bag):
            assert any(step == -tolls[i] for step, i in zip(used, bag, strict=True))


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(10))
def test_the_error_is_what_the_steps_of_some_order_have_too_much(seed: int) -> None:
    """Theorem 3.3."""
    f, tolls, c = any_function(seed), some_tolls(seed, 5), Fraction(1)
    g = everywhere(f, tolls, c)

    def excess(order: Units) -> Fraction:
        values = [c] + [f(tuple(sorted(order[:k]))) for k in range(1, len(order) + 1)]
        steps = (abs(after - before) for before, after in pairwise(values))
        return sum((max(step - tolls[i], Fraction(0)) for step, i in zip(steps, order, strict=True)), Fraction(0))

    errors = {bag: abs(g[bag] - f(bag)) for bag in g if bag}
    assert all(error <= max(map(excess, permutations(bag))) for bag, error in errors.items())
    assert any(errors.values())


def test_a_function_within_the_sensitivities_is_left_alone() -> None:
    weights = [Fraction(3), Fraction(-1), Fraction(1, 2), Fraction(7)]
    assert preprocess(lambda bag: sum(bag, Fraction(2)), weights, [abs(w) for w in weights], 2) == sum(weights) + 2


def test_no_units_have_the_empty_value() -> None:
    assert preprocess(max, [], 1, Fraction(1, 3)) == Fraction(1, 3)


def test_one_unit_is_clipped_around_the_empty_value() -> None:
    assert [preprocess(max, [v], 5, 10) for v in (-100, 7, 100)] == [5, 7, 15]


def test_units_may_be_records() -> None:
    records = [("ana", 3), ("ben", 90)]
    assert preprocess(lambda bag: sum(cost for _, cost in bag), records, [5, 10], 0) == 13


def test_more_than_twelve_units_are_refused() -> None:
    with pytest.raises(ValueError, match=r"13 units are too many.*use median"):
        preprocess(max, range(13), 1, 0)


def test_more_than_twelve_units_of_a_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="each number by itself, with a share of the epsilon"):
        preprocess_2d(lambda bag: (max(bag), min(bag)), range(13), 1, (0, 0))


def test_a_function_of_floats_is_refused() -> None:
    with pytest.raises(ValueError, match="not an exact number"):
        preprocess(lambda bag: sum(bag) / 2, [1], 1, 0)  # type: ignore[arg-type, return-value]  # the point


# Two numbers.


def any_pair(seed: int) -> Callable[[Units], tuple[Fraction, Fraction]]:
    p, q = any_function(seed), any_function(seed + 1000)
    return lambda bag: (p(bag), q(bag))


@pytest.mark.parametrize("seed", range(15))
def test_each_unit_moves_both_numbers_together_by_its_sensitivity_at_most(seed: int) -> None:
    tolls = some_tolls(seed, 4)
    g = {bag: preprocess_2d(any_pair(seed), bag, [tolls[i] for i in bag], (1, 2)) for bag in subsets(4)}
    moves = {(bag, i): distance(g[bag], g[without(bag, i)]) for bag in g for i in bag}
    assert all(move <= tolls[i] for (_, i), move in moves.items())
    assert any(move == tolls[i] > 0 for (_, i), move in moves.items())


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(6))
def test_the_pair_is_as_near_as_the_neighbours_allow(seed: int) -> None:
    """No point of a fine grid that keeps to every neighbour is nearer to what was wanted."""
    tolls, bag = [Fraction(t) for t in (1, 2, 3)], (0, 1, 2)
    f = any_pair(seed)
    around = [preprocess_2d(f, without(bag, i), [tolls[j] for j in without(bag, i)], (1, 2)) for i in bag]
    found, wanted = preprocess_2d(f, bag, tolls, (1, 2)), f(bag)
    grid = [Fraction(k, 6) for k in range(-60, 61)]
    allowed = [
        (p, q)
        for p in grid
        for q in grid
        if all(distance((p, q), near) <= toll for near, toll in zip(around, tolls, strict=True))
    ]
    assert found in allowed
    assert distance(found, wanted) == min(distance(point, wanted) for point in allowed)


def distance(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction]) -> Fraction:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


# Whole steps.


def test_rounding_down_keeps_the_sensitivity_in_steps() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        delta = Fraction(chance.randint(1, 50), chance.randint(1, 9))
        step = delta / chance.randint(1, 12)
        g = Fraction(chance.randint(-500, 500), chance.randint(1, 30))
        other = g + delta * Fraction(chance.randint(-10, 10), 10)
        assert abs(output_steps(g, step) - output_steps(other, step)) <= sensitivity_steps(delta, step)


def test_a_step_that_does_not_divide_the_sensitivity_is_refused() -> None:
    with pytest.raises(ValueError, match="write a step of 5/3 instead"):
        sensitivity_steps(5, 2)
    with pytest.raises(ValueError, match="write a number above 0"):
        output_steps(5, 0)
