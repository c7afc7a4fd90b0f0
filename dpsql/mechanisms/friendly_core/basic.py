"""The basic filter: rows with many friends stay, by coins of their own; an (epsilon, delta) guarantee without a floor.

Neighbours: ``add_remove`` (`BasicFilter`) and ``replace_one`` with a public number of rows (`BasicSwapFilter`). Loss:
(epsilon, delta), as `total` states it.

A predicate is reflexive and symmetric on pairs. Data are *friendly* if every two rows have a common friend, which may
be any row of the universe. A mechanism A is friendly (e0, d0)-DP if that guarantee holds for neighbours whose union is
friendly; nothing is asked of it elsewhere.

Of n rows let row i have z_i friends, itself among them, and 0 <= alpha < 1/2. It stays with probability

    p_i = min(1, max(0, (z_i / n - 1/2) / (1/2 - alpha))),

never with at most n / 2 friends, surely with (1 - alpha) n. A works on the rows that stay, the *core*.

Theorem (add_remove). If A is friendly (e0, d0)-DP, then A of the core is (epsilon, delta)-DP with

    gamma = 2 (1 - alpha) / (1 - 2 alpha) + alpha
    epsilon = gamma (e^e0 - 1)
    delta = d0 (e^epsilon - 1) / (e^e0 - 1).

Proof. Let D' be D without row j, and p'_j = 0.

1. All rows with p_i > 0 or p'_i > 0 together are friendly. Two of the first kind have each more than n / 2 friends in
   D, so they share one; two of the second likewise in D'. One of each kind: the first has z > n / 2 friends in D, the
   second more than (n - 1) / 2 in D', hence at least n / 2 in D. Together that is more than n.

2. sum over i of |p_i - p'_i| <= gamma. Write L = 1/2 - alpha. For a friend i of j, z_i / n falls by
   (n - z_i) / (n (n - 1)); it only counts if z_i >= (n + 1) / 2, so p_i falls by at most 1 / (2 n L). For another row
   it rises by z_i / (n (n - 1)), cut off at 1 - alpha; p_i rises by at most (1 - alpha) / (n L). With z = z_j / n the
   sum is at most z / (2 L) + (1 - z) (1 - alpha) / L + p_j. This falls up to z = 1/2, rises up to z = 1 - alpha, and
   falls again. At 0 it is 2 (1 - alpha) / (1 - 2 alpha), at 1 - alpha it is gamma, which is more.

3. Let F(p) be the probability of an event if the rows stay with probabilities p. F is linear in each p_i, and its
   slope is F1 - F0, with row i always in or always out. If F1 > F0, then F0 <= F and F1 <= e^e0 F0 + d0; otherwise
   the same with F0 and F1 exchanged. By 1. both apply on the segment from p' to p, so |dF/dp_i| <= (e^e0 - 1) F + d0
   there. With 2., F along the segment grows at most as the solution of dF = gamma ((e^e0 - 1) F + d0) ds, in either
   direction.  QED

Theorem (replace_one). Count friends among the other N = n - 1 rows instead, w_i = z_i - 1, and let
p_i = min(1, max(0, (w_i / N - 1/2) / (1/2 - alpha))). If A is friendly (e0, d0)-DP for rows added, removed and
replaced, then A of the core is (epsilon, delta)-DP for a replaced row, with g = 2 / (1 - 2 alpha), x = e^e0 - 1,

    epsilon = e0 + g x,    delta = d0 (e^(g x) + (e^(g x) - 1) / x).

Proof. Let C be the N rows that stay the same, x and y the row that is replaced. A row of C that may be kept in either
run has, counting itself and leaving out x and y, more than N / 2 friends in C; so have x and y where they may be kept.
So all rows that may be kept in either run are friendly together. For i in C, w_i moves by at most 1, and p_i by at most
1 / (N L): in sum at most 1 / L = g. As in 3., that is the factor e^(g x) and d0 (e^(g x) - 1) / x. Then x, in or out,
gives way to y, in or out: A's own guarantee, whichever two of these states are compared.  QED

Source: Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore", section 4, where filter and paradigm come from.
Gamma is exact here (the limit is attained), delta is smaller, and the swap is proved directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.noise import MARGIN, safely_below
from dpsql.privacy.sampling import Sampler

__all__ = ["ALPHA", "BasicFilter", "BasicSwapFilter"]

ALPHA = Fraction(1, 10)
"""Rows that are not friends with up to a tenth of the others surely stay."""
LARGEST = 100.0  # An epsilon beyond it is used as if it were it, so that exponentials stay within float64.


@dataclass(frozen=True, slots=True)
class BasicFilter:
    """The basic filter for one row more or less.

    Attributes:
        alpha: 0 <= alpha < 1/2.

    >>> BasicFilter().gamma
    Fraction(47, 20)
    """

    alpha: Fraction = ALPHA

    def __post_init__(self) -> None:
        _check(self.alpha)

    @property
    def gamma(self) -> Fraction:
        """The most that all probabilities together move."""
        return 2 * (1 - self.alpha) / (1 - 2 * self.alpha) + self.alpha

    def kept(self, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        """(n,) bool: which rows stay.

        Args:
            friends: (n,) int64, z_i, from 1 to n.
            sampler: For one exact coin a row.
        """
        return _kept(np.asarray(friends), len(friends), self.alpha, sampler)

    def total(self, epsilon: float, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of A on the core, for A friendly (epsilon, delta)-DP, epsilon > 0; to float precision."""
        x = math.expm1(epsilon)
        whole = float(self.gamma) * x
        return whole, delta * math.expm1(whole) / x

    def inner(self, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The guarantee that A must have for (epsilon, delta) in total; both are on the safe side."""
        outer = min(float(epsilon), LARGEST) * (1 - MARGIN)
        inner = safely_below(math.log1p(outer / float(self.gamma)))
        return inner, delta * safely_below(math.expm1(float(inner)) / math.expm1(outer))


@dataclass(frozen=True, slots=True)
class BasicSwapFilter:
    """The basic filter for one row replaced, the number of rows being public.

    Attributes:
        alpha: 0 <= alpha < 1/2.
    """

    alpha: Fraction = ALPHA

    def __post_init__(self) -> None:
        _check(self.alpha)

    @property
    def gamma(self) -> Fraction:
        """g: the most that the probabilities of the rows that are not replaced move together."""
        return 2 / (1 - 2 * self.alpha)

    def kept(self, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        """(n,) bool: which rows stay; ``friends`` are z_i, itself among them, as for `BasicFilter`."""
        return _kept(np.asarray(friends) - 1, len(friends) - 1, self.alpha, sampler)

    def total(self, epsilon: float, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of A on the core, for A friendly (epsilon, delta)-DP, epsilon > 0; to float precision."""
        x = math.expm1(epsilon)
        grown = float(self.gamma) * x
        return epsilon + grown, delta * (math.exp(grown) + math.expm1(grown) / x)

    def inner(self, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
        """The guarantee that A must have for (epsilon, delta) in total; both are on the safe side."""
        outer = min(float(epsilon), LARGEST) * (1 - MARGIN)
        low, high = 0.0, math.log1p(outer / float(self.gamma))
        for _ in range(60):  # halvings: beyond float precision
            middle = (low + high) / 2
            low, high = (middle, high) if self.total(middle, 0.0)[0] <= outer else (low, middle)
        inner = safely_below(low)
        return inner, delta * safely_below(1 / self.total(float(inner), 1.0)[1])


def _kept(friends: npt.NDArray[Any], among: int, alpha: Fraction, sampler: Sampler) -> npt.NDArray[np.bool_]:
    """One coin a row with probability (friends / among - 1/2) / (1/2 - alpha), cut to [0, 1]; both of whole numbers."""
    if among < 1:  # nobody else to be friends with: the replaced row may be anything
        return np.zeros(len(friends), dtype=np.bool_)
    a, b = alpha.numerator, alpha.denominator
    whole = (b - 2 * a) * among
    return sampler.chances(np.clip(b * (2 * friends.astype(np.int64) - among), 0, whole), whole)


def _check(alpha: Fraction) -> None:
    if not 0 <= alpha < Fraction(1, 2):
        raise ValueError(f"alpha is {alpha}; write a Fraction from 0 to below 1/2, such as 1/10")
