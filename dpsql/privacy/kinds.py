"""The kinds of loss: what one release costs, in the kind in which it was proved.

    Loss
    ├── Free           nothing private was read: a public answer, or a stored one
    ├── Pure           epsilon-DP
    ├── Approximate    (epsilon, delta)-DP
    ├── Concentrated   rho-zCDP
    ├── RandomDPLoss   (epsilon, gamma) random differential privacy
    ├── MetricLoss     multiples of a named metric (d_X privacy)
    ├── PerClass       one epsilon for each class of units (personalised privacy)
    └── Composed       several of them, together ``count`` times (`loss`)

Amounts are exact fractions above 0: an answer that costs nothing is `Free`, a type, never a zero. A new kind is a new
theorem: it states its account, is written and read here, and has its place in `loss.KINDS`.

Tests: tests/unit/privacy/test_accounting.py, tests/unit/privacy/test_loss.py.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from dpsql.errors import InvariantBroken, UnsupportedQuery
from dpsql.privacy.account import DELTA_UNIT, Account, Composition, units
from dpsql.privacy.conversions import rho_of_pure

__all__ = ["Approximate", "Concentrated", "Free", "Loss", "MetricLoss", "PerClass", "Pure", "RandomDPLoss"]

Fields = dict[str, Any]


class Loss(ABC):
    """What one release, or several, cost at most. Every kind answers these questions for itself."""

    __slots__ = ()
    kind: ClassVar[str]

    @abstractmethod
    def priced(self) -> Account:
        """The loss in the currency it was priced in, rounded up; an epsilon of None is no finite epsilon."""

    def account(self, composition: Composition) -> Account:
        """What this loss adds to a ledger of that composition.

        Raises:
            UnsupportedQuery: If no proof turns this kind into what the ledger adds up.
        """
        return self.priced()

    @property
    def states_rho(self) -> bool:
        """Whether a rho of its own is part of the loss, rather than one that follows from its epsilon."""
        return False

    @abstractmethod
    def fields(self) -> Fields:
        """Its amounts, ready for JSON."""

    @classmethod
    @abstractmethod
    def read(cls, fields: Fields) -> Self:
        """The loss of which `fields` came; a TypeError, ValueError or KeyError where there is none."""


@dataclass(frozen=True, slots=True)
class Free(Loss):
    """Nothing was read of private data: the answer is public, or was released before and stored."""

    kind: ClassVar[str] = "free"
    why: Literal["public", "replayed"]

    def __post_init__(self) -> None:
        if self.why not in ("public", "replayed"):
            raise InvariantBroken(f"an answer is free as 'public' or 'replayed', not {self.why!r}")

    def priced(self) -> Account:
        return Account()

    def fields(self) -> Fields:
        return {"why": self.why}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Pure(Loss):
    """epsilon-DP.

    Attributes:
        epsilon: > 0.
        rho: A zCDP loss that its mechanism proves; without one it is epsilon tanh(epsilon / 2). The exponential
            mechanism proves epsilon^2 / 8 (Cesar, Rogers 2021; Dong, Durfee, Rogers 2020).

    >>> Pure(Fraction(1, 2)).account("zcdp")
    Account(epsilon=500000000000, delta=0, rho=122459331202, gamma={}, metric={}, classes={}, covered=0)
    """

    kind: ClassVar[str] = "pure"
    epsilon: Fraction
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        _positive(self, epsilon=self.epsilon, rho=self.rho)

    def priced(self) -> Account:
        return Account(epsilon=units(self.epsilon), rho=_rho(self.epsilon, self.rho))

    @property
    def states_rho(self) -> bool:
        return self.rho is not None

    def fields(self) -> Fields:
        return _ratios(epsilon=self.epsilon, rho=self.rho)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(**_amounts(fields))


@dataclass(frozen=True, slots=True)
class Approximate(Loss):
    """(epsilon, delta)-DP. Outside an event of weight delta it is epsilon-DP, and enters zCDP as such.

    Attributes:
        epsilon: > 0.
        delta: 0 < delta < 1.
        rho: A zCDP loss proved for the part outside delta; without one it is epsilon tanh(epsilon / 2).

    Source: Kairouz, Oh, Viswanath 2015, Thm 2: every (epsilon, delta)-DP mechanism is a post-processing of randomised
    response that shows all with probability delta, hence delta-approximately zCDP with randomised response's rho.
    """

    kind: ClassVar[str] = "approximate"
    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        _positive(self, epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        _below_one(self, delta=self.delta)

    def priced(self) -> Account:
        return Account(
            epsilon=units(self.epsilon), delta=units(self.delta, DELTA_UNIT), rho=_rho(self.epsilon, self.rho)
        )

    @property
    def states_rho(self) -> bool:
        return self.rho is not None

    def fields(self) -> Fields:
        return _ratios(epsilon=self.epsilon, delta=self.delta, rho=self.rho)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(**_amounts(fields))


@dataclass(frozen=True, slots=True)
class Concentrated(Loss):
    """rho-zCDP, as of the discrete Gaussian.

    Attributes:
        rho: > 0.
        epsilon, delta: The pair for which it was priced, if it was; both or neither. Without one, its epsilon has no
            finite bound.
        outside: The weight of an event outside of which rho holds (approximate zCDP; Bun, Steinke 2016, section 8);
            it adds up like delta. None where rho holds everywhere. The pair covers it.

    >>> Concentrated(Fraction(1, 2), outside=Fraction(1, 10**6)).account("zcdp").delta
    1000000000000
    """

    kind: ClassVar[str] = "concentrated"
    rho: Fraction
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    outside: Fraction | None = None

    def __post_init__(self) -> None:
        _positive(self, rho=self.rho, epsilon=self.epsilon, delta=self.delta, outside=self.outside)
        if (self.epsilon is None) != (self.delta is None):
            raise InvariantBroken("a concentrated loss is priced for epsilon and delta together, or for neither")
        if self.delta is not None:
            _below_one(self, delta=self.delta)
        if self.outside is not None:
            _below_one(self, outside=self.outside)
            if self.delta is not None and self.outside >= self.delta:
                raise InvariantBroken("the delta of a concentrated loss must cover what is outside, and more")

    def priced(self) -> Account:
        outside = units(self.outside or Fraction(0), DELTA_UNIT)
        if self.epsilon is None or self.delta is None:
            return Account(epsilon=None, delta=outside, rho=units(self.rho))
        delta = units(self.delta, DELTA_UNIT)
        return Account(epsilon=units(self.epsilon), delta=delta, rho=units(self.rho), covered=delta - outside)

    def account(self, composition: Composition) -> Account:
        if composition == "basic" and self.epsilon is None:
            raise UnsupportedQuery(
                "the ledger adds up epsilon and delta (composition: basic), and a price in rho alone has neither.",
                construct="rho",
                hint="Price the statement by epsilon and delta, or ask the owner for composition: zcdp.",
            )
        return self.priced()

    @property
    def states_rho(self) -> bool:
        return True

    def fields(self) -> Fields:
        return _ratios(rho=self.rho, epsilon=self.epsilon, delta=self.delta, outside=self.outside)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(**_amounts(fields))


@dataclass(frozen=True, slots=True)
class RandomDPLoss(Loss):
    """(epsilon, delta, gamma) random differential privacy: (epsilon, delta)-DP but on a gamma of the possible tables.

    Attributes:
        epsilon: > 0.
        gamma: 0 < gamma < 1: the chance, over the data, that somebody has no protection at all.
        partition, version: The declared base partition and the table version: the bad event, charged once.
        delta: 0 < delta < 1, or None where none is needed.

    Source: Hall, Rinaldo, Wasserman 2013, Def. 2.3 and Prop. 4.2 (for events fixed beforehand). Away from the event
    every release keeps its (epsilon, delta) for the pair of tables, so these compose, adaptively, as such losses do.
    """

    kind: ClassVar[str] = "random_dp"
    epsilon: Fraction
    gamma: Fraction
    partition: str
    version: int
    delta: Fraction | None = None

    def __post_init__(self) -> None:
        _positive(self, epsilon=self.epsilon, gamma=self.gamma, delta=self.delta)
        _below_one(self, gamma=self.gamma)
        if self.delta is not None:
            _below_one(self, delta=self.delta)
        if not isinstance(self.partition, str) or type(self.version) is not int or self.version < 1:
            raise InvariantBroken("a random_dp loss names its base partition and a table version from 1 on")

    def priced(self) -> Account:
        return Account(
            epsilon=units(self.epsilon),
            delta=0 if self.delta is None else units(self.delta, DELTA_UNIT),
            rho=_rho(self.epsilon, None),
            gamma={(self.partition, self.version): units(self.gamma)},
        )

    def fields(self) -> Fields:
        return {
            **_ratios(epsilon=self.epsilon, gamma=self.gamma, delta=self.delta),
            "partition": self.partition,
            "version": self.version,
        }

    @classmethod
    def read(cls, fields: Fields) -> Self:
        partition, version = fields.pop("partition"), fields.pop("version")
        return cls(**_amounts(fields), partition=partition, version=version)


@dataclass(frozen=True, slots=True)
class MetricLoss(Loss):
    """d_X privacy: replacing a row i by j changes no answer's odds by more than e^(the sum of multiple times d(i, j)).

    Attributes:
        name: The policy's metric.
        multiples: Attribute to multiple, > 0; or ``{"": x}``, one number, where the metric is a ``sup`` or ``l2``.
    """

    kind: ClassVar[str] = "metric"
    name: str
    multiples: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        object.__setattr__(self, "multiples", dict(self.multiples))
        _named(self, self.multiples)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.multiples.items())))

    def priced(self) -> Account:
        return Account(metric={(self.name, attribute): units(x) for attribute, x in self.multiples.items()})

    def fields(self) -> Fields:
        return {"name": self.name, "multiples": _ratios(**self.multiples)}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(name=str(fields.pop("name")), multiples=_amounts(fields.pop("multiples")), **fields)


@dataclass(frozen=True, slots=True)
class PerClass(Loss):
    """Personalised privacy: a unit of class c loses ``epsilons[c]``.

    Attributes:
        epsilons: Every declared class to its epsilon, > 0.
    """

    kind: ClassVar[str] = "per_class"
    epsilons: Mapping[str, Fraction]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilons", dict(self.epsilons))
        _named(self, self.epsilons)

    def __hash__(self) -> int:
        return hash(frozenset(self.epsilons.items()))

    def priced(self) -> Account:
        return Account(classes={name: (units(x), _rho(x, None)) for name, x in self.epsilons.items()})

    def fields(self) -> Fields:
        return {"epsilons": _ratios(**self.epsilons)}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(epsilons=_amounts(fields.pop("epsilons")), **fields)


def _rho(epsilon: Fraction, proved: Fraction | None) -> int:
    """In units: the proved zCDP loss, or the one of randomised response where that is less or nothing is proved."""
    general = units(rho_of_pure(epsilon))
    return general if proved is None else min(general, units(proved))


def _positive(loss: Loss, **amounts: Fraction | None) -> None:
    for name, amount in amounts.items():
        if amount is not None and (not isinstance(amount, Fraction) or amount.numerator <= 0):
            raise InvariantBroken(f"{name} of a {loss.kind} loss must be an exact Fraction above 0, not {amount!r}")


def _below_one(loss: Loss, **amounts: Fraction) -> None:
    for name, amount in amounts.items():
        if amount >= 1:
            raise InvariantBroken(f"{name} of a {loss.kind} loss must be below 1, not {amount}")


def _named(loss: Loss, amounts: Mapping[str, Fraction]) -> None:
    if not amounts:
        raise InvariantBroken(f"a {loss.kind} loss names at least one amount; what costs nothing is Free")
    _positive(loss, **amounts)


RATIO = re.compile(r"[0-9]+(/[1-9][0-9]*)?")


def _ratios(**amounts: Fraction | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items() if amount is not None}


def _amounts(ratios: Mapping[str, str]) -> dict[str, Any]:
    if not all(RATIO.fullmatch(ratio) for ratio in ratios.values()):
        raise ValueError("amounts are ratios of whole numbers")
    return {name: Fraction(ratio) for name, ratio in ratios.items()}
