"""The average of friendly rows: a lower bound of their number, and a mean with noise for that number.

Neighbours: ``add_remove`` and ``replace_one``, whose union is friendly: the rows have a common friend pairwise, so that
any two are within 2 r, r being the farthest apart that friends can be. Behind a filter that holds for all data. Loss:
approximate zCDP (`FriendlyAverage.concentrated`), or (epsilon, delta) (`FriendlyAverage.approximate`).

Of m rows with sum S, release

    n^ = m + noise - tail(noise, chance),

where P(noise >= tail) <= chance. Where m = 0 or n^ <= 0 the answer is None. Else the mean is released as

    h (round(S / (m h)) + noise'),    noise' discrete Gaussian with variance s^2 / (2 rho_2),
    s = 2 r / (n^ h) + sqrt(d),

h a power of two with h <= 2 r / (1000 n^ sqrt(d)), so that rounding to the grid costs a thousandth.

Theorem. With noise of n^ that costs rho_1 in zCDP, this is friendly (rho_1 / (1 - chance) + rho_2, chance)-zCDP; with
noise of n^ that is e_1-DP and rho_2 = rho(e_2, d_2), it is friendly (e_1 + e_2, chance + d_2)-DP.

Proof. Let C have m rows and C' be C without row x, and G be the event n^ <= m - 1. In C it fails if
noise >= tail, in C' only if noise >= tail + 1: probability at most chance. Given G and n^ >= 1, m - 1 >= 1, so neither
is empty: the means differ by |x - mean(C')| / m <= 2 r / m <= 2 r / n^, in steps of h by at most that over h, and
rounding adds at most 1 to every coordinate: s in all. Where n^ <= 0 both answers are None. The same for a row replaced,
with equal m and |x - y| / m. For zCDP, conditioning on G costs the factor of `concentrated`, for n^ alone. For
(epsilon, delta), write A for the event's probability given n^ = k, in C and C': A_k <= e^e_2 A'_k + d_2, and
P(n^ = k) <= e^e_1 P'(n^ = k). Taking the factor e^e_1 for the first term alone,
sum over k in G of P(k) A_k <= e^(e_1 + e_2) sum P'(k) A'_k + d_2.  QED

Why ``- tail`` is counted such that n^ <= m - 1: with n^ <= m alone, a single row would give an answer and nobody none.

Source: Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore", section 5.1.1; the exact grid, the
(epsilon, delta) form and the best share of n^ are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.friendly_core.noise import gaussian_law, root_above, safely_below, short_below
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.sampling import Sampler

__all__ = ["Average", "FriendlyAverage"]

FINENESS = 1000
"""In how many steps the sensitivity of a mean is counted: rounding it up adds a thousandth to the noise."""
LEAST_SHARE, MOST_SHARE = 0.02, 0.8
"""The least and the largest share of a price that the noised number of friends may take. A guess."""


@dataclass(frozen=True, slots=True)
class Average:
    """A released mean; every attribute may be shown.

    Attributes:
        steps: (d,) in steps of ``step``.
        step: In grid steps.
        spread: Standard deviation of each coordinate's noise, in grid steps.
        about: n^, below the number of rows that were averaged but for the stated chance.
    """

    steps: tuple[int, ...]
    step: Fraction
    spread: float
    about: int

    @property
    def nearest(self) -> tuple[int, ...]:
        """The nearest points of the grid, coordinate by coordinate."""
        return tuple(round(steps * self.step) for steps in self.steps)


@dataclass(frozen=True, slots=True)
class FriendlyAverage:
    """The average of friendly rows.

    Attributes:
        count: Noise of n^.
        chance: That n^ is not below the number of rows.
        rho: Of the mean, given n^.
    """

    count: Law
    chance: Fraction
    rho: Fraction

    @classmethod
    def concentrated(cls, rho: Fraction, delta: Fraction, about: float) -> FriendlyAverage:
        """The friendly (rho, delta)-zCDP average whose error for ``about`` rows (a public guess) is least.

        The share of n^ is rho_1 = (rho sqrt(ln(1/delta)) / n)^(2/3), which maximises
        sqrt(rho - rho_1) (n - sqrt(ln(1/delta) / rho_1)).
        """
        best = (float(rho) * math.sqrt(math.log(1 / delta)) / max(about, 1)) ** (2 / 3) / float(rho)
        share = safely_below(min(max(best, LEAST_SHARE), MOST_SHARE))
        return cls(gaussian_law(Fraction(1), rho * share * (1 - delta)), delta, rho * (1 - share))

    @classmethod
    def approximate(cls, epsilon: Fraction, delta: Fraction, about: float) -> FriendlyAverage | None:
        """The friendly (epsilon, delta)-DP average whose error for ``about`` rows (a public guess) is least.

        The share of n^ is sqrt(ln(1/delta) / (epsilon n)), which maximises (1 - s) (n - ln(1/delta) / (s epsilon)).
        Half of delta goes to either part. None where they are too small to buy a mean.
        """
        best = math.sqrt(math.log(1 / delta) / (float(epsilon) * max(about, 1)))
        share = safely_below(min(max(best, LEAST_SHARE), MOST_SHARE))
        rho = short_below(rho_of_epsilon(epsilon * (1 - share), delta / 2))
        return cls(LaplaceLaw(1 / (epsilon * share)), delta / 2, rho) if rho > 0 else None

    @property
    def lost(self) -> int:
        """How far n^ lies below the number of rows when its noise is 0."""
        return self.count.beyond(self.chance)

    def spread(self, rows: float, radius: float) -> float:
        """Expected standard deviation of each coordinate for so many rows, in grid steps; infinite for too few."""
        least = rows - self.lost
        return 2 * radius / (least * math.sqrt(2 * float(self.rho))) if least > 0 else math.inf

    def release(self, total: Sequence[int], rows: int, radius: int, sampler: Sampler) -> Average | None:
        """The mean, or None for too few rows.

        Args:
            total: (d,) exact sums of the rows' coordinates, in grid steps.
            rows: m.
            radius: r, how far apart friends can be, in grid steps, >= 1.
            sampler: For the exact noise.
        """
        about = rows + int(self.count.draw(sampler, 1)[0]) - self.lost
        if rows == 0 or about <= 0:
            return None
        root, moved = root_above(Fraction(len(total))), Fraction(2 * radius, about)
        step = _power_below(moved / (FINENESS * root))
        noise = gaussian_law((moved / step + root) ** 2, self.rho)
        draws = noise.draw(sampler, len(total))
        steps = tuple(round(Fraction(s) / (rows * step)) + int(k) for s, k in zip(total, draws, strict=True))
        return Average(steps, step, noise.spread * float(step), about)


def _power_below(x: Fraction) -> Fraction:
    """The largest power of two that is not above x > 0.

    >>> _power_below(Fraction(3, 10))
    Fraction(1, 4)
    """
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= x else power / 2
