"""Whole rows of a given total, against the projection found by bisection and by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms.releases.shares import shared_down, shared_out, sums

VALUES = st.lists(st.integers(-40, 60), min_size=1, max_size=6)


def level(values: list[int], total: int) -> float:
    """The c for which the sum of max(0, v - c) is the total, by bisection."""
    low, high = min(values) - total - 1.0, float(max(values))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(0, v - middle) for v in values) > total else (low, middle)
    return low


@given(VALUES, st.integers(0, 150))
def test_it_is_the_nearest_point_but_for_rounding(values: list[int], total: int) -> None:
    found = shared_out(np.array([values], dtype=float), np.array([total]))[0]
    assert found.min() >= 0
    assert found.sum() == total
    c = level(values, total)
    assert found.tolist() == pytest.approx([max(0.0, v - c) for v in values], abs=1)


@given(st.lists(st.integers(-4, 7), min_size=2, max_size=3), st.integers(0, 8))
def test_no_whole_point_is_much_nearer(values: list[int], total: int) -> None:
    found = shared_out(np.array([values], dtype=float), np.array([total]))[0]
    points = [p for p in product(range(total + 1), repeat=len(values)) if sum(p) == total]
    best = min(sum((a - b) ** 2 for a, b in zip(p, values, strict=True)) for p in points)
    assert ((found - np.array(values)) ** 2).sum() <= best + 1e-9


def test_rows_do_not_mix_and_large_totals_are_exact() -> None:
    values = np.array([[0.3, 0.3, 0.4], [-1e15, 5.0, 5.5]])
    assert shared_out(values, np.array([2**50 + 1, 3])).sum(axis=1).tolist() == [2**50 + 1, 3]
    assert shared_out(values, np.array([0, 3]))[1].tolist() == [0, 1, 2]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(2, 5))
def test_a_histogram_comes_back_from_its_own_sums(counts: list[int], branching: int) -> None:
    levels = sums(np.array(counts), branching)
    assert all(int(nodes.sum()) == sum(counts) for nodes in levels)
    assert shared_down([nodes.astype(float) for nodes in levels], sum(counts), len(counts)).tolist() == counts


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=40), st.integers(2, 5), st.integers(0, 50))
def test_whatever_the_numbers_the_total_is_kept(noised: list[int], branching: int, total: int) -> None:
    levels = [nodes.astype(float) for nodes in sums(np.array(noised), branching)]
    found = shared_down(levels, total, len(noised))
    assert len(found) == len(noised)
    assert found.min() >= 0
    assert found.sum() == total
