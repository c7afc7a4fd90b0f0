"""What the plan may know of the tables: the policy's promises and the public tables' own facts. No private number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from dpsql.limits import MAX_LENGTH
from dpsql.plan.advised import AdvisedTable
from dpsql.plan.functions import Function, Spelt
from dpsql.plan.grids import Bins
from dpsql.plan.intervals import Interval
from dpsql.plan.types import Facts, Value

__all__ = [
    "COUNTS",
    "DAYS",
    "MOST_FIRST",
    "MOST_RANK",
    "NUMBER",
    "RANK",
    "ROW",
    "SIZES",
    "Catalog",
    "ColumnInfo",
    "RandomPartition",
    "RandomStatistic",
    "StoredCounts",
    "StoredDays",
    "StoredRanks",
    "StoredSizes",
    "StoredTotals",
    "TableInfo",
    "place_name",
    "rank_digits",
]

RANK = "$rank"
"""The column of a bounded table that says each row's place within its unit, from 1; no name of a policy has a $."""

NUMBER = "$number"
"""The column of a bounded table that numbers its units from 0, in their order, where its engine adds up rows."""

ROW = "$row"
"""Beside it, both as one number that rises from row to row: that of the unit, and below it, in `rank_digits`, the rank.
One column is read, and one number compared, in the place of two."""

MOST_RANK = 2**31 - 1
"""Rows of a unit in a table that has such a column: what 32 bits number. A build with more of them fails."""


SIZES = ("$of", "$bin", "$units", "$signs", "$total")
"""Columns of totals by size: which of `StoredSizes.kinds`, or of the plain ones behind them; and what `Sized` says."""


COUNTS = ("$of", "$value", "$rows")
"""Columns of counted values: which of `StoredCounts.columns`, a value, and how many rows have it."""


DAYS = ("$group", "$units", "$rows")
"""Beside a day: whether it is a unit's first one, its second, ..., how many units have it so, and in how many rows."""

MOST_FIRST = 8
"""Days of a unit that are told apart so; all others have the number behind. It is a choice: most caps are as tight, and
for each a build looks at the rows once more."""


def rank_digits(rows_per_unit: int) -> int:
    """Binary digits of a rank in `ROW`, for a table with at most so many rows a unit."""
    return min(rows_per_unit, MOST_RANK).bit_length()


