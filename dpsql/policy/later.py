"""Sections that a policy may hold, whose meaning this version does not enforce: a policy with one is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpsql.policy.section import Chance, Count, Name, Section

__all__ = ["RandomDP", "Statistic"]


class Statistic(Section):
    """One declared statistic of random differential privacy."""

    column: Name
    """The column."""
    h: Literal["absolute_difference"]
    """The distance between two rows."""
    where: str | None = None
    """Which rows, as a union of base cells."""
    gamma: Chance
    """The probability that it may fail with."""


class RandomDP(Section):
    """Random differential privacy of one table, opted into by the owner."""

    assume: Literal["exchangeable", "iid"]
    """What is assumed of the rows."""
    base_partition: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """The columns whose cells are the finest partition."""
    gamma_limit: Chance
    """The largest gamma that one version of the table may cost."""
    row_floor: Count | None = None
    """At least so many units, as the owner vouches."""
    statistics: Annotated[tuple[Statistic, ...], Field(strict=False)] = ()
    """Statistics whose distance and filter are declared beforehand."""
