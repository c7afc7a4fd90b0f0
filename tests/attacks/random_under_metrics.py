"""Random statements under a metric: over people alone or beside their towns, whole or in part, in groups or without.

Of two conditions one may leave no row, and no group of a key; keys may have one value, many or none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["statements"]

KINDS = {
    "p.age": "number", "p.sex": "text", "p.town": "text", "t.height": "number", "t.region": "text", "t.name": "text",
}  # fmt: skip
SOURCES = (
    "people p", "people p", "people p", "people p JOIN towns t ON p.town = t.name",
    "people p LEFT JOIN towns t ON p.town = t.name", "(SELECT * FROM people WHERE {}) p",
    "people p JOIN (SELECT * FROM towns WHERE region = 'plain') t ON p.town = t.name",
)  # fmt: skip
SETS = ("{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")
NEVER = ("1 = 2", "DATE '2024-01-03' > DATE '2024-01-04'", "FALSE", "NULL")
ENDS = ("",) * 6 + (" HAVING COUNT(*) > 2", " ORDER BY 1 LIMIT 1", " HAVING COUNT(*) > 1 ORDER BY 1 DESC", " LIMIT 0")
AROUND = ("{}",) * 8 + ("WITH w AS ({}) SELECT COUNT(*) FROM w", "SELECT * FROM ({}) AS w")


@dataclass
class _Maker:
    """Makes parts of statements over some columns."""

    chance: random.Random
    columns: Sequence[str]

    def one(self, *of: str) -> str:
        return self.chance.choice(of)

    def named(self, kind: str, deep: int) -> str | None:
        fit = [column for column in self.columns if KINDS[column] == kind]
        return self.chance.choice(fit) if fit and (deep <= 0 or self.chance.random() < 0.6) else None

    def number(self, deep: int) -> str:
        if (name := self.named("number", deep)) is not None:
            return name
        if deep <= 0:
            return self.one("0", "1", "2", "-1", "0.5")
        a, b, c = self.number(deep - 1), self.number(deep - 1), self.truth(deep - 1)
        return self.one(
            f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"({a} / {b})", f"({a} % {b})", f"nullif({a}, {b})",
            f"coalesce({a}, {b})", f"greatest({a}, {b})", f"CASE WHEN {c} THEN {a} ELSE {b} END", f"round({a}, -1)",
            f"CASE WHEN {c} THEN {a} END", f"ln({a})", f"length({self.text(deep - 1)})", f"CAST({c} AS INTEGER)",
            f"TRY_CAST({self.text(deep - 1)} AS INTEGER)", f"CAST({a} AS TINYINT)", f"sqrt({a})",
        )  # fmt: skip

    def text(self, deep: int) -> str:
        if (name := self.named("text", deep)) is not None:
            return name
        if deep <= 0:
            return self.one("'F'", "'Alm'", "''")
        a, b = self.text(deep - 1), self.text(deep - 1)
        return self.one(
            f"upper({a})", f"left({a}, 1)", f"({a} || {b})", f"coalesce({a}, {b})", f"nullif({a}, {b})",
            f"CASE WHEN {self.truth(deep - 1)} THEN {a} ELSE {b} END",
        )  # fmt: skip

    def truth(self, deep: int) -> str:
        a, b, x, y = self.number(deep - 1), self.number(deep - 1), self.text(deep - 1), self.text(deep - 1)
        simple = (
            f"({a} {self.one('<', '>', '=', '<=', '<>', 'IS DISTINCT FROM')} {b})", f"({a} > 9)", f"({a} IS NULL)",
            f"({a} BETWEEN {b} AND 3)", f"({a} IN (1, 2))", f"({x} = {y})", f"({x} IN ('F', 'Alm', 'Cern'))",
            f"({x} IS NULL)", f"({x} LIKE 'a%')", f"({x} < {y})", self.one(*NEVER),
        )  # fmt: skip
        if deep <= 0 or self.chance.random() < 0.6:
            return self.one(*simple)
        c, d = self.truth(deep - 1), self.truth(deep - 1)
        return self.one(f"({c} AND {d})", f"({c} OR {d})", f"(NOT {c})")

    def key(self) -> str:
        x = self.chance.choice(self.columns)
        c = self.truth(1)
        return self.one(
            x, x, x, c, self.number(1), self.text(1), f"CASE WHEN {c} THEN 'x' ELSE 'y' END", f"({x} IS NULL)"
        )

    def aggregate(self, deep: int) -> str:
        x, c = self.number(deep), self.truth(deep)
        text = self.one(
            "COUNT(*)", "COUNT(*)", f"SUM({x})", f"SUM({x})", f"AVG({x})", f"COUNT({x})", f"COUNT({self.text(deep)})",
            f"COUNT_IF({c})", f"MODE({self.chance.choice(self.columns)})", f"SUM(CASE WHEN {c} THEN {x} END)",
            f"SUM({x}, contribution_bounds_per_row => (0, 3))", f"BOOL_OR({c})",
        )  # fmt: skip
        return text + (f" FILTER (WHERE {self.truth(deep)})" if self.chance.random() < 0.2 else "")


def statements(chance: random.Random, columns: Sequence[str], count: int) -> list[str]:
    """So many random statements over people, of whom the metric has these columns, and two of them together."""
    asked = [_statement(chance, columns) for _ in range(count)]
    return [*asked, *(f"{chance.choice(asked)} UNION ALL {chance.choice(asked)}" for _ in range(2))]


def _statement(chance: random.Random, columns: Sequence[str]) -> str:
    source = chance.choice(SOURCES if "town" in columns else [own for own in SOURCES if "towns" not in own])
    beside = [column for column in KINDS if column.startswith("t.")] if "towns" in source else []
    own = [f"p.{column}" for column in columns]
    maker, deep = _Maker(chance, [*own, *own, *beside]), chance.choice((0, 0, 1, 1, 2))
    bare = _Maker(chance, own)
    source = source.replace("{}", bare.truth(1).replace("p.", ""))
    keys = [maker.key() for _ in range(chance.choice((0, 0, 1, 1, 1, 2)))]
    asked = [maker.aggregate(deep) for _ in range(chance.choice((1, 1, 2, 3)))]
    text = f"SELECT {', '.join([*keys, *asked])} FROM {source}"
    text += f" WHERE {maker.truth(deep)}" if chance.random() < 0.5 else ""
    if keys:
        text += " GROUP BY " + chance.choice(SETS).format(", ".join(str(at + 1) for at in range(len(keys))))
    text += chance.choice(ENDS)
    return chance.choice(AROUND).format(text)
