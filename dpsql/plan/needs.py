"""What a mechanism may ask of an engine, and the contribution bounds that hold for it.

Few shapes only: `Aggregates` (exact integers per group), `Histogram` and `Cells` (counts per cell), `Values` (bounded
values) and `Sized` (units' totals by size). M mechanisms and N engines cost M + N.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from dpsql.plan.grids import Bins
from dpsql.plan.nodes import Column, Expression, Relation
from dpsql.plan.plans import Key
from dpsql.plan.types import Grid

__all__ = [
    "Aggregates",
    "Cells",
    "Contribution",
    "Histogram",
    "Measure",
    "MeasureKind",
    "Need",
    "Ordered",
    "Sized",
    "Source",
    "Values",
]


@dataclass(frozen=True, slots=True)
class Contribution:
    """How much one privacy unit can hold of a source, enforced by the engine.

    Attributes:
        rows: Most rows of a unit in the relation (its stability), m.
        groups: Most groups a unit may touch, g; ``rows`` where no smaller cap is enforced, 1 without keys.
        rows_in_group: Most rows of a unit in one group, r; ``rows`` where no smaller cap is enforced.
    """

    rows: int
    groups: int
    rows_in_group: int

    @property
    def total(self) -> int:
        """N: most rows of a unit over all groups."""
        return min(self.rows, self.groups * self.rows_in_group)

    def l1(self) -> int:
        """L1 sensitivity, per added or removed unit, of a vector of row counts."""
        return self.total

    def l2_squared(self) -> int:
        """Square of the L2 sensitivity of a vector of row counts: the unit fills q groups and part of one more.

        >>> Contribution(rows=12, groups=12, rows_in_group=5).l2_squared()  # 5, 5 and 2 rows
        54
        """
        full, rest = divmod(self.total, self.rows_in_group)
        return full * self.rows_in_group**2 + rest**2

    def of_units(self) -> Contribution:
        """The same bounds when a unit counts once in each group: COUNT(DISTINCT unit)."""
        return Contribution(rows=min(self.rows, self.groups), groups=self.groups, rows_in_group=1)


@dataclass(frozen=True, slots=True)
class Source:
    """The rows a request reads.

    Attributes:
        relation: The rows.
        keys: What they are grouped by.
        contribution: The bounds in force.
        cap_rows: Whether the engine must cut each unit to ``contribution.rows`` rows.
        cap_groups: Whether the engine must cut each unit to ``contribution.groups`` groups.
        cap_rows_in_group: Whether it must cut each unit to ``contribution.rows_in_group`` rows a group.
        cut: What it cuts to instead, where fewer groups count than it reads.
    """

    relation: Relation
    keys: tuple[Key, ...]
    contribution: Contribution
    cap_rows: bool = False
    cap_groups: bool = False
    cap_rows_in_group: bool = False
    cut: Contribution | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the key columns in raw and released tables."""
        return tuple(key.name for key in self.keys)

    @property
    def capped(self) -> bool:
        """Whether the engine must cut units to some of their rows or groups."""
        return self.cap_rows or self.cap_groups or self.cap_rows_in_group


class MeasureKind(enum.Enum):
    """The exact integers an engine can return per group."""

    ROWS = "rows"  # COUNT(*)
    VALUES = "values"  # COUNT(x)
    UNITS = "units"  # COUNT(DISTINCT unit)
    DISTINCT = "distinct"  # COUNT(DISTINCT x)
    SUM = "sum"  # SUM of x in grid steps, each value clamped to the grid's ends; SUM of nothing is 0
    EVERY_ROW = "every row"  # COUNT(*) of the source's one table, without its conditions: the same in each group
    PRODUCTS = "products"  # SUM of x * y in grid steps; y may be x


@dataclass(frozen=True, slots=True)
class Measure:
    """One exact integer per group.

    Attributes:
        kind: Which.
        argument: The expression (VALUES, DISTINCT, SUM, PRODUCTS), else None.
        grid: The grid its values are clamped and rounded to (SUM, PRODUCTS), else None.
        shift: Grid steps subtracted from each value (SUM, PRODUCTS).
        by: The second factor of PRODUCTS: a SUM measure with its own argument, grid and shift. Rows where either factor
            is NULL count nothing.
    """

    kind: MeasureKind
    argument: Expression | None = None
    grid: Grid | None = None
    shift: int = 0
    by: Measure | None = None


