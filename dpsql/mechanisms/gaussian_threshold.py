"""Which groups of an open domain may appear, where one unit is in many: a histogram with Gaussian noise, thresholded.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Concentrated`, with the threshold's delta outside of rho.

Each group that occurs gets its number of distinct units plus discrete Gaussian noise, P(k) ~ exp(-k^2 / (2 v)), and
appears with that noised number if it exceeds the integer T strictly (`noise/thresholds`). A unit touches at most U
groups and counts once in each: noise grows with the root of U, that of `threshold` with U. Write p = P(1 + noise > T),
and w for the units by which neighbours differ: 1 under ``add_remove``, 2 under ``replace_one``.

Let A be the groups that occur in D alone, A' those in D' alone. As in `threshold` each has one unit, |A|, |A'| <= U,
and E (A is silent in D) and E' (A' is silent in D') have chances (1 - p)^|A| and (1 - p)^|A'|. At most
s = w U - |A| - |A'| other groups differ, by 1 unit each: s is the square of their distance in L2, and given E and E'
they are all that differs.

Theorem (rho). With rho = w U / (2 v) the release is outside-approximately rho-zCDP for outside = 1 - (1 - p)^U.

Proof. E and E' have chances of at least 1 - outside, and given them the Renyi divergence of order alpha is at most
alpha s / (2 v) <= alpha rho, in either direction.  QED

Theorem (epsilon). Let d = e^((alpha - 1) (alpha rho - epsilon)) (1 - 1 / alpha)^alpha / (alpha - 1), the delta of
rho-zCDP at epsilon by some order alpha > 1, and y = alpha (alpha - 1) / (2 v). The release is (epsilon, delta)-DP for
the larger delta of d and outside + d e^(-y U).

Proof. Let k = max(|A|, |A'|) <= U, so that s <= w U - k. Given E and E' the release is (s / (2 v))-zCDP, hence
(epsilon, d e^(-y k))-DP by that order. The lemma of `noise/thresholds` makes this delta = f(k) = 1 - q^k (1 -
d e^(-y k)) with q = 1 - p. Its slope has the sign of l - d (l + y) e^(-y k), l = -ln q, which rises with k: f falls and
then rises, so that it is largest at 0 or at U. f(0) = d, and f(U) = 1 - q^U + q^U d e^(-y U) <= outside + d e^(-y U).
QED

In words: the more groups a unit brings to light, the fewer it moves among the others. So the noise may use the whole
delta, and the threshold nearly the whole once more: delta (1 - e^(-y U)). The ledger is charged (epsilon, delta) on
one side, or rho with what is outside on the other.

Source: approximate zCDP is Bun, Steinke 2016, section 8; d is Canonne, Kamath, Steinke 2020, Prop. 12; that the two
deltas need not be added is Karrer, Kifer, Wilkins, Zhang 2022, for one (epsilon, delta) and continuous noise. The
proofs are those above.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpsql.mechanisms.base import Mechanism, Price, Refusal, Request
from dpsql.mechanisms.gaussian import TOO_SMALL, gaussian_variance_of_rho, vector_loss
from dpsql.mechanisms.noise.laws import LEAST_DELTA, GaussianLaw
from dpsql.mechanisms.noise.sensitivity import need_of, sensitivity_of
from dpsql.mechanisms.noise.thresholds import ThresholdRelease, threshold_of, why_no_threshold
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.privacy.conversions import delta_left
from dpsql.privacy.kinds import Concentrated

__all__ = ["GaussianThreshold"]


@dataclass(frozen=True, slots=True)
class GaussianThreshold(Mechanism):
    """Numbers of units with Gaussian noise, for the groups above a threshold."""

    name: str = "gaussian_threshold"

    def takes(self, request: Request) -> bool:
        """What chooses groups."""
        return request.selects and Mechanism.takes(self, request)

    def offer(self, request: Request) -> ThresholdRelease | Refusal:
        """An offer for COUNT(DISTINCT unit), or COUNT(*) where a unit has one row a group, over an open domain."""
        if not request.selects:
            return Refusal(self.name, "it chooses groups, and here every group is listed.")
        if reason := why_no_threshold(request, "GAUSSIAN_THRESHOLD"):
            return Refusal(self.name, reason)
        measure = Measure(MeasureKind.UNITS)
        moved = sensitivity_of(request, measure).l1  # by 1 each: also the square of the distance in L2
        bought = _bought(request.price, moved, request.neighbour_rows)
        if bought is None:
            return Refusal(self.name, TOO_SMALL)
        loss, law, room = bought
        threshold, outside = threshold_of(request, law, moved // request.neighbour_rows, room)
        return ThresholdRelease(
            mechanism=self.name,
            loss=replace(loss, outside=outside),
            need=need_of(request, measure),
            law=law,
            step=Fraction(1),
            sensitivity=float(moved) ** 0.5,
            threshold=threshold,
            min_units=request.min_units,
        )


@lru_cache(maxsize=1024)  # shares of one price are asked for by every statement that chooses groups
def _bought(price: Price, moved: int, neighbour_rows: int) -> tuple[Concentrated, GaussianLaw, Fraction] | None:
    """The loss without a threshold, the noise, and what the threshold may use; None where the price is too small.

    Args:
        price: Of the release.
        moved: By how many units in all a neighbour moves the groups, one each.
        neighbour_rows: By how many units neighbours differ.
    """
    loss = vector_loss(price)
    room = Fraction(0) if loss is None else _delta_of_threshold(price, loss.rho / neighbour_rows)
    if loss is None or room < LEAST_DELTA:
        return None
    return loss, GaussianLaw(gaussian_variance_of_rho(moved, loss.rho)), room


def _delta_of_threshold(price: Price, alone: Fraction) -> Fraction:
    """What the threshold may use: all of delta under a price in rho, else delta (1 - e^(-y U)).

    Args:
        price: Of the release.
        alone: The part U / (2 v) of rho that a unit does not need where it has every group for itself.
    """
    if price.epsilon is None:
        return price.delta
    return price.delta * (1 - delta_left(price.epsilon, price.delta, alone))
