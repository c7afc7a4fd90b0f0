"""Sections that a policy may hold, whose meaning this version does not enforce: a policy with one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from dpsql.policy.section import Chance, ColumnName, Count, Name, Number, Positive, Section, wrong

__all__ = ["Attribute", "Metric", "PrivacyClasses", "RandomDP", "Statistic"]


class Attribute(Section):
    """How far apart two values of one column are, in privacy loss."""

    kind: Literal["discrete", "chain", "star", "tree", "graph", "matrix", "threshold", "smooth", "euclidean"]
    """The shape of the metric."""
    epsilon: Positive
    """Loss per unit of distance (per year, per km), or between any two values."""
    of: Annotated[tuple[ColumnName, ...], Field(strict=False)] | None = None
    """Columns of a public table that hold the coordinates."""


def _kind_of_limit(value: Any) -> str:
    return "<columns>" if isinstance(value, Mapping) else "<number>"


Multiples = Annotated[
    Annotated[Positive, Tag("<number>")] | Annotated[dict[Name, Positive], Tag("<columns>")],
    Discriminator(_kind_of_limit),
]


class Metric(Section):
    """d_X privacy of one table: the protected thing is one row, replaced."""

    table: Name
    """The table."""
    combine: Literal["sum", "sup", "l2"]
    """How the distances of the attributes combine."""
    presence: Positive | None = None
    """The loss of a row's being there at all; needed under add_remove."""
    attributes: Annotated[dict[Name, Attribute], Field(min_length=1)]
    """The metric of each column."""
    limit: Multiples
    """Multiples of the metric in total: one per attribute, or one number for sup and l2."""


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


class PrivacyClasses(Section):
    """Personalised privacy: each unit belongs to a class, and loses a share of a query's epsilon."""

    table: Name
    """A table with one row per unit."""
    column: Name
    """The column that names the class."""
    share: Annotated[dict[str, Number], Field(min_length=1)]
    """For each class the share, above 0 and at most 1, of a query's epsilon that its units lose."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        for name, share in self.share.items():
            if not 0 < share <= 1:
                raise wrong(f"{share} is not a share", "write a number above 0 and at most 1", "share", name)
        return self
