"""How sharply the exponential mechanism and permute-and-flip may prefer a candidate under a metric.

Each candidate r has a whole-number score u(x, r), a linear query. A move i -> j changes it by D_ij(r).

Theorem. Choose with P(r) ~ exp(c u(x, r)), or by permute-and-flip with the same exponent c. The choice is
(c W) d-private for the least W with max_r D_ij(r) - min_r D_ij(r) <= W d(i, j).

Proof. For the exponential mechanism ln P'(r) / P(r) = c D(r) - ln E[exp(c D)], and both terms lie between c min D and
c max D. Permute-and-flip chooses as a noisy maximum of scores with exponential noise does (Ding et al. 2021): r wins if
its noise exceeds the best other noised score less its own score, which a move shifts by at most max D - min D, and
P(Z > z + w) >= exp(-c w) P(Z > z).  QED

The paper's rule is c = 1 / (2 alpha) with alpha = max |D_ij(r)| / d(i, j). Since max D - min D <= 2 max |D|, 1 / W is
never smaller, and twice as large where a row that comes or goes decides.

Where a group's score is the sum of what its rows add, max D - min D <= |q_i - q_j| within a group and <= |q_i| + |q_j|
between two: the cost of the query with groups. So W is its `lipschitz`, and choosing the largest group costs no more
than noise on all of them.

Utility. With probability at least 1 - exp(-t) the chosen score is above OPT - (ln(R / R_opt) + t) / c, for R candidates
of which R_opt are best (theorem 4, with 1 / c for 2 alpha).

A statement's MODE takes 1 over the scale of the noise on all of its counts, which is `exponent_of_groups` times the
multiple m. The functions here are mathematics to be imported.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018, theorems 3 and 4; ranges in place of largest changes after Dong,
Durfee, Rogers 2020.

Tests: tests/unit/mechanisms/metric/release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsql.mechanisms.metric.distances.product import Product
from dpsql.mechanisms.metric.distances.query import Query

__all__ = ["exponent_of_groups", "exponent_of_scores", "shortfall"]


def exponent_of_groups(product: Product, query: Query) -> Fraction:
    """The exponent c with which choosing one of the query's groups by its answer is d-private.

    c m makes it (m d)-private.

    Raises:
        ValueError: If no move changes the answers: the best group is public.

    >>> from dpsql.mechanisms.metric.distances.discrete import Discrete
    >>> import numpy as np
    >>> diagnoses = Product((Discrete(3, Fraction(1, 2)),))
    >>> exponent_of_groups(diagnoses, Query(np.ones(3, dtype=int), np.arange(3)))
    Fraction(1, 4)
    """
    return _inverse(product.lipschitz(query))


def exponent_of_scores(product: Product, scores: Sequence[Query]) -> Fraction:
    """The paper's exponent 1 / (2 alpha), for scores that are any linear queries: alpha is their largest constant.

    Raises:
        ValueError: If no move changes any score.
    """
    return _inverse(2 * max(product.lipschitz(score) for score in scores))


def shortfall(exponent: Fraction, candidates: int, best: int, beta: float) -> float:
    """By how much the chosen score falls short of the best one at most, with probability at least 1 - beta.

    >>> round(shortfall(Fraction(1, 4), candidates=3, best=1, beta=0.05), 2)
    16.38
    """
    return (math.log(candidates / best) + math.log(1 / beta)) / float(exponent)


def _inverse(widest: Fraction) -> Fraction:
    if widest == 0:
        raise ValueError("no move changes these scores: the best candidate is public.")
    return 1 / widest
