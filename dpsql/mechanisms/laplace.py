"""Discrete Laplace noise on counts, sums, means and moments.

Neighbours: ``add_remove`` and ``replace_one``, by the L1 sensitivity under each (`sensitivity`). Loss: `Pure`.

Theorem. Let v be a vector of integers that a neighbour moves by at most s in L1. Then v + noise, with independent noise
P(k) ~ exp(-|k| / b) on each entry and b = s / epsilon, is epsilon-DP: shifting one entry by j changes each probability
by a factor of at most exp(|j| / b), and the |j| add up to at most s.

A price in rho buys the largest epsilon with epsilon tanh(epsilon / 2) <= rho (`conversions.rho_of_pure`).

Source: Dwork, McSherry, Nissim, Smith 2006, Prop. 1; on the integers Ghosh, Roughgarden, Sundararajan 2009, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Price, Refusal, Request
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanRelease, mean_query
from dpsql.mechanisms.noise.moments import MomentsRelease, moments_query
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.mechanisms.noise.sensitivity import Sensitivity, measure_of, need_of, sensitivity_of, why_not
from dpsql.mechanisms.noise.values import noised_release
from dpsql.mechanisms.shared import PricedLaws, shared_offers
from dpsql.privacy.conversions import UNIT, pure_epsilon_of_rho
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import Composed

__all__ = ["Laplace", "laplace_noise", "laplace_scale", "pure_loss", "split", "split_among"]


def laplace_scale(sensitivity: int, epsilon: Fraction) -> Fraction:
    """Scale of discrete Laplace noise that makes one release epsilon-DP.

    Args:
        sensitivity: L1 sensitivity, >= 1, in grid steps.
        epsilon: > 0.

    Returns:
        b = sensitivity / epsilon, exactly, in grid steps.

    Raises:
        ValueError: If either is not positive: zero noise would cost infinity.

    >>> laplace_scale(3, Fraction(1, 2))
    Fraction(6, 1)
    """
    if sensitivity < 1 or epsilon <= 0:
        raise ValueError(f"sensitivity {sensitivity} and epsilon {epsilon} must both be above 0")
    return Fraction(sensitivity) / epsilon


def pure_loss(price: Price) -> Pure | None:
    """The largest pure loss within a price; None where a price in rho is too small to buy any.

    >>> pure_loss(Price(epsilon=Fraction(1), delta=Fraction(0)))
    Pure(epsilon=Fraction(1, 1), rho=None)
    """
    if price.rho is not None:
        epsilon = pure_epsilon_of_rho(price.rho)
        return Pure(epsilon, rho=price.rho) if epsilon > 0 else None
    if price.epsilon is None:
        raise InvariantBroken("a price names epsilon or rho")
    return Pure(price.epsilon)


def laplace_noise(moved: Sensitivity, price: Price) -> tuple[LaplaceLaw, Pure] | None:
    """The least noise within a price, and its loss; None where the price is too small to buy any.

    >>> laplace_noise(Sensitivity(3, 9, one_cell=True), Price(epsilon=Fraction(1, 2), delta=Fraction(0)))
    (LaplaceLaw(scale=Fraction(6, 1)), Pure(epsilon=Fraction(1, 2), rho=None))
    """
    loss = pure_loss(price)
    return None if loss is None else (LaplaceLaw(laplace_scale(moved.l1, loss.epsilon)), loss)


def split(price: Price, share: Fraction) -> tuple[Price, Price]:
    """A price in two parts, the first being ``share`` of it.

    The first part is a whole number of the ledger's units, so that rounding up both charges no more than the whole.

    >>> [float(part.epsilon) for part in split(Price(Fraction(1, 3), Fraction(0)), Fraction(1, 2))]
    [0.166666666666, 0.16666666666733335]
    """

    def parts(amount: Fraction | None) -> tuple[Fraction | None, Fraction | None]:
        if amount is None:
            return None, None
        first = amount * share // UNIT * UNIT or amount * share
        return first, amount - first

    (epsilon, other_epsilon), (rho, other_rho) = parts(price.epsilon), parts(price.rho)
    return Price(epsilon, price.delta, rho), Price(other_epsilon, price.delta, other_rho)


def split_among(price: Price, shares: Sequence[Fraction]) -> list[Price]:
    """A price in as many parts as there are shares, which add up to 1.

    >>> [str(part.epsilon) for part in split_among(Price(Fraction(1), Fraction(0)), [Fraction(1, 4), Fraction(3, 4)])]
    ['1/4', '3/4']
    """
    parts, left = [], Fraction(1)
    for share in shares[:-1]:
        part, price = split(price, share / left)
        parts.append(part)
        left -= share
    return [*parts, price]


@dataclass(frozen=True, slots=True)
class Laplace(Mechanism):
    """Exact integers plus discrete Laplace noise; means and other statistics from several noised integers."""

    name: str = "laplace"

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a count, sum, mean or statistic of moments, or why there is none."""
        if reason := why_not(request):
            return Refusal(self.name, reason)
        if request.aggregate.function == "avg":
            return self._mean(request)
        if request.aggregate.function in STATISTICS:
            return self._moments(request)
        measure = measure_of(request)
        step = Fraction(1) if measure.grid is None else measure.grid.step
        moved = sensitivity_of(request, measure)
        noise = laplace_noise(moved, request.price)
        if noise is None:
            return Refusal(self.name, TOO_SMALL)
        law, loss = noise
        return noised_release(
            request,
            mechanism=self.name,
            loss=loss,
            need=need_of(request, measure),
            law=law,
            step=step,
            sensitivity=float(in_unit(moved.l1, step)),
        )

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for statistics of the same numbers."""
        return shared_offers(self.name, _priced_laws, 2 / 3, requests)

    def _mean(self, request: Request) -> Offer | Refusal:
        # Variances go by (sensitivity / epsilon)^2. Priced by rho, which is near epsilon^2 / 2, they go by 1 / rho.
        query = mean_query(request)
        share = query.share(exponent=2 / 3 if request.price.rho is None else 1)
        counted = query.count_sensitivity
        sum_price, count_price = split(request.price, share) if counted else (request.price, request.price)
        for_sum = pure_loss(sum_price)
        for_count = pure_loss(count_price) if counted else None
        if for_sum is None or (counted and for_count is None):
            return Refusal(self.name, TOO_SMALL)
        return MeanRelease(
            mechanism=self.name,
            loss=Composed((for_sum, for_count)) if for_count else for_sum,
            query=query,
            sum_law=LaplaceLaw(laplace_scale(query.sum_sensitivity.l1, for_sum.epsilon)),
            count_law=LaplaceLaw(laplace_scale(counted.l1, for_count.epsilon)) if counted and for_count else None,
        )

    def _moments(self, request: Request) -> Offer | Refusal:
        query = moments_query(request)
        prices = split_among(request.price, query.shares(exponent=2 / 3 if request.price.rho is None else 1))
        losses = [loss for loss in map(pure_loss, prices) if loss is not None]
        if len(losses) < len(prices):
            return Refusal(self.name, TOO_SMALL)
        rest = iter(losses)
        laws = tuple(
            None if moved is None else LaplaceLaw(laplace_scale(moved.l1, next(rest).epsilon))
            for moved in query.sensitivities
        )
        return MomentsRelease(self.name, Composed(tuple(losses)), query, laws)


TOO_SMALL = "this rho is too small to buy any noise; ask for more."


def _priced_laws(price: Price, moved: Sequence[Sensitivity], shares: Sequence[Fraction]) -> PricedLaws | None:
    losses = [loss for part in split_among(price, shares) if (loss := pure_loss(part)) is not None]
    if len(losses) < len(shares):
        return None
    laws = (LaplaceLaw(laplace_scale(own.l1, loss.epsilon)) for own, loss in zip(moved, losses, strict=True))
    return tuple(laws), Composed(tuple(losses))
