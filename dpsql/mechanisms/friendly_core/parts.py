"""Parts of the data: every privacy unit goes to one of t, by fresh randomness that does not depend on the data.

One unit more, less or exchanged (an exchanged unit is coupled to the same part) changes one part.

Tests: tests/unit/mechanisms/friendly_core/test_clusters.py, tests/unit/mechanisms/friendly_core/test_covariance.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.privacy.sampling import Sampler

__all__ = ["dealt", "part_numbers"]


def part_numbers(n: int, parts: int, sampler: Sampler) -> npt.NDArray[Any]:
    """(n,) the part of each row, independent and uniform on 0 ... parts - 1.

    A uniform draw plus the row's place, modulo t, is as uniform and independent as the draw alone: who stands before a
    row says nothing about its part. (A sampler without noise deals the rows out in turn.)
    """
    return np.asarray((sampler.integers(parts, n) + np.arange(n)) % parts)


def dealt(rows: npt.NDArray[Any], part: npt.NDArray[Any], parts: int) -> list[npt.NDArray[Any]]:
    """The rows of each part."""
    ends = np.cumsum(np.bincount(part, minlength=parts))
    return np.split(rows[np.argsort(part, kind="stable")], ends[:-1])
