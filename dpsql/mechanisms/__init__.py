"""Mechanisms: the only place where a raw number becomes one that may leave. One theorem per file.

To add one, write its file, add its line to `MECHANISMS`, and test it; `choose.choose` takes the best offer.
"""

from __future__ import annotations

from dpsql.mechanisms.base import Mechanism
from dpsql.mechanisms.exponential import Exponential
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.public import Public
from dpsql.mechanisms.random_dp import RandomDP
from dpsql.mechanisms.threshold import Threshold

__all__ = ["MECHANISMS", "by_name"]

MECHANISMS: tuple[Mechanism, ...] = (
    Public(),
    Laplace(),
    Gaussian(),
    Threshold(),
    Exponential(),
    FriendlyCore(),
    Preprocessing(),
    RandomDP(),
)
"""Every mechanism, in the order in which equal offers are preferred."""


def by_name(name: str) -> Mechanism | None:
    """The mechanism of that name, or None.

    >>> by_name("laplace")
    Laplace(name='laplace', options=frozenset())
    """
    return next((mechanism for mechanism in MECHANISMS if mechanism.name == name), None)
