"""Conditions and columns of joins: what ties two relations, and what must never be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import NAMES
from dpsql.plan.known.relations import aliases_of, is_public, scans
from dpsql.plan.known.scope import Scope, ScopeEntry, identifying, place_of, same_name
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Apply, Column, Expression, Join, Relation, Semi
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.identities import as_owner_declares
from dpsql.plan.values.ranges import showing
from dpsql.sql import syntax

__all__ = [
    "across",
    "bare_identity",
    "connected",
    "full_join",
    "holds_aggregate",
    "is_semi",
    "is_unit",
    "limited",
    "link_of",
    "links_equal",
    "merged_column",
    "merged_pairs",
    "need_units",
    "next_joined",
    "output_column",
    "parts_of",
    "refuse_identifying",
    "refuse_twice",
    "same_unit",
    "tables_of",
    "where_as_case",
    "window_parts",
    "windows_in",
]

Position = tuple[int, int] | None

MOST_MET = 10**6
"""Rows of one privacy unit that a join may bring together. It is a choice: the engine takes well under a second."""


def parts_of(node: syntax.Expr) -> list[syntax.Expr]:
    """The conditions that AND joins; of ``(a AND b) OR (a AND c)`` they are ``a`` and ``b OR c``."""
    if isinstance(node, syntax.Call) and node.name == "and":
        return [part for argument in node.arguments for part in parts_of(argument)]
    if isinstance(node, syntax.Call) and node.name == "or":
        first, *others = branches = [parts_of(branch) for branch in _branches(node)]
        shared = [part for part in first if all(part in other for other in others)]
        if shared:
            rests = [[part for part in branch if part not in shared] for branch in branches]
            return [*shared, *([connected("or", [connected("and", rest) for rest in rests])] if all(rests) else [])]
    return [node]


def _branches(node: syntax.Expr) -> list[syntax.Expr]:
    if isinstance(node, syntax.Call) and node.name == "or":
        return [branch for argument in node.arguments for branch in _branches(argument)]
    return [node]


def connected(name: str, parts: list[syntax.Expr]) -> syntax.Expr:
    """All of at least one condition with ``and`` or ``or`` between them."""
    return reduce(lambda left, right: syntax.Call(name, (left, right), position=left.position), parts)


def holds_aggregate(node: syntax.Expr) -> bool:
    """Whether an expression aggregates rows."""
    match node:
        case syntax.Call():
            return node.name in NAMES or any(map(holds_aggregate, node.arguments))
        case syntax.CaseExpression():
            parts = [part for branch in node.branches for part in branch] + [
                p for p in (node.operand, node.default) if p
            ]
            return any(map(holds_aggregate, parts))
        case syntax.Cast():
            return holds_aggregate(node.operand)
        case syntax.InList():
            return any(map(holds_aggregate, (node.operand, *node.values)))
        case syntax.Window():
            return any(map(holds_aggregate, window_parts(node)))
        case _:
            return False


def window_parts(node: syntax.Window) -> tuple[syntax.Expr, ...]:
    """What a window reads of the rows that it goes over: arguments, keys of its partitions and of its order."""
    return *node.call.arguments, *node.partition, *(term.expression for term in node.order)


def windows_in(node: syntax.Expr) -> list[syntax.Window]:
    """The windows of an expression, from left to right."""
    match node:
        case syntax.Window():
            return [node]
        case syntax.Call():
            parts: tuple[syntax.Expr | None, ...] = node.arguments
        case syntax.CaseExpression():
            parts = (node.operand, *(part for branch in node.branches for part in branch), node.default)
        case syntax.Cast():
            parts = (node.operand,)
        case syntax.InList():
            parts = (node.operand, *node.values)
        case syntax.AllColumns():
            parts = tuple(item.expression for _, item in node.instead)
        case _:
            parts = ()
    return [window for part in parts if part is not None for window in windows_in(part)]


def where_as_case(call: syntax.Call, condition: syntax.Expr) -> syntax.Call:
    """An aggregate without its FILTER: of NULL where the condition is not true."""
    value = syntax.Literal(1, position=call.position) if call.star or not call.arguments else call.arguments[0]
    chosen = syntax.CaseExpression(None, ((condition, value),), None, position=call.position)
    return replace(call, star=False, arguments=(chosen, *call.arguments[1:]), where=None)


def is_semi(node: syntax.Expr) -> bool:
    """Whether it is IN (SELECT ...) or EXISTS, or NOT in front of one of them."""
    inner = node.arguments[0] if isinstance(node, syntax.Call) and node.name == "not" else node
    return isinstance(inner, syntax.InQuery | syntax.Exists)


def output_column(alias: str, name: str, expression: Expression) -> Column:
    """A sub-query's column as the rows around see it."""
    if isinstance(expression, Column):
        column = Column(
            alias, name, expression.facts, expression.values, unit=expression.unit, link=expression.link
        )  # fmt: skip
        return showing(column, expression)
    return showing(Column(alias, name, expression.facts), expression)


