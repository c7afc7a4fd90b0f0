"""What a loss counts as in a ledger's accounts: whole numbers of a fixed unit, rounded up once and then only added.

Tests: tests/unit/privacy/test_accounting.py, tests/unit/privacy/test_loss.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeVar

from dpsql.errors import InvariantBroken
from dpsql.privacy.conversions import UNIT

__all__ = ["DELTA_UNIT", "UNIT", "Account", "Composition", "PrivacyLoss", "readable", "units"]

Composition = Literal["basic", "zcdp"]
"""How a ledger adds losses up, fixed for its life."""

DELTA_UNIT = Fraction(1, 10**18)
"""Accounts count delta in whole units of 1e-18."""

K = TypeVar("K")


def units(amount: Fraction, unit: Fraction = UNIT) -> int:
    """The amount in whole units, rounded up.

    >>> units(Fraction(1, 3))
    333333333334
    """
    return math.ceil(amount / unit)


@dataclass(frozen=True, slots=True)
class Account:
    """Losses added up, coordinate by coordinate. Composition happens in `__add__` and `times`, and nowhere else.

    Attributes:
        epsilon: In units of 1e-12; None where there is no finite bound (a price in rho alone).
        delta: Beside epsilon, in units of 1e-18.
        rho: zCDP loss, in units of 1e-12.
        covered: How much of delta rho covers, in its units: a Gaussian's. Beside rho stands the rest alone (`outside`).
        gamma: (base partition, table version) to gamma, in units of 1e-12: one bad event, charged once however used.
        metric: (metric, attribute) to a multiple of that attribute's metric, in units of 1e-12.
        classes: Class of units to its own (epsilon, rho), beside what every unit loses; none, or all of them.
    """

    epsilon: int | None = 0
    delta: int = 0
    rho: int = 0
    gamma: Mapping[tuple[str, int], int] = field(default_factory=dict)
    metric: Mapping[tuple[str, str], int] = field(default_factory=dict)
    classes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    covered: int = 0

    @property
    def outside(self) -> int:
        """The delta that stands beside rho, in units of 1e-18."""
        return self.delta - self.covered

    def __add__(self, other: Account) -> Account:
        if self.classes and other.classes and self.classes.keys() != other.classes.keys():
            raise InvariantBroken("two per-class losses name different classes; every loss must name them all")
        return Account(
            epsilon=None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            gamma=_joined(self.gamma, other.gamma, max),
            metric=_joined(self.metric, other.metric, int.__add__),
            classes=_joined(self.classes, other.classes, lambda a, b: (a[0] + b[0], a[1] + b[1])),
            covered=self.covered + other.covered,
        )

    def times(self, count: int) -> Account:
        """This account composed ``count`` times, count >= 1.

        >>> Account(epsilon=2, delta=1, gamma={("city", 1): 7}).times(3)
        Account(epsilon=6, delta=3, rho=0, gamma={('city', 1): 7}, metric={}, classes={}, covered=0)
        """
        if count == 1:
            return self
        return Account(
            epsilon=None if self.epsilon is None else self.epsilon * count,
            delta=self.delta * count,
            rho=self.rho * count,
            gamma=self.gamma,
            metric={key: amount * count for key, amount in self.metric.items()},
            classes={name: (epsilon * count, rho * count) for name, (epsilon, rho) in self.classes.items()},
            covered=self.covered * count,
        )

    def of_class(self, name: str) -> Account:
        """What a unit of this class lost: everybody's part and the class's own."""
        epsilon, rho = self.classes.get(name, (0, 0))
        return self + Account(epsilon=epsilon, rho=rho)


V = TypeVar("V")


def _joined(left: Mapping[K, V], right: Mapping[K, V], both: Callable[[V, V], V]) -> Mapping[K, V]:
    """What stands in either; ``both`` of what stands in both. Most losses have neither."""
    if not (left and right):
        return left or right
    return {**left, **{key: both(left[key], own) if key in left else own for key, own in right.items()}}


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """A loss for people to read: decimals that, as printed, are never below the exact amounts.

    Attributes:
        epsilon: Of the unit that loses most; infinite where only rho bounds the loss.
        delta: 0 where the loss is pure.
        rho: zCDP loss, or None where none is stated beside epsilon.
        gamma: Sum over base partitions and table versions.
        metric: Metric to attribute to multiple, or to one number for ``sup`` and ``l2``.
        classes: Class of units to what its units lose.
    """

    epsilon: float = 0
    delta: float = 0
    rho: float | None = None
    gamma: float = 0
    metric: Mapping[str, Mapping[str, float] | float] = field(default_factory=dict)
    classes: Mapping[str, float] = field(default_factory=dict)


def readable(account: Account, *, rho: bool, classes: Mapping[str, int | None]) -> PrivacyLoss:
    """An account for people to read.

    Args:
        account: What was lost.
        rho: Whether to show that coordinate.
        classes: Each class of units to the epsilon that its units lost, in units; empty where there are no classes.
    """
    everyone = [account.epsilon, *classes.values()]
    worst = None if None in everyone else max(x for x in everyone if x is not None)
    metric: dict[str, dict[str, float]] = {}
    for (name, attribute), multiple in account.metric.items():
        metric.setdefault(name, {})[attribute] = _printed(multiple)
    return PrivacyLoss(
        epsilon=_printed(worst),
        delta=_printed(account.delta, DELTA_UNIT),
        rho=_printed(account.rho) if rho else None,
        gamma=_printed(sum(account.gamma.values())),
        metric={name: multiples.get("", multiples) for name, multiples in metric.items()},
        classes={name: _printed(epsilon) for name, epsilon in classes.items()},
    )


def _printed(amount: int | None, unit: Fraction = UNIT) -> float:
    """The nearest float that prints as at least the amount: 3/10 is 0.3, although that float lies a little below."""
    if amount is None:
        return math.inf
    return _at_least(amount, unit) if amount else 0


@lru_cache(maxsize=1024)
def _at_least(amount: int, unit: Fraction) -> float:
    """The same of a finite amount that is not 0."""
    exact = amount * unit
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) >= exact else math.nextafter(nearest, math.inf)
