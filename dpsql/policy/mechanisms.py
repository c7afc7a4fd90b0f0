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
    """What answers COUNT of the column, where nothing else is named."""
    sum: MechanismName | None = None
    """What answers SUM of the column, where nothing else is named."""
    avg: MechanismName | None = None
    """What answers AVG of the column, where nothing else is named."""
    min: MechanismName | None = None
    """What answers MIN of the column, where nothing else is named."""
    max: MechanismName | None = None
    """What answers MAX of the column, where nothing else is named."""
    median: MechanismName | None = None
    """What answers MEDIAN of the column, where nothing else is named."""
    quantile: MechanismName | None = None
    """What answers other quantiles of the column, where nothing else is named."""
    var: MechanismName | None = None
    """What answers variances of the column, where nothing else is named."""
    stddev: MechanismName | None = None
    """What answers standard deviations of the column, where nothing else is named."""
    mode: MechanismName | None = None
    """What answers MODE of the column, where nothing else is named."""
    ban: Annotated[tuple[MechanismName, ...], Field(strict=False)] = ()
    """Never used for whatever reads the column."""
