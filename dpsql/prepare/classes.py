"""What each class of units pays of a price: personalised privacy, where every unit has an epsilon of its own.

Neighbours: ``add_remove`` (and, for losses that are the same for all, ``replace_one``). A unit of class k agrees to the
share s_k of a loss, 0 < s_k <= 1. Adding or removing one unit of class k may change the odds of a statement priced at
epsilon by at most e^(s_k epsilon); of one priced at rho, it is s_k^2 rho-zCDP, since rho goes by the square of epsilon.

Theorem. Let s be the least share of all the policy's classes. A mechanism that knows nothing of classes, offered
s epsilon (or s^2 rho) for its price, keeps this for every class.

Proof. Its loss is s epsilon for whichever unit comes or goes, and s <= s_k.  QED

The least share is taken over all classes that there could be, never over those of the units that are present: a scale
that followed them would tell who is there. So noise of scale max_k Delta_k / epsilon_k (and the exponential mechanism
with max_k Delta_k / epsilon_k) is the strictest class's wherever all units have one sensitivity Delta; only a statistic
with a sensitivity for each class can do better.

Source: Jorgensen, Yu, Cormode 2015 (the definition); Cummings, Durfee 2020, section 7 (individual sensitivities).

Tests: tests/unit/prepare/test_prices.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dpsql.mechanisms.base import Price
from dpsql.privacy.account import UNIT

__all__ = ["price_of_everyone", "share_of"]


def share_of(price: Price, share: Fraction) -> Price:
    """What a unit that agrees to this share of a loss pays of a price, in whole units of the ledger, rounded down.

    >>> share_of(Price(Fraction(1), Fraction(0)), Fraction(1, 4)).epsilon
    Fraction(1, 4)
    >>> share_of(Price(None, Fraction(0), rho=Fraction(1)), Fraction(1, 4)).rho
    Fraction(1, 16)
    """
    epsilon = None if price.epsilon is None else price.epsilon * share // UNIT * UNIT
    rho = None if price.rho is None else price.rho * share**2 // UNIT * UNIT
    return replace(price, epsilon=epsilon, rho=rho)


def price_of_everyone(price: Price, classes: Mapping[str, Fraction]) -> Price:
    """What a loss that is the same for all units may be: the strictest class's share of the price; all of it without.

    Args:
        price: Of the statement's measurement.
        classes: Every class of the policy to its share.

    >>> price_of_everyone(Price(Fraction(1), Fraction(0)), {"strict": Fraction(1, 4), "normal": Fraction(1)}).epsilon
    Fraction(1, 4)
    """
    return share_of(price, min(classes.values())) if classes else price
