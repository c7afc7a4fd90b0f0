"""Which groups appear: those whose noised number of units exceeds a threshold. What all mechanisms with one share.

Each group that occurs gets its number of units plus noise of a symmetric, log-concave law on the integers, and appears
with that noised number if it exceeds the integer T strictly. A group that does not occur never appears. Write
p = P(1 + noise > T): the chance that a group of one unit appears.

Lemma. Let E and E' be events of the release on D and on D', of chances c and c'. If P(D in S | E) <= e^epsilon
P(D' in S | E') + d for every S, then P(D in S) <= e^epsilon P(D' in S) + 1 - m (1 - d), m being the lesser of c, c'.

Proof. P(D in S) <= 1 - c + c P(D in S | E) <= 1 - m + m P(D in S | E), as a chance is at most 1. By assumption
m P(D in S | E) <= m e^epsilon P(D' in S | E') + m d, and m P(D' in S | E') <= (m / c') P(D' in S) <= P(D' in S).  QED

For thresholds E says that the groups which occur in D alone are silent, E' the same of D'. Other aggregates that are
shown for the groups that appeared are releases of their own, whatever the groups are: each of these gets a number.

Where a policy hides groups of fewer than k units (``min_units``), n - (k - 1) stands for the number n, and 0 where that
is negative: a unit moves it by at most 1, and a group occurs where it is above 0. So all that is proved of n holds of
it; what is shown is its noised number and k - 1: T is raised by k - 1 at the same delta, and a group of fewer than k
units never appears. A test of n beside the T of n itself would show groups of k units with another chance than p.

Intervals. Groups that appear are those whose noise was upward, so the interval of a noised number v is v - q to v + q,
q the quantile of the noise, only where v - q > T + 1; nearer to the threshold it begins at 1 (or at k): who occurs has
a unit.

Theorem. Given that a group appears, its number n is in the interval with the wanted chance at least, whatever n is.

Proof. Write G(k) = P(noise >= k) and a = P(|noise| > q) = 2 G(q + 1). The law is log-concave: G(k + 1) / G(k) falls.
  If n <= T, let d = T - n. The noise that brings v above T is above d, and n is missed only if v > T + q + 1: with
  chance G(d + q + 2) / G(d + 1) <= G(q + 2) / G(1). That is at most a = 2 G(q + 1), since G(q + 2) / G(q + 1) <=
  G(1) / G(0) <= 2 G(1), as G(0) >= 1 / 2.
  If n > T, write x = P(n + noise <= T) <= G(1) <= 1 / 2. A miss from below has chance a / 2 at most; one from above,
  T < v < n - q, has a / 2 - x, or none where that is negative. Given v > T these make (a - x) / (1 - x) <= a, or
  (a / 2) / (1 - x) <= a.  QED

Source: the idea of thresholds is Korolova, Kenthapadi, Mishra, Ntoulas 2009; the proofs are those above.

Tests: tests/unit/mechanisms/test_threshold.py, tests/unit/mechanisms/test_gaussian_threshold.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpsql.mechanisms.base import Interval, Request, derive
from dpsql.mechanisms.noise.laws import LEAST_DELTA, Law
from dpsql.mechanisms.noise.least import least
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ThresholdRelease", "threshold_delta", "threshold_for", "threshold_of", "why_no_threshold"]

DIGITS = 60  # Decimal digits of every step, besides the zeros of a chance. It is a choice.
LEAST_CHANCE = Fraction(1, 10**150)
"""A smaller chance is charged as this one, so that every delta is a fraction of a few hundred digits. With 10^9 groups
it comes to 1e-141, far below `LEAST_DELTA`: it moves no threshold."""


@dataclass(frozen=True, slots=True)
class ThresholdRelease(NoisedRelease):
    """An offer to decide which groups appear, with their noised numbers of units.

    Attributes:
        threshold: Groups appear when their noised count is above it. Its delta is within that of the loss.
        min_units: Groups of fewer units never appear.
    """

    threshold: int
    min_units: int = 1

    def __post_init__(self) -> None:
        NoisedRelease.__post_init__(self)
        if self.min_units > 1:
            derive(self, notes=(f"Groups of fewer than {self.min_units} units are never shown (min_units).",))

    @property
    def expected_error(self) -> float:
        """The number of units from which on a group is found 19 times of 20, whatever the groups hold.

        Smaller groups may be lost altogether, larger ones are off by less.
        """
        return self.threshold + self.half_width

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """Noised numbers of units; None for groups that do not appear, so that nothing of them can leave."""
        units = raw.column("m0")
        noise = noised(units, self.law.draw(sampler, len(raw)))
        shown = (np.asarray(units) >= self.min_units) & (noise > self.threshold)
        values = np.full(len(noise), None, dtype=object)  # an int is made for those that appear alone
        values[shown] = noise[shown].astype(object)
        steps: list[int | None] = values.tolist()
        return ReleasedTable({"value": steps, "steps": steps})

    def appears_from(self, released: ReleasedTable | None = None) -> float | None:
        """The threshold."""
        return self.threshold

    def selected(self, released: ReleasedTable) -> Sequence[int]:
        """Rows of the released table whose groups appear."""
        return [row for row, value in enumerate(released.values) if value is not None]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- the exact quantile of the noise, or from 1 on (from ``min_units`` on) near the threshold.

        (None, None) for hidden groups.
        """
        reach = self.law.quantile(confidence)
        return [
            (None, None) if k is None else (self.min_units if k - reach <= self.threshold + 1 else k - reach, k + reach)
            for k in released.columns["steps"]
        ]


