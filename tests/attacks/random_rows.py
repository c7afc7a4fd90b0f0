"""Random sub-queries: every way of the dialect to make rows of rows, one inside the other.

A sub-query is its text and its columns: names to kinds, ``unit``, ``link`` (a declared key), ``number`` or ``text``.
Most of what is drawn is accepted; what the planner refuses is no loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.attacks.relations import CATALOG

__all__ = ["Drawn", "sub_queries"]

KINDS = {"person": "unit", "visit": "link", "town": "text", "ward": "text", "name": "text", "kind": "text"}
PRIVATE = ("people", "visits", "items", "notes")
CONSTANTS = {"number": ("0", "1", "2"), "text": ("'w'", "'a'")}
OPERATORS = ("=", "<", ">=", "<>", "IS DISTINCT FROM")


@dataclass(frozen=True)
class Drawn:
    """One sub-query.

    Attributes:
        sql: Its text.
        columns: Name to kind, in order.
    """

    sql: str
    columns: dict[str, str]

    def of(self, *kinds: str) -> list[str]:
        """The names of columns of these kinds."""
        return [name for name, kind in self.columns.items() if kind in kinds]


Draw = Callable[[st.SearchStrategy[object]], object]


@dataclass
class Maker:
    """Draws sub-queries; names are counted, so that no two are the same."""

    draw: Callable[..., object]
    names: int = 0

    def one(self, *choices: object) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def chance(self) -> bool:
        return bool(self.draw(st.booleans()))

    def often(self, eighths: int) -> bool:
        return bool(self.draw(st.sampled_from((True,) * eighths + (False,) * (8 - eighths))))

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def rows(self, depth: int) -> Drawn:
        """Rows of people."""
        if depth == 0:
            return self.table(self.one(*PRIVATE))
        makers = (
            self.chosen, self.computed, self.distinct, self.joined, self.joined, self.with_public, self.looked_up,
            self.looked_up, self.tied, self.union, self.per_unit, self.per_unit,
        )  # fmt: skip
        return makers[int(self.one(*range(len(makers))))](depth)

    def table(self, name: str) -> Drawn:
        columns = {column: KINDS.get(column, "number") for column in CATALOG.tables[name].columns}
        return Drawn(f"SELECT * FROM {name}", columns)

    def chosen(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        return Drawn(f"SELECT * FROM ({rows.sql}) AS a WHERE {self.condition(rows, 'a')}", rows.columns)

    def computed(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=True)
        for name in rows.of("number")[:1]:
            columns[own := self.name()] = "number"
            items.append(f"COALESCE(a.{name}, 1) + 1 AS {own}")
        return Drawn(f"SELECT {', '.join(items)} FROM ({rows.sql}) AS a", columns)

    def distinct(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=self.chance())
        return Drawn(f"SELECT DISTINCT {', '.join(items)} FROM ({rows.sql}) AS a", columns)

    def joined(self, depth: int) -> Drawn:
        a, b = self.rows(depth - 1), self.rows(self.lower(depth))
        on = []
        for kind, often in (("unit", 7), ("link", 7), ("number", 1), ("text", 1)):
            ours, theirs = a.of(kind), b.of(kind)
            if ours and theirs and self.often(often):
                on.append(f"a.{self.one(*ours)} = b.{self.one(*theirs)}")
        on += [self.condition(rows, alias) for rows, alias in ((a, "a"), (b, "b")) if self.often(2)]
        how = self.one("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", ",")
        items, columns = self.items({"a": a, "b": b}, keep=self.chance())
        tie = f"WHERE {' AND '.join(on)}" if how == "," and on else f"ON {' AND '.join(on) or 'a.x = b.x'}"
        return Drawn(f"SELECT {', '.join(items)} FROM ({a.sql}) AS a {how} ({b.sql}) AS b {tie}", columns)

    def with_public(self, depth: int) -> Drawn:
        rows, (sql, columns) = self.rows(depth - 1), self.public()
        b = Drawn(sql, columns)
        kind = self.one(*[k for k in ("number", "text") if rows.of(k) and b.of(k)] or ("number",))
        ours, theirs = rows.of(kind) or ["x"], b.of(kind) or ["x"]
        on = [f"a.{self.one(*ours)} = b.{self.one(*theirs)}"]
        on += [self.condition(b, "b")] if self.chance() else []
        items, columns = self.items({"a": rows, "b": b}, keep=True)
        how = self.one("JOIN", "LEFT JOIN")
        return Drawn(
            f"SELECT {', '.join(items)} FROM ({rows.sql}) AS a {how} ({b.sql}) AS b ON {' AND '.join(on)}", columns
        )

    def public(self) -> tuple[str, dict[str, str]]:
        """Rows of public tables."""
        both = {"name": "text", "zone": "number", "kind": "text"}
        zones = {"zone": "number", "kind": "text"}
        return (
            ("SELECT * FROM towns", {"name": "text", "zone": "number"}),
            ("SELECT * FROM zones", zones),
            ("SELECT t.name, z.zone, z.kind FROM towns t JOIN zones z ON t.zone = z.zone", both),
            ("SELECT t.name, z.zone, z.kind FROM towns t LEFT JOIN zones z ON t.zone = z.zone AND z.kind = 'x'", both),
            ("SELECT zone, kind FROM zones UNION ALL SELECT zone, name AS kind FROM towns", zones),
            ("SELECT DISTINCT kind, zone FROM zones", zones),
            ("SELECT zone, COUNT(*) AS size FROM zones GROUP BY zone", {"zone": "number", "size": "number"}),
            ("SELECT * FROM zones z WHERE EXISTS (SELECT 1 FROM towns t WHERE t.zone = z.zone)", zones),
        )[int(self.one(*range(8)))]

    def looked_up(self, depth: int) -> Drawn:
        """IN and NOT IN: on the unit, on a declared key, or in a public table."""
        rows = self.rows(depth - 1)
        negated = self.one("IN", "NOT IN")
        if self.chance():
            other = self.rows(self.lower(depth))
            kind = self.one("unit", "unit", "link", "number")
            ours, theirs = rows.of(kind) or ["x"], other.of(kind) or ["x"]
            sub = f"SELECT b.{self.one(*theirs)} FROM ({other.sql}) AS b"
            return Drawn(f"SELECT * FROM ({rows.sql}) AS a WHERE a.{self.one(*ours)} {negated} ({sub})", rows.columns)
        sql, columns = self.public()
        kind = self.one("number", "text")
        ours, theirs = rows.of(kind) or ["x"], Drawn(sql, columns).of(kind) or ["x"]
        sub = f"SELECT b.{self.one(*theirs)} FROM ({sql}) AS b"
        return Drawn(f"SELECT * FROM ({rows.sql}) AS a WHERE a.{self.one(*ours)} {negated} ({sub})", rows.columns)

    def tied(self, depth: int) -> Drawn:
        """EXISTS and NOT EXISTS, with conditions across."""
        rows, other = self.rows(depth - 1), self.rows(self.lower(depth))
        on = [
            f"a.{self.one(*rows.of(kind))} {self.one(*operators)} b.{self.one(*other.of(kind))}"
            for kind, often, operators in (("unit", 6, "="), ("link", 4, "="), ("number", 4, OPERATORS))
            if rows.of(kind) and other.of(kind) and self.often(often)
        ]
        on += [self.condition(other, "b")] if self.chance() else []
        exists = f"{self.one('EXISTS', 'NOT EXISTS')} (SELECT 1 FROM ({other.sql}) AS b"
        return Drawn(
            f"SELECT * FROM ({rows.sql}) AS a WHERE {exists} WHERE {' AND '.join(on) or 'TRUE'})", rows.columns
        )

    def union(self, depth: int) -> Drawn:
        sides = [self.rows(depth - 1), self.rows(self.lower(depth))]
        kinds = [kind for kind in ("unit", "link", "number", "text") if all(side.of(kind) for side in sides)]
        names = [self.name() for _ in kinds]
        parts = [
            "SELECT "
            + ", ".join(f"a.{self.one(*side.of(kind))} AS {name}" for kind, name in zip(kinds, names, strict=True))
            + f" FROM ({side.sql}) AS a"
            for side in sides
        ]
        # A key is known for one no more after UNION ALL.
        columns = {name: "number" if kind == "link" else kind for name, kind in zip(names, kinds, strict=True)}
        return Drawn(" UNION ALL ".join(parts), columns)

    def per_unit(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        keys = [self.one(*rows.of("unit"))] if rows.of("unit") else []
        others = rows.of("text", "number", "link")
        keys += [self.one(*others)] if others and self.chance() else []
        columns, items = {}, []
        for key in dict.fromkeys(keys):
            columns[own := self.name()] = rows.columns[key]
            items.append(f"a.{key} AS {own}")
        totals = ["COUNT(*)", *(f"{f}(a.{x})" for x in rows.of("number")[:2] for f in ("SUM", "MIN", "COUNT", "AVG"))]
        for _ in range(1 + self.chance()):
            columns[own := self.name()] = "number"
            items.append(f"{self.one(*totals)} AS {own}")
        having = f" HAVING {self.one(*totals)} > {self.one(0, 1, 2)}" if self.chance() else ""
        groups = ", ".join(f"a.{key}" for key in dict.fromkeys(keys)) or "1"
        return Drawn(f"SELECT {', '.join(items)} FROM ({rows.sql}) AS a GROUP BY {groups}{having}", columns)

    def lower(self, depth: int) -> int:
        return int(self.one(*range(depth)))

    def condition(self, rows: Drawn, alias: str) -> str:
        kind = self.one(*[k for k in ("number", "text") if rows.of(k)] or ("none",))
        if kind == "none":
            return "1 = 1"
        x = f"{alias}.{self.one(*rows.of(kind))}"
        return self.one(
            f"{x} IS NULL", f"{x} IS NOT NULL", f"{x} {self.one(*OPERATORS)} {self.one(*CONSTANTS[kind])}",
            f"NOT ({x} = {CONSTANTS[kind][0]})", f"COALESCE({x}, {CONSTANTS[kind][0]}) = {CONSTANTS[kind][0]}",
        )  # fmt: skip

    def items(self, sources: dict[str, Drawn], *, keep: bool) -> tuple[list[str], dict[str, str]]:
        """Some columns under new names; the units among them if they are to be kept."""
        items: list[str] = []
        columns: dict[str, str] = {}
        for alias, rows in sources.items():
            for name, kind in rows.columns.items():
                if self.chance() or (keep and kind == "unit"):
                    columns[own := self.name()] = kind
                    items.append(f"{alias}.{name} AS {own}")
        if not items:
            alias, rows = next(iter(sources.items()))
            name, kind = next(iter(rows.columns.items()))
            columns[own := self.name()] = kind
            items.append(f"{alias}.{name} AS {own}")
        return items, columns


@st.composite
def sub_queries(draw: Callable[..., object], deepest: int = 3) -> Drawn:
    """One sub-query, with at most so many others one inside the other."""
    maker = Maker(draw)
    return maker.rows(int(maker.one(*range(1, deepest + 1))))
