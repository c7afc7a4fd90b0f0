"""Random sub-queries: every way of the dialect to make rows of rows, one inside the other.

A sub-query is its text and its columns: names to kinds, ``unit``, ``link`` (a declared key, perhaps with a word that
says which), ``number``, ``text``, ``day`` or ``flag``. Most of what is drawn is accepted; what the planner refuses is
no loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.attacks.relations import CATALOG

__all__ = ["Drawn", "Maker", "Schema", "sub_queries"]

CONSTANTS = {
    "number": ("0", "1", "2"),
    "text": ("'w'", "'a'"),
    "day": ("DATE '2024-01-02'", "DATE '2024-01-04'"),
    "flag": ("TRUE", "FALSE"),
}
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
        return [name for name, kind in self.columns.items() if kind.split()[0] in kinds]


@dataclass(frozen=True)
class Schema:
    """What there is to read.

    Attributes:
        private: Each private table's columns and their kinds.
        public: Rows of public tables.
    """

    private: Mapping[str, Mapping[str, str]]
    public: Sequence[Drawn]


KINDS = {"person": "unit", "visit": "link", "town": "text", "ward": "text", "part": "text"}
ZONES = {"zone": "number", "kind": "text"}
BOTH = {"name": "text", "zone": "number", "kind": "text"}
SCHEMA = Schema(
    {
        name: {column: KINDS.get(column, "number") for column in info.columns}
        for name, info in CATALOG.tables.items()
        if not info.public
    },
    (
        Drawn("SELECT * FROM towns", {"name": "text", "zone": "number"}),
        Drawn("SELECT * FROM zones", ZONES),
        Drawn("SELECT t.name, z.zone, z.kind FROM towns t JOIN zones z ON t.zone = z.zone", BOTH),
        Drawn("SELECT t.name, z.zone, z.kind FROM towns t LEFT JOIN zones z ON t.zone = z.zone AND z.kind = 'x'", BOTH),
        Drawn("SELECT zone, kind FROM zones UNION ALL SELECT zone, name AS kind FROM towns", ZONES),
        Drawn("SELECT DISTINCT kind, zone FROM zones", ZONES),
        Drawn("SELECT zone, COUNT(*) AS size FROM zones GROUP BY zone", {"zone": "number", "size": "number"}),
        Drawn("SELECT * FROM zones z WHERE EXISTS (SELECT 1 FROM towns t WHERE t.zone = z.zone)", ZONES),
    ),
)


@dataclass
class Maker:
    """Draws sub-queries over a schema; names are counted, so that no two are the same.

    Attributes:
        pick: Takes one of several.
        schema: What there is.
    """

    pick: Callable[[Sequence[object]], object]
    schema: Schema
    names: int = 0

    def one(self, *choices: object) -> str:
        return str(self.pick(choices))

    def chance(self) -> bool:
        return bool(self.pick((False, True)))

    def often(self, eighths: int) -> bool:
        return bool(self.pick((True,) * eighths + (False,) * (8 - eighths)))

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def rows(self, depth: int) -> Drawn:
        """Rows of people."""
        if depth == 0:
            return self.table(self.one(*self.schema.private))
        makers = (
            self.chosen, self.computed, self.distinct, self.joined, self.joined, self.with_public, self.looked_up,
            self.looked_up, self.tied, self.union, self.per_unit, self.per_unit, self.numbered, self.first_ones,
            self.unpivoted, self.renamed,
        )  # fmt: skip
        return makers[int(self.one(*range(len(makers))))](depth)

    def table(self, name: str) -> Drawn:
        return Drawn(f"SELECT * FROM {name}", dict(self.schema.private[name]))

    def named(self, rows: Drawn, alias: str) -> str:
        """Rows as FROM has them: a whole table by its name, or as a sub-query."""
        table = rows.sql.removeprefix("SELECT * FROM ")
        return f"{table if table.isidentifier() and self.chance() else f'({rows.sql})'} AS {alias}"

    def chosen(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        return Drawn(f"SELECT * FROM {self.named(rows, 'a')} WHERE {self.condition(rows, 'a')}", rows.columns)

    def computed(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=True)
        for name in rows.of("number")[:1]:
            columns[own := self.name()] = "number"
            items.append(f"COALESCE(a.{name}, 1) + 1 AS {own}")
        return Drawn(f"SELECT {', '.join(items)} FROM {self.named(rows, 'a')}", columns)

    def distinct(self, depth: int) -> Drawn:
        rows = self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=self.chance())
        return Drawn(f"SELECT DISTINCT {', '.join(items)} FROM {self.named(rows, 'a')}", columns)

    def joined(self, depth: int) -> Drawn:
        a, b = self.rows(depth - 1), self.rows(self.lower(depth))
        join = self.join(a, b)
        items, columns = self.items({"a": a, "b": b}, keep=self.chance())
        return Drawn(f"SELECT {', '.join(items)} FROM {join}", columns)

    def join(self, a: Drawn, b: Drawn) -> str:
        """Two of them side by side, as FROM (and WHERE) have it."""
        on = []
        for kind, often in (("unit", 6), ("link", 6), ("number", 1), ("text", 1)):
            pairs = [
                f"a.{ours} = b.{theirs}"
                for ours in a.of(kind)
                for theirs in b.of(kind)
                if kind != "link" or a.columns[ours] == b.columns[theirs]
            ]
            if pairs and self.often(often):
                on.append(self.one(*pairs))
        if not on and a.of("unit") and b.of("unit"):
            on = [f"a.{self.one(*a.of('unit'))} = b.{self.one(*b.of('unit'))}"]
        on += [self.condition(rows, alias) for rows, alias in ((a, "a"), (b, "b")) if self.often(2)]
        how = self.one("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", ",")
        tie = f"{'WHERE' if how == ',' else 'ON'} {' AND '.join(on) or 'a.x = b.x'}"
        return f"{self.named(a, 'a')} {how} {self.named(b, 'b')} {tie}"

    def with_public(self, depth: int) -> Drawn:
        rows, b = self.rows(depth - 1), self.public()
        kind = self.one(*[k for k in ("number", "text") if rows.of(k) and b.of(k)] or ("number",))
        ours, theirs = rows.of(kind) or ["x"], b.of(kind) or ["x"]
        on = [f"a.{self.one(*ours)} {self.one('=', '=', '=', '<', '>=')} b.{self.one(*theirs)}"]
        on += [self.condition(b, "b")] if self.chance() else []
        items, columns = self.items({"a": rows, "b": b}, keep=True)
        how = self.one("JOIN", "LEFT JOIN")
        sources = self.named(rows, "a"), self.named(b, "b")
        return Drawn(f"SELECT {', '.join(items)} FROM {sources[0]} {how} {sources[1]} ON {' AND '.join(on)}", columns)

    def public(self) -> Drawn:
        """Rows of public tables."""
        return self.schema.public[int(self.one(*range(len(self.schema.public))))]

    def looked_up(self, depth: int) -> Drawn:
        """IN and NOT IN: on the unit, on a declared key, or in a public table."""
        rows = self.rows(depth - 1)
        negated = self.one("IN", "NOT IN")
        if self.chance():
            other = self.rows(self.lower(depth))
            kind = self.one("unit", "unit", "link", "number")
        else:
            other, kind = self.public(), self.one("number", "text")
        ours, theirs = rows.of(kind) or ["x"], other.of(kind) or ["x"]
        sub = f"SELECT b.{self.one(*theirs)} FROM {self.named(other, 'b')}"
        return Drawn(f"SELECT * FROM {self.named(rows, 'a')} WHERE a.{self.one(*ours)} {negated} ({sub})", rows.columns)

    def tied(self, depth: int) -> Drawn:
        """EXISTS and NOT EXISTS, with conditions across."""
        rows, other = self.rows(depth - 1), self.rows(self.lower(depth))
        on = [
            f"a.{self.one(*rows.of(kind))} {self.one(*operators)} b.{self.one(*other.of(kind))}"
            for kind, often, operators in (("unit", 6, "="), ("link", 4, "="), ("number", 4, OPERATORS))
            if rows.of(kind) and other.of(kind) and self.often(often)
        ]
        on += [self.condition(other, "b")] if self.chance() else []
        exists = f"{self.one('EXISTS', 'NOT EXISTS')} (SELECT 1 FROM {self.named(other, 'b')}"
        return Drawn(
            f"SELECT * FROM {self.named(rows, 'a')} WHERE {exists} WHERE {' AND '.join(on) or 'TRUE'})", rows.columns
        )

    def union(self, depth: int) -> Drawn:
        sides = [self.rows(depth - 1), self.rows(self.lower(depth))]
        kinds = [kind for kind in ("unit", "link", "number", "text") if all(side.of(kind) for side in sides)]
        if not kinds:
            return sides[0]
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
        totals += self.choices(rows) if self.chance() else []
        for _ in range(1 + self.chance()):
            columns[own := self.name()] = "number"
            items.append(f"{self.one(*totals)} AS {own}")
        having = f" HAVING {self.one(*totals)} > {self.one(0, 1, 2)}" if self.chance() else ""
        groups = ", ".join(f"a.{key}" for key in dict.fromkeys(keys)) or "1"
        return Drawn(f"SELECT {', '.join(items)} FROM {self.named(rows, 'a')} GROUP BY {groups}{having}", columns)

    def choices(self, rows: Drawn) -> list[str]:
        """Numbers of one of several rows."""
        numbers = [f"a.{name}" for name in rows.of("number")]
        orders = [f"a.{name}" for name in rows.columns]
        return [
            text
            for x in numbers[:2]
            for text in (
                f"ANY_VALUE({x})",
                f"{self.one('ARG_MIN', 'ARG_MAX', 'MIN_BY')}({x}, {self.one(*orders)})",
                f"{self.one('FIRST', 'LAST')}({x} ORDER BY {self.one(*orders)}{self.one('', ' DESC')})",
                f"FIRST({x} ORDER BY {self.one(*orders)}, {self.one(*orders)})",
            )
        ]

    def first_ones(self, depth: int) -> Drawn:
        """The first row of each unit, or of each of its keys."""
        rows = self.joined(depth) if self.often(2) else self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=self.often(6))
        keys = [f"a.{self.one(*rows.of('unit'))}"] if rows.of("unit") and self.often(7) else []
        keys += [f"a.{self.one(*rows.columns)}"] if not keys or self.often(3) else []
        order = [*keys, *(f"a.{name}{self.one('', ' DESC')}" for name in rows.columns if self.often(3))]
        by = f" ORDER BY {', '.join(order)}" if self.often(6) else ""
        text = f"SELECT DISTINCT ON ({', '.join(keys)}) {', '.join(items)} FROM {self.named(rows, 'a')}{by}"
        return Drawn(f"SELECT * FROM ({text}) AS b", columns)

    def unpivoted(self, depth: int) -> Drawn:
        """Some columns one below the other."""
        rows = self.rows(depth - 1)
        below = [name for name in rows.of("number") if self.often(5)] or rows.of("number")[:1] or ["x"]
        name, value = self.name(), self.name()
        how = self.one("", "", " INCLUDE NULLS")
        columns = {own: kind for own, kind in rows.columns.items() if own not in below}
        sql = f"SELECT * FROM ({rows.sql}) AS a UNPIVOT{how} ({value} FOR {name} IN ({', '.join(below)}))"
        return Drawn(sql, columns | {name: "text", value: "number"})

    def renamed(self, depth: int) -> Drawn:
        """All columns but for some, which are others or have other names."""
        rows = self.rows(depth - 1)
        old, new = self.one(*rows.columns), self.name()
        kind = rows.columns[old]
        if kind == "number" and self.chance():
            text = f"* REPLACE (COALESCE({self.one(*rows.of('number'))}, 1) - 1 AS {old})"
            return Drawn(f"SELECT {text} FROM {self.named(rows, 'a')}", rows.columns)
        columns = {new if name == old else name: own for name, own in rows.columns.items()}
        return Drawn(f"SELECT * RENAME ({old} AS {new}) FROM {self.named(rows, 'a')}", columns)

    def numbered(self, depth: int) -> Drawn:
        """Windows over the rows of each unit, and perhaps a condition on one of them."""
        rows = self.joined(depth) if self.often(2) else self.rows(depth - 1)
        items, columns = self.items({"a": rows}, keep=True)
        named = list[str]()
        for _ in range(1 + self.chance()):
            columns[own := self.name()] = "number"
            named.append(own)
            items.append(f"{self.window(rows)} AS {own}")
        sql = f"SELECT {', '.join(items)} FROM {self.named(rows, 'a')}"
        if self.often(6):
            x, y = self.one(*named), self.one(*named)
            condition = self.one(
                f"{x} {self.one('=', '<=', '<', '>')} {self.one(1, 2)}", f"{x} = 1 OR {y} = 2", f"{x} IN (1, 2)",
                f"{x} BETWEEN 1 AND 2", f"CASE WHEN {x} = 1 THEN TRUE ELSE {y} = 2 END", f"{x} = {y}",
                f"NOT {x} > 1", f"{x} = 1 AND {y} <= 2",
            )  # fmt: skip
            sql = f"SELECT * FROM ({sql}) AS b WHERE {condition}"
        return Drawn(sql, columns)

    def window(self, rows: Drawn) -> str:
        """One over the rows of each unit: most often it numbers them, by few keys beside the unit."""
        units, numbers = rows.of("unit"), rows.of("number")
        keys = [f"a.{self.one(*units, *units, *rows.of('link'))}"] if units else []
        keys += [f"a.{self.one(*units)}"] if len(units) > 1 and self.chance() else []
        keys += [f"a.{self.one(*rows.columns)}"] if self.often(2) else []
        keys += [f"a.{self.one(*numbers)} > 0"] if numbers and self.often(2) else []
        order = [f"a.{name}{self.one('', ' DESC')}" for name in rows.columns if self.often(3)]
        over = [f"PARTITION BY {', '.join(keys)}"] * bool(keys) + [f"ORDER BY {', '.join(order)}"] * bool(order)
        x = f"a.{self.one(*numbers)}" if numbers else "1"
        call = self.one(
            *["ROW_NUMBER()"] * 4, "RANK()", "DENSE_RANK()", "COUNT(*)", f"COUNT({x})", f"MIN({x})", f"MAX({x})",
            f"LAG({x})", f"LEAD({x}, 1, 0)", f"LAG({x}, 2)", f"FIRST_VALUE({x})", f"LAST_VALUE({x})",
            f"NTH_VALUE({x}, 2)",
        )  # fmt: skip
        frames = ("1 PRECEDING AND CURRENT ROW", "UNBOUNDED PRECEDING AND 1 PRECEDING", "1 FOLLOWING AND 2 FOLLOWING")
        framed = call.startswith(("COUNT", "M", "FIRST", "LAST", "NTH"))
        over += [f"ROWS BETWEEN {self.one(*frames)}"] if framed and order and self.often(3) else []
        return f"{call} OVER ({' '.join(over)})"

    def lower(self, depth: int) -> int:
        return int(self.one(*range(depth)))

    def condition(self, rows: Drawn, alias: str) -> str:
        kind = self.one(*[k for k in CONSTANTS if rows.of(k)] or ("none",))
        if kind == "none":
            return "1 = 1"
        x = f"{alias}.{self.one(*rows.of(kind))}"
        return self.one(
            f"{x} IS NULL", f"{x} IS NOT NULL", f"{x} {self.one(*OPERATORS)} {self.one(*CONSTANTS[kind])}",
            f"{self.one(*CONSTANTS[kind])} {self.one(*OPERATORS)} {x}", f"{x} IN ({', '.join(CONSTANTS[kind][:2])})",
            f"NOT ({x} {self.one(*OPERATORS)} {CONSTANTS[kind][0]})",
            f"COALESCE({x}, {CONSTANTS[kind][0]}) = {CONSTANTS[kind][0]}",
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
    maker = Maker(lambda choices: draw(st.sampled_from(choices)), SCHEMA)
    return maker.rows(int(maker.one(*range(1, deepest + 1))))
