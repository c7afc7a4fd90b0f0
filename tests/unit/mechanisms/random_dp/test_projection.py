"""The projection onto whole histograms, against every histogram there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms.random_dp.projection import project
from tests.effort import few_calls


def histograms(cells: int, points: int) -> Iterator[tuple[int, ...]]:
    """Every way to put so many points into so many cells."""
    if cells == 1:
        yield (points,)
        return
    for first in range(points + 1):
        yield from ((first, *rest) for rest in histograms(cells - 1, points - first))


def distances(m: Sequence[int], y: Sequence[int]) -> tuple[int, int]:
    """In L1, then in squared L2."""
    return sum(abs(a - b) for a, b in zip(m, y, strict=True)), sum((a - b) ** 2 for a, b in zip(m, y, strict=True))


@given(st.lists(st.integers(-5, 8), min_size=1, max_size=4), st.integers(0, 10))
def test_no_histogram_is_nearer(noised: list[int], points: int) -> None:
    found = project(noised, points).tolist()
    assert min(found) >= 0
    assert sum(found) == points
    assert distances(found, noised) == min(distances(m, noised) for m in histograms(len(noised), points))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_a_histogram_is_its_own_projection(counts: list[int]) -> None:
    assert project(counts, sum(counts)).tolist() == counts


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(-40, 40)), min_size=1, max_size=40))
def test_it_is_at_most_twice_as_far_from_the_truth_as_the_noise(pairs: list[tuple[int, int]]) -> None:
    truth, noised = [count for count, _ in pairs], [count + noise for count, noise in pairs]
    found = project(noised, sum(truth)).tolist()
    assert distances(found, truth)[0] <= 2 * distances(noised, truth)[0]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=200), st.integers(0, 10**7))
def test_large_numbers_take_the_same_way(noised: list[int], points: int) -> None:
    wide = project([value << 60 for value in noised], points << 60)
    assert sum(wide.tolist()) == points << 60
    assert [round(value / 2**60) for value in wide.tolist()] == pytest.approx(project(noised, points).tolist(), abs=1)


def test_ties_are_shared_out_instead_of_falling_on_the_first() -> None:
    assert project([0, 0, 0, 0], 8).tolist() == [2, 2, 2, 2]
    assert project([9, 9, 1], 10).tolist() == [5, 5, 0]


def test_points_need_a_cell() -> None:
    assert project([], 0).tolist() == []
    for wrong in ([], [3]):
        with pytest.raises(ValueError, match="cannot lie"):
            project(wrong, -1 if wrong else 1)


def test_a_million_cells_take_no_call_each() -> None:
    noised = np.random.default_rng(3).integers(-60, 100, 10**6)
    for points in (10**5, int(noised[noised > 0].sum()), 10**8):
        with few_calls(1_000):
            projected = project(noised, points)
        assert int(projected.sum()) == points
