"""The plan's catalog: the policy's promises for private tables, the engine's public facts for public ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from dpsql.engine.base import PublicTable
from dpsql.errors import PolicyError
from dpsql.limits import LONGEST_IDENTITY
from dpsql.owner.advice.typical import place_of
from dpsql.owner.building.by_rank import stored_ranks
from dpsql.owner.building.by_size import sizes_by_day, sizes_of_rows
from dpsql.owner.building.facts import with_lists
from dpsql.owner.building.open_days import stored_days
from dpsql.owner.building.totals import stored_totals
from dpsql.owner.building.value_counts import stored_counts
from dpsql.owner.partitions import with_partition
from dpsql.owner.shape import CLASSES, stores_grid, table_shape
from dpsql.plan.advised import AdvisedTable
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.functions import Function, Spelt
from dpsql.plan.known.guesses import known_units
from dpsql.plan.types import DECLARED, Facts, Type, Value
from dpsql.policy import ColumnPolicy, Policy, TablePolicy
from dpsql.policy.mechanisms import ColumnMechanisms

__all__ = ["build_catalog", "private_table"]

IDENTITY = Facts(Type.TEXT, nullable=False)
"""Units and keys are text, whatever is stored: they are compared with their like alone."""


def build_catalog(
    policy: Policy,
    public: Mapping[str, PublicTable],
    version: int,
    advised: Mapping[str, AdvisedTable] | None = None,
    spelt: Callable[[Function], Spelt] = Spelt.as_written,
) -> Catalog:
    """The catalog of one policy at one table version.

    Args:
        policy: The owner's promises.
        public: What the builder found of each public table.
        version: The table version.
        advised: What facts say of private tables: it stands in for the owner's guesses.
        spelt: How much the engine's words for a function have it do.
    """
    tables = {
        name: _public(public[name], table) if table.public else private_table(name, policy, public)
        for name, table in policy.tables.items()
    }
    tables |= {name: _with_facts(tables[name], facts) for name, facts in (advised or {}).items()}
    said = [tables[name] for name, table in policy.tables.items() if _says_rows(table, tables[name])]
    tables |= {
        name: replace(table, units_known=known_units(table, said)) for name, table in tables.items() if not table.public
    }
    tables |= {name: with_partition(tables[name], policy, version) for name in policy.random_dp}
    file = policy.file.name if policy.file is not None else policy.name
    return Catalog(
        tables,
        policy.neighbours,
        file,
        version,
        policy.classes,
        _class_of(tuple(policy.classes)),
        policy.idealised_numerics,
        policy.budget.total.delta > 0,
        policy.engine.memory_bytes,
        policy.engine.deadline_seconds,
        spelt,
    )


def _says_rows(table: TablePolicy, info: TableInfo) -> bool:
    """Whether anybody said how many rows a private table has: facts, or the owner."""
    return not info.public and (info.advised is not None or "rows_about" in table.model_fields_set)


def _class_of(names: tuple[str, ...]) -> TableInfo | None:
    """The table that `owner.building.classes` builds."""
    if not names:
        return None
    columns = {
        "unit": ColumnInfo("unit", IDENTITY, unit=True, letters=LONGEST_IDENTITY),
        "class": ColumnInfo("class", Facts(Type.TEXT, nullable=False), values=names),
    }
    return TableInfo(CLASSES, columns, unit="unit", key="unit", rows_per_unit=1, rows_about=1)


def private_table(name: str, policy: Policy, public: Mapping[str, PublicTable]) -> TableInfo:
    """A private table as the policy describes it.

    Args:
        name: Its name.
        policy: The owner's promises.
        public: The public tables that list values of its columns.
    """
    table = policy.tables[name]
    shape, unit = with_lists(table_shape(policy, name, table), public), table.unit_column
    places = {column.name: column.places for column in shape.columns} if shape.numbered else {}
    columns = {unit: ColumnInfo(unit, IDENTITY, unit=True, letters=LONGEST_IDENTITY)}
    for column_name, link in policy.identities(name).items():
        columns[column_name] = ColumnInfo(
            column_name, IDENTITY, unit=link is None, link=link, letters=LONGEST_IDENTITY
        )  # fmt: skip
    for column_name, column in table.columns.items():
        columns[column_name] = replace(
            _column(column_name, column, public),
            stored_places=places.get(column_name, ()),
            **_wishes(policy.mechanisms.get(f"{name}.{column_name}")),
        )
    return TableInfo(
        name=name,
        columns=columns,
        unit=unit,
        unit_implied=unit not in policy.identities(name),
        key=table.key_column,
        unique=table.unique,
        rows_per_unit=table.most_rows,
        rows_about=table.rows_about,
        rows_at_least=table.rows_at_least,
        every_unit=table.every_unit,
        max_groups_per_unit=table.max_groups_per_unit,
        min_units=table.min_units or 1,
        ranked=table.most_rows > 1,
        totals=stored_totals(shape),
        sizes=sizes_of_rows(shape),
        days=sizes_by_day(shape),
        open_days=stored_days(shape),
        ranks=stored_ranks(shape),
        counts=stored_counts(shape),
        renamed=_renamed(table, columns),
        description=table.description or "",
    )


def _with_facts(table: TableInfo, facts: AdvisedTable) -> TableInfo:
    """The table with what facts say in the place of the owner's guesses of rows, centre, spread and scale."""
    columns = dict(table.columns)
    for name, advised in facts.columns.items():
        known = columns[name].facts
        place = place_of(advised.single, (known.low, known.high) if known.bounded else None, advised.zeros)
        if place is None or place.spread <= 0:
            continue
        centre = place.centre
        if isinstance(known.low, Fraction) and isinstance(known.high, Fraction):
            centre = min(max(centre, known.low), known.high)
        scale = known.scale if known.bounded else place.scale
        columns[name] = replace(columns[name], facts=replace(known, centre=centre, spread=place.spread, scale=scale))
    rows = max(facts.rows, table.rows_at_least or 1)
    return replace(table, columns=columns, rows_about=rows, advised=facts)


