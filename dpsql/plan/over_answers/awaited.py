"""Values that a statement waits for: ``WHERE cost > (SELECT AVG(cost) FROM visits)``, where the rows are people's.

Such a sub-query is a release of its own, and made first. What reads its value is planned, priced and checked before the
charge as if it read a public column of which nothing but the type is known: no bounds and no values follow from it. So
neither price nor mechanism depends on what is released, and the two losses add up.

Source: composition holds where later questions are chosen by earlier answers, at prices fixed before: Dwork, Rothblum,
Vadhan 2010, section III; Bun, Steinke 2016, Lemma 2.3.

Tests: tests/unit/plan/over_answers/test_awaited.py, tests/sql.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.scope import Scope
from dpsql.plan.nodes import (
    AWAITED,
    Aggregate,
    Apply,
    Case,
    Column,
    Filter,
    Join,
    PerUnit,
    Project,
    Semi,
    UnionAll,
    UnitValue,
)
from dpsql.plan.over_answers.several import has_one_row
from dpsql.plan.plans import AnyPlan, Key, Plan, PublicPlan
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.rows.sub_queries import ReleasesInside
from dpsql.plan.types import Facts
from dpsql.plan.values.ranges import released_reach
from dpsql.sql import syntax
from dpsql.sql.tokens import fold
from dpsql.sql.walk import walk

__all__ = ["Awaiting", "told"]

_READ_BY = (Aggregate, Apply, Case, Filter, Join, Key, PerUnit, Project, Semi, UnionAll, UnitValue)
"""What may hold such a column somewhere below."""

Tree = TypeVar("Tree")


@dataclass(slots=True)
class Awaiting:
    """The values that one statement waits for.

    Attributes:
        resolve: Plans a query as a statement of its own.
        plans: The statements that release them, each once.
    """

    resolve: Callable[[syntax.Queryable, Rows], AnyPlan]
    plans: list[Plan] = field(default_factory=list)

    def value(self, node: syntax.ScalarQuery, rows: Rows, scope: Scope) -> Column:
        """What a sub-query as a value stands for.

        Args:
            node: The sub-query.
            rows: What its names mean.
            scope: What the names around it mean, of which it reads none.

        Raises:
            UnsupportedQuery: It is refused as a statement, or does not always have one value.
        """
        if any(_names_table(part, node, scope) for part in walk(node)):
            raise _tied(node)
        try:
            own = Rows(rows.catalog, rows.parameters, rows.per_unit, rows.ctes, rows.combinations)
            found = self.resolve(node.query, own)
        except UnsupportedQuery as refused:
            if scope.holds(fold(refused.construct or "")):  # a column outside, without its table
                raise _tied(node) from None
            raise
        if isinstance(found, PublicPlan):
            raise ReleasesInside(
                "public tables do not stand as a value beside people's rows.", construct="scalar sub-query",
                position=node.position, hint="Ask it first, which is free, and pass its answer as a parameter (?).",
            )  # fmt: skip
        if not isinstance(found, Plan):
            raise UnsupportedQuery(
                "a value made of several answers does not stand beside people's rows.", construct="scalar sub-query",
                position=node.position, hint="Ask it first, then pass its answer as a parameter (?).",
            )  # fmt: skip
        only = found.answer[0]
        if len(found.answer) != 1 or only.element is not None or only.report or not has_one_row(found):
            raise UnsupportedQuery(
                "as a value it has one column and always one row.", construct="scalar sub-query",
                position=node.position, hint="Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.",
            )  # fmt: skip
        number = self.plans.index(found) if found in self.plans else len(self.plans)
        self.plans[number : number + 1] = [found]
        facts, reach = only.expression.facts, released_reach(only.expression)
        return Column(AWAITED, str(number), Facts(facts.type, step=facts.step), reach=reach)


def _names_table(part: syntax.Node, node: syntax.ScalarQuery, scope: Scope) -> bool:
    """Whether a part of a sub-query is a column of a table that only stands outside."""
    if not isinstance(part, syntax.Name) or len(part.parts) < 2:
        return False
    own = {fold(other.alias or other.name[-1]) for other in walk(node) if isinstance(other, syntax.TableName)}
    named = (other.alias for other in walk(node) if isinstance(other, syntax.Derived | syntax.ListedRows))
    own |= {fold(alias) for alias in named if alias}
    return part.parts[-2] in {fold(entry.alias) for entry in scope.entries} - own


def _tied(node: syntax.ScalarQuery) -> UnsupportedQuery:
    return UnsupportedQuery(
        "it depends on the row outside, and is no answer of its own.", construct="scalar sub-query",
        position=node.position, hint="Join a sub-query in FROM that is grouped by what they share.",
    )  # fmt: skip


def told(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan with other names for the values that it waits for, instead of their numbers."""
    relation, keys, aggregates = _renamed((plan.relation, plan.keys, plan.aggregates), names)
    return dataclasses.replace(plan, relation=relation, keys=keys, aggregates=aggregates)


def _renamed(tree: Tree, names: Mapping[str, str]) -> Tree:
    if isinstance(tree, tuple):
        return tuple(_renamed(part, names) for part in tree)  # type: ignore[return-value]  # a tuple for a tuple
    if isinstance(tree, Column):
        return dataclasses.replace(tree, name=names[tree.name]) if tree.alias == AWAITED else tree
    if not isinstance(tree, _READ_BY):
        return tree
    parts = {own.name: getattr(tree, own.name) for own in dataclasses.fields(tree)}
    return dataclasses.replace(tree, **{name: _renamed(part, names) for name, part in parts.items()})
