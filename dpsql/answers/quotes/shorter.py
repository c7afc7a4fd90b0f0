"""Which answers have intervals several times as long as noise for the caps would: a note names the mechanism to ask.

A mechanism that finds in the data how far noise must reach is taken for its values, which err less. Its interval also
counts what it may have missed, and of small counts that may be most of it. What is said follows from what was released.

Tests: tests/unit/answers/quotes/test_shorter.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dpsql.answers.quotes.narrow import CLIPPING
from dpsql.answers.released.release import Released
from dpsql.answers.shown.noted import caller, said_once
from dpsql.answers.shown.screen import number
from dpsql.mechanisms import by_name
from dpsql.mechanisms.base import Refusal
from dpsql.mechanisms.choose import SEVERAL
from dpsql.mechanisms.foretold import looked_at
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.choices import banned_for
from dpsql.privacy.tables import ReleasedTable

__all__ = ["shorter"]

KNOWN = "laplace"  # Its noise is known before.


def shorter(prepared: Prepared, released: Released) -> tuple[str, ...]:
    """The mechanism whose intervals are expected to be several times shorter than the released ones, one sentence."""
    called = caller(prepared.plan)
    found = ((called(own.aggregate), own, _shorter(own, released.tables[own.name])) for own in prepared.told)
    return said_once((name, note) for name, own, note in found if note and not own.rest)


def _shorter(own: Measured, released: ReleasedTable) -> str:
    request = own.request
    if own.choice.release.mechanism not in CLIPPING or request.options.mechanism is not None or request.selects:
        return ""
    widths = np.fromiter(_widths(own, released), float)
    if not len(widths) or KNOWN in banned_for(request):
        return ""
    known = by_name(KNOWN)
    offer = None if known is None else known.offer(request)
    if offer is None or isinstance(offer, Refusal) or not SEVERAL * offer.half_width <= _middle(widths):
        return ""
    return (
        f"OPTIONS (mechanism = '{KNOWN}') is expected to have shorter intervals, about ±{number(offer.half_width)}, "
        "around values that are often farther off."
    )


def _middle(widths: npt.NDArray[np.float64]) -> float:
    """The upper median of (n,) numbers, n >= 1. `numpy.median` loads masked arrays, a hundredth of a start."""
    at = len(widths) // 2
    return float(np.partition(widths, at)[at])


def _widths(own: Measured, released: ReleasedTable) -> Iterator[float]:
    """Half widths of 95% intervals, of many groups a part."""
    for _, (low, high) in looked_at(own.choice.release, released):
        yield math.inf if low is None or high is None else (float(high) - float(low)) / 2
