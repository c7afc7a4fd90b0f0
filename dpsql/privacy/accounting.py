"""Budgets as filters: whether one more loss is granted, what is left, and why not.

A filter is asked about each loss, chosen with all earlier answers in sight, and what it grants never leaves its bounds.
They are functions of the limits alone and never move with what is spent.

`basic` grants while the sums of epsilon and of delta are within (E, D): basic composition, adaptive in its parameters.

`zcdp` fixes delta_c = D/2, delta_s = D/4 and rho_max, the largest rho with epsilon(rho, delta_c) <= E
(`conversions.rho_of_epsilon`). A charge is one mechanism under two analyses: it is (epsilon, delta)-DP, and it is
outside-approximately rho-zCDP, where `outside` is the part of delta that rho does not cover: none of a Gaussian's, all
of a threshold's. It is granted iff

    A: sum of epsilon <= E    and  sum of delta   <= delta_s,   or
    B: sum of rho <= rho_max  and  sum of outside <= delta_s

holds after it. A loss priced in rho alone has an infinite epsilon: A never holds again.

Theorem: the whole interaction is (E, D)-DP.
Proof: The sums are functions of the transcript so far, each summand is fixed before its answer, and they only grow: so
A, once left, is left for good, and so is B. Every transcript ends in A or in B. Take any set S of transcripts, and let
S_A be those that end in A, S_B the rest, which end in B.
S_A: up to its end such a transcript never left A, so it has the same probability in the interaction that stops before
the first charge that leaves A. There write each charge's kernel as P_i = G_i + H_i with G_i <= e^epsilon_i Q_i and
mass(H_i) <= delta_i. The products of the G_i are at most e^E Q; what has an H_i in it weighs at most the largest sum of
the delta_i on a path, so delta_s. Hence P(S_A) <= e^E Q(S_A) + D/4.
S_B: likewise, in the interaction that stops before the first charge that leaves B, which is delta_s-approximately
rho_max-zCDP (fully adaptive: Whitehouse, Ramdas, Rogers, Wu 2023, Thm 1), hence (E, delta_c + delta_s)-DP:
P(S_B) <= e^E Q(S_B) + 3 D/4. Add the two.  QED

So `zcdp` never grants less than `basic` with a quarter of the delta, and a Gaussian, whatever its size, leaves A open.

The tempting rule "epsilon(sum of rho, D - sum of delta) <= E" moves its bound with what is spent and is false: an
adversary who decides, after seeing a Gaussian answer, which of the two rests to spend, collects both bad events at
their full price. `tests/attacks/test_ledger_moving_bound.py` is that adversary.

Beside epsilon, delta and rho stand limits that only add up: gamma (once per base partition and table version) and the
multiples of each metric. What has no declared limit is refused.

Limits may change while answers are in sight. Under a chain of pairs, each of which holds the next or is held by it in E
and in D, every transcript ends within the largest, as all sums, rho_max and delta_s grow with E and D: that pair is the
promise. Of two that do not hold each other, each keeps only the transcripts that end in it: what would be promised is
the larger epsilon with the sum of both deltas, in no policy. `Limits.comparable` tells, and the ledger refuses it.

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
from functools import cached_property
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.privacy.account import DELTA_UNIT, UNIT, Account, Composition
from dpsql.privacy.conversions import epsilon_of_rho, pure_epsilon_of_rho, rho_of_epsilon, rho_of_pure

__all__ = [
    "Basic",
    "Bound",
    "Limits",
    "PolicyLimits",
    "PrivacyFilter",
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

    def comparable(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Whether one of these limits and that pair holds the other, in epsilon and in delta."""
        return (self.epsilon - epsilon) * (self.delta - delta) >= 0

    def __post_init__(self) -> None:
        amounts = [self.epsilon, self.delta, self.gamma, *self.classes.values()]
        amounts += [x for multiples in self.metric.values() for x in multiples.values()]
        if not all(isinstance(x, Fraction) and x >= 0 for x in amounts):
            raise InvariantBroken(f"limits must be exact Fractions, not below 0: {self!r}")
        if self.epsilon == 0 or self.delta >= 1 or self.gamma >= 1:
            raise InvariantBroken(f"limits need epsilon above 0, delta and gamma below 1: {self!r}")
        if not all(0 < share <= 1 for share in self.classes.values()):
            raise InvariantBroken(f"the share of a class must be above 0 and at most 1: {self!r}")


