"""Backends on which `located` answers by name alone, for tests whose subject is another.

Without noise its answers are those of clipped values, and how often it draws follows from what it released: answers
are compared with DuckDB's, and runs on neighbours draw for draw, where neither happens. It has tests of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from dpsql.backend import Backend
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.located.mechanism import AtOwnPlace

__all__ = ["settled"]


@dataclass(frozen=True, slots=True)
class OnlyNamed(AtOwnPlace):
    """The mechanism, where a statement names it."""

    def offer(self, request: Request) -> Offer | Refusal:
        """Its offer, or none."""
        named = request.options.mechanism == self.name
        return AtOwnPlace.offer(self, request) if named else Refusal(self.name, "here it is taken by name alone.")

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Its offers, or none."""
        named = any(request.options.mechanism == self.name for request in requests)
        return AtOwnPlace.together(self, requests) if named else ()


class Settled(Backend):
    """A backend with that mechanism."""

    @property
    def mechanisms(self) -> Sequence[Mechanism]:
        """All, that one as it is here."""
        every = Backend.mechanisms.fget(self)  # type: ignore[attr-defined]  # a property has the function it calls
        return [OnlyNamed() if mechanism.name == "located" else mechanism for mechanism in every]


def settled(backend: Backend) -> Backend:
    """The same backend, on which it is taken by name alone."""
    return Settled(*(getattr(backend, field.name) for field in fields(backend)))
