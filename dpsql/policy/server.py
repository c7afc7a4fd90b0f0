"""The ``server`` section: what those who are reached over a server may do by themselves.

Tests: tests/unit/server.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from dpsql.policy.section import Positive, Section

__all__ = ["ServerSection"]


class ServerSection(Section):
    """What doors for agents allow."""

    approve_above: Positive = Field(default=Decimal("0.1"), examples=[0.1])
    """An epsilon: an agent asks its human before a statement that costs more."""
