"""Backends on which `located`, `capped` and statistics by `clamped` answer by name alone, for tests of other things.

Without noise their answers are those of clipped values, or of the rows within a cap, and how often they draw follows
from what they released: answers are compared with DuckDB's, and runs on neighbours draw for draw, where neither
happens. They have tests of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from dpsql.backend import Backend
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Refusal, Request

__all__ = ["settled"]

STATISTICS = ("avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp")
QUANTILES = ("quantile_cont", "quantile_disc")
NAMES = {"located": STATISTICS, "capped": (*STATISTICS, *QUANTILES, "count_units"), "clamped": STATISTICS}
"""Which functions each of them answers by name alone."""


@dataclass(frozen=True, slots=True)
class OnlyNamed(Mechanism):
    """A mechanism, where a statement names it.

    Attributes:
        own: Which.
    """

    own: Mechanism = field(kw_only=True)

    @classmethod
    def of(cls, mechanism: Mechanism) -> OnlyNamed:
        """That one so."""
        return cls(mechanism.name, mechanism.options, own=mechanism)

    def takes(self, request: Request) -> bool:
        """As it does."""
        return self.own.takes(request)

    def reads(self, request: Request) -> frozenset[str]:
        """As it does."""
        return self.own.reads(request)

    def offer(self, request: Request) -> Offer | Refusal:
        """Its offer, or none."""
        answers = request.options.mechanism == self.name or request.aggregate.function not in NAMES[self.name]
        return self.own.offer(request) if answers else Refusal(self.name, "here it is taken by name alone.")

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Its offers, or none."""
        named = any(request.options.mechanism == self.name for request in requests)
        return self.own.together(requests) if named else ()


class Settled(Backend):
    """A backend with these mechanisms."""

    @property
    def mechanisms(self) -> Sequence[Mechanism]:
        """All, those three as they are here."""
        every = Backend.mechanisms.fget(self)  # type: ignore[attr-defined]  # a property has the function it calls
        return [OnlyNamed.of(mechanism) if mechanism.name in NAMES else mechanism for mechanism in every]


def settled(backend: Backend) -> Backend:
    """The same backend, on which they are taken by name alone."""
    return Settled(*(getattr(backend, part.name) for part in fields(backend) if part.init))
