"""Budgets as filters: whether one more loss is granted, what is left, and why not.

A filter is asked about each loss, chosen with all earlier answers in sight, and what it grants never leaves its bounds.
They are functions of the limits alone and never move with what is spent.

`basic` grants while the sums of epsilon and of delta are within (E, D): basic composition, adaptive in its parameters.

`zcdp` fixes delta_c = D/2, delta_s = D/4 and rho_max, the largest rho with epsilon(rho, delta_c) <= E
(`conversions.rho_of_epsilon`), and grants iff

    sum of delta <= delta_s  and  (sum of epsilon <= E  or  sum of rho <= rho_max).

Theorem: the whole interaction is (E, D)-DP.
Proof: Take any set of transcripts, and split it in two. The transcripts at whose end the sum of epsilon is within E are
also transcripts, with the same probabilities, of the interaction that stops before that sum leaves E: (E, delta_s)-DP
by basic composition. At the end of every other one the sum of epsilon is above E, so its last grant rested on rho, sums
only grow, and it is a transcript of the interaction that stops before the sum of rho leaves rho_max:
delta_s-approximately rho_max-zCDP (fully adaptive: Whitehouse, Ramdas, Rogers, Wu 2023, Thm 1), hence
(E, delta_c + delta_s)-DP. The two parts' probabilities add, with e^E on both, and their deltas add to
delta_s + delta_s + delta_c = D. So `zcdp` never grants less than `basic` with a quarter of the delta.

The tempting rule "epsilon(sum of rho, D - sum of delta) <= E" moves its bound with what is spent and is false: an
adversary who decides, after seeing a Gaussian answer, which of the two rests to spend, collects both bad events at
their full price. `tests/attacks/test_ledger_moving_bound.py` is that adversary.

Beside epsilon, delta and rho stand limits that only add up: gamma (once per base partition and table version) and the
multiples of each metric. What has no declared limit is refused.

Where units belong to classes (personalised privacy), a class with share s has a filter of its own, with the limits
(s E, D), over what its units lose: everybody's losses and its own. A charge is granted iff every filter grants it.

Theorem: a unit of that class is (s E, D)-protected by the whole interaction. Proof: the theorem above, and the one on
basic composition, compare two data sets only. Take two that differ in one unit of the class: every loss then bounds
the ratio of their chances by what that class loses, and the filter of the class never leaves its bounds; the other
filters only refuse more, by public amounts.  QED
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.privacy.account import DELTA_UNIT, UNIT, Account, Composition
from dpsql.privacy.conversions import epsilon_of_rho, pure_epsilon_of_rho, rho_of_epsilon, rho_of_pure

__all__ = [
    "Basic",
    "Bound",
    "Filter",
    "Limits",
    "PolicyLimits",
    "Shortfall",
    "Zcdp",
    "epsilon_of_rho",
    "pure_epsilon_of_rho",
    "rho_of_epsilon",
    "rho_of_pure",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one account may spend in total.

    Attributes:
        epsilon, delta, gamma: epsilon > 0, 0 <= delta < 1, 0 <= gamma < 1.
        metric: Metric to attribute to multiple; ``{"home": {"": x}}`` for one number. What is not named is refused.
        classes: Every class of units to its share of epsilon, above 0 and at most 1; empty where there are none.

    >>> Limits(epsilon=Fraction(1), delta=Fraction(1, 10**6)).gamma
    Fraction(0, 1)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    gamma: Fraction = Fraction(0)
    metric: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    classes: Mapping[str, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        amounts = [self.epsilon, self.delta, self.gamma, *self.classes.values()]
        amounts += [x for multiples in self.metric.values() for x in multiples.values()]
        if not all(isinstance(x, Fraction) and x >= 0 for x in amounts):
            raise InvariantBroken(f"limits must be exact Fractions, not below 0: {self!r}")
        if self.epsilon == 0 or self.delta >= 1 or self.gamma >= 1:
            raise InvariantBroken(f"limits need epsilon above 0, delta and gamma below 1: {self!r}")
        if not all(0 < share <= 1 for share in self.classes.values()):
            raise InvariantBroken(f"the share of a class must be above 0 and at most 1: {self!r}")


@dataclass(frozen=True, slots=True)
class PolicyLimits:
    """All limits of one policy.

    Attributes:
        total: Of all analysts together.
        analysts: Name to limits; ``"*"`` is the one account that all other names share; without it they may not ask.
        metrics: What each metric's multiples are multiples of, in an encoding of the policy's.
    """

    total: Limits
    analysts: Mapping[str, Limits]
    metrics: Mapping[str, str] = field(default_factory=dict)

    def account(self, analyst: str) -> str | None:
        """The account that an analyst's charges go to, or None where there is none."""
        return analyst if analyst in self.analysts else "*" if "*" in self.analysts else None

    def of(self, account: str) -> Limits:
        """One account's limits; metrics and shares of classes are the total's where the account states none."""
        own = self.analysts[account]
        return replace(own, metric=own.metric or self.total.metric, classes=own.classes or self.total.classes)

    def encoded(self) -> dict[str, Any]:
        """The limits as JSON; amounts are exact ratios."""
        encoded = {"total": _encoded(self.total), "analysts": {name: _encoded(x) for name, x in self.analysts.items()}}
        return encoded | ({"metrics": dict(self.metrics)} if self.metrics else {})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a loss is not granted: ``quantity`` is needed, and this much of its limit remains.

    Attributes:
        affordable: A price in epsilon that one statement could still have, 0 where there is none to tell.
    """

    quantity: str
    needed: Fraction
    remaining: Fraction
    limit: Fraction
    affordable: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Bound(ABC):
    """A promise of (epsilon, delta) over plain losses, in whole units rounded down."""

    epsilon: int
    delta: int

    @classmethod
    @abstractmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> Bound:
        """The filter that keeps this promise."""

    @abstractmethod
    def grants(self, spent: Account) -> bool:
        """Whether an interaction that spent this much keeps the promise."""

    @abstractmethod
    def remaining(self, spent: Account) -> Fraction:
        """The largest pure epsilon, in whole units, that one more query could spend."""

    @abstractmethod
    def epsilon_spent(self, spent: Account) -> int | None:
        """An epsilon, in units, that what was spent keeps within this promise's delta."""

    def shortfall(self, spent: Account, asked: Account) -> Shortfall | None:
        """What the loss lacks, or None where it is granted."""
        if self.grants(spent + asked):
            return None
        if spent.delta + asked.delta > self.delta:
            return _shortfall("delta", spent.delta, asked.delta, self.delta, DELTA_UNIT)
        return self._of_main_quantity(spent, asked)

    def _of_main_quantity(self, spent: Account, asked: Account) -> Shortfall:
        if asked.epsilon is None:
            raise InvariantBroken("a loss without a finite epsilon reached an account that adds up epsilon")
        left = self.remaining(spent)
        return Shortfall("epsilon", asked.epsilon * UNIT, left, self.epsilon * UNIT, affordable=left)


