"""GROUPING(a, b): which keys a row of ROLLUP, CUBE or GROUPING SETS sums up, as bits; the last argument's is 1.

A key that a row sums up is NULL there, and so may be a group of its own: the bits tell them apart. They follow from the
grouping set that a row is of, which is public, so they hold no noise.

All sets are measured over the same rows: those whose keys are all listed. A key that reads as NULL where its domain has
no NULL is in no group, and so it is in no total, which is the sum of its groups.

Source: PostgreSQL 17 documentation, section 9.21, "Grouping Operations"; DuckDB documentation, "GROUPING SETS".
Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import Position
from dpsql.plan.known.scope import Scope
from dpsql.plan.nodes import Case, Column, Expression, Filter, Relation
from dpsql.plan.plans import Key
from dpsql.plan.rows.per_unit import group_nodes
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver, as_constant
from dpsql.sql import syntax

__all__ = ["CALLED", "GROUPING_SET", "grouping", "listed_rows", "sets_written"]

CALLED = ("grouping", "grouping_id")
"""What it is called: the first in SQL, both in DuckDB."""
GROUPING_SET = Column("released", "grouping_set", Facts(Type.INTEGER, nullable=False, step=Fraction(1)))
"""Of each released row: which of the statement's grouping sets it is of, from 0."""
MOST = 31  # Arguments: with more, the bits would be no integer everywhere. PostgreSQL has the same limit.


def grouping(
    node: syntax.Call, keys: Sequence[Key], sets: Sequence[Sequence[int]] | None, rows: Resolver, after: Resolver
) -> Expression:
    """The bits of one call, over released values.

    Args:
        node: The call.
        keys: What is grouped by.
        sets: The keys, by index, of each grouping set; None for a plain GROUP BY, which sums up none.
        rows: Resolves over one row.
        after: Resolves over released values.

    Raises:
        UnsupportedQuery: An argument is none of the keys.
    """
    asked = [rows.resolve(argument) for argument in node.arguments]
    known = [key.expression for key in keys]
    plain = syntax.Call(node.name, node.arguments) == node
    if not plain or not 1 <= len(asked) <= MOST or any(own not in known for own in asked):
        raise UnsupportedQuery(
            f"it takes 1 to {MOST} keys of GROUP BY.", construct=node.name.upper(), position=node.position,
            hint="Write GROUPING(a) beside GROUP BY ROLLUP (a).",
        )  # fmt: skip
    places = [known.index(own) for own in asked]
    if sets is None:
        return as_constant(0)
    branches = []
    for number, own in enumerate(sets):
        bits = sum(2**bit for bit, place in enumerate(reversed(places)) if place not in own)
        branches.append((after.apply("=", (GROUPING_SET, as_constant(number)), node.position), as_constant(bits)))
    facts = Facts(Type.INTEGER, Fraction(0), Fraction(2 ** len(places) - 1), nullable=False, step=Fraction(1))
    return Case(tuple(branches), as_constant(0), facts)


def listed_rows(relation: Relation, keys: Sequence[Key], rows: Resolver, position: Position) -> Relation:
    """The rows whose keys are all listed, out of those of a statement with several grouping sets.

    Args:
        relation: All rows.
        keys: What is grouped by.
        rows: Resolves over one row.
        position: Of the statement.
    """
    for key in keys:
        if None not in (key.domain or ()):
            missing = rows.apply("is_null", (key.expression,), position)
            relation = Filter(relation, rows.apply("not", (missing,), position))
    return relation


def sets_written(
    group_by: syntax.GroupingSets, query: syntax.Select, keys: Sequence[Key], scope: Scope, rows: Resolver
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """The keys, by index, of each different grouping set; and which of them each is that is written, if some repeat.

    Args:
        group_by: The sets.
        query: Their statement.
        keys: What is grouped by, each expression once.
        scope: Names of one row.
        rows: Resolves over one row.

    Raises:
        UnsupportedQuery: One expression is written in two ways: a set of one of them would show it in two columns.
    """
    known = [key.expression for key in keys]
    writings: dict[int, syntax.Expr] = {}
    sets = []
    for nodes in group_by.sets:
        meant = group_nodes(replace(query, group_by=nodes), scope)
        places = [known.index(rows.resolve(node)) for node in meant]
        for node, place in zip(nodes, places, strict=True):
            if writings.setdefault(place, node) != node:
                raise UnsupportedQuery(
                    "two of its keys are the same expression, so that their totals could not be told apart.",
                    construct="grouping sets", position=node.position,
                    hint="Name that expression once in GROUP BY, as ROLLUP (a).",
                )  # fmt: skip
        sets.append(tuple(sorted(set(places))))
    different = tuple(dict.fromkeys(sets))
    return different, tuple(map(different.index, sets)) if len(different) < len(sets) else ()