def _wishes(declared: ColumnMechanisms | None) -> dict[str, Any]:
    """The owner's default mechanisms and bans for one column."""
    if declared is None:
        return {}
    wanted = declared.model_dump(exclude={"ban"}, exclude_none=True)
    return {"defaults": wanted, "banned": frozenset(declared.ban)}


def _column(name: str, column: ColumnPolicy, public: Mapping[str, PublicTable]) -> ColumnInfo:
    type_ = DECLARED[column.type]
    values = _values(name, column, public)
    low, high = column.bounds or _ends(type_, values)
    step = column.grid_step if type_.numeric else None
    facts = Facts(
        type=type_,
        low=_end(low),
        high=_end(high),
        nullable=column.nullable,
        step=step,
        centre=None if column.centre is None else Fraction(column.centre),
        spread=None if column.spread is None else Fraction(column.spread),
        scale=None if column.scale is None else (Fraction(column.scale[0]), Fraction(column.scale[1])),
    )
    letters = column.cut_at or max((len(value) for value in values or () if isinstance(value, str)), default=0)
    return ColumnInfo(
        name,
        facts,
        values,
        stored_grid=stores_grid(column),
        letters=letters,
        description=column.description or "",
    )


def _values(name: str, column: ColumnPolicy, public: Mapping[str, PublicTable]) -> tuple[Value, ...] | None:
    """The declared domain of a column, or None."""
    if column.values_from is None:
        return column.values
    table, source = column.values_from.split(".")
    values = public[table].columns[source].values
    if values is None:
        raise PolicyError(
            f"{column.values_from} has more than 100,000 values, too many for the domain of {name}. "
            "Leave values_from out: the column is then open, and grouping by it needs delta."
        )
    return values


def _ends(type_: Type, values: tuple[Value, ...] | None) -> tuple[Value, Value]:
    """Listed numbers are bounds, too: the bounded table holds no others."""
    numbers = [value for value in values or () if isinstance(value, int)]
    return (min(numbers), max(numbers)) if type_ is Type.INTEGER and numbers else (None, None)


def _end(value: Any) -> Fraction | date | None:
    return value if value is None or isinstance(value, date) else Fraction(value)


def _public(table: PublicTable, declared: TablePolicy) -> TableInfo:
    described = {name: column.description for name, column in declared.columns.items()}
    columns = {
        name: ColumnInfo(
            name,
            Facts(
                column.type,
                column.low,
                column.high,
                column.nullable,
                Fraction(1) if column.type is Type.INTEGER else None,
            ),
            column.values,
            multiplicity=column.multiplicity,
            letters=column.longest,
            description=described.get(name) or "",
        )
        for name, column in table.columns.items()
    }
    return TableInfo(
        table.name,
        columns,
        public=True,
        key=declared.key_column,
        rows=table.rows,
        renamed=_renamed(declared, columns),
        description=declared.description or "",
    )


def _renamed(table: TablePolicy, columns: Collection[str]) -> dict[str, str]:
    """From the data's names of these columns to the policy's, where they differ."""
    return {own: name for name, own in table.rename.items() if name in columns}
