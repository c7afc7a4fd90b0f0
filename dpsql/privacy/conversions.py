"""Conversions between kinds of loss, in the directions that are proved, rounded to the safe side.

Everything here is exact: rationals in, rationals out. Where a logarithm or an exponential is needed it is taken with 60
decimal digits by `decimal`, whose `exp` and `ln` are correctly rounded, and moved to the safe side by `SLACK`.

Tests: tests/unit/privacy/test_accounting.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache

__all__ = ["UNIT", "delta_left", "epsilon_of_rho", "pure_epsilon_of_rho", "rho_of_epsilon", "rho_of_pure"]

UNIT = Fraction(1, 10**12)
"""Accounts count epsilon, rho, gamma and multiples in whole units of 1e-12."""

DIGITS = 60  # Decimal digits of logarithms and exponentials. It is a choice: `SLACK` covers their rounding with ease.
SLACK = Fraction(1, 10**40)  # As a share of the terms: a dozen operations of 60 digits each stay far within it.

_up = Context(prec=DIGITS, rounding=ROUND_CEILING)
_down = Context(prec=DIGITS, rounding=ROUND_FLOOR)

TANH_IS_ONE = 100  # As an epsilon: above it 1 - tanh(epsilon / 2) is below 1e-43, so that tanh <= 1 costs nothing.


@lru_cache(maxsize=4096)
def rho_of_pure(epsilon: Fraction) -> Fraction:
    """The zCDP loss of any epsilon-DP mechanism, epsilon tanh(epsilon / 2), never below it.

    Args:
        epsilon: Pure loss, >= 0.

    Returns:
        rho, at most 1e-40 (relatively) above epsilon tanh(epsilon / 2), itself at most epsilon^2 / 2.

    Source: randomised response is the worst epsilon-DP mechanism (Kairouz, Oh, Viswanath 2015); its privacy loss has
    two values, +-epsilon, with mean epsilon tanh(epsilon / 2), and Kearns-Saul's inequality bounds its moments by it.

    >>> float(rho_of_pure(Fraction(1)))
    0.46211715726000974
    """
    if epsilon > TANH_IS_ONE:
        return epsilon
    # tanh(x / 2) = (1 - t) / (1 + t) with t = e^-x, falling in t: a lower bound on t is the safe side. (A bare minus
    # would round to the thread's own decimal context.)
    exponent = _up.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    t = Fraction(_down.next_minus(_down.exp(exponent.copy_negate())))
    return epsilon * min(Fraction(1), max(Fraction(0), (1 - t) / (1 + t)))


@lru_cache(maxsize=1024)
def pure_epsilon_of_rho(rho: Fraction) -> Fraction:
    """The largest epsilon, in whole units, whose rho (`rho_of_pure`, rounded up to a unit) is within ``rho``.

    >>> float(pure_epsilon_of_rho(Fraction(1, 8)))
    0.505268420175
    """
    room = rho // UNIT
    if room <= 0:
        return Fraction(0)
    # epsilon tanh(epsilon / 2) >= 0.46 min(epsilon, epsilon^2), so epsilon <= max(2.2 rho, 1.5 sqrt(rho)).
    low, high = 0, 3 * (room + math.isqrt(room * UNIT.denominator)) + 3
    while high - low > 1:
        middle = (low + high) // 2
        if math.ceil(rho_of_pure(middle * UNIT) / UNIT) <= room:
            low = middle
        else:
            high = middle
    return low * UNIT


@lru_cache(maxsize=1024)
def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon such that every rho-zCDP interaction is (epsilon, delta)-DP, rounded up.

    Args:
        rho: zCDP loss, >= 0.
        delta: 0 < delta < 1.

    Source: Canonne, Kamath, Steinke 2020, Prop. 12: for every alpha > 1, epsilon = alpha rho + gap(alpha, delta) is
    enough. The best alpha is searched in floats, the bound at it is exact, so a poor search only costs tightness.

    >>> float(epsilon_of_rho(Fraction(1, 10), Fraction(1, 10**6)))
    2.1419389283854744
    """
    slope = float(rho)
    order = _best_order(lambda alpha, gap: alpha * slope + gap, delta)
    return max(Fraction(0), order * rho + _gap(order, delta))


