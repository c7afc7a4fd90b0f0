"""Values plus noise: exact sums of any size."""

from __future__ import annotations

import numpy as np
import pytest

from dpsql.privacy.sampling import noised

__all__ = []


def test_noised_adds_exactly_and_never_wraps() -> None:
    noise = np.array([1, -1, 0])
    assert noised(np.array([2**63 - 1, -(2**63), 5]), noise).tolist() == [2**63, -(2**63) - 1, 5]
    assert noised([2**126, -(2**126), 0], noise).tolist() == [2**126 + 1, -(2**126) - 1, 0]
    assert noised(np.array([2**62]), np.array([2**62])).tolist() == [2**63]
    assert noised([1, 2, 3], noise).dtype == np.int64
    assert noised(np.array([2**64 - 1], dtype=np.uint64), np.array([1])).tolist() == [2**64]


def test_noised_type_depends_on_the_sums_alone() -> None:
    far = noised(np.array([0]), np.array([2**80], dtype=object))
    near = noised(np.array([2**80], dtype=object), np.array([-(2**80)], dtype=object))
    assert far.dtype == object
    assert near.dtype == np.int64


def test_one_draw_never_serves_two_values() -> None:
    with pytest.raises(ValueError, match="draw one for each value"):
        noised([1, 2, 3], np.array([5]))


def test_values_off_the_grid_are_refused() -> None:
    with pytest.raises(TypeError):
        noised([1.5], np.array([1]))  # type: ignore[list-item]  # what a caller might try