def why_no_threshold(request: Request, strategy: str) -> str | None:
    """Why a threshold does not choose the groups of this request, or None if it does.

    Args:
        request: One that selects groups.
        strategy: What ``group_selection_strategy`` calls the mechanism.
    """
    function, held = request.aggregate.function, request.source.contribution
    once = function == "count_rows" and min(held.rows, held.rows_in_group) == 1
    if not once and function != "count_units":
        return f"it counts distinct units, once in each group; {request.aggregate.text} is another number."
    if request.options.group_selection_strategy not in (None, strategy):
        return f"group_selection_strategy is {request.options.group_selection_strategy}."
    if request.price.delta < LEAST_DELTA:
        return "an open domain needs delta; add delta to the statement's options, such as delta = 1e-8."
    return None


def threshold_of(request: Request, law: Law, groups: int, delta: Fraction) -> tuple[int, Fraction]:
    """The least threshold on the noised number of units within delta, and the delta that it uses.

    Args:
        request: Says how many units a group needs besides.
        law, groups, delta: As in `threshold_for`.
    """
    # A group of n noised units appears above n - 1.
    own = max(threshold_for(law, groups, delta), request.units_at_least - request.min_units)
    return own + request.min_units - 1, threshold_delta(law, groups, own)


@lru_cache(maxsize=1024)
def threshold_delta(law: Law, groups: int, threshold: int) -> Fraction:
    """The chance that one of ``groups`` groups of one unit each exceeds the threshold, never below it.

    Args:
        law: Of the noise, in units.
        groups: Most groups one unit can touch, U >= 1.
        threshold: T >= 1; a group appears when its noised count is above it.

    Returns:
        1 - (1 - p)^U with p = P(1 + noise > T) = P(noise >= T), at least `LEAST_CHANCE`, rounded up in the 40th digit.

    >>> from dpsql.mechanisms.noise.laws import LaplaceLaw
    >>> float(threshold_delta(LaplaceLaw(Fraction(1)), groups=1, threshold=1))
    0.2689414213699951
    """
    chance = max(law.tail(threshold), LEAST_CHANCE)
    up = Context(prec=DIGITS, rounding=ROUND_CEILING)
    p = up.divide(Decimal(chance.numerator), Decimal(chance.denominator))
    # As many digits more as p has zeros, so that 1 - p keeps all of p.
    digits = Context(prec=DIGITS - p.adjusted(), Emin=-(10**9), Emax=10**9)
    silent = digits.power(digits.subtract(Decimal(1), p), groups)
    exact = digits.subtract(Decimal(1), silent)
    return Fraction(Context(prec=40, rounding=ROUND_CEILING).next_plus(exact))


@lru_cache(maxsize=1024)
def threshold_for(law: Law, groups: int, delta: Fraction) -> int:
    """The smallest threshold from 1 on that keeps within delta.

    Args:
        law: Of the noise, in units.
        groups: Most groups one unit can touch, U >= 1.
        delta: 1e-100 to 1.

    Returns:
        The least integer T >= 1 with `threshold_delta` within delta.

    Raises:
        ValueError: If delta is outside its range, or no unit can touch a group.

    >>> from dpsql.mechanisms.noise.laws import LaplaceLaw
    >>> threshold_for(LaplaceLaw(Fraction(1)), groups=1, delta=Fraction(1, 10**6))
    14
    """
    if groups < 1 or not LEAST_DELTA <= delta <= 1:
        raise ValueError(f"no threshold for {groups} groups and delta {delta}; write a delta from 1e-100 to 1")
    near = law.near(float(delta) / groups)
    return least(lambda threshold: threshold_delta(law, groups, threshold) <= delta, near)  # it falls as they rise
