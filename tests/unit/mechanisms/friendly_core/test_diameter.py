"""The search for the data's diameter: sensitivity on random predicates, and which radius wins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from dpsql.mechanisms.friendly_core.diameter import DiameterSearch, inflation, tolerance
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.friendly_core.graphs import random_graph

TOLERANCES = [Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)]


def near_pairs(matrix: np.ndarray, cycle: list[int]) -> int:
    return int(sum(matrix[a, b] for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)))


@pytest.mark.every(2)
@pytest.mark.parametrize("kept", TOLERANCES)
def test_a_row_put_into_the_cycle_moves_no_term_by_more_than_the_sensitivity(kept: Fraction) -> None:
    rng = np.random.default_rng(4)
    search, widest = DiameterSearch(1, 2, Fraction(1), kept), Fraction(0)
    for _ in range(3000):
        n = int(rng.integers(0, 9))
        matrix = random_graph(n + 1, rng)
        cycle = rng.permutation(n).tolist()
        for place in range(max(1, n)):
            longer = [*cycle[:place], n, *cycle[place:]]
            moved = (1 - kept) - (near_pairs(matrix, longer) - near_pairs(matrix, cycle))
            widest = max(widest, abs(moved))
    assert widest == search.sensitivity  # attained, and never passed


def test_a_row_replaced_moves_no_term_by_more_than_two() -> None:
    rng = np.random.default_rng(4)
    widest = 0
    for _ in range(2000):
        n = int(rng.integers(1, 8))
        matrix = random_graph(n + 1, rng)
        cycle = rng.permutation(n).tolist()
        other = [n if row == 0 else row for row in cycle]
        widest = max(widest, abs(near_pairs(matrix, cycle) - near_pairs(matrix, other)))
    assert widest == DiameterSearch(1, 2, Fraction(1), Fraction(1, 2), swap=True).sensitivity == 2


def test_a_row_in_a_random_place_of_a_random_cycle_leaves_a_random_cycle() -> None:
    # The coupling of the proof, by enumeration of cycles on 4 rows.
    seen: dict[tuple[int, ...], int] = {}
    for cycle in permutations(range(3)):
        for place in range(3):
            longer = [*cycle[:place], 3, *cycle[place:]]
            first = longer.index(0)
            key = tuple(longer[first:] + longer[:first])
            seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 6
    assert len(set(seen.values())) == 1


def test_scores_are_those_of_the_definition() -> None:
    search = DiameterSearch(2, 20, Fraction(1), Fraction(1, 4))
    distances = np.array([0.0, 1, 3, 3, 6, 7, 8, 9, 11, 30])
    assert search.candidates == (2, 3, 5, 7, 11, 16, 20)
    a = [Fraction(3, 4) * 10 - int((distances <= r).sum()) for r in search.candidates[:-1]]
    nothing = Fraction(0)
    middle = [min(nothing, -x, y) for x, y in zip(a[1:], a[:-1], strict=True)]
    expected = [min(nothing, -a[0]), *middle, min(nothing, a[-1])]
    assert search.scores(distances) == [20 * q for q in expected]


def test_scores_move_by_no_more_than_the_sensitivity_on_neighbouring_cycles() -> None:
    rng = np.random.default_rng(9)
    search = DiameterSearch(1, 100, Fraction(1), Fraction(1, 5))
    for _ in range(500):
        points = rng.integers(0, 120, (8, 1))

        def scores(order: list[int], points: np.ndarray = points) -> np.ndarray:
            cycle = points[order, 0]
            return np.array(search.scores(np.sort(np.abs(cycle - np.roll(cycle, -1)).astype(float))))

        order = rng.permutation(8).tolist()
        shorter = [row for row in order if row != 7]
        assert np.abs(scores(order) - scores(shorter)).max() <= 20 * search.sensitivity


@pytest.mark.parametrize("dimensions", [1, 2, 10])
@pytest.mark.parametrize("deviation", [30, 10**6])
def test_the_radius_is_that_of_the_data(dimensions: int, deviation: int) -> None:
    sampler = FixedSampler(1)
    rng = np.random.default_rng(3)
    points = np.rint(10**9 + deviation * rng.standard_normal((4000, dimensions))).astype(np.int64)
    epsilon = Fraction(1, 10)
    search = DiameterSearch(1, 10**9, epsilon, tolerance(epsilon, 4000))
    chosen = sorted(search.choose(points, sampler) for _ in range(20))
    typical = math.sqrt(2 * dimensions) * deviation
    assert typical < chosen[2]
    assert chosen[17] < 7 * typical


def test_equal_rows_have_the_least_radius_and_far_apart_ones_the_largest() -> None:
    sampler = FixedSampler(1)
    search = DiameterSearch(10, 1000, Fraction(10), Fraction(1, 20))
    assert search.choose(np.full((500, 1), 77), sampler) == 15
    assert search.choose(np.arange(500)[:, None] * 10**6, sampler) == 1500


def test_nobody_has_some_radius_all_the_same() -> None:
    assert DiameterSearch(10, 1000, Fraction(1), Fraction(1, 2)).choose(np.zeros((0, 2), np.int64), Noiseless()) == 30


def test_fewer_rows_tolerate_more_pairs_and_inflate_more() -> None:
    assert [tolerance(Fraction(1, 10), n) for n in (1, 500, 3000, 10**6)] == [
        Fraction(1, 2), Fraction(1, 2), Fraction(1, 10), Fraction(1, 20)
    ]  # fmt: skip
    assert [inflation(t) for t in (Fraction(1, 2), Fraction(1, 5), Fraction(1, 20))] == [3, 2, Fraction(3, 2)]


def test_a_scale_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="1 <= low <= high"):
        DiameterSearch(0, 5, Fraction(1), Fraction(1, 2))
    with pytest.raises(ValueError, match="multiple of 1/20"):
        DiameterSearch(1, 5, Fraction(1), Fraction(1, 3))