@dataclass(frozen=True, slots=True)
class Aggregates:
    """Exact integers per group, over the groups that occur; absent groups are all zero.

    The raw table has the key columns and ``m0``, ``m1``, ... in the order of ``measures``.
    """

    source: Source
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts per cell, over the cells that occur: key columns and ``m0`` (distinct units, or rows)."""

    source: Source
    of_units: bool


@dataclass(frozen=True, slots=True)
class Cells:
    """How many rows a metric sees in each cell of a domain, over the cells that occur: key columns and ``m0``.

    The raw table goes to the release as it is: which group a cell counts in, the release knows.
    """

    source: Source


@dataclass(frozen=True, slots=True)
class Values:
    """Bounded values as counts: ``group`` (index of the group), ``value`` (rising within a group) and ``rows``.

    ``raw.size`` is the number of groups; a group without values has no row.

    Attributes:
        source: Which rows.
        argument: The expression; rows where it is NULL are left out.
        grid: The grid its values are clamped and rounded to; None for the values as they are (a declared domain).
        by: A column of the rows by which the counts are split, and which the raw table then has as ``by``; or None.
        others: Further coordinates, each an expression with its grid: then every row is a vector, ``value``,
            ``value_1``, ``value_2`` ..., and is left out where one of them is NULL.
        missing: The grid step that NULL counts as, where a proof needs one value from every row; None leaves such rows
            out.
        ranks: Rising edges from 1 to the most rows of a unit; the counts are split by ``rank``, the first edge that a
            row's place within its unit does not exceed, in the secret order by which caps cut. ``units`` then counts
            the rows that are their unit's last: each unit once, at the rank that tells how many rows it has. These rows
            may stand apart from others of the same group, value and rank. Only rows that are counted have a place.
            Empty for no such split.
        all_units: Whether units are counted in groups that nobody wants, too: their rows come as one more group behind
            all.
    """

    source: Source
    argument: Expression
    grid: Grid | None
    by: Column | None = None
    others: tuple[tuple[Expression, Grid], ...] = ()
    missing: int | None = None
    ranks: tuple[int, ...] = ()
    all_units: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The raw columns beside the keys."""
        more = (f"value_{i}" for i in range(1, len(self.others) + 1))
        by = ("by",) if self.by is not None else ()
        return ("value", *more, *by, *(("rank", "units") if self.ranks else ()), "rows")


@dataclass(frozen=True, slots=True)
class Ordered:
    """The value of every row of a table with one row a unit, in a secret order of the units' ids.

    The raw table has ``value`` (0 where it is NULL) and ``rows`` (0 there, else 1). It goes to the release as it is.

    Attributes:
        source: A whole table.
        argument: The expression.
        grid: The grid its values are clamped and rounded to.
    """

    source: Source
    argument: Expression
    grid: Grid


@dataclass(frozen=True, slots=True)
class Sized:
    """Totals of units, added up by how much each unit has: ``group`` (index of the group), ``bin``, and for each bin

    - ``units``: how many units are of that size. Each is counted in one of its groups, whichever that is;
    - ``signs``: of those the ones whose total there is above 0, less the ones below;
    - ``total``: the sum of all totals in the group that belong to units of that size, in grid steps.

    A unit's size is the sum of the magnitudes of its totals in all groups, those that nobody wants, too: these come as
    one more group behind all. ``raw.size`` is the number of groups; a group without totals has no row. Totals that are
    NULL or 0 are left out.

    Attributes:
        source: At most one row for each unit and group.
        argument: The unit's total in the group.
        grid: The grid its values are clamped and rounded to.
        edges: Rising, in grid steps: a unit is in the first bin whose edge its size does not exceed, else behind all.
        single: Whether a unit has one row at most, in whatever group: then that row is the unit's total.
    """

    source: Source
    argument: Expression
    grid: Grid
    edges: tuple[int, ...]
    single: bool = False

    @property
    def all_units(self) -> bool:
        """As `Values.all_units`."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The raw columns beside the keys."""
        return ("bin", "units", "signs", "total")

    @property
    def bins(self) -> Bins:
        """Of the totals."""
        return self.grid.low, self.grid.high, self.edges


Need = Aggregates | Histogram | Cells | Values | Ordered | Sized
