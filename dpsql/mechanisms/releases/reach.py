"""How far sums of independent noise reach: standard deviations, and bounds that hold whatever the data.

Theorem. Let X_1, X_2, ... be independent draws of one law, and w_1, w_2, ... public weights.

1. P(w_1 X_1 + w_2 X_2 + ... >= t) <= exp(-u t) E[exp(u w_1 X_1)] E[exp(u w_2 X_2)] ... for every u > 0 (Chernoff).
2. With S_k = X_1 + ... + X_k, all differences S_j - S_i, 0 <= i <= j <= N, lie within 2 t but for a probability of at
   most 4 P(S_N >= t).
3. Where all weights but zeros are w or -w, the weighted sum has the law of w S_k, so its reach is w times that of S_k:
   the law of one draw is known exactly, that of several nearly (`noise.sums`).

Here E[exp(u X)] = (1 - q)^2 / ((1 - q e^u) (1 - q e^-u)) for discrete Laplace noise, q = e^(-1 / scale) and
|u| < 1 / scale, by two geometric series; and E[exp(u X)] <= exp(u^2 variance / 2) for discrete Gaussian noise (Canonne,
Kamath, Steinke 2020, Corollary 7).

Proof of 2. A difference above 2 t needs some |S_k| > t. The draws are symmetric and independent, so Levy's inequality
gives P(max |S_k| > t) <= 2 P(|S_N| > t) (Ledoux, Talagrand 1991, Prop. 2.3), which is at most 4 P(S_N >= t).  QED
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.weighted import log_moment
from dpsql.mechanisms.releases.shares import Floats

__all__ = ["deviation_of", "every_range", "reach_of", "reach_of_sum"]

STEPS = 100  # How many exponents Chernoff's bound is tried at; any of them is sound. It is a choice.
EDGE = 0.999  # The largest exponent tried, as a share of that at which E[exp(u X)] is infinite. It is a choice.
TINY = 1e-100  # In rows, the least deviation that is told, for others are divided by it. It is a choice, below all use.
SLACK = 1e-9  # As a share of a reach: what sums of 10^7 terms in float64 may err by. It is a choice, far above it.
MOST_ALIKE = 500
"""Draws of one weight whose sum's law is worked out. It is a choice: from a thousand on its terms leave float64, and
Chernoff's bound is a third above it."""
LEAST_CHANCE = 1e-30  # Of which such a law is asked. It is a choice: of 500 draws its terms leave float64 at 1e-90.


def deviation_of(law: LaplaceLaw | GaussianLaw) -> float:
    """The standard deviation of one draw, in rows; of the Gaussian law a bound that it nearly reaches.

    >>> from fractions import Fraction
    >>> round(deviation_of(LaplaceLaw(Fraction(1))), 4)
    1.357
    """
    if isinstance(law, GaussianLaw):
        return law.spread
    return max(TINY, math.sqrt(2 * math.exp(-1 / law.spread)) / -math.expm1(-1 / law.spread))


def reach_of(law: LaplaceLaw | GaussianLaw, weights: Sequence[float] | Floats, chance: float) -> float:
    """A t, in rows, such that the weighted sum of draws is t or more with a probability of at most ``chance`` (1).

    Args:
        law: Of each draw.
        weights: (n,) public factors.
        chance: Between 0 and 1.
    """
    found, often = np.unique(np.abs(np.asarray(weights, dtype=np.float64)), return_counts=True)
    bound = _reach(law, found, often.astype(np.float64), chance)
    there = found > 0
    if there.sum() != 1 or often[-1] > MOST_ALIKE or not LEAST_CHANCE <= chance <= 1 / 2:
        return bound
    draws, rare = int(often[-1]), Fraction(chance)
    alike = law.beyond(rare) if draws == 1 else law.sum_beyond(draws, rare)
    return min(bound, float(found[-1]) * alike * (1 + SLACK))


def reach_of_sum(law: LaplaceLaw | GaussianLaw, draws: int, chance: float) -> float:
    """`reach_of` the sum of so many draws, each of a weight from 0 to 1."""
    return _reach(law, np.ones(1), np.array([float(draws)]), chance)


def every_range(law: LaplaceLaw | GaussianLaw, cells: int, chance: float) -> float:
    """Rows within which all ranges of so many noised cells are of the truth, but for a probability ``chance`` (2)."""
    return 2 * reach_of_sum(law, cells, chance / 4)


def _reach(law: LaplaceLaw | GaussianLaw, found: Floats, often: Floats, chance: float) -> float:
    """The same, of different weights and how often each stands."""
    if not 0 < chance < 1:
        raise ValueError(f"the chance {chance} is not between 0 and 1")
    need = -math.log(chance)
    if isinstance(law, GaussianLaw):
        return math.sqrt(2 * float((often * found**2).sum()) * law.spread**2 * need) * (1 + SLACK)
    if not found.any():
        return 0.0
    u = np.geomspace(1e-6, EDGE, STEPS) / (law.spread * found.max())
    generating = np.array([(often * log_moment(law, step * found)).sum() for step in u])
    return float(((generating + need) / u).min()) * (1 + SLACK)