@lru_cache(maxsize=1024)
def rho_of_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, rounded down, for which `epsilon_of_rho` stays within epsilon: 0 where there is none.

    Args:
        epsilon: > 0.
        delta: 0 <= delta < 1; at 0 no rho has a finite epsilon.

    >>> rho = rho_of_epsilon(Fraction(1), Fraction(1, 10**6))
    >>> epsilon_of_rho(rho, Fraction(1, 10**6)) <= 1
    True
    """
    if delta == 0:
        return Fraction(0)
    order = _order_for(epsilon, delta)
    return max(Fraction(0), (epsilon - _gap(order, delta)) / order)


@lru_cache(maxsize=1024)
def delta_left(epsilon: Fraction, delta: Fraction, less: Fraction) -> Fraction:
    """The share of delta that is left at epsilon where rho is below `rho_of_epsilon`, never below it.

    At one order alpha, ln delta = (alpha - 1) (alpha rho - epsilon) + a constant: here at that of `rho_of_epsilon`.

    Args:
        epsilon: > 0.
        delta: 0 < delta < 1.
        less: By how much rho is less, >= 0.

    >>> float(delta_left(Fraction(1), Fraction(1, 10**6), rho_of_epsilon(Fraction(1), Fraction(1, 10**6))))
    1.31871233322342e-05
    """
    order = _order_for(epsilon, delta)
    exponent = order * (order - 1) * less
    fall = _down.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(_up.next_plus(_up.exp(fall.copy_negate())))


@lru_cache(maxsize=4096)
def _order_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The alpha that makes the rho of epsilon largest, as far as floats see."""
    wanted = float(epsilon)
    return _best_order(lambda alpha, gap: (gap - wanted) / alpha, delta)


def _gap(order: Fraction, delta: Fraction) -> Fraction:
    """(ln(1/delta) + (alpha - 1) ln(1 - 1/alpha) - ln alpha) / (alpha - 1), never below it."""
    excess = order - 1
    terms = (_ln(1 / delta), excess * _ln(excess / order), -_ln(order))
    return (sum(terms, Fraction(0)) + SLACK * sum(map(abs, terms), Fraction(0))) / excess


def _ln(x: Fraction) -> Fraction:
    return Fraction(_up.ln(_up.divide(Decimal(x.numerator), Decimal(x.denominator))))


def _best_order(objective: Callable[[float, float], float], delta: Fraction) -> Fraction:
    """The alpha that makes ``objective(alpha, gap)`` least, as far as floats see."""
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)

    def value(log_excess: float) -> float:
        excess, first, second = _terms(log_excess)
        return objective(1 + excess, (-log_delta - first - second) / excess)

    tried = [objective(1 + excess, (-log_delta - first - second) / excess) for excess, first, second in _grid()]
    best = STEP * (tried.index(min(tried)) + FIRST)
    low, high = best - STEP, best + STEP
    for _ in range(60):  # ternary search: 60 thirds leave 1e-11 of the step
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return 1 + Fraction(math.exp((low + high) / 2))


STEP = 0.25  # Between the logarithms of alpha - 1 that are tried first. It is a choice: between two, one is best.
FIRST, LAST = -80, 120
"""The first and the last of them, in steps: from e^-20 to e^30. It is a choice: the best for an epsilon and a delta in
use lies in between."""


def _terms(log_excess: float) -> tuple[float, float, float]:
    """alpha - 1, and two parts of `_gap`: -(alpha - 1) ln(1 - 1/alpha), and ln alpha."""
    excess = math.exp(log_excess)
    return excess, excess * math.log1p(1 / excess), math.log1p(excess)


@cache
def _grid() -> list[tuple[float, float, float]]:
    """The `_terms` of all that is tried first."""
    return [_terms(STEP * k) for k in range(FIRST, LAST + 1)]
