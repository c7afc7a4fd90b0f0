"""Which rows a statement reads, with the contribution bounds in force, and what is publicly known of their number.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.errors import ProgrammingError
from dpsql.plan.catalog import Catalog
from dpsql.plan.intervals import Interval
from dpsql.plan.known.groups import most_groups
from dpsql.plan.known.guesses import OPEN_GROUPS, rows_guessed, rows_left
from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.known.relations import private_scans, unit_of
from dpsql.plan.known.stability import rows_in_group, rows_per_unit
from dpsql.plan.measured.combined import listed_groups
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Aggregate, Expression, Relation, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key, Plan
from dpsql.plan.types import Facts
from dpsql.prepare.prepared import Grouping
from dpsql.privacy.tables import Group

__all__ = [
    "check_unit",
    "facts_of",
    "groupings_of",
    "min_units",
    "rows_about",
    "rows_at_least",
    "rows_left_about",
    "rows_public",
    "source_of",
]


def check_unit(relation: Relation, options: Options) -> None:
    """Refuses a ``privacy_unit_column`` that is not the policy's.

    Raises:
        ProgrammingError: It is not.
    """
    units = [str(scan.table.unit) for scan in private_scans(relation)]
    wanted = options.privacy_unit_column
    if wanted is not None and wanted not in [unit.lower() for unit in units]:
        raise ProgrammingError(f"privacy_unit_column is {wanted}; the policy's privacy unit here is {units[0]}.")


def source_of(plan: Plan, keys: tuple[Key, ...], options: Options) -> Source:
    """The rows, with the bounds in force: the policy's, or tighter ones of the statement.

    What a metric prices is one row, whoever has it: nobody's rows are bounded then.

    Args:
        plan: What is asked.
        keys: What it is grouped by; no group outside their domains is ever released.
        options: In force for this statement.
    """
    if options.multiple is not None:
        return Source(plan.relation, keys, Contribution(rows=1, groups=1, rows_in_group=1))
    most = rows_per_unit(plan.relation)
    if unit_of(plan.relation) is None:
        return _uncut(plan, keys, options, most)
    rows = min(most, options.max_rows_contributed or most)
    caps = [scan.table.max_groups_per_unit for scan in private_scans(plan.relation)] + [options.max_groups_per_unit]
    uncut = _groups(plan.relation, keys, rows)
    groups = min([uncut, *(cap for cap in caps if cap is not None)]) if keys else 1
    most_in_group = min(rows, rows_in_group(plan.relation, [key.expression for key in keys]))
    in_group = min(most_in_group, options.max_rows_per_group or rows)
    return Source(
        relation=plan.relation,
        keys=keys,
        contribution=Contribution(rows=rows, groups=groups, rows_in_group=in_group),
        cap_rows=rows < most,
        cap_groups=bool(keys) and groups < uncut,
        cap_rows_in_group=in_group < most_in_group,
    )


def _uncut(plan: Plan, keys: tuple[Key, ...], options: Options, most: int) -> Source:
    """Rows that have lost their unit: a unit's arrival moves at most ``most`` of them; nothing can cut them further."""
    if options.max_rows_contributed or options.max_groups_per_unit or options.max_rows_per_group:
        raise ProgrammingError(
            "max_groups_per_unit, max_rows_per_group and max_rows_contributed need rows that have their privacy unit. "
            "Keep the unit among the columns of the sub-query, or leave the option out."
        )
    groups, in_group = (
        _groups(plan.relation, keys, most),
        rows_in_group(plan.relation, [key.expression for key in keys]),
    )
    return Source(plan.relation, keys, Contribution(rows=most, groups=groups, rows_in_group=in_group))


def _groups(relation: Relation, keys: tuple[Key, ...], rows: int) -> int:
    """Most groups that so many rows of one unit can be in."""
    return min(rows, most_groups(relation, keys) or rows)


def groupings_of(plan: Plan) -> tuple[Grouping, ...]:
    """What the answer's rows are grouped by: once for a plain GROUP BY, once for each grouping set."""
    every = tuple(range(len(plan.keys)))
    sets = plan.sets if plan.sets is not None else (every,)
    return tuple(Grouping(keys, listed_groups(plan, keys)) for keys in sets)


def rows_about(relation: Relation, groups: tuple[Group, ...] | None) -> int:
    """A guess of the rows per group: all of them spread evenly; open keys as if they had `OPEN_GROUPS`."""
    return _each(rows_guessed(relation), groups)


def rows_left_about(relation: Relation, groups: tuple[Group, ...] | None, argument: Expression | None) -> int:
    """The same of the rows that conditions leave, and of which an argument is no NULL."""
    return _each(rows_left(relation, argument), groups)


def _each(rows: int, groups: tuple[Group, ...] | None) -> int:
    return max(1, rows // max(1, len(groups) if groups is not None else OPEN_GROUPS))


def rows_at_least(relation: Relation, keys: tuple[Key, ...]) -> int | None:
    """The owner's floor on the number of rows, where it is that of a whole table."""
    return relation.table.rows_at_least if isinstance(relation, Scan) and not keys else None


def min_units(relation: Relation) -> int:
    """How many units a group needs to appear, by the strictest of the tables that are read; 1 where every group may."""
    return max((scan.table.min_units for scan in private_scans(relation)), default=1)


def rows_public(relation: Relation, keys: tuple[Key, ...], catalog: Catalog) -> bool:
    """Whether the exact number of rows is public: a whole table with exactly one row for every unit, replaced."""
    whole = isinstance(relation, Scan) and relation.table.every_unit and relation.table.rows_per_unit == 1
    return catalog.neighbours == "replace_one" and whole and not keys


def facts_of(aggregate: Aggregate, relation: Relation) -> tuple[Facts | None, Facts | None]:
    """What is known of the arguments over the rows that count; None where there is no argument.

    Their own facts, within the conditions on their rows and the analyst's tighter bounds. Where a condition leaves
    nothing of those, every value is clamped to the nearer of their ends.
    """
    first, second = (
        None if argument is None else facts_on(argument, relation)
        for argument in (aggregate.argument, aggregate.second)
    )
    if first is not None and aggregate.bounds is not None:
        low, high = (end if isinstance(end, Fraction) else None for end in (first.low, first.high))
        inside = Interval(*aggregate.bounds).clipped(low, high).clipped(*aggregate.bounds)
        first = replace(first, low=inside.low, high=inside.high)
    return first, second
