"""Friends are counted exactly, and from the two rows of a pair alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsql.mechanisms.friendly_core import friends as module
from dpsql.mechanisms.friendly_core.friends import FARTHEST, Ball, friends_in_line

RNG = np.random.default_rng(8)


def by_hand(points: np.ndarray, ball: Ball) -> list[int]:
    """Pairs compared one by one in Python's integers."""
    cells = [[int(x) // ball.cell for x in row] for row in points]
    reach = ball.radius // ball.cell
    return [sum(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) <= reach**2 for y in cells) for x in cells]


@pytest.mark.parametrize("radius", [0, 1, 7, 10**6])
def test_friends_on_a_line_are_those_within_the_radius(radius: int) -> None:
    values = np.unique(RNG.integers(-50, 50, 30) * max(1, radius // 5))
    rows = RNG.integers(1, 5, len(values))
    expected = [int(rows[abs(values - value) <= radius].sum()) for value in values]
    assert friends_in_line(values, rows, radius).tolist() == expected


@pytest.mark.parametrize("dimensions", [1, 2, 3, 10])
@pytest.mark.parametrize("radius", [0, 1, 5, 1000, 1025, 10**6, 2**58])
def test_friends_in_space_agree_with_python_integers(dimensions: int, radius: int) -> None:
    points = RNG.integers(-2, 3, (40, dimensions)) * max(1, radius // 2) + RNG.integers(-9, 10, (40, dimensions))
    ball = Ball(radius, dimensions)
    assert ball.friends(points).tolist() == by_hand(points, ball)


def test_points_at_exactly_the_radius_are_friends() -> None:
    assert Ball(5, 2).friends(np.array([[0, 0], [3, 4], [4, 4]])).tolist() == [2, 3, 2]


def test_no_friends_are_farther_apart_than_the_diameter() -> None:
    for radius in (3, 1024, 1025, 5000, 12345):
        ball = Ball(radius, 2)
        corner = ball.cell - 1
        for steps in range(radius // ball.cell + 1):
            across = math.isqrt((radius // ball.cell) ** 2 - steps**2)
            pair = np.array([[0, 0], [steps * ball.cell + corner, across * ball.cell + corner]])
            assert ball.friends(pair).tolist() == [2, 2]
            assert math.hypot(*pair[1]) <= ball.diameter <= 1.01 * radius + 2


def test_a_far_row_leaves_everybody_elses_friends_alone() -> None:
    # The seeded bug that this convicts: |a|^2 + |b|^2 - 2ab in floats over coordinates as they are.
    points = RNG.integers(0, 1000, (60, 3))
    far = np.full((1, 3), FARTHEST)
    for radius in (40, 300, 2000):
        ball = Ball(radius, 3)
        assert ball.friends(np.vstack([points, far]))[:-1].tolist() == ball.friends(points).tolist()


def test_both_ways_to_compare_blocks_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    points = RNG.integers(0, 3000, (70, 4))
    ball = Ball(1500, 4)
    fast = ball.friends(points)
    with monkeypatch.context() as patch:
        patch.setattr(module, "EXACT", 0)
        patch.setattr(module, "BLOCK", 100)
        slow = ball.friends(points)
    assert fast.tolist() == slow.tolist() == by_hand(points, ball)


def test_nobody_has_no_friends() -> None:
    assert Ball(3, 2).friends(np.zeros((0, 2), dtype=np.int64)).tolist() == []
    assert friends_in_line(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 3).tolist() == []
