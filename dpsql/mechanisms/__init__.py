"""Mechanisms: the only place where a raw number becomes one that may leave. One theorem per file.

To add one, write its file, add its line to `MECHANISMS`, and test it; `choose.choose` takes the best offer.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.mechanisms.base import Mechanism
from dpsql.mechanisms.capped.mechanism import Capped
from dpsql.mechanisms.clamped import Clamped
from dpsql.mechanisms.exponential import Exponential
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.gaussian_threshold import GaussianThreshold
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.located.mechanism import AtOwnPlace
from dpsql.mechanisms.metric.mechanism import MetricPrivacy
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.public import Public
from dpsql.mechanisms.random_dp import RandomDP
from dpsql.mechanisms.threshold import Threshold
from dpsql.mechanisms.top_k import TopK
from dpsql.plan.domains import Evaluate

__all__ = ["MECHANISMS", "by_name", "under_policy"]

MECHANISMS: tuple[Mechanism, ...] = (
    Public(),
    Laplace(),
    Gaussian(),
    Clamped(),
    Threshold(),
    GaussianThreshold(),
    Capped(),
    Exponential(),
    TopK(),
    AtOwnPlace(),
    FriendlyCore(),
    Preprocessing(),
    RandomDP(),
    MetricPrivacy(),
)
"""Every mechanism, in the order in which equal offers are preferred."""


def under_policy(metrics: Mapping[str, RowMetric], evaluate: Evaluate, public: PublicRows) -> tuple[Mechanism, ...]:
    """Every mechanism, with what one policy declares for them.

    Args:
        metrics: Its metrics, by name.
        evaluate: Runs expressions over public values.
        public: Reads public tables.
    """
    own = MetricPrivacy(metrics=metrics, evaluate=evaluate, public=public)
    return tuple(own if mechanism.name == own.name else mechanism for mechanism in MECHANISMS)


def by_name(name: str) -> Mechanism | None:
    """The mechanism of that name, or None.

    >>> by_name("laplace")
    Laplace(name='laplace', options=frozenset())
    """
    return next((mechanism for mechanism in MECHANISMS if mechanism.name == name), None)