def merged_column(alias: str, name: str, expressions: list[Expression]) -> Column:
    """A column of UNION ALL: what holds for every side."""
    first = expressions[0]
    facts = first.facts
    if any(e.facts != facts for e in expressions):
        lows, highs = [e.facts.low for e in expressions], [e.facts.high for e in expressions]
        steps = {e.facts.step for e in expressions}
        facts = replace(
            facts,
            low=None if None in lows else min(lows),  # type: ignore[type-var]  # ends of one type
            high=None if None in highs else max(highs),  # type: ignore[type-var]  # ends of one type
            nullable=any(e.facts.nullable for e in expressions),
            step=steps.pop() if len(steps) == 1 else None,
            centre=None,
            spread=None,
        )
    values = first.values if isinstance(first, Column) else None
    same = all(isinstance(e, Column) and e.values == values for e in expressions)
    column = Column(alias, name, facts, values if same else None, unit=is_unit(first), link=link_of(first))
    return showing(column, *expressions)


def is_unit(expression: Expression) -> bool:
    """Whether it is a privacy unit."""
    return isinstance(expression, Column) and expression.unit


def link_of(expression: Expression) -> str | None:
    """The declared key that it is, or refers to; None for anything else."""
    return expression.link if isinstance(expression, Column) else None


def across(predicate: Expression, left: Relation, right: Relation) -> tuple[Column, Column] | None:
    """The columns of the two sides that a condition equates, the left side's first; None where it does not."""
    if not (isinstance(predicate, Apply) and predicate.function.name == "="):
        return None
    a, b = predicate.arguments
    if not (isinstance(a, Column) and isinstance(b, Column)):
        return None
    ours, theirs = aliases_of(left), aliases_of(right)
    if a.alias in ours and b.alias in theirs:
        return a, b
    return (b, a) if b.alias in ours and a.alias in theirs else None


def next_joined(
    relation: Relation, waiting: Sequence[Relation], conditions: Sequence[Expression]
) -> tuple[Relation, list[tuple[Column, Column]]]:
    """What is joined next, and on which columns: one with equal columns, else a public one, all of whose rows meet all.

    Args:
        relation: What has been joined.
        waiting: What has not.
        conditions: Of the join, and of WHERE.

    Returns:
        A private one without columns where there is nothing else.
    """
    for part in waiting:
        equal = [pair for p in conditions if (pair := across(p, relation, part)) is not None]
        if equal:
            return part, equal
    return next(filter(is_public, waiting), waiting[0]), []


def merged_pairs(join: syntax.JoinClause, left: Scope, right: Scope) -> dict[str, tuple[Expression, Expression]]:
    """The columns that a join makes one, of each side, by name: those of USING, or of NATURAL all that both have.

    Raises:
        UnsupportedQuery: A natural join's sides have none, or USING names what is not one column of each.
    """
    names = join.using
    if join.natural:
        own, other = (
            [name for entry in side.entries for name in entry.columns if place_of(name) is None]
            for side in (left, right)
        )
        names = tuple(name for name in own if any(same_name(name, one) for one in other))
        if not names:
            raise UnsupportedQuery(
                "the two sides have no column of the same name.", construct="NATURAL JOIN", position=join.position,
                hint="Write JOIN .. ON a.x = b.y, or CROSS JOIN.",
            )  # fmt: skip
    return {name: _using_pair(name, join.position, left, right) for name in names}


def full_join(position: Position) -> UnsupportedQuery:
    """The refusal of a full join."""
    return UnsupportedQuery(
        "a full join shows rows without a partner on both sides.", construct="FULL JOIN", position=position,
        hint="Write JOIN or LEFT JOIN; of answers a and b with a key k: FROM (SELECT k FROM a UNION SELECT k FROM b) "
        "AS keys LEFT JOIN a USING (k) LEFT JOIN b USING (k).",
    )  # fmt: skip


