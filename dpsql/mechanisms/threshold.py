"""Which groups of an open domain may appear, and how many units each has: a thresholded histogram.

Neighbours: ``add_remove`` and ``replace_one``, a proof for each. Loss: `Approximate`, delta as far as it is used.

Each group that occurs gets its number of distinct units plus discrete Laplace noise of scale b = 1 / e0, and appears
with that noised number if it exceeds the integer T strictly. A group that does not occur never appears.

A unit touches at most U groups and counts once in each. Write p = P(1 + noise > T): the chance that a group of one unit
appears.

Theorem (``add_remove``). If e0 = epsilon / U and p <= 1 - exp(-e0), the release is (epsilon, delta)-DP with
delta = 1 - (1 - p)^U.

Proof. Let D be D' and one more unit, A the groups that only this unit touches, B those it shares: |A| + |B| <= U. In D
each group of A has one unit; in D' it does not occur. All other groups have the same count. Let S be any event, and S0
the part of it in which no group of A appears.
  From D to D': P(D in S) <= P(some group of A appears) + P(D in S0). The first is 1 - (1 - p)^|A| <= delta. For the
  second, drop the chance that A is silent; each group of B costs a factor of at most exp(e0), so it is at most
  exp(|B| e0) P(D' in S) <= exp(epsilon) P(D' in S).
  From D' to D: P(D' in S) = P(D' in S0) <= exp(|B| e0) (1 - p)^-|A| P(D in S0), since silence of A has chance
  (1 - p)^|A| in D and 1 in D'. As 1 / (1 - p) <= exp(e0), the factor is at most exp((|A| + |B|) e0) <= exp(epsilon).
  QED

Theorem (``replace_one``). If e0 = epsilon / (2 U) and p <= 1 - exp(-e0), the release is (epsilon, delta)-DP with the
same delta = 1 - (1 - p)^U.

Proof. Unit u of D is replaced by u' of D'. Let A be the groups that occur in D only, A' those in D' only. A group of A
is touched by u alone and has one unit in D; so with A', u' and D'. On all other groups the counts differ by at most
(U - |A|) + (U - |A'|) in L1. Let S0 be the part of S in which A and A' are silent.
  P(D in S) <= P(some group of A appears) + P(D in S0), the first being at most delta. In D the groups of A' are silent
  in any case; dropping the chance that A is silent, P(D in S0) is at most the chance that the other groups come out as
  in S0, which is at most exp((2 U - |A| - |A'|) e0) times their chance in D'. There A is silent in any case and A' is
  so with chance (1 - p)^|A'|, so P(D in S0) <= exp((2 U - |A| - |A'|) e0) (1 - p)^-|A'| P(D' in S0) <= exp(2 U e0)
  P(D' in S).
The relation is symmetric, so this is both directions.  QED

So a direct proof costs one delta under ``replace_one``, where group privacy would charge (1 + e^epsilon) of them. Other
aggregates that are shown for the groups that appeared compose with this release: away from the event of weight delta,
those groups occur in both tables.

Intervals. Groups that appear are those whose noise was upward, so the interval of a noised number v is v - q to v + q,
q the quantile of the noise, only where v - q > T + 1; nearer to the threshold it begins at 1: who occurs has a unit.
Theorem. Given that a group appears, its number n is in the interval with the wanted chance at least, whatever n is.
Proof. Write p = exp(-1 / b), and a = P(|noise| > q) = 2 p^(q + 1) / (1 + p). If n <= T, the noise that brings v above T
is geometric, and n is missed only if v > T + q + 1: with chance p^(q + 1) <= a. If n > T, write x = P(n + noise <= T) =
p^(n - T) / (1 + p) <= 1 / 2. A miss from below has chance a / 2 at most; one from above, T < v < n - q, has a / 2 - x,
or none where that is negative. Given v > T these make (a - x) / (1 - x) <= a, or (a / 2) / (1 - x) <= a.  QED

Source: the idea is Korolova, Kenthapadi, Mishra, Ntoulas 2009; the proofs are those above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.base import Interval, Mechanism, Refusal, Request
from dpsql.mechanisms.laplace import TOO_SMALL, laplace_scale, pure_loss
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.sensitivity import need_of, sensitivity_of
from dpsql.mechanisms.noise.thresholds import LEAST_DELTA, threshold_delta, threshold_for
from dpsql.mechanisms.stability import StabilityRelease, stability_offer
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.privacy.kinds import Approximate
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["Threshold", "ThresholdRelease"]


@dataclass(frozen=True, slots=True)
class ThresholdRelease(NoisedRelease):
    """An offer to decide which groups appear, with their noised numbers of units.

    Attributes:
        threshold: Groups appear when their noised count is above it. Its delta is within that of the loss.
    """

    threshold: int

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """Noised numbers of units; None for groups that do not appear, so that nothing of them can leave."""
        steps = [k if k > self.threshold else None for k in NoisedRelease.release(self, raw, sampler).columns["steps"]]
        return ReleasedTable({"value": steps, "steps": steps})

    def selected(self, released: ReleasedTable) -> Sequence[int]:
        """Rows of the released table whose groups appear."""
        return [row for row, value in enumerate(released.values) if value is not None]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the exact quantile of the noise, or from 1 on near the threshold; (None, None) for hidden groups."""
        reach = self.law.quantile(confidence)
        return [
            (None, None) if k is None else (1 if k - reach <= self.threshold + 1 else k - reach, k + reach)
            for k in released.columns["steps"]
        ]


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
        if reason := _why_not(request):
            return Refusal(self.name, reason)
        pure = pure_loss(request.price)
        if pure is None:
            return Refusal(self.name, TOO_SMALL)
        measure = Measure(MeasureKind.UNITS)
        l1 = sensitivity_of(request, measure).l1
        groups = l1 // request.neighbour_rows
        scale = laplace_scale(l1, pure.epsilon)
        # A group of n units appears from n noised units on, that is above n - 1.
        threshold = max(threshold_for(scale, groups, request.price.delta), request.units_at_least - 1)
        return ThresholdRelease(
            mechanism=self.name,
            loss=Approximate(pure.epsilon, threshold_delta(scale, groups, threshold), pure.rho),
            need=need_of(request, measure),
            law=LaplaceLaw(scale),
            step=Fraction(1),
            sensitivity=float(l1),
            threshold=threshold,
        )


def _why_not(request: Request) -> str | None:
    function, held = request.aggregate.function, request.source.contribution
    once = function == "count_rows" and min(held.rows, held.rows_in_group) == 1
    if not once and function != "count_units":
        return f"it counts distinct units, once in each group; {request.aggregate.text} is another number."
    if request.price.delta < LEAST_DELTA:
        return "an open domain needs delta; add delta to the statement's options, such as delta = 1e-8."
    return None
