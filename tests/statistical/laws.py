"""Counts of draws against exact chances: what a correct sampler fails with a chance that is known, and small.

Each of k counts is binomial by itself, whatever the others do. One that lies outside the central part of its law, with
less than `P_THRESHOLD` / k in both tails together, fails; so all of them together fail with `P_THRESHOLD` at most.
Nothing is approximated: no test here rests on a limit theorem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from tests.statistical.thresholds import P_THRESHOLD

__all__ = ["accepted", "fits", "unnoticed"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def accepted(chances: Floats, size: int) -> tuple[Integers, Integers]:
    """(k,) the least and the largest number of ``size`` draws for events of these chances."""
    tail = P_THRESHOLD / (2 * len(chances))
    return binom.ppf(tail, size, chances).astype(np.int64), binom.isf(tail, size, chances).astype(np.int64)


def fits(counts: npt.ArrayLike, chances: npt.ArrayLike, size: int) -> bool:
    """Whether ``size`` draws, of which counts[i] fell into event i, may have these chances.

    It is False for the right chances with a probability of `P_THRESHOLD` at most.
    """
    least, most = accepted(np.asarray(chances, dtype=float), size)
    return bool(((least <= np.asarray(counts)) & (np.asarray(counts) <= most)).all())


def unnoticed(claimed: npt.ArrayLike, real: npt.ArrayLike, size: int) -> float:
    """The chance, or more, that draws with the real chances fit the claimed ones: exactly that of the best event."""
    least, most = accepted(np.asarray(claimed, dtype=float), size)
    law: Any = binom(size, np.asarray(real, dtype=float))
    return float((law.cdf(most) - law.cdf(least - 1)).min())
