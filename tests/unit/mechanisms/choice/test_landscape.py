"""Scores of all points of a grid, against the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.mechanisms.choice.landscape import Rank, landscape
from dpsql.plan.types import Grid


@pytest.mark.parametrize(
    "rank",
    [
        Rank(Fraction(1, 3)),
        Rank(Fraction(1, 2), -3),
        Rank(Fraction(4, 5), 2, 1, 0),
        Rank(Fraction(9, 10), 0, 1, 0, (1, 2)),
        Rank(Fraction(1, 10), 0, 1, 0, (2, 1)),
    ],
)
@pytest.mark.parametrize("deepest", [2, 10**6, 10**30])
def test_the_landscape_has_the_score_of_every_point(rank: Rank, deepest: int) -> None:
    rng = np.random.default_rng(8)
    grid = Grid(Fraction(1, 10), low=-7, high=12)
    for _ in range(40):
        data = rng.integers(-7, 13, rng.integers(0, 9)).tolist()
        values = sorted(set(data))
        rows = np.array([data.count(value) for value in values], dtype=np.int64)
        widths, scores = landscape(np.array(values, dtype=np.int64), rows, grid, rank, deepest)
        spread = [score for width, score in zip(widths.tolist(), scores.tolist(), strict=True) for _ in range(width)]
        assert spread == [score_of(v, data, grid, rank, deepest) for v in range(-7, 13)]
        assert all(a != b for a, b in pairwise(scores))


def score_of(v: int, data: list[int], grid: Grid, rank: Rank, deepest: int) -> int:
    """As the docstring defines it."""
    a, b, extra = rank.fraction.numerator, rank.fraction.denominator, abs(rank.offset)
    below = -extra if v == grid.low else sum(x < v for x in data)
    upto = sum(x <= v for x in data) + (extra if v == grid.high else 0)
    wanted = a * len(data) + b * rank.offset
    low, high = rank.factors
    return -min(deepest, max(0, high * (b * below - wanted + rank.above), low * (wanted - b * upto + rank.under)))


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(st.integers(-20, 20), max_size=60),
    rank=st.builds(
        Rank,
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)]),
        st.integers(-6, 6),
        st.integers(0, 1),
        st.integers(0, 1),
        st.sampled_from([(1, 1), (1, 2), (2, 1)]),
    ),
    deepest=st.integers(1, 40),
)
def test_what_lies_too_deep_is_left_out_of_the_work_alone(data: list[int], rank: Rank, deepest: int) -> None:
    grid, values = Grid(Fraction(1), -20, 20), sorted(set(data))
    rows = np.array([data.count(value) for value in values], dtype=np.int64)
    widths, scores = landscape(np.array(values, dtype=np.int64), rows, grid, rank, deepest)
    assert np.repeat(scores, widths).tolist() == [score_of(v, data, grid, rank, deepest) for v in range(-20, 21)]
    assert (scores[1:] != scores[:-1]).all()
