"""What a release that takes long tells whoever waits: the share done.

Each step is one that the price and public sizes foretell, a round or a block: that it is done says nothing of the rows.
How long it took may; deadlines and timings are not part of the promise (docs/guarantee.md).

Tests: tests/unit/mechanisms/releases/test_waiting.py.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Told", "unheard"]

Told = Callable[[float], None]
"""Told the share done, from 0 to 1, never falling."""


def unheard(done: float) -> None:
    """Nobody waits."""
