"""The ``server`` section: what those who are reached over a server may do by themselves, and how much of it.

Tests: tests/unit/server.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from dpsql.policy.section import Count, Duration, Positive, Section, seconds

__all__ = ["ServerSection"]

Bytes = Annotated[int, Field(ge=100, le=2**24)]
"""A size in bytes, of 16 MiB at most: a larger message is none that people write."""


class ServerSection(Section):
    """What doors allow."""

    approve_above: Positive = Field(default=Decimal("0.1"), examples=[0.1])
    """An epsilon: an agent asks its human before a statement that costs more."""
    owner_approves_above: Positive | None = Field(default=None, examples=[1.0])
    """An epsilon: a statement that costs more waits for the owner."""
    connections: Count = 64
    """The most connections of all analysts at a time; one analyst has at most half of them."""
    statements_per_minute: Count = 120
    """The most statements of one analyst in a minute; quotes and questions about the catalogue may be ten times as
    many. Each statement of a batch counts."""
    statement_bytes: Bytes = 100_000
    """The longest message of an analyst, in bytes."""
    rows: Count = 100_000
    """The most rows of an answer that leave; the rest is cut, and the answer says so."""
    idle: Duration = "30min"
    """How long a connection may be silent, such as 30min."""

    @property
    def waits_above(self) -> Fraction | None:
        """`owner_approves_above`, as charges are."""
        return None if self.owner_approves_above is None else Fraction(self.owner_approves_above)

    @property
    def own_connections(self) -> int:
        """The most connections of one analyst at a time.

        >>> ServerSection(connections=5).own_connections, ServerSection(connections=1).own_connections
        (3, 1)
        """
        return -(-self.connections // 2)

    @property
    def idle_seconds(self) -> float:
        """How long a connection may be silent, in seconds.

        >>> ServerSection().idle_seconds
        1800.0
        """
        return seconds(self.idle)
