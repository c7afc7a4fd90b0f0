"""Random differential privacy in the policy: for which tables, over which cells, and how much gamma it may cost.

Everything that decides gamma stands here, fixed before anybody asks: the partition, the floor, the statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from dpsql.policy.column import ColumnPolicy
from dpsql.policy.section import Chance, Count, Name, Section, wrong
from dpsql.policy.table import TablePolicy

Place = tuple[str | int, ...]

__all__ = ["RandomDPPolicy", "StatisticPolicy", "broken_random_dp"]


class StatisticPolicy(Section):
    """One declared mean under random differential privacy."""

    column: Name
    """The column whose AVG it is; it has bounds, and is not nullable."""
    h: Literal["absolute_difference"]
    """The distance between two rows that bounds how far replacing one by the other moves the sum."""
    where: str | None = None
    """Which rows, as a condition in SQL on the table's columns; all of them if nothing is said."""
    gamma: Chance = Field(examples=[0.01])
    """The share of people whom the noise may fail to cover, above 0."""


class RandomDPPolicy(Section):
    """Random differential privacy of one table, opted into by the owner."""

    assume: Literal["exchangeable", "iid"] = Field(examples=["exchangeable"])
    """What is assumed of the units: that their order says nothing, or that they are independent draws."""
    base_partition: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)] = Field(examples=[["city", "sex"]])
    """The columns with declared domains whose cells are the finest that may be asked for."""
    gamma_limit: Chance = Field(examples=[0.01])
    """The largest gamma that one version of the table may cost, its statistics included."""
    row_floor: Count | None = None
    """At least so many units, as the owner vouches; by default `rows_at_least` where a unit has one row."""
    statistics: Annotated[tuple[StatisticPolicy, ...], Field(strict=False)] = ()
    """Means whose distance and filter are declared beforehand; replace_one with every_unit only."""

    def floor(self, table: TablePolicy) -> int | None:
        """At least so many units are in the table; None where nobody vouches for a number."""
        return self.row_floor or (table.rows_at_least if table.rows_per_unit == 1 else None)


def broken_random_dp(
    sections: Mapping[str, RandomDPPolicy], tables: Mapping[str, TablePolicy], neighbours: str
) -> Iterator[PydanticCustomError]:
    """What a section says that its table does not allow, each problem at its place."""
    for name, section in sections.items():
        at: Place = ("random_dp", name)
        table = tables.get(name)
        if table is None or table.public:
            yield wrong(f"{name} is not a private table of this policy", "name one of tables", *at)
            continue
        yield from _broken_partition(section, table, at)
        for place, statistic in enumerate(section.statistics):
            yield from _broken_statistic(statistic, table, neighbours, (*at, "statistics", place))


def _broken_partition(section: RandomDPPolicy, table: TablePolicy, at: Place) -> Iterator[PydanticCustomError]:
    for place, column in enumerate(section.base_partition):
        where: Place = (*at, "base_partition", place)
        if column not in table.columns:
            yield wrong(f"{column} is not a column of {at[-1]}", "name one of its columns", *where)
        elif column in section.base_partition[:place]:
            yield wrong(f"{column} is named twice", "name each column once", *where)
        elif not _declares_values(table.columns[column]):
            yield wrong(
                f"{column} has no declared domain, so its cells would come from the data",
                "list its values, give it bounds, or leave it out",
                *where,
            )
    if (table.max_groups_per_unit or table.rows_per_unit or 0) < (table.rows_per_unit or 0):
        yield wrong(
            "max_groups_per_unit leaves out groups of some units, which makes other cells of every question",
            f"remove it from tables.{at[-1]}, or make rows_per_unit as small",
            *at,
        )
    if section.floor(table) is None:
        yield wrong(
            "nobody vouches for a number of units, and gamma depends on it",
            "write row_floor: a number of units that the table never falls below",
            *at,
        )


def _declares_values(column: ColumnPolicy) -> bool:
    """Whether the policy says which values there are; too many of them are refused when they are counted."""
    listed = column.values is not None or column.values_from is not None or column.type == "boolean"
    return listed or (column.bounds is not None and column.type in ("integer", "date"))


def _broken_statistic(
    statistic: StatisticPolicy, table: TablePolicy, neighbours: str, at: Place
) -> Iterator[PydanticCustomError]:
    if neighbours != "replace_one" or not table.every_unit:
        yield wrong(
            "a statistic is proved for a public number of rows",
            "write neighbours: replace_one, and every_unit: true for the table; or remove it",
            *at,
        )
    if statistic.gamma == 0:
        yield wrong("gamma 0 covers everybody: that is no random privacy", "write a number above 0", *at, "gamma")
    column = table.columns.get(statistic.column)
    if column is None or column.type not in ("integer", "real", "decimal") or column.bounds is None or column.nullable:
        yield wrong(
            f"{statistic.column} is not a column of numbers with bounds that is never NULL",
            "name such a column",
            *(*at, "column"),
        )
