"""Tables made up for a policy: units that have the most that may count, at every bound, alone, everywhere and nowhere.

Nothing is read for it but the policy. Public tables are made up too: a few rows with the columns that the policy names.

Tests: tests/unit/audit/test_made_up.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsql.audit.stand_in import DATABASE
from dpsql.audit.values import KINDS, ColumnValues, distinct, everywhere, made_of, value_of
from dpsql.engines import offered
from dpsql.policy import Policy
from dpsql.policy.column import ColumnPolicy
from dpsql.policy.metrics import declared_values
from dpsql.policy.table import TablePolicy, Via

__all__ = ["FIRST_ROW", "LAST_ROW", "MOVING", "MadeUp"]

MOVING = tuple(KINDS)
"""The units that come and go."""
FIRST_ROW, LAST_ROW = "a row of first values", "a row of last values"
"""One unit that has one row in each table, with the first value of each column or with the last."""
ORDINARY = 12
"""Units that stay, and share groups with those that go. It is a choice: enough for a threshold to show some groups."""
TWINS = 100
"""Units that stay, and are in every group. It is a choice: enough that a threshold shows the groups that they share."""
TWIN_ROWS = 16
"""Most rows of a table that one of them has. It is a choice: a unit is seldom counted in more groups."""
ABOVE = 3
"""The heaviest unit has so many rows more than count."""
FILLED = 2_000
"""Most rows that are made up for one unit. It is a choice: a larger cap is not filled, which the report says."""
STRIDE = 10_000
"""Between the keys of two units: more than one has rows."""
PUBLIC_ROWS = 3  # Of each public table, and more where a metric names more values. It is a choice.


@dataclass
class MadeUp:
    """What stands in the tables of a policy.

    Attributes:
        policy: The policy.
        public: Public table to its columns, with types, and rows.
        rows: Private table to unit to rows.
        types: Private table to its columns, with types.
    """

    policy: Policy
    public: Mapping[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = field(init=False)
    rows: dict[str, dict[str, list[dict[str, Any]]]] = field(init=False, default_factory=dict)
    types: dict[str, dict[str, str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.public = _public(self.policy)
        for name in self.policy.tables:
            self._make(name)

    @property
    def units(self) -> tuple[str, ...]:
        """Everybody but the unit of one row."""
        twins = (f"twin {number}" for number in range(TWINS))
        return (*MOVING, *(f"ordinary {number}" for number in range(ORDINARY)), *twins)

    @property
    def classes(self) -> dict[str, str]:
        """Each unit's class, as it counts; none where the policy has no classes."""
        shares = self.policy.classes
        if not shares:
            return {}
        strictest = min(shares, key=lambda name: shares[name])
        return {unit: self._class(unit) or strictest for unit in (*self.units, FIRST_ROW, LAST_ROW)}

    @property
    def unfilled(self) -> list[str]:
        """The tables whose cap is larger than what is made up for one unit."""
        return [name for name, table in self.policy.tables.items() if table.most_rows > FILLED]

    def listed(self, table: str, column: str) -> Sequence[Any] | None:
        """The values of a column's domain, where it has one."""
        declared: ColumnPolicy = self.policy.tables[table].columns[column]
        if declared.values_from is not None:
            source, _, name = declared.values_from.partition(".")
            types, rows = self.public[source]
            return [row[list(types).index(name)] for row in rows]
        return declared.values

    def write(self, present: Collection[str], folder: Path) -> None:
        """Writes the database of these units, in an order of rows of its own."""
        tables: dict[str, tuple[Mapping[str, str], Sequence[Sequence[Any]]]] = dict(self.public)
        for name, rows in self.rows.items():
            there = [tuple(row.values()) for unit in rows if unit in present for row in rows[unit]]
            order = [hashlib.sha256(f"{sorted(present)} {name} {at}".encode()).digest() for at in range(len(there))]
            tables[name] = self.types[name], [there[at] for at in sorted(range(len(there)), key=order.__getitem__)]
        offered("duckdb", "filling").write(folder / DATABASE, tables)

    # --------------------------------------------------------------------------------------------- one private table

    def _class(self, unit: str) -> str | None:
        """What stands in the column of classes: those who come and go take turns."""
        names = list(self.policy.classes)
        everybody = (*self.units, FIRST_ROW, LAST_ROW)
        return None if unit == "NULLs alone" else names[everybody.index(unit) % len(names)]

    def _make(self, name: str) -> None:
        """Makes up a private table, after the one that its rows belong through."""
        table = self.policy.tables[name]
        if table.public or name in self.rows:
            return
        if isinstance(table.unit, Via):
            self._make(table.unit.via)
        holds = {column: made_of(column, own, self.listed(name, column)) for column, own in table.columns.items()}
        everybody = (*self.units, FIRST_ROW, LAST_ROW)
        made = {unit: self._rows(name, table, holds, unit, number) for number, unit in enumerate(everybody)}
        types = {column: own.type for column, own in table.columns.items()}
        first = next(row for rows in made.values() for row in rows)
        self.types[name] = {column: types.get(column, self._identifying(name, column)) for column in first}
        self.rows[name] = made

    def _identifying(self, name: str, column: str) -> str:
        """The type of a column that is none of the policy's columns: a unit, a key, a reference, or a class."""
        table, classes = self.policy.tables[name], self.policy.privacy_classes
        if classes is not None and (name, column) == (classes.table, classes.column):
            return "text"
        if isinstance(table.unit, Via) and column == table.unit.on:
            return self.types[table.unit.via][str(self.policy.tables[table.unit.via].key_column)]
        return "integer"

    def _rows(
        self, name: str, table: TablePolicy, holds: Mapping[str, ColumnValues], unit: str, number: int
    ) -> list[dict[str, Any]]:
        found = []
        for at in range(_count(table, unit, number)):
            row = {column: _value(values, unit, number, at) for column, values in holds.items()}
            found.append({**self._identity(name, table, number, at, unit), **row, **self._own(name, table, number, at)})
            classes = self.policy.privacy_classes
            if classes is not None and classes.table == name:
                found[-1][classes.column] = self._class(unit)
        return found

    def _identity(self, name: str, table: TablePolicy, number: int, at: int, unit: str) -> dict[str, Any]:
        """The columns that say whose a row is, of those that are not declared."""
        if not isinstance(table.unit, Via):
            return {str(table.unit): number}
        owners = self.rows[table.unit.via][unit]
        own = owners[: self.policy.tables[table.unit.via].most_rows]
        return {table.unit.on: own[at % len(own)][str(self.policy.tables[table.unit.via].key_column)] if own else None}

    def _own(self, name: str, table: TablePolicy, number: int, at: int) -> dict[str, Any]:
        """What a row's key must hold: values of its own, for each row of a unit another."""
        identity = (table.unit.on,) if isinstance(table.unit, Via) else (table.unit,)
        if isinstance(table.key, str):
            declared = table.columns.get(table.key)
            listed = self.listed(name, table.key) if declared is not None else None
            own = distinct(declared, listed, number * STRIDE + at)[0]
            return {} if table.key in identity and declared is None else {table.key: own}
        found, left = {}, at
        for column in table.unique:
            if column in table.columns:
                found[column], size = distinct(table.columns[column], self.listed(name, column), left)
                left = left // size if size else 0
        if isinstance(table.unit, Via) and table.unit.on in found:
            del found[table.unit.on]
        return found


