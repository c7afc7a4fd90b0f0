"""Why zCDP's bounds must not move with what is spent (Rogers, Roth, Ullman, Vadhan 2016, on adaptive filters).

The tempting rule converts what was spent so far with the delta that is left: grant while
epsilon(sum of rho, D - sum of delta) <= E. The adversary asks a Gaussian first and looks at the answer. If the answer
already gives much away, she spends the rest of rho on a second Gaussian. If not, she spends the delta that is "left" on
a mechanism that shows everything with that probability. Each branch alone is within (E, D); together they are not.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpsql.privacy.account import DELTA_UNIT, UNIT, Account
from dpsql.privacy.accounting import Zcdp
from dpsql.privacy.kinds import Approximate, Concentrated

EPSILON, DELTA = 1.0, 1e-5
TINY = Fraction(1, 10**9)


def gaussian_delta(shift: float, epsilon: float) -> float:
    """The exact delta of a Gaussian whose answers differ by ``shift`` standard deviations (Balle, Wang 2018, Thm 5)."""
    tail = norm.logcdf(-epsilon / shift - shift / 2)
    return float(norm.cdf(-epsilon / shift + shift / 2) - math.exp(epsilon + tail))


def shift_of(epsilon: float, delta: float) -> float:
    """The largest shift that is (epsilon, delta)-DP: the best conversion there is."""
    return float(brentq(lambda shift: gaussian_delta(shift, epsilon) - delta, 1e-3, 50))


def delta_of_adversary(first: float, second: float, rest: float) -> float:
    """The delta, at EPSILON, of the best adversary who asks a Gaussian and then a Gaussian or a (0, rest) mechanism.

    Args:
        first, second: Shifts of the Gaussians in standard deviations.
        rest: Chance that the other mechanism shows everything.
    """
    losses = np.linspace(first**2 / 2 - 9 * first, first**2 / 2 + 9 * first, 20_001)
    weights = norm.pdf(losses, loc=first**2 / 2, scale=first) * (losses[1] - losses[0])
    left = EPSILON - losses
    tails = norm.logcdf(-left / second - second / 2)
    by_gaussian = norm.cdf(-left / second + second / 2) - np.exp(np.minimum(left, 700) + tails)
    by_rest = rest + (1 - rest) * np.maximum(0.0, -np.expm1(left))
    return float(np.sum(weights * np.maximum(by_gaussian, by_rest)))


def test_the_adversary_breaks_the_tempting_rule() -> None:
    whole = shift_of(EPSILON, DELTA)
    first, second = math.sqrt(0.8) * whole, math.sqrt(0.2) * whole
    rest = DELTA - gaussian_delta(first, EPSILON)
    # The rule grants either branch, and either is private as promised,
    assert math.hypot(first, second) <= whole * (1 + 1e-12)
    assert gaussian_delta(math.hypot(first, second), EPSILON) <= DELTA * (1 + 1e-9)
    assert gaussian_delta(first, EPSILON) + rest <= DELTA * (1 + 1e-9)
    # but who may choose after the first answer gets far more.
    assert delta_of_adversary(first, second, rest) > 1.5 * DELTA


def test_the_adversary_stays_within_the_promise_of_zcdp() -> None:
    bound = Zcdp.of(Fraction(EPSILON), Fraction(1, 10**5))
    first, second = (math.sqrt(2 * share * bound.rho * UNIT) for share in (0.8, 0.2))
    assert delta_of_adversary(first, second, float(bound.delta * DELTA_UNIT)) <= DELTA


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(8, 10), Fraction(1)])
def test_what_is_left_of_delta_does_not_depend_on_rho(share: Fraction) -> None:
    bound = Zcdp.of(Fraction(EPSILON), Fraction(1, 10**5))
    spent = Concentrated(bound.rho * UNIT * share).account("zcdp")
    rest = bound.delta * DELTA_UNIT
    if share < 1:
        assert bound.grants(spent + Approximate(TINY, rest).account("zcdp"))
    assert not bound.grants(spent + Approximate(TINY, rest + DELTA_UNIT).account("zcdp"))


@pytest.mark.parametrize("delta", [Fraction(1, 10**5), Fraction(1, 10**9), Fraction(7, 10**18)])
def test_who_ends_in_either_sum_and_the_conversion_share_one_delta(delta: Fraction) -> None:
    bound, room = Zcdp.of(Fraction(EPSILON), delta), (delta / 4) // DELTA_UNIT * DELTA_UNIT
    assert bound.conversion_delta + 2 * room <= delta
    dear = Fraction(EPSILON) - TINY  # no rho is left beside it: the sum of epsilon alone can grant it
    beside = Concentrated(bound.rho * UNIT / 2).account("zcdp")  # it has no epsilon: the sum of rho alone can
    for spent, epsilon in ((Account(), dear), (beside, TINY)):
        assert bound.grants(spent + Approximate(epsilon, room).account("zcdp"))
        assert not bound.grants(spent + Approximate(epsilon, room + DELTA_UNIT).account("zcdp"))


def test_what_is_left_of_rho_does_not_depend_on_delta() -> None:
    bound = Zcdp.of(Fraction(EPSILON), Fraction(1, 10**5))
    for spent in (Account(), Account(delta=bound.delta)):
        assert bound.grants(spent + Concentrated(bound.rho * UNIT).account("zcdp"))
        assert not bound.grants(spent + Concentrated((bound.rho + 1) * UNIT).account("zcdp"))


def delta_of_two_branches(first: float, second: float, epsilon: float, delta: float) -> float:
    """The delta, at EPSILON, of who asks a Gaussian and then spends what is left of the one sum or of the other.

    Args:
        first: Shift of the Gaussian in standard deviations.
        second: Shift of another Gaussian: what is left of rho.
        epsilon, delta: Of randomised response that shows all with chance delta: what is left of the other sums.
    """
    losses = np.linspace(first**2 / 2 - 9 * first, first**2 / 2 + 9 * first, 20_001)
    weights = norm.pdf(losses, loc=first**2 / 2, scale=first) * (losses[1] - losses[0])
    left = EPSILON - losses
    tails = norm.logcdf(-left / second - second / 2)
    by_gaussian = norm.cdf(-left / second + second / 2) - np.exp(np.minimum(left, 700) + tails)
    yes = 1 / (1 + math.exp(-epsilon))
    lost = yes * np.maximum(0.0, -np.expm1(left - epsilon)) + (1 - yes) * np.maximum(0.0, -np.expm1(left + epsilon))
    return float(np.sum(weights * np.maximum(by_gaussian, delta + (1 - delta) * lost)))


def test_who_chooses_between_the_two_rests_stays_within_the_promise() -> None:
    bound = Zcdp.of(Fraction(EPSILON), Fraction(1, 10**5))
    found = []
    for share in (0.02, 0.1, 0.3, 0.6, 0.9, 0.99):
        first, second = (math.sqrt(2 * part * bound.rho * UNIT) for part in (share, 1 - share))
        for priced in (0.2, 0.5, 0.8, 0.95):
            pair = gaussian_delta(first, priced * EPSILON)  # what the Gaussian costs beside that epsilon
            rest = float(bound.delta * DELTA_UNIT) - pair
            if rest > 0:
                spent = Concentrated(*(Fraction(x) for x in (first**2 / 2, priced * EPSILON, pair or 1e-18)))
                more = Approximate(Fraction((1 - priced) * EPSILON * (1 - 1e-9)), Fraction(rest * (1 - 1e-9)))
                assert bound.grants(spent.account("zcdp") + more.account("zcdp"))
                found.append(delta_of_two_branches(first, second, (1 - priced) * EPSILON, rest))
    assert DELTA / 3 < max(found) <= DELTA  # a real adversary, within the promise