def place_name(column: str) -> str:
    """The column with the places of another's values in its list, NULL behind all, where `ColumnInfo.stored_places`."""
    return f"{column}$place"


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column as the analyst sees it.

    Attributes:
        name: Its name.
        facts: Type, bounds, nullability, grid step, centre, spread and scale.
        values: Its declared domain without NULL, or None where the domain is open.
        stored_grid: Whether the bounded view holds its grid integers beside it, as ``<name>$grid``.
        stored_places: The values, rising, whose places stand beside it (`place_name`); () where none do.
        multiplicity: Public tables: the largest number of rows with one value. Private tables: 0.
        unit: Whether it is the privacy unit: joins, COUNT(DISTINCT) and per-unit grouping only.
        link: ``table.key`` where it is that declared key or refers to it: joins only.
        defaults: Aggregate (``avg``, ``median``, ``var``, ...) to the mechanism that the owner wants for it.
        banned: Mechanisms that the owner rules out for whatever reads this column.
        reach: Answers as tables: where the column's numbers lie; else None.
        length: Answers as tables: how long its texts are (`nodes.Column`); else None.
        letters: The same as a number, of the longest text that there may be.
        description: The owner's words for it, to be shown; '' without. No two columns differ by it.
    """

    name: str
    facts: Facts
    values: tuple[Value, ...] | None = None
    stored_grid: bool = False
    stored_places: tuple[Value, ...] = ()
    multiplicity: int = 0
    unit: bool = False
    link: str | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    banned: frozenset[str] = frozenset()
    reach: Interval | None = None
    length: tuple[int, int] | None = None
    letters: int = MAX_LENGTH
    description: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class RandomStatistic:
    """A mean that the policy declares for random differential privacy.

    Attributes:
        name: What the ledger calls its bad event.
        column: Whose mean it is.
        where: Conditions (expressions) that hold for its rows, all of them.
        gamma: What it costs, once for each table version.
    """

    name: str
    column: str
    where: frozenset[object]
    gamma: Fraction


@dataclass(frozen=True, slots=True)
class RandomPartition:
    """The base partition of a table that opts into random differential privacy.

    Attributes:
        name: What the ledger calls its bad event.
        columns: Whose declared values make the cells.
        cells: How many there are, k.
        units_at_least: The floor on the number of units that gamma rests on.
        gamma: What it costs, once for each table version.
        assume: ``exchangeable`` or ``iid``.
        version: The table version.
        statistics: Means that are declared beside it.
    """

    name: str
    columns: tuple[str, ...]
    cells: int
    units_at_least: int
    gamma: Fraction
    assume: str
    version: int
    statistics: tuple[RandomStatistic, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredSizes:
    """What all units of a table have in all, stored by size (`needs.Sized`), where the engine counts.

    Attributes:
        name: That of the bounded table which holds it: the places of the keys (`place_name`), and `SIZES`.
        keys: Listed columns, each with its values, rising.
        kinds: The columns of which a unit has one total in each cell, each with the bins of what it has in all cells.
        plain: Those that are added up as they are; None for how many units a cell has.
    """

    name: str
    keys: tuple[tuple[str, tuple[Value, ...]], ...]
    kinds: tuple[tuple[str, Bins], ...]
    plain: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How many rows of a table have each value of some columns, stored where the engine counts.

    Attributes:
        name: That of the bounded table which holds it: `COUNTS`.
        columns: The columns, whose values are in grid steps; rows where they are NULL are left out.
    """

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredDays:
    """How many units and rows of a table have each day of a column, NULL too, stored where the engine counts.

    A unit's first day is that of its first row, the next one that of its first row of another day, and so on.

    Attributes:
        name: That of the bounded table which holds it: the column, and `DAYS`.
        column: The column.
    """

    name: str
    column: str


@dataclass(frozen=True, slots=True)
class StoredTotals:
    """What is stored of each unit of a table, in all or by the values of listed columns: a row for each that has rows.

    Attributes:
        name: That of the bounded table which holds it.
        keys: The listed columns.
        columns: Whose counts and sums it holds, in grid steps.
        sizes: The same totals of all units, by size; None where they are not stored.
    """

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    sizes: StoredSizes | None = None

    rows: ClassVar[str] = "$rows"
    """The column with the number of rows."""

    @staticmethod
    def count(column: str) -> str:
        """The column with the number of a column's values."""
        return f"{column}$count"

    @staticmethod
    def sum(column: str) -> str:
        """The column with their sum; NULL where there is none."""
        return f"{column}$sum"

    @classmethod
    def numbers(cls, columns: Iterable[str]) -> dict[str, str | None]:
        """All of these columns by name, each with the one whose count or sum it is."""
        return {cls.rows: None} | {name(own): own for own in columns for name in (cls.count, cls.sum)}