def _count(table: TablePolicy, unit: str, number: int) -> int:
    """How many rows of a table a unit has."""
    cap = min(table.rows_per_unit or 1, FILLED)
    if table.every_unit or unit in (FIRST_ROW, LAST_ROW):
        return 1
    if unit == MOVING[0]:
        return cap + ABOVE
    if unit in MOVING:
        return cap
    return min(cap, TWIN_ROWS if unit.startswith("twin") else 1 + number % 3)


def _value(values: ColumnValues, unit: str, number: int, at: int) -> Any:
    if unit in (FIRST_ROW, LAST_ROW):
        return values.spread[0 if unit == FIRST_ROW else -1]
    if unit.startswith("twin"):
        return everywhere(values, number, at)
    return KINDS[unit](values, at) if unit in KINDS else value_of(values, number, at)


# ------------------------------------------------------------------------------------------------------- public tables


def _public(policy: Policy) -> dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]]:
    """Each public table: the columns that the policy names of it, and a few rows."""
    types: dict[str, dict[str, str]] = {name: {} for name, table in policy.tables.items() if table.public}
    for name in types:
        types[name] |= {column: own.type for column, own in policy.tables[name].columns.items()}
    for table in policy.tables.values():
        for column in table.columns.values():
            if column.values_from is not None:
                source, _, name = column.values_from.partition(".")
                types[source].setdefault(name, column.type)
    for metric in policy.metrics.values():
        for attribute in metric.attributes.values():
            for full in attribute.of or ():
                source, _, name = full.partition(".")
                types[source].setdefault(name, "real")
    for name, own in types.items():
        own.setdefault(policy.tables[name].key_column or "name", "text")
    return {name: (own, _public_rows(policy, name, own)) for name, own in types.items()}


def _public_rows(policy: Policy, name: str, types: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """A few rows; where a metric names values of a domain that the table lists, these."""
    named = {column: _named(policy, f"{name}.{column}") for column in types}
    size = max(PUBLIC_ROWS, *(len(values) for values in named.values()))
    return [
        tuple(
            named[column][at] if at < len(named[column]) else _public_value(kind, at) for column, kind in types.items()
        )
        for at in range(size)
    ]


def _named(policy: Policy, full: str) -> list[Any]:
    """The values of a public column that metrics name, or as many as they have distances for."""
    found: list[Any] = []
    for metric in policy.metrics.values():
        for column, own in metric.attributes.items():
            declared = policy.tables[metric.table].columns[column]
            if declared.values_from != full:
                continue
            entries = [*(own.edges or ()), *(own.parts or ())]
            found += [value for entry in entries for value in entry[:-1]] + ([own.outside] if own.outside else [])
            many = len(own.distances or ()) or (len(own.gaps) + 1 if own.gaps else 0)
            found += [_public_value(declared.type, at) for at in range(many - len(dict.fromkeys(found)))]
    return list(dict.fromkeys(found))


def _public_value(kind: str, at: int) -> Any:
    """One of a few values of a type."""
    column = ColumnPolicy(type=kind)  # type: ignore[arg-type]  # one of the types
    if kind == "text":
        return f"public {at}"
    if kind == "boolean":
        return bool(at % 2)
    values = made_of("", column, declared_values(column))
    return values.spread[at % len(values.spread)]
