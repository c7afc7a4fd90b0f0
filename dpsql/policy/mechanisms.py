"""The owner's defaults and bans: which mechanism answers an aggregate of a column, and which never does.

Tests: tests/unit/policy/test_model.py.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpsql.policy.section import Section

__all__ = ["ColumnMechanisms", "MechanismName"]

MechanismName = Literal[
    "laplace",
    "gaussian",
    "clamped",
    "threshold",
    "gaussian_threshold",
    "exponential",
    "top_k",
    "located",
    "capped",
    "preprocessing",
    "metric",
    "random_dp",
    "friendly_core",
]


class ColumnMechanisms(Section):
    """The owner's default mechanism for each aggregate of one column, and the mechanisms never used for it."""

    count: MechanismName | None = None
    sum: MechanismName | None = None
    avg: MechanismName | None = None
    min: MechanismName | None = None
    max: MechanismName | None = None
    median: MechanismName | None = None
    quantile: MechanismName | None = None
    var: MechanismName | None = None
    stddev: MechanismName | None = None
    mode: MechanismName | None = None
    ban: Annotated[tuple[MechanismName, ...], Field(strict=False)] = ()