@dataclass(frozen=True, slots=True)
class Basic(Bound):
    """Sum of epsilon <= E and sum of delta <= D."""

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> Basic:
        return cls(epsilon=epsilon // UNIT, delta=delta // DELTA_UNIT)

    def grants(self, spent: Account) -> bool:
        return spent.epsilon is not None and spent.epsilon <= self.epsilon and spent.delta <= self.delta

    def remaining(self, spent: Account) -> Fraction:
        return Fraction(0) if spent.epsilon is None else max(0, self.epsilon - spent.epsilon) * UNIT

    def epsilon_spent(self, spent: Account) -> int | None:
        return spent.epsilon


@dataclass(frozen=True, slots=True)
class Zcdp(Bound):
    """Sum of delta <= D/4 and (sum of epsilon <= E or sum of rho <= rho_max); the module's theorem.

    >>> bound = Zcdp.of(Fraction(1), Fraction(1, 10**6))
    >>> float(bound.rho * UNIT), bound.delta
    (0.022937446688, 250000000000)
    """

    rho: int
    conversion_delta: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> Zcdp:
        conversion_delta = delta / 2
        return cls(
            epsilon=epsilon // UNIT,
            delta=(delta / 4) // DELTA_UNIT,
            rho=rho_of_epsilon(epsilon, conversion_delta) // UNIT,
            conversion_delta=conversion_delta,
        )

    def grants(self, spent: Account) -> bool:
        by_epsilon = spent.epsilon is not None and spent.epsilon <= self.epsilon
        return spent.delta <= self.delta and (by_epsilon or spent.rho <= self.rho)

    def remaining(self, spent: Account) -> Fraction:
        by_epsilon = 0 if spent.epsilon is None else max(0, self.epsilon - spent.epsilon)
        return max(by_epsilon * UNIT, pure_epsilon_of_rho((self.rho - spent.rho) * UNIT))

    def epsilon_spent(self, spent: Account) -> int | None:
        if spent.rho == 0 or self.conversion_delta == 0:
            return spent.epsilon
        converted = -(-epsilon_of_rho(spent.rho * UNIT, self.conversion_delta) // UNIT)
        return converted if spent.epsilon is None else min(spent.epsilon, converted)

    def _of_main_quantity(self, spent: Account, asked: Account) -> Shortfall:
        if asked.epsilon is None:
            return _shortfall("rho", spent.rho, asked.rho, self.rho, UNIT)
        return Bound._of_main_quantity(self, spent, asked)


BOUNDS: Mapping[Composition, type[Bound]] = {"basic": Basic, "zcdp": Zcdp}


@dataclass(frozen=True, slots=True)
class Filter:
    """All limits of one account.

    Attributes:
        plain: Over what every unit loses.
        classes: Over what each class's units lose.
        shares: Of each class, in what a statement costs at most.
        gamma: In units.
        metric: (metric, attribute) to units.

    >>> limits = Limits(epsilon=Fraction(1))
    >>> budget = Filter.of(limits, "basic")
    >>> budget.shortfall(Account(epsilon=0), Account(epsilon=2 * 10**12))
    Shortfall(quantity='epsilon', needed=Fraction(2, 1), remaining=Fraction(1, 1), limit=Fraction(1, 1), \
affordable=Fraction(1, 1))
    """

    plain: Bound
    classes: Mapping[str, Bound]
    shares: Mapping[str, Fraction]
    gamma: int
    metric: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, limits: Limits, composition: Composition) -> Filter:
        """The filter that keeps these limits."""
        bound = BOUNDS[composition]
        return cls(
            plain=bound.of(limits.epsilon, limits.delta),
            classes={name: bound.of(share * limits.epsilon, limits.delta) for name, share in limits.classes.items()},
            shares=limits.classes,
            gamma=limits.gamma // UNIT,
            metric={(name, a): x // UNIT for name, multiples in limits.metric.items() for a, x in multiples.items()},
        )

    def shortfall(self, spent: Account, asked: Account) -> Shortfall | None:
        """Why ``asked`` is not granted after ``spent``, or None where it is.

        Raises:
            InvariantBroken: If a per-class loss leaves out a declared class.
        """
        return next(self._shortfalls(spent, asked), None)

    def _shortfalls(self, spent: Account, asked: Account) -> Iterator[Shortfall]:
        for (name, attribute), multiple in asked.metric.items():
            before, limit = spent.metric.get((name, attribute), 0), self.metric.get((name, attribute), 0)
            if before + multiple > limit:
                named = f"metric {name}.{attribute}" if attribute else f"metric {name}"
                yield _shortfall(named, before, multiple, limit, UNIT)
        before, after = sum(spent.gamma.values()), sum((spent + asked).gamma.values())
        if after > max(before, self.gamma):
            yield _shortfall("gamma", before, after - before, self.gamma, UNIT)
        if asked.classes and self.classes and asked.classes.keys() != self.classes.keys():
            raise InvariantBroken("a per-class loss must name exactly the classes that have limits")
        for name in sorted(asked.classes.keys() - self.classes.keys()):
            epsilon = asked.classes[name][0]
            yield Shortfall(f"epsilon of class {name}", epsilon * UNIT, Fraction(0), Fraction(0))
        if plain := self.plain.shortfall(spent, asked):
            yield self._affordable(plain, spent)
        for name, bound in self.classes.items():
            if short := bound.shortfall(spent.of_class(name), asked.of_class(name)):
                yield replace(self._affordable(short, spent), quantity=f"{short.quantity} of class {name}")

    def _affordable(self, short: Shortfall, spent: Account) -> Shortfall:
        """The same shortfall with the price that every class affords, where one of them affords any."""
        return replace(short, affordable=self.remaining(spent)) if short.affordable else short

    def remaining(self, spent: Account) -> Fraction:
        """The largest price in pure epsilon that one more statement could have.

        A class with share s loses at most s times the price, so it affords what remains to it, divided by s.
        """
        of_classes = [bound.remaining(spent.of_class(k)) / self.shares[k] for k, bound in self.classes.items()]
        return min(of_classes, default=self.plain.remaining(spent))

    def repeats_left(self, spent: Account, asked: Account) -> int | None:
        """How many more times ``asked`` would be granted; None where it costs nothing."""
        if asked == Account():
            return None

        def granted(count: int) -> bool:
            return self.shortfall(spent, asked.times(count)) is None

        if not granted(1):
            return 0
        low, high = 1, 2
        while granted(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if granted(middle) else (low, middle)
        return low


def _shortfall(quantity: str, spent: int, asked: int, limit: int, unit: Fraction) -> Shortfall:
    return Shortfall(quantity, asked * unit, max(0, limit - spent) * unit, limit * unit)


def _encoded(limits: Limits) -> dict[str, Any]:
    return {
        "epsilon": str(limits.epsilon),
        "delta": str(limits.delta),
        "gamma": str(limits.gamma),
        "metric": {name: {a: str(x) for a, x in multiples.items()} for name, multiples in limits.metric.items()},
        "classes": {name: str(x) for name, x in limits.classes.items()},
    }
