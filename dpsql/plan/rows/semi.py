"""IN and EXISTS: rows with or without a partner of the same privacy unit, or in a public table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import (
    Position,
    holds_aggregate,
    limited,
    links_equal,
    need_units,
    parts_of,
    refuse_identifying,
    same_unit,
)
from dpsql.plan.known.relations import aliases_of, conjuncts, is_public, scans, unit_of
from dpsql.plan.known.scope import Scope, identifying
from dpsql.plan.nodes import Column, Expression, Filter, Relation, Scan, Semi, Written
from dpsql.plan.values.expressions import Resolver, columns_of
from dpsql.sql import syntax

if TYPE_CHECKING:
    from dpsql.plan.rows.from_where import Rows

__all__ = ["semi_join"]


def semi_join(rows: Rows, relation: Relation, scope: Scope, node: syntax.Expr) -> Relation:
    """IN (SELECT ...) and EXISTS (SELECT ...): rows with or without a partner of the same unit."""
    negated = False
    if isinstance(node, syntax.Call):  # NOT (EXISTS ...)
        negated, node = True, node.arguments[0]
    if isinstance(node, syntax.Exists):
        return _exists(rows, relation, scope, node, negated != node.negated)
    if not isinstance(node, syntax.InQuery):
        raise UnsupportedQuery("a sub-query is expected.", construct="IN", position=node.position, hint="Write a list.")
    left = rows.resolver(scope).resolve(node.operand)
    sub = rows.sub(node.query)
    if len(sub.columns) != 1:
        raise UnsupportedQuery(
            f"the sub-query has {len(sub.columns)} columns.", construct="IN", position=node.position,
            hint="Select one column.",
        )  # fmt: skip
    (right,) = sub.columns.values()
    same: tuple[Expression, ...] = ()
    if not is_public(sub.relation):
        same = _same_person(rows, relation, sub.relation, left, right, node)
    elif identifying(left) is not None or identifying(right) is not None:
        raise UnsupportedQuery(
            "the privacy unit may not be looked up in a public table.", construct="IN", position=node.position,
            hint="Look up another column. If the table is about the same people, the owner can make it private, with "
            "its id as unit; then it may be looked up.",
        )  # fmt: skip
    equal = rows.resolver(scope).apply("=", (left, right), node.position)
    negated = negated != node.negated
    if negated and is_public(sub.relation):
        return _in_no_list(rows.resolver(scope), relation, sub.relation, left, right, equal, node.position)
    if negated:
        _refuse_missing(left, right, node.position)
    return limited(Semi(relation, sub.relation, (equal, *same), negated), node.position)


def _in_no_list(
    resolver: Resolver,
    relation: Relation,
    public: Relation,
    left: Expression,
    right: Expression,
    equal: Expression,
    position: Position,
) -> Relation:
    """NOT IN a public list: no value is equal; none is NULL, nor is the left side, unless the list is empty.

    Each is a condition of its own, since engines look up equal values, and compare all with all for anything else.
    """
    found: Relation = limited(Semi(relation, public, (equal,), negated=True), position)
    missing = resolver.apply("is_null", (left,), position)
    if isinstance(public, Written) or (isinstance(public, Scan) and public.table.rows):
        found = Filter(found, resolver.apply("not", (missing,), position))
    else:
        found = limited(Semi(found, public, (missing,), negated=True), position)
    return limited(Semi(found, public, (resolver.apply("is_null", (right,), position),), negated=True), position)


def _refuse_missing(left: Expression, right: Expression, position: tuple[int, int] | None) -> None:
    """Refuses a private NOT IN where one side may be NULL.

    In SQL one NULL in the sub-query makes NOT IN true for no row: one person's NULL would decide over everybody. A NULL
    in front of it is in no list, and out of none.

    Raises:
        UnsupportedQuery: With what means the same for each person alone.
    """
    for side, place in ((right, "the sub-query's column"), (left, "the column in front of it")):
        if side.facts.nullable and isinstance(side, Column):
            raise UnsupportedQuery(
                f"{place} ({side.shown}) is NULL where a left join finds no partner, and one NULL decides over every "
                "row.", construct="NOT IN", position=position,
                hint="Write JOIN instead of LEFT JOIN there, or NOT EXISTS with equal privacy units.",
            )  # fmt: skip


def _same_person(
    rows: Rows, relation: Relation, inside: Relation, left: Expression, right: Expression, node: syntax.InQuery
) -> tuple[Expression, ...]:
    """What makes a private look-up one within a unit: nothing more for the unit itself, equal units for a key."""
    linked = (
        isinstance(left, Column) and isinstance(right, Column) and left.link is not None and left.link == right.link
    )
    units = unit_of(relation), unit_of(inside)
    if not linked or units[0] is None or units[1] is None:
        need_units(left, right, "IN", node.position)
        return ()
    return (rows.resolver(Scope(())).apply("=", (units[0], units[1]), node.position),)


def _exists(rows: Rows, relation: Relation, scope: Scope, node: syntax.Exists, negated: bool) -> Relation:
    query = node.query
    if (
        isinstance(query, syntax.Union)
        or query.group_by
        or query.options is not None
        or any(part is not None for part in (query.having, query.limit, query.offset))
        or any(holds_aggregate(item.expression) for item in query.items)  # one row, whatever there is
    ):
        raise UnsupportedQuery(
            "EXISTS takes a plain SELECT.", construct="EXISTS", position=node.position,
            hint="Write EXISTS (SELECT 1 FROM table WHERE its unit equals the outer unit AND ...).",
        )  # fmt: skip
    inner = rows.within(query)
    if query.source is None:
        raise UnsupportedQuery("it has no FROM.", construct="EXISTS", position=node.position, hint="Name a table.")
    group = inner.gather(query.source)
    own = group.scope(scope)
    resolver = inner.resolver(own)
    inside: list[tuple[Expression, syntax.Expr]] = []
    tying: list[tuple[Expression, syntax.Expr]] = []
    aliases = {scan.alias for part in group.parts for scan in scans(part)} | {
        a for p in group.parts for a in aliases_of(p)
    }
    nodes = [
        part for n in [*group.conditions, *([query.where] if query.where is not None else [])] for part in parts_of(n)
    ]
    for part in nodes:
        if isinstance(part, syntax.InQuery | syntax.Exists):
            raise UnsupportedQuery(
                "a sub-query inside EXISTS is not supported.", construct="EXISTS", position=part.position,
                hint="Join the tables inside EXISTS.",
            )  # fmt: skip
        for predicate in conjuncts(resolver.boolean(resolver.resolve(part), part)):
            outside = any(column.alias not in aliases for column in columns_of(predicate))
            (tying if outside else inside).append((predicate, part))
    right = inner.joined(group, [part for _, part in inside], own, node.position)
    on = [predicate for predicate, _ in tying]
    units = unit_of(relation), unit_of(right)
    tied = any(same_unit(predicate, aliases) for predicate in on)
    if not tied and any(map(links_equal, on)) and units[0] is not None and units[1] is not None:
        on.append(resolver.apply("=", (units[0], units[1]), node.position))  # the same record is the same person's
    if not is_public(right) and not any(same_unit(predicate, aliases) for predicate in on):
        raise UnsupportedQuery(
            "a private sub-query must be about the same person.", construct="EXISTS", position=node.position,
            hint="Add equality of the two privacy units to its WHERE.",
        )  # fmt: skip
    for predicate in on:
        if not same_unit(predicate, aliases) and not links_equal(predicate):
            refuse_identifying(predicate, "EXISTS", node.position)
    return limited(Semi(relation, right, tuple(on), negated), node.position)
