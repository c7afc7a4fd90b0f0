"""Whether two laws are as near to each other as a claim says: every output, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.exhaustive.branching import Law
from tests.exhaustive.chances import BITS, Chance, at_most, exponential

__all__ = ["Verdict", "compared"]


@dataclass(frozen=True)
class Verdict:
    """What came of comparing.

    Attributes:
        checks: Inequalities that were decided, one for each output of each pair.
        share: The largest share of epsilon that an output shows; of delta, where the claim has one.
        broken: Pairs, or their outputs, that show more than is claimed.
    """

    checks: int = 0
    share: float = 0.0
    broken: int = 0

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(self.checks + other.checks, max(self.share, other.share), self.broken + other.broken)


def compared(one: Law, two: Law, epsilon: Fraction, delta: Fraction) -> Verdict:
    """One law against another, in this direction.

    Pure: P(o) <= e^epsilon P'(o) for every output o. With a delta: the sum over all o of what P(o) has above
    e^epsilon P'(o) is at most delta. What lies beyond the window has the ratio of its witness; without one all of it
    counts.
    """
    checks, most, lost = 0, 0.0, 0
    _, times = exponential(epsilon, BITS)  # both sides are multiplied by e^-epsilon, so that nothing exceeds 1
    above = set[bytes | None]()
    for output in one.inner:
        first, second = one.chances[output], two.chances.get(output)
        checks += 1
        if second is None or not _holds(first, second, epsilon):
            above.add(output)
            least = 0 if second is None else second.enclosed()[0]
            lost += max(0, first.enclosed()[1] * times - (least << BITS))
        elif not delta:
            most = max(most, one.logarithm(output) - two.logarithm(output))
    for witness, chance in one.beyond.items():
        if witness is None or witness in above:
            checks += 1
            above.add(witness)
            lost += chance.enclosed()[1] * times
    if not delta:
        return Verdict(checks, most / float(epsilon) if epsilon else most, len(above))
    claimed = exponential(epsilon, BITS)[0] * delta.numerator << BITS  # of e^-epsilon delta
    return Verdict(checks, float(Fraction(lost * delta.denominator, claimed)), int(lost * delta.denominator > claimed))


def _holds(one: Chance, two: Chance, epsilon: Fraction) -> bool:
    """Whether one <= e^epsilon two; never True where it is not. Infinite totals that do not cancel are enclosed."""
    try:
        return at_most(one, two, epsilon)
    except ArithmeticError:
        return one.enclosed()[1] * exponential(epsilon, BITS)[1] <= two.enclosed()[0] << BITS
