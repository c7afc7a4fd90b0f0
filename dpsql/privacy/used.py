"""How much of an account is used: 0 before the first charge, 1 where nothing more is granted; what is left of delta.

The share is that of the quantity that ends first, on the route that ends last: under ``zcdp`` a charge is granted by
the sum of epsilon or by that of rho, so an account is used as far as the less used of the two.

Tests: tests/unit/privacy/test_used.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.privacy.account import DELTA_UNIT, Account
from dpsql.privacy.accounting import Bound, PrivacyFilter, Zcdp

__all__ = ["delta_left", "used"]


def used(limits: PrivacyFilter, spent: Account) -> Fraction:
    """The share of an account that is used, from 0 to 1.

    >>> from dpsql.privacy.accounting import Limits
    >>> used(PrivacyFilter.of(Limits(epsilon=Fraction(2)), "basic"), Account(epsilon=10**12))
    Fraction(1, 2)
    """
    shares = [_of_bound(limits.plain, spent)]
    shares += [_of_bound(bound, spent.of_class(name)) for name, bound in limits.classes.items()]
    shares.append(_share(sum(spent.gamma.values()), limits.gamma))
    shares += [_share(amount, limits.metric.get(key, 0)) for key, amount in spent.metric.items()]
    return min(Fraction(1), max(shares))


def delta_left(limits: PrivacyFilter, spent: Account) -> Fraction:
    """The largest delta that one more statement could have.

    >>> from dpsql.privacy.accounting import Limits
    >>> delta_left(PrivacyFilter.of(Limits(Fraction(2), Fraction(1, 10**5)), "zcdp"), Account())
    Fraction(1, 400000)
    """
    left = [_delta_left(limits.plain, spent)]
    left += [_delta_left(bound, spent.of_class(name)) for name, bound in limits.classes.items()]
    return min(left)


def _delta_left(bound: Bound, spent: Account) -> Fraction:
    by_rho = isinstance(bound, Zcdp) and spent.rho <= bound.rho
    return max(0, bound.delta - (spent.outside if by_rho else spent.delta)) * DELTA_UNIT


def _of_bound(bound: Bound, spent: Account) -> Fraction:
    by_epsilon = _share(spent.epsilon, bound.epsilon), _share(spent.delta, bound.delta)
    if not isinstance(bound, Zcdp):
        return max(by_epsilon)
    return min(max(by_epsilon), max(_share(spent.rho, bound.rho), _share(spent.outside, bound.delta)))


def _share(spent: int | None, limit: int) -> Fraction:
    """Of a limit; nothing is no share of none, and what has no finite sum is all of it."""
    if spent is None:
        return Fraction(1)
    return Fraction(spent, limit) if limit else Fraction(spent > 0)
