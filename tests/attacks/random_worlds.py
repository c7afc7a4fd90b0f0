"""Random tables of many rows a unit, and statements over them: what an engine stores beside the rows is read for some.

Totals by unit, by listed columns, by day and by rank, and counts by days without bounds, are stored where a unit may
have many rows, or columns have few values; so caps, bounds and lists are drawn from either side of that. Values lie on
their bounds, outside, and where no number is; days and moments stand at the ends of months and years, beside each
other, eight thousand years away, and are NULL.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from dpsql.policy import Policy
from tests.attacks.random_policies import BUDGET, CLASSES, Drawn, DrawnTable
from tests.attacks.templates import Template

__all__ = ["World", "statement", "world"]

CAPS = (1, 2, 5, 12, 13, 40, 200)
UNITS = (3, 8, 30)
MOST = 60  # Rows of one unit, however many it may have.
FIRST = date(2023, 12, 28)
DAYS = tuple(
    date.fromisoformat(day)
    for day in (
        "1999-01-01", "2023-12-25", "2024-01-01", "2024-01-07", "2024-01-08", "2024-01-31", "2024-02-29", "2024-03-01",
        "2024-12-31",
    )
)  # fmt: skip
LAST = (date(2024, 1, 20), date(2024, 12, 31))
ENDS = (4, 9, 100, 2**20, 2**31 - 1, 2**31, 2**40, 2**46)
TYPES = {
    "g": "VARCHAR", "z": "VARCHAR", "b": "BOOLEAN", "d": "DATE", "o": "DATE", "ts": "TIMESTAMP", "n": "BIGINT",
    "m": "INTEGER", "x": "DOUBLE",
}  # fmt: skip
NUMBERS = ("n", "m", "x")
KEYS: Mapping[str, Sequence[str]] = {
    "g": ("g", "g = 'a'"),
    "b": ("b",),
    "d": (
        "d", "date_trunc('month', d)", "date_trunc('week', d)", "date_trunc('quarter', d)", "year(d)", "month(d)",
        "dayname(d)", "dayofweek(d)", "d >= DATE '2024-01-01'", "d - DATE '2023-12-28'", "d + 1",
    ),
    "o": ("o", "o", "date_trunc('month', o)"),
    "ts": ("ts::DATE", "hour(ts)", "date_trunc('day', ts)"),
    "m": ("m", "m > 3"),
    "z": ("z",),
    "n": ("n > 2",),
    "x": ("x > 1",),
}  # fmt: skip
CONDITIONS: Mapping[str, Sequence[str]] = {
    "g": ("g <> 'a'", "g IS NOT NULL", "g IN ('a', 'b')", "g IS NULL", "(g = 'a' OR g <> 'a')"),
    "b": ("b", "b IS NOT NULL", "NOT b"),
    "d": ("d >= DATE '2024-01-01'", "d IS NOT NULL", "d < DATE '2030-01-01'", "d IS NULL"),
    "o": ("o >= DATE '2024-01-01'", "o IS NOT NULL"),
    "ts": ("ts IS NOT NULL", "ts >= TIMESTAMP '2024-01-01 00:00:00'"),
    "m": ("m >= 0", "m > 2", "m IS NOT NULL"),
    "n": ("n > 0", "n IS NOT NULL", "n >= -999999999999999"),
    "x": ("x >= 0", "x < 2"),
    "z": ("z <> 'a'",),
}
"""Some are true of every row, or of every row that has a value."""
TOTALS = ("SUM({})", "COUNT({})", "COUNT(*)")
OTHERS = (
    "AVG({})", "STDDEV({})", "COUNT(DISTINCT {unit})", "VAR_POP({})", "MEDIAN({})", "QUANTILE_CONT({}, 0.25)",
    "MAX({})",
    "SUM({}, contribution_bounds_per_group => (0, 3))", "SUM({}, contribution_bounds_per_row => (0, 2))",
    "AVG({}, contribution_bounds_per_group => (0, 3))", "COUNT(*, contribution_bounds_per_group => (0, 3))",
)  # fmt: skip
PLAIN: Sequence[Mapping[str, Any]] = ({}, {"epsilon": 0.01}, {"mechanism": "clamped"}, {"mechanism": "clamped"})
OPTIONS: Sequence[Mapping[str, Any]] = (
    {}, {}, {"epsilon": 0.01}, {"epsilon": 0.1}, {"mechanism": "laplace"}, {"mechanism": "clamped"},
    {"mechanism": "clamped"}, {"mechanism": "capped"}, {"mechanism": "located"}, {"epsilon": 6, "delta": 1e-3},
    {"max_rows_contributed": 2}, {"max_groups_per_unit": 1}, {"max_rows_per_group": 1},
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """A policy with its data, and what draws statements over it.

    Attributes:
        drawn: Both.
        units: Everybody.
        columns: Those of the table ``t`` that statements name; beside it are ``p``, with one row a unit, and public
            tables.
        chance: Of the seed.
    """

    drawn: Drawn
    units: Sequence[str]
    columns: Sequence[str]
    chance: random.Random


def world(seed: int) -> World:
    """That of a seed."""
    chance = random.Random(f"world {seed}")
    columns = _columns(chance)
    cap = chance.choice(CAPS)
    rows, others = list[tuple[str | None, tuple[Any, ...]]](), list[tuple[str | None, tuple[Any, ...]]]()
    units = range(chance.choice(UNITS))
    for unit in units:
        many = min(MOST, chance.choice((0, 1, 1, 2, cap, cap + 2, min(cap, 7))))
        rows += [
            (str(unit), (unit, chance.choice((at, at, 3)), *(_value(name, columns, chance) for name in columns)))
            for at in range(many)
        ]
        if chance.random() < 0.9:
            own = chance.choice(("F", "M", None)), chance.randrange(120), chance.choice((*CLASSES, None))
            others.append((str(unit), (unit, *own)))
    tables = [
        DrawnTable("t", {"person": "BIGINT", "k": "BIGINT"} | {name: TYPES[name] for name in columns}, rows),
        DrawnTable("p", {"person": "BIGINT", "s": "VARCHAR", "age": "INTEGER", "kind": "VARCHAR"}, others),
    ]
    return World(Drawn(_policy(columns, cap, chance), tables, {}, {}, seed), [*map(str, units)], [*columns], chance)


def _columns(chance: random.Random) -> dict[str, dict[str, Any]]:
    """The columns of ``t`` as the policy has them."""
    high = chance.choice(ENDS)
    known: dict[str, dict[str, Any]] = {
        "g": {"type": "text", "values": ["a", "b", "w"]},
        "b": {"type": "boolean"},
        "d": {"type": "date", "bounds": [FIRST, chance.choice(LAST)]},
        "o": {"type": "date"},
        "ts": {"type": "timestamp", "bounds": [datetime.combine(FIRST, time()), datetime(2024, 1, 20, 12)]},
        "n": {"type": "integer", "bounds": [chance.choice((0, 0, 1, -3, -high)), high]},
        "m": {"type": "integer", "bounds": [0, 9]},
        "x": {"type": "real", "bounds": chance.choice(([-2, 3], [0, 9], [0, 1_000_000]))}
        | ({"grid": Decimal("0.5")} if chance.random() < 0.5 else {}),
        "z": {"type": "text", "values_from": "towns.name"},
    }
    names = {"n", *chance.sample(sorted(known), chance.randint(3, len(known)))}
    return {name: known[name] | {"nullable": chance.random() < 0.6} for name in sorted(names)}


def _policy(columns: Mapping[str, Any], cap: int, chance: random.Random) -> Policy:
    rows = {"unit": "person", "rows_per_unit": cap, "rows_about": chance.choice((10, 1000, 10**6)), "columns": columns}
    person = {
        "unit": "person", "rows_per_unit": 1, "key": "person", "rows_about": 10,
        "columns": {"s": {"type": "text", "values": ["F", "M"]}, "age": {"type": "integer", "bounds": [0, 110]}},
    }  # fmt: skip
    text: dict[str, Any] = {
        "version": 1,
        "name": "drawn",
        "engine": {"kind": "duckdb", "database": "drawn.duckdb"},
        "neighbours": chance.choice(("add_remove", "replace_one")),
        "budget": {
            "ledger": "drawn.ledger.db",
            "composition": chance.choice(("basic", "zcdp")),
            "total": BUDGET,
            "analysts": {"ana": BUDGET},
            "per_query": {"epsilon": 1, "delta": Decimal("1e-6")},
        },
        "tables": {
            "t": rows | ({"key": "k"} if chance.random() < 0.4 else {}),
            "p": person,
            "towns": {"public": True, "key": "name"},
            "zones": {"public": True},
        },
    }
    if chance.random() < 0.2:
        text["privacy_classes"] = {"table": "p", "column": "kind", "share": CLASSES}
    return Policy.model_validate(text)


def _value(name: str, columns: Mapping[str, Any], chance: random.Random) -> Any:
    if chance.random() < 0.12:
        return None
    listed: dict[str, Callable[[], Any]] = {
        "g": lambda: chance.choice(("a", "b", "w", "other")),
        "z": lambda: chance.choice(("a", "b", "c", "other")),
        "b": lambda: chance.random() < 0.5,
        "d": lambda: chance.choice((chance.choice(DAYS), FIRST + timedelta(chance.randrange(30)))),
        "o": lambda: chance.choice((chance.choice(DAYS), date.max, FIRST)),
        "ts": lambda: (
            datetime.combine(chance.choice(DAYS), time())
            if chance.random() < 0.3
            else datetime.combine(FIRST, time()) + timedelta(seconds=chance.randrange(25 * 86400))
        ),
    }
    if name in listed:
        return listed[name]()
    low, high = map(float, columns[name]["bounds"])
    if name == "x":
        return chance.choice((low, high, 0.0, 0.25, 1.5, math.nan, math.inf, chance.uniform(low, high)))
    return int(chance.choice((low, high, high, 0, 1, 2, high + 1, low - 1, chance.uniform(low, high))))


def statement(own: World) -> Template:
    """One over the tables of a world: most often totals of all of its rows, by a day or a listed column."""
    chance, columns = own.chance, own.columns
    numbers = [name for name in columns if name in NUMBERS]
    simple = chance.random() < 0.5
    few, many, less = ((0, 1, 1, 1, 2), PLAIN, (0, 0, 0, 1)) if simple else ((0, 1, 1, 2, 2, 3), OPTIONS, (0, 1, 2))
    named = ["d"] if simple and "d" in columns and chance.random() < 0.4 else chance.sample(columns, chance.choice(few))
    keys = [chance.choice(KEYS[name]) for name in named]
    where = [chance.choice(CONDITIONS[name]) for name in chance.sample(columns, chance.choice(less))]
    source, unit = "t", "person"
    if not simple:
        how = chance.random()
        if how < 0.15:
            source, unit, keys = "t JOIN p USING (person)", "t.person", keys + chance.choice(([], ["s"], ["age > 50"]))
        elif how < 0.3 and "z" in columns:
            source, keys = "t JOIN towns ON z = name", keys + chance.choice(([], ["zone"]))
        elif how < 0.35 and "z" in columns:
            source = "t LEFT JOIN towns ON z = name"
        elif how < 0.45:
            where.append("person IN (SELECT person FROM p WHERE age > 20)")
    shapes = TOTALS if simple else (*TOTALS, *OTHERS)
    asked = [
        chance.choice(shapes).replace("{unit}", unit).replace("{}", chance.choice(numbers))
        for _ in range(chance.randint(1, 4))
    ]
    text = f"SELECT {', '.join([*keys, *asked])} FROM {source}"
    text += f" WHERE {' AND '.join(where)}" if where else ""
    text += f" GROUP BY {', '.join(str(at + 1) for at in range(len(keys)))}" if keys else ""
    return Template(text, options=chance.choice(many))
