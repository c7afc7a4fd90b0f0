"""The algebra of losses: several of them together, a loss as JSON, and a loss for people to read.

A ledger stores native losses (`kinds`) and turns them into whole units (`Account`) only to add them up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Self

from dpsql.errors import InvariantBroken, LedgerError
from dpsql.privacy.account import Account, Composition, PrivacyLoss, readable
from dpsql.privacy.kinds import Approximate, Concentrated, Fields, Free, Loss, MetricLoss, PerClass, Pure, RandomDPLoss

__all__ = [
    "Composed",
    "PrivacyLoss",
    "decode",
    "encode",
    "summary",
]


@dataclass(frozen=True, slots=True)
class Composed(Loss):
    """All the parts, one after the other, the whole ``count`` times.

    >>> from fractions import Fraction
    >>> Composed((Pure(Fraction(1, 4)),), count=2).priced() == Composed((Pure(Fraction(1, 4)),) * 2).priced()
    True
    """

    kind: ClassVar[str] = "composed"
    parts: tuple[Loss, ...]
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if type(self.count) is not int or self.count < 1:
            raise InvariantBroken(f"a loss is composed a whole number of times, at least once, not {self.count!r}")

    def priced(self) -> Account:
        return reduce(Account.__add__, (part.priced() for part in self.parts), Account()).times(self.count)

    def account(self, composition: Composition) -> Account:
        return reduce(Account.__add__, (part.account(composition) for part in self.parts), Account()).times(self.count)

    @property
    def states_rho(self) -> bool:
        return any(part.states_rho for part in self.parts)

    def fields(self) -> Fields:
        return {"parts": [encode(part) for part in self.parts], "count": self.count}

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(parts=tuple(map(decode, fields.pop("parts"))), **fields)


KINDS: Mapping[str, type[Loss]] = {
    kind.kind: kind for kind in (Free, Pure, Approximate, Concentrated, RandomDPLoss, MetricLoss, PerClass, Composed)
}


def encode(loss: Loss) -> dict[str, Any]:
    """The loss as JSON; amounts are exact ratios.

    >>> from fractions import Fraction
    >>> encode(Pure(Fraction(1, 2)))
    {'kind': 'pure', 'epsilon': '1/2'}
    """
    return {"kind": loss.kind, **loss.fields()}


def decode(data: Mapping[str, Any]) -> Loss:
    """The loss that `encode` wrote.

    Raises:
        LedgerError: If the kind is unknown, or a field is missing, unknown or not an amount.
    """
    try:
        fields = dict(data)
        return KINDS[fields.pop("kind")].read(fields)
    except (KeyError, TypeError, ValueError, AttributeError, InvariantBroken):
        raise LedgerError(
            f"This is no loss that this version of dpsql knows: {data!r}. Use the version that wrote it."
        ) from None


def summary(loss: Loss, composition: Composition, classes: Collection[str] = ()) -> PrivacyLoss:
    """The loss in the currency it was priced in, for people to read.

    Args:
        loss: What it is.
        composition: How the ledger adds losses up; a basic one has no rho.
        classes: The policy's classes of units, so that a loss which is the same for all is shown for each of them.

    >>> from fractions import Fraction
    >>> summary(Pure(Fraction(1, 2)), "zcdp")
    PrivacyLoss(epsilon=0.5, delta=0, rho=None, gamma=0, metric={}, classes={})
    """
    account = loss.priced()
    lost = {name: account.of_class(name).epsilon for name in classes or account.classes}
    return readable(account, rho=loss.states_rho and composition == "zcdp", classes=lost)
