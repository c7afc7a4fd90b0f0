"""Random policies, and data that fit them badly: what owners write, and what their tables may really hold.

Tables are owned by a unit column or through chains of keys, up to three long. Keys are absent, a column of the table,
the unit itself, or the reference of a chain; they repeat within units and between them, are NULL, and may be listed
among the columns. Caps are met, missed and exceeded. Values lie on their bounds, outside, and where no number is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from dpsql.policy import Policy

__all__ = ["NAMES", "Drawn", "DrawnTable", "draw"]

NAMES = tuple(f"unit {number}" for number in range(6))
"""The units. The first has more rows of each table than any cap, all of them as heavy as values can be."""
CLASSES = {"strict": Decimal("0.25"), "normal": 1, "open": Decimal("0.5")}
BUDGET = {"epsilon": 10**5, "delta": Decimal("0.9"), "gamma": Decimal("0.9")}  # never runs out
REFERENCES = 6  # the values of a key: few, so that they repeat

Value = Any


@dataclass(frozen=True)
class Kind:
    """One kind of column.

    Attributes:
        sql: Its type in the data.
        policy: What the policy says of it.
        values: Some of its values; the first is the heaviest.
        of: What it is to a statement.
    """

    sql: str
    policy: Mapping[str, Any]
    values: Sequence[Value]
    of: str


DAYS = [date(2024, 1, 1), date(2024, 1, 5)]
WILD = (1e300, math.nan, math.inf, -math.inf, -0.0, 0.5, 2.0)
KINDS = (
    Kind("BIGINT", {"type": "integer", "bounds": [0, 4]}, (2**62, -(2**62), 0, 1, 2, 3, 4, 5), "number"),
    Kind("INTEGER", {"type": "integer", "bounds": [-3, 2]}, (-9, 9, -3, -1, 0, 1, 2), "number"),
    Kind("BIGINT", {"type": "integer", "bounds": [-4, 4], "grid": 2}, (5, -5, 1, 2, 3), "number"),
    Kind("BIGINT", {"type": "integer"}, (2**63 - 1, -(2**63), 0, 1, 2), "number"),
    Kind("DOUBLE", {"type": "real", "bounds": [-2, 3], "grid": Decimal("0.5")}, WILD, "number"),
    Kind("DOUBLE", {"type": "real", "bounds": [0, 9], "centre": 2, "spread": 1}, WILD, "number"),
    Kind("DOUBLE", {"type": "real"}, WILD, "number"),
    Kind(
        "DECIMAL(12, 3)",
        {"type": "decimal", "bounds": [Decimal("0.5"), Decimal("2.5")]},
        ("99.999", "-1", "1.005", "2"),
        "number",
    ),
    Kind("VARCHAR", {"type": "text", "values": ["a", "b", "w"]}, ("a", "b", "w", "x", ""), "text"),
    Kind("VARCHAR", {"type": "text", "values_from": "towns.name"}, ("a", "b", "c", "zz"), "text"),
    Kind("VARCHAR", {"type": "text"}, ("rare", "a", "w", ""), "text"),
    Kind("BOOLEAN", {"type": "boolean"}, (True, False), "flag"),
    Kind("DATE", {"type": "date", "bounds": DAYS}, (*DAYS, date(2024, 1, 3), date(1999, 1, 1)), "day"),
    Kind("TIMESTAMP", {"type": "timestamp"}, (datetime(2024, 1, 2), datetime(2024, 1, 3, 4, 5)), "moment"),
)
PUBLIC: Mapping[str, tuple[str, Sequence[tuple[Any, ...]]]] = {
    "towns": ("name VARCHAR, zone BIGINT", [("a", 1), ("b", 1), ("c", 2)]),
    "zones": ("zone BIGINT, kind VARCHAR", [(1, "x"), (1, "y"), (1, "y"), (2, "x"), (None, "x"), (9, "z")]),
}


@dataclass(frozen=True)
class DrawnTable:
    """A private table of the data.

    Attributes:
        name: Its name.
        columns: Column to its type in SQL.
        rows: (the unit that the row vanishes with, or None; its values).
    """

    name: str
    columns: Mapping[str, str]
    rows: Sequence[tuple[str | None, tuple[Value, ...]]]


@dataclass(frozen=True)
class Drawn:
    """One policy with its data.

    Attributes:
        policy: The policy.
        tables: Its private tables.
        kinds: Each private table's columns and what they are to a statement.
        classes: The class of each unit; empty where there are none.
        seed: Of which all of it was drawn.
    """

    policy: Policy
    tables: Sequence[DrawnTable]
    kinds: Mapping[str, Mapping[str, str]]
    classes: Mapping[str, str]
    seed: int


@dataclass
class _Table:
    """A table while it is drawn."""

    name: str
    cap: int
    key: str | None = None
    unit: str | None = None  # its own column, or None
    via: str | None = None
    on: str | None = None
    every: bool = False
    identity: dict[str, str] = field(default_factory=dict)  # column to what it is to a statement: unit, or link ...
    columns: dict[str, Kind] = field(default_factory=dict)
    refers: dict[str, Callable[[random.Random], Value]] = field(default_factory=dict)  # how such a column is filled


def draw(seed: int) -> Drawn:
    """The policy of a seed, with its data."""
    chance = random.Random(seed)
    neighbours = chance.choice(("add_remove", "replace_one"))
    texts = chance.random() < 0.3  # whether units are texts
    tables: dict[str, _Table] = {}
    for number in range(chance.randint(1, 4)):
        _add(chance, tables, f"t{number}", neighbours, texts)
    classed = _classed(chance, tables)
    text = _policy(chance, tables, neighbours, classed)
    data = [_data(chance, table, texts, classed) for table in tables.values()]
    policy = Policy.model_validate(text)
    kinds = {
        name: {"person": "unit"}
        | {column: kind.of for column, kind in table.columns.items()}
        | {column: of for column, of in table.identity.items() if column not in table.columns}
        for name, table in tables.items()
    }
    classes = {} if classed is None else {name: _class_of(name) for name in NAMES}
    return Drawn(policy, data, kinds, classes, seed)


def _unit(number: int, texts: bool) -> Value:
    return f"u{number}" if texts else number


def _add(chance: random.Random, tables: dict[str, _Table], name: str, neighbours: str, texts: bool) -> None:
    """One more private table."""
    table = tables[name] = _Table(name, chance.choice((1, 1, 2, 3, 4)))
    owners = [other for other in tables.values() if other.key is not None]
    if owners and chance.random() < 0.5:
        owner = chance.choice(owners)
        table.via, of = owner.name, owner.identity[str(owner.key)]
        table.on = "person" if of == "unit" and chance.random() < 0.5 else f"r{name}" if of == "unit" else owner.key
        table.identity[str(table.on)] = of
        table.refers[str(table.on)] = owner.refers[str(owner.key)]
    else:
        table.unit = "person"
        table.identity["person"] = "unit"
        table.refers["person"] = lambda rng: rng.choice([*(_unit(n, texts) for n in range(len(NAMES) + 1)), None])
    _give_key(chance, table)
    for number in range(chance.randint(1, 4)):
        table.columns[f"c{number}"] = chance.choice(KINDS)
    if table.key not in (None, "person", table.on) and chance.random() < 0.2:
        table.columns[str(table.key)] = KINDS[0]  # an ordinary column, and unique within each unit all the same
    whole = table.cap == 1 and table.unit is not None and table.key in (None, "person")
    table.every = neighbours == "replace_one" and whole and chance.random() < 0.7


def _give_key(chance: random.Random, table: _Table) -> None:
    own = f"k{table.name}"
    table.key = chance.choice((None, own, own, "person" if table.unit else table.on, "person" if table.unit else own))
    if table.key == own:
        table.identity[own] = f"link {own}"
        table.refers[own] = lambda rng: rng.choice([*range(REFERENCES), None])


def _classed(chance: random.Random, tables: Mapping[str, _Table]) -> str | None:
    """The table that names classes, if there are any: one whose rows are those of the unit's own column."""
    fit = [t.name for t in tables.values() if t.unit is not None and (t.cap == 1 or t.key == "person")]
    return chance.choice(fit) if fit and chance.random() < 0.25 else None


