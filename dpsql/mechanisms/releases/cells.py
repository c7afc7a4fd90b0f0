"""Noisy cells: noise on every cell of a declared domain, made a histogram of whole rows.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Pure` with discrete Laplace noise, `Concentrated`
with discrete Gaussian noise.

1. Where the number of rows is private, it is bought for a tenth of the price: count + noise, at least 0.
2. Every cell, empty or not, gets noise from the rest of the price.
3. The number of rows is estimated from both, that of 1 and the sum of the noised cells, each by the inverse of its
   variance: of few cells the sum is by far the better one.
4. The noised cells are made a histogram of that total, along a tree of their sums (`shares.shared_down`).

Theorem. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. The cells are a histogram, the number of rows is a number of rows, and their shares add up to the whole
(`payment`, 1, 2, 3 and 5); 3 and 4 are post-processing.  QED

**Error of ranges.** The sum of M noised cells errs with a standard deviation of sqrt(M) times that of the noise,
whatever the data; `reach.every_range` bounds all ranges at once. The projected cells have no such bound of their own:
an interval of a range is that of the noised sum, stretched to the sum that the histogram shows. Before cells below 0
are moved, the histogram's sum of M of N cells has the variance M (1 - M / N) v + (M / N)^2 t (`sum_deviation`), v being
that of a cell's noise and t = 1 / (1 / V + 1 / (N v)) that of the estimated number, V that of the number of 1: what the
M cells differ by from M / N of the sum of all of them is uncorrelated with that sum, and with the number of 1.

Source: Dwork, McSherry, Nissim, Smith 2006.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of, reach_of
from dpsql.mechanisms.releases.shares import Whole, shared_down, sums
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["TOTAL_SHARE", "NoisyCells", "noisy_cells", "noisy_total", "sum_deviation"]

TOTAL_SHARE = Fraction(1, 10)
"""The share of a price that buys a private number of rows. It is a choice: at epsilon 1 the number errs by 14 rows, and
the cells by a ninth more than without it."""

BRANCHING = 4  # Children of a node of the tree along which the cells are made whole. It is a choice.


@dataclass(frozen=True, slots=True)
class NoisyCells:
    """A histogram that was released.

    Attributes:
        counts: (N,) whole numbers of rows, >= 0.
        noised: (N,) the unbiased numbers behind them.
        law: The noise of each of these.
    """

    counts: Whole
    noised: Whole
    law: LaplaceLaw | GaussianLaw

    def range_interval(self, start: int, stop: int, confidence: float = 0.95) -> tuple[int, int]:
        """An interval that holds the true number of rows in the cells start ... stop - 1 with that probability.

        It is that of the noised sum, stretched to the number that the histogram shows.
        """
        reach = math.ceil(reach_of(self.law, np.ones(stop - start), (1 - confidence) / 2))
        middle, shown = int(self.noised[start:stop].sum()), int(self.counts[start:stop].sum())
        return min(middle - reach, shown), max(middle + reach, shown)


def noisy_cells(
    counts: Sequence[int] | Whole, payment: Payment, sampler: Sampler, total: int | None = None
) -> NoisyCells:
    """A histogram with noise on every cell.

    Args:
        counts: (N,) exact numbers of rows, N >= 1.
        payment: The price and the neighbours.
        sampler: Of the noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).

    Raises:
        ValueError: If there is no cell, or a total is named where it is private.

    >>> from dpsql.testing_samplers import Noiseless
    >>> noisy_cells([3, 0, 4], Payment("add_remove", epsilon=Fraction(1)), Noiseless()).counts.tolist()
    [3, 0, 4]
    """
    if not len(counts):
        raise ValueError("there are no cells; give the number of rows of each")
    points, left = noisy_total(int(np.sum(counts)), payment, sampler, total)
    law = payment.noise(left)
    seen = noised(counts, law.draw(sampler, len(counts)))
    if total is None:
        weight = Fraction(_weight_of_sum(len(counts), payment))
        points = max(0, round(weight * int(seen.sum()) + (1 - weight) * points))
    levels = [level.astype(np.float64) for level in sums(seen, BRANCHING)]
    return NoisyCells(shared_down(levels, points, len(counts)), seen, law)


def sum_deviation(cells: int, share: float, payment: Payment, *, public: bool = False) -> float:
    """The expected error of the sum of a share of all cells: its standard deviation, before cells below 0 are moved.

    Args:
        cells: N.
        share: M / N.
        payment: The price and the neighbours.
        public: Whether the number of rows is public.
    """
    one = deviation_of(payment.noise(Fraction(1) if public else 1 - TOTAL_SHARE)) ** 2
    total = 0.0 if public else _weight_of_sum(cells, payment) * cells * one
    return math.sqrt(cells * share * (1 - share) * one + share**2 * total)


def _weight_of_sum(cells: int, payment: Payment) -> float:
    """V / (V + N v): what the sum of the noised cells counts for in the estimated number of rows."""
    of_total = deviation_of(payment.number_noise(TOTAL_SHARE, numbers=1)) ** 2
    return of_total / (of_total + cells * deviation_of(payment.noise(1 - TOTAL_SHARE)) ** 2)


def noisy_total(rows: int, payment: Payment, sampler: Sampler, total: int | None) -> tuple[int, Fraction]:
    """The public number of rows, or a noised one, at least 0; and the share of the price that is left."""
    payment.check_total(total)
    if total is not None:
        return total, Fraction(1)
    (seen,) = noised([rows], payment.number_noise(TOTAL_SHARE, numbers=1).draw(sampler, 1))
    return max(0, int(seen)), 1 - TOTAL_SHARE