@dataclass(frozen=True)
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

    @cached_property
    def encoded(self) -> dict[str, Any]:
        """The limits as JSON, which nobody changes; amounts are exact ratios."""
        encoded = {"total": _encoded(self.total), "analysts": {name: _encoded(x) for name, x in self.analysts.items()}}
        return encoded | ({"metrics": dict(self.metrics)} if self.metrics else {})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a loss is not granted: ``quantity`` is needed, and this much of its limit remains.

    Attributes:
        affordable: A price in epsilon that one statement could still have, 0 where there is none to tell.
        declared: The delta of which the limit is a part, as under ``zcdp``; 0 where the limit is what was declared.
    """

    quantity: str
    needed: Fraction
    remaining: Fraction
    limit: Fraction
    affordable: Fraction = Fraction(0)
    declared: Fraction = Fraction(0)


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
    def proved(self, spent: Account) -> Account:
        """What was spent, by the analysis that proves the least epsilon within this promise's delta."""

    def shortfall(self, spent: Account, asked: Account) -> Shortfall | None:
        """What the loss lacks, or None where it is granted."""
        return None if self.grants(spent + asked) else self._lack(spent, asked)

    @abstractmethod
    def _lack(self, spent: Account, asked: Account) -> Shortfall:
        """What a loss lacks that is not granted."""

    def _of_epsilon(self, spent: Account, asked: int) -> Shortfall:
        left = self.remaining(spent)
        return Shortfall("epsilon", asked * UNIT, left, self.epsilon * UNIT, affordable=left)


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

    def proved(self, spent: Account) -> Account:
        return spent

    def _lack(self, spent: Account, asked: Account) -> Shortfall:
        if asked.epsilon is None:
            raise InvariantBroken("a loss without a finite epsilon reached an account that adds up epsilon")
        if spent.delta + asked.delta > self.delta:
            return _shortfall("delta", spent.delta, asked.delta, self.delta, DELTA_UNIT)
        return self._of_epsilon(spent, asked.epsilon)


@dataclass(frozen=True, slots=True)
class Zcdp(Bound):
    """Sums of epsilon and delta within (E, D/4), or of rho and outside within (rho_max, D/4): the module's theorem.

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
        by_epsilon = spent.epsilon is not None and spent.epsilon <= self.epsilon and spent.delta <= self.delta
        return by_epsilon or (spent.rho <= self.rho and spent.outside <= self.delta)

    def remaining(self, spent: Account) -> Fraction:
        open_to_epsilon = spent.epsilon is not None and spent.delta <= self.delta
        by_epsilon = max(0, self.epsilon - (spent.epsilon or 0)) * UNIT if open_to_epsilon else Fraction(0)
        open_to_rho = spent.outside <= self.delta
        return max(by_epsilon, pure_epsilon_of_rho((self.rho - spent.rho) * UNIT) if open_to_rho else Fraction(0))

    def proved(self, spent: Account) -> Account:
        if spent.rho == 0 or self.conversion_delta == 0:
            return spent
        converted = -(-epsilon_of_rho(spent.rho * UNIT, self.conversion_delta) // UNIT)
        if spent.epsilon is not None and spent.epsilon <= converted and spent.delta <= self.delta:
            return spent
        return replace(spent, epsilon=converted, delta=spent.outside, covered=0)

    def _lack(self, spent: Account, asked: Account) -> Shortfall:
        after = spent + asked
        if after.outside > self.delta:  # then delta, which is not below it, is too much as well
            return self._of_delta(spent.outside, asked.outside)
        if after.epsilon is not None and after.epsilon <= self.epsilon:
            return self._of_delta(spent.delta, asked.delta)
        if asked.epsilon is not None and self.remaining(spent) < asked.epsilon * UNIT:
            return self._of_epsilon(spent, asked.epsilon)
        return _shortfall("rho", spent.rho, asked.rho, self.rho, UNIT)

    def _of_delta(self, spent: int, asked: int) -> Shortfall:
        short = _shortfall("delta", spent, asked, self.delta, DELTA_UNIT)
        return replace(short, declared=2 * self.conversion_delta)


BOUNDS: Mapping[Composition, type[Bound]] = {"basic": Basic, "zcdp": Zcdp}


@dataclass(frozen=True, slots=True)
class PrivacyFilter:
    """All limits of one account.

    Attributes:
        plain: Over what every unit loses.
        classes: Over what each class's units lose.
        shares: Of each class, in what a statement costs at most.
        gamma: In units.
        metric: (metric, attribute) to units.

    >>> limits = Limits(epsilon=Fraction(1))
    >>> budget = PrivacyFilter.of(limits, "basic")
    >>> budget.shortfall(Account(epsilon=0), Account(epsilon=2 * 10**12))
    Shortfall(quantity='epsilon', needed=Fraction(2, 1), remaining=Fraction(1, 1), limit=Fraction(1, 1), \
affordable=Fraction(1, 1), declared=Fraction(0, 1))
    """

    plain: Bound
    classes: Mapping[str, Bound]
    shares: Mapping[str, Fraction]
    gamma: int
    metric: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, limits: Limits, composition: Composition) -> PrivacyFilter:
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