@dataclass(frozen=True, slots=True)
class StoredRanks:
    """What the rows of a table have in all, by their place within their unit, stored where the engine counts.

    Attributes:
        name: That of the bounded table which holds it: `RANK`, and the columns that `StoredTotals` has.
        columns: Whose counts and sums it holds, in grid steps.
    """

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One table as the plan sees it.

    Attributes:
        name: Its name, also of its bounded view.
        columns: Columns by name, in the policy's order; the unit column is among them.
        public: Whether it holds nothing private.
        unit: Name of the unit column; None for a public table.
        unit_implied: Whether the data lack that column: it is found through a chain of keys.
        key: Name of a column that is unique in the table (public) or within each unit (private), or None.
        unique: Columns in all of which no two rows of one unit are alike (private); () where there are none.
        rows_per_unit: Most rows one unit can have in the bounded view; 0 for a public table.
        rows_about: The owner's guess of the number of rows; only ever used to choose.
        units_known: About how many units have rows, where facts or other tables tell (`guesses`); like ``rows_about``
            only ever used to choose.
        rows_at_least: A floor the owner vouches for, or None.
        every_unit: Under replace_one: exactly one row a unit, so that the number of rows is public.
        max_groups_per_unit: The policy's group cap, or None.
        min_units: Units that a group needs to appear; 1 where every group may.
        rows: Public tables: the number of rows. Private tables: 0.
        random_dp: Its base partition, where the owner opts into random differential privacy.
        advised: What `dpsql advise` released of it; None before that, and of public tables.
        released: Of a synthetic table: under which fingerprint the ledger has it; then it is public, too.
        ranked: Whether the bounded table holds each row's place within its unit (`RANK`), and lies in that order.
        totals: What is stored of each of its units, where its engine holds that; the smallest first.
        sizes: What its units have in all, by size, where that is stored of its rows themselves: each unit has one, or
            they are themselves totals; else None.
        days: The same of its rows by the days of a column, for each that has some; of `keys` that is the one.
        open_days: How many units and rows have each day of a column without bounds, for each that has some.
        ranks: What its rows have in all, by rank, where its engine holds that; else None.
        counts: How many rows have each value of its columns, where its engine holds that; else None.
        renamed: From the data's names of columns to those here, where the policy says that they differ; for messages.
        unread: Of a synthetic table that was granted: what its first reading costs; '' once it is paid for.
        description: The owner's words for it, to be shown; '' without. No two tables differ by it.
        answer: Of an answer that the same statement reads as a table: which of its parts it is; it is public, too.
    """

    name: str
    columns: Mapping[str, ColumnInfo]
    public: bool = False
    unit: str | None = None
    unit_implied: bool = False
    key: str | None = None
    unique: tuple[str, ...] = ()
    rows_per_unit: int = 0
    rows_about: int = 10_000
    units_known: int | None = None
    rows_at_least: int | None = None
    every_unit: bool = False
    max_groups_per_unit: int | None = None
    min_units: int = 1
    rows: int = 0
    random_dp: RandomPartition | None = None
    advised: AdvisedTable | None = None
    released: str | None = None
    ranked: bool = False
    totals: tuple[StoredTotals, ...] = ()
    sizes: StoredSizes | None = None
    days: tuple[StoredSizes, ...] = ()
    open_days: tuple[StoredDays, ...] = ()
    ranks: StoredRanks | None = None
    counts: StoredCounts | None = None
    renamed: Mapping[str, str] = field(default_factory=dict, compare=False)
    unread: str = ""
    description: str = field(default="", compare=False)
    answer: int | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """All tables of one policy at one table version.

    Attributes:
        tables: By name.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        policy_file: How messages name the policy.
        version: The table version.
        classes: Each class of units to the share of a statement's epsilon that its units lose; empty without classes.
        class_of: The table of units and their classes (``unit``, ``class``), which no statement can name; None without.
        idealised: Whether the owner admits mechanisms whose exact arithmetic is not proved.
        grants_delta: Whether the policy's total allows any delta.
        memory: Bytes that the engine may take for one statement.
        deadline: Seconds that it may run.
        spelt: How much its words for a function have it do.
    """

    tables: Mapping[str, TableInfo]
    neighbours: str
    policy_file: str
    version: int
    classes: Mapping[str, Fraction] = field(default_factory=dict)
    class_of: TableInfo | None = None
    idealised: bool = False
    grants_delta: bool = True
    memory: int = 2 << 30
    deadline: float = 30.0
    spelt: Callable[[Function], Spelt] = field(default=Spelt.as_written, compare=False)
