"""The noise of the facts that `dpsql advise` releases to all: histograms of units, and values that many units have.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`; with a delta `Approximate` or `Concentrated`.

The facts are two vectors, drawn one after the other: which counts the second holds may follow from the noised first.
One unit is in at most S of the listed counts of both together (one bin of a histogram, or of each sign's), by 1 in
each; and its most frequent value is one of an open domain in each of H text columns. Write w for the units by which
neighbours differ: 1 under ``add_remove``, 2 under ``replace_one``.

Every listed count gets noise of one law. So does the number of units of every value that occurs in the H domains, which
appears only where it exceeds the integer T strictly (`noise/thresholds`); p = P(1 + noise > T).

Theorem (Laplace). With scale w (S + H) / epsilon, all of it is (epsilon, delta)-DP with delta = 1 - (1 - p)^H, which is
0 for H = 0.

Proof. As of `threshold` with U = H, but that besides the values, w S counts differ by 1 at most. Given that the values
which occur in one database alone are silent (A in D, A' in D', of one unit each, |A|, |A'| <= H), what is left differs
by at most w (S + H) - |A| - |A'| in L1. The chances of what is drawn first and then, whichever counts that asks for,
differ by a factor of exp(epsilon) at most: the odds of each step go by the L1 distance of its own counts, and these add
up. The lemma of `noise/thresholds` with d = 0 gives delta.  QED

Theorem (Gaussian). With rho = w (S + H) / (2 variance), of the price's (epsilon, delta), and T for delta
(1 - e^(-y H)), y H = alpha (alpha - 1) H / (2 variance), all of it is (epsilon, delta)-DP; and rho-zCDP outside of
1 - (1 - p)^H.

Proof. As of `gaussian_threshold`: every count moves by 1 at most, so that the same w (S + H) - |A| - |A'| is the square
of the distance in L2; two vectors drawn one after the other add up their Renyi divergences.  QED

How far counts are off: of N counts none is further from the exact one than q but with chance N P(|noise| > q). One
number q holds for all facts of a version, also for those that its second vector asks for, for N is taken as large as
it can become.

Tests: tests/unit/mechanisms/test_advice.py, tests/statistical/test_measured_facts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.gaussian import gaussian_variance_of_rho, vector_loss
from dpsql.mechanisms.noise.laws import LEAST_DELTA, GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.noise.thresholds import threshold_delta, threshold_for
from dpsql.plan.advised import MISS
from dpsql.privacy.account import UNIT
from dpsql.privacy.conversions import delta_left
from dpsql.privacy.kinds import Approximate, Loss, Pure
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable

__all__ = ["Advice", "advice", "as_raw"]

UNLIKELY = Fraction(1, 20)
"""The chance that some count is further off than what choices take for noise: the 5% of the field's intervals."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How the facts of a version are noised.

    Attributes:
        law: Of every count.
        loss: Of all of them together.
        reach: No count is further off, with chance 1 - `MISS`.
        likely: No count is further off, with chance 19/20.
        threshold: Values appear when their noised number of units is above it; None where none are asked for.
    """

    law: Law
    loss: Loss
    reach: int
    likely: int
    threshold: int | None

    def counts(self, raw: RawTable, sampler: Sampler) -> list[int]:
        """The counts with their noise."""
        exact = raw.column("count")
        drawn: list[int] = noised(exact, self.law.draw(sampler, len(exact))).tolist()
        return drawn

    def values(self, raw: RawTable, sampler: Sampler) -> list[tuple[str, int]]:
        """Those values that many units have, with noised numbers of units, the largest first."""
        if self.threshold is None:
            return []
        shown = zip(raw.column("value"), self.counts(raw, sampler), strict=True)
        return sorted(((value, n) for value, n in shown if n > self.threshold), key=lambda pair: (-pair[1], pair[0]))


def advice(
    listed: int, columns: int, cells: int, price: Price, *, swaps: bool, classes: Mapping[str, Fraction]
) -> Advice | None:
    """How facts are noised at a price: by the law that is off by less; None where the price is too small for either.

    Args:
        listed: In how many listed counts one unit is at most, S.
        columns: How many open text columns are asked for their values, H, where the price has a delta.
        cells: How many counts there are at most, N.
        price: In epsilon, and delta or 0.
        swaps: Whether neighbours differ by a swap.
        classes: The policy's classes of units to their shares: the strictest one's is paid by all.

    >>> found = advice(1, 0, 20, Price(Fraction(1, 20), Fraction(0)), swaps=False, classes={})
    >>> found.law, found.reach, found.threshold
    (LaplaceLaw(scale=Fraction(20, 1)), 198, None)
    """
    share = min(classes.values(), default=Fraction(1))
    epsilon = (price.epsilon or Fraction(0)) * share // UNIT * UNIT
    if epsilon <= 0:
        return None
    price, units = replace(price, epsilon=epsilon), 2 if swaps else 1
    offers = [_laplace(units * (listed + columns), columns, cells, price)]
    if price.delta >= LEAST_DELTA and (other := _gaussian(units, listed + columns, columns, cells, price)) is not None:
        offers.append(other)
    return min(offers, key=lambda offer: offer.reach)


def _laplace(moved: int, columns: int, cells: int, price: Price) -> Advice:
    epsilon = price.epsilon or Fraction(0)
    law = LaplaceLaw(moved / epsilon)
    if not columns:
        return _of(law, Pure(epsilon), cells, None)
    threshold = threshold_for(law, columns, price.delta)
    return _of(law, Approximate(epsilon, threshold_delta(law, columns, threshold)), cells, threshold)


def _gaussian(units: int, moved: int, columns: int, cells: int, price: Price) -> Advice | None:
    loss = vector_loss(price)
    if loss is None or price.epsilon is None:
        return None
    law = GaussianLaw(gaussian_variance_of_rho(units * moved, loss.rho))
    if not columns:
        return _of(law, loss, cells, None)
    room = price.delta * (1 - delta_left(price.epsilon, price.delta, loss.rho * columns / (units * moved)))
    if room < LEAST_DELTA:
        return None
    threshold = threshold_for(law, columns, room)
    return _of(law, replace(loss, outside=threshold_delta(law, columns, threshold)), cells, threshold)


def _of(law: Law, loss: Loss, cells: int, threshold: int | None) -> Advice:
    reach, likely = (law.beyond(miss / (2 * cells)) - 1 for miss in (MISS, UNLIKELY))
    return Advice(law, loss, reach, likely, threshold)


def as_raw(counts: Sequence[int]) -> RawTable:
    """Exact counts on their way to their noise."""
    return RawTable({"count": counts})
