"""Choosing instead of noising: quantiles, MIN, MAX and MODE by the exponential mechanism or permute-and-flip.

Neighbours: ``add_remove`` and ``replace_one``: the theorem counts the rows that a neighbour brings or takes, and under
``replace_one`` it takes some and brings as many. Loss: `Pure`, with the zCDP loss that is proved below.

In each group every candidate v has an integer score q(v), the higher the better, and an exponent c > 0 is fixed. The
exponential mechanism draws v with P(v) ~ exp(c q(v)). Permute-and-flip shows each v with chance
exp(c (q(v) - best)), and takes one of those shown.

Theorem. Let a neighbour change the scores of one group by d(v), and let w = max d - min d.
1. Either choice is (c w)-DP.
2. The exponential mechanism is (c w)^2 / 8-zCDP.
3. Let w <= k times the number of rows that the neighbour brings to and takes from the group, and let these numbers add
   up to at most l1 over the groups, their squares to at most l2_squared. Then the choices of all groups together are
   (k c l1)-DP, and for the exponential mechanism (k c)^2 l2_squared / 8-zCDP.

Proof. 1. For the exponential mechanism ln P'(v) / P(v) = c d(v) - ln E[exp(c d)], and both terms lie between c min d
and c max d. Permute-and-flip chooses as a noisy maximum does whose noise Z is exponential with rate c (Ding et al.
2021): v wins if Z(v) exceeds the best q(u) + Z(u) of the others less q(v). A neighbour moves this by at most w, and
P(Z > z + w) >= exp(-c w) P(Z > z). 2. The log ratios of 1 lie in a range of length c w: a bounded range of c w gives
(c w)^2 / 8-zCDP (Cesar, Rogers 2021). 3. The groups are drawn independently, so their losses add up.  QED

Where a draw has another factor than 1 in its scores, k is that of its own scores (`choice.quantile`).

Write r = k c, the rate at which one row tells. A price in epsilon buys r = epsilon / l1, one in rho the largest r of 40
binary digits with r^2 l2_squared / 8 <= rho. Where several draws share the price, their rates add up to epsilon / l1,
or their squares to 8 rho / l2_squared. A noised number with the rate s, discrete Laplace noise of scale 1 / s, is
s-DP for each row and s^2 / 2-zCDP: among squares it counts as 2 s. Of draws that depend on what was released before,
those of the dearest path count.

Source: McSherry, Talwar 2007 (exponential mechanism); McKenna, Sheldon 2020 (permute-and-flip); Ding, Kifer, Sayed,
Steinke, Wang, Xiao, Zhang 2021; Cesar, Rogers 2021 (zCDP); 3 is above.

Tests: tests/unit/mechanisms/choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Mechanism, Offer, Price, Refusal, Request
from dpsql.mechanisms.choice.mode import ExponentialChoice, ModeRelease, PermuteAndFlip, candidates_of, whole_numbers
from dpsql.mechanisms.choice.quantile import COUNT, QuantileRelease
from dpsql.mechanisms.choice.query import QUANTILES, quantile_query
from dpsql.mechanisms.laplace import TOO_SMALL
from dpsql.mechanisms.noise.sensitivity import Sensitivity, moved_rows
from dpsql.plan.needs import Values
from dpsql.privacy.kinds import Pure

__all__ = ["Exponential", "rates_for", "root_below"]

BITS = 40
"""Binary digits after the point of the rates that a price in rho buys. It is a choice: rounding down by 2^-40 loses
next to nothing."""

WHOLE = (Fraction(1),)


def rates_for(price: Price, moved: Sensitivity, shares: Sequence[Fraction]) -> tuple[list[Fraction], Pure] | None:
    """How much each of several draws may tell of one row, and what they cost together.

    Args:
        price: For all draws and groups together.
        moved: Rows that a neighbour brings and takes, as a vector over the groups.
        shares: Of the rate, one for each draw, adding up to 1.

    Returns:
        The rates, per row, and the loss; None where a price in rho is too small to buy any.

    >>> rates, loss = rates_for(Price(Fraction(1), Fraction(0)), Sensitivity(4, 16, one_cell=True), WHOLE)
    >>> rates, loss
    ([Fraction(1, 4)], Pure(epsilon=Fraction(1, 1), rho=Fraction(1, 8)))
    """
    return _bought(price, moved, shares, sum((share**2 for share in shares), Fraction(0)))


def _bought(
    price: Price, moved: Sensitivity, shares: Sequence[Fraction], squares: Fraction
) -> tuple[list[Fraction], Pure] | None:
    """The same, where the squares of the shares count as so much."""
    if price.rho is not None:
        rate = root_below(8 * price.rho / (squares * moved.l2_squared))
    elif price.epsilon is not None:
        rate = price.epsilon / moved.l1
    else:
        raise InvariantBroken("a price names epsilon or rho")
    if rate <= 0:
        return None
    loss = Pure(rate * moved.l1, rho=rate**2 * squares * moved.l2_squared / 8)
    return [rate * share for share in shares], loss


def root_below(x: Fraction) -> Fraction:
    """A number of 40 binary digits that is not above the root of x.

    >>> root_below(Fraction(9, 4)), root_below(Fraction(2)) ** 2 <= 2
    (Fraction(3, 2), True)
    """
    return Fraction(math.isqrt(math.floor(x * 4**BITS)), 2**BITS)


def _merged(price: Price, shares: Sequence[Fraction]) -> Fraction:
    """The share of one draw in the place of several, which costs no more than they do."""
    if price.rho is None:
        return sum(shares, Fraction(0))
    return root_below(sum((share**2 for share in shares), Fraction(0)))


@dataclass(frozen=True, slots=True)
class Exponential(Mechanism):
    """Quantiles, MIN and MAX over a declared grid; MODE over a declared domain.

    Attributes:
        count: The share of a quantile's rate for the number of values; 0 where it is known otherwise.
    """

    name: str = "exponential"
    count: Fraction = COUNT
    options: frozenset[str] = frozenset({"interval"})

    def reads(self, request: Request) -> frozenset[str]:
        """A mode has no interval to decline."""
        read = Mechanism.reads(self, request)
        return read if request.aggregate.function in QUANTILES else read - self.options

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for an order statistic or a mode, or why there is none."""
        if request.selects:
            return Refusal(self.name, "it cannot decide which groups of an open domain appear; only a threshold can.")
        if request.aggregate.function == "mode":
            return self._mode(request)
        if request.aggregate.function in QUANTILES:
            return self._quantile(request)
        return Refusal(self.name, f"it answers quantiles, MIN, MAX and MODE, not {request.aggregate.text}.")

    def _quantile(self, request: Request) -> Offer | Refusal:
        query = quantile_query(request)
        if isinstance(query, str):
            return Refusal(self.name, query)
        count = self.count if query.ends or query.inward else Fraction(0)
        shares = [share * (1 - count) for share in query.shares]
        merged = [_merged(request.price, (shares[0], *shares[1 : 2 + k])) for k in range(len(query.ends))]
        squares = max(sum((share**2 for share in shares), Fraction(0)), *(share**2 for share in (shares[0], *merged)))
        bought = _bought(request.price, query.moved, [*shares, *merged, count], squares + (2 * count) ** 2)
        if bought is None:
            return Refusal(self.name, TOO_SMALL)
        (*rates, noise), loss = bought
        ends = len(shares)
        return QuantileRelease(self.name, loss, query, tuple(rates[:ends]), tuple(rates[ends:]), noise)

    def _mode(self, request: Request) -> Offer | Refusal:
        candidates = candidates_of(request)
        if isinstance(candidates, str):
            return Refusal(self.name, candidates)
        moved = moved_rows(request)
        bought = rates_for(request.price, moved, WHOLE)
        if bought is None or request.aggregate.argument is None:
            return Refusal(self.name, TOO_SMALL)
        (rate,), loss = bought
        need = Values(request.source, request.aggregate.argument, whole_numbers(request, candidates))
        # Permute-and-flip errs less at the same epsilon, the exponential mechanism at the same rho.
        if request.price.rho is None:
            return ModeRelease(self.name, Pure(loss.epsilon), need, candidates, PermuteAndFlip(rate))
        return ModeRelease(self.name, loss, need, candidates, ExponentialChoice(rate))
