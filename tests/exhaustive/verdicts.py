"""Whether two laws are as near to each other as a claim says: every output, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType

from tests.exhaustive.branching import Law
from tests.exhaustive.chances import BITS, Chance, at_most, exponential

__all__ = ["ORDERS", "Claim", "Verdict", "compared"]

ORDERS = (2, 3, 8)
"""Of the Renyi divergences that a rho bounds. Whole ones need no roots; there a discrete Gaussian reaches its rho."""


Spent = tuple[Fraction, Fraction]
"""The exponent, and a factor beside it, of a sum of P^a P'^(1 - a)."""


@dataclass(frozen=True)
class Claim:
    """What a loss says of neighbours.

    Attributes:
        epsilon: None where it names a rho alone.
        delta: What may be lost beside it.
        rho: Of zero-concentrated privacy; None where nothing is said of it.
        outside: The weight of an event outside of which rho holds.
    """

    epsilon: Fraction | None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    outside: Fraction = Fraction(0)

    @property
    def reach(self) -> Fraction:
        """Neighbours' numbers are at most so many scales, or standard deviations, apart."""
        return 1 + (self.rho or Fraction(0)) if self.epsilon is None else self.epsilon  # sqrt(2 rho) <= 1 + rho


@dataclass(frozen=True)
class Verdict:
    """What came of comparing.

    Attributes:
        checks: Inequalities that were decided: one for each output of each pair, and one for each pair and order.
        of_epsilon: The largest share of epsilon that an output shows, where there is no delta.
        of_delta: The largest share of delta that a pair shows, or of the weight outside of a rho.
        of_rho: The largest share of rho that a pair shows at an order.
        broken: Pairs, or their outputs, that show more than is claimed.
    """

    checks: int = 0
    of_epsilon: float = 0.0
    of_delta: float = 0.0
    of_rho: float = 0.0
    broken: int = 0

    def __add__(self, other: Verdict) -> Verdict:
        joined = {"checks": int.__add__, "broken": int.__add__}
        own = {at.name: (getattr(self, at.name), getattr(other, at.name)) for at in fields(self)}
        return Verdict(**{name: joined.get(name, max)(*both) for name, both in own.items()})


def compared(one: Law, two: Law, claim: Claim, spent: Mapping[int, Spent] = MappingProxyType({})) -> Verdict:
    """One law against another, in this direction, by all that is claimed.

    Args:
        one: A law.
        two: That of the other table.
        claim: What is claimed.
        spent: Of a rho, at each order, what was spent before.
    """
    found = Verdict()
    if claim.epsilon is not None:
        found += _by_epsilon(one, two, claim.epsilon, claim.delta)
    if claim.rho is not None:
        for order in ORDERS:
            found += _by_rho(one, two, claim, order, *spent.get(order, (Fraction(0), Fraction(1))))
    return found


def _by_epsilon(one: Law, two: Law, epsilon: Fraction, delta: Fraction) -> Verdict:
    """Whether epsilon and delta hold.

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
        return Verdict(checks, of_epsilon=most / float(epsilon) if epsilon else most, broken=len(above))
    claimed = exponential(epsilon, BITS)[0] * delta.numerator << BITS  # of e^-epsilon delta
    share = Fraction(lost * delta.denominator, claimed)
    return Verdict(checks, of_delta=float(share), broken=int(share > 1))


def _by_rho(one: Law, two: Law, claim: Claim, order: int, exponent: Fraction, factor: Fraction) -> Verdict:
    """Whether rho holds at an order a: the sum of P(o)^a P'(o)^(1 - a) over the outputs is at most e^(a (a - 1) rho).

    It is the sum over those that are compared. What lies beyond the window is not in it: its terms are positive, so
    nothing is convicted wrongly. With a weight outside, P and P' are the laws given what both can release; what one of
    them alone can must have no more than that weight. What was spent before is a factor of the sum.
    """
    rho, outside = claim.rho or Fraction(0), claim.outside
    total, lost = 0, _alone(one, two)[1]  # times 2^BITS, never rounded down
    for output in one.inner & two.chances.keys():
        least = two.chances[output].enclosed()[0]
        total -= -(one.chances[output].enclosed()[1] ** order) // least ** (order - 1)
    if lost * outside.denominator > outside.numerator << BITS or not total:
        return Verdict(1, broken=int(lost > 0))
    # each chance is taken at the end of its enclosure at which the sum is larger: nothing passes wrongly
    given = (
        Fraction((1 << BITS) - _alone(two, one)[0], 1 << BITS) ** (order - 1)
        / Fraction((1 << BITS) - lost, 1 << BITS) ** order
    )
    scaled, times = total * given * factor, order * (order - 1) * rho
    share = (math.log(scaled) - BITS * math.log(2) + float(exponent)) / float(times)
    beside = float(Fraction(lost, 1 << BITS) / outside) if outside else 0.0
    return Verdict(1, of_delta=beside, of_rho=share, broken=int(exponent > times or _above(scaled, times - exponent)))


def _above(scaled: Fraction, limit: Fraction) -> bool:
    """Whether a number, times 2^BITS, is above e^limit."""
    return scaled * exponential(limit, BITS)[1] > 1 << 2 * BITS


def _alone(one: Law, two: Law) -> tuple[int, int]:
    """Between what and what, times 2^BITS, the chance is that one law releases what the other one cannot."""
    ends = [one.chances[output].enclosed() for output in one.inner - two.chances.keys()]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _holds(one: Chance, two: Chance, epsilon: Fraction) -> bool:
    """Whether one <= e^epsilon two; never True where it is not. Infinite totals that do not cancel are enclosed."""
    try:
        return at_most(one, two, epsilon)
    except ArithmeticError:
        return one.enclosed()[1] * exponential(epsilon, BITS)[1] <= two.enclosed()[0] << BITS