def _using_pair(name: str, position: Position, left: Scope, right: Scope) -> tuple[Expression, Expression]:
    """The columns of the two sides of a join that USING makes one: that of each side's first table where it is merged.

    Raises:
        UnsupportedQuery: A side has no such column, or several that are not one.
    """
    own, found = syntax.Name((name,), position=position), []
    for side in (left, right):
        held = [expression for entry in side.entries for known, expression in entry.columns.items()
                if same_name(known, name)]  # fmt: skip
        if not held:
            raise UnsupportedQuery(
                "USING needs a column of both tables.", construct=name, position=position, hint="Write ON a.x = b.y."
            )
        found.append(held[0] if is_unit(held[0]) else side.find(own))  # the units of one row are equal
    return found[0], found[1]


def refuse_twice(alias: str, entries: Sequence[ScopeEntry], position: Position) -> None:
    """Refuse a table whose name one beside it has already.

    Raises:
        UnsupportedQuery: One has.
    """
    if any(same_name(alias, entry.alias) for entry in entries):
        raise UnsupportedQuery(
            "two tables in FROM have this name.", construct=alias, position=position, hint="Give one of them an alias."
        )


def refuse_identifying(expression: Expression, where: str, position: Position) -> None:
    """Refuse a privacy unit or a key in a condition.

    Raises:
        UnsupportedQuery: The expression reads one.
    """
    column = identifying(expression)
    if column is not None:
        raise UnsupportedQuery(
            f"it may not stand in {where}: that would single out a person or a record.", construct=column.shown,
            position=position, hint=f"It may stand in joins and in COUNT(DISTINCT {column.shown}).",
        )  # fmt: skip


def bare_identity(expression: Expression, position: Position) -> Expression:
    """The expression itself, if a privacy unit or a key is no part of it but all of it.

    Raises:
        UnsupportedQuery: It computes with one: what it computed would no longer be known for what it is.
    """
    column = identifying(expression)
    if column is None or isinstance(expression, Column):
        return expression
    raise UnsupportedQuery(
        "nothing is computed from a privacy unit or a key.", construct=column.shown, position=position,
        hint=f"Select {column.shown} as it is, or leave it out.",
    )  # fmt: skip


def limited(relation: Join | Semi, position: Position) -> Relation:
    """The relation itself, if what an engine does for one unit stays small: time, too, would tell of a person.

    Raises:
        UnsupportedQuery: It brings too many rows of one unit together, kept or not.
    """
    met = rows_per_unit(relation)
    if isinstance(relation, Semi) and not is_public(relation.right):
        met *= rows_per_unit(relation.right)
    if met > MOST_MET:
        raise UnsupportedQuery(
            "it multiplies one privacy unit's rows beyond a million.", construct="JOIN", position=position,
            hint="Join a table on its key, or group it by the privacy unit first.",
        )  # fmt: skip
    return relation


def need_units(left: Expression, right: Expression, construct: str, position: Position) -> None:
    """Refuse a private look-up by anything but the privacy unit.

    Raises:
        UnsupportedQuery: One of the two is no unit.
    """
    if not (is_unit(left) and is_unit(right)):
        declared = None
        if isinstance(left, Column) and isinstance(right, Column) and left.identifies != right.identifies:
            declared = as_owner_declares(*((left, right) if left.identifies else (right, left)))
        raise UnsupportedQuery(
            "a private sub-query is looked up by the privacy unit, or by a declared key, alone.",
            construct=construct, position=position,
            hint=declared or "Write unit IN (SELECT unit FROM ...), or EXISTS with equal units.",
        )  # fmt: skip


def same_unit(predicate: Expression, inside: set[str]) -> bool:
    """Whether a condition ties a sub-query's unit to that of the row outside: one of the two columns is inside."""
    if not _equal_columns(predicate) or not all(map(is_unit, getattr(predicate, "arguments", ()))):
        return False
    return len({column.alias in inside for column in columns_of(predicate)}) == 2


def links_equal(predicate: Expression) -> bool:
    """Whether a condition equates a declared key with a reference to it."""
    if not _equal_columns(predicate):
        return False
    links = [getattr(argument, "link", None) for argument in getattr(predicate, "arguments", ())]
    return links[0] is not None and links[0] == links[1]


def _equal_columns(predicate: Expression) -> bool:
    return (
        isinstance(predicate, Apply)
        and predicate.function.name == "="
        and all(isinstance(argument, Column) for argument in predicate.arguments)
    )


def tables_of(relation: Relation) -> str:
    """The tables of a relation, for messages."""
    return ", ".join(scan.table.name for scan in scans(relation)) or "VALUES"
