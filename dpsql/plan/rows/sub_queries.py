"""Sub-queries as rows: what one is, those joined freely, and several one after the other.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import is_unit, link_of, merged_column, merged_pairs
from dpsql.plan.known.relations import is_public
from dpsql.plan.known.scope import Scope, ScopeEntry, place_of
from dpsql.plan.nodes import Column, Expression, Project, Relation, UnionAll
from dpsql.plan.values.conversions import met
from dpsql.plan.values.ranges import showing
from dpsql.sql import syntax

__all__ = ["CutInside", "Gathered", "ReleasesInside", "Sub", "each_once", "in_a_row", "public_once", "unnamed"]

Position = tuple[int, int] | None


class ReleasesInside(UnsupportedQuery):
    """A sub-query aggregates over several people, so it would be a release of its own."""


class CutInside(ReleasesInside):
    """A sub-query orders its rows or takes the first: that is for answers."""


@dataclass(frozen=True, slots=True)
class Sub:
    """A sub-query as rows: a relation and what its column names stand for."""

    relation: Relation
    columns: Mapping[str, Expression]


@dataclass(slots=True)
class Gathered:
    """Tables that are joined freely (inner and comma joins), before the tree of joins is built.

    Attributes:
        parts: The tables, and what else is one relation already.
        entries: What their names stand for.
        conditions: Of ON.
        equal: Columns that USING of an inner join makes one, and where it stands.
        using: The names of columns that are one for all their tables.
    """

    parts: list[Relation] = field(default_factory=list)
    entries: list[ScopeEntry] = field(default_factory=list)
    conditions: list[syntax.Expr] = field(default_factory=list)
    equal: list[tuple[tuple[Expression, Expression], Position]] = field(default_factory=list)
    using: list[str] = field(default_factory=list)

    def scope(self, outer: Scope | None) -> Scope:
        """All of it."""
        return Scope(tuple(self.entries), frozenset(map(str.lower, self.using)), outer)

    def reached(self) -> tuple[int, int]:
        """How many entries and merged names there are so far."""
        return len(self.entries), len(self.using)

    def meet(self, join: syntax.JoinClause, start: tuple[int, int], middle: tuple[int, int]) -> None:
        """Take the conditions of an inner join.

        Args:
            join: Both of whose sides are here.
            start: What was reached before its left side.
            middle: The same before its right side.

        Raises:
            UnsupportedQuery: A column of USING is not one of each side.
        """
        if join.on is not None:
            self.conditions.append(join.on)
        left, right = (
            Scope(tuple(self.entries[i:j]), frozenset(map(str.lower, self.using[m:n])))
            for (i, m), (j, n) in ((start, middle), (middle, self.reached()))
        )
        merged = merged_pairs(join, left, right)
        self.equal += [(pair, join.position) for pair in merged.values()]
        self.using += merged


def unnamed(source: syntax.Derived) -> str:
    """What a sub-query without an alias is called: several may stand in one FROM."""
    line, column = source.position or (0, 0)
    return f"sub-query {line}:{column}"


def in_a_row(sides: Sequence[Sub], alias: str, union: syntax.Union) -> Sub:
    """The rows of a UNION ALL: those of its sides one after the other, under a name of the plan's own.

    Raises:
        UnsupportedQuery: Sides that differ, or of which some are public.
    """
    if all(is_public(side.relation) for side in sides):
        sides = _met(sides)
    shapes = {tuple(map(place_of, side.columns)) for side in sides}
    if len(shapes) > 1 and any(place is not None for shape in shapes for place in shape):
        raise UnsupportedQuery(
            "its sides have lists in other places, or of other lengths.", construct="UNION ALL",
            position=union.position, hint="Ask for the same quantiles, or name their elements: q[1] AS low.",
        )  # fmt: skip
    names = list(sides[0].columns)
    outputs: dict[str, Expression] = {}
    for index, own in enumerate(names):
        expressions = [list(side.columns.values())[index] for side in sides if len(side.columns) == len(names)]
        kinds = dict.fromkeys(expression.facts.type.value for expression in expressions)
        if len(expressions) == len(sides) and len(kinds) > 1 and not any(is_unit(e) or link_of(e) for e in expressions):
            raise UnsupportedQuery(
                f"its sides have {own} as {' and as '.join(kinds)}.", construct="UNION ALL",
                position=union.position, hint=f"Give {own} one type: CAST(x AS DOUBLE), or CAST(x AS VARCHAR).",
            )  # fmt: skip
        if len(expressions) < len(sides) or len({(e.facts.type, is_unit(e), link_of(e)) for e in expressions}) > 1:
            raise UnsupportedQuery(
                "its sides differ in number or type of columns, or in where the privacy unit or a key stands.",
                construct="UNION ALL", position=union.position, hint="Select the same columns in the same order.",
            )  # fmt: skip
        outputs[own] = merged_column(alias, f"c{index}", expressions)
    if len({is_public(side.relation) for side in sides}) > 1:
        raise UnsupportedQuery(
            "it mixes private and public rows.", construct="UNION ALL", position=union.position,
            hint="Ask about each in a statement of its own.",
        )  # fmt: skip
    parts = tuple((side.relation, tuple(side.columns.values())) for side in sides)
    return Sub(UnionAll(parts, alias, tuple(f"c{i}" for i in range(len(names)))), outputs)


def each_once(found: Sub, alias: str) -> Sub:
    """The different rows of a UNION, under a name of the plan's own."""
    columns = {
        own: showing(Column(alias, f"c{i}", expression.facts), expression)
        for i, (own, expression) in enumerate(found.columns.items())
    }
    named = tuple((column.name, found.columns[own]) for own, column in columns.items())
    return Sub(Project(found.relation, alias, named, distinct=True), columns)


def public_once(found: Sub, alias: str, union: syntax.Union) -> Sub:
    """The same of rows that are nobody's.

    Raises:
        UnsupportedQuery: They are people's.
    """
    if not is_public(found.relation):
        raise UnsupportedQuery(
            "UNION removes equal rows of different people.", construct="UNION", position=union.position,
            hint="Write UNION ALL.",
        )  # fmt: skip
    return each_once(found, alias)


def _met(sides: Sequence[Sub]) -> list[Sub]:
    """Public sides whose columns have one type each, where nothing can be lost or fail."""
    if len({len(side.columns) for side in sides}) > 1:
        return list(sides)
    columns = [met(own) or own for own in zip(*(side.columns.values() for side in sides), strict=True)]
    return [
        replace(side, columns=dict(zip(side.columns, own, strict=True)))
        for side, own in zip(sides, zip(*columns, strict=True), strict=True)
    ]
