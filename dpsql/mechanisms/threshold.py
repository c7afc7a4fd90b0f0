"""Which groups of an open domain may appear, and how many units each has: a thresholded histogram.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Approximate`, delta as far as it is used.

Each group that occurs gets its number of distinct units plus discrete Laplace noise of scale b = 1 / e0, and appears
with that noised number if it exceeds the integer T strictly (`noise/thresholds`). A unit touches at most U groups and
counts once in each. Write p = P(1 + noise > T), and w for the units by which neighbours differ: 1 under ``add_remove``,
2 under ``replace_one``.

Theorem. If e0 = epsilon / (w U), the release is (epsilon, delta)-DP with delta = 1 - (1 - p)^U.

Proof. Let A be the groups that occur in D alone, A' those in D' alone. Only the unit that comes or goes touches such a
group, so that it has one unit, and |A|, |A'| <= U (one of them is empty under ``add_remove``). All other groups differ
by at most w U - |A| - |A'| units together. Let E say that A is silent in D, E' that A' is silent in D': their chances
are (1 - p)^|A| and (1 - p)^|A'|. Given both, D and D' differ in the noised numbers of the other groups alone, whose
chances differ by a factor of at most exp(w U e0) = exp(epsilon). The lemma of `noise/thresholds` with d = 0 gives
delta = 1 - (1 - p)^max(|A|, |A'|), which is at most that of U.  QED

So a direct proof costs one delta under ``replace_one``, where group privacy would charge (1 + e^epsilon) of them.

Source: the idea is Korolova, Kenthapadi, Mishra, Ntoulas 2009; the proof is that above.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.base import Mechanism, Refusal, Request
from dpsql.mechanisms.laplace import TOO_SMALL, laplace_scale, pure_loss
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.sensitivity import need_of, sensitivity_of
from dpsql.mechanisms.noise.thresholds import ThresholdRelease, threshold_of, why_no_threshold
from dpsql.mechanisms.stability import StabilityRelease, stability_offer
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.privacy.kinds import Approximate

__all__ = ["Threshold"]


@dataclass(frozen=True, slots=True)
class Threshold(Mechanism):
    """Numbers of the groups that occur, for those above a threshold: of an open domain, or of a listed one."""

    name: str = "threshold"

    def offer(self, request: Request) -> ThresholdRelease | StabilityRelease | Refusal:
        """An offer for COUNT(DISTINCT unit), or COUNT(*) where a unit has one row a group, over an open domain.

        Over a listed one, for every count: the stability histogram.
        """
        if not request.selects:
            stable = stability_offer(self.name, request)
            return Refusal(self.name, stable) if isinstance(stable, str) else stable
        if reason := why_no_threshold(request, "LAPLACE_THRESHOLD"):
            return Refusal(self.name, reason)
        pure = pure_loss(request.price)
        if pure is None:
            return Refusal(self.name, TOO_SMALL)
        measure = Measure(MeasureKind.UNITS)
        l1 = sensitivity_of(request, measure).l1
        groups = l1 // request.neighbour_rows
        law = LaplaceLaw(laplace_scale(l1, pure.epsilon))
        threshold, delta = threshold_of(request, law, groups, request.price.delta)
        return ThresholdRelease(
            mechanism=self.name,
            loss=Approximate(pure.epsilon, delta, pure.rho),
            need=need_of(request, measure),
            law=law,
            step=Fraction(1),
            sensitivity=float(l1),
            threshold=threshold,
            min_units=request.min_units,
        )