def _class_of(name: str) -> str:
    return (*CLASSES, "strict", "normal", "open")[NAMES.index(name)]


def _policy(chance: random.Random, tables: Mapping[str, _Table], neighbours: str, classed: str | None) -> Any:
    composition = chance.choice(("basic", "zcdp"))
    sections = {name: _section(chance, table) for name, table in tables.items()}
    return {
        "version": 1,
        "name": "drawn",
        "engine": {"kind": "duckdb", "database": "drawn.duckdb"},
        "neighbours": neighbours,
        "budget": {
            "ledger": "drawn.ledger.db",
            "composition": composition,
            "total": BUDGET,
            "analysts": {"ana": BUDGET},
            "per_query": {"epsilon": 1, "delta": Decimal("1e-6")},
        },
        "tables": sections | {"towns": {"public": True, "key": "name"}, "zones": {"public": True}},
        "random_dp": {} if classed else _random_dp(chance, tables, sections),
    } | ({} if classed is None else {"privacy_classes": {"table": classed, "column": "kind", "share": CLASSES}})


def _random_dp(
    chance: random.Random, tables: Mapping[str, _Table], sections: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Sections for some tables: cells of one or two columns whose values are declared."""
    found: dict[str, Any] = {}
    for name, table in tables.items():
        fit = [column for column, kind in table.columns.items() if _declares(kind)]
        whole = sections[name].get("max_groups_per_unit", table.cap) == table.cap
        if fit and whole and chance.random() < 0.4:
            cells = chance.sample(fit, min(len(fit), chance.choice((1, 2))))
            found[name] = {
                "assume": "exchangeable", "base_partition": cells, "gamma_limit": Decimal("0.9"), "row_floor": 10**4,
            }  # fmt: skip
    return found


def _declares(kind: Kind) -> bool:
    listed = "values" in kind.policy or "values_from" in kind.policy or kind.of == "flag"
    return listed or ("bounds" in kind.policy and kind.policy["type"] in ("integer", "date"))


def _section(chance: random.Random, table: _Table) -> dict[str, Any]:
    section: dict[str, Any] = {
        "unit": table.unit or {"via": table.via, "on": table.on},
        "rows_per_unit": table.cap,
        "rows_about": 10,
        "columns": {
            column: {**kind.policy, "nullable": chance.random() < 0.6} for column, kind in table.columns.items()
        },
    }
    if table.key is not None:
        section["key"] = table.key
    if chance.random() < 0.4:
        section["max_groups_per_unit"] = chance.randint(1, table.cap)
    return section | ({"every_unit": True} if table.every else {})


def _data(chance: random.Random, table: _Table, texts: bool, classed: str | None) -> DrawnTable:
    """A table's rows: of each unit none, some, as many as the cap, or more; through a chain, whoever owns them."""
    types = {column: "VARCHAR" if texts and of == "unit" else "BIGINT" for column, of in table.identity.items()}
    types |= {column: kind.sql for column, kind in table.columns.items()}
    types |= {"kind": "VARCHAR"} if classed == table.name else {}
    rows: list[tuple[str | None, tuple[Value, ...]]] = []
    heavy = chance.random() < 0.7
    owners: list[tuple[str | None, Value, int]] = [
        (name, _unit(number, texts), 1 if table.every else _count(chance, table.cap, heavy and number == 0))
        for number, name in enumerate(NAMES)
    ]
    if table.unit is None:
        owners = [(None, None, 6 * table.cap)]
    elif not table.every:
        owners.append((None, None, chance.randrange(3)))
    for name, unit, count in owners:
        for at in range(count):
            values = {column: refers(chance) for column, refers in table.refers.items()}
            if table.unit is not None:
                values["person"] = unit
            if heavy and table.key is not None and table.key not in (table.unit, table.on):
                values[table.key] = at % REFERENCES  # the keys of all, each once and again
            values |= {
                column: _value(chance, kind, heavy and name == NAMES[0]) for column, kind in table.columns.items()
            }
            if classed == table.name:
                values["kind"] = None if name is None else _class_of(name)
            rows.append((name, tuple(values[column] for column in types)))
    return DrawnTable(table.name, types, rows)


def _count(chance: random.Random, cap: int, heavy: bool) -> int:
    return cap + 3 if heavy else chance.choice((0, 1, 1, cap - 1, cap, cap, cap + 1, cap + 3))


def _value(chance: random.Random, kind: Kind, heavy: bool) -> Value:
    if heavy and chance.random() < 0.7:
        return kind.values[0]
    return None if chance.random() < 0.15 else chance.choice(kind.values)
