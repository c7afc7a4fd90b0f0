"""ReleaseIntervals, corrected: cuts that divide the rows of an ordered domain into nearly equal parts.

Neighbours: ``add_remove`` (the number of rows is noised) and ``replace_one`` (`payment`). Loss: `Pure` with discrete
Laplace noise, `Concentrated` with discrete Gaussian noise.

Let F(b) be the number of rows in the cells 1 ... b of N, n that of all, and J + 1 the wanted number of parts. For
j = 1, ..., J a binary search finds a cut: it keeps lo and hi, probes F(mid) + noise at mid = floor((lo + hi) / 2), and
goes on in lo ... mid if that is at least j n / (J + 1), else in mid + 1 ... hi; it begins with the cut before it as lo
and N as hi, and makes at most d = ceil(log2 N) probes. The release spreads n / (J + 1) rows evenly over the cells after
one cut up to the next.

Theorem 1. With all J d probes as `payment` prices numbers of rows, the release is epsilon-DP, or rho-zCDP.

Proof. Each probe is a number of rows whose condition follows from earlier answers; there are at most J d, no matter
what the noise says: the loops end by themselves (`payment`, 3 and 5).  QED

Theorem 2. Let the number of rows be public and s = n / (J + 1). If no noise is above t in absolute value, every range
of cells has its true number of rows within 2 (s + t).

Proof. Where a search ends at b, either b was probed and found high enough, or b = N; and b - 1 was probed and found
too low, or b was the cut before it. So F(b_j) >= j s - t and F(b_j - 1) < j s + t, by induction where b is the cut
before. For x from b_k to b_(k + 1) - 1 therefore k s - t <= F(x) <= (k + 1) s + t, and the released number G(x) lies
between k s and (k + 1) s: |F - G| <= s + t. A range is the difference of two of these. Nothing asks for distinct
values: where cuts coincide they make one cell heavy.  QED

With discrete Laplace noise of scale J d r / epsilon, t is about J d r ln(J d / beta) / epsilon but for a probability of
beta. 2 (s + t) <= alpha n, s and t alike, needs

    n >= 16 d ln(4 d / (alpha beta)) / (epsilon alpha^2), about (`rows_needed` is exact).

**What differs from the paper**, whose text errs in eight places: (1) its midpoint forgets where the interval begins;
(2) half steps end one cell off where lengths are no powers of 2; (3) nothing stops a search too many, which overruns
array and price; (4) closed intervals count ends twice; (5) Theorem 4.3 states n >= 8 d / (epsilon alpha) ln(..), for
which its own proof needs 36 / alpha^2 times more, 288 d / (epsilon alpha^3) ln(8 d / (alpha delta)); (6) the released
masses do not add up to 1; (7) points must be distinct; (8) alpha / 6 <= 1/4 is used unsaid. Searching cuts by ranks
from the first cell, rather than each from the last, keeps errors from adding up: alpha^2 in place of alpha^3.

**Noisy cells and trees err less** (docs/releases.md); this is here for what it proves, and for domains too large for a
number in each cell: it needs J d probes, whatever N.

Source: Blum, Ligett, Roth 2013, Algorithm 2 and Theorem 4.3; searches by rank and the theorems are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.cells import noisy_total
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["NoisyCuts", "best_parts", "guaranteed_error", "noisy_cuts", "rows_needed", "searched_cuts"]

BETA = 0.05  # The probability with which a guarantee may fail. It is a choice, the same for all releases.
MOST_PARTS = 4096  # Into how many parts rows are cut at most. It is a choice.


@dataclass(frozen=True, slots=True)
class NoisyCuts:
    """Parts of nearly equal numbers of rows.

    Attributes:
        cells: N.
        cuts: (J,) the last cells of all parts but the last, from 1 to N, never falling.
        total: The number of rows, public or noised.
        law: The noise of each probe.
    """

    cells: int
    cuts: tuple[int, ...]
    total: int
    law: LaplaceLaw | GaussianLaw

    def up_to(self, cell: int) -> float:
        """G: the released number of rows in the cells 1 ... cell."""
        cells, rows = self._knots()
        return float(np.interp(cell, cells, rows))

    def counts(self) -> Floats:
        """(N,) the released numbers of rows of all cells, which need not be whole."""
        cells, rows = self._knots()
        order = np.argsort(cells)
        found: Floats = np.diff(np.interp(np.arange(self.cells + 1), np.array(cells)[order], np.array(rows)[order]))
        return found

    def in_range(self, first: int, last: int) -> float:
        """The released number of rows in the cells first ... last, from 1 to N."""
        return self.up_to(last) - self.up_to(first - 1)

    def _knots(self) -> tuple[list[int], list[float]]:
        """Cells and the released numbers up to them; of cuts that coincide the last, so that atoms are jumps."""
        step = self.total / (len(self.cuts) + 1)
        ends = (*self.cuts, self.cells)
        knots = {0: 0.0}
        for j, end in enumerate(ends, start=1):
            if end - 1 not in knots and ends.count(end) > 1:
                knots[end - 1] = (j - 1) * step  # several parts end in one cell: none of their rows lies before it
            knots[end] = j * step
        return list(knots), list(knots.values())


def noisy_cuts(
    up_to: Callable[[int], int],
    cells: int,
    payment: Payment,
    sampler: Sampler,
    total: int | None = None,
    parts: int | None = None,
) -> NoisyCuts:
    """Cuts that divide the rows into nearly equal parts.

    Args:
        up_to: F, the exact number of rows in the cells 1 ... b, for b from 1 to N.
        cells: N >= 1.
        payment: The price and the neighbours.
        sampler: Of the noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        parts: J + 1 >= 2; without it, the number with the best guarantee.

    Raises:
        ValueError: If there is no cell, fewer than two parts, or a total is named where it is private.
    """
    rows, left = noisy_total(up_to(cells), payment, sampler, total)
    parts = best_parts(rows, cells, payment, left) if parts is None else parts
    if cells < 1 or parts < 2:
        raise ValueError(f"{cells} cells in {parts} parts: give 1 cell or more, and 2 parts or more")
    probes = max(1, (cells - 1).bit_length())
    law = payment.number_noise(left, numbers=(parts - 1) * probes)
    return NoisyCuts(cells, searched_cuts(up_to, cells, rows, parts, law, sampler), rows, law)


def searched_cuts(
    up_to: Callable[[int], int], cells: int, rows: int, parts: int, law: LaplaceLaw | GaussianLaw, sampler: Sampler
) -> tuple[int, ...]:
    """The cuts that binary searches find, each probe with noise of that law.

    Args:
        up_to: F, the exact number of rows in the cells 1 ... b, for b from 1 to N.
        cells: N >= 1.
        rows: n, public or noised.
        parts: J + 1 >= 2.
        law: Of the noise.
        sampler: Of the noise.
    """
    cuts, low = [], 1
    for j in range(1, parts):
        high = cells
        while low < high:
            middle = (low + high) // 2
            (seen,) = noised([up_to(middle)], law.draw(sampler, 1))
            low, high = (low, middle) if int(seen) * parts >= j * rows else (middle + 1, high)
        cuts.append(low)
    return tuple(cuts)


def guaranteed_error(
    rows: int, cells: int, payment: Payment, parts: int, left: Fraction = Fraction(1), beta: float = BETA
) -> float:
    """Rows within which every range is of the truth but for a probability beta, where n is public (Theorem 2)."""
    probes = (parts - 1) * max(1, (cells - 1).bit_length())
    return 2 * (rows / parts + payment.number_noise(left, probes).quantile(1 - beta / probes))


def best_parts(rows: int, cells: int, payment: Payment, left: Fraction = Fraction(1)) -> int:
    """The number of parts with the best guarantee, among powers of 2 and those halfway between."""
    tried: list[int] = [k for i in range(1, MOST_PARTS.bit_length()) for k in (2**i, 3 * 2 ** (i - 1))]
    errors = [guaranteed_error(rows, cells, payment, parts, left) for parts in tried]
    return tried[errors.index(min(errors))]


def rows_needed(alpha: float, cells: int, payment: Payment, beta: float = BETA) -> int:
    """The least n, nearly, for which every range errs by at most alpha n but for a probability beta (Theorem 2).

    >>> rows_needed(0.1, 1024, Payment("replace_one", epsilon=Fraction(1)))
    139164
    """
    least = float("inf")
    for parts in range(int(2 / alpha) + 1, int(8 / alpha) + 2):
        noise = guaranteed_error(0, cells, payment, parts, beta=beta)
        least = min(least, noise / (alpha - 2 / parts))
    return math.ceil(least)
