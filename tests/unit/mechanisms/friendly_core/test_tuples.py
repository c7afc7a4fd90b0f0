"""Tuples that match: the predicate against its definition, the constants that add up, exactness at the extremes."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.friendly_core.tuples import LARGEST, NEVER, aligned, gaps, permuted, squared_distances

Tuples = npt.NDArray[np.int64]


def matching(x: Tuples, y: Tuples, inverse_constant: int) -> tuple[int, ...] | None:
    """By definition: the permutation that matches, with constant 1 / inverse_constant, or None."""
    between = [[sum((int(a) - int(b)) ** 2 for a, b in zip(p, q, strict=True)) for q in y] for p in x]
    k = len(x)
    for pi in permutations(range(k)):
        if all(
            inverse_constant**2 * between[i][pi[i]] < min(between[i][pi[j]], between[j][pi[i]])
            for i in range(k)
            for j in range(k)
            if i != j
        ):
            return pi
    return None


def sorted_points(tuples: Tuples) -> Tuples:
    return np.array([sorted(map(tuple, one.tolist())) for one in tuples])


def noisy_copies(rng: np.random.Generator, t: int, k: int, d: int, noise: int) -> Tuples:
    """t tuples around one, each with its points in an order of its own."""
    centre = rng.integers(-1000, 1000, (k, d))
    copies = centre + rng.integers(-noise, noise + 1, (t, k, d))
    return np.array([one[rng.permutation(k)] for one in copies])


@pytest.mark.parametrize(("k", "d", "noise"), [(1, 2, 50), (2, 1, 60), (3, 2, 60), (3, 1, 25), (4, 3, 100)])
def test_gaps_are_what_the_definition_says(k: int, d: int, noise: int) -> None:
    rng = np.random.default_rng(k * 10 + d)
    seen = set()
    for _ in range(6):
        tuples = sorted_points(noisy_copies(rng, 7, k, d, noise))
        found = gaps(tuples)
        for i, j in combinations(range(len(tuples)), 2):
            pi = matching(tuples[i], tuples[j], 7)
            seen.add(pi is None)
            wanted = NEVER if pi is None else max(((tuples[i] - tuples[j][list(pi)]) ** 2).sum(axis=1))
            assert found[i, j] == found[j, i] == wanted
    assert seen == ({False} if k == 1 else {True, False})


def test_small_whole_numbers_with_many_ties_match_by_definition_too() -> None:
    rng = np.random.default_rng(3)
    tuples = sorted_points(rng.integers(0, 9, (60, 2, 1)) * rng.choice([1, 8], (60, 2, 1)))
    found = gaps(tuples)
    for i, j in combinations(range(60), 2):
        same = bool((tuples[i] == tuples[j]).all())
        assert (found[i, j] < NEVER) == (same or matching(tuples[i], tuples[j], 7) is not None)


def test_equal_tuples_match_even_with_equal_points() -> None:
    twice = np.array([[[5, 5], [5, 5], [90, 0]]] * 3 + [[[5, 5], [5, 6], [90, 0]]])
    found = gaps(twice)
    assert (found[:3, :3] == 0).all(), "a predicate is reflexive; the definition alone is not, on equal points"
    assert (found[3, :3] == NEVER).all()
    assert found[3, 3] == 0


@pytest.mark.parametrize(("apart", "together", "noise"), [(7, 3, 5), (3, 1, 13)])
def test_tuples_with_a_common_friend_match_with_the_larger_constant_and_compose(
    apart: int, together: int, noise: int
) -> None:
    rng = np.random.default_rng(apart)
    tried = 0
    for _ in range(3000):
        y = rng.integers(-60, 60, (3, 1))
        x, z = (y + rng.integers(-noise, noise + 1, (3, 1)) for _ in range(2))
        first, second = matching(x, y, apart), matching(y, z, apart)
        if first is not None and second is not None:
            tried += 1
            assert matching(x, z, together) == tuple(second[i] for i in first)
    assert tried > 100


def test_points_in_far_balls_match_always() -> None:
    rng = np.random.default_rng(5)
    centres = np.array([[0, 0], [1700, 0], [0, 1700]])  # 17 radii apart
    angles = rng.uniform(0, 2 * np.pi, (30, 3))
    tuples = centres + np.rint(99 * np.stack([np.cos(angles), np.sin(angles)], axis=2)).astype(np.int64)
    assert (gaps(sorted_points(tuples)) < NEVER).all()


def test_the_order_of_places_is_one_order_whichever_tuple_comes_first() -> None:
    rng = np.random.default_rng(6)
    tuples = noisy_copies(rng, 20, 5, 2, 8)
    assert (gaps(sorted_points(tuples)) < NEVER).all()
    orders = set()
    for first in range(20):
        places = aligned(np.roll(tuples, -first, axis=0))
        back = np.roll(places, first, axis=0)
        orders.add(tuple(sorted(map(tuple, back.reshape(20, 5, 2).transpose(1, 0, 2).reshape(5, -1).tolist()))))
        assert (np.sort(back, axis=1) == np.sort(tuples, axis=1)).all()
    assert len(orders) == 1


def test_places_change_order_together() -> None:
    tuples = np.arange(12).reshape(2, 3, 2)
    assert permuted(tuples, [2, 0, 1]).tolist() == [[one[2], one[0], one[1]] for one in tuples.tolist()]


def test_squared_distances_are_exact_at_the_largest_coordinates() -> None:
    rng = np.random.default_rng(7)
    d = 300
    points = rng.integers(-LARGEST, LARGEST + 1, (6, d)) // 18  # of a norm just below the largest
    assert ((points.astype(object) ** 2).sum(axis=1) <= LARGEST**2).all()
    points[0, 0] += 1
    found = squared_distances(points, points)
    for i in range(6):
        for j in range(6):
            assert int(found[i, j]) == sum(int(v) ** 2 for v in points[i] - points[j])


def test_the_gap_of_two_tuples_depends_on_no_other() -> None:
    rng = np.random.default_rng(8)
    tuples = sorted_points(noisy_copies(rng, 9, 4, 3, 60))
    far = np.full((1, 4, 3), LARGEST // 2)
    assert (gaps(np.concatenate([tuples, far]))[:9, :9] == gaps(tuples)).all()
